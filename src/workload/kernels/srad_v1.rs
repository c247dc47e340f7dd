//! SRAD, first version: speckles of an ultrasound image are smoothed, cell by cell, with sums of the whole in between.
//!
//! Map (Rodinia, `srad_v1/main.cu` and its kernels), a thread for each cell i of an image that lies in memory column by column:
//! - `extract`, once: loads and stores `image[i]`;
//! - in each iteration `prepare`: loads `image[i]`, stores `sums[i]` and `squares[i]`; `reduce`, once for each level of a
//!   tree: loads `sums` and `squares` at i times a stride, the last thread of each workgroup stores them at the workgroup's first;
//!   the host loads both sums; `srad`: loads the indices of the neighbours, then `image` there and at i, stores four differences and
//!   `c`; `srad2`: loads the indices to the south and east, `c` there and at i, the differences and `image`, stores `image[i]`;
//! - `compress`, once: loads and stores `image[i]`.
//!
//! Instructions are counted in Rodinia, `cuda/srad/srad_v1/*_kernel.cu`. Its constants are doubles, so that floats are converted; the
//! remainder of a division comes from its quotient; and the loop over the levels, whose bounds are constants, is unrolled.

use std::sync::Arc;

use super::Definition;
use super::array::{Array, Layout};
use super::common::{self, Scale, Settings};
use super::launch::{At, HostLoop, Launch, Script, Step};
use super::parameter::Values;
use crate::diagnostic::Result;
use crate::workload::TaskKind;

/// Instructions of a level of `reduce`: the remainder by a power of two, a comparison, a branch, six accesses to shared memory and
/// two sums.
const STEP: u64 = 11;
/// A thread of `extract`: its number, a comparison, a branch, an address, a division and an exponential.
const EXTRACT: u64 = 20;
/// A thread of `prepare`: its number, a comparison, a branch, three addresses and a square.
const PREPARE: u64 = 7;
/// A thread of `compress`: its number, a comparison, a branch, an address, a logarithm and a product.
const COMPRESS: u64 = 13;
/// A thread of `reduce` begins: its number, its index and two addresses, two stores to shared memory, how many sums the last workgroup has
/// (two) and which it is (one), and three comparisons and branches.
const BEGIN: u64 = 15;
/// The last thread of a workgroup: a comparison, a branch, two reads of shared memory, two of the index and two addresses.
const END: u64 = 8;
/// A thread of `srad` or `srad2` finds its row and column: its number and the next, a division, its remainder, a comparison, three
/// subtractions and two selections; and whether there is such a cell, a comparison and a branch.
const PLACE: u64 = 19;
/// Addresses in `srad`: those of the cell, of four indices and of five results, and an index and an address for each neighbour.
const NEIGHBOURS: u64 = 18;
/// Arithmetic of `srad`: five divisions, seven conversions, and twenty-five of sums, products, comparisons and selections.
const DIFFERENCES: u64 = 72;
/// `srad2`: two addresses of indices, six of cells, and an index and an address for each of two neighbours; four products, and six to
/// update the image in double precision.
const UPDATE: u64 = 22;

pub const DEFINITION: Definition = Definition {
    name: "srad-v1",
    title: "SRAD, first version: neighbours through arrays of indices, and a tree of sums that the host waits for",
    source: "Rodinia, cuda/srad/srad_v1: 502 x 458; the source makes 100 iterations",
    own: &[
        common::count("rows", "rows of the image", 502, 1 << 20),
        common::count("columns", "columns of the image", 458, 1 << 20),
        common::iterations("iterations", 2),
        common::SCALE,
        common::workgroup(512),
        common::WARP,
        common::first("image", "the image, floats"),
        common::next("c", "the coefficients"),
        common::next("north", "differences to the north"),
        common::next("south", "to the south"),
        common::next("west", "to the west"),
        common::next("east", "to the east"),
        common::next("sums", "sums of a part of the cells"),
        common::next("squares", "sums of their squares"),
        common::next("row_north", "the row to the north of each row, words"),
        common::next("row_south", "to the south"),
        common::next("column_west", "the column to the west of each column"),
        common::next("column_east", "to the east"),
        common::SYNC,
    ],
    shared: &common::computing_cuda(STEP),
    build,
};

/// What the launches share.
struct Srad {
    rows: u64,
    columns: u64,
    workgroup: u64,
    image: Array,
    /// c, north, south, west, east.
    fields: [Array; 5],
    sums: [Array; 2],
    /// Indices of neighbours: rows to the north and south, columns to the west and east.
    indices: [Array; 4],
    settings: Settings,
}

