//! The transpose of a square matrix in 4 x 4 pieces per thread, its blocks dealt diagonally.

use super::common::{self, Phase};
use super::transpose_shape::{NAME, Shape};
use crate::model::access::AccessKind;
use crate::model::address::{Address, Range};
use crate::model::operation::Operation;
use crate::workload::{Kernel, lanes};

/// A lane loads four vectors of four elements, one from each of four rows, and stores four.
#[derive(Debug)]
pub struct TransposeFloat4 {
    pub shape: Shape,
    pub width: u8,
}

impl TransposeFloat4 {
    /// Workgroups along a side.
    fn across(&self) -> u64 {
        self.shape.width.div_ceil(self.shape.edge)
    }

    /// The address of row `row` (0 to 3) of a lane's piece; `None` if the piece is not in the matrix.
    ///
    /// The source reshuffles its group numbers so that the banks of memory are used evenly: block (X, Y) reads
    /// block column (X + Y) mod n of block row X, and writes the mirrored one.
    fn address(&self, block: u64, warp: u32, lane: u32, row: u64, store: bool) -> Option<Address> {
        let across = self.across();
        let (x, y) = self.shape.local(warp, lane)?;
        let (group_x, group_y) = (block.checked_rem(across)?, block.checked_div(across)?);
        let block_row = group_x;
        let block_column = group_x.checked_add(group_y)?.checked_rem(across)?;
        let (left, top) = if store { (block_row, block_column) } else { (block_column, block_row) };
        let (column, piece) = (left * self.shape.edge + x, top * self.shape.edge + y);
        if column >= self.shape.width || piece >= self.shape.height || group_y >= across {
            return None;
        }
        let array = if store { &self.shape.output } else { &self.shape.input };
        Some(array.at(column + (piece * 4 + row) * self.shape.width))
    }
}

impl Kernel for TransposeFloat4 {
    fn name(&self) -> &'static str {
        NAME
    }
    fn blocks(&self) -> u64 {
        self.across() * self.across()
    }
    fn warps_per_block(&self) -> u32 {
        self.shape.warps_per_block()
    }
    fn operation(&self, block: u64, warp: u32, index: u64) -> Option<Operation> {
        let (row, store) = match self.shape.phases.at(index)? {
            Phase::Compute(cycles) => return Some(Operation::Compute(cycles)),
            Phase::Barrier => return Some(Operation::Barrier),
            Phase::Load(row) => (row, false),
            Phase::Store(row) => (row, true),
        };
        let lanes = lanes::gather(self.shape.wavefront, |lane| self.address(block, warp, lane, row, store));
        // In a partial block other lanes store than load: an instruction without lanes still issues.
        let Some(lanes) = lanes else { return Some(Operation::Compute(1)) };
        let kind = if store { self.shape.store } else { AccessKind::Load };
        Some(common::access(kind, self.width, lanes, self.shape.seed))
    }
    fn footprint(&self) -> Vec<Range> {
        self.shape.footprint()
    }
    fn launch_overhead(&self) -> u64 {
        self.shape.launch
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::super::testing::{Touch, build, touches};
    use super::super::{Parameters, Value};
    use super::*;

    fn transpose(size: i64) -> Arc<dyn Kernel> {
        let given = [
            ("variant", Value::Text("float4".to_owned())),
            ("width", Value::Integer(size)),
            ("height", Value::Integer(size)),
            ("store", Value::Text("store".to_owned())),
            ("output", Value::Integer(0)),
        ];
        build("transpose", &Parameters::of(&given)).unwrap()
    }

    #[test]
    fn every_thread_touches_what_the_map_says() {
        let kernel = transpose(256);
        let w = 256 / 4;
        let mut expected = Vec::new();
        for (group_x, group_y) in (0..4u64).flat_map(|y| (0..4).map(move |x| (x, y))) {
            let gy = group_x;
            let gx = (group_x + group_y) % 4;
            for (lx, ly) in (0..16).flat_map(|y| (0..16).map(move |x| (x, y))) {
                for k in 0..4 {
                    let (ix, iy) = (gx * 16 + lx, gy * 16 + ly);
                    expected.push(Touch::new(
                        AccessKind::Load,
                        0x10_0000 + 16 * (ix + iy * 4 * w + k * w),
                        16,
                    ));
                    let (ix, iy) = (gy * 16 + lx, gx * 16 + ly);
                    expected.push(Touch::new(AccessKind::Store, 16 * (ix + iy * 4 * w + k * w), 16));
                }
            }
        }
        expected.sort();
        assert_eq!(touches(kernel.as_ref()), expected);
    }

    #[test]
    fn a_partial_block_still_covers_the_matrix_once() {
        let kernel = transpose(100);
        let touched = touches(kernel.as_ref());
        assert_eq!(touched.len(), 2 * 100 * 100 / 4);
        assert!(touched.windows(2).all(|pair| pair[0] != pair[1]));
    }

    #[test]
    fn only_square_matrices() {
        let wide = [("variant", Value::Text("float4".to_owned())), ("width", Value::Integer(128))];
        assert!(build("transpose", &Parameters::of(&wide)).is_err());
    }
}
