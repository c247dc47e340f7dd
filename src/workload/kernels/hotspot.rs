//! `HotSpot`: the temperature of a chip, several time steps in each launch.
//!
//! Map (Rodinia, `hotspot.cu`), with workgroups of e x e threads and p time steps in a launch: the tiles of the workgroups overlap
//! by p cells on each side, so that thread (t, ty) of group (bx, by) works on column `(e - 2p) bx - p + t` and row
//! `(e - 2p) by - p + ty`. If that is on the chip, it loads `temperature` and `power`; after the time steps, in local memory, the threads
//! that are at least p away from the edge of their tile store the new `temperature`. The two arrays of temperatures change
//! places at each launch.

use std::sync::Arc;

use super::Definition;
use super::array::Layout;
use super::common::{self, Scale, Settings};
use super::launch::{At, Launch, Script, Step};
use super::parameter::{Kind, ParameterDefinition, Values};
use super::pieces::{self, divided};
use super::tiles::Tiles;
use crate::diagnostic::Result;
use crate::workload::TaskKind;

/// Instructions of a time step: eleven for the loop and whether the thread takes part, six reads of local memory, ten of arithmetic, six
/// conversions, for a constant is a double, a write, and three that copy it (in the last, that find and read what is stored).
const STEP: u64 = 37;
/// What a thread begins with: four divisions, six for its cell, four comparisons, a branch, and two addresses.
const BEGIN: u64 = 45;
/// What it loaded goes into local memory: three; then the ends of what is on the chip, fourteen; the four neighbours, twelve; and what
/// the loop needs, six.
const ENDS: u64 = 35;

pub const DEFINITION: Definition = Definition {
    name: "hotspot",
    title: "HotSpot: tiles that overlap, so that neighbouring workgroups read the same cells",
    source: "Rodinia, cuda/hotspot: 512 x 512 cells, 2 time steps, 2 in a launch",
    own: &[
        common::count("size", "rows and columns of the chip", 512, 1 << 20),
        ParameterDefinition {
            name: "pyramid",
            about: "time steps of a launch",
            kind: Kind::Integer { default: 2, least: 1, most: 15 },
        },
        common::iterations("time steps", 2),
        common::SCALE,
        common::power("edge", "threads along each side of a workgroup", 16, 32),
        common::WARP,
        common::PIECES,
        common::first("temperature", "the temperatures, floats"),
        common::next("other", "the temperatures after a launch"),
        common::next("power", "the power of each cell"),
    ],
    shared: &common::computing_cuda(STEP),
    build,
};

fn build(values: &Values<'_>) -> Result<Vec<TaskKind>> {
    let settings = Settings::read(values)?;
    let size = Scale::read(values)?.edge(values.integer("size")?, None);
    common::multiple(values, "size", size, 1)?;
    let (edge, pyramid) = (values.integer("edge")?, values.integer("pyramid")?);
    if 2 * pyramid >= edge {
        return Err(values.complain("pyramid", "twice `pyramid` must be less than `edge`"));
    }
    let mut layout = Layout::new(values);
    let mut from = layout.array("temperature", size * size, 4)?;
    let mut to = layout.array("other", size * size, 4)?;
    let power = layout.array("power", size * size, 4)?;
    let across = size.div_ceil(edge - 2 * pyramid);
    let tiles = Tiles { edge, across };
    let (iterations, pieces) = (values.integer("iterations")?, values.integer("pieces")?);
    let warps = (across * across).saturating_mul(tiles.threads().div_ceil(u64::from(settings.wavefront)));
    pieces::check(values, iterations.div_ceil(pyramid), warps)?;
    let compute = |instructions| Step::Compute(settings.share(instructions, STEP));
    let begin = [compute(BEGIN), Step::Load(0, 0), Step::Load(1, 0), Step::Barrier, compute(ENDS)];
    let mut steps = Vec::new();
    for done in (0..iterations).step_by(pyramid as usize) {
        let rounds = pyramid.min(iterations - done);
        let launch = Launch {
            name: DEFINITION.name,
            groups: across * across,
            workgroup: tiles.threads(),
            arrays: vec![from, power, to],
            script: Script::default()
                .then(1, begin)
                .then(rounds, [compute(STEP), Step::Barrier])
                .then(1, [Step::Store(2, 0)]),
            map: Arc::new(move |at: At| {
                let (thread, group) = (tiles.thread(&at), tiles.group(&at));
                let on_chip = |group: u64, thread: u64| {
                    ((edge - 2 * rounds) * group + thread).checked_sub(pyramid).filter(|at| *at < size)
                };
                let (column, row) = (on_chip(group.0, thread.0)?, on_chip(group.1, thread.1)?);
                let inner = |thread: u64| (rounds..edge - rounds).contains(&thread);
                let takes_part = at.array < 2 || inner(thread.0) && inner(thread.1);
                takes_part.then_some(row * size + column)
            }),
            settings,
        };
        steps.extend(divided(launch.step(), pieces));
        (from, to) = (to, from);
    }
    Ok(steps)
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Plain, bases, did, steps};

    #[test]
    fn tiles_overlap_and_the_arrays_change_places() {
        let given =
            [("size", 24), ("scale", 4), ("edge", 8), ("pyramid", 2), ("iterations", 4), ("wavefront", 8)];
        let [temperature, other, power] = bases([4 * 144; 3]);
        let mut expected = Vec::new();
        for (from, to) in [(temperature, other), (other, temperature)] {
            let mut launch = Plain::default();
            for (by, bx) in (0..3i64).flat_map(|by| (0..3i64).map(move |bx| (by, bx))) {
                for (ty, tx) in (0..8i64).flat_map(|ty| (0..8i64).map(move |tx| (ty, tx))) {
                    let (y, x) = (4 * by - 2 + ty, 4 * bx - 2 + tx);
                    if (0..12).contains(&y) && (0..12).contains(&x) {
                        launch.load(from, (12 * y + x) as u64, 4);
                        launch.load(power, (12 * y + x) as u64, 4);
                        if (2..=5).contains(&ty) && (2..=5).contains(&tx) {
                            launch.store(to, (12 * y + x) as u64, 4);
                        }
                    }
                }
            }
            expected.push(launch.launch());
        }
        assert_eq!(steps("hotspot", &given).iter().map(did).collect::<Vec<_>>(), expected);
    }
}
