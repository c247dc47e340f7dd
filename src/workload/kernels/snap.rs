//! SNAP: a sweep of particles through a box of cells, diagonal by diagonal, from each of its corners.
//!
//! A stand-in for SNAP (a proxy of the transport code PARTISN), after its sweep, not its source. A launch for each diagonal plane of each of
//! eight octants; a workgroup for each cell of it, a thread for each angle, which goes through the energy groups: loads the cell's `source` and `cross_section`, its own
//! flux of the time step before, and what flows in through three faces; stores its flux, what flows out through the three opposite faces, and adds
//! to the cell's `scalar_flux`, atomically, by the first thread.
//! What flows through a face lies in a plane of each direction, for each angle and group, which each launch reads and writes.

use std::sync::Arc;

use super::Definition;
use super::array::Layout;
use super::common::{self, Scale, Settings};
use super::launch::{At, Launch, Script, Step};
use super::parameter::Values;
use super::volume::Volume;
use crate::diagnostic::Result;
use crate::model::access::AtomicOp;
use crate::workload::TaskKind;

/// Instructions of a cell, group and angle (`dim3_sweep` of SNAP, without fix-up, its `dinv` computed from the cross section): eight for
/// where the values are, seven addresses, seven products for what flows in, four for what it is divided by, the division, four products
/// for what flows out, the angle's weight, a write to shared memory, and the loop.
const CELL: u64 = 43;

pub const DEFINITION: Definition = Definition {
    name: "snap",
    title: "SNAP: a sweep whose diagonals read what the one before wrote, few workgroups at a time",
    source: "a stand-in for SNAP: its sweep, not its source; 12 x 12 x 12 cells, 32 angles, 4 groups, chosen",
    own: &[
        common::count("x", "cells in a line", 12, 1024),
        common::count("y", "lines of a plane", 12, 1024),
        common::count("z", "planes", 12, 1024),
        common::count("angles", "angles of an octant, and threads of a workgroup", 32, 1024),
        common::count("groups", "energy groups", 4, 1024),
        common::SCALE,
        common::WARP,
        common::first("source", "of each cell and group, doubles"),
        common::next("cross_section", "of each cell and group"),
        common::next("scalar_flux", "of each cell and group"),
        common::next("flux_before", "of each octant, cell, group and angle"),
        common::next("flux", "the same after the sweep"),
        common::next("face_x", "what flows through faces in x, of each line, group and angle"),
        common::next("face_y", "in y"),
        common::next("face_z", "in z"),
    ],
    shared: &common::computing_cuda(CELL),
    build,
};

const OCTANTS: u64 = 8;

/// Instructions of a sum over angles, counted as a tree in shared memory: five for each level (comparison, branch, addition, read and
/// write), whether a thread is the first, and an address.
fn sum(angles: u64) -> u64 {
    5 * u64::from(angles.next_power_of_two().ilog2()) + 3
}

/// The cells of a box in the order in which a sweep reaches them.
#[derive(Debug)]
struct Sweep {
    volume: Volume,
    angles: u64,
    groups: u64,
    /// Cells by diagonal, and where each diagonal ends.
    order: Vec<u32>,
    ends: Vec<usize>,
}

impl Sweep {
    fn of(volume: Volume, angles: u64, groups: u64) -> Self {
        let diagonal = |cell: &u32| volume.place(u64::from(*cell)).iter().sum::<u64>();
        let mut order: Vec<u32> = (0..volume.cells() as u32).collect();
        order.sort_by_key(diagonal);
        let mut ends: Vec<usize> =
            order.chunk_by(|one, other| diagonal(one) == diagonal(other)).map(<[u32]>::len).collect();
        let mut end = 0;
        for length in &mut ends {
            end += *length;
            *length = end;
        }
        Self { volume, angles, groups, order, ends }
    }

    fn diagonal(&self, number: usize) -> &[u32] {
        let first = number.checked_sub(1).and_then(|before| self.ends.get(before)).copied().unwrap_or(0);
        self.ends.get(number).and_then(|end| self.order.get(first..*end)).unwrap_or(&[])
    }

    /// The place that a sweep from another corner reaches when that from the first reaches `cell`.
    fn place(&self, cell: u32, octant: u64) -> [u64; 3] {
        let mut place = self.volume.place(u64::from(cell));
        for ((axis, at), edge) in (0..).zip(&mut place).zip(self.volume.edges) {
            if octant >> axis & 1 == 1 {
                *at = edge - 1 - *at;
            }
        }
        place
    }

    /// The element that an access touches; arrays as [`DEFINITION`] lists them.
    fn element(&self, octant: u64, diagonal: usize, at: &At) -> Option<u64> {
        let place = self.place(*self.diagonal(diagonal).get(at.group as usize)?, octant);
        let cell = self.volume.cell(place);
        let [x, y, z] = place;
        let [across, up, _] = self.volume.edges;
        let (cells, angles, group) = (self.volume.cells(), self.angles, at.round);
        let by_angle = |line: u64, lines: u64| (group * lines + line) * angles + at.local;
        let [in_x, in_y, in_z] = self.lines();
        Some(match at.array {
            2 => return (at.local == 0).then_some(group * cells + cell),
            0 | 1 => group * cells + cell,
            3 | 4 => octant * self.groups * cells * angles + by_angle(cell, cells),
            5 => by_angle(z * up + y, in_x),
            6 => by_angle(z * across + x, in_y),
            _ => by_angle(y * across + x, in_z),
        })
    }

