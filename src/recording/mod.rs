//! Recordings: everything that a run was made of, as text, so that it can be made again bit for bit.
//!
//! A [`Recording`] holds the scenario and the files that it used ([`Origin`]), what was done to the machine on the way
//! ([`Input`]), digests at intervals ([`Mark`]), and how it ended. It knows no scenario: `scenario` opens it into a
//! machine. On disk ([`write`], [`read`]) each line carries a check over itself and all lines before it, so that a
//! file cut off at any byte is good up to there, and one that was changed is refused with its line.

mod input;
pub mod line;
mod mark;
mod origin;
pub mod read;
mod trace;
pub mod write;

pub use input::{Input, VERBS};
pub use mark::{Differs, Mark, Marker, Verifier};
pub use origin::Origin;
pub use read::read;
pub use trace::TraceFile;
pub use write::Writer;

use crate::model::time::EventNumber;

/// The version of the format that is written; older ones are read.
pub const FORMAT: u32 = 1;

/// How a recorded run ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct End {
    pub mark: Mark,
    pub how: Ending,
    /// What an exploration found there. That a request can wait for ever, say, is not to be seen in the machine.
    pub found: Option<String>,
}

/// Why a recording ends where it ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    Finished,
    Deadlock,
    /// A check of the protocol failed.
    Violation,
    /// An expectation failed.
    Failed,
    /// The limit of cycles was reached.
    Limit,
    Interrupted,
    /// A moment that somebody wanted to keep.
    Moment,
}

impl Ending {
    pub const ALL: [Self; 7] = [
        Self::Finished,
        Self::Deadlock,
        Self::Violation,
        Self::Failed,
        Self::Limit,
        Self::Interrupted,
        Self::Moment,
    ];

    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Finished => "finished",
            Self::Deadlock => "deadlock",
            Self::Violation => "violation",
            Self::Failed => "failed",
            Self::Limit => "limit",
            Self::Interrupted => "interrupted",
            Self::Moment => "moment",
        }
    }

    /// Whether whoever opens the recording wants to see its end, not its beginning.
    #[must_use]
    pub fn is_of_interest(self) -> bool {
        matches!(self, Self::Deadlock | Self::Violation | Self::Failed | Self::Moment)
    }
}

/// A run that can be made again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recording {
    pub origin: Origin,
    /// What was done to the machine, each before the event that follows this position; ascending.
    pub inputs: Vec<(EventNumber, Input)>,
    /// Ascending.
    pub marks: Vec<Mark>,
    /// Missing if it was cut off.
    pub end: Option<End>,
}

impl Recording {
    /// A run of `origin` of which nothing is known yet.
    #[must_use]
    pub fn new(origin: Origin) -> Self {
        Self { origin, inputs: Vec::new(), marks: Vec::new(), end: None }
    }

    /// Adds what was done to the machine after `event`, and after all inputs so far.
    #[must_use]
    pub fn input(mut self, event: EventNumber, input: Input) -> Self {
        // Each input is an event.
        let event = self.inputs.last().map_or(event, |(last, _)| event.max(last.saturating_add(1)));
        self.inputs.push((event, input));
        self
    }

    /// The last position that it says something about.
    #[must_use]
    pub fn last(&self) -> EventNumber {
        let ends = self.end.as_ref().map(|end| end.mark.event);
        let marked = self.marks.last().map(|mark| mark.event);
        ends.or(marked).unwrap_or(0)
    }

    /// All its digests, ascending, that of its end included.
    pub fn digests(&self) -> impl Iterator<Item = Mark> + '_ {
        self.marks.iter().copied().chain(self.end.as_ref().map(|end| end.mark))
    }
}

#[cfg(test)]
mod tests;
