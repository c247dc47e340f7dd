//! What the readers of all formats write into: tasks, their streams of steps, and what there is to count.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;
use std::sync::Arc;

use super::super::footprint::Footprint;
use super::step::Step;
use super::store::{Recorder, Store};
use super::stream::{HostCopy, Launch, Source, TraceKernel, TraceProgram};
use super::text::about;
use super::warp::MOST_BLOCKS;
use crate::diagnostic::{Diagnostic, Result};
use crate::model::access::AccessKind;
use crate::model::address::Range;
use crate::workload::{HOST, Operations, Task, TaskKind, Workload};

/// Most tasks in a trace.
const MOST_TASKS: usize = 1 << 16;

/// Most blocks of a kernel whose blocks are counted while its trace is read.
const MOST_OWN_BLOCKS: u64 = 1 << 32;

/// Instructions between two tellings of how many there are.
const TOLD_EVERY: u64 = 1 << 16;

/// What a trace holds, in all lanes of all warps and in all cores.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    pub instructions: u64,
    /// Accesses of single lanes to global memory, or of cores.
    pub lane_loads: u64,
    pub lane_stores: u64,
    pub lane_atomics: u64,
}

/// Is told now and then how many instructions have been read; may break off the reading.
pub type Told = Box<dyn FnMut(u64) -> ControlFlow<()>>;

/// What was read.
pub struct Recorded {
    pub workload: Workload,
    pub counts: Counts,
    /// Memory that the host filled.
    pub copied: Vec<Range>,
    /// The numbers that the trace gives its cores, ascending: the first runs on `host.cpu0`, and so on.
    pub cores: Vec<u32>,
}

/// A task whose streams are being written.
#[derive(Debug)]
struct Planned {
    what: What,
    id: Arc<str>,
    footprint: Footprint,
    /// Its first stream, and how many there are.
    first: u64,
    streams: u64,
}

#[derive(Debug)]
enum What {
    Kernel(Launch),
    /// The program of a core of the host.
    Core(u32),
    /// The host fills memory between kernels.
    Copy(HostCopy),
}

impl What {
    fn core(&self) -> Option<u32> {
        match self {
            Self::Core(number) => Some(*number),
            Self::Kernel(_) | Self::Copy(_) => None,
        }
    }
}

/// The number of a task in its trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TaskNumber(usize);

/// A trace while it is read.
pub struct Recording {
    /// The trace's path.
    name: Arc<str>,
    told: Told,
    /// Instructions after which it is told again.
    next_told: u64,
    recorder: Recorder,
    tasks: Vec<Planned>,
    ids: BTreeSet<String>,
    streams: u64,
    counts: Counts,
    copied: Footprint,
    /// Copied since the last launch.
    fresh: Footprint,
    /// What was allocated on each GPU.
    homes: BTreeMap<u32, Footprint>,
    /// What was allocated for all.
    allocated: Footprint,
}

impl Recording {
    pub fn new(name: &str, told: Told) -> Self {
        Self {
            name: Arc::from(name),
            told,
            next_told: TOLD_EVERY,
            recorder: Recorder::default(),
            tasks: Vec::new(),
            ids: BTreeSet::new(),
            streams: 0,
            counts: Counts::default(),
            copied: Footprint::default(),
            fresh: Footprint::default(),
            homes: BTreeMap::new(),
            allocated: Footprint::default(),
        }
    }

    /// These bytes were allocated, for whoever touches them.
    pub fn is_allocated(&mut self, address: u64, bytes: u64) {
        self.allocated.add(address, bytes);
    }

    /// These bytes were allocated on a GPU.
    pub fn lives(&mut self, gpu: u32, address: u64, bytes: u64) {
        self.homes.entry(gpu).or_default().add(address, bytes);
    }

    /// The host fills memory of the GPU: before the first kernel it has been filled already, later a core of the host does it
    /// in its turn.
    ///
    /// # Errors
    /// If there are too many.
    pub fn copy(&mut self, address: u64, bytes: u64) -> Result<()> {
        self.copied.add(address, bytes);
        if !self.tasks.is_empty() && bytes > 0 {
            self.add(What::Copy(HostCopy { address, bytes }), "copy", Footprint::default(), 0)?;
        }
        self.fresh.add(address, bytes);
        Ok(())
    }

    /// A kernel follows those before it.
    ///
    /// # Errors
    /// If there are too many.
    pub fn launch(&mut self, launch: Launch) -> Result<TaskNumber> {
        let streams = match launch.gpu {
            Some(_) => MOST_OWN_BLOCKS,
            None => launch.blocks.saturating_mul(u64::from(launch.warps_per_block)),
        };
        let id = launch.id.clone();
        let footprint = std::mem::take(&mut self.fresh);
        self.add(What::Kernel(launch), &id, footprint, streams)
    }

    /// A kernel of one GPU has another block of one warp, which is this stream.
    ///
    /// # Errors
    /// If there are too many.
    pub fn add_block(&mut self, task: TaskNumber) -> Result<u64> {
        match self.tasks.get_mut(task.0).map(|planned| &mut planned.what) {
            Some(What::Kernel(launch)) if launch.blocks < MOST_OWN_BLOCKS => {
                launch.blocks += 1;
                Ok(launch.blocks - 1)
            }
            _ => Err(self.too_many("warps", MOST_OWN_BLOCKS)),
        }
    }

    fn too_many(&self, what: &str, most: u64) -> Box<Diagnostic> {
        Box::new(about(&self.name, format!("holds too many {what}")).expected(format!("at most {most}")))
    }

