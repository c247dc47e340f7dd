//! LU decomposition in place, a diagonal tile, its row and column, and the rest, in turn.
//!
//! Map (Rodinia, `lud/cuda/lud_kernel.cu`), with tiles of e x e in a matrix `m` of n x n; for each diagonal tile
//! - `lud_diagonal`, one workgroup of e threads: thread t loads column t of the tile, stores it but for the first row;
//! - `lud_perimeter`, a workgroup of 2e threads for each tile to the right and below: the first e load the upper half of the diagonal tile and
//!   the tile to the right, the others the lower half and the tile below; the first store the tile to the right but for its first row,
//!   the others the tile below;
//! - `lud_internal`, a workgroup of e x e threads for each tile of the rest: loads an element of the tile of the row and of the column, then loads and stores
//!   its own.
//!
//! Instructions are counted in Rodinia, `cuda/lud/cuda/lud_kernel.cu`. The rounds of `lud_diagonal` and `lud_perimeter` differ; each
//! takes as long as they do on average. A round of the latter is that of a tile below, which computes more than one to the right.

use std::sync::Arc;

use super::Definition;
use super::array::Layout;
use super::common::{self, Scale, Settings};
use super::launch::{At, Launch, Map, Script, Step};
use super::parameter::Values;
use super::tiles::Tiles;
use crate::diagnostic::Result;
use crate::workload::TaskKind;

/// Instructions of a product in `lud_internal`, whose loop is unrolled: two reads of shared memory, and a product that is added.
const STEP: u64 = 3;
/// Its thread begins: its tile (four), two indices (six), two addresses, and two stores to shared memory.
const PLACE: u64 = 14;
/// It ends: two of an index, an address and a subtraction.
const DIFFERENCE: u64 = 4;
/// A product in the other kernels: two reads of shared memory, a product that is subtracted, a store, and three of the loop.
const PRODUCT: u64 = 7;
/// A round of `lud_diagonal`: three reads of shared memory, a division, a store, two comparisons, three branches, and three of the loop.
const ROUND: u64 = 20;
/// A round of `lud_perimeter`: two reads of shared memory, a division, a store, a comparison, a branch, and three of the loop.
const COLUMN: u64 = 16;
/// An element that is copied to or from shared memory: two of indices, an address, and the access to shared memory.
const COPY: u64 = 4;
/// A thread of `lud_diagonal`: three of the indices of what it copies.
const CORNER: u64 = 3;
/// A thread of `lud_perimeter`: which half it is (two comparisons and branches), and six of the indices of what it copies.
const SIDES: u64 = 10;

pub const DEFINITION: Definition = Definition {
    name: "lud",
    title: "LU decomposition: launches of one workgroup, of a row of them, and of the rest, which shrinks",
    source: "Rodinia, cuda/lud: tiles of 16; 256 x 256",
    own: &[
        common::count("size", "rows and columns of the matrix, a multiple of the edge", 256, 1 << 16),
        common::SCALE,
        common::power("edge", "rows and columns of a tile", 16, 32),
        common::WARP,
        common::first("matrix", "the matrix, floats"),
    ],
    shared: &common::computing_cuda(STEP),
    build,
};

/// What a perimeter thread accesses: a row of the diagonal tile, or of its own tile.
const DIAGONAL: u64 = 0;
const OWN: u64 = 1;
/// The same but for the first row, which the tile to the right keeps.
const CHANGED: u64 = 2;

