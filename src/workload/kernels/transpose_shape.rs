//! What both variants of the transpose are told.

use super::array::Array;
use super::common::Phases;
use crate::model::access::AccessKind;
use crate::model::address::Range;

/// What both are called.
pub const NAME: &str = "transpose";

/// What both variants are told.
#[derive(Debug)]
pub struct Shape {
    /// Columns and rows, in what a lane accesses at once.
    pub width: u64,
    pub height: u64,
    /// Threads along each side of a workgroup.
    pub edge: u64,
    pub wavefront: u32,
    pub input: Array,
    pub output: Array,
    pub phases: Phases,
    pub launch: u64,
    pub store: AccessKind,
    pub seed: u64,
}

impl Shape {
    /// Local x and y of a lane, if it is in its workgroup.
    pub fn local(&self, warp: u32, lane: u32) -> Option<(u64, u64)> {
        let thread = u64::from(warp).checked_mul(u64::from(self.wavefront))?.checked_add(u64::from(lane))?;
        let (x, y) = (thread.checked_rem(self.edge)?, thread.checked_div(self.edge)?);
        (y < self.edge).then_some((x, y))
    }

    pub fn warps_per_block(&self) -> u32 {
        (self.edge * self.edge).div_ceil(u64::from(self.wavefront)) as u32
    }

    pub fn footprint(&self) -> Vec<Range> {
        [&self.input, &self.output].into_iter().flat_map(Array::ranges).collect()
    }
}
