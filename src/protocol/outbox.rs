//! What a node sends, completes and tells while it handles one input.

use std::sync::Arc;

use super::homes::Homes;
use super::permissions::Permissions;
use crate::model::access::{Access, AccessKind, Bytes};
use crate::model::address::{Address, Range};
use crate::model::bits::Bits;
use crate::model::component::ComponentId;
use crate::model::message::{Message, MessageKind, TxnKey, TxnNumber};
use crate::model::paging::Permission;
use crate::model::record::{Record, RecordId, Records, What};
use crate::model::time::{EventNumber, Tick, TimeBase};

/// Names an access of a warp, so that its completion finds the way back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Ticket {
    pub warp: u32,
    /// Number of the memory instruction in its warp.
    pub instruction: u64,
    /// When it was issued.
    pub issued: Tick,
}

/// An access that was performed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Completion {
    pub node: ComponentId,
    pub ticket: Ticket,
    pub kind: AccessKind,
    pub range: Range,
    /// It waited for nothing.
    pub at_once: bool,
    pub txn: Option<TxnKey>,
    pub number: Option<TxnNumber>,
    /// What a load or atomic read; empty with values off.
    pub read: Bytes,
    /// What was stored (the new value of an atomic); empty for a load.
    pub wrote: Bytes,
    /// Which bytes of the range were stored; `None` for all.
    pub mask: Option<Arc<Bits>>,
    /// A non-coherent store that stayed one, or became coherent because the mask is too coarse.
    pub coherent: bool,
}

impl Completion {
    /// It as it was issued, with what it stored in place of what it was to.
    #[must_use]
    pub fn access(&self) -> Access {
        Access { kind: self.kind, range: self.range, bytes: self.wrote.clone(), mask: self.mask.clone() }
    }
}

/// What a node has performed for somebody above who is not told yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Taken {
    pub number: TxnNumber,
    pub kind: AccessKind,
    pub range: Range,
    /// What a load or atomic read.
    pub read: Bytes,
    /// What is there now; empty with values off.
    pub wrote: Bytes,
    pub mask: Option<Arc<Bits>>,
}

impl Taken {
    /// It as it was issued, with what is there now.
    #[must_use]
    pub fn access(&self) -> Access {
        Access { kind: self.kind, range: self.range, bytes: self.wrote.clone(), mask: self.mask.clone() }
    }
}

/// An access that a node has performed on a block that it holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PerformedHere {
    pub kind: AccessKind,
    pub range: Range,
    /// For the warp or core above, and not for a child.
    pub is_local: bool,
    /// What a load or atomic read; empty with values off.
    pub read: Bytes,
    /// What was stored.
    pub wrote: Bytes,
}

/// A message with what has to happen before it can leave.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outgoing {
    pub message: Message,
    /// What is to be read from the memory behind the node first; empty if nothing is.
    pub read: Range,
    pub tag: TagRead,
}

/// The tag in that memory that tells whether a message may leave.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TagRead {
    #[default]
    None,
    /// It is read for this message, beside its data.
    Own,
    /// The read of the message before this one tells it, too.
    Shared,
}

/// An access to the memory behind a node for which no message waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Touch {
    pub what: TouchKind,
    pub range: Range,
}

/// What such an access does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TouchKind {
    Write,
    /// Data that turned out not to be what was wanted.
    Read,
    /// The tag of the range is read, or written.
    ReadTag,
    WriteTag,
}

/// A rule that does not hold.
#[derive(Clone, Debug)]
pub struct Breach {
    pub at: ComponentId,
    pub about: About,
    pub rule: &'static str,
    pub text: String,
}

/// The lists of an [`Outbox`], kept so that an event need not ask for memory.
#[derive(Debug, Default)]
pub struct Buffers {
    pub sends: Vec<Outgoing>,
    pub completions: Vec<Completion>,
    pub taken: Vec<Taken>,
    /// What was performed, for whomever, in its order, if somebody wants to know.
    pub performed: Vec<PerformedHere>,
    /// What happens in the memory behind a node beside that.
    pub touches: Vec<Touch>,
    /// Rules that a node itself found broken.
    pub breaches: Vec<Breach>,
}

