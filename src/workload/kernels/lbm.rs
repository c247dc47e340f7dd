//! Lattice-Boltzmann: each cell's nineteen densities collide and stream to the neighbours.
//!
//! Map (Parboil, `lbm`, `cuda_base/lbm_kernel.cu` and `layout_config.h` as in gpu-app-collection), with a thread for each cell, a workgroup for each line of
//! them: loads the nineteen densities of its cell and its flags, stores each density in the cell to which it streams. The arrays
//! lie in memory density by density, with two planes of margin at both ends; source and destination change places at each
//! time step. The margin is so wide that no cell needs to know where the space ends. The padding of lines is left out: a
//! line is as long as it has cells. This is how the source streams as SCATTER; as GATHER, its other macro, it would load from the
//! neighbours and store its own.

use std::sync::Arc;

use super::Definition;
use super::array::Layout;
use super::common::{self, Scale, Settings};
use super::launch::{At, Launch, Script, Step};
use super::parameter::Values;
use super::volume::{Volume, around};
use crate::diagnostic::Result;
use crate::workload::TaskKind;

/// Instructions of a cell that is no obstacle: two for its index, 39 addresses, eight for the two flags, 18 additions for its mass, 27 for
/// the velocity and three divisions, eight for what all densities share, and the new ones: two, six times four, and twelve times five.
///
/// Addresses are counted one by one, as densities lie farther apart than the offset of an instruction reaches.
const CELL: u64 = 212;

pub const DEFINITION: Definition = Definition {
    name: "lbm",
    title: "Lattice-Boltzmann: twenty streams in, nineteen out, each a little to the side",
    source: "Parboil, lbm (cuda_base): 120 x 120 x 150 cells; the source makes 100 time steps (short)",
    own: &[
        common::count("x", "cells in a line", 120, 1024),
        common::count("y", "lines of a plane", 120, 1 << 16),
        common::count("z", "planes", 150, 1 << 16),
        common::iterations("time steps", 2),
        common::SCALE,
        common::WARP,
        common::first("from", "the densities and flags, floats"),
        common::next("to", "the same after a time step"),
    ],
    shared: &common::computing_cuda(CELL),
    build,
};

/// Densities, and the flags.
const VALUES: u64 = 20;
const FLAGS: u64 = 19;
/// Planes of margin at each end.
const MARGIN: u64 = 2;

/// Where a density streams: to itself, to the six neighbours with a common face, and the twelve with a common edge.
fn streams(density: u64) -> [i64; 3] {
    let near = |by: &[i64; 3]| by.iter().filter(|step| **step != 0).count() < 3;
    (0..27).map(around).filter(near).nth(density as usize).unwrap_or_default()
}

fn build(values: &Values<'_>) -> Result<Vec<TaskKind>> {
    let settings = Settings::read(values)?;
    let edges = [values.integer("x")?, values.integer("y")?, values.integer("z")?];
    let volume = Volume { edges: Scale::read(values)?.volume(edges) };
    let [x, y, z] = volume.edges;
    common::multiple(values, "x", volume.cells(), 1)?;
    let (plane, padded) = (x * y, x * y * (z + 2 * MARGIN));
    let mut layout = Layout::new(values);
    let mut from = layout.array("from", VALUES * padded, 4)?;
    let mut to = layout.array("to", VALUES * padded, 4)?;
    let mut steps = Vec::new();
    for _ in 0..values.integer("iterations")? {
        let launch = Launch {
            name: "performStreamCollide",
            groups: y * z,
            workgroup: x,
            arrays: vec![from, to],
            script: Script::default()
                .then(1, (0..VALUES).map(|value| Step::Load(0, value)))
                .then(1, [Step::Compute(settings.compute)])
                .then(1, (0..FLAGS).map(|density| Step::Store(1, density))),
            map: Arc::new(move |at: At| {
                let own = at.nth * padded + MARGIN * plane + at.thread(x);
                let [dx, dy, dz] = if at.array == 0 { [0; 3] } else { streams(at.nth) };
                own.checked_add_signed(dx + dy * x as i64 + dz * plane as i64)
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
    use super::*;

    #[test]
    fn densities_stream_to_nineteen_places() {
        let all: std::collections::BTreeSet<_> = (0..19).map(streams).collect();
        assert_eq!(all.len(), 19);
        assert!(all.iter().all(|by| (0..=2).contains(&by.iter().map(|step| step * step).sum::<i64>())));
        let given = [("x", 4), ("y", 6), ("z", 5), ("scale", 2), ("iterations", 2), ("wavefront", 4)];
        let (sx, sy, sz) = (4i64, 3, 5);
        let total = sx * sy * (sz + 4);
        let [mut src, mut dst] = bases([4 * 20 * total as u64; 2]);
        let mut expected = Vec::new();
        for _ in 0..2 {
            let mut launch = Plain::default();
            for (x, y, z) in (0..sz).flat_map(|z| (0..sy).flat_map(move |y| (0..sx).map(move |x| (x, y, z))))
            {
                let index = |x, y, z, e: i64| (total * e + x + y * sx + (z + 2) * sx * sy) as u64;
                (0..20).for_each(|e| launch.load(src, index(x, y, z, e), 4));
                for e in 0..19 {
                    let [dx, dy, dz] = streams(e as u64);
                    launch.store(dst, index(x + dx, y + dy, z + dz, e), 4);
                }
            }
            expected.push(launch.launch());
            (src, dst) = (dst, src);
        }
        assert_eq!(steps("lbm", &given).iter().map(did).collect::<Vec<_>>(), expected);
    }
}
