//! Jacobi iteration in a box of cells: each cell from itself and its six neighbours.
//!
//! Map (Parboil, `stencil`, `cuda_base/kernels.cu` as in gpu-app-collection), with an inner cell for each thread, a workgroup for each
//! line of them: loads of `from` the six neighbours and the cell, stores the cell of `to`. The two arrays change places
//! at each launch.

use std::sync::Arc;

use super::Definition;
use super::array::Layout;
use super::common::{self, Scale, Settings};
use super::launch::{At, Launch, Script, Step};
use super::parameter::Values;
use super::volume::{FACES, Volume};
use crate::diagnostic::Result;
use crate::workload::TaskKind;

/// Instructions of a cell: its line and plane, the test of its place (two), the index and those of the four neighbours in other lines or
/// planes (seven), six addresses (those to the west and east are a known distance away), five additions, a product, and another from which
/// that is taken.
const CELL: u64 = 24;

pub const DEFINITION: Definition = Definition {
    name: "stencil",
    title: "A 7-point stencil: planes of cells read again by the workgroups above and below",
    source: "Parboil, stencil (cuda_base): 512 x 512 x 64 cells; the source makes 100 iterations",
    own: &[
        common::count("x", "cells in a line", 512, 1026),
        common::count("y", "lines of a plane", 512, 1 << 16),
        common::count("z", "planes", 64, 1 << 16),
        common::iterations("iterations", 2),
        common::SCALE,
        common::WARP,
        common::first("from", "the cells, floats"),
        common::next("to", "the cells after an iteration"),
    ],
    shared: &common::computing_cuda(CELL),
    build,
};

fn build(values: &Values<'_>) -> Result<Vec<TaskKind>> {
    let settings = Settings::read(values)?;
    let edges = [values.integer("x")?, values.integer("y")?, values.integer("z")?];
    let volume = Volume { edges: Scale::read(values)?.volume(edges) };
    let [x, y, z] = volume.edges;
    for (name, edge) in [("x", x), ("y", y), ("z", z)] {
        if edge < 3 {
            return Err(values.complain(name, format!("`{name}`, scaled, is {edge}: no cell is inside")));
        }
    }
    let mut layout = Layout::new(values);
    let mut from = layout.array("from", volume.cells(), 4)?;
    let mut to = layout.array("to", volume.cells(), 4)?;
    let mut steps = Vec::new();
    for _ in 0..values.integer("iterations")? {
        let launch = Launch {
            name: DEFINITION.name,
            groups: (y - 2) * (z - 2),
            workgroup: x - 2,
            arrays: vec![from, to],
            script: Script::default()
                .then(1, (0..=6).map(|nth| Step::Load(0, nth)))
                .then(1, [Step::Compute(settings.compute), Step::Store(1, 6)]),
            map: Arc::new(move |at: At| {
                let place = [at.local + 1, at.group % (y - 2) + 1, at.group / (y - 2) + 1];
                let by = FACES.get(at.nth as usize).copied().unwrap_or_default();
                volume.shifted(place, by)
            }),
            settings,
        };
        steps.push(launch.step());
        (from, to) = (to, from);
    }
    Ok(steps)
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Plain, bases, did, steps};

    #[test]
    fn inner_cells_read_seven_and_write_one() {
        let given = [("x", 6), ("y", 5), ("z", 8), ("scale", 2), ("iterations", 2), ("wavefront", 4)];
        let (nx, ny) = (6, 5);
        let index = |i: u64, j: u64, k: u64| i + nx * (j + ny * k);
        let [mut a0, mut anext] = bases([4 * 120; 2]);
        let mut expected = Vec::new();
        for _ in 0..2 {
            let mut launch = Plain::default();
            for (i, j, k) in (1..5).flat_map(|i| (1..4).flat_map(move |j| (1..3).map(move |k| (i, j, k)))) {
                for cell in [
                    index(i, j, k + 1),
                    index(i, j, k - 1),
                    index(i, j + 1, k),
                    index(i, j - 1, k),
                    index(i + 1, j, k),
                    index(i - 1, j, k),
                    index(i, j, k),
                ] {
                    launch.load(a0, cell, 4);
                }
                launch.store(anext, index(i, j, k), 4);
            }
            expected.push(launch.launch());
            (a0, anext) = (anext, a0);
        }
        assert_eq!(steps("stencil", &given).iter().map(did).collect::<Vec<_>>(), expected);
    }
}
