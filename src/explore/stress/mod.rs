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
pub use shrink::shrink;

use crate::machine::{Blueprint, Machine, StepOutcome};
use crate::model::inspect::Inspect;
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

    /// Carries out one round.
    ///
    /// # Errors
    /// If the machine cannot be built.
    pub fn round(&self, number: u64) -> crate::diagnostic::Result<Round> {
        Ok(self.round_until(number, &|| false)?.unwrap_or_default())
    }

    /// The same, unless it is to stop; then none.
    ///
    /// # Errors
    /// If the machine cannot be built.
    pub fn round_until(
        &self,
        number: u64,
        stop: &dyn Fn() -> bool,
    ) -> crate::diagnostic::Result<Option<Round>> {
        let accesses = ROUND.min(self.accesses.saturating_sub(number * ROUND)).max(1);
        let seed = mix(self.seed, number);
        let probe = Machine::build(&self.blueprint)?;
        let streams = Ground::of(&self.blueprint.spec, &probe).streams(accesses, seed);
        let machine = self.machine(&streams)?;
        let mut coverage = Coverage::default();
        let watched = number.is_multiple_of(WATCHED).then_some(&mut coverage);
        let begun = machine.clone();
        let Some((machine, found)) = run(machine, watched, stop) else { return Ok(None) };
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
        Ok(Some(Round {
            accesses: machine.accesses(),
            events: machine.event(),
            cycles: machine.time_base().cycle(machine.tick()),
            coverage,
            failure,
        }))
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
    pub fn breaks(&self, streams: &[Stream]) -> Option<(String, String)> {
        let machine = self.machine(streams).ok()?;
        run(machine, None, &|| false)?.1
    }
}

/// Cycles that a transaction may take.
pub const LIMIT: u64 = 1_000_000;

/// Cycles in which some access must begin, however slow the machine is.
const PATIENCE: u64 = 64 * LIMIT;

/// Events between two looks at that, and at whether to stop.
const LOOK: u64 = 1024;

/// A machine that has run to its end, or to the first rule that broke: its name, and a sentence.
type Ran = (Machine, Option<(String, String)>);

/// Runs to the end, or to the first rule that breaks; none if it is to stop.
fn run(mut machine: Machine, mut watched: Option<&mut Coverage>, stop: &dyn Fn() -> bool) -> Option<Ran> {
    let mut records = Records { on: watched.is_some(), list: Vec::new() };
    let mut begun = (0, 0);
    loop {
        if machine.event() % LOOK == LOOK - 1 {
            if stop() {
                return None;
            }
            let (cycle, accesses) = (machine.time_base().cycle(machine.tick()), machine.accesses());
            if accesses > begun.0 {
                begun = (accesses, cycle);
            } else if cycle > begun.1 + PATIENCE {
                return Some((
                    machine,
                    Some(("stuck".into(), format!("no access has begun since cycle {}", begun.1))),
                ));
            }
        }
        let outcome = machine.step(&mut records);
        if let Some(coverage) = &mut watched {
            coverage.observe(&machine, &records.list);
        }
        if let Some(violation) = machine.violations().first() {
            let found = (violation.rule.to_owned(), violation.text.to_string());
            return Some((machine, Some(found)));
        }
        match outcome {
            StepOutcome::Ran => {}
            StepOutcome::Finished => return Some((machine, None)),
            StepOutcome::Stuck => return Some((machine, Some(("stuck".into(), "nothing can move".into())))),
            StepOutcome::Limit(cycle) => {
                return Some((machine, Some(("limit".into(), format!("it still goes on at cycle {cycle}")))));
            }
        }
    }
}

/// A seed for each round, so that neighbouring ones have nothing in common.
fn mix(seed: u64, round: u64) -> u64 {
    let mut state = seed ^ round.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    state = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    state = (state ^ (state >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    state ^ (state >> 31)
}

#[cfg(test)]
mod tests;