fn build(values: &Values<'_>) -> Result<Vec<TaskKind>> {
    let settings = Settings::read(values)?;
    let edge = common::multiple(values, "edge", values.integer("edge")?, 2)?;
    let size = Scale::read(values)?.edge(values.integer("size")?, Some(edge));
    let tiles = common::multiple(values, "size", size, edge)? / edge;
    let matrix = Layout::new(values).array("matrix", size * size, 4)?;
    let launch = |name, groups, workgroup, script: Script, map: Map| {
        Launch { name, groups, workgroup, arrays: vec![matrix], script, map, settings }.step()
    };
    let computing = |instructions| Step::Compute(settings.share(instructions, STEP));
    let copy = computing(COPY);
    // Of all rounds, each a part.
    let rounds = |script: Script, instructions| {
        script.then(edge, [Step::Compute(settings.share(instructions, STEP * edge)), Step::Barrier])
    };
    let mut steps = Vec::new();
    for tile in 0..tiles {
        let (corner, left) = (tile * edge * (size + 1), tiles - tile - 1);
        let script = Script::default()
            .then(1, [computing(CORNER)])
            .then(edge, [copy, Step::Load(0, 0)])
            .then(1, [Step::Barrier]);
        let script = rounds(script, (edge - 1) * (ROUND + PRODUCT * (edge - 1)))
            .then(edge - 1, [copy, Step::Store(0, 1)]);
        let map = Arc::new(move |at: At| Some(corner + at.local + size * (at.round + at.nth)));
        steps.push(launch("lud_diagonal", 1, edge, script, map));
        if left == 0 {
            break;
        }
        let script = Script::default()
            .then(1, [computing(SIDES)])
            .then(edge / 2, [copy, Step::Load(0, DIAGONAL)])
            .then(edge, [copy, Step::Load(0, OWN)])
            .then(1, [Step::Barrier]);
        let script = rounds(script, edge * COLUMN + PRODUCT * (edge * (edge - 1) / 2))
            .then(edge, [copy, Step::Store(0, CHANGED)]);
        steps.push(launch("lud_perimeter", left, 2 * edge, script, perimeter(corner, size, edge)));
        let script = Script::default()
            .then(1, [computing(PLACE), Step::Load(0, 0), Step::Load(0, 1), Step::Barrier])
            .then(1, [computing(STEP * edge + DIFFERENCE), Step::Load(0, 2), Step::Store(0, 2)]);
        let plane = Tiles { edge, across: left };
        let map = Arc::new(move |at: At| {
            let ((x, y), (column, row)) = (plane.thread(&at), plane.cell(&at));
            Some(match at.nth {
                0 => corner + size * y + edge + column,
                1 => corner + size * (edge + row) + x,
                _ => corner + size * (edge + row) + edge + column,
            })
        });
        steps.push(launch("lud_internal", left * left, plane.threads(), script, map));
    }
    Ok(steps)
}

fn perimeter(corner: u64, size: u64, edge: u64) -> Map {
    Arc::new(move |at: At| {
        let (above, thread, away) = (at.local < edge, at.local % edge, edge * (at.group + 1));
        let lower = if above { 0 } else { edge / 2 };
        match (at.nth, above) {
            (DIAGONAL, _) => Some(corner + size * (at.round + lower) + thread),
            (CHANGED, true) if at.round == 0 => None,
            (_, true) => Some(corner + size * at.round + away + thread),
            (_, false) => Some(corner + size * (away + at.round) + thread),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Plain, bases, did, steps};

    #[test]
    fn tiles_are_decomposed_in_turn() {
        let steps = steps("lud", &[("size", 24), ("scale", 4), ("edge", 4), ("wavefront", 4)]);
        let (dim, block) = (12, 4);
        let [m] = bases([576]);
        let mut expected = Vec::new();
        for offset in [0, 4, 8] {
            let mut diagonal = Plain::default();
            for (i, t) in (0..block).flat_map(|i| (0..block).map(move |t| (i, t))) {
                diagonal.load(m, (offset + i) * dim + offset + t, 4);
                if i > 0 {
                    diagonal.store(m, (offset + i) * dim + offset + t, 4);
                }
            }
            expected.push(diagonal.launch());
            let blocks = (dim - offset) / block - 1;
            if blocks == 0 {
                break;
            }
            let (mut perimeter, mut internal) = (Plain::default(), Plain::default());
            for b in 1..=blocks {
                for (i, t) in (0..block).flat_map(|i| (0..block).map(move |t| (i, t))) {
                    perimeter.load(m, (offset + i) * dim + offset + t, 4);
                    let right = (offset + i) * dim + offset + b * block + t;
                    perimeter.load(m, right, 4);
                    let below = (offset + b * block + i) * dim + offset + t;
                    perimeter.load(m, below, 4);
                    perimeter.store(m, below, 4);
                    if i > 0 {
                        perimeter.store(m, right, 4);
                    }
                    for c in 1..=blocks {
                        let (row, column) = (offset + b * block + i, offset + c * block + t);
                        internal.load(m, (offset + i) * dim + column, 4);
                        internal.load(m, row * dim + offset + t, 4);
                        internal.load(m, row * dim + column, 4);
                        internal.store(m, row * dim + column, 4);
                    }
                }
            }
            expected.extend([perimeter.launch(), internal.launch()]);
        }
        assert_eq!(steps.iter().map(did).collect::<Vec<_>>(), expected);
    }
}
