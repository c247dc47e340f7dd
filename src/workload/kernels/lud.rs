//! LU decomposition in place, a diagonal tile, its row and column, and the rest, in turn.
//!
//! Map (Rodinia, `lud/cuda/lud_kernel.cu`), with tiles of e x e in a matrix `m` of n x n; for each diagonal tile
//! - `lud_diagonal`, one workgroup of e threads: thread t loads column t of the tile, stores it but for the first row;
//! - `lud_perimeter`, a workgroup of 2e threads for each tile to the right and below: the first e load the upper half of the diagonal tile and
//!   the tile to the right, the others the lower half and the tile below; the first store the tile to the right but for its first row,
//!   the others the tile below;
//! - `lud_internal`, a workgroup of e x e threads for each tile of the rest: loads an element of the tile of the row and of the column, then loads and stores
//!   its own.

use std::sync::Arc;

use super::Definition;
use super::array::Layout;
use super::common::{self, Scale, Settings};
use super::launch::{At, Launch, Map, Script, Step};
use super::parameter::Values;
use super::tiles::Tiles;
use crate::diagnostic::Result;
use crate::workload::TaskKind;

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
    shared: common::LAUNCHED,
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
    let compute = Step::Compute(settings.compute);
    let rounds = |script: Script| script.then(edge, [compute, Step::Barrier]);
    let mut steps = Vec::new();
    for tile in 0..tiles {
        let (corner, left) = (tile * edge * (size + 1), tiles - tile - 1);
        let script = Script::default().then(edge, [Step::Load(0, 0)]).then(1, [Step::Barrier]);
        let script = rounds(script).then(edge - 1, [Step::Store(0, 1)]);
        let map = Arc::new(move |at: At| Some(corner + at.local + size * (at.round + at.nth)));
        steps.push(launch("lud_diagonal", 1, edge, script, map));
        if left == 0 {
            break;
        }
        let script = Script::default()
            .then(edge / 2, [Step::Load(0, DIAGONAL)])
            .then(edge, [Step::Load(0, OWN)])
            .then(1, [Step::Barrier]);
        let script = rounds(script).then(edge, [Step::Store(0, CHANGED)]);
        steps.push(launch("lud_perimeter", left, 2 * edge, script, perimeter(corner, size, edge)));
        let script = Script::default()
            .then(1, [Step::Load(0, 0), Step::Load(0, 1), Step::Barrier])
            .then(1, [Step::Compute(4 * settings.compute), Step::Load(0, 2), Step::Store(0, 2)]);
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
