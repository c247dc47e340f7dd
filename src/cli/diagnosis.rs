//! What a run that could not go on is diagnosed with, and the graph of it as a file; what broke a rule.

use std::path::Path;

use super::interrupt::Interrupt;
use super::work::Work;
use crate::debug::blame::{blame_livelock, blame_run};
use crate::debug::diagnosis::{Diagnosis, diagnose, doom, dot, trace};
use crate::diagnostic::{Result, write_whole};
use crate::machine::{Machine, StepOutcome};
use crate::model::inspect::Inspect;
use crate::model::time::EventNumber;
use crate::scenario::{Ended, Report};

/// Runs of more events are not run again to find the records behind a diagnosis, and since when it could not be avoided.
const MOST_EVENTS: u64 = 5_000_000;

/// Events between two looks at whether to go on.
const SLICE: EventNumber = 1 << 14;

/// The diagnosis of a run that came to rest too early, went on for ever, or let a transaction wait for too long.
///
/// `start` is the same machine before its first event. An interrupt ends it with what is known so far.
pub fn of(report: &Report, machine: &Machine, start: &Machine, interrupt: &Interrupt) -> Option<Diagnosis> {
    if !matches!(report.ended, Ended::Stuck(_) | Ended::Limit(..)) && !machine.is_stalled() {
        return None;
    }
    let mut diagnosis = diagnose(machine)?;
    if machine.event() <= MOST_EVENTS {
        let goes_on = || !interrupt.is_raised();
        trace(&mut diagnosis, Box::new(start.clone()), &goes_on);
        let mut halved = Halved { machines: vec![start.clone()] };
        doom(&mut diagnosis, start.event(), |event| halved.at(event, &goes_on), &goes_on);
    }
    Some(diagnosis)
}

/// A run that is halved again and again: of the positions that were asked for the last one, and the one that it was run from. The
/// next one lies behind either, so that all of them together take little more than one run.
struct Halved {
    machines: Vec<Machine>,
}

impl Halved {
    /// The machine at a position, unless somebody has enough.
    fn at(&mut self, event: EventNumber, goes_on: &dyn Fn() -> bool) -> Option<Machine> {
        while self.machines.len() > 1 && self.machines.last().is_some_and(|last| last.event() > event) {
            self.machines.pop();
        }
        let base = self.machines.pop()?;
        let mut there = base.clone();
        while there.event() < event && goes_on() {
            if there.run_until(event.min(there.event() + SLICE)) != StepOutcome::Ran {
                break;
            }
        }
        if !goes_on() {
            return None;
        }
        self.machines = vec![base, there.clone()];
        Some(there)
    }
}

/// What the tables decided of the block of which a run has broken a rule, or which goes round in a livelock; `None` of a long run, and where
/// no table decides.
///
/// `start` is the same machine before its first event.
pub fn blame(
    work: &Work,
    machine: &Machine,
    start: &Machine,
    diagnosis: Option<&Diagnosis>,
) -> Option<Vec<String>> {
    if machine.event() > MOST_EVENTS || (machine.violations().is_empty() && diagnosis.is_none()) {
        return None;
    }
    let tables = work.scenario.all_tables(&work.options).ok()?;
    blame_run(start, machine, &tables).or_else(|| blame_livelock(start, machine, diagnosis?, &tables))
}

/// Writes the wait-for graph for Graphviz.
pub fn write_dot(path: &Path, diagnosis: &Diagnosis, machine: &Machine) -> Result<()> {
    write_whole(path, dot(diagnosis, machine.components()).as_bytes())
}
