//! What the whole run has been like, from the machine's own counters, so that a fast run without records shows too:
//! how much coherence traffic there was along it, and where kernels ran and checks failed.

use std::collections::BTreeSet;

use super::frame::session::{Activity, MarkKind};
use super::subject::Subject;
use crate::model::time::EventNumber;

/// Most samples; when they are too many, every second one goes.
const MOST: usize = 1 << 10;

/// Most marks of one kind.
const MARKS: usize = 256;

/// Samples of a run at equal distances, from its first position on.
#[derive(Clone, Debug)]
pub struct Profile {
    start: EventNumber,
    spacing: u64,
    /// Probes sent up to each sample.
    probes: Vec<u64>,
    marks: BTreeSet<(EventNumber, MarkKind)>,
    /// Checks that had failed and kernels that had begun when they were last looked at.
    seen: (usize, usize),
}

impl Profile {
    /// A profile that starts where `machine` is.
    #[must_use]
    pub fn new(machine: &dyn Subject) -> Self {
        let probes = vec![machine.probes()];
        Self { start: machine.event(), spacing: 1, probes, marks: BTreeSet::new(), seen: (0, 0) }
    }

    /// What is known up to where `machine` is.
    #[must_use]
    pub fn until(&self, machine: &dyn Subject) -> Self {
        let events = machine.event().saturating_sub(self.start);
        let samples = usize::try_from(events / self.spacing).unwrap_or(usize::MAX).saturating_add(1);
        let mut known = self.clone();
        known.probes.truncate(samples);
        known.marks.retain(|(event, _)| *event <= machine.event());
        known.seen = (machine.violations().len(), machine.launches().len());
        known
    }

    /// The next position to be sampled.
    #[must_use]
    pub fn due(&self) -> EventNumber {
        self.start.saturating_add((self.probes.len() as u64).saturating_mul(self.spacing))
    }

    /// Samples `machine`, which is at the position that is due.
    pub fn sample(&mut self, machine: &dyn Subject) {
        self.probes.push(machine.probes());
        self.find(machine);
        if self.probes.len() > MOST {
            let mut keep = [true, false].into_iter().cycle();
            self.probes.retain(|_| keep.next().unwrap_or(true));
            self.spacing *= 2;
        }
    }

    /// Takes the checks that have failed, the kernels that have begun, and where injected faults struck, lanes turned or ways changed
    /// hands, in `machine` up to its position.
    pub fn find(&mut self, machine: &dyn Subject) {
        let (failed, launches) = (machine.violations(), machine.launches());
        for violation in failed.iter().take(MARKS).skip(self.seen.0) {
            self.marks.insert((violation.event, MarkKind::Violation));
        }
        for event in launches.iter().take(MARKS).skip(self.seen.1) {
            self.marks.insert((*event, MarkKind::Kernel));
        }
        self.marks.extend(machine.struck().iter().map(|event| (*event, MarkKind::Fault)));
        let kinds = [MarkKind::Lanes, MarkKind::Ways];
        for (events, kind) in machine.rearranged().into_iter().zip(kinds) {
            self.marks.extend(events.into_iter().map(|event| (event, kind)));
        }
        self.seen = (self.seen.0.max(failed.len()), self.seen.1.max(launches.len()));
    }

    /// Where something happened that is marked whether or not there are records of it.
    pub fn marks(&self) -> impl Iterator<Item = (EventNumber, MarkKind)> + '_ {
        self.marks.iter().copied()
    }

    /// How much happened along the run.
    #[must_use]
    pub fn activity(&self) -> Activity {
        Activity { start: self.start, spacing: self.spacing, probes: self.probes.clone() }
    }
}

#[cfg(test)]
mod tests {
    use super::super::timeline::{Budget, Timeline};
    use super::super::toy::Toy;
    use super::*;

    #[test]
    fn a_long_run_is_sampled_from_end_to_end_however_it_was_walked() {
        let walk = |stops: &[u64]| {
            let mut timeline = Timeline::new(Toy::flawed(100_000, 777), Budget::default());
            for stop in stops {
                timeline.goto(*stop);
            }
            let marks: Vec<_> = timeline.profile().marks().collect();
            (timeline.profile().activity(), marks)
        };
        let (activity, marks) = walk(&[100_000]);
        assert!((MOST / 2..=MOST).contains(&activity.probes.len()), "{}", activity.probes.len());
        let last = activity.probes.len() as u64 - 1;
        assert_eq!(activity.probes.last(), Some(&(last * activity.spacing / 10)));
        assert!(last * activity.spacing > 99_000);
        assert_eq!(marks, [(777, MarkKind::Violation)]);
        assert_eq!(walk(&[5_000, 10, 60_000, 59_999, 100_000, 3]), (activity, marks));
    }
}
