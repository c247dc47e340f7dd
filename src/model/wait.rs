//! The wait-for graph of a machine: who cannot go on, and on what that depends.

use super::address::Address;
use super::component::{ComponentId, Components};
use super::message::{Network, TxnNumber};
use super::page::Page;
use super::time::{EventNumber, Tick};
use super::warp::by_warp;

/// One link of a chain of waiting.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WaitLink {
    pub at: ComponentId,
    pub text: String,
    pub since: Option<Tick>,
}

/// What a node is doing about a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Doing {
    /// Requests or accesses wait there for their turn.
    Queues,
    /// It has asked its parent.
    Asks,
    /// It serves a child's request.
    Serves,
    /// It answers a probe of its parent.
    Answers,
    /// It recalls what its children hold, to evict the block.
    Evicts,
    /// It waits for the acknowledgement of what it has written back.
    WritesBack,
    /// It has handed accesses to its parent.
    Forwards,
    /// It keeps an MSHR for the block: all that this is needed for.
    KeepsMshr,
    /// It keeps a way for the block: all that is under way for it.
    KeepsWay,
}

impl Doing {
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Queues => "queue",
            Self::Asks => "request",
            Self::Serves => "service",
            Self::Answers => "probe",
            Self::Evicts => "eviction",
            Self::WritesBack => "writeback",
            Self::Forwards => "forward",
            Self::KeepsMshr => "mshr",
            Self::KeepsWay => "way",
        }
    }
}

/// Somebody or something that waits, or is waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Party {
    /// A warp slot of a compute unit, or of a core.
    Warp(ComponentId, u32),
    /// What a node is doing about a block (or about one unit of it).
    Block { at: ComponentId, block: Address, doing: Doing },
    /// The MSHRs of a node: one of them must become free.
    Mshrs(ComponentId),
    /// A set of a node: one of its ways must become free.
    Ways(ComponentId, u32),
    /// The head of a virtual network from one node to another, whose receiver must take it; no network if they are
    /// folded into one. Its buffers, and the credits for them, are free again when the head has been taken.
    Lane { from: ComponentId, to: ComponentId, network: Option<Network> },
    /// A message that nobody has, and that is not on its way: it will never come.
    Lost(ComponentId, ComponentId),
    /// The end of an access that has ended: nobody will tell the warp.
    WakeUp(ComponentId, u32),
    /// The arrival bit of a scoreboard for a block whose data have come: nobody will set it any more.
    Arrival(ComponentId, Address),
    /// A page that must be translated, or come.
    Page(ComponentId, Page),
}

impl Party {
    /// Whether one of those that it waits for is enough, or all must come.
    #[must_use]
    pub fn needs_one(self) -> bool {
        matches!(self, Self::Mshrs(_) | Self::Ways(..))
    }

    /// Whether it will never come, whatever is delivered.
    #[must_use]
    pub fn is_lost(self) -> bool {
        matches!(self, Self::Lost(..)) || self.is_wake_up()
    }

    /// Whether what is waited for has come, and nobody will tell who waits.
    #[must_use]
    pub fn is_wake_up(self) -> bool {
        matches!(self, Self::WakeUp(..) | Self::Arrival(..))
    }

    /// Where it is.
    #[must_use]
    pub fn component(self) -> ComponentId {
        match self {
            Self::Warp(at, _)
            | Self::Block { at, .. }
            | Self::Mshrs(at)
            | Self::Ways(at, _)
            | Self::Lost(_, at)
            | Self::WakeUp(at, _)
            | Self::Arrival(at, _)
            | Self::Page(at, _) => at,
            Self::Lane { to, .. } => to,
        }
    }

    /// In words, with the paths of these components.
    #[must_use]
    pub fn text(self, names: &Components) -> String {
        match self {
            Self::Warp(at, warp) => format!("{}{}", names.path(at), by_warp(warp)),
            Self::Block { at, block, doing } => {
                let path = names.path(at);
                match doing {
                    Doing::Queues => format!("the queue for block {block} in {path}"),
                    Doing::Asks => format!("the request of {path} for block {block}"),
                    Doing::Serves => format!("the request that {path} serves for block {block}"),
                    Doing::Answers => format!("the probe of {path} for block {block}"),
                    Doing::Evicts => format!("the eviction of block {block} from {path}"),
                    Doing::WritesBack => format!("the writeback of block {block} by {path}"),
                    Doing::Forwards => format!("what {path} has forwarded for block {block}"),
                    Doing::KeepsMshr => format!("the MSHR of {path} for block {block}"),
                    Doing::KeepsWay => format!("the way of {path} for block {block}"),
                }
            }
            Self::Mshrs(at) => format!("the MSHRs of {}", names.path(at)),
            Self::Ways(at, set) => format!("set {set} of {}", names.path(at)),
            Self::Lane { from, to, network } => {
                let network = network.map_or("buffer", Network::name);
                format!("the {network} lane from {} to {}", names.path(from), names.path(to))
            }
            Self::Lost(from, to) => format!("a message from {} to {}", names.path(from), names.path(to)),
            Self::WakeUp(at, warp) => format!("the wake-up of {}{}", names.path(at), by_warp(warp)),
            Self::Arrival(at, block) => format!("the arrival bit of {} for block {block}", names.path(at)),
            Self::Page(at, page) => format!("page {page} for {}", names.path(at)),
        }
    }
}

/// One edge: `from` cannot go on before `to` has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wait {
    pub from: Party,
    pub to: Party,
    /// What follows the name of `from` in a sentence: "waits for ...".
    pub text: String,
    pub since: Tick,
    pub block: Option<Address>,
    pub txn: Option<TxnNumber>,
    /// The event that made it, where it is remembered.
    pub event: Option<EventNumber>,
}
