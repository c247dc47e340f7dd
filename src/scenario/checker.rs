//! Holds a run against its expectations, event by event.

use std::sync::Arc;

use crate::machine::{StepOutcome, TaskView, Violation};
use crate::model::component::Components;
use crate::model::record::{Record, What};
use crate::model::text::plural;
use crate::model::time::EventNumber;
use crate::query::Subject;

use super::expectation::{Expectation, When};
use super::file::Ending;

/// Something that did not go as expected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    pub message: String,
    pub cycle: u64,
    pub event: EventNumber,
    /// The line of the scenario file, if an expectation failed.
    pub line: Option<usize>,
    /// What was expected, in the words of the file.
    pub expectation: Option<String>,
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ended {
    Finished,
    /// Nothing can move; the tasks that have not ended.
    Stuck(Vec<String>),
    /// A check of the protocol failed.
    Violation,
    /// The limit of cycles was reached; the tasks that have not ended.
    Limit(u64, Vec<String>),
    /// Somebody stopped it.
    Interrupted,
}

/// Failures that are kept, at most.
const MOST_FAILURES: usize = 100;

/// How far an expectation has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Progress {
    /// Records that matched.
    count: u64,
    /// It has been looked at for the last time.
    settled: bool,
}

/// The expectations of a scenario and how they fare. A clone remembers a moment to come back to.
#[derive(Clone, Debug)]
pub struct Checker {
    expectations: Arc<[Expectation]>,
    ends: Ending,
    progress: Vec<Progress>,
    failures: Failures,
    violated: bool,
}

/// What has failed so far.
#[derive(Clone, Debug, Default)]
struct Failures(Vec<Failure>);

impl Checker {
    #[must_use]
    pub fn new(expectations: Vec<Expectation>, ends: Ending) -> Self {
        let progress = vec![Progress::default(); expectations.len()];
        Self {
            expectations: expectations.into(),
            ends,
            progress,
            failures: Failures::default(),
            violated: false,
        }
    }

    /// The expectations, in the order of the file.
    #[must_use]
    pub fn expectations(&self) -> &[Expectation] {
        &self.expectations
    }

    /// What has failed so far.
    #[must_use]
    pub fn failures(&self) -> &[Failure] {
        &self.failures.0
    }

    /// A rule had to be broken, and has been.
    #[must_use]
    pub fn is_done(&self) -> bool {
        self.violated && self.ends == Ending::Violation
    }

    /// How a run has ended whose last step came to this, with these tasks; `None` if it goes on.
    #[must_use]
    pub fn how_ended(&self, outcome: StepOutcome, tasks: impl FnOnce() -> Vec<TaskView>) -> Option<Ended> {
        let unfinished = || {
            let left = tasks().into_iter().filter(|task| task.ended.is_none());
            left.map(|task| task.id.to_string()).collect()
        };
        match outcome {
            _ if self.violated() => Some(Ended::Violation),
            StepOutcome::Ran => None,
            StepOutcome::Finished => Some(Ended::Finished),
            StepOutcome::Stuck => Some(Ended::Stuck(unfinished())),
            StepOutcome::Limit(cycle) => Some(Ended::Limit(cycle, unfinished())),
        }
    }

    /// Whether the run is to end with all its work done.
    #[must_use]
    pub fn is_to_finish(&self) -> bool {
        self.ends == Ending::Finished
    }

    /// Whether a check of the protocol has failed.
    #[must_use]
    pub fn violated(&self) -> bool {
        self.violated
    }

    /// Whether an expectation has been looked at for the last time.
    #[must_use]
    pub fn is_settled(&self, expectation: usize) -> bool {
        self.progress.get(expectation).is_some_and(|progress| progress.settled)
    }

    /// Whether it has to see the records of every event.
    #[must_use]
    pub fn needs_records(&self) -> bool {
        let by_record = |when: &When| matches!(when, When::On(..) | When::Never(_) | When::Count(..));
        self.expectations.iter().any(|expectation| by_record(&expectation.when))
    }

    /// Whether nothing that is left to check can be told before the end.
    #[must_use]
    pub fn awaits_end(&self) -> bool {
        let mut all = self.expectations.iter().zip(&self.progress);
        all.all(|(expectation, progress)| progress.settled || matches!(expectation.when, When::End))
    }

