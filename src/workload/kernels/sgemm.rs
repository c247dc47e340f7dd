//! Matrix multiplication without local memory: C = A B^T + C, an element of C from each thread.
//!
//! Map (Parboil, `sgemm`, `cuda_base/sgemm_kernel.cu` as in gpu-app-collection), with matrices that lie in memory column by column: thread
//! (m, n) loads `a[m + rows i]` and `b[n + columns i]` for each i below `inner`, then loads and stores `c[m + rows n]`.

use std::sync::Arc;

use super::Definition;
use super::array::Layout;
use super::common::{self, Scale, Settings};
use super::launch::{At, Launch, Script, Step};
use super::parameter::Values;
use super::tiles::Tiles;
use crate::diagnostic::Result;
use crate::workload::TaskKind;

/// Instructions for a column of A and B: two indices and their addresses, a product that is added, counter, comparison and branch.
const STEP: u64 = 8;
/// And for the element of C: the thread's row and column, index and address, two products that are added. What the thread begins with is
/// counted here.
const END: u64 = 6;

pub const DEFINITION: Definition = Definition {
    name: "sgemm",
    title: "Matrix multiplication without local memory: columns read by whole rows of workgroups",
    source: "Parboil, sgemm (cuda_base): medium, 1024 x 1056, inner 992",
    own: &[
        common::count("rows", "rows of A and C", 1024, 1 << 20),
        common::count("columns", "columns of C", 1056, 1 << 20),
        common::count("inner", "columns of A", 992, 1 << 20),
        common::SCALE,
        common::power("edge", "threads along each side of a workgroup", 16, 32),
        common::WARP,
        common::first("a", "the matrix A, floats"),
        common::next("b", "the matrix B, transposed"),
        common::next("c", "the matrix C"),
    ],
    shared: &common::computing_cuda(STEP),
    build,
};

fn build(values: &Values<'_>) -> Result<Vec<TaskKind>> {
    let settings = Settings::read(values)?;
    let scale = Scale::read(values)?;
    let size = |name| common::multiple(values, name, scale.edge(values.integer(name)?, None), 1);
    let (rows, columns, inner) = (size("rows")?, size("columns")?, size("inner")?);
    let edge = values.integer("edge")?;
    let mut layout = Layout::new(values);
    let arrays = vec![
        layout.array("a", rows * inner, 4)?,
        layout.array("b", columns * inner, 4)?,
        layout.array("c", rows * columns, 4)?,
    ];
    let tiles = Tiles { edge, across: rows.div_ceil(edge) };
    let launch = Launch {
        name: DEFINITION.name,
        groups: tiles.across * columns.div_ceil(edge),
        workgroup: tiles.threads(),
        arrays,
        script: Script::default()
            .then(inner, [Step::Load(0, 0), Step::Load(1, 0), Step::Compute(settings.compute)])
            .then(1, [Step::Load(2, 0), Step::Compute(settings.share(END, STEP)), Step::Store(2, 0)]),
        map: Arc::new(move |at: At| {
            let (m, n) = tiles.cell(&at);
            (m < rows && n < columns).then_some(match at.array {
                0 => m + rows * at.round,
                1 => n + columns * at.round,
                _ => m + rows * n,
            })
        }),
        settings,
    };
    Ok(vec![launch.step()])
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Plain, bases, did, steps};

    #[test]
    fn every_thread_reads_a_row_of_each() {
        let given =
            [("rows", 16), ("columns", 20), ("inner", 6), ("scale", 4), ("edge", 4), ("wavefront", 8)];
        let (lda, ldb, k) = (8, 10, 3);
        let [a, b, c] = bases([4 * lda * k, 4 * ldb * k, 4 * lda * ldb]);
        let mut expected = Plain::default();
        for (m, n) in (0..lda).flat_map(|m| (0..ldb).map(move |n| (m, n))) {
            for i in 0..k {
                expected.load(a, m + i * lda, 4);
                expected.load(b, n + i * ldb, 4);
            }
            expected.load(c, m + n * lda, 4);
            expected.store(c, m + n * lda, 4);
        }
        assert_eq!(did(&steps("sgemm", &given)[0]), expected.launch());
    }
}
