//! `PathFinder`: the cheapest way down a wall, several rows in each launch.
//!
//! Map (Rodinia, `pathfinder.cu`), with workgroups of w threads and p rows in a launch: the workgroups overlap by p columns on each
//! side; in a launch of r rows (p, but for the last) thread t of group b works on column x = (w - 2r) b - p + t. If that is on the wall
//! it loads `source[x]`; in round i the threads that are more than i away from the ends load `wall` in row `start + i`, column x; at
//! the end those that were in all rounds store `result[x]`. Source and result change places at each launch.

use std::sync::Arc;

use super::Definition;
use super::array::Layout;
use super::common::{self, Scale, Settings};
use super::launch::{At, Launch, Script, Step};
use super::parameter::Values;
use crate::diagnostic::Result;
use crate::workload::TaskKind;

/// Instructions of a row: nine for the loop and whether the thread takes part, three reads of local memory, two minima, three for where
/// the cell is, a sum, a write, and three that copy it (in the last, that find and read what is stored).
const ROW: u64 = 22;
/// What a thread begins with: three for its column, three for whether it is on the wall, and an address.
const BEGIN: u64 = 7;
/// What it loaded goes into local memory: one; then the ends of what is on the wall, seven; the two neighbours, four; and what
/// the loop needs, four.
const ENDS: u64 = 16;

pub const DEFINITION: Definition = Definition {
    name: "pathfinder",
    title: "PathFinder: a wall streamed through once, with columns that neighbours read too",
    source: "Rodinia, cuda/pathfinder: 100,000 columns, 100 rows, 20 in a launch",
    own: &[
        common::count("columns", "columns of the wall", 100_000, 1 << 32),
        common::count("rows", "rows of the wall", 100, 1 << 17),
        common::count("pyramid", "rows of a launch", 20, 500),
        common::SCALE,
        common::workgroup(256),
        common::WARP,
        common::first("source", "costs so far, words"),
        common::next("result", "costs after a launch"),
        common::next("wall", "costs of each cell but the first row's"),
    ],
    shared: &common::computing_cuda(ROW),
    build,
};

fn build(values: &Values<'_>) -> Result<Vec<TaskKind>> {
    let settings = Settings::read(values)?;
    let columns = Scale::read(values)?.of(values.integer("columns")?);
    common::multiple(values, "columns", columns, 1)?;
    let rows = values.integer("rows")?.saturating_sub(1);
    common::multiple(values, "rows", rows, 1)?;
    let (workgroup, pyramid) = (values.integer("workgroup")?, values.integer("pyramid")?);
    if 2 * pyramid >= workgroup {
        return Err(values.complain("pyramid", "twice `pyramid` must be less than `workgroup`"));
    }
    let mut layout = Layout::new(values);
    let mut from = layout.array("source", columns, 4)?;
    let mut to = layout.array("result", columns, 4)?;
    let wall = layout.array("wall", columns * rows, 4)?;
    let compute = |instructions| Step::Compute(settings.share(instructions, ROW));
    let mut steps = Vec::new();
    for start in (0..rows).step_by(pyramid as usize) {
        let rounds = pyramid.min(rows - start);
        let launch = Launch {
            name: DEFINITION.name,
            groups: columns.div_ceil(workgroup - 2 * pyramid),
            workgroup,
            arrays: vec![from, wall, to],
            script: Script::default()
                .then(1, [compute(BEGIN), Step::Load(0, 0), Step::Barrier, compute(ENDS)])
                .then(rounds, [Step::Load(1, 0), compute(ROW), Step::Barrier])
                .then(1, [Step::Store(2, 0)]),
            map: Arc::new(move |at: At| {
                let place = (workgroup - 2 * rounds) * at.group + at.local;
                let column = place.checked_sub(pyramid).filter(|column| *column < columns)?;
                let margin = match at.array {
                    0 => 0,
                    1 => at.round + 1,
                    _ => rounds,
                };
                let inside = (margin..workgroup - margin).contains(&at.local);
                let row = if at.array == 1 { start + at.round } else { 0 };
                inside.then_some(row * columns + column)
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
    fn each_launch_climbs_down_some_rows() {
        let given =
            [("columns", 60), ("scale", 2), ("rows", 6), ("pyramid", 3), ("workgroup", 16), ("wavefront", 4)];
        let (cols, border) = (30i64, 3);
        let [mut src, mut dst, wall] = bases([120, 120, 600]);
        let mut expected = Vec::new();
        for (start, iteration) in [(0, 3), (3, 2)] {
            let mut launch = Plain::default();
            for (bx, tx) in (0..3i64).flat_map(|bx| (0..16i64).map(move |tx| (bx, tx))) {
                let x = (16 - iteration * 2) * bx - border + tx;
                if !(0..cols).contains(&x) {
                    continue;
                }
                launch.load(src, x as u64, 4);
                let mut computed = false;
                for i in 0..iteration {
                    computed = (i + 1..=16 - i - 2).contains(&tx);
                    if computed {
                        launch.load(wall, (cols * (start + i) + x) as u64, 4);
                    }
                }
                if computed {
                    launch.store(dst, x as u64, 4);
                }
            }
            expected.push(launch.launch());
            (src, dst) = (dst, src);
        }
        assert_eq!(steps("pathfinder", &given).iter().map(did).collect::<Vec<_>>(), expected);
    }
}
