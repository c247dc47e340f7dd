//! What goes wrong in a run, as a kind: a smaller scenario must fail in the same way.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::diagnostic::Result;
use crate::model::time::EventNumber;
use crate::scenario::checker::Ended;
use crate::scenario::draft::Draft;
use crate::scenario::prepare::Options;
use crate::scenario::runner::Runner;
use crate::workload::Workload;

/// A kind of failure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// This rule of the protocol does not hold.
    Violation(&'static str),
    /// Work is left and nothing can move.
    Deadlock,
    /// It goes on for too long.
    Limit,
    /// This expectation does not hold.
    Expectation(String),
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Violation(rule) => write!(f, "the check {rule} fails"),
            Self::Deadlock => f.write_str("deadlock"),
            Self::Limit => f.write_str("it does not end"),
            Self::Expectation(text) => write!(f, "not as expected: {text}"),
        }
    }
}

/// Events between two looks at whether to stop.
const SLICE: u64 = 4096;

/// How a run of `draft` fails, in all its ways, and at which event; nothing if it does not within `limit` events, or somebody
/// stops it.
///
/// # Errors
/// If it is no scenario.
pub fn failures(
    draft: &Draft,
    trace: Option<&Workload>,
    limit: EventNumber,
    stop: &AtomicBool,
) -> Result<(Vec<Failure>, EventNumber)> {
    let trace = trace.filter(|_| draft.head.contains_key("trace")).cloned();
    let prepared = draft.scenario("shrunk")?.prepare(&Options { trace, ..Options::default() })?;
    let mut runner = Runner::new(prepared.machine, prepared.checker, true);
    let start = crate::model::inspect::Inspect::event(runner.machine());
    for events in 0..limit {
        if let Some(ended) = runner.step().cloned() {
            return Ok((kinds(&mut runner, ended), start + events));
        }
        if events % SLICE == SLICE - 1 && stop.load(Ordering::Relaxed) {
            break;
        }
    }
    Ok((Vec::new(), start))
}

fn kinds(runner: &mut Runner, ended: Ended) -> Vec<Failure> {
    let report = runner.report(ended);
    let expected: Vec<_> = report.failures.iter().filter_map(|failure| failure.expectation.clone()).collect();
    let ends_as_said =
        !expected.is_empty() && report.failures.iter().all(|failure| failure.expectation.is_some());
    match report.ended {
        _ if ends_as_said => {}
        Ended::Violation => {
            let broken = runner.machine().violations().first();
            return broken.map(|violation| Failure::Violation(violation.rule)).into_iter().collect();
        }
        Ended::Stuck(_) => return vec![Failure::Deadlock],
        _ => {}
    }
    match report.ended {
        Ended::Limit(..) if expected.is_empty() && !report.passed => vec![Failure::Limit],
        _ => expected.into_iter().map(Failure::Expectation).collect(),
    }
}
