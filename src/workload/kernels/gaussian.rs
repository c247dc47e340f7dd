//! Gaussian elimination: two launches for each row of the matrix.
//!
//! Map (Rodinia, `gaussian.cu`), with n x n matrices `a` and `m`, a vector `b` and pivot p = 0, 1 ... n - 2:
//! - `Fan1`, a thread for each row i below: loads `a[n (i + p + 1) + p]` and the pivot `a[n p + p]`, stores `m[n (i + p + 1) + p]`;
//! - `Fan2`, a thread for each element (x: row below, y: column): loads `a[n (x + 1 + p) + y + p]`, `m[n (x + 1 + p) + p]`, `a[n p + y + p]`,
//!   stores the first; where y = 0 it does the same for `b`.
//!
//! Neighbouring threads work on neighbouring rows, so that a warp touches as many lines as it has rows. Threads without a row or an element
//! return at once.

use std::sync::Arc;

use super::Definition;
use super::array::Layout;
use super::common::{self, Scale, Settings};
use super::launch::{At, Launch, Script, Step};
use super::parameter::Values;
use super::tiles::Tiles;
use crate::diagnostic::Result;
use crate::workload::TaskKind;

/// Instructions for an element in `Fan2`: six for indices, three addresses, a product that is subtracted, and two for whether it is in the
/// first column.
const ELEMENT: u64 = 12;
/// Whether a thread of `Fan2` has an element: its row and column, two bounds, two comparisons and two branches.
const FAN2: u64 = 8;
/// An element of `b`: two addresses and a product that is subtracted.
const RIGHT: u64 = 3;
/// Whether a thread of `Fan1` has a row: its number, two for the bound, a comparison and a branch.
const FAN1: u64 = 5;
/// A multiplier: four for its indices, three addresses, and a division.
const MULTIPLIER: u64 = 15;

pub const DEFINITION: Definition = Definition {
    name: "gaussian",
    title: "Gaussian elimination: threads side by side walk down a column, and launches shrink in use",
    source: "Rodinia, cuda/gaussian: workgroups of 512 and 4 x 4; 512 x 512, chosen",
    own: &[
        common::count("size", "rows and columns of the matrix", 512, 1 << 16),
        common::SCALE,
        common::workgroup(512),
        common::power("edge", "threads along each side of a workgroup of Fan2", 4, 32),
        common::WARP,
        common::first("a", "the matrix, floats"),
        common::next("m", "the multipliers"),
        common::next("b", "the right side"),
    ],
    shared: &common::computing_cuda(ELEMENT),
    build,
};

