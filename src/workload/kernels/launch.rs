//! A launch, or a loop of the host, as a script and a map: what every wavefront does in turn, and which element
//! each thread touches there.

use std::fmt;
use std::sync::Arc;

use super::array::Array;
use super::common::{self, HostPart, Settings};
use crate::model::access::{AccessKind, AtomicOp};
use crate::model::address::{Address, Range};
use crate::model::operation::{Lanes, Operation};
use crate::workload::{HOST, Kernel, Operations, Program, TaskKind, lanes};

/// One instruction of a wavefront. Accesses name their array and tell the map which of them they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    Load(usize, u64),
    Store(usize, u64),
    /// A read-modify-write.
    Atomic(AtomicOp, usize, u64),
    /// The exclusive access request (UMH, section 4.2.1) with which a host gets what GPUs wrote.
    Exclusive(usize, u64),
    Compute(u32),
    Barrier,
}

/// How many rounds of a loop thread `local` of workgroup `group` makes: a function of (`group`, `local`).
pub type Trips = Arc<dyn Fn(u64, u64) -> u64 + Send + Sync>;

/// How often the body of a loop runs.
#[derive(Clone)]
enum Times {
    Fixed(u64),
    /// As often as the data tell each thread; a wavefront goes on until the last of its threads is done.
    Each(Trips),
}

impl fmt::Debug for Times {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Fixed(times) => write!(f, "{times} times"),
            Self::Each(_) => f.write_str("by thread"),
        }
    }
}

/// The instructions of a wavefront: bodies of loops, one after the other.
#[derive(Clone, Debug, Default)]
pub struct Script(Vec<(Times, Vec<Step>)>);

impl Script {
    /// Then `body`, `times` times. Computing for no cycles is no instruction.
    pub fn then(self, times: u64, body: impl IntoIterator<Item = Step>) -> Self {
        self.add(Times::Fixed(times), body)
    }

    /// Then `body`, as often as `trips` says for each thread: a loop that the data end, or (0 or 1) a condition.
    pub fn then_each(
        self,
        trips: impl Fn(u64, u64) -> u64 + Send + Sync + 'static,
        body: impl IntoIterator<Item = Step>,
    ) -> Self {
        self.add(Times::Each(Arc::new(trips)), body)
    }

    fn add(mut self, times: Times, body: impl IntoIterator<Item = Step>) -> Self {
        self.0.push((times, body.into_iter().filter(|step| *step != Step::Compute(0)).collect()));
        self
    }

    /// Instruction `index`, with the number of its loop's round and what tells which threads are still in it; the
    /// wavefront makes as many rounds of a loop as `rounds` says.
    fn at(&self, mut index: u64, rounds: impl Fn(&Trips) -> u64) -> Option<(u64, Step, Option<&Trips>)> {
        for (times, body) in &self.0 {
            let length = body.len() as u64;
            let (times, trips) = match times {
                Times::Fixed(times) => (*times, None),
                Times::Each(trips) => (rounds(trips), Some(trips)),
            };
            let all = length.saturating_mul(times);
            if index < all {
                let step = *body.get((index % length) as usize)?;
                return Some((index / length, step, trips));
            }
            index -= all;
        }
        None
    }
}

/// Who accesses what: the arguments of a map.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct At {
    /// The workgroup, and the thread in it.
    pub group: u64,
    pub local: u64,
    /// The array, and which of the accesses to it, as the script numbers them.
    pub array: usize,
    pub nth: u64,
    /// The round of the script's loop.
    pub round: u64,
}

impl At {
    /// The number of the thread among all of a launch whose workgroups have so many.
    pub fn thread(&self, workgroup: u64) -> u64 {
        self.group * workgroup + self.local
    }

    /// The same, for the first `count` threads: the others have nothing to do.
    pub fn below(&self, workgroup: u64, count: u64) -> Option<u64> {
        Some(self.thread(workgroup)).filter(|thread| *thread < count)
    }
}

