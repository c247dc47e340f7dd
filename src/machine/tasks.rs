//! The program: which tasks have started and ended, and how blocks are dealt over compute units.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use smallvec::SmallVec;

use crate::model::access::Bytes;
use crate::model::operation::Operation;
use crate::model::text::plural;
use crate::model::time::{EventNumber, Tick};
use crate::parts::agent::Work;
use crate::workload::{Task, TaskKind, Workload};

/// Who does a task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TaskWork {
    /// The launch of a kernel, by its number from 0.
    Launch {
        number: u32,
        kernel: Arc<str>,
        blocks: u64,
    },
    /// Instructions of this compute unit or core.
    Program(Arc<str>),
    Flush,
    /// A labelled access, which is none by itself.
    Access,
}

impl TaskWork {
    pub(super) fn of(what: &TaskKind, number: u32) -> Self {
        match what {
            TaskKind::Kernel(kernel) => {
                Self::Launch { number, kernel: kernel.name().into(), blocks: kernel.blocks() }
            }
            TaskKind::Program { agent, .. } => Self::Program(agent.as_str().into()),
            TaskKind::Flush { .. } => Self::Flush,
        }
    }

    /// In few letters.
    #[must_use]
    pub fn short(&self) -> Cow<'_, str> {
        match self {
            Self::Launch { number, .. } => format!("launch {number}").into(),
            Self::Program(agent) => Cow::Borrowed(agent),
            Self::Flush => "flush".into(),
            Self::Access => "access".into(),
        }
    }
}

impl std::fmt::Display for TaskWork {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Launch { number, kernel, blocks } => {
                write!(f, "launch {number} of {kernel}, {}", plural(*blocks, "block"))
            }
            other => f.write_str(&other.short()),
        }
    }
}

/// What became of a labelled access or a task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaskView {
    pub id: Arc<str>,
    pub work: TaskWork,
    pub started: Option<Tick>,
    pub ended: Option<Tick>,
    /// What its last access read.
    pub result: Option<Bytes>,
    /// Caches that it waits for: they flush, before it or as it.
    pub flushing: usize,
}

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

/// What follows from the order of the tasks of a workload.
#[derive(Debug, Default)]
struct Order {
    /// How many kernels stand before each task.
    kernels: Vec<u32>,
    /// The tasks that wait for each, once for each time that they name it.
    followers: Vec<SmallVec<[usize; 2]>>,
}

impl Order {
    fn of(workload: &Workload) -> Arc<Self> {
        let mut order = Self { kernels: Vec::new(), followers: vec![SmallVec::new(); workload.tasks.len()] };
        let mut kernels = 0;
        for (index, task) in workload.tasks.iter().enumerate() {
            order.kernels.push(kernels);
            kernels += u32::from(matches!(task.what, TaskKind::Kernel(_)));
            for before in &task.after {
                if let Some(followers) = order.followers.get_mut(*before) {
                    followers.push(index);
                }
            }
        }
        Arc::new(order)
    }
}

/// All tasks, and the results of labelled accesses.
#[derive(Clone, Debug)]
pub struct Tasks {
    pub workload: Arc<Workload>,
    order: Arc<Order>,
    pub states: Vec<TaskState>,
    /// How many of them have not ended. Follows from the states, as what comes next does.
    left: usize,
    /// Those that have nodes left to flush.
    flushing: Vec<usize>,
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
        let states: Vec<TaskState> = states;
        Self {
            order: Order::of(&workload),
            workload,
            left: states.len(),
            flushing: Vec::new(),
            states,
            results: BTreeMap::new(),
            blocks: BTreeMap::new(),
            kernels: Vec::new(),
            launches: Vec::new(),
        }
    }

    /// What has begun and not ended, of the tasks of its workload.
    pub fn running<'a>(&'a self, workload: &'a Workload) -> impl Iterator<Item = &'a TaskKind> {
        let tasks = workload.tasks.iter().zip(&self.states);
        let running = tasks.filter(|(_, state)| state.started.is_some() && state.ended.is_none());
        running.map(|(task, _)| &task.what)
    }

    /// Which of the kernel launches a task is, from 0.
    pub fn launch_of(&self, task: usize) -> u32 {
        self.order.kernels.get(task).copied().unwrap_or_default()
    }

    /// Tasks that can start at once.
    #[must_use]
    pub fn ready(&self) -> Vec<usize> {
        (0..self.states.len()).filter(|&index| self.states[index].waits_for == 0).collect()
    }

    /// Marks a task as ended and returns those that can start now.
    pub fn end(&mut self, task: usize, now: Tick) -> Vec<usize> {
        if let Some(state) = self.states.get_mut(task) {
            self.left = self.left.saturating_sub(usize::from(state.ended.is_none()));
            state.ended = Some(now);
        }
        self.kernels.retain(|kernel| *kernel != task);
        let mut ready = Vec::new();
        for &follower in self.order.followers.get(task).into_iter().flatten() {
            if let Some(state) = self.states.get_mut(follower) {
                state.waits_for = state.waits_for.saturating_sub(1);
                if state.waits_for == 0 {
                    ready.push(follower);
                }
            }
        }
        ready
    }

    /// A task has nodes to flush.
    pub fn flush(&mut self, task: usize, nodes: Vec<usize>) {
        let Some(state) = self.states.get_mut(task) else { return };
        if let (Err(place), false) = (self.flushing.binary_search(&task), nodes.is_empty()) {
            self.flushing.insert(place, task);
        }
        state.flushing = nodes;
    }

    /// A node has been flushed. Returns the tasks that have none left.
    pub fn flushed(&mut self, node: usize) -> Vec<usize> {
        let (states, mut done) = (&mut self.states, Vec::new());
        self.flushing.retain(|&task| {
            let Some(state) = states.get_mut(task) else { return false };
            state.flushing.retain(|&flushing| flushing != node);
            if state.flushing.is_empty() {
                done.push(task);
            }
            !state.flushing.is_empty()
        });
        done
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
        self.order = Order::of(&workload);
        self.workload = Arc::new(workload);
        self.left += 1;
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
        self.left == 0
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
