//! A trace's tasks as the machine sees them: kernels, and programs of cores.

use std::fmt;
use std::sync::{Arc, OnceLock};

use super::store::Store;
use super::text::about;
use crate::diagnostic::Diagnostic;
use crate::model::access::AccessKind;
use crate::model::address::{Address, Range};
use crate::model::operation::{Lanes, Operation, StoreValue, WarpAccess};
use crate::workload::footprint::Footprint;
use crate::workload::{Kernel, Program};

/// Cycles of a launch, which the traces do not tell: Accel-Sim's own `-gpgpu_kernel_launch_latency`.
const LAUNCH_CYCLES: u64 = 5000;

/// A kernel of a trace.
#[derive(Clone, Debug)]
pub struct Launch {
    /// What its task would like to be called.
    pub id: String,
    pub kernel: String,
    pub blocks: u64,
    pub warps_per_block: u32,
    /// The only GPU that runs it, if the trace tells; kernels of different GPUs run side by side.
    pub gpu: Option<u32>,
}

/// Where a task's operations come from.
pub struct Source {
    /// The trace's path.
    name: Arc<str>,
    store: Arc<Store>,
    /// The first stream of the task.
    first: u64,
    complaint: OnceLock<Box<Diagnostic>>,
}

impl Source {
    pub fn new(name: Arc<str>, store: Arc<Store>, first: u64) -> Self {
        Self { name, store, first, complaint: OnceLock::new() }
    }

    fn operation(&self, stream: u64, nth: u64) -> Option<Operation> {
        self.store.operation(self.first.checked_add(stream)?, nth).unwrap_or_else(|error| {
            let message = format!("its temporary file cannot be read any more: {error}");
            // Only the first is kept.
            let _ = self.complaint.set(Box::new(about(&self.name, message)));
            None
        })
    }

    fn complaint(&self) -> Option<Box<Diagnostic>> {
        self.complaint.get().cloned()
    }
}

impl fmt::Debug for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Source").field("name", &self.name).field("first", &self.first).finish_non_exhaustive()
    }
}

/// What a core of the host does.
#[derive(Debug)]
pub struct TraceProgram {
    pub source: Source,
    /// What it touches.
    pub footprint: Vec<Range>,
}

impl Program for TraceProgram {
    fn operation(&self, index: u64) -> Option<Operation> {
        self.source.operation(0, index)
    }
    fn footprint(&self) -> Vec<Range> {
        self.footprint.clone()
    }
    fn complaint(&self) -> Option<Box<Diagnostic>> {
        self.source.complaint()
    }
}

/// A copy to the GPU as the host makes it where there is one memory: it stores what the GPU is to find.
#[derive(Clone, Debug)]
pub struct HostCopy {
    pub address: u64,
    pub bytes: u64,
}

/// Bytes that a core stores at once: as many as a vector register has.
const STORED: u64 = 16;

impl Program for HostCopy {
    fn operation(&self, index: u64) -> Option<Operation> {
        // The first and the last may be shorter, so that none crosses a line.
        let (first, end) = (self.address, self.address.checked_add(self.bytes)?);
        let start = (first / STORED).checked_add(index)?.checked_mul(STORED)?;
        let until = start.checked_add(STORED)?.min(end);
        let start = start.max(first);
        let width = until.checked_sub(start).filter(|width| *width > 0)? as u8;
        Some(Operation::Access(WarpAccess {
            kind: AccessKind::Store,
            width,
            lanes: Lanes::one(Address(start)),
            value: StoreValue::Seed(self.address),
            label: None,
        }))
    }
    fn footprint(&self) -> Vec<Range> {
        let mut all = Footprint::default();
        all.add(self.address, self.bytes);
        all.ranges()
    }
}

/// A kernel, each of its warps a stream.
#[derive(Debug)]
pub struct TraceKernel {
    pub source: Source,
    pub launch: Launch,
    /// What it touches, and what the host copied to the GPU for it.
    pub footprint: Vec<Range>,
}

impl Kernel for TraceKernel {
    fn name(&self) -> &str {
        &self.launch.kernel
    }
    fn blocks(&self) -> u64 {
        self.launch.blocks
    }
    fn warps_per_block(&self) -> u32 {
        self.launch.warps_per_block
    }
    fn operation(&self, block: u64, warp: u32, index: u64) -> Option<Operation> {
        if block >= self.launch.blocks || warp >= self.launch.warps_per_block {
            return None;
        }
        self.source.operation(block * u64::from(self.launch.warps_per_block) + u64::from(warp), index)
    }
    fn footprint(&self) -> Vec<Range> {
        self.footprint.clone()
    }
    fn launch_overhead(&self) -> u64 {
        LAUNCH_CYCLES
    }
    fn only_on(&self) -> Option<u32> {
        self.launch.gpu
    }
    fn complaint(&self) -> Option<Box<Diagnostic>> {
        self.source.complaint()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_stores_each_byte_once_and_crosses_no_line() {
        let stores = |address, bytes| -> Vec<(u64, u64)> {
            let copy = HostCopy { address, bytes };
            let at = |index| match copy.operation(index)? {
                Operation::Access(access) => {
                    let (_, first) = access.lanes.iter().next()?;
                    Some((first.0, u64::from(access.width)))
                }
                _ => None,
            };
            (0..).map_while(at).collect()
        };
        assert_eq!(stores(0x1000, 1), [(0x1000, 1)]);
        assert_eq!(stores(0x100c, 24), [(0x100c, 4), (0x1010, 16), (0x1020, 4)]);
        assert_eq!(stores(0x1000, 32), [(0x1000, 16), (0x1010, 16)]);
        assert_eq!(stores(u64::MAX - 1, 9), []);
    }
}
