//! Digests at intervals: when one is due, and whether a run made again agrees with them.

use crate::machine::Machine;
use crate::model::inspect::Inspect;
use crate::model::time::EventNumber;

/// The digest of the whole machine at a position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mark {
    pub event: EventNumber,
    pub cycle: u64,
    pub digest: u64,
}

impl Mark {
    /// The mark of this moment.
    #[must_use]
    pub fn of(machine: &Machine) -> Self {
        let cycle = machine.time_base().cycle(machine.tick());
        Self { event: machine.event(), cycle, digest: machine.digest() }
    }
}

/// The first marks are so many events apart, and later ones by a 32nd to a 16th of the run so far: a digest reads the
/// whole machine, so that there must not be too many.
const FIRST: EventNumber = 256;

/// Tells when the next mark is due.
#[derive(Clone, Copy, Debug)]
pub struct Marker {
    due: EventNumber,
}

impl Default for Marker {
    fn default() -> Self {
        Self { due: FIRST }
    }
}

impl Marker {
    /// The mark of this moment, if one is due.
    pub fn look(&mut self, machine: &Machine) -> Option<Mark> {
        if machine.event() < self.due {
            return None;
        }
        self.due = machine.event() + (machine.event() / 32).next_power_of_two().max(FIRST);
        Some(Mark::of(machine))
    }
}

/// A run that was made again was not the same: the last mark that it agreed with, and the first that it did not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Differs {
    /// The events from here on, from 0 if no mark agreed ...
    pub after: Mark,
    /// ... up to here made something else.
    pub expected: Mark,
    /// How it is there; nothing if the run did not get so far.
    pub found: Option<Mark>,
}

/// Compares a run with marks, which it must come to one after the other.
#[derive(Clone, Debug)]
pub struct Verifier {
    marks: std::vec::IntoIter<Mark>,
    last: Mark,
    next: Option<Mark>,
    /// Marks that agreed.
    pub agreed: u64,
}

impl Verifier {
    /// A verifier for a run that begins with `machine`.
    #[must_use]
    pub fn new(machine: &Machine, marks: impl IntoIterator<Item = Mark>) -> Self {
        let mut marks = marks.into_iter().collect::<Vec<_>>().into_iter();
        let next = marks.next();
        Self { marks, last: Mark::of(machine), next, agreed: 0 }
    }

    /// The position up to which it wants to see the run.
    #[must_use]
    pub fn next(&self) -> Option<EventNumber> {
        self.next.map(|mark| mark.event)
    }

    /// Looks at the machine, after every event.
    ///
    /// # Errors
    /// If it is not as it was.
    pub fn look(&mut self, machine: &Machine) -> Result<(), Differs> {
        while let Some(expected) = self.next.filter(|mark| machine.event() >= mark.event) {
            let found = Mark::of(machine);
            if found != expected {
                return Err(Differs { after: self.last, expected, found: Some(found) });
            }
            self.last = expected;
            self.agreed += 1;
            self.next = self.marks.next();
        }
        Ok(())
    }

    /// The run is over.
    ///
    /// # Errors
    /// If it should have gone on.
    pub fn finish(self, machine: &Machine) -> Result<u64, Differs> {
        match self.next {
            None => Ok(self.agreed),
            Some(expected) => {
                let found = Some(Mark::of(machine)).filter(|found| found.event >= expected.event);
                Err(Differs { after: self.last, expected, found })
            }
        }
    }
}
