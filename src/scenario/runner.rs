//! Runs a prepared scenario without a screen.

use std::ops::ControlFlow;

use crate::machine::{Machine, StepOutcome};
use crate::model::fault::Fault;
use crate::model::inspect::Inspect;
use crate::model::record::{Record, Records};
use crate::model::time::EventNumber;
use crate::recording::{Differs, Ending, Mark, Recording, Verifier};

use super::checker::{Checker, Ended, Failure};

/// Events between two looks at whether to go on.
const SLICE: EventNumber = 4096;

/// A machine that runs under the eyes of its checker.
#[derive(Debug)]
pub struct Runner {
    machine: Machine,
    checker: Checker,
    records: Records,
    ended: Option<Ended>,
    /// The digests that were recorded, of a recording.
    recorded: Option<Verifier>,
    /// What was recorded may go on after a failed check, at which this run ends.
    goes_past_checks: bool,
    /// What the exploration that has made a recording found at its end, which need not be seen in the machine: that a request waits
    /// for ever, say.
    found: Option<String>,
    /// How the machine was after its last event, once it has been told.
    last: Option<Mark>,
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
    /// Injected faults that have changed nothing, or never can on this machine; none that are for the user to find.
    pub idle_faults: Vec<Fault>,
}

impl Runner {
    /// `listen` makes records even if no expectation needs them.
    #[must_use]
    pub fn new(machine: Machine, mut checker: Checker, listen: bool) -> Self {
        let on = listen || checker.needs_records();
        let records = Records { on, list: Vec::new() };
        // It may begin where a check has failed before.
        checker.begin(&machine, machine.violations());
        let ended = checker.violated().then_some(Ended::Violation);
        Self {
            machine,
            checker,
            records,
            ended,
            recorded: None,
            goes_past_checks: false,
            found: None,
            last: None,
        }
    }

    /// The same, of a recording: its states must be those that were recorded.
    #[must_use]
    pub fn as_recorded(self, recording: &Recording) -> Self {
        let end = recording.end.as_ref();
        let found = end.and_then(|end| end.found.clone());
        let recorded = Some(Verifier::new(&self.machine, recording.digests()));
        let goes_past_checks = end.is_some_and(|end| end.how == Ending::Moment);
        let mut runner = Self { recorded, goes_past_checks, found, ..self };
        // A moment may have been kept before the first event.
        runner.compare();
        runner
    }

    #[must_use]
    pub fn machine(&self) -> &Machine {
        &self.machine
    }

