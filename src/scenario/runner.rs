//! Runs a prepared scenario without a screen.

use std::ops::ControlFlow;

use crate::machine::{Machine, StepOutcome};
use crate::model::inspect::Inspect;
use crate::model::record::{Record, Records};
use crate::model::time::EventNumber;

use super::checker::{Checker, Ended, Failure};

/// A machine that runs under the eyes of its checker.
#[derive(Debug)]
pub struct Runner {
    machine: Machine,
    checker: Checker,
    records: Records,
    ended: Option<Ended>,
}

/// What came of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// It ended as expected and every expectation held.
    pub passed: bool,
    pub ended: Ended,
    /// How many expectations there were.
    pub expectations: usize,
    pub cycles: u64,
    pub events: EventNumber,
    pub accesses: u64,
    pub digest: u64,
    pub failures: Vec<Failure>,
}

impl Runner {
    /// `listen` makes records even if no expectation needs them.
    #[must_use]
    pub fn new(machine: Machine, checker: Checker, listen: bool) -> Self {
        let on = listen || checker.needs_records();
        Self { machine, checker, records: Records { on, list: Vec::new() }, ended: None }
    }

    #[must_use]
    pub fn machine(&self) -> &Machine {
        &self.machine
    }

    #[must_use]
    pub fn checker(&self) -> &Checker {
        &self.checker
    }

    /// The records of the last event.
    #[must_use]
    pub fn records(&self) -> &[Record] {
        &self.records.list
    }

    /// Executes one event and checks; tells how the run ended once it has.
    pub fn step(&mut self) -> Option<&Ended> {
        if self.ended.is_none() {
            self.records.list.clear();
            let outcome = self.machine.step(&mut self.records);
            // The last checks of a machine that comes to rest may make records too.
            if outcome == StepOutcome::Ran || !self.records.list.is_empty() {
                self.checker.observe(&self.machine, &self.records.list);
            }
            self.ended = match outcome {
                _ if self.checker.violated() => Some(Ended::Violation),
                StepOutcome::Ran => None,
                StepOutcome::Finished => Some(Ended::Finished),
                StepOutcome::Stuck => Some(Ended::Stuck(self.unfinished())),
                StepOutcome::Limit(cycle) => Some(Ended::Limit(cycle)),
            };
        }
        self.ended.as_ref()
    }

    fn unfinished(&self) -> Vec<String> {
        let tasks = self.machine.tasks();
        tasks.iter().filter(|task| task.ended.is_none()).map(|task| task.id.to_string()).collect()
    }

    /// Runs to the end, or until `each`, which sees every event's records, breaks it off.
    pub fn run(mut self, mut each: impl FnMut(&Machine, &[Record]) -> ControlFlow<()>) -> Report {
        loop {
            if let Some(ended) = self.step().cloned() {
                return self.report(ended);
            }
            if each(&self.machine, &self.records.list).is_break() {
                return self.report(Ended::Interrupted);
            }
        }
    }

    /// What came of a run that ended so, once the expectations have been looked at for the last time.
    pub fn report(&mut self, ended: Ended) -> Report {
        self.checker.finish(&self.machine, &ended);
        self.so_far(ended)
    }

    /// What is known of a run that was broken off: expectations about what was still to come have not failed.
    #[must_use]
    pub fn so_far(&self, ended: Ended) -> Report {
        Report {
            passed: self.checker.failures().is_empty(),
            ended,
            expectations: self.checker.expectations().len(),
            cycles: self.machine.time_base().cycle(self.machine.tick()),
            events: self.machine.event(),
            accesses: self.machine.accesses(),
            digest: self.machine.digest(),
            failures: self.checker.failures().to_vec(),
        }
    }
}
