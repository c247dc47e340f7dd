//! Work as pure functions of (launch, block, warp, index): the machine holds only cursors into it.

mod footprint;
pub mod kernels;
mod lanes;
pub mod suites;
pub mod trace;

use std::borrow::Cow;
use std::fmt::Debug;
use std::sync::Arc;

use crate::diagnostic::Diagnostic;
use crate::model::address::Range;
use crate::model::operation::Operation;

/// What a program is made of: a graph of tasks, each started when those it comes after have ended.
#[derive(Clone, Debug, Default)]
pub struct Workload {
    pub tasks: Vec<Task>,
    /// Memory that was allocated on a GPU, where it is known: there its pages live, if a machine does not deal them otherwise.
    pub homes: Vec<(Range, u32)>,
    /// Memory that was allocated, though nothing need touch it: a prefetcher may bring its pages.
    pub allocated: Vec<Range>,
}

impl Workload {
    /// The first complaint of a kernel.
    #[must_use]
    pub fn complaint(&self) -> Option<Box<Diagnostic>> {
        self.tasks.iter().find_map(|task| match &task.what {
            TaskKind::Kernel(kernel) => kernel.complaint(),
            TaskKind::Program { operations: Operations::Computed(program), .. } => program.complaint(),
            TaskKind::Program { .. } | TaskKind::Flush { .. } => None,
        })
    }
}

/// A named piece of work.
#[derive(Clone, Debug)]
pub struct Task {
    pub id: Arc<str>,
    /// Indices of the tasks that must have ended before.
    pub after: Vec<usize>,
    /// Cycles (of the quoted clock) to wait after that.
    pub delay: u64,
    /// Cycles that its launch takes, if it is a kernel, instead of what the kernel says.
    pub launch: Option<u64>,
    pub what: TaskKind,
}

impl Task {
    /// Cycles that its launch takes; none of what is no kernel.
    #[must_use]
    pub fn launch_overhead(&self) -> Option<u64> {
        let TaskKind::Kernel(kernel) = &self.what else { return None };
        Some(self.launch.unwrap_or_else(|| kernel.launch_overhead()))
    }
}

#[derive(Clone, Debug)]
pub enum TaskKind {
    /// A sequence of instructions on one compute unit or core: a scripted access is a program of one.
    Program {
        /// Path of the compute unit or core.
        agent: String,
        /// The warp slot there; the first free one if none is named.
        warp: Option<u32>,
        operations: Operations,
    },
    /// A kernel, its blocks dealt over the compute units of all GPUs.
    Kernel(Arc<dyn Kernel>),
    /// Final flush: every dirty block of these nodes (path pattern prefix, e.g. `gpu0`; empty for all GPUs) is
    /// written back down to the host memory (UMH, section 4.2).
    Flush { below: String },
}

impl TaskKind {
    /// The memory it touches, as far as it can tell.
    #[must_use]
    pub fn footprint(&self) -> Vec<Range> {
        match self {
            Self::Kernel(kernel) => kernel.footprint(),
            Self::Program { operations: Operations::Computed(program), .. } => program.footprint(),
            Self::Program { operations, .. } => {
                let accesses = operations.listed().iter().filter_map(|operation| match operation {
                    Operation::Access(access) | Operation::SpinUntil(access, _) => Some(access),
                    _ => None,
                });
                let ranges = accesses.flat_map(|access| {
                    let width = u32::from(access.width.max(1));
                    access.lanes.iter().map(move |(_, address)| Range::new(address, width))
                });
                ranges.collect()
            }
            Self::Flush { .. } => Vec::new(),
        }
    }

    /// Whether GPUs do it.
    #[must_use]
    pub fn is_on_gpu(&self) -> bool {
        match self {
            Self::Kernel(_) => true,
            Self::Program { agent, .. } => agent.starts_with("gpu"),
            Self::Flush { .. } => false,
        }
    }
}

/// The instructions of a program.
#[derive(Clone, Debug)]
pub enum Operations {
    /// Written down one by one.
    Listed(Arc<[Operation]>),
    /// Computed when they are asked for: a loop of the host over a large array.
    Computed(Arc<dyn Program>),
}

impl Operations {
    /// Instruction `index`, or `None` past the end.
    #[must_use]
    pub fn at(&self, index: u64) -> Option<Cow<'_, Operation>> {
        match self {
            Self::Listed(list) => list.get(usize::try_from(index).ok()?).map(Cow::Borrowed),
            Self::Computed(program) => program.operation(index).map(Cow::Owned),
        }
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.at(0).is_none()
    }

    /// Those that are written down.
    #[must_use]
    pub fn listed(&self) -> &[Operation] {
        match self {
            Self::Listed(list) => list,
            Self::Computed(_) => &[],
        }
    }
}

impl From<Vec<Operation>> for Operations {
    fn from(list: Vec<Operation>) -> Self {
        Self::Listed(list.into())
    }
}

impl From<Arc<[Operation]>> for Operations {
    fn from(list: Arc<[Operation]>) -> Self {
        Self::Listed(list)
    }
}

/// The core that runs what the host does between kernels.
pub const HOST: &str = "host.cpu0";

/// A program as a map from an instruction's number to the instruction: computed, or read from a trace.
pub trait Program: Debug + Send + Sync {
    /// Instruction `index`, or `None` past the end.
    fn operation(&self, index: u64) -> Option<Operation>;
    /// The memory it touches, as far as it can tell.
    fn footprint(&self) -> Vec<Range>;
    /// As [`Kernel::complaint`].
    fn complaint(&self) -> Option<Box<Diagnostic>> {
        None
    }
}

/// A kernel launch: where each warp of each block goes, instruction by instruction.
pub trait Kernel: Debug + Send + Sync {
    fn name(&self) -> &str;
    /// Thread blocks (workgroups) in the grid.
    fn blocks(&self) -> u64;
    fn warps_per_block(&self) -> u32;
    /// Instruction `index` of a warp, or `None` past its end.
    fn operation(&self, block: u64, warp: u32, index: u64) -> Option<Operation>;
    /// The memory it touches.
    fn footprint(&self) -> Vec<Range>;
    /// Cycles of the launch itself, before the first block starts.
    fn launch_overhead(&self) -> u64;
    /// The number of the only GPU that may run its blocks, or `None` if they are dealt over all.
    fn only_on(&self) -> Option<u32> {
        None
    }
    /// Why `operation` cannot be trusted any more (what a trace was kept in cannot be read): the run's results are
    /// void. A kernel that computes its operations has nothing to complain of.
    fn complaint(&self) -> Option<Box<Diagnostic>> {
        None
    }
}
