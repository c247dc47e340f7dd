//! Algebraic multigrid: V-cycles through matrices that are smaller and fuller from level to level.
//!
//! A stand-in for AMG (hypre's `BoomerAMG` on a 7-point problem), after its cycle, not its source. Each level has a matrix in compressed rows (offsets, columns,
//! entries), 7 entries a row on the finest and 27 on the others, which is what a Galerkin product makes of a box of cells that is halved in each direction; and the
//! vectors x, right side and residual. A thread for each row:
//! - `relax`: loads the row's bounds, for each entry its column, the entry and x there, then the right side; stores the residual's room, which then
//!   changes places with x;
//! - `residual`: the same, stores the residual;
//! - `restriction`, for each coarse row: loads eight residuals, stores the right side; `prolongation`, for each fine row: loads the coarse x and its own,
//!   stores it.
//!
//! Entries of cells at a face that would lie outside are left out, but keep their place in the arrays.

use std::sync::Arc;

use super::Definition;
use super::array::{Array, Layout};
use super::common::{self, Scale, Settings};
use super::launch::{At, Launch, Script, Step};
use super::parameter::Values;
use super::volume::{FACES, Volume, around};
use crate::diagnostic::Result;
use crate::workload::TaskKind;

/// Instructions of an entry, counted as all below from what is described above: three addresses, a product that is added, and the loop.
const ENTRY: u64 = 7;
/// Of the rest of a row: its number, whether there is such a row, four addresses and a difference.
const ROW: u64 = 8;
/// Of the rest of a row that is relaxed: besides, a division by its own entry and a product that is added to its x.
const RELAXED: u64 = ROW + 9;
/// Of a coarse row: its number and whether it is there, two divisions of whole numbers and two remainders for its place, nine to find
/// eight rows, nine addresses, seven additions and a product.
const RESTRICTION: u64 = 47;
/// Of a fine row: the same for its place, five to find the coarse one, two addresses and a product that is added.
const PROLONGATION: u64 = 29;

pub const DEFINITION: Definition = Definition {
    name: "algebraic-multigrid",
    title: "Algebraic multigrid: sparse matrices streamed through and vectors gathered, level by level",
    source: "a stand-in for AMG (hypre): its V-cycle, not its source; 32 x 32 x 32 rows, chosen",
    own: &[
        common::count("edge", "rows along each side of the finest level", 32, 1024),
        common::iterations("V-cycles", 1),
        common::SCALE,
        common::workgroup(128),
        common::WARP,
        common::first("offsets", "the first entry of each row, of all levels, words"),
        common::next("columns", "the column of each entry, words"),
        common::next("entries", "the matrices, doubles"),
        common::next("vectors", "x, right side and residual of each level, doubles"),
    ],
    shared: &common::computing_cuda(ENTRY),
    build,
};

/// The level that is not made coarser.
const COARSEST: u64 = 4;
/// Relaxations on the coarsest level, and on others.
const BOTTOM: u64 = 8;
const RELAXATIONS: u64 = 2;

/// A level: its rows, entries of a row, and arrays.
#[derive(Clone, Copy, Debug)]
struct Level {
    cells: Volume,
    entries: u64,
    /// Offsets, columns and entries.
    matrix: [Array; 3],
    x: Array,
    right: Array,
    residual: Array,
}

fn build(values: &Values<'_>) -> Result<Vec<TaskKind>> {
    let settings = Settings::read(values)?;
    let edge = values.integer("edge")?;
    let finest = Volume { edges: Scale::read(values)?.volume([edge; 3]) };
    common::multiple(values, "edge", finest.cells(), 1)?;
    let levels = place(values, finest)?;
    let amg = Cycle { workgroup: values.integer("workgroup")?, settings };
    let mut steps = Vec::new();
    for _ in 0..values.integer("iterations")? {
        for pair in levels.windows(2) {
            let [fine, coarse] = pair else { continue };
            amg.relax(&mut steps, fine, RELAXATIONS);
            steps.push(amg.product("residual", ROW, fine, fine.x, fine.residual));
            steps.push(amg.restrict(fine, coarse));
        }
        if let Some(coarsest) = levels.last() {
            amg.relax(&mut steps, coarsest, BOTTOM);
        }
        for pair in levels.windows(2).rev() {
            let [fine, coarse] = pair else { continue };
            steps.push(amg.prolong(fine, coarse));
            amg.relax(&mut steps, fine, RELAXATIONS);
        }
    }
    Ok(steps)
}