    /// A core of the host has a program.
    ///
    /// # Errors
    /// If there are too many.
    pub fn core(&mut self, number: u32) -> Result<TaskNumber> {
        self.add(What::Core(number), &format!("core-{number}"), Footprint::default(), 1)
    }

    fn add(&mut self, what: What, id: &str, footprint: Footprint, streams: u64) -> Result<TaskNumber> {
        let number = self.tasks.len();
        if number >= MOST_TASKS {
            return Err(self.too_many("kernels or cores", MOST_TASKS as u64));
        }
        let fresh = self.ids.insert(id.to_owned());
        let id = if fresh { Arc::from(id) } else { Arc::from(format!("{id}#{}", number + 1)) };
        let first = self.streams;
        // Far from the end of the numbers: `MOST_BLOCKS` and `MOST_TASKS` see to that.
        self.streams = self.streams.saturating_add(streams.min(MOST_BLOCKS << 5));
        self.tasks.push(Planned { what, id, footprint, first, streams });
        Ok(TaskNumber(number))
    }

    /// The next step of a stream (a warp by its number in the grid), which is so many instructions.
    ///
    /// # Errors
    /// If the temporary folder is full.
    pub fn step(&mut self, task: TaskNumber, stream: u64, instructions: u64, step: &Step) -> Result<()> {
        let Some(planned) = self.tasks.get_mut(task.0).filter(|planned| stream < planned.streams) else {
            return Ok(());
        };
        self.counts.instructions = self.counts.instructions.saturating_add(instructions);
        if self.counts.instructions >= self.next_told {
            self.next_told = self.counts.instructions.saturating_add(TOLD_EVERY);
            if (self.told)(self.counts.instructions).is_break() {
                return Err(Box::new(about(&self.name, "was not read to its end: interrupted")));
            }
        }
        if let Step::Touch(touch) = step {
            let counter = match touch.kind {
                AccessKind::Load => &mut self.counts.lane_loads,
                AccessKind::Store | AccessKind::NStore => &mut self.counts.lane_stores,
                AccessKind::Atomic(_) => &mut self.counts.lane_atomics,
            };
            for (_, address) in touch.lanes.iter() {
                *counter = counter.saturating_add(1);
                planned.footprint.add(address.0, u64::from(touch.width));
            }
        }
        let appended = self.recorder.append(planned.first + stream, step);
        appended.map_err(|error| full(&self.name, &error))
    }

    /// The trace was read to its end.
    ///
    /// # Errors
    /// If the temporary folder is full.
    pub fn finish(self) -> Result<Recorded> {
        let store: Arc<Store> = Arc::new(self.recorder.finish().map_err(|error| full(&self.name, &error))?);
        let numbers: BTreeSet<u32> = self.tasks.iter().filter_map(|planned| planned.what.core()).collect();
        let cores: BTreeMap<u32, usize> = numbers.into_iter().zip(0..).collect();
        let mut tasks: Vec<Task> = Vec::new();
        for planned in self.tasks {
            let source = Source::new(self.name.clone(), store.clone(), planned.first);
            let footprint = planned.footprint.ranges();
            let (after, what) = match planned.what {
                What::Core(number) => {
                    let program: Arc<dyn crate::workload::Program> =
                        Arc::new(TraceProgram { source, footprint });
                    let operations = Operations::Computed(program);
                    let agent = format!("host.cpu{}", cores.get(&number).copied().unwrap_or_default());
                    (None, TaskKind::Program { agent, warp: None, operations })
                }
                What::Copy(copy) => {
                    let operations = Operations::Computed(Arc::new(copy));
                    let what = TaskKind::Program { agent: HOST.to_owned(), warp: None, operations };
                    (tasks.len().checked_sub(1), what)
                }
                What::Kernel(launch) => {
                    let after = if launch.gpu.is_some() { None } else { tasks.len().checked_sub(1) };
                    (after, TaskKind::Kernel(Arc::new(TraceKernel { source, launch, footprint })))
                }
            };
            tasks.push(Task {
                id: planned.id,
                after: after.into_iter().collect(),
                delay: 0,
                launch: None,
                what,
            });
        }
        let homes = self.homes.iter();
        let homes = homes.flat_map(|(gpu, own)| own.ranges().into_iter().map(move |range| (range, *gpu)));
        let homes = homes.collect();
        Ok(Recorded {
            workload: Workload { tasks, homes, allocated: self.allocated.ranges() },
            counts: self.counts,
            copied: self.copied.ranges(),
            cores: cores.into_keys().collect(),
        })
    }
}

fn full(name: &str, error: &std::io::Error) -> Box<Diagnostic> {
    let folder = std::env::temp_dir();
    let message = format!("its index cannot be written to {}: {error}", folder.display());
    Box::new(about(name, message).expected("room in that folder, or another folder in TMPDIR"))
}

#[cfg(test)]
mod tests {
    use super::super::testing::silent;
    use super::*;

    /// Were the cores before each counted anew, these would be two billion steps.
    #[test]
    fn as_many_cores_as_there_may_be_run_in_the_order_of_their_numbers() {
        let most = MOST_TASKS as u32;
        let mut recording = Recording::new("t", silent());
        for number in (0..most).rev() {
            recording.core(number * 3).unwrap();
        }
        let recorded = recording.finish().unwrap();
        assert_eq!(recorded.cores, (0..most).map(|number| number * 3).collect::<Vec<_>>());
        let agents = recorded.workload.tasks.iter().map(|task| match &task.what {
            TaskKind::Program { agent, .. } => agent.clone(),
            other => panic!("{other:?}"),
        });
        assert!(agents.eq((0..most).rev().map(|place| format!("host.cpu{place}"))));
    }
}