    /// Lines of cells in the three directions.
    fn lines(&self) -> [u64; 3] {
        let [x, y, z] = self.volume.edges;
        [y * z, x * z, x * y]
    }
}

fn build(values: &Values<'_>) -> Result<Vec<TaskKind>> {
    let settings = Settings::read(values)?;
    let edges = [values.integer("x")?, values.integer("y")?, values.integer("z")?];
    let volume = Volume { edges: Scale::read(values)?.volume(edges) };
    let cells = common::multiple(values, "x", volume.cells(), 1)?;
    if cells > MOST_CELLS {
        return Err(values.complain("x", format!("{cells} cells are more than {MOST_CELLS}")));
    }
    let (angles, groups) = (values.integer("angles")?, values.integer("groups")?);
    let sweep = Arc::new(Sweep::of(volume, angles, groups));
    let mut layout = Layout::new(values);
    let mut arrays = Vec::new();
    for name in ["source", "cross_section", "scalar_flux"] {
        arrays.push(layout.array(name, groups * cells, 8)?);
    }
    for name in ["flux_before", "flux"] {
        arrays.push(layout.array(name, OCTANTS * groups * cells * angles, 8)?);
    }
    for (name, lines) in ["face_x", "face_y", "face_z"].into_iter().zip(sweep.lines()) {
        arrays.push(layout.array(name, groups * lines * angles, 8)?);
    }
    let loads = [0, 1, 3, 5, 6, 7].map(|array| Step::Load(array, 0));
    let stores = [4, 5, 6, 7].map(|array| Step::Store(array, 0));
    let body = loads
        .into_iter()
        .chain([Step::Compute(settings.compute)])
        .chain(stores)
        .chain([Step::Barrier, Step::Compute(settings.share(sum(angles), CELL))])
        .chain([Step::Atomic(AtomicOp::Add, 2, 0)]);
    let script = Script::default().then(groups, body);
    let launch = |octant, diagonal| {
        let plane = sweep.clone();
        Launch {
            name: "sweep",
            groups: sweep.diagonal(diagonal).len() as u64,
            workgroup: angles,
            arrays: arrays.clone(),
            script: script.clone(),
            map: Arc::new(move |at: At| plane.element(octant, diagonal, &at)),
            settings,
        }
        .step()
    };
    let diagonals = sweep.ends.len();
    Ok((0..OCTANTS)
        .flat_map(|octant| (0..diagonals).map(move |diagonal| (octant, diagonal)))
        .map(|(octant, diagonal)| launch(octant, diagonal))
        .collect())
}

/// Cells whose order is kept: 64 MiB.
const MOST_CELLS: u64 = 1 << 24;

#[cfg(test)]
mod tests {
    use super::super::testing::{Plain, bases, did, steps};
    use crate::model::access::{AccessKind::Atomic, AtomicOp::Add};

    #[test]
    fn each_octant_is_swept_diagonal_by_diagonal() {
        let given =
            [("x", 3), ("y", 4), ("z", 2), ("scale", 2), ("angles", 3), ("groups", 2), ("wavefront", 2)];
        let (nx, ny, nz, nang, ng) = (3i64, 2i64, 2i64, 3, 2);
        let cells = (nx * ny * nz) as u64;
        let flux = 8 * 8 * ng * cells * nang;
        let [q, sigma, scalar, before, after, fx, fy, fz] = bases([
            8 * ng * cells,
            8 * ng * cells,
            8 * ng * cells,
            flux,
            flux,
            8 * ng * 4 * nang,
            8 * ng * 6 * nang,
            8 * ng * 6 * nang,
        ]);
        let mut expected = Vec::new();
        for octant in 0..8 {
            let turned = |bit: u64, at: i64, n: i64| if octant >> bit & 1 == 1 { n - 1 - at } else { at };
            for d in 0..=(nx + ny + nz - 3) {
                let mut launch = Plain::default();
                let all = (0..nx).flat_map(|i| (0..ny).flat_map(move |j| (0..nz).map(move |k| (i, j, k))));
                for (i, j, k) in all {
                    if turned(0, i, nx) + turned(1, j, ny) + turned(2, k, nz) != d {
                        continue;
                    }
                    let cell = (k * nx * ny + j * nx + i) as u64;
                    for g in 0..ng {
                        launch.touch(Atomic(Add), scalar, g * cells + cell, 8);
                        for ang in 0..nang {
                            launch.load(q, g * cells + cell, 8);
                            launch.load(sigma, g * cells + cell, 8);
                            let own = ((octant * ng + g) * cells + cell) * nang + ang;
                            launch.load(before, own, 8);
                            launch.store(after, own, 8);
                            for (face, line, lines) in
                                [(fx, k * ny + j, 4), (fy, k * nx + i, 6), (fz, j * nx + i, 6)]
                            {
                                launch.load(face, (g * lines + line as u64) * nang + ang, 8);
                                launch.store(face, (g * lines + line as u64) * nang + ang, 8);
                            }
                        }
                    }
                }
                expected.push(launch.launch());
            }
        }
        assert_eq!(steps("snap", &given).iter().map(did).collect::<Vec<_>>(), expected);
    }
}
