//! The work of a scenario in other orders than its timing gives: up to so many of the events of a run are held back, each by
//! every duration, and every such run is made ("delay-bounded scheduling", Emmi, Qadeer and Rakamaric, POPL 2011). This looks at
//! whole machines, with what has no protocol table: TLBs, drivers, copies, page permissions, tag misses, kernels.
//!
//! What is held back comes later: a message with those behind it, an issue, a page on the link, a walk, a transfer set. First no
//! event is held back, then each one, then each pair; the first level at which something is wrong is the last.

use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use super::hash::wide;
use super::search::{Bound, Counts};
use super::stress::Coverage;
use crate::machine::{Change, Machine, Planned, StepOutcome};
use crate::model::inspect::Inspect;
use crate::model::record::{Records, What};
use crate::model::threads::attend;
use crate::model::time::EventNumber;
use crate::scenario::Checker;

/// Events of a run, times as many as it has if nothing is held back: then it is taken for one that does not end.
const LONGEST: u64 = 64;
/// The same for runs of few events.
const ALLOWANCE: u64 = 65_536;
/// Each duration is so many times the one before.
const FACTOR: u64 = 4;

/// How far to look.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Events of a run that are held back, at most.
    pub holds: u32,
    /// Runs at most.
    pub runs: u64,
    /// Instead of all, so many runs with events and durations by chance, and the seed.
    pub random: Option<(u64, u64)>,
    pub threads: usize,
}

/// An event that is held back: what comes next at a position comes so many cycles later.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Hold {
    pub event: EventNumber,
    pub cycles: u64,
}

/// A rule that does not hold, and what has to be held back for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    pub rule: &'static str,
    pub text: String,
    pub holds: Vec<Hold>,
}

/// What came of it.
#[derive(Clone, Debug)]
pub struct Outcome {
    pub runs: u64,
    /// Events of all runs.
    pub events: u64,
    /// Events of the run in which nothing is held back, and the durations by which each of them is, in cycles.
    pub length: u64,
    pub durations: Vec<u64>,
    /// Nothing if all runs were made.
    pub bound: Option<Bound>,
    pub found: Option<Found>,
    pub coverage: Coverage,
}

/// A machine that runs, with the expectations of its scenario if they are looked at.
#[derive(Clone, Debug)]
pub struct Subject {
    machine: Machine,
    checker: Option<Checker>,
}

impl Subject {
    /// A machine that has not begun. With a checker what it expects must hold, too, whatever is held back.
    #[must_use]
    pub fn new(machine: Machine, checker: Option<Checker>) -> Self {
        Self { machine, checker }
    }

    fn step(&mut self) -> StepOutcome {
        let Some(checker) = &mut self.checker else { return self.machine.step(&mut Records::silent()) };
        let mut records = Records::listening();
        let outcome = self.machine.step(&mut records);
        checker.observe(&self.machine, &records.list);
        outcome
    }

    fn run_until(&mut self, event: EventNumber) {
        if self.checker.is_none() {
            self.machine.run_until(event);
            return;
        }
        while self.machine.event() < event && self.step() == StepOutcome::Ran {}
    }

    fn has_failed(&self) -> bool {
        let expected = self.checker.as_ref().is_some_and(|checker| !checker.failures().is_empty());
        expected || !self.machine.violations().is_empty()
    }

    /// What comes next comes so many cycles later: an event of its own, as a recording has it. `false` if what comes next is done
    /// from outside, as the scenario says.
    fn hold(&mut self, cycles: u64) -> bool {
        let is_next = self.machine.plan_here(planned(self.machine.event(), cycles));
        if is_next {
            self.step();
        }
        is_next
    }

    /// What is wrong with a run whose last step came to this.
    fn wrong(&mut self, outcome: StepOutcome) -> Option<(&'static str, String)> {
        if let Some(violation) = self.machine.violations().first() {
            return Some((violation.rule, violation.text.to_string()));
        }
        self.unmet().or_else(|| unended(&self.machine, outcome)).or_else(|| {
            let (machine, checker) = (&self.machine, self.checker.as_mut()?);
            checker.finish(machine, &checker.how_ended(outcome, || machine.tasks())?);
            self.unmet()
        })
    }

    /// The first expectation that does not hold.
    fn unmet(&self) -> Option<(&'static str, String)> {
        let failure = self.checker.as_ref()?.failures().first()?;
        Some((EXPECTATION, failure.message.clone()))
    }
}

/// What is broken if not a rule, but an expectation of the scenario.
pub const EXPECTATION: &str = "expectation";

/// What the threads share.
struct Search<'a> {
    begun: &'a Subject,
    limits: Limits,
    durations: Vec<u64>,
    /// Events of a run at most.
    longest: u64,
    runs: AtomicU64,
    events: AtomicU64,
    /// The next position, or random run, to begin with.
    next: AtomicU64,
    stop: AtomicBool,
    /// Whether a run was left out since there had been enough.
    cut: AtomicBool,
    /// With the number of its random run.
    found: Mutex<Option<(u64, Found)>>,
    coverage: Mutex<Coverage>,
}

