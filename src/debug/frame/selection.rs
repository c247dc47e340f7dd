//! What is selected: linked over all panes.

use crate::model::address::Address;
use crate::model::component::ComponentId;
use crate::model::message::TxnNumber;
use crate::model::record::{Record, RecordId};

/// What the user has selected. Each part is shown wherever it appears.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Selection {
    pub block: Option<Address>,
    /// A node, agent or link.
    pub component: Option<ComponentId>,
    /// Warp of `component`, if that is an agent.
    pub warp: Option<u32>,
    pub txn: Option<TxnNumber>,
    /// A record of the log.
    pub record: Option<RecordId>,
}

impl Selection {
    /// The block and transaction that these records speak of, for a screen that follows what happens.
    #[must_use]
    pub fn following(records: &[Record], before: Self) -> Self {
        let of_txn = records.iter().find(|record| record.txn.is_some() && record.range.is_some());
        let any = of_txn.or(records.iter().find(|record| record.range.is_some()));
        let Some(record) = any else {
            return before;
        };
        Self {
            block: record.range.map(|range| range.start).or(before.block),
            txn: record.txn.or(before.txn),
            ..Self::default()
        }
    }

    /// What is selected, and for the rest what is followed.
    #[must_use]
    pub fn or(self, followed: Self) -> Self {
        Self { block: self.block.or(followed.block), txn: self.txn.or(followed.txn), ..self }
    }
}
