//! What goes wrong in a run, as a kind: a smaller scenario must fail in the same way.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::diagnostic::Result;
use crate::model::time::EventNumber;
use crate::scenario::checker::{Checker, Ended};
use crate::scenario::draft::Draft;
use crate::scenario::expectation::{Expectation, When};
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

/// How a run of `draft` fails, and at which event; nothing if it does not within `limit` events, or somebody stops it.
///
/// # Errors
/// If it is no scenario.
pub fn failure(
    draft: &Draft,
    trace: Option<&Workload>,
    limit: EventNumber,
    stop: &AtomicBool,
) -> Result<Option<(Failure, EventNumber)>> {
    let trace = trace.filter(|_| draft.head.contains_key("trace")).cloned();
    let prepared = draft.scenario("shrunk")?.prepare(&Options { trace, ..Options::default() })?;
    let mut runner = Runner::new(prepared.machine, prepared.checker, true);
    let start = crate::model::inspect::Inspect::event(runner.machine());
    for events in 0..limit {
        if let Some(ended) = runner.step().cloned() {
            return Ok(kind(&mut runner, ended, start + events));
        }
        if events % SLICE == SLICE - 1 && stop.load(Ordering::Relaxed) {
            return Ok(None);
        }
    }
    Ok(None)
}

fn kind(runner: &mut Runner, ended: Ended, event: EventNumber) -> Option<(Failure, EventNumber)> {
    let report = runner.report(ended);
    let failure = match report.ended {
        Ended::Violation => Failure::Violation(runner.machine().violations().first()?.rule),
        Ended::Stuck(_) => Failure::Deadlock,
        _ => match report.failures.iter().find_map(|failure| failure.line) {
            Some(line) => Failure::Expectation(expectation(runner.checker(), line)?),
            None if matches!(report.ended, Ended::Limit(..)) && !report.passed => Failure::Limit,
            None => return None,
        },
    };
    Some((failure, event))
}

/// The text of the expectation that stands at `line` of its file.
fn expectation(checker: &Checker, line: usize) -> Option<String> {
    let before = checker.expectations().iter().filter(|expectation| expectation.line <= line);
    before.max_by_key(|expectation| expectation.line).map(text)
}

fn text(expectation: &Expectation) -> String {
    let that: Vec<_> = expectation.that.iter().map(|condition| condition.text.as_str()).collect();
    let that = that.join("; ");
    match &expectation.when {
        When::Never(query) => format!("never {}", query.text),
        When::Count(query, least, u64::MAX) => format!("at least {least} of {}", query.text),
        When::Count(query, least, most) => format!("{least} to {most} of {}", query.text),
        When::On(query, _) => format!("on {}: {that}", query.text),
        _ => that,
    }
}
