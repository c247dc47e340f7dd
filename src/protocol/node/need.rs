//! What is under way at a node for a block, and what it needs to go on: what the wait-for graph is made of.

use crate::model::address::{Address, Range};
use crate::model::component::ComponentId;
use crate::model::message::{MessageKind, TxnNumber};
use crate::model::time::Tick;
use crate::model::wait::Doing;

/// Something under way for a block, and what it needs to go on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stand {
    /// The block; of a queue or a service, the unit.
    pub block: Address,
    pub doing: Doing,
    pub since: Tick,
    pub txn: Option<TxnNumber>,
    /// All of these must come.
    pub needs: Vec<Need>,
}

/// What something needs to go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// Something else at this node.
    Own(Address, Doing),
    /// One of the node's MSHRs.
    Mshr,
    /// A way of this set.
    Way(u32),
    /// The parent's grant, or the bytes of a fetch, of this request.
    Grant { parent: ComponentId, request: MessageKind, range: Range },
    /// The data that go with a grant that has come.
    PeerData { parent: ComponentId, range: Range },
    /// A child's answer to a probe.
    Answer { child: ComponentId, range: Range },
    /// A child's acknowledgement of its grant.
    GrantAck { child: ComponentId, range: Range },
    /// That a child has given up all that lives in this memory, whose remote directory is full.
    Purged { child: ComponentId, range: Range },
    /// The parent's acknowledgement of a writeback.
    EvictAck { parent: ComponentId, range: Range },
    /// The parent's reply to an access handed to it.
    Reply { parent: ComponentId, range: Range },
}

/// A block that keeps something, since when, and what must end before it lets go.
pub type Keeper = (Address, Tick, Vec<Need>);
