//! The window of the log that the screen shows.

use crate::model::component::ComponentId;
use crate::model::message::TxnNumber;
use crate::model::record::{Record, RecordId};
use crate::model::time::EventNumber;

use super::text::{Names, describe};
use crate::model::address::Range;

/// Records up to the position that match the filter.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Log {
    /// The filter as typed; empty for none.
    pub filter: String,
    /// Oldest first.
    pub lines: Vec<LogLine>,
    /// Matching records before and after these lines, up to the position; `more` if there are any that were not counted.
    pub before: usize,
    pub after: usize,
}

/// One record as a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogLine {
    pub id: RecordId,
    pub cycle: u64,
    pub kind: &'static str,
    /// Where, if it has a place.
    pub at: Option<ComponentId>,
    /// What happened, without the kind and the place.
    pub text: String,
    pub range: Option<Range>,
    pub txn: Option<TxnNumber>,
    pub because: Option<EventNumber>,
}

impl LogLine {
    #[must_use]
    pub fn new(record: &Record, names: &Names) -> Self {
        Self {
            id: record.id,
            cycle: record.cycle,
            kind: record.kind(),
            at: record.place(),
            text: describe(record, names),
            range: record.range,
            txn: record.txn,
            because: record.because,
        }
    }
}
