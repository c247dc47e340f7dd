//! What is selected: linked over all panes.

use crate::model::address::Address;
use crate::model::component::ComponentId;
use crate::model::message::TxnNumber;
use crate::model::record::RecordId;

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
    /// What is selected, and for the rest what is followed.
    #[must_use]
    pub fn or(self, followed: Self) -> Self {
        Self { block: self.block.or(followed.block), txn: self.txn.or(followed.txn), ..self }
    }
}
