//! `LavaMD`: forces between particles in a box of boxes, each with its neighbours.
//!
//! Map (Rodinia, `lavaMD/kernel/kernel_gpu_cuda.cu`), a workgroup for each box, with 128 threads for 100 particles: loads where the box's particles begin,
//! and the positions of these; for the box itself and each of its neighbours: its number and where its particles begin, their positions (two
//! pairs of doubles each) and charges, then, after going through them in local memory, loads and stores its own forces.
//! Boxes at a face of the space have fewer neighbours.
//!
//! Instructions are counted in Rodinia, `cuda/lavaMD/kernel/kernel_gpu_cuda.cu`. A thread's particle and the forces on it are taken to stay
//! in registers while it goes through a box.

use std::sync::Arc;

use super::Definition;
use super::array::Layout;
use super::common::{self, Scale, Settings};
use super::launch::{At, Launch, Script, Step};
use super::parameter::{Kind, ParameterDefinition, Values};
use super::volume::Volume;
use crate::diagnostic::Result;
use crate::workload::TaskKind;

/// Instructions for a pair of particles: five reads of shared memory, an exponential, seventeen of arithmetic, and three of the loop.
const STEP: u64 = 33;
/// A thread begins: two comparisons and branches, how many boxes there are, two of a factor, and three addresses.
const BEGIN: u64 = 10;
/// A particle of its own box: an address, four stores to shared memory, and three of the loop.
const OWN: u64 = 8;
/// A box: three of the loop, which it is (two), four addresses, and two comparisons and branches.
const VISIT: u64 = 13;
/// A particle of that box: two addresses, five stores to shared memory, and three of the loop.
const OTHER: u64 = 10;
/// A particle of its own that meets those of the box: four reads of shared memory, an address, and three of the loop.
const MEETING: u64 = 8;

pub const DEFINITION: Definition = Definition {
    name: "lavamd",
    title: "LavaMD: boxes of particles, each read by 27 workgroups, with much to compute",
    source: "Rodinia, cuda/lavaMD: 10 x 10 x 10 boxes of 100 particles",
    own: &[
        common::count("edge", "boxes along each side of the space", 10, 1024),
        common::count("particles", "particles of a box", 100, 1 << 16),
        ParameterDefinition {
            name: "workgroup",
            about: "threads of a workgroup",
            kind: Kind::Integer { default: 128, least: 1, most: 1024 },
        },
        common::SCALE,
        common::WARP,
        common::first("boxes", "the boxes with their neighbours, 164 words each"),
        common::next("positions", "of the particles, two pairs of doubles"),
        common::next("charges", "of the particles, doubles"),
        common::next("forces", "on the particles, two pairs of doubles"),
    ],
    shared: &common::computing_cuda(STEP),
    build,
};

/// Words of a box: four, where its particles begin (two), how many neighbours it has (two), and six for each of 26 neighbours.
const BOX: u64 = 164;
const OFFSET: u64 = 4;
const NEIGHBOURS: u64 = 6;
const NEIGHBOUR: u64 = 8;
/// Of a neighbour: its number is the fourth word of six.
const NUMBER: u64 = 3;
const WORDS: u64 = 6;