/// The levels, their arrays one after the other in those of the parameters.
fn place(values: &Values<'_>, finest: Volume) -> Result<Vec<Level>> {
    let mut volumes = vec![finest];
    let mut cells = finest;
    while cells.edges.iter().all(|edge| edge % 2 == 0 && *edge > COARSEST) {
        cells = Volume { edges: cells.edges.map(|edge| edge / 2) };
        volumes.push(cells);
    }
    let entries_of = |level: usize| if level == 0 { 7 } else { 27 };
    let rows: u64 = volumes.iter().map(|cells| cells.cells() + 1).sum();
    let all: u64 = volumes.iter().enumerate().map(|(level, cells)| entries_of(level) * cells.cells()).sum();
    let mut layout = Layout::new(values);
    let offsets = layout.array("offsets", rows, 4)?;
    let columns = layout.array("columns", all, 4)?;
    let entries = layout.array("entries", all, 8)?;
    let vectors = layout.array("vectors", 3 * rows, 8)?;
    let (mut row, mut entry) = (0, 0);
    let mut levels = Vec::new();
    for (number, cells) in volumes.into_iter().enumerate() {
        let (count, held) = (cells.cells(), entries_of(number) * cells.cells());
        let vector = |nth| vectors.part(3 * row + nth * count, count);
        levels.push(Level {
            cells,
            entries: entries_of(number),
            matrix: [offsets.part(row, count + 1), columns.part(entry, held), entries.part(entry, held)],
            x: vector(0),
            right: vector(1),
            residual: vector(2),
        });
        (row, entry) = (row + count + 1, entry + held);
    }
    Ok(levels)
}

impl Level {
    /// The column of a row's n-th entry.
    fn column(&self, row: u64, nth: u64) -> Option<u64> {
        let place = self.cells.place(row);
        let by = if self.entries == 27 {
            around(nth)
        } else {
            FACES.get(nth as usize).copied().unwrap_or_default()
        };
        self.cells.shifted(place, by)
    }
}

/// What the launches share.
#[derive(Clone, Copy)]
struct Cycle {
    workgroup: u64,
    settings: Settings,
}

impl Cycle {
    /// Relaxes so often, an even number of times, so that x ends where it was.
    fn relax(&self, steps: &mut Vec<TaskKind>, level: &Level, times: u64) {
        for time in 0..times {
            let (from, to) =
                if time % 2 == 0 { (level.x, level.residual) } else { (level.residual, level.x) };
            steps.push(self.product("relax", RELAXED, level, from, to));
        }
    }

    /// A step of so many instructions.
    fn computing(&self, instructions: u64) -> Step {
        Step::Compute(self.settings.share(instructions, ENTRY))
    }

    /// The matrix times a vector, with the right side, and so many instructions for the rest of a row.
    fn product(&self, name: &'static str, rest: u64, level: &Level, from: Array, to: Array) -> TaskKind {
        let compute = Step::Compute(self.settings.compute);
        let script = Script::default()
            .then(1, [Step::Load(0, 0), Step::Load(0, 1)])
            .then(level.entries, [Step::Load(1, 0), Step::Load(2, 0), Step::Load(3, 0), compute])
            .then(1, [Step::Load(4, 0), self.computing(rest), Step::Store(5, 0)]);
        let arrays = level.matrix.into_iter().chain([from, level.right, to]).collect();
        let of = *level;
        self.launch(name, level.cells, arrays, script, move |row, at| match at.array {
            0 => Some(row + at.nth),
            1 | 2 => of.column(row, at.round).map(|_| row * of.entries + at.round),
            3 => of.column(row, at.round),
            _ => Some(row),
        })
    }

    fn restrict(&self, fine: &Level, coarse: &Level) -> TaskKind {
        let script = Script::default()
            .then(8, [Step::Load(0, 0)])
            .then(1, [self.computing(RESTRICTION), Step::Store(1, 0)]);
        let (cells, coarse_cells) = (fine.cells, coarse.cells);
        let arrays = vec![fine.residual, coarse.right];
        self.launch("restriction", coarse.cells, arrays, script, move |row, at| {
            if at.array == 1 {
                return Some(row);
            }
            let [x, y, z] = coarse_cells.place(row).map(|at| 2 * at);
            Some(cells.cell([x + at.round % 2, y + at.round / 2 % 2, z + at.round / 4]))
        })
    }

    fn prolong(&self, fine: &Level, coarse: &Level) -> TaskKind {
        let script = Script::default()
            .then(1, [Step::Load(0, 0), Step::Load(1, 0), self.computing(PROLONGATION), Step::Store(1, 0)]);
        let (cells, coarse_cells) = (fine.cells, coarse.cells);
        self.launch("prolongation", cells, vec![coarse.x, fine.x], script, move |row, at| {
            Some(if at.array == 1 { row } else { coarse_cells.cell(cells.place(row).map(|at| at / 2)) })
        })
    }

