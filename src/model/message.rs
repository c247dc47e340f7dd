//! Protocol messages, their virtual networks and the transactions they belong to.

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use slotmap::new_key_type;

use super::access::Access;
use super::address::Range;
use super::bits::Bits;
use super::component::ComponentId;
use super::patch::Patch;
use super::sectors::Sectors;
use super::state::State;
use super::time::{EventNumber, Tick};

new_key_type! {
    /// A transaction in flight: from the access that started it to its last reply. A stale key is caught.
    pub struct TxnKey;
}

/// A transaction's number for people: counted from 1 in the order of issue, never reused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TxnNumber(pub u64);

/// What a message asks or tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum MessageKind {
    /// Child to parent: a readable copy, tracked by the directory.
    Read,
    /// Child to parent: a readable copy for a non-coherent store; never makes the child the owner.
    ReadNc,
    /// Child to parent: an exclusive copy.
    Write,
    /// Child to parent: the bytes only, not tracked (write-through caches).
    Fetch,
    /// Child to parent: perform this store or atomic at your level.
    Forward,
    /// Parent to child: somebody reads what you hold.
    ProbeRead,
    /// Parent to child: somebody writes what you hold.
    ProbeWrite,
    /// Parent to child: the answer to read, read-nc and write.
    Grant,
    /// Parent to child: the answer to fetch and forward.
    Reply,
    /// Child to parent: the grant has arrived.
    GrantAck,
    /// Child to parent: the answer to a probe.
    Answer,
    /// Child to parent: dirty bytes of an evicted block.
    Writeback,
    /// Child to parent: a clean block was evicted.
    Notify,
    /// Parent to child: a writeback or a notify has been taken.
    EvictAck,
    /// Parent to child: give up everything of this memory (the remote directory is full).
    Flush,
    /// Child to parent: nothing of it is left here.
    Flushed,
    /// Sibling to sibling: the data of a peer transfer (UMH, Fig. 5 b-2).
    PeerData,
}

impl MessageKind {
    pub const ALL: [Self; 17] = [
        Self::Read,
        Self::ReadNc,
        Self::Write,
        Self::Fetch,
        Self::Forward,
        Self::ProbeRead,
        Self::ProbeWrite,
        Self::Grant,
        Self::Reply,
        Self::GrantAck,
        Self::Answer,
        Self::Writeback,
        Self::Notify,
        Self::EvictAck,
        Self::Flush,
        Self::Flushed,
        Self::PeerData,
    ];

    /// The words that name this kind in queries: its own name first, then the classes it belongs to.
    #[must_use]
    pub fn words(self) -> &'static [&'static str] {
        match self {
            Self::Read => &["read", "request"],
            Self::ReadNc => &["read-nc", "request"],
            Self::Write => &["write", "request"],
            Self::Fetch => &["fetch", "request"],
            Self::Forward => &["forward", "request"],
            Self::ProbeRead => &["probe-read", "probe"],
            Self::ProbeWrite => &["probe-write", "probe"],
            Self::Grant => &["grant", "reply"],
            Self::Reply => &["done", "reply"],
            Self::GrantAck => &["grant-ack", "reply"],
            Self::Answer => &["answer", "reply"],
            Self::Writeback => &["writeback", "reply"],
            Self::Notify => &["notify", "reply"],
            Self::EvictAck => &["evict-ack", "reply"],
            Self::Flush => &["flush", "probe"],
            Self::Flushed => &["flushed", "reply"],
            Self::PeerData => &["peer-data", "reply"],
        }
    }

    #[must_use]
    pub fn name(self) -> &'static str {
        self.words()[0]
    }

    /// The virtual network that carries it when they are separate.
    #[must_use]
    pub fn network(self) -> Network {
        match self {
            Self::Read | Self::ReadNc | Self::Write | Self::Fetch | Self::Forward => Network::Request,
            Self::ProbeRead | Self::ProbeWrite | Self::Flush => Network::Probe,
            _ => Network::Reply,
        }
    }
}

/// A virtual network. Writebacks, probe answers and grant acknowledgements of a child share `Reply` and keep
/// one order: in the channel of requests an empty answer would overtake the dirty writeback.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Network {
    Request,
    Probe,
    Reply,
}

impl Network {
    pub const ALL: [Self; 3] = [Self::Request, Self::Probe, Self::Reply];

    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Request => "request",
            Self::Probe => "probe",
            Self::Reply => "reply",
        }
    }
}

/// What a child still holds of a probed range, in its own blocks.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Held {
    /// Size of a block of the child, in bytes.
    pub block: u32,
    /// Blocks it still has a copy of.
    pub copies: Bits,
    /// Blocks it still supplies the data of (it is their owner).
    pub owned: Bits,
}

/// When a message came through the stages of its way, kept while somebody listens. It tells of the past and decides nothing:
/// messages with other ones are equal.
#[derive(Clone, Debug, Default)]
pub struct Trip(Option<Box<Stages>>);

/// Ticks of a message on its way.
#[derive(Clone, Copy, Debug, Default)]
pub struct Stages {
    /// Its data were read: it could leave.
    pub ready: Tick,
    /// It went onto its first link.
    pub left: Tick,
    /// It came to the switch behind that, and went onto the second link; 0 without one.
    pub at_switch: Tick,
    pub crossed: Tick,
    /// It came off its last link, and its receiver had looked it up; 0 before its last link. It may have to stand there after that.
    pub came: Tick,
    pub looked_up: Tick,
}

impl Trip {
    /// It is kept from here on.
    pub fn begin(&mut self) {
        self.0 = Some(Box::default());
    }

    #[must_use]
    pub fn stages(&self) -> Option<&Stages> {
        self.0.as_deref()
    }

    pub fn stages_mut(&mut self) -> Option<&mut Stages> {
        self.0.as_deref_mut()
    }
}

impl PartialEq for Trip {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for Trip {}

impl Hash for Trip {
    fn hash<H: Hasher>(&self, _: &mut H) {}
}

/// One message between two nodes of the hierarchy.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Message {
    pub kind: MessageKind,
    pub from: ComponentId,
    pub to: ComponentId,
    pub range: Range,
    /// The transaction on whose behalf it travels; evictions have that of the access that needed the room.
    pub txn: Option<TxnKey>,
    pub number: Option<TxnNumber>,
    /// The event that sent it.
    pub cause: EventNumber,
    /// Size in bytes, one header included; a link may cut it into packets.
    pub size: u32,
    /// Of a grant: the state granted.
    pub granted: Option<State>,
    /// Of a probe: the sibling that shall receive the data. Of a grant: the sibling that sends them.
    pub peer: Option<ComponentId>,
    /// Of an answer: what is left at the child.
    pub held: Option<Box<Held>>,
    /// Of a forward: the access to perform.
    pub access: Option<Arc<Access>>,
    /// Of a fetch or forwarded load that may not be kept: the sectors that somebody waits for. Of its reply: those that it
    /// carries.
    pub sectors: Sectors,
    /// Of a reply: its bytes serve whoever waits for them, and nobody keeps them. Of a probe: whoever has the block gives
    /// its bytes, dirty or not.
    pub once: bool,
    /// Whether it carries the bytes of a block.
    pub has_data: bool,
    /// The bytes that it carries, under a mask. Clean bytes have nothing to say with values off.
    pub patch: Option<Arc<Patch>>,
    pub trip: Trip,
}
