//! `CoMD`: forces between atoms in link cells, each cell with its 26 neighbours.
//!
//! Map (`CoMD` CUDA, `lj_thread_atom.h`, thread for each atom), in each time step: loads `atom_boxes` and `atom_slots`, its own position, how many
//! atoms its box has and how many neighbours; for each of the 27 neighbours: loads `neighbours[27 box + j]`, where both boxes lie, how many
//! atoms the other has, and the positions of these, 16 slots a box, coordinate by coordinate; at the end stores its force and energy.
//! Boxes at a face of the space have those at the opposite face as neighbours.
//!
//! All boxes have the same number of atoms, 12 of 16, which is about the mean of the source's crystal. Only the forces of Lennard-Jones are modelled,
//! not moving the atoms to other boxes.

use std::sync::Arc;

use super::Definition;
use super::array::Layout;
use super::common::{self, Scale, Settings};
use super::launch::{At, Launch, Map, Script, Step};
use super::parameter::{Kind, ParameterDefinition, Values};
use super::volume::{Volume, around};
use crate::diagnostic::Result;
use crate::workload::TaskKind;

/// Instructions of an atom of a neighbour: its number and three addresses, six additions and three products for the distance, two
/// comparisons and a branch, a division, twelve products for the force and the energy, and the loop.
const ATOM: u64 = 39;
/// Of a neighbour: where it is listed, its first atom, five addresses, three differences, six for each of these as the space is
/// periodic, and the loop.
const NEIGHBOUR: u64 = 31;
/// Where a thread begins: its number and slot, ten addresses, four comparisons and branches, and ten for what stays the same.
const START: u64 = 26;
/// Where it ends: four addresses, three products for the energy.
const END: u64 = 7;

pub const DEFINITION: Definition = Definition {
    name: "comd",
    title: "CoMD: atoms of a box read the same neighbours, and the first and the last pages touch",
    source: "CoMD, CUDA (Lennard-Jones, a thread for each atom): 14 x 14 x 14 boxes, as a crystal of 20 x 20 x 20 has",
    own: &[
        common::count("edge", "boxes along each side of the space", 14, 1024),
        common::count("atoms", "atoms of a box", 12, SLOTS),
        ParameterDefinition {
            name: "element",
            about: "bytes of a coordinate",
            kind: Kind::PowerOfTwo { default: 8, most: 8 },
        },
        common::iterations("time steps", 1),
        common::SCALE,
        common::workgroup(128),
        common::WARP,
        common::first("positions", "the atoms' positions: all x, all y, all z"),
        common::next("forces", "the forces, and the energies"),
        common::next("box_positions", "where the boxes lie"),
        common::next("box_atoms", "how many atoms each box has, words"),
        common::next("box_neighbours", "how many neighbours each box has, words"),
        common::next("neighbours", "the neighbours, 27 words a box"),
        common::next("atom_boxes", "the box of each atom, words"),
        common::next("atom_slots", "its slot there, words"),
    ],
    shared: &common::computing_cuda(ATOM),
    build,
};

/// Room for atoms in a box.
const SLOTS: u64 = 16;
/// Neighbours of a box, with itself.
const NEIGHBOURS: u64 = 27;

/// What is read: numbers of the accesses to `positions` and `box_positions`, 3 coordinates each.
const OWN: u64 = 0;
const OTHER: u64 = 3;

fn build(values: &Values<'_>) -> Result<Vec<TaskKind>> {
    let settings = Settings::read(values)?;
    let (edge, atoms) = (values.integer("edge")?, values.integer("atoms")?);
    let boxes = Volume { edges: Scale::read(values)?.volume([edge; 3]) };
    let count = common::multiple(values, "edge", boxes.cells(), 1)?;
    let element = values.integer("element")?;
    let mut layout = Layout::new(values);
    let arrays = vec![
        layout.array("positions", 3 * SLOTS * count, element)?,
        layout.array("forces", 4 * SLOTS * count, element)?,
        layout.array("box_positions", 3 * count, element)?,
        layout.array("box_atoms", count, 4)?,
        layout.array("box_neighbours", count, 4)?,
        layout.array("neighbours", NEIGHBOURS * count, 4)?,
        layout.array("atom_boxes", atoms * count, 4)?,
        layout.array("atom_slots", atoms * count, 4)?,
    ];
    let workgroup = values.integer("workgroup")?;
    let launch = || Launch {
        name: "LJ_Force_thread_atom",
        groups: (atoms * count).div_ceil(workgroup),
        workgroup,
        arrays: arrays.clone(),
        script: script(atoms, &settings),
        map: map(boxes, atoms, workgroup),
        settings,
    };
    Ok((0..values.integer("iterations")?).map(|_| launch().step()).collect())
}