    fn launch(
        &self,
        name: &'static str,
        rows: Volume,
        arrays: Vec<Array>,
        script: Script,
        map: impl Fn(u64, At) -> Option<u64> + Send + Sync + 'static,
    ) -> TaskKind {
        let Self { workgroup, settings } = *self;
        let rows = rows.cells();
        let map = Arc::new(move |at: At| map(at.below(workgroup, rows)?, at));
        Launch { name, groups: rows.div_ceil(workgroup), workgroup, arrays, script, map, settings }.step()
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Did, Plain, bases, did, steps};

    const FINE: i64 = 8;
    const COARSE: i64 = 4;

    fn cells(n: i64) -> impl Iterator<Item = (i64, i64, i64)> {
        (0..n).flat_map(move |z| (0..n).flat_map(move |y| (0..n).map(move |x| (x, y, z))))
    }

    /// A product; arrays: offsets, columns, entries, from, right side, to.
    fn product(n: i64, most: i64, [offsets, columns, entries, from, right, to]: [u64; 6]) -> Did {
        let mut plain = Plain::default();
        for (x, y, z) in cells(n) {
            let row = (z * n * n + y * n + x) as u64;
            plain.load(offsets, row, 4);
            plain.load(offsets, row + 1, 4);
            let mut entry = 0;
            for (dx, dy, dz) in cells(3).map(|(x, y, z)| (x - 1, y - 1, z - 1)) {
                if most == 7 && dx.abs() + dy.abs() + dz.abs() > 1 {
                    continue;
                }
                // With 7 entries the row's own comes last, and the others by direction.
                let place = match (most, dx, dy, dz) {
                    (27, ..) => entry,
                    (_, 0, 0, 0) => 6,
                    (_, _, 0, 0) => u64::from(dx > 0),
                    (_, 0, _, 0) => 2 + u64::from(dy > 0),
                    _ => 4 + u64::from(dz > 0),
                };
                entry += 1;
                if [x + dx, y + dy, z + dz].iter().all(|at| (0..n).contains(at)) {
                    plain.load(columns, row * most as u64 + place, 4);
                    plain.load(entries, row * most as u64 + place, 8);
                    plain.load(from, ((z + dz) * n * n + (y + dy) * n + x + dx) as u64, 8);
                }
            }
            plain.load(right, row, 8);
            plain.store(to, row, 8);
        }
        plain.launch()
    }

    #[test]
    fn a_cycle_goes_down_and_up() {
        let steps =
            steps("algebraic-multigrid", &[("edge", 16), ("scale", 8), ("workgroup", 16), ("wavefront", 8)]);
        let (rows, all) = (513 + 65, 7 * 512 + 27 * 64);
        let [offsets, columns, entries, vectors] = bases([4 * rows, 4 * all, 8 * all, 24 * rows]);
        let fine = |nth: u64| vectors + 8 * 512 * nth;
        let coarse = |nth: u64| vectors + 8 * (3 * 513 + 64 * nth);
        let matrix = [offsets, columns, entries];
        let below = [offsets + 4 * 513, columns + 4 * 7 * 512, entries + 8 * 7 * 512];
        let on = |n, most, [a, b, c]: [u64; 3], from, right, to| product(n, most, [a, b, c, from, right, to]);
        let there = on(FINE, 7, matrix, fine(0), fine(1), fine(2));
        let back = on(FINE, 7, matrix, fine(2), fine(1), fine(0));
        let (mut restriction, mut prolongation) = (Plain::default(), Plain::default());
        for (x, y, z) in cells(FINE) {
            let (row, above) = ((64 * z + 8 * y + x) as u64, (16 * (z / 2) + 4 * (y / 2) + x / 2) as u64);
            restriction.load(fine(2), row, 8);
            prolongation.load(coarse(0), above, 8);
            prolongation.load(fine(0), row, 8);
            prolongation.store(fine(0), row, 8);
        }
        (0..64).for_each(|row| restriction.store(coarse(1), row, 8));
        let mut expected = vec![there.clone(), back.clone(), there.clone(), restriction.launch()];
        for _ in 0..4 {
            expected.push(on(COARSE, 27, below, coarse(0), coarse(1), coarse(2)));
            expected.push(on(COARSE, 27, below, coarse(2), coarse(1), coarse(0)));
        }
        expected.extend([prolongation.launch(), there, back]);
        assert!(steps.iter().map(did).eq(expected));
    }
}