/// The element of its array that a thread touches, if it takes part.
pub type Map = Arc<dyn Fn(At) -> Option<u64> + Send + Sync>;

/// One launch of a kernel, or (of one thread) a loop of the host.
#[derive(Clone)]
pub struct Launch {
    pub name: &'static str,
    pub groups: u64,
    /// Threads of a workgroup.
    pub workgroup: u64,
    /// The arrays that it touches, in the order in which the script numbers them.
    pub arrays: Vec<Array>,
    pub script: Script,
    pub map: Map,
    pub settings: Settings,
}

impl fmt::Debug for Launch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, groups, workgroup, script, .. } = self;
        write!(f, "{name}: {groups} groups of {workgroup}: {script:?}")
    }
}

impl Launch {
    /// As a step of a kernel.
    pub fn step(self) -> TaskKind {
        TaskKind::Kernel(Arc::new(self))
    }

    /// The threads of a warp.
    fn locals(&self, warp: u32) -> std::ops::Range<u64> {
        let wavefront = u64::from(self.settings.wavefront);
        let first = u64::from(warp) * wavefront;
        first..(first + wavefront).min(self.workgroup)
    }

    fn lanes(&self, warp: u32, trips: Option<&Trips>, at: impl Fn(u64) -> At) -> Option<Lanes> {
        let locals = self.locals(warp);
        lanes::gather((locals.end.saturating_sub(locals.start)) as u32, |lane| {
            let at = at(locals.start + u64::from(lane));
            let inside = trips.is_none_or(|trips| at.round < trips(at.group, at.local));
            inside.then(|| self.address(at))?
        })
    }

    fn address(&self, at: At) -> Option<Address> {
        Some(self.arrays.get(at.array)?.at((self.map)(at)?))
    }
}

impl Kernel for Launch {
    fn name(&self) -> &str {
        self.name
    }
    fn blocks(&self) -> u64 {
        self.groups
    }
    fn warps_per_block(&self) -> u32 {
        self.workgroup.div_ceil(u64::from(self.settings.wavefront)) as u32
    }
    fn operation(&self, block: u64, warp: u32, index: u64) -> Option<Operation> {
        if block >= self.groups || warp >= self.warps_per_block() {
            return None;
        }
        let rounds = |trips: &Trips| self.locals(warp).map(|local| trips(block, local)).max().unwrap_or(0);
        let (round, step, trips) = self.script.at(index, rounds)?;
        let (kind, array, nth) = match step {
            Step::Compute(cycles) => return Some(Operation::Compute(cycles)),
            Step::Barrier => return Some(Operation::Barrier),
            Step::Load(array, nth) => (AccessKind::Load, array, nth),
            Step::Store(array, nth) => (self.settings.store, array, nth),
            Step::Atomic(operation, array, nth) => (AccessKind::Atomic(operation), array, nth),
            Step::Exclusive(array, nth) => (AccessKind::Store, array, nth),
        };
        let width = match step {
            Step::Exclusive(..) => 0,
            _ => self.arrays.get(array)?.width(),
        };
        let lanes = self.lanes(warp, trips, |local| At { group: block, local, array, nth, round });
        // An instruction without active lanes still issues.
        let Some(lanes) = lanes else { return Some(Operation::Compute(1)) };
        Some(common::access(kind, width, lanes, self.settings.seed))
    }
    fn footprint(&self) -> Vec<Range> {
        self.arrays.iter().flat_map(Array::ranges).collect()
    }
    fn launch_overhead(&self) -> u64 {
        self.settings.launch
    }
}

impl Program for Launch {
    fn operation(&self, index: u64) -> Option<Operation> {
        Kernel::operation(self, 0, 0, index)
    }
    fn footprint(&self) -> Vec<Range> {
        Kernel::footprint(self)
    }
}

/// A loop of the host.
#[derive(Clone, Debug)]
pub struct HostLoop {
    pub arrays: Vec<Array>,
    pub script: Script,
}