    /// What has failed up to here.
    #[must_use]
    pub fn failures(&self) -> &[Failure] {
        self.checker.failures()
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
            let known = self.machine.violations().len();
            let outcome = self.machine.step(&mut self.records);
            // The last checks of a machine that comes to rest may make records too.
            if outcome == StepOutcome::Ran || !self.records.list.is_empty() {
                self.checker.observe(&self.machine, &self.records.list);
            }
            self.note_broken(known);
            self.compare();
            self.ended = self.checker.how_ended(outcome, || self.machine.tasks());
        }
        self.ended.as_ref()
    }

    /// Tells the checker of rules that have been broken since there were so many, unless it has seen that in records.
    fn note_broken(&mut self, known: usize) {
        if !self.records.on {
            let broken = self.machine.violations().get(known..).unwrap_or_default();
            self.checker.note_broken(&self.machine, broken);
        }
    }

    /// Runs to the end and tells how; nothing if `go_on`, which is asked from time to time, has had enough.
    pub fn finish(&mut self, mut go_on: impl FnMut(&Machine) -> ControlFlow<()>) -> Option<Ended> {
        while self.advance(SLICE).is_none() {
            if go_on(&self.machine).is_break() {
                return None;
            }
        }
        self.ended.clone()
    }

    /// The same; `each` sees every event and its records, those of the event that ends a run with a violation, too, and may have
    /// had enough after any.
    pub fn finish_seen(
        &mut self,
        mut each: impl FnMut(&Machine, &[Record]) -> ControlFlow<()>,
        mut go_on: impl FnMut(&Machine) -> ControlFlow<()>,
    ) -> Option<Ended> {
        loop {
            for _ in 0..SLICE {
                let ended = self.step().cloned();
                let enough = each(&self.machine, &self.records.list).is_break();
                if ended.is_some() || enough {
                    return ended;
                }
            }
            if go_on(&self.machine).is_break() {
                return None;
            }
        }
    }

    /// Executes up to so many events, and tells how the run ended once it has. Where nobody has to look after each of them, the
    /// machine runs through all at once.
    fn advance(&mut self, events: u64) -> Option<&Ended> {
        if self.ended.is_none() && self.is_unwatched() {
            let known = self.machine.violations().len();
            let outcome = self.machine.run_unless_broken(self.machine.event().saturating_add(events));
            self.note_broken(known);
            self.ended = self.checker.how_ended(outcome, || self.machine.tasks());
            return self.ended.as_ref();
        }
        for _ in 0..events {
            if self.step().is_some() {
                break;
            }
        }
        self.ended.as_ref()
    }

    fn is_unwatched(&self) -> bool {
        !self.records.on && self.recorded.is_none() && self.checker.awaits_end()
    }

    /// Whether this is the state that was recorded here.
    fn compare(&mut self) {
        let Some(recorded) = &mut self.recorded else { return };
        if let Err(differs) = recorded.look(&self.machine) {
            self.differs(&differs);
        }
    }

    fn differs(&mut self, differs: &Differs) {
        let (from, to) = (differs.after.event, differs.expected.event);
        let text =
            format!("this is not the run that was recorded: it differs between events {from} and {to}");
        self.checker.fail_here(&self.machine, text);
        self.recorded = None;
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
        // It may have ended before what was recorded did.
        let is_cut_short = ended == Ended::Violation && self.goes_past_checks;
        let recorded = self.recorded.take().filter(|_| !is_cut_short);
        if let Some(Err(differs)) = recorded.map(|recorded| recorded.finish(&self.machine)) {
            self.differs(&differs);
        }
        self.last = Some(Mark::of(&self.machine));
        self.checker.finish(&self.machine, &ended);
        let is_whole = ended != Ended::Interrupted && self.checker.failures().is_empty();
        if let Some(found) = self.found.take().filter(|_| is_whole) {
            self.checker
                .fail_here(&self.machine, format!("the exploration that has recorded this found {found}"));
        }
        let mut report = self.so_far(ended);
        // Whoever waited for an event after the limit waited until then.
        if let Ended::Limit(cycle, _) = report.ended {
            self.machine.wait_until(self.machine.time_base().tick_of_cycle(cycle));
            report.cycles = cycle;
        }
        report
    }

    /// The machine after its last event, as a recording keeps it: before it waited for the end of the time.
    #[must_use]
    pub fn mark(&self) -> Mark {
        self.last.unwrap_or_else(|| Mark::of(&self.machine))
    }

    /// What is known of a run that was broken off: expectations about what was still to come have not failed.
    #[must_use]
    pub fn so_far(&self, ended: Ended) -> Report {
        let Mark { event, cycle, digest } = self.mark();
        Report {
            passed: self.checker.failures().is_empty(),
            ended,
            expectations: self.checker.expectations().len(),
            cycles: cycle,
            events: event,
            accesses: self.machine.accesses(),
            digest,
            failures: self.checker.failures().to_vec(),
            idle_faults: self.machine.idle_faults(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnostic::Source;
    use crate::recording::{End, Mark};
    use crate::scenario::{Options, Scenario};

    #[test]
    fn a_run_that_nobody_watches_is_the_same() {
        let text = "machine = \"tiny/umh-2gpu\"\n[[kernel]]\nname = \"reduction\"\nwith = { size = 256, workgroup = 8, wavefront = 4 }\n\
                    [[expect]]\nthat = [\"state of gpu0.cu0.l1 block 0 is I\"]\n";
        let scenario = Scenario::parse(Source::new("test", text), None).unwrap();
        let run = |listen| {
            let prepared = scenario.prepare(&Options::default()).unwrap();
            let mut runner = Runner::new(prepared.machine, prepared.checker, listen);
            assert_ne!(runner.is_unwatched(), listen);
            let ended = runner.finish(|_| ControlFlow::Continue(())).unwrap();
            runner.report(ended)
        };
        assert_eq!(run(true), run(false));
    }

    #[test]
    fn a_run_is_left_where_it_is_when_somebody_has_had_enough() {
        let text = "machine = \"tiny/umh-2gpu\"\n[[kernel]]\nname = \"reduction\"\nwith = { size = 65536 }\n";
        let scenario = Scenario::parse(Source::new("test", text), None).unwrap();
        let prepared = scenario.prepare(&Options::default()).unwrap();
        let mut runner = Runner::new(prepared.machine, prepared.checker, true);
        let mut seen = 0;
        let few = |_: &Machine, _: &[Record]| {
            seen += 1;
            if seen < 10 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        };
        assert_eq!(runner.finish_seen(few, |_| ControlFlow::Continue(())), None, "that is enough");
        assert_eq!((seen, runner.machine().event()), (10, 10));
        assert_eq!(runner.finish(|_| ControlFlow::Break(())), None, "it is stopped once it is asked");
        assert_eq!(runner.machine().event(), 10 + SLICE);
    }

    #[test]
    fn an_expectation_about_events_sees_each_of_them() {
        let scenario = Scenario::load("umh/fig5-b1").unwrap();
        let prepared = scenario.prepare(&Options::default()).unwrap();
        assert!(!Runner::new(prepared.machine, prepared.checker, false).is_unwatched());
    }

    #[test]
    fn a_recording_must_come_to_the_states_that_were_recorded() {
        let scenario = Scenario::load("umh/fig5-b1").unwrap();
        let prepared = || scenario.prepare(&Options::default()).unwrap();
        let mut recording = scenario.recording("umh/fig5-b1", &Options::default()).unwrap();
        let mut machine = prepared().machine;
        machine.run_until(20);
        let mark = Mark::of(&machine);
        let mut run = |mark: Mark| {
            recording.marks = vec![mark];
            prepared().runner().as_recorded(&recording).run(|_, _| ControlFlow::Continue(()))
        };
        assert!(run(mark).passed);
        for wrong in [Mark { digest: mark.digest ^ 1, ..mark }, Mark { event: 1 << 40, ..mark }] {
            let report = run(wrong);
            let message = report.failures.first().map_or("", |failure| failure.message.as_str());
            assert!(message.starts_with("this is not the run that was recorded"), "{message}");
        }
    }

    #[test]
    fn a_moment_may_be_kept_at_the_first_event_and_after_a_failed_check() {
        let text = "machine = \"tiny/umh-2gpu\"\nfault = [{ name = \"skip-invalidation\" }]\n\
                    [[program]]\nby = \"gpu0.cu0\"\ndo = [\"load 0x1000\"]\n\
                    [[do]]\nby = \"gpu1.cu0\"\ndelay = 3000\nstore = { address = 0x1000, bytes = \"07\" }\n";
        let scenario = Scenario::parse(Source::new("t", text), None).unwrap();
        let prepared = || scenario.prepare(&Options::default()).unwrap();
        let mut recording = scenario.recording("t", &Options::default()).unwrap();
        let mut machine = prepared().machine;
        for limit in [0, EventNumber::MAX] {
            machine.run_until(limit);
            recording.end = Some(End { mark: Mark::of(&machine), how: Ending::Moment, found: None });
            let report = prepared().runner().as_recorded(&recording).run(|_, _| ControlFlow::Continue(()));
            assert_eq!(report.ended, Ended::Violation);
            let [failure] = &*report.failures else { panic!("{:?}", report.failures) };
            assert!(!failure.message.contains("recorded"), "{failure:?}");
        }
        let mut begun = prepared();
        begun.machine = machine;
        let report = begun.runner().run(|_, _| ControlFlow::Continue(()));
        assert_eq!((&report.ended, report.failures.len()), (&Ended::Violation, 1), "it holds from the start");
        assert!(report.failures[0].message.contains("before the run begins"), "{report:?}");
    }
}
