//! The program: which tasks have started and ended, and how blocks are dealt over compute units.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use crate::model::access::Bytes;
use crate::model::operation::Operation;
use crate::model::time::{EventNumber, Tick};
use crate::parts::agent::Work;
use crate::workload::{Task, TaskKind, Workload};

/// One task's progress.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct TaskState {
    /// Tasks before it that have not ended.
    pub waits_for: usize,
    pub started: Option<Tick>,
    pub ended: Option<Tick>,
    pub result: Option<Bytes>,
    /// Warps (of a kernel) or programs that have not ended.
    pub left: u64,
    /// Per GPU, the next block of its share.
    pub next_block: Vec<u64>,
    /// Nodes that have not finished flushing.
    pub flushing: Vec<usize>,
    /// Of a kernel, levels that have flushed before it.
    pub flushed: usize,
    /// When the first of them began.
    pub flushes_since: Option<Tick>,
}

/// All tasks, and the results of labelled accesses.
#[derive(Clone, Debug)]
pub struct Tasks {
    pub workload: Arc<Workload>,
    pub states: Vec<TaskState>,
    pub results: BTreeMap<Arc<str>, Bytes>,
    /// Warps left of each block under way, by task and block.
    pub blocks: BTreeMap<(usize, u64), u32>,
    /// Kernels under way, in the order in which they were launched.
    pub kernels: Vec<usize>,
    /// The events that launched kernels. Follows from the rest, so no part of the digest.
    pub launches: Vec<EventNumber>,
}

impl Tasks {
    #[must_use]
    pub fn new(workload: Arc<Workload>) -> Self {
        let states = workload
            .tasks
            .iter()
            .map(|task| TaskState { waits_for: task.after.len(), ..TaskState::default() })
            .collect();
        Self {
            workload,
            states,
            results: BTreeMap::new(),
            blocks: BTreeMap::new(),
            kernels: Vec::new(),
            launches: Vec::new(),
        }
    }

    /// Which of the kernel launches a task is, from 0.
    pub fn launch_of(&self, task: usize) -> u32 {
        let before = self.workload.tasks.iter().take(task);
        before.filter(|task| matches!(task.what, TaskKind::Kernel(_))).count() as u32
    }

    /// Tasks that can start at once.
    #[must_use]
    pub fn ready(&self) -> Vec<usize> {
        (0..self.states.len()).filter(|&index| self.states[index].waits_for == 0).collect()
    }

    /// Marks a task as ended and returns those that can start now.
    pub fn end(&mut self, task: usize, now: Tick) -> Vec<usize> {
        if let Some(state) = self.states.get_mut(task) {
            state.ended = Some(now);
        }
        self.kernels.retain(|kernel| *kernel != task);
        let mut ready = Vec::new();
        for (index, later) in self.workload.tasks.iter().enumerate() {
            let uses = later.after.iter().filter(|&&before| before == task).count();
            if uses == 0 {
                continue;
            }
            if let Some(state) = self.states.get_mut(index) {
                state.waits_for = state.waits_for.saturating_sub(uses);
                if state.waits_for == 0 {
                    ready.push(index);
                }
            }
        }
        ready
    }

    /// Counts that some work has ended. Whether its compute unit has room again for blocks: a block has ended with the last of its
    /// warps.
    pub fn frees_room(&mut self, work: Work) -> bool {
        let Work::Block { task, block, .. } = work else { return true };
        let left = self.blocks.entry((task, block)).or_insert(1);
        *left = left.saturating_sub(1);
        if *left == 0 {
            self.blocks.remove(&(task, block));
        }
        !self.blocks.contains_key(&(task, block))
    }

    /// Adds a task that waits for nothing; returns its number.
    pub fn add(&mut self, task: Task) -> usize {
        let mut workload = (*self.workload).clone();
        workload.tasks.push(Task { after: Vec::new(), ..task });
        self.workload = Arc::new(workload);
        self.states.push(TaskState::default());
        self.states.len() - 1
    }

    /// The share of the work that is done, 0 to 1: each task counts as much, a kernel by its warps.
    #[must_use]
    pub fn share_done(&self) -> f64 {
        let done = |(task, state): (&Task, &TaskState)| match (&task.what, state.started, state.ended) {
            (_, _, Some(_)) => 1.0,
            (TaskKind::Kernel(kernel), Some(_), None) => {
                let all = kernel.blocks().saturating_mul(u64::from(kernel.warps_per_block())).max(1);
                1.0 - state.left.min(all) as f64 / all as f64
            }
            _ => 0.0,
        };
        let all: f64 = self.workload.tasks.iter().zip(&self.states).map(done).sum();
        all / (self.states.len().max(1)) as f64
    }

    /// When the last task ended; none if one has not.
    #[must_use]
    pub fn ended(&self) -> Option<Tick> {
        self.states.iter().map(|state| state.ended).try_fold(0, |last, ended| Some(ended?.max(last)))
    }

    #[must_use]
    pub fn all_ended(&self) -> bool {
        self.states.iter().all(|state| state.ended.is_some())
    }
}

/// Operation `index` of some work, if it is written down.
#[must_use]
pub fn listed(workload: &Workload, work: Work, index: u64) -> Option<&Operation> {
    match &workload.tasks.get(work.task())?.what {
        TaskKind::Program { operations, .. } => operations.listed().get(usize::try_from(index).ok()?),
        _ => None,
    }
}

/// Operation `index` of some work.
#[must_use]
pub fn operation(workload: &Workload, work: Work, index: u64) -> Option<Cow<'_, Operation>> {
    let task = workload.tasks.get(work.task())?;
    match (&task.what, work) {
        (TaskKind::Program { operations, .. }, _) => operations.at(index),
        (TaskKind::Kernel(kernel), Work::Block { block, warp, .. }) => {
            kernel.operation(block, warp, index).map(Cow::Owned)
        }
        _ => None,
    }
}