impl Clone for Buffers {
    /// A copy of a machine needs none of its spare memory.
    fn clone(&self) -> Self {
        Self::default()
    }
}

/// What somebody wants to know of what is performed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Notes {
    Nothing,
    /// For a node above that is told later.
    Taken,
    /// For whomever.
    Performed,
}

/// Collects the effects of one input.
#[derive(Debug)]
pub struct Outbox<'a> {
    pub event: EventNumber,
    pub tick: Tick,
    time: TimeBase,
    lists: Box<Buffers>,
    /// Where pages live.
    pub homes: Homes,
    /// What may be done with them.
    pub permissions: Permissions,
    pub notes: Notes,
    /// A node that was told to flush has nothing left to flush.
    pub flushed: bool,
    /// A release of a node has ended.
    pub released: bool,
    /// What has caused that of which is told, where it does not say so itself.
    pub cause: Option<EventNumber>,
    /// The ordinal of its first record: others of this event have been taken away before.
    pub ordinal: u32,
    pub records: &'a mut Records,
}

impl<'a> Outbox<'a> {
    #[must_use]
    pub fn new(
        event: EventNumber,
        tick: Tick,
        time: TimeBase,
        lists: Box<Buffers>,
        records: &'a mut Records,
    ) -> Self {
        Self {
            event,
            tick,
            time,
            lists,
            homes: Homes::Single,
            permissions: Permissions::default(),
            notes: Notes::Nothing,
            flushed: false,
            released: false,
            cause: None,
            ordinal: 0,
            records,
        }
    }

    /// Its lists, for the next, and what it was lent: the homes and permissions of pages.
    #[must_use]
    pub fn into_parts(self) -> (Box<Buffers>, Homes, Permissions) {
        (self.lists, self.homes, self.permissions)
    }

    /// GPU core cycles that are over after so many ticks.
    #[must_use]
    pub fn cycles(&self, ticks: Tick) -> u64 {
        self.time.cycle(ticks)
    }

    /// What may be done with the page of an address.
    #[must_use]
    pub fn permission(&self, address: Address) -> Permission {
        self.permissions.of(address, &self.homes)
    }

    /// Makes a record, if anybody listens. `because` is left out when it is this very event.
    #[inline]
    pub fn record(&mut self, at: ComponentId, about: About, what: impl FnOnce() -> What) {
        if self.records.on {
            self.put_record(at, about, what());
        }
    }

    #[inline(never)]
    fn put_record(&mut self, at: ComponentId, about: About, what: What) {
        let id = RecordId { event: self.event, ordinal: self.ordinal + self.records.list.len() as u32 };
        self.records.list.push(Record {
            id,
            tick: self.tick,
            cycle: self.time.cycle(self.tick),
            at,
            because: about.because.or(self.cause).filter(|&event| event != self.event),
            txn: about.txn,
            range: about.range,
            what,
        });
    }
}

impl std::ops::Deref for Outbox<'_> {
    type Target = Buffers;

    fn deref(&self) -> &Buffers {
        &self.lists
    }
}

impl std::ops::DerefMut for Outbox<'_> {
    fn deref_mut(&mut self) -> &mut Buffers {
        &mut self.lists
    }
}

/// What a record is about.
#[derive(Clone, Copy, Debug, Default)]
pub struct About {
    pub range: Option<Range>,
    pub txn: Option<TxnNumber>,
    pub because: Option<EventNumber>,
}

impl About {
    #[must_use]
    pub fn new(range: Range, txn: Option<TxnNumber>) -> Self {
        Self { range: Some(range), txn, because: None }
    }

    /// What a message is about: its range, unless it is about all of a memory.
    #[must_use]
    pub fn message(message: &Message) -> Self {
        let is_about_all = matches!(message.kind, MessageKind::Flush | MessageKind::Flushed);
        Self { range: (!is_about_all).then_some(message.range), txn: message.number, because: None }
    }

    /// The same, caused by another event.
    #[must_use]
    pub fn because(mut self, event: EventNumber) -> Self {
        self.because = Some(event);
        self
    }
}
