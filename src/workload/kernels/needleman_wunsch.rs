//! Needleman-Wunsch: the alignment of two sequences, one diagonal of tiles in each launch.
//!
//! Map (Rodinia, `needle_kernel.cu` and `needle.cu`), with tiles of e x e cells, a workgroup of e threads for each, in a matrix of
//! (n + 1) x (n + 1) words: the launches go through the diagonals of tiles, up to the longest (`needle_cuda_shared_1`) and down again
//! (`needle_cuda_shared_2`). Thread t of the tile whose corner is `o` loads from `matrix` the corner `o` (t = 0), then column t of the tile of
//! `reference`, then from `matrix` the word to the west of row t and the word to the north of column t, and, when the tile is filled in local memory, diagonal by diagonal, stores column t of the tile. What is west and north was written by the launches before.

use std::sync::Arc;

use super::Definition;
use super::array::Layout;
use super::common::{self, Scale, Settings};
use super::launch::{At, Launch, Script, Step};
use super::parameter::Values;
use crate::diagnostic::Result;
use crate::workload::TaskKind;

/// Instructions of a diagonal of a tile: three for the loop, two for whether the thread takes part, three for its cell, four reads of local
/// memory, three sums, two maxima, and a write.
const DIAGONAL: u64 = 18;
/// What a thread begins with: nine for its indices, two for whether it is the first, and an address and a write for the corner.
const BEGIN: u64 = 13;
/// A word of a tile, to or from local memory, in a loop that is unrolled: an index, an address, and that access.
const WORD: u64 = 3;
/// The word to the west: two indices, an address, and a write to local memory.
const WEST: u64 = 4;
/// The word to the north: an address and a write.
const NORTH: u64 = 2;

pub const DEFINITION: Definition = Definition {
    name: "needleman-wunsch",
    title: "Needleman-Wunsch (nw, needle): diagonals of tiles that read what the launches before wrote",
    source: "Rodinia, cuda/nw: sequences of 2,048",
    own: &[
        common::count("size", "length of each sequence, a multiple of the edge", 2048, 1 << 17),
        common::SCALE,
        common::power("edge", "rows and columns of a tile, and threads of a workgroup", 16, 64),
        common::WARP,
        common::first("matrix", "the scores, words"),
        common::next("reference", "what each pair of letters scores"),
    ],
    shared: &common::computing_cuda(DIAGONAL),
    build,
};

fn build(values: &Values<'_>) -> Result<Vec<TaskKind>> {
    let settings = Settings::read(values)?;
    let edge = values.integer("edge")?;
    let size = Scale::read(values)?.edge(values.integer("size")?, Some(edge));
    let tiles = common::multiple(values, "size", size, edge)? / edge;
    let pitch = size + 1;
    let mut layout = Layout::new(values);
    let matrix = layout.array("matrix", pitch * pitch, 4)?;
    let reference = layout.array("reference", pitch * pitch, 4)?;
    let compute = |instructions| Step::Compute(settings.share(instructions, DIAGONAL));
    let script = Script::default()
        .then(1, [compute(BEGIN), Step::Load(0, 0)])
        .then(edge, [Step::Load(1, 0), compute(WORD)])
        .then(1, [Step::Barrier, Step::Load(0, 1), compute(WEST)])
        .then(1, [Step::Barrier, Step::Load(0, 2), compute(NORTH), Step::Barrier])
        .then(2 * edge - 1, [compute(DIAGONAL), Step::Barrier])
        .then(edge, [compute(WORD), Step::Store(0, 3)]);
    // The first tile of a diagonal, as column and row; the others lie up and to the right of it.
    let launch = |name, length: u64, column: u64, row: u64| Launch {
        name,
        groups: length,
        workgroup: edge,
        arrays: vec![matrix, reference],
        script: script.clone(),
        map: Arc::new(move |at: At| {
            let corner = edge * pitch * (row - at.group) + edge * (column + at.group);
            Some(match (at.array, at.nth) {
                (0, 0) => return (at.local == 0).then_some(corner),
                (0, 1) => corner + pitch + pitch * at.local,
                (0, 2) => corner + 1 + at.local,
                _ => corner + pitch + 1 + at.local + pitch * at.round,
            })
        }),
        settings,
    };
    let up = (1..=tiles).map(|length| launch("needle_cuda_shared_1", length, 0, length - 1));
    let down =
        (1..tiles).rev().map(|length| launch("needle_cuda_shared_2", length, tiles - length, tiles - 1));
    Ok(up.chain(down).map(Launch::step).collect())
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Did, Plain, bases, did, steps};

    fn tile(index_x: u64, index_y: u64, launch: &mut Plain) {
        let cols = 13;
        let [matrix, reference] = bases([4 * 169; 2]);
        let base = cols * 4 * index_y + 4 * index_x;
        launch.load(matrix, base, 4);
        for tx in 0..4 {
            let index = base + tx + (cols + 1);
            launch.load(matrix, base + cols + cols * tx, 4);
            launch.load(matrix, base + tx + 1, 4);
            for ty in 0..4 {
                launch.load(reference, index + cols * ty, 4);
                launch.store(matrix, index + ty * cols, 4);
            }
        }
    }

    #[test]
    fn diagonals_grow_and_shrink() {
        let steps = steps("needleman-wunsch", &[("size", 24), ("scale", 4), ("edge", 4), ("wavefront", 2)]);
        let block_width = 3;
        let mut expected: Vec<Did> = Vec::new();
        for i in 1..=block_width {
            let mut launch = Plain::default();
            (0..i).for_each(|bx| tile(bx, i - 1 - bx, &mut launch));
            expected.push(launch.launch());
        }
        for i in (1..block_width).rev() {
            let mut launch = Plain::default();
            (0..i).for_each(|bx| tile(bx + block_width - i, block_width - bx - 1, &mut launch));
            expected.push(launch.launch());
        }
        assert_eq!(steps.iter().map(did).collect::<Vec<_>>(), expected);
    }
}
