//! Matrix multiplication with tiles of A in local memory: C = A B, 4 x 4 elements of C from each thread.
//!
//! Map (AMD APP SDK 2.5, `MatrixMultiplication_Kernels.cl`, `mmmKernel_local`; the version that `MGPUSim` runs), in vectors of four floats,
//! with workgroups of e x e threads: for each of the `inner / 4e` tiles, thread (lx, ly) loads `A[4 gy + r, e * tile + lx]` for r below 4
//! into local memory; after a barrier it loads `B[4 e * tile + j, gx]` for j below 4e; and a barrier ends the tile. At the end it
//! stores `C[4 gy + r, gx]` for r below 4. Reading the tile from local memory is cycles.
//!
//! Computes 26 instructions for a vector of B: 16 products that are added, the tile in local memory, sums and addresses, as in
//! `MGPUSim`'s disassembly of the source, a fourth of the loop.

use std::sync::Arc;

use super::Definition;
use super::array::Array;
use super::common::{self, Scale, Settings};
use super::launch::{At, Launch, Script, Step};
use super::parameter::{Kind, ParameterDefinition, Values};
use crate::diagnostic::Result;
use crate::workload::TaskKind;

pub const DEFINITION: Definition = Definition {
    name: "matrix-multiplication",
    title: "Matrix multiplication: rows of A and columns of B are read by many workgroups again and again",
    source: "AMD APP SDK 2.5, MatrixMultiplication_Kernels.cl (mmmKernel_local); UMH (2016), Table I: 1024 x 1024 x 1024",
    own: &[
        common::power("rows", "rows of A and C", 1024, 1 << 20),
        common::power("inner", "columns of A, rows of B", 1024, 1 << 20),
        common::power("columns", "columns of B and C", 1024, 1 << 20),
        common::SCALE,
        ParameterDefinition {
            name: "edge",
            about: "threads along each side of a workgroup",
            kind: Kind::PowerOfTwo { default: 8, most: 32 },
        },
        common::WAVEFRONT,
        common::first("a", "the matrix A, floats"),
        common::next("b", "the matrix B"),
        common::next("c", "the matrix C"),
    ],
    shared: &common::computing(26),
    build,
};

/// Elements of a vector, and vectors of C that a thread stores.
const VECTOR: u64 = 4;

fn build(values: &Values<'_>) -> Result<Vec<TaskKind>> {
    let settings = Settings::read(values)?;
    let (edge, scale) = (values.integer("edge")?, Scale::read(values)?);
    // Elements of C along each side of a workgroup's part, and columns of A in a tile.
    let tile = VECTOR * edge;
    let size = |name| common::multiple(values, name, scale.edge(values.integer(name)?, Some(tile)), tile);
    let (rows, inner, columns) = (size("rows")?, size("inner")?, size("columns")?);
    let left = Array::place(values, "a", rows * inner / VECTOR, 4 * VECTOR, None)?;
    let right = Array::place(values, "b", inner * columns / VECTOR, 4 * VECTOR, Some(&left))?;
    let product = Array::place(values, "c", rows * columns / VECTOR, 4 * VECTOR, Some(&right))?;
    let across = columns / tile;
    let mut body: Vec<_> = (0..VECTOR).map(|row| Step::Load(0, row)).collect();
    body.push(Step::Barrier);
    body.extend((0..tile).flat_map(|j| [Step::Load(1, j), Step::Compute(settings.compute)]));
    body.push(Step::Barrier);
    let launch = Launch {
        name: DEFINITION.name,
        groups: across * (rows / tile),
        workgroup: edge * edge,
        arrays: vec![left, right, product],
        script: Script::default()
            .then(inner / tile, body)
            .then(1, (0..VECTOR).map(|row| Step::Store(2, row))),
        map: Arc::new(move |at: At| {
            let (x, y) = (at.local % edge, at.local / edge);
            let (gx, gy) = (at.group % across * edge + x, at.group / across * edge + y);
            Some(match at.array {
                0 => (VECTOR * gy + at.nth) * (inner / VECTOR) + edge * at.round + x,
                1 => (tile * at.round + at.nth) * (columns / VECTOR) + gx,
                _ => (VECTOR * gy + at.nth) * (columns / VECTOR) + gx,
            })
        }),
        settings,
    };
    Ok(vec![launch.step()])
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Did, Touch, did, steps};
    use crate::model::access::AccessKind::{Load, NStore};

    #[test]
    fn every_thread_touches_what_the_map_says() {
        let given =
            [("rows", 64), ("inner", 32), ("columns", 128), ("scale", 4), ("edge", 2), ("wavefront", 2)];
        let (rows, inner, columns) = (32, 16, 64);
        let (a, b, c) = (0x10_0000, 0x10_1000, 0x10_2000);
        let vector = |base, row: u64, column: u64, width: u64| base + 4 * (row * width + column);
        let mut expected = Vec::new();
        for (gx, gy) in (0..rows / 4).flat_map(|y| (0..columns / 4).map(move |x| (x, y))) {
            // A tile has 2 vectors of A in each row, and 8 rows of B.
            for tile in 0..inner / 8 {
                for r in 0..4 {
                    let address = vector(a, 4 * gy + r, 4 * (2 * tile + gx % 2), inner);
                    expected.push(Touch::new(Load, address, 16));
                }
                for j in 0..8 {
                    expected.push(Touch::new(Load, vector(b, 8 * tile + j, 4 * gx, columns), 16));
                }
            }
            for r in 0..4 {
                expected.push(Touch::new(NStore, vector(c, 4 * gy + r, 4 * gx, columns), 16));
            }
        }
        expected.sort();
        let steps = steps("matrix-multiplication", &given);
        assert_eq!(steps.iter().map(did).collect::<Vec<_>>(), [Did::Launch(expected)]);
    }
}
