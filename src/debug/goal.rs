//! Where a verb wants to go: a property of a position, the same for both directions.
//!
//! Every verb means "the next position that has it" and its reverse "the last one before the cursor that has it",
//! so a verb and its reverse undo each other from any such position.

use super::subject::Subject;
use crate::model::message::TxnNumber;
use crate::model::record::{Record, What};
use crate::model::time::EventNumber;
use crate::query::Filter;

/// A property of a position: of its last event, that is.
#[derive(Clone, Debug)]
pub enum Goal {
    /// Every position.
    Event,
    /// The first event of a cycle.
    NewCycle,
    /// The first position in or after this cycle.
    Cycle(u64),
    /// A block changed its stable state.
    Transition,
    /// A transaction ended: this one, or any.
    Ended(Option<TxnNumber>),
    /// A transaction began: this one, or any.
    Began(Option<TxnNumber>),
    /// Something happened because of this event.
    Effect(EventNumber),
    /// A record that matches.
    Record(Filter),
    /// No position: only a breakpoint or an end stops it.
    Nowhere,
}

impl Goal {
    /// Whether it must see the records.
    #[must_use]
    pub fn wants_records(&self) -> bool {
        !matches!(self, Self::Event | Self::NewCycle | Self::Cycle(_) | Self::Nowhere)
    }

    /// The cycle before an event, as far as it matters to this goal: to find it is a division for each event.
    #[must_use]
    pub fn cycle_before(&self, machine: &dyn Subject) -> u64 {
        if matches!(self, Self::NewCycle | Self::Cycle(_)) { machine.cycle() } else { 0 }
    }

    /// Whether the very first position has it, where nothing has happened yet.
    #[must_use]
    pub fn holds_at_start(&self, machine: &dyn Subject) -> bool {
        match self {
            Self::Event | Self::NewCycle => true,
            Self::Cycle(cycle) => machine.cycle() >= *cycle,
            _ => false,
        }
    }

    /// Whether the position of `machine` has it. `before` is the cycle of the position before, `records` are those of
    /// the event between them.
    #[must_use]
    pub fn holds(&self, before: u64, machine: &dyn Subject, records: &[Record]) -> bool {
        match self {
            Self::Event => true,
            Self::NewCycle => machine.cycle() > before,
            Self::Cycle(cycle) => before < *cycle && machine.cycle() >= *cycle,
            Self::Transition => records.iter().any(is_change),
            Self::Ended(txn) => records.iter().any(|record| {
                matches!(record.what, What::Complete { .. }) && (txn.is_none() || record.txn == *txn)
            }),
            Self::Began(txn) => records.iter().any(|record| {
                matches!(record.what, What::Issue { .. }) && (txn.is_none() || record.txn == *txn)
            }),
            Self::Effect(cause) => records.iter().any(|record| record.because == Some(*cause)),
            Self::Record(filter) => records.iter().any(|record| filter.matches(record, machine.components())),
            Self::Nowhere => false,
        }
    }
}

/// Whether a record is a change of a stable state.
#[must_use]
pub fn is_change(record: &Record) -> bool {
    matches!(record.what, What::Transition { from, to, .. } if from != to)
}
