//! Items that can be pointed at, and what choosing one selects.

use crate::debug::frame::selection::Selection;
use crate::model::address::Address;
use crate::model::component::ComponentId;
use crate::model::message::TxnNumber;
use crate::model::record::RecordId;
use crate::model::state::{Action, State};
use crate::model::time::EventNumber;

/// An item on the screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    Block(Address),
    Component(ComponentId),
    Warp {
        agent: ComponentId,
        warp: u32,
        txn: Option<TxnNumber>,
        /// The page that it waits for.
        page: Option<Address>,
    },
    /// Pages that follow each other.
    Pages {
        first: Address,
        len: u64,
    },
    Txn {
        txn: TxnNumber,
        block: Address,
    },
    /// Somebody who waits.
    Wait {
        at: ComponentId,
        block: Option<Address>,
        txn: Option<TxnNumber>,
    },
    Record {
        id: RecordId,
        at: Option<ComponentId>,
        block: Option<Address>,
        txn: Option<TxnNumber>,
    },
    /// A place on the timeline.
    Event(EventNumber),
    /// A cell of the protocol table.
    Cell(State, Action),
    /// A line of a list that selects nothing.
    Line(u32),
}

impl Target {
    /// The selection after this item was chosen: what it does not speak of stays.
    #[must_use]
    pub fn choose(self, before: Selection) -> Selection {
        match self {
            Self::Block(block) => Selection { block: Some(block), ..before },
            Self::Component(component) => {
                Selection { component: Some(component), warp: None, record: None, ..before }
            }
            Self::Pages { first, len } => {
                let inside = before.block.filter(|block| holds(first, len, *block));
                Selection { block: inside.or(Some(first)), ..before }
            }
            Self::Warp { agent, warp, txn, page } => Selection {
                component: Some(agent),
                warp: Some(warp),
                txn: txn.or(before.txn),
                block: page.or(before.block),
                record: None,
            },
            Self::Wait { at, block, txn } => Selection {
                component: Some(at),
                warp: None,
                block: block.or(before.block),
                txn: txn.or(before.txn),
                record: None,
            },
            Self::Txn { txn, block } => {
                Selection { txn: Some(txn), block: Some(block), ..Selection::default() }
            }
            Self::Record { id, at, block, txn } => Selection {
                record: Some(id),
                component: at.or(before.component),
                warp: None,
                block: block.or(before.block),
                txn: txn.or(before.txn),
            },
            Self::Event(_) | Self::Cell(..) | Self::Line(_) => before,
        }
    }

    /// Whether it is what is selected, or a part of that.
    #[must_use]
    pub fn is_selected(self, by: &Selection) -> bool {
        match self {
            Self::Block(block) => by.block == Some(block),
            Self::Pages { first, len } => by.block.is_some_and(|block| holds(first, len, block)),
            Self::Component(component) => by.component == Some(component),
            Self::Warp { agent, warp, .. } => by.component == Some(agent) && by.warp == Some(warp),
            Self::Wait { at, txn, .. } => by.component == Some(at) && (txn.is_none() || by.txn == txn),
            Self::Txn { txn, .. } => by.txn == Some(txn),
            Self::Record { id, .. } => by.record == Some(id),
            Self::Event(_) | Self::Cell(..) | Self::Line(_) => false,
        }
    }
}

fn holds(first: Address, len: u64, block: Address) -> bool {
    (first.0..first.0.saturating_add(len)).contains(&block.0)
}
