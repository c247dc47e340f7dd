//! The random tester: accesses from everywhere to a few contended blocks, with values checked.
//!
//! The accesses are dealt into rounds: each is a run of its own with a seed of its own, so that rounds can be run on
//! several processors and come to the same. The first round in which a rule breaks, or nothing can move, ends it.

mod accesses;
mod coverage;
mod program;
mod shrink;

use std::sync::Arc;

pub use coverage::{Coverage, TableCoverage};
pub use program::Stream;
pub use shrink::{Small, shrink};

use crate::machine::{Blueprint, Machine, StepOutcome};
use crate::model::inspect::Inspect;
use crate::model::random::seed_of;
use crate::model::record::Records;
use crate::workload::Workload;
use accesses::Ground;

/// What is tested.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The machine, with nothing to do.
    pub blueprint: Blueprint,
    pub accesses: u64,
    pub seed: u64,
}

/// Accesses of a round.
pub const ROUND: u64 = 100_000;

/// Every so many rounds pairs of cells are counted too, which takes longer.
const WATCHED: u64 = 8;

/// What a round came to.
#[derive(Clone, Debug, Default)]
pub struct Round {
    pub accesses: u64,
    pub events: u64,
    pub cycles: u64,
    pub coverage: Coverage,
    pub failure: Option<Failure>,
    /// It was broken off before its end.
    pub cut: bool,
}

/// Why a round ended too early.
#[derive(Clone, Debug)]
pub struct Failure {
    pub round: u64,
    pub seed: u64,
    pub event: u64,
    /// The rule that broke, or `stuck`.
    pub rule: String,
    pub text: String,
    /// The machine where it happened, and as it began.
    pub machine: Box<Machine>,
    pub begun: Box<Machine>,
    /// What was done.
    pub streams: Vec<Stream>,
}

impl Plan {
    #[must_use]
    pub fn rounds(&self) -> u64 {
        self.accesses.div_ceil(ROUND).max(1)
    }

    /// Carries out one round, as far as it comes until it is to stop.
    ///
    /// # Errors
    /// If the machine cannot be built.
    pub fn round(&self, number: u64, stop: &dyn Fn() -> bool) -> crate::diagnostic::Result<Round> {
        let accesses = ROUND.min(self.accesses.saturating_sub(number * ROUND)).max(1);
        let seed = seed_of(self.seed, number);
        let probe = Machine::build(&self.blueprint)?;
        let streams = Ground::of(&self.blueprint.spec, &probe).streams(accesses, seed);
        let machine = self.machine(&streams)?;
        let mut coverage = Coverage::default();
        let watched = number.is_multiple_of(WATCHED).then_some(&mut coverage);
        let begun = machine.clone();
        let Ran { machine, found, cut } = run(machine, watched, stop);
        coverage.count(&machine);
        let failure = found.map(|(rule, text)| Failure {
            round: number,
            seed,
            event: machine.event(),
            rule,
            text,
            machine: Box::new(machine.clone()),
            begun: Box::new(begun),
            streams,
        });
        Ok(Round {
            accesses: machine.accesses(),
            events: machine.event(),
            cycles: machine.time_base().cycle(machine.tick()),
            coverage,
            failure,
            cut,
        })
    }

    /// The machine with these streams to carry out.
    fn machine(&self, streams: &[Stream]) -> crate::diagnostic::Result<Machine> {
        let tasks = streams.iter().enumerate().map(|(index, stream)| stream.task(index)).collect();
        let workload = Arc::new(Workload { tasks, ..Workload::default() });
        let blueprint = Blueprint { workload, ..self.blueprint.clone() };
        let mut machine = Machine::build(&blueprint)?;
        machine.set_transaction_limit(Some(LIMIT));
        Ok(machine)
    }

    /// The rule that these streams break, if they do, and a sentence.
    #[must_use]
    pub fn breaks(&self, streams: &[Stream], stop: &dyn Fn() -> bool) -> Option<(String, String)> {
        self.ran(streams, stop)?.found
    }

    fn ran(&self, streams: &[Stream], stop: &dyn Fn() -> bool) -> Option<Ran> {
        Some(run(self.machine(streams).ok()?, None, stop))
    }
}

/// Cycles that a transaction may take.
pub const LIMIT: u64 = 1_000_000;

/// Cycles in which some access must begin, however slow the machine is.
const PATIENCE: u64 = 64 * LIMIT;

/// Events between two looks at that, and at whether to stop.
const LOOK: u64 = 1024;

/// What a run came to.
struct Ran {
    machine: Machine,
    /// The rule that broke, or why it could not go on, and a sentence.
    found: Option<(String, String)>,
    /// It was to stop before its end.
    cut: bool,
}

/// Runs to the end, to the first rule that breaks, or until it is to stop.
fn run(mut machine: Machine, mut watched: Option<&mut Coverage>, stop: &dyn Fn() -> bool) -> Ran {
    let mut records = Records { on: watched.is_some(), list: Vec::new() };
    let mut begun = (0, 0);
    loop {
        if machine.event() % LOOK == LOOK - 1 {
            if stop() {
                return Ran { machine, found: None, cut: true };
            }
            if let Some(text) = is_idle(&machine, &mut begun) {
                return Ran { machine, found: Some(("stuck".into(), text)), cut: false };
            }
        }
        let outcome = machine.step(&mut records);
        if let Some(coverage) = &mut watched {
            coverage.observe(&machine, &records.list);
        }
        if let Some(found) = ending(&machine, outcome) {
            return Ran { machine, found, cut: false };
        }
    }
}

/// Whether no access has begun for long, with how many had begun in the end, and when.
fn is_idle(machine: &Machine, begun: &mut (u64, u64)) -> Option<String> {
    let (cycle, accesses) = (machine.time_base().cycle(machine.tick()), machine.accesses());
    if accesses > begun.0 {
        *begun = (accesses, cycle);
    }
    (cycle > begun.1 + PATIENCE).then(|| format!("no access has begun since cycle {}", begun.1))
}

/// What a run has come to, if this was its end.
fn ending(machine: &Machine, outcome: StepOutcome) -> Option<Option<(String, String)>> {
    if let Some(violation) = machine.violations().first() {
        return Some(Some((violation.rule.to_owned(), violation.text.to_string())));
    }
    let found = |rule: &str, text: String| Some(Some((rule.to_owned(), text)));
    match outcome {
        StepOutcome::Ran => None,
        StepOutcome::Finished => Some(None),
        StepOutcome::Stuck => found("stuck", "nothing can move".into()),
        StepOutcome::Limit(cycle) => found("limit", format!("it still goes on at cycle {cycle}")),
    }
}

#[cfg(test)]
mod tests;