fn build(values: &Values<'_>) -> Result<Vec<TaskKind>> {
    let given = (values.integer("rows")?, values.integer("columns")?);
    let (rows, columns) = Scale::read(values)?.both(given);
    let size = common::multiple(values, "rows", rows * columns, 1)?;
    let mut layout = Layout::new(values);
    let mut place = |name, count| layout.array(name, count, 4);
    let image = place("image", size)?;
    let fields = [
        place("c", size)?,
        place("north", size)?,
        place("south", size)?,
        place("west", size)?,
        place("east", size)?,
    ];
    let sums = [place("sums", size)?, place("squares", size)?];
    let indices = [
        place("row_north", rows)?,
        place("row_south", rows)?,
        place("column_west", columns)?,
        place("column_east", columns)?,
    ];
    let (workgroup, settings) = (values.integer("workgroup")?, Settings::with_host(values)?);
    let srad = Srad { rows, columns, workgroup, image, fields, sums, indices, settings };
    let mut steps = vec![srad.each("extract", vec![image], [1, 0], EXTRACT)];
    for _ in 0..values.integer("iterations")? {
        steps.push(srad.each("prepare", vec![image, sums[0], sums[1]], [1, 1], PREPARE));
        srad.reduce(&mut steps);
        let script = Script::default().then(1, [Step::Load(0, 0), Step::Load(1, 0)]);
        HostLoop { arrays: sums.to_vec(), script }.add(&mut steps, settings, &[0, 1], |_| Some(0));
        steps.push(srad.differences());
        steps.push(srad.update());
    }
    steps.push(srad.each("compress", vec![image], [1, 0], COMPRESS));
    Ok(steps)
}

impl Srad {
    fn size(&self) -> u64 {
        self.rows * self.columns
    }

    fn launch(
        &self,
        name: &'static str,
        arrays: Vec<Array>,
        script: Script,
        map: impl Fn(At) -> Option<u64> + Send + Sync + 'static,
    ) -> TaskKind {
        let Self { workgroup, settings, .. } = *self;
        let groups = self.size().div_ceil(workgroup);
        Launch { name, groups, workgroup, arrays, script, map: Arc::new(map), settings }.step()
    }

    fn computing(&self, instructions: u64) -> Step {
        Step::Compute(self.settings.share(instructions, STEP))
    }

    /// Each thread loads its cell of the first `loads` arrays, computes, and stores it in the others from `stored` on.
    fn each(
        &self,
        name: &'static str,
        arrays: Vec<Array>,
        [loads, stored]: [usize; 2],
        instructions: u64,
    ) -> TaskKind {
        let (size, workgroup) = (self.size(), self.workgroup);
        let script = Script::default()
            .then(1, (0..loads).map(|array| Step::Load(array, 0)))
            .then(1, [self.computing(instructions)])
            .then(1, (stored..arrays.len()).map(|array| Step::Store(array, 0)));
        self.launch(name, arrays, script, move |at| at.below(workgroup, size))
    }

    /// The tree of sums: each launch adds up what a workgroup's threads hold, until one workgroup is left.
    fn reduce(&self, steps: &mut Vec<TaskKind>) {
        let Self { workgroup, settings, .. } = *self;
        let (mut count, mut stride) = (self.size(), 1);
        loop {
            let groups = count.div_ceil(workgroup);
            let script = Script::default()
                .then(1, [Step::Load(0, 0), Step::Load(1, 0), self.computing(BEGIN), Step::Barrier])
                .then(u64::from(workgroup.ilog2()), [Step::Compute(settings.compute), Step::Barrier])
                .then(1, [self.computing(END), Step::Store(0, 1), Step::Store(1, 1)]);
            let map = move |at: At| {
                let thread = at.below(workgroup, count)?;
                let last = at.local == workgroup - 1 || thread == count - 1;
                match at.nth {
                    0 => Some(thread * stride),
                    _ => last.then_some(at.group * stride * workgroup),
                }
            };
            let (name, arrays) = ("reduce", self.sums.to_vec());
            steps.push(
                Launch { name, groups, workgroup, arrays, script, map: Arc::new(map), settings }.step(),
            );
            if groups == 1 {
                return;
            }
            (count, stride) = (groups, stride * workgroup);
        }
    }

    /// Where a thread looks: its own cell, the cell in one of the four directions, or the index that leads there.
    fn place(&self) -> impl Fn(At) -> Option<u64> + Send + Sync + use<> {
        let Self { rows, columns, workgroup, .. } = *self;
        move |at: At| {
            let cell = at.below(workgroup, rows * columns)?;
            let (row, column) = (cell % rows, cell / rows);
            Some(match at.nth {
                0 => row.saturating_sub(1) + rows * column,
                1 => (row + 1).min(rows - 1) + rows * column,
                2 => row + rows * column.saturating_sub(1),
                3 => row + rows * (column + 1).min(columns - 1),
                4 => row,
                5 => column,
                _ => cell,
            })
        }
    }