fn script(atoms: u64, settings: &Settings) -> Script {
    let coordinates = |array, of: u64| (of..of + 3).map(move |coordinate| Step::Load(array, coordinate));
    let mut neighbour = vec![Step::Load(5, 0)];
    neighbour.extend(coordinates(2, OWN).chain(coordinates(2, OTHER)));
    neighbour.extend([Step::Load(3, 1), Step::Compute(settings.share(NEIGHBOUR, ATOM))]);
    for atom in 0..atoms {
        neighbour.extend(coordinates(0, OTHER + 3 * atom));
        neighbour.push(Step::Compute(settings.compute));
    }
    Script::default()
        .then(1, [Step::Load(7, 0), Step::Load(6, 0)])
        .then(1, coordinates(0, OWN))
        .then(1, [Step::Load(3, 0), Step::Load(4, 0), Step::Compute(settings.share(START, ATOM))])
        .then(NEIGHBOURS, neighbour)
        .then(1, [Step::Compute(settings.share(END, ATOM))])
        .then(1, (0..4).map(|component| Step::Store(1, component)))
}

fn map(boxes: Volume, atoms: u64, workgroup: u64) -> Map {
    let count = boxes.cells();
    Arc::new(move |at: At| {
        let id = at.below(workgroup, atoms * count)?;
        let (own, slot) = (id / atoms, id % atoms);
        let other = || boxes.wrapped(boxes.place(own), around(at.round));
        let (atom, coordinate) = (at.nth / 3, at.nth % 3);
        let slots = coordinate * SLOTS * count;
        Some(match (at.array, at.nth) {
            (0, ..OTHER) => slots + SLOTS * own + slot,
            (0, _) => slots + SLOTS * other() + atom - 1,
            (1, component) => component * SLOTS * count + SLOTS * own + slot,
            (2, ..OTHER) => coordinate * count + own,
            (2, _) => coordinate * count + other(),
            (3, 0) | (4, _) => own,
            (3, _) => other(),
            (5, _) => NEIGHBOURS * own + at.round,
            _ => id,
        })
    })
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Plain, bases, did, steps};

    #[test]
    fn every_atom_meets_those_of_27_boxes() {
        let given = [("edge", 6), ("scale", 8), ("atoms", 2), ("workgroup", 8), ("wavefront", 4)];
        let count = 27;
        let [position, force, rbox, n_atoms, n_neighbors, neighbor_list, n_list_boxes, n_list_atoms] =
            bases([
                8 * 3 * 16 * count,
                8 * 4 * 16 * count,
                8 * 3 * count,
                4 * count,
                4 * count,
                4 * 27 * count,
                4 * 2 * count,
                4 * 2 * count,
            ]);
        let mut expected = Plain::default();
        for ibox in 0..count as i64 {
            let (ix, iy, iz) = (ibox % 3, ibox / 3 % 3, ibox / 9);
            for ia in 0..2 {
                let (i, own) = (ibox as u64, 16 * ibox as u64 + ia);
                expected.load(n_list_atoms, 2 * i + ia, 4);
                expected.load(n_list_boxes, 2 * i + ia, 4);
                (0..3).for_each(|c| expected.load(position, c * 16 * count + own, 8));
                expected.load(n_atoms, i, 4);
                expected.load(n_neighbors, i, 4);
                for j in 0..27 {
                    let (dx, dy, dz) = (j % 3 - 1, j / 3 % 3 - 1, j / 9 - 1);
                    let wrap = |at: i64| at.rem_euclid(3);
                    let jbox = (9 * wrap(iz + dz) + 3 * wrap(iy + dy) + wrap(ix + dx)) as u64;
                    expected.load(neighbor_list, 27 * i + j as u64, 4);
                    expected.load(n_atoms, jbox, 4);
                    for c in 0..3 {
                        expected.load(rbox, c * count + i, 8);
                        expected.load(rbox, c * count + jbox, 8);
                        (0..2).for_each(|ja| expected.load(position, c * 16 * count + 16 * jbox + ja, 8));
                    }
                }
                (0..4).for_each(|c| expected.store(force, c * 16 * count + own, 8));
            }
        }
        assert_eq!(did(&steps("comd", &given)[0]), expected.launch());
    }
}