    /// Looks at a machine in which these checks have failed before the run begins; the first of them counts.
    pub fn begin(&mut self, subject: &dyn Subject, failed: &[Violation]) {
        let Some(Violation { event, rule, text }) = failed.first() else { return };
        self.violated = true;
        if self.ends != Ending::Violation {
            let message = format!("{rule}: {text} (since event {event}, before the run begins)");
            self.failures.fail(place(subject), message);
        }
    }

    /// Rules that the last event has broken, where nobody has listened to it.
    pub fn note_broken(&mut self, subject: &dyn Subject, broken: &[Violation]) {
        for Violation { rule, text, .. } in broken {
            self.violated = true;
            if self.ends != Ending::Violation {
                self.failures.fail(place(subject), format!("{rule}: {text}"));
            }
        }
    }

    /// Looks at the machine after an event that made `records`.
    pub fn observe(&mut self, subject: &dyn Subject, records: &[Record]) {
        self.violations(records);
        for (expectation, progress) in self.expectations.iter().zip(&mut self.progress) {
            if !progress.settled {
                self.failures.look(expectation, progress, subject, records);
            }
        }
    }

    /// Looks at the machine when the run is over, and tells whether all held.
    pub fn finish(&mut self, subject: &dyn Subject, ended: &Ended) -> bool {
        self.ending(subject, ended);
        if let (Ended::Finished, Some(event)) = (ended, subject.next_input()) {
            let message = format!("the input at event {event} was not made: the run ended before it");
            self.failures.fail(place(subject), message);
        }
        let is_cut_short = *ended == Ended::Violation && self.ends != Ending::Violation;
        if is_cut_short {
            self.not_reached(subject);
        }
        for (expectation, progress) in self.expectations.iter().zip(&mut self.progress) {
            if !progress.settled && !is_cut_short {
                self.failures.last_look(expectation, *progress, subject);
            }
            progress.settled = true;
        }
        self.failures.0.is_empty()
    }

    /// A failed check ends a run: what was to be looked at later says nothing about its cause.
    fn not_reached(&mut self, subject: &dyn Subject) {
        let left = self.progress.iter().filter(|progress| !progress.settled).count();
        if left > 0 {
            let left = plural(left as u64, "expectation");
            let message = format!("not reached, since the run ended at the failed check: {left}");
            self.failures.fail(place(subject), message);
        }
    }

    fn violations(&mut self, records: &[Record]) {
        for record in records {
            if let What::Violation { rule, text } = &record.what {
                self.violated = true;
                if self.ends != Ending::Violation {
                    self.failures.fail(record_place(record), format!("{rule}: {text}"));
                }
            }
        }
    }

    /// Whether the run ended as the scenario says.
    fn ending(&mut self, subject: &dyn Subject, ended: &Ended) {
        let message = match (ended, self.ends) {
            (Ended::Finished, Ending::Finished)
            | (Ended::Stuck(_), Ending::Deadlock)
            | (Ended::Violation, _)
            | (Ended::Limit(..), Ending::Limit) => return,
            (Ended::Finished, Ending::Deadlock) => {
                "the run finished, but a deadlock was expected".to_string()
            }
            (Ended::Finished | Ended::Stuck(_) | Ended::Limit(..), Ending::Violation) => {
                "no check failed, but one was expected to".into()
            }
            (Ended::Finished | Ended::Stuck(_), Ending::Limit) => {
                "the run ended before max-cycles, but was expected not to".into()
            }
            (Ended::Stuck(tasks), Ending::Finished) => {
                format!("deadlock: nothing can move, and {} not ended", have(tasks))
            }
            // With paged memory pages may still be on their way when all work is done.
            (Ended::Limit(cycles, tasks), Ending::Finished | Ending::Deadlock) if tasks.is_empty() => {
                format!("the run has not ended after {cycles} cycles, though all work is done")
            }
            (Ended::Limit(cycles, tasks), Ending::Finished | Ending::Deadlock) => {
                format!("the run has not ended after {cycles} cycles: {} not ended", have(tasks))
            }
            (Ended::Interrupted, _) => "the run was interrupted".into(),
        };
        self.failures.fail(place(subject), message);
    }

    /// What is expected of any run made again does not hold.
    pub(super) fn fail_here(&mut self, subject: &dyn Subject, message: String) {
        self.failures.fail(place(subject), message);
    }
}