fn build(values: &Values<'_>) -> Result<Vec<TaskKind>> {
    let settings = Settings::read(values)?;
    let size = Scale::read(values)?.edge(values.integer("size")?, None);
    if size < 2 {
        return Err(
            values.complain("size", format!("`size`, scaled, is {size}: nothing is to be eliminated"))
        );
    }
    let (workgroup, edge) = (values.integer("workgroup")?, values.integer("edge")?);
    let mut layout = Layout::new(values);
    let matrix = layout.array("a", size * size, 4)?;
    let multipliers = layout.array("m", size * size, 4)?;
    let right = layout.array("b", size, 4)?;
    let compute = move |instructions| Step::Compute(settings.share(instructions, ELEMENT));
    let fan1 = move |p: u64| {
        Script::default().then(1, [compute(FAN1)]).then_each(
            move |group, local| u64::from(group * workgroup + local < size - 1 - p),
            [Step::Load(0, 0), Step::Load(0, 1), compute(MULTIPLIER), Step::Store(1, 0)],
        )
    };
    let columns = move |p: u64| Launch {
        name: "Fan1",
        groups: size.div_ceil(workgroup),
        workgroup,
        arrays: vec![matrix, multipliers],
        script: fan1(p),
        map: Arc::new(move |at: At| {
            let row = at.below(workgroup, size - 1 - p)? + p + 1;
            Some(if at.nth == 0 { size * row + p } else { size * p + p })
        }),
        settings,
    };
    let tiles = Tiles { edge, across: size.div_ceil(edge) };
    let fan2 = move |p: u64| {
        let cell = move |group, local| tiles.cell(&At { group, local, array: 0, nth: 0, round: 0 });
        let is_left = move |group, local| {
            let (x, y) = cell(group, local);
            u64::from(x + 1 + p < size && y + p < size)
        };
        let is_first = move |group, local| {
            let (x, y) = cell(group, local);
            u64::from(x + 1 + p < size && y == 0)
        };
        Script::default()
            .then(1, [compute(FAN2)])
            .then_each(
                is_left,
                [Step::Load(0, 0), Step::Load(1, 0), Step::Load(0, 1), compute(ELEMENT), Step::Store(0, 0)],
            )
            .then_each(
                is_first,
                [Step::Load(2, 0), Step::Load(1, 1), Step::Load(2, 1), compute(RIGHT), Step::Store(2, 0)],
            )
    };
    let elements = move |p: u64| Launch {
        name: "Fan2",
        groups: tiles.across * tiles.across,
        workgroup: tiles.threads(),
        arrays: vec![matrix, multipliers, right],
        script: fan2(p),
        map: Arc::new(move |at: At| {
            let (x, y) = tiles.cell(&at);
            let row = x + 1 + p;
            (row < size && y < size - p).then_some(match (at.array, at.nth) {
                (0, 0) => size * row + y + p,
                (0, _) => size * p + y + p,
                (1, _) => size * row + p,
                (_, 0) => row,
                _ => p,
            })
        }),
        settings,
    };
    Ok((0..size - 1).flat_map(|p| [columns(p).step(), elements(p).step()]).collect())
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Plain, bases, did, steps};
    use crate::model::operation::Operation;
    use crate::workload::TaskKind;

    #[test]
    fn a_warp_whose_rows_are_done_only_finds_that_out() {
        let last = steps("gaussian", &[("size", 6), ("edge", 4), ("wavefront", 4)]).pop();
        let Some(TaskKind::Kernel(fan2)) = last else { panic!("Fan2 is the last launch") };
        // The second workgroup has the first column, and rows from the fifth on: one row is left.
        let all: Vec<_> = (0..).map_while(|index| fan2.operation(1, 0, index)).collect();
        assert_eq!(all, [Operation::Compute(8)]);
    }

    #[test]
    fn each_pivot_eliminates_what_is_left() {
        let given = [("size", 12), ("scale", 4), ("workgroup", 8), ("edge", 4), ("wavefront", 4)];
        let n = 6;
        let [a, m, b] = bases([4 * n * n, 4 * n * n, 4 * n]);
        let mut expected = Vec::new();
        for t in 0..n - 1 {
            let (mut fan1, mut fan2) = (Plain::default(), Plain::default());
            for x in 0..n - 1 - t {
                fan1.load(a, n * (x + t + 1) + t, 4);
                fan1.load(a, n * t + t, 4);
                fan1.store(m, n * (x + t + 1) + t, 4);
                for y in 0..n - t {
                    fan2.load(a, n * (x + 1 + t) + y + t, 4);
                    fan2.load(m, n * (x + 1 + t) + t, 4);
                    fan2.load(a, n * t + y + t, 4);
                    fan2.store(a, n * (x + 1 + t) + y + t, 4);
                }
                fan2.load(b, x + 1 + t, 4);
                fan2.load(m, n * (x + 1 + t) + t, 4);
                fan2.load(b, t, 4);
                fan2.store(b, x + 1 + t, 4);
            }
            expected.extend([fan1.launch(), fan2.launch()]);
        }
        assert_eq!(steps("gaussian", &given).iter().map(did).collect::<Vec<_>>(), expected);
    }
}
