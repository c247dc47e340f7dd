//! `miniFE`: conjugate gradients on a mesh of bricks, whose matrix is kept as columns of equal length (ELL).
//!
//! Map (Mantevo `miniFE`, `kernels.h` and `matrix.h` of the CUDA version with ELL, `cg_solve.h`), with a row for each node of the mesh: in
//! each iteration the dot product (r, r), p from r and p, `matvec`, the dot product (Ap, p), x from x and p, r from r and Ap. In `matvec` thread
//! `row` goes through the 27 columns of the matrix: loads `columns[row + j pitch]`; if there is an entry `coefficients[row + j pitch]` and
//! p of that column; and stores `ap[row]`. The rows are a multiple of 16 apart. Each dot product ends with a load of the host.
//! Each thread has one row: the source has no more than 4,096 workgroups, whose threads go on to further ones (from an edge of 102 on).
//!
//! The entries are those of a node and its neighbours in a mesh of n x n x n bricks, which is what the source's generator makes.

use std::sync::Arc;

use super::Definition;
use super::array::{Array, Layout};
use super::common::{self, Scale, Settings};
use super::krylov::Vectors;
use super::launch::{At, Launch, Script, Step};
use super::parameter::Values;
use super::volume::Volume;
use crate::diagnostic::Result;
use crate::workload::TaskKind;

/// Instructions of an entry: three addresses, the comparison with -1 and its branch, a product that is added, the next place, and the
/// loop.
const ENTRY: u64 = 10;
/// Of a row: its number, whether there is such a row, the address of the result, and the loop over further rows.
const ROW: u64 = 7;

pub const DEFINITION: Definition = Definition {
    name: "minife",
    title: "miniFE: a sparse matrix streamed through, a vector gathered, and sums that the host waits for",
    source: "Mantevo miniFE, CUDA with ELL: 32 x 32 x 32 bricks; the source makes 200 iterations",
    own: &[
        common::count("edge", "bricks along each side of the mesh", 32, 2048),
        common::iterations("iterations of conjugate gradients", 2),
        common::SCALE,
        common::workgroup(256),
        common::WARP,
        common::first("columns", "the column of each entry, words; -1 for none"),
        common::next("coefficients", "the entries, doubles"),
        common::next("r", "the residual"),
        common::next("p", "the direction"),
        common::next("ap", "the matrix times it"),
        common::next("x", "the solution"),
        common::next("partial", "sums of a dot product"),
        common::SYNC,
    ],
    shared: &common::computing_cuda(ENTRY),
    build,
};

/// Entries of a row, at most.
const ENTRIES: u64 = 27;

fn build(values: &Values<'_>) -> Result<Vec<TaskKind>> {
    let settings = Settings::with_host(values)?;
    let edge = values.integer("edge")?;
    let bricks = Volume { edges: Scale::read(values)?.volume([edge; 3]) };
    common::multiple(values, "edge", bricks.cells(), 1)?;
    let nodes = Volume { edges: bricks.edges.map(|edge| edge + 1) };
    let (rows, workgroup) = (nodes.cells(), values.integer("workgroup")?);
    let pitch = rows.next_multiple_of(16);
    let mut layout = Layout::new(values);
    let columns = layout.array("columns", ENTRIES * pitch, 4)?;
    let coefficients = layout.array("coefficients", ENTRIES * pitch, 8)?;
    let [r, p, ap, x] = [
        layout.array("r", rows, 8)?,
        layout.array("p", rows, 8)?,
        layout.array("ap", rows, 8)?,
        layout.array("x", rows, 8)?,
    ];
    let partial = layout.array("partial", Vectors::sums(rows, workgroup), 8)?;
    let vectors = Vectors { size: rows, workgroup, partial, settings, main: ENTRY };
    let mut steps = Vec::new();
    for _ in 0..values.integer("iterations")? {
        vectors.dot(&mut steps, r, r);
        steps.push(vectors.combine("waxpby", &[r, p], p));
        steps.push(product(&vectors, nodes, pitch, vec![columns, coefficients, p, ap]));
        vectors.dot(&mut steps, ap, p);
        steps.push(vectors.combine("waxpby", &[x, p], x));
        steps.push(vectors.combine("waxpby", &[r, ap], r));
    }
    Ok(steps)
}

/// The column of a row's n-th entry.
fn entry(nodes: Volume, row: u64, nth: u64) -> Option<u64> {
    nodes.near(nodes.place(row)).place(nth).map(|place| nodes.cell(place))
}

fn product(vectors: &Vectors, nodes: Volume, pitch: u64, arrays: Vec<Array>) -> TaskKind {
    let Vectors { size, workgroup, settings, .. } = *vectors;
    let entries = [Step::Load(0, 0), Step::Load(1, 0), Step::Load(2, 0), Step::Compute(settings.compute)];
    Launch {
        name: "matvec",
        groups: size.div_ceil(workgroup),
        workgroup,
        arrays,
        script: Script::default()
            .then(ENTRIES, entries)
            .then(1, [Step::Compute(settings.share(ROW, ENTRY)), Step::Store(3, 0)]),
        map: Arc::new(move |at: At| {
            let row = at.below(workgroup, size)?;
            match at.array {
                0 => Some(row + at.round * pitch),
                1 => entry(nodes, row, at.round).map(|_| row + at.round * pitch),
                2 => entry(nodes, row, at.round),
                _ => Some(row),
            }
        }),
        settings,
    }
    .step()
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Plain, bases, did, steps};

    #[test]
    fn a_product_gathers_from_the_neighbours() {
        let given = [("edge", 4), ("scale", 8), ("iterations", 1), ("workgroup", 8), ("wavefront", 4)];
        let steps = steps("minife", &given);
        // 2 x 2 x 2 bricks have 27 nodes; rows are 32 apart.
        let [columns, coefficients, r, p, ap, x, _] =
            bases([4 * 27 * 32, 8 * 27 * 32, 216, 216, 216, 216, 32]);
        let mut expected = Plain::default();
        for (x, y, z) in
            (0..3i64).flat_map(|z| (0..3i64).flat_map(move |y| (0..3i64).map(move |x| (x, y, z))))
        {
            let row = (9 * z + 3 * y + x) as u64;
            let mut j = 0;
            for (sz, sy, sx) in
                (-1..2).flat_map(|z| (-1..2).flat_map(move |y| (-1..2).map(move |x| (z, y, x))))
            {
                let inside = [x + sx, y + sy, z + sz].iter().all(|at| (0..3).contains(at));
                if inside {
                    expected.load(coefficients, row + 32 * j, 8);
                    expected.load(p, row.checked_add_signed(9 * sz + 3 * sy + sx).unwrap(), 8);
                    j += 1;
                }
            }
            (0..27).for_each(|j| expected.load(columns, row + 32 * j, 4));
            expected.store(ap, row, 8);
        }
        // A dot product is two launches and the host.
        assert_eq!(steps.len(), 3 + 1 + 1 + 3 + 2);
        assert_eq!(did(&steps[4]), expected.launch());
        for (step, input, output) in [(3, p, p), (8, x, x), (9, ap, r)] {
            let other = if step == 8 { p } else { r };
            let mut update = Plain::default();
            for row in 0..27 {
                update.load(input, row, 8);
                update.load(other, row, 8);
                update.store(output, row, 8);
            }
            assert_eq!(did(&steps[step]), update.launch());
        }
    }
}