fn build(values: &Values<'_>) -> Result<Vec<TaskKind>> {
    let settings = Settings::read(values)?;
    let edge = values.integer("edge")?;
    let boxes = Volume { edges: Scale::read(values)?.volume([edge; 3]) };
    let count = common::multiple(values, "edge", boxes.cells(), 1)?;
    let (particles, workgroup) = (values.integer("particles")?, values.integer("workgroup")?);
    let mut layout = Layout::new(values);
    let arrays = vec![
        layout.array("boxes", count * BOX, 4)?,
        layout.array("positions", 2 * count * particles, 16)?,
        layout.array("charges", count * particles, 8)?,
        layout.array("forces", 2 * count * particles, 16)?,
    ];
    let each = particles.div_ceil(workgroup);
    let halves = |array| {
        (0..each).flat_map(move |part| [Step::Load(array, 2 * part), Step::Load(array, 2 * part + 1)])
    };
    let stores = (0..each).flat_map(|part| [Step::Store(3, 2 * part), Step::Store(3, 2 * part + 1)]);
    let computing = |instructions| Step::Compute(settings.share(instructions, STEP));
    let there = |nth: u64| nth + THERE;
    let body =
        [Step::Load(0, NEIGHBOUR), Step::Load(0, there(OFFSET))]
            .into_iter()
            .chain(halves(1).map(|step| {
                if let Step::Load(array, nth) = step { Step::Load(array, there(nth)) } else { step }
            }))
            .chain((0..each).map(|part| Step::Load(2, there(part))))
            .chain([computing(VISIT + OTHER * each), Step::Barrier])
            .chain([computing(each * (MEETING + STEP * particles))])
            .chain(halves(3))
            .chain(stores)
            .chain([Step::Barrier]);
    let launch = Launch {
        name: DEFINITION.name,
        groups: count,
        workgroup,
        arrays,
        script: Script::default()
            .then(1, [Step::Load(0, OFFSET), Step::Load(0, NEIGHBOURS)])
            .then(1, halves(1).chain([computing(BEGIN + OWN * each), Step::Barrier]))
            .then_each(move |group, _| boxes.near(boxes.place(group)).count(), body),
        map: Arc::new(move |at: At| {
            // First the box itself, then its neighbours.
            let other = |round: u64| match round.checked_sub(1) {
                Some(nth) => neighbour(boxes, at.group, nth),
                None => Some(at.group),
            };
            let (of, nth) =
                if at.nth >= THERE { (other(at.round)?, at.nth - THERE) } else { (at.group, at.nth) };
            if at.array == 0 {
                let word = match nth {
                    NEIGHBOUR => NEIGHBOUR + WORDS * at.round.checked_sub(1)? + NUMBER,
                    word => word,
                };
                return Some(of * BOX + word);
            }
            let halves = if at.array == 2 { 1 } else { 2 };
            let particle =
                Some(at.local + workgroup * (nth / halves)).filter(|particle| *particle < particles)?;
            Some((of * particles + particle) * halves + nth % halves)
        }),
        settings,
    };
    Ok(vec![launch.step()])
}

/// Added to the number of an access: in the box of the round, not in the workgroup's own.
const THERE: u64 = 1 << 32;

/// The n-th box around a box, itself left out.
fn neighbour(boxes: Volume, own: u64, nth: u64) -> Option<u64> {
    let place = boxes.place(own);
    let near = boxes.near(place);
    let after = u64::from(nth >= near.number(place));
    near.place(nth + after).map(|place| boxes.cell(place))
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Plain, bases, did, steps};

    #[test]
    fn every_box_meets_its_neighbours() {
        let given = [("edge", 6), ("scale", 8), ("particles", 5), ("workgroup", 4), ("wavefront", 2)];
        let [boxes, positions, charges, forces] = bases([27 * 656, 27 * 5 * 32, 27 * 5 * 8, 27 * 5 * 32]);
        let mut expected = Plain::default();
        let word = |number: u64, byte: u64| number * 164 + byte / 4;
        for bx in 0..27i64 {
            let (x, y, z) = (bx % 3, bx / 3 % 3, bx / 9);
            let mut near = vec![bx];
            for (l, m, n) in (-1..2).flat_map(|l| (-1..2).flat_map(move |m| (-1..2).map(move |n| (l, m, n))))
            {
                let inside = [x + n, y + m, z + l].iter().all(|at| (0..3).contains(at));
                if inside && (l, m, n) != (0, 0, 0) {
                    near.push((z + l) * 9 + (y + m) * 3 + x + n);
                }
            }
            // Offset at byte 16, number of neighbours at 24; neighbours of 24 bytes from 32 on.
            for _ in 0..4 {
                expected.load(boxes, word(bx as u64, 16), 4);
                expected.load(boxes, word(bx as u64, 24), 4);
            }
            for i in 0..10 {
                expected.load(positions, bx as u64 * 10 + i, 16);
            }
            for (k, other) in near.iter().enumerate() {
                for _ in 0..4 {
                    if k > 0 {
                        expected.load(boxes, word(bx as u64, 32 + 24 * (k as u64 - 1) + 12), 4);
                    }
                    expected.load(boxes, word(*other as u64, 16), 4);
                }
                (0..5).for_each(|j| expected.load(charges, *other as u64 * 5 + j, 8));
                for i in 0..10 {
                    expected.load(positions, *other as u64 * 10 + i, 16);
                    expected.load(forces, bx as u64 * 10 + i, 16);
                    expected.store(forces, bx as u64 * 10 + i, 16);
                }
            }
        }
        assert_eq!(did(&steps("lavamd", &given)[0]), expected.launch());
    }
}
