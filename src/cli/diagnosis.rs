//! What a run that could not go on is diagnosed with, and the graph of it as a file; what broke a rule.

use std::path::Path;

use super::work::Work;
use crate::debug::blame::blame_run;
use crate::debug::diagnosis::{Diagnosis, diagnose, doom, dot, trace};
use crate::diagnostic::{Result, write_whole};
use crate::machine::Machine;
use crate::model::inspect::Inspect;
use crate::scenario::{Ended, Report};

/// Runs of more events are not run again to find the records behind a diagnosis.
const MOST_EVENTS: u64 = 5_000_000;

/// In runs of more events it is not looked for since when it could not be avoided.
const MOST_TRIED: u64 = 200_000;

/// The diagnosis of a run that came to rest too early, went on for ever, or let a transaction wait for too long.
///
/// `start` is the same machine before its first event.
pub fn of(report: &Report, machine: &Machine, start: &Machine) -> Option<Diagnosis> {
    if !matches!(report.ended, Ended::Stuck(_) | Ended::Limit(..)) && !machine.is_stalled() {
        return None;
    }
    let mut diagnosis = diagnose(machine)?;
    if machine.event() <= MOST_EVENTS {
        trace(&mut diagnosis, Box::new(start.clone()));
    }
    if machine.event() <= MOST_TRIED {
        doom(&mut diagnosis, start.event(), |event| {
            let mut fork = start.clone();
            fork.run_until(event);
            Some(fork)
        });
    }
    Some(diagnosis)
}

/// What the tables decided of the block of which a run has broken a rule; `None` of a long run, and where no table decides.
///
/// `start` is the same machine before its first event.
pub fn blame(work: &Work, machine: &Machine, start: &Machine) -> Option<Vec<String>> {
    if machine.violations().is_empty() || machine.event() > MOST_EVENTS {
        return None;
    }
    blame_run(start, machine, &work.scenario.all_tables(&work.options).ok()?)
}

/// Writes the wait-for graph for Graphviz.
pub fn write_dot(path: &Path, diagnosis: &Diagnosis, machine: &Machine) -> Result<()> {
    write_whole(path, dot(diagnosis, machine.components()).as_bytes())
}