    fn differences(&self) -> TaskKind {
        let arrays = [self.image].into_iter().chain(self.indices).chain(self.fields).collect();
        let script = Script::default()
            .then(
                1,
                [Step::Load(0, 6), Step::Load(1, 4), Step::Load(2, 4), Step::Load(3, 5), Step::Load(4, 5)],
            )
            .then(1, (0..4).map(|side| Step::Load(0, side)))
            .then(1, [self.computing(PLACE + NEIGHBOURS + DIFFERENCES)])
            .then(1, (5..10).map(|array| Step::Store(array, 6)));
        self.launch("srad", arrays, script, self.place())
    }

    fn update(&self) -> TaskKind {
        let [_, south, _, east] = self.indices;
        let arrays = [self.image, south, east].into_iter().chain(self.fields).collect();
        let script = Script::default()
            .then(1, [Step::Load(1, 4), Step::Load(2, 5)])
            .then(1, [Step::Load(3, 6), Step::Load(3, 1), Step::Load(3, 3)])
            .then(1, (4..8).map(|array| Step::Load(array, 6)))
            .then(1, [Step::Load(0, 6), self.computing(PLACE + UPDATE), Step::Store(0, 6)]);
        self.launch("srad2", arrays, script, self.place())
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Did, Plain, bases, did, steps};

    const NR: u64 = 6;
    const NC: u64 = 5;

    fn all(of: impl Fn(&mut Plain, u64)) -> Did {
        let mut plain = Plain::default();
        (0..NR * NC).for_each(|ei| of(&mut plain, ei));
        plain.launch()
    }

    #[test]
    fn an_iteration_is_sums_then_differences_then_the_image() {
        let given = [
            ("rows", 6),
            ("columns", 10),
            ("scale", 2),
            ("iterations", 1),
            ("workgroup", 8),
            ("wavefront", 4),
        ];
        let ne = 4 * NR * NC;
        let [i, c, dn, ds, dw, de, sums, sums2, i_n, i_s, j_w, j_e] =
            bases([ne, ne, ne, ne, ne, ne, ne, ne, 4 * NR, 4 * NR, 4 * NC, 4 * NC]);
        let south = |row: u64| if row == NR - 1 { row } else { row + 1 };
        let east = |col: u64| if col == NC - 1 { col } else { col + 1 };
        let own = || {
            all(|plain, ei| {
                plain.load(i, ei, 4);
                plain.store(i, ei, 4);
            })
        };
        let prepare = all(|plain, ei| {
            plain.load(i, ei, 4);
            plain.store(sums, ei, 4);
            plain.store(sums2, ei, 4);
        });
        // 30 sums, then those of four workgroups of 8, at 0, 8, 16, 24.
        let (mut reduce, mut last, mut host) = (Plain::default(), Plain::default(), Plain::default());
        for sum in [sums, sums2] {
            (0..30).for_each(|ei| reduce.load(sum, ei, 4));
            for group in [0, 8, 16, 24] {
                reduce.store(sum, group, 4);
                last.load(sum, group, 4);
            }
            last.store(sum, 0, 4);
            host.host_load(sum, 0, 4);
        }
        let srad = all(|plain, ei| {
            let (row, col) = (ei % NR, ei / NR);
            plain.load(i, ei, 4);
            for (array, at) in [(i_n, row), (i_s, row), (j_w, col), (j_e, col)] {
                plain.load(array, at, 4);
            }
            plain.load(i, if row == 0 { 0 } else { row - 1 } + NR * col, 4);
            plain.load(i, south(row) + NR * col, 4);
            plain.load(i, row + NR * if col == 0 { 0 } else { col - 1 }, 4);
            plain.load(i, row + NR * east(col), 4);
            for array in [dn, ds, dw, de, c] {
                plain.store(array, ei, 4);
            }
        });
        let srad2 = all(|plain, ei| {
            let (row, col) = (ei % NR, ei / NR);
            plain.load(i_s, row, 4);
            plain.load(j_e, col, 4);
            plain.load(c, south(row) + NR * col, 4);
            plain.load(c, row + NR * east(col), 4);
            for array in [c, dn, ds, dw, de, i] {
                plain.load(array, ei, 4);
            }
            plain.store(i, ei, 4);
        });
        assert_eq!(
            steps("srad-v1", &given).iter().map(did).collect::<Vec<_>>(),
            [own(), prepare, reduce.launch(), last.launch(), host.host(), srad, srad2, own()]
        );
    }
}