/// One run: its number if it is one by chance, and what it holds back.
#[derive(Debug, Default)]
struct Run {
    number: u64,
    holds: Vec<Hold>,
}

/// Makes the runs of a machine that has not begun. `go_on` is asked now and then.
pub fn explore(begun: &Subject, limits: Limits, mut go_on: impl FnMut(Counts) -> bool) -> Outcome {
    let mut search = Search {
        begun,
        limits,
        durations: Vec::new(),
        longest: u64::MAX,
        runs: AtomicU64::new(0),
        events: AtomicU64::new(0),
        next: AtomicU64::new(0),
        stop: AtomicBool::new(false),
        cut: AtomicBool::new(false),
        found: Mutex::new(None),
        coverage: Mutex::new(Coverage::default()),
    };
    let ended = search.attend(0, 1, &mut go_on, || search.undisturbed());
    let (length, cycles) = ended.first().copied().unwrap_or_default();
    search.durations = durations(cycles);
    search.longest = length.saturating_mul(LONGEST).saturating_add(ALLOWANCE);
    // Which runs are among the first so many does not depend on which thread is faster.
    if limits.runs < u64::MAX {
        search.limits.threads = 1;
    }
    let mut level = 1;
    while level <= limits.holds && search.lock().is_none() && !search.is_stopped() {
        let first = if limits.random.is_some() { limits.holds } else { level };
        search.level(first, length, &mut go_on);
        level = first + 1;
    }
    search.outcome(length)
}

/// From one cycle on, each [`FACTOR`] times the one before, until nothing of a run is left that could come first.
fn durations(cycles: u64) -> Vec<u64> {
    let mut all: Vec<u64> =
        std::iter::successors(Some(1), |last| Some(last * FACTOR)).take_while(|&one| one < cycles).collect();
    all.push(cycles.max(1));
    all
}