impl Failures {
    fn look(
        &mut self,
        expectation: &Expectation,
        progress: &mut Progress,
        subject: &dyn Subject,
        records: &[Record],
    ) {
        let components = subject.components();
        match &expectation.when {
            When::After(id) => {
                progress.settled = subject.is_done(id);
                if progress.settled {
                    self.check(expectation, subject);
                }
            }
            When::At(cycle) => {
                progress.settled = place(subject).0 >= *cycle;
                if progress.settled {
                    self.check(expectation, subject);
                }
            }
            When::On(query, nth) => {
                let matches = |record: &&Record| query.filter.matches(record, components);
                progress.count += records.iter().filter(matches).count() as u64;
                progress.settled = progress.count >= *nth;
                if progress.settled {
                    self.check(expectation, subject);
                }
            }
            When::Always => progress.settled = !self.check(expectation, subject),
            When::Never(query) => {
                if let Some(record) = records.iter().find(|r| query.filter.matches(r, components)) {
                    progress.settled = true;
                    let message = format!("never {}, but {}", query.text, told(record, components));
                    self.fail_expectation(expectation, record_place(record), message);
                }
            }
            When::Count(query, _, most) => {
                for record in records.iter().filter(|record| query.filter.matches(record, components)) {
                    progress.count += 1;
                    if progress.count > *most {
                        progress.settled = true;
                        let next = told(record, components);
                        let message = format!("more than {most} of {}: {next}", query.text);
                        self.fail_expectation(expectation, record_place(record), message);
                        break;
                    }
                }
            }
            When::End => {}
        }
    }

    fn last_look(&mut self, expectation: &Expectation, progress: Progress, subject: &dyn Subject) {
        let here = place(subject);
        match &expectation.when {
            When::End | When::At(_) => {
                self.check(expectation, subject);
            }
            When::After(id) => {
                self.fail_expectation(expectation, here, format!("{id} has not ended"));
            }
            When::On(query, nth) => {
                let message = match progress.count {
                    0 => format!("never seen: {}", query.text),
                    count => format!("seen {count} times, not {nth}: {}", query.text),
                };
                self.fail_expectation(expectation, here, message);
            }
            When::Count(query, least, most) if progress.count < *least => {
                let wanted = if least == most { least.to_string() } else { format!("at least {least}") };
                let message = format!("{} of {}, expected {wanted}", progress.count, query.text);
                self.fail_expectation(expectation, here, message);
            }
            When::Count(..) | When::Always | When::Never(_) => {}
        }
    }

    /// Checks what must hold now; tells whether it does.
    fn check(&mut self, expectation: &Expectation, subject: &dyn Subject) -> bool {
        let mut all = true;
        for condition in &expectation.that {
            if let Some(complaint) = condition.predicate.complaint(subject) {
                all = false;
                let (cycle, event) = place(subject);
                let message = format!("{}: {complaint}{}", expectation.when.told(), about(expectation));
                let told = Some(format!("{}: {}", expectation.when.told(), condition.text));
                self.put(Failure { message, cycle, event, line: Some(condition.line), expectation: told });
            }
        }
        all
    }

    fn fail_expectation(
        &mut self,
        expectation: &Expectation,
        (cycle, event): (u64, EventNumber),
        message: String,
    ) {
        let message = message + &about(expectation);
        let told = Some(expectation.when.told());
        self.put(Failure { message, cycle, event, line: Some(expectation.line), expectation: told });
    }

    /// Something failed that stands nowhere in the file.
    fn fail(&mut self, (cycle, event): (u64, EventNumber), message: String) {
        self.put(Failure { message, cycle, event, line: None, expectation: None });
    }

    fn put(&mut self, failure: Failure) {
        if self.0.len() < MOST_FAILURES {
            self.0.push(failure);
        }
    }
}

fn place(subject: &dyn Subject) -> (u64, EventNumber) {
    (subject.time_base().cycle(subject.tick()), subject.event())
}

fn record_place(record: &Record) -> (u64, EventNumber) {
    (record.cycle, record.id.event)
}

/// Why it is expected, if the file says so.
fn about(expectation: &Expectation) -> String {
    expectation.about.as_ref().map_or(String::new(), |about| format!(" ({about})"))
}

/// A record in a few words.
fn told(record: &Record, components: &Components) -> String {
    format!("record {}.{} is one, at {}", record.id.event, record.id.ordinal, components.path(record.at))
}

fn have(tasks: &[String]) -> String {
    match tasks {
        [one] => format!("{one} has"),
        [] => "the work has".into(),
        several if several.len() > 8 => format!("{} tasks have", several.len()),
        several => format!("{} have", several.join(", ")),
    }
}