impl HostLoop {
    /// Adds the loop to the steps of a kernel; its loads get what GPUs wrote as the settings say: all GPUs are
    /// flushed before it, or each load of one of the arrays `written` is preceded by an exclusive access request.
    pub fn add(
        self,
        steps: &mut Vec<TaskKind>,
        settings: Settings,
        written: &[usize],
        map: impl Fn(At) -> Option<u64> + Send + Sync + 'static,
    ) {
        let mut script = self.script;
        match settings.host {
            HostPart::LeftOut => return,
            HostPart::Flushes => steps.push(TaskKind::Flush { below: String::new() }),
            HostPart::Asks => script.synchronise(written),
        }
        let settings = Settings { wavefront: 1, store: AccessKind::Store, launch: 0, ..settings };
        let (arrays, map) = (self.arrays, Arc::new(map));
        let host = Launch { name: "host", groups: 1, workgroup: 1, arrays, script, map, settings };
        let operations = Operations::Computed(Arc::new(host));
        steps.push(TaskKind::Program { agent: HOST.to_owned(), warp: None, operations });
    }
}

impl Script {
    /// Puts an exclusive access request before each load of one of `arrays`.
    fn synchronise(&mut self, arrays: &[usize]) {
        for (_, body) in &mut self.0 {
            let before = |step: &Step| match *step {
                Step::Load(array, nth) if arrays.contains(&array) => Some(Step::Exclusive(array, nth)),
                _ => None,
            };
            *body = body.iter().flat_map(|step| before(step).into_iter().chain([*step])).collect();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(script: &Script, rounds: u64) -> Vec<(u64, Step)> {
        let at = |index| script.at(index, |_| rounds).map(|(round, step, _)| (round, step));
        (0..99).map_while(at).collect()
    }

    #[test]
    fn loops_follow_each_other() {
        let script = Script::default()
            .then(2, [Step::Load(0, 0), Step::Compute(3)])
            .then(0, [Step::Barrier])
            .then_each(|_, _| 0, [Step::Barrier])
            .then(1, [Step::Compute(0), Step::Store(1, 7)]);
        let load = |round| (round, Step::Load(0, 0));
        let compute = |round| (round, Step::Compute(3));
        let end = (0, Step::Store(1, 7));
        assert_eq!(all(&script, 0), [load(0), compute(0), load(1), compute(1), end]);
        let barrier = |round| (round, Step::Barrier);
        assert_eq!(all(&script, 2), [load(0), compute(0), load(1), compute(1), barrier(0), barrier(1), end]);
        assert_eq!(script.at(u64::MAX, |_| 0).map(|(round, ..)| round), None);
    }

    #[test]
    fn a_wavefront_goes_on_until_its_last_thread_is_done() {
        let given = super::super::Parameters::default();
        let settings = Settings { wavefront: 4, ..super::super::testing::settings(&given) };
        let launch = Launch {
            name: "loops",
            groups: 1,
            workgroup: 6,
            arrays: vec![super::super::testing::array(64, 4)],
            script: Script::default().then_each(|_, local| local, [Step::Load(0, 0)]),
            map: Arc::new(|at: At| Some(at.round)),
            settings,
        };
        let active = |warp: u32| -> Vec<u32> {
            let all = (0..).map_while(|index| Kernel::operation(&launch, 0, warp, index));
            all.map(|operation| match operation {
                Operation::Access(access) => access.lanes.count(),
                _ => 0,
            })
            .collect()
        };
        assert_eq!(active(0), [3, 2, 1]);
        assert_eq!(active(1), [2, 2, 2, 2, 1]);
    }

    #[test]
    fn what_gpus_wrote_is_asked_for_before_it_is_read() {
        let mut script = Script::default().then(1, [Step::Load(0, 0), Step::Load(1, 4), Step::Store(1, 4)]);
        script.synchronise(&[1]);
        let all: Vec<_> = all(&script, 0).into_iter().map(|(_, step)| step).collect();
        assert_eq!(all, [Step::Load(0, 0), Step::Exclusive(1, 4), Step::Load(1, 4), Step::Store(1, 4)]);
    }
}