impl Search<'_> {
    fn lock(&self) -> std::sync::MutexGuard<'_, Option<(u64, Found)>> {
        self.found.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    fn counts(&self, level: u32) -> Counts {
        let runs = self.runs.load(Ordering::Relaxed);
        Counts { states: runs, transitions: self.events.load(Ordering::Relaxed), depth: u64::from(level) }
    }

    /// The run in which nothing is held back: its events and cycles.
    fn undisturbed(&self) -> (u64, u64) {
        let mut subject = self.begun.clone();
        self.finish(&mut subject, 0, &Run::default(), &mut Coverage::default());
        let machine = &subject.machine;
        (machine.event(), machine.time_base().cycle(machine.tick()))
    }

    /// Every run in which so many events are held back, or as many random ones as shall be.
    fn level(&self, level: u32, length: u64, go_on: &mut impl FnMut(Counts) -> bool) {
        self.next.store(0, Ordering::Relaxed);
        let end = self.limits.random.map_or(length, |(runs, _)| runs);
        let work = || {
            let mut coverage = Coverage::default();
            match self.limits.random {
                Some((_, seed)) => self.walk(level, (length, end), seed, &mut coverage),
                None => self.sweep(level, end, &mut coverage),
            }
            self.coverage.lock().unwrap_or_else(PoisonError::into_inner).add(&coverage);
        };
        self.attend(level, self.limits.threads, go_on, work);
    }

    /// What several threads come to at the same work; it is asked meanwhile whether to go on.
    fn attend<T: Send>(
        &self,
        level: u32,
        threads: usize,
        go_on: &mut impl FnMut(Counts) -> bool,
        work: impl Fn() -> T + Sync,
    ) -> Vec<T> {
        attend(threads, work, || {
            if !go_on(self.counts(level)) {
                self.stop.store(true, Ordering::Relaxed);
            }
        })
    }

    /// Takes positions for the first hold until there are no more. What was found already leaves only earlier ones.
    fn sweep(&self, level: u32, end: u64, coverage: &mut Coverage) {
        let mut subject = self.begun.clone();
        loop {
            let event = self.next.fetch_add(1, Ordering::Relaxed);
            let first = self.lock().as_ref().and_then(|(_, found)| found.holds.first().copied());
            if event >= end || first.is_some_and(|first| first.event < event) || self.is_done() {
                return;
            }
            subject.run_until(event);
            self.hold_here(&subject, level, &mut Run::default(), coverage);
        }
    }

    /// Whether the run that would come next is not to be made.
    fn is_done(&self) -> bool {
        let is_enough = self.runs.load(Ordering::Relaxed) >= self.limits.runs;
        self.cut.fetch_or(is_enough, Ordering::Relaxed);
        is_enough || self.is_stopped()
    }

    /// What comes next is held back by each duration, and then as many more as are left.
    fn hold_here(&self, subject: &Subject, left: u32, run: &mut Run, coverage: &mut Coverage) {
        let event = subject.machine.event();
        for &cycles in &self.durations {
            if self.is_done() {
                return;
            }
            run.holds.push(Hold { event, cycles });
            let mut other = subject.clone();
            if !other.hold(cycles) {
                run.holds.pop();
                return;
            }
            if left > 1 {
                while self.is_under_way(&other) && !self.is_done() {
                    self.hold_here(&other, left - 1, run, coverage);
                    if other.step() != StepOutcome::Ran {
                        break;
                    }
                }
            } else {
                self.finish(&mut other, event, run, coverage);
            }
            run.holds.pop();
        }
    }

    fn is_under_way(&self, subject: &Subject) -> bool {
        !subject.has_failed() && subject.machine.event() < self.longest && !subject.machine.is_finished()
    }

    /// Runs by chance: each holds back some events, and depends on its number and the seed alone.
    fn walk(&self, level: u32, (length, end): (u64, u64), seed: u64, coverage: &mut Coverage) {
        loop {
            let number = self.next.fetch_add(1, Ordering::Relaxed);
            let is_beaten = self.lock().as_ref().is_some_and(|(other, _)| *other < number);
            if number >= end || is_beaten || self.is_done() {
                return;
            }
            let dice = |what: u32, bound: u64| wide(&(seed, number, what)) as u64 % bound.max(1);
            let mut places: Vec<u64> = (0..level).map(|which| dice(2 * which, length)).collect();
            places.sort_unstable();
            places.dedup();
            let mut subject = self.begun.clone();
            let mut run = Run { number, holds: Vec::new() };
            for (place, which) in places.into_iter().zip(0..) {
                subject.run_until(place);
                let choice = dice(2 * which + 1, self.durations.len() as u64) as usize;
                let is_there = subject.machine.event() == place;
                let Some(&cycles) = self.durations.get(choice).filter(|_| is_there) else { break };
                if subject.hold(cycles) {
                    run.holds.push(Hold { event: place, cycles });
                }
            }
            self.finish(&mut subject, 0, &run, coverage);
        }
    }

    /// Runs a machine to its end, and keeps what is wrong with it. `from` is where this run parts from another one.
    fn finish(&self, subject: &mut Subject, from: u64, run: &Run, coverage: &mut Coverage) {
        let mut outcome = StepOutcome::Ran;
        let may_go_on = |subject: &Subject| {
            !subject.has_failed() && subject.machine.event() < self.longest && !self.is_stopped()
        };
        while outcome == StepOutcome::Ran && may_go_on(subject) {
            outcome = subject.step();
        }
        self.runs.fetch_add(1, Ordering::Relaxed);
        self.events.fetch_add(subject.machine.event().saturating_sub(from), Ordering::Relaxed);
        coverage.count(&subject.machine);
        if self.is_stopped() {
            return;
        }
        let Some((rule, text)) = subject.wrong(outcome) else { return };
        let ours = Found { rule, text, holds: run.holds.clone() };
        let mut found = self.lock();
        if found.as_ref().is_none_or(|(number, other)| (run.number, &ours.holds) < (*number, &other.holds)) {
            *found = Some((run.number, ours));
        }
    }

    fn outcome(self, length: u64) -> Outcome {
        let (is_stopped, is_full) = (self.is_stopped(), self.cut.load(Ordering::Relaxed));
        let found = self.found.into_inner().unwrap_or_else(PoisonError::into_inner);
        Outcome {
            runs: self.runs.into_inner(),
            events: self.events.into_inner(),
            length,
            durations: self.durations,
            bound: if found.is_some() {
                Some(Bound::Violation)
            } else if is_stopped {
                Some(Bound::Interrupt)
            } else if is_full {
                Some(Bound::States)
            } else {
                self.limits.random.map(|_| Bound::Random)
            },
            found: found.map(|(_, found)| found),
            coverage: self.coverage.into_inner().unwrap_or_else(PoisonError::into_inner),
        }
    }
}

/// What is held back, in words.
#[must_use]
pub fn told(begun: &Machine, holds: &[Hold]) -> Vec<String> {
    let mut machine = begun.clone();
    let tell = |one: &Hold| {
        machine.run_until(one.event);
        let mut records = Records { on: true, list: Vec::new() };
        machine.plan_here(planned(one.event, one.cycles));
        machine.step(&mut records);
        let text = records.list.iter().find_map(|record| match &record.what {
            What::Input { text } => Some(text.to_string()),
            _ => None,
        });
        format!("after event {}: {}", one.event, text.unwrap_or_default())
    };
    holds.iter().map(tell).collect()
}

fn planned(event: EventNumber, cycles: u64) -> Planned {
    Planned { event, text: format!("hold {cycles}").into(), change: Change::Hold(cycles) }
}

/// The work that has not ended after a step that came to this.
fn unended(machine: &Machine, outcome: StepOutcome) -> Option<(&'static str, String)> {
    match outcome {
        StepOutcome::Finished => None,
        StepOutcome::Stuck => Some(("deadlock", "nothing can move, and there is work left".to_owned())),
        StepOutcome::Ran => {
            let text =
                format!("after {} events, many times as many as usual, it still goes on", machine.event());
            Some(("livelock", text))
        }
        StepOutcome::Limit(cycle) => {
            Some(("livelock", format!("at cycle {cycle}, the last one of the scenario, it still goes on")))
        }
    }
}

#[cfg(test)]
mod tests;
