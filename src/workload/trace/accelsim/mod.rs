//! SASS traces of Accel-Sim, tracer versions 3 to 6 (`kernelslist.g`, `kernel-N.traceg`), as plain text.
//!
//! There is no order or time between warps in these traces: each warp's list is a program of its own. Not in them:
//! values, host accesses, copies back to the host. Barriers of parts of a block count as barriers of the block.

mod header;
mod index;
mod line;
pub mod list;
mod opcode;
mod operation;

use std::fmt;
use std::path::Path;
use std::sync::{Arc, OnceLock};

pub use self::index::Counts;
use self::index::{Index, Place};
use super::cache::Cache;
use super::footprint::Footprint;
use super::text::{Text, about};
use crate::diagnostic::{Diagnostic, Result};
use crate::model::address::Range;
use crate::model::operation::Operation;
use crate::workload::Kernel;

/// Cycles of a launch, which the traces do not tell: Accel-Sim's own `-gpgpu_kernel_launch_latency`.
const LAUNCH_CYCLES: u64 = 5000;

/// A kernel of a trace, read from its file as it is asked for.
pub struct TraceKernel {
    text: Text,
    index: Index,
    /// Its number in the trace.
    number: u32,
    cache: Arc<Cache>,
    /// What it touches, and what the host copied to the GPU for it.
    footprint: Vec<Range>,
    complaint: OnceLock<Box<Diagnostic>>,
}

impl TraceKernel {
    /// Indexes the trace at `path`. `copied` is memory that the host filled before the launch.
    pub fn open(path: &Path, number: u32, cache: &Arc<Cache>, copied: &Footprint) -> Result<Self> {
        Self::index(Text::open(path)?, number, cache, copied)
    }

    fn index(text: Text, number: u32, cache: &Arc<Cache>, copied: &Footprint) -> Result<Self> {
        let mut index = Index::build(&text)?;
        let mut footprint = std::mem::take(&mut index.footprint);
        footprint.join(copied);
        let footprint = footprint.ranges();
        Ok(Self { text, index, number, cache: cache.clone(), footprint, complaint: OnceLock::new() })
    }

    pub fn counts(&self) -> Counts {
        self.index.counts
    }

    fn load(&self, place: Place) -> Result<Vec<Operation>> {
        let bytes = self.text.read(place.offset, place.bytes)?;
        let changed = || Box::new(about(self.text.name(), "was changed after it was indexed"));
        let text = std::str::from_utf8(&bytes).map_err(|_| changed())?;
        index::decode(text, &self.index.header).map_err(|_| changed())
    }
}

impl fmt::Debug for TraceKernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TraceKernel")
            .field("file", &self.text.name())
            .field("header", &self.index.header)
            .finish_non_exhaustive()
    }
}

impl Kernel for TraceKernel {
    fn name(&self) -> &str {
        &self.index.header.kernel
    }
    fn blocks(&self) -> u64 {
        self.index.header.blocks
    }
    fn warps_per_block(&self) -> u32 {
        self.index.header.warps_per_block
    }
    fn operation(&self, block: u64, warp: u32, index: u64) -> Option<Operation> {
        let place = self.index.find(block, warp, index)?;
        match self.cache.get((self.number, place.segment), || self.load(place)) {
            Ok(operations) => operations.get(place.nth).cloned(),
            Err(complaint) => {
                // Only the first is kept.
                let _ = self.complaint.set(complaint);
                None
            }
        }
    }
    fn footprint(&self) -> Vec<Range> {
        self.footprint.clone()
    }
    fn launch_overhead(&self) -> u64 {
        LAUNCH_CYCLES
    }
    fn complaint(&self) -> Option<Box<Diagnostic>> {
        self.complaint.get().cloned()
    }
}

#[cfg(test)]
mod tests;
