//! What a node is busy with, block by block: one request to its parent, one probe from it, requests of its
//! children by unit, and an eviction.

use std::collections::VecDeque;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use crate::model::access::{Access, AccessKind};
use crate::model::address::{Address, Range};
use crate::model::bits::Bits;
use crate::model::component::ComponentId;
use crate::model::message::{Message, MessageKind, TxnKey, TxnNumber};
use crate::model::patch::Patch;
use crate::model::sectors::Sectors;
use crate::model::state::{Action, State};
use crate::model::time::{EventNumber, Tick};
use crate::protocol::outbox::Ticket;
use crate::protocol::remote_directory::Look;
use crate::protocol::table::{DirectoryRule, Next};

/// Who wants something.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Who {
    /// The warp or core above a leaf.
    Local(Ticket),
    /// A child, by its position.
    Child(u16),
}

/// An access or a child's request that is to be served.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Want {
    pub who: Who,
    /// What a child asked; `Forward` for accesses that are performed at this node.
    pub request: MessageKind,
    pub action: Action,
    pub range: Range,
    pub txn: Option<TxnKey>,
    pub number: Option<TxnNumber>,
    pub cause: EventNumber,
    pub arrived: Tick,
    pub access: Option<Arc<Access>>,
    /// Of a load that may not be kept: the sectors that it needs, and those of them that have come.
    pub sectors: Sectors,
    pub got: Sectors,
    /// While it waits: how many of what was passed up, the first ones, came before it.
    pub behind: u32,
    /// Another cache has given the bytes that are asked for: the memory need not be read.
    pub supplied: bool,
    /// Of the CPU: the remote directory claimed to have its block already.
    pub claimed: bool,
}

impl Want {
    /// What a message of a child asks; `child` is its position.
    #[must_use]
    pub fn of(message: &mut Message, child: u16, action: Action, arrived: Tick) -> Self {
        Self {
            who: Who::Child(child),
            request: message.kind,
            action,
            range: message.range,
            txn: message.txn,
            number: message.number,
            cause: message.cause,
            arrived,
            access: message.access.take(),
            sectors: message.sectors,
            got: Sectors::NONE,
            behind: 0,
            supplied: false,
            claimed: false,
        }
    }

    /// The same without its access: a copy for what asks on its behalf, which owns nothing and costs no counting of owners.
    #[must_use]
    pub fn without_access(&self) -> Self {
        Self { access: None, ..*self }
    }

    /// Whether the node performs it itself, and grants nothing.
    #[must_use]
    pub fn is_performed_here(&self) -> bool {
        matches!(self.who, Who::Local(_))
            || matches!(self.request, MessageKind::Fetch | MessageKind::Forward | MessageKind::Writeback)
    }

    /// Whether it is to read and write at once.
    #[must_use]
    pub fn is_atomic(&self) -> bool {
        self.access.as_deref().is_some_and(|access| matches!(access.kind, AccessKind::Atomic(_)))
    }

    /// Whether it only asks for bytes, and has no access of its own.
    #[must_use]
    pub fn is_fetch(&self) -> bool {
        self.request == MessageKind::Fetch && self.access.is_none()
    }
}

/// The one request to the parent.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Asked {
    pub kind: MessageKind,
    pub action: Action,
    pub next: Next,
    pub since: Tick,
    pub parent: ComponentId,
    pub number: Option<TxnNumber>,
    /// The grant, once it has come without its data (peer transfer).
    pub granted: Option<State>,
    /// The data have come; without their grant in a peer transfer.
    pub has_data: bool,
    /// Their bytes, if any are kept.
    pub data: Option<Arc<Patch>>,
    /// Of a fetch that is not kept: the sectors that are on their way. An answer may bring those of several requests.
    pub coming: Sectors,
    /// A probe has passed what is on its way: so many of the queue may still have it, and it is not kept.
    pub spoiled: Option<u32>,
}

/// A child's request being served.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Service {
    /// Position of the unit in the block.
    pub unit: u32,
    pub want: Want,
    pub rule: Option<DirectoryRule>,
    /// Children whose answers are awaited, a bit each.
    pub awaiting: u64,
    /// The grant is on its way and its acknowledgement awaited (rule 4).
    pub granted: bool,
    pub acknowledged: bool,
    /// What the remote directory said of it, where that is why the CPU is asked.
    pub look: Option<Look>,
    pub since: Tick,
}

/// A parent's probe as it concerns one block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct BlockProbe {
    /// Key of its [`ProbeJob`].
    pub job: Address,
    pub action: Action,
    /// The children have been asked.
    pub started: bool,
    pub awaiting: u64,
    pub since: Tick,
    pub number: Option<TxnNumber>,
    pub cause: EventNumber,
}

/// Why what is above a block, and mostly the block, has to go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// Its place is needed.
    Room,
    /// All of it is to be elsewhere: its page moves, or it was asked for by hand.
    Drain,
    /// A flush to what is below.
    Flush,
    /// A kernel begins, and must see what was stored non-coherently.
    Launch,
    /// The children must not keep an old copy; the block itself stays.
    Recall,
}

/// An eviction that recalls what the children hold, or only that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Eviction {
    pub awaiting: u64,
    pub since: Tick,
    /// The transaction that needs the room.
    pub number: Option<TxnNumber>,
    pub txn: Option<TxnKey>,
    pub reason: Reason,
}

impl Hash for Eviction {
    /// Nothing that follows depends on the reason, but whether the block stays.
    fn hash<H: Hasher>(&self, state: &mut H) {
        (self.awaiting, self.since, self.number, self.txn, self.reason == Reason::Recall).hash(state);
    }
}

/// Everything under way for one block.
#[expect(clippy::struct_excessive_bools, reason = "each is about something else")]
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Pending {
    pub block: Address,
    /// The parent that serves the block; none of a root.
    pub parent: Option<ComponentId>,
    pub since: Tick,
    pub asked: Option<Asked>,
    pub queue: VecDeque<Want>,
    /// Accesses passed on to the parent, in the order of their replies.
    pub passed: VecDeque<Want>,
    pub serving: Vec<Service>,
    pub probe: Option<BlockProbe>,
    pub evicting: Option<Eviction>,
    /// A writeback or notice has not been acknowledged (rule 3).
    pub writeback: bool,
    /// Software coherence: the block leaves once so many of the queue have been served.
    pub acquire: Option<u32>,
    /// A release waits for its writeback.
    pub released: bool,
    /// It may not be kept here: its home is another memory, or the parent said so.
    pub uncached: bool,
    /// It holds one of the node's MSHRs.
    pub mshr: bool,
    /// It waits for an MSHR or a way: it stands in [`super::room::Waiting`].
    pub waits: bool,
}

/// What children are asked for.
#[derive(Clone, Copy, Debug)]
pub struct Probing {
    pub kind: MessageKind,
    pub range: Range,
    pub txn: (Option<TxnKey>, Option<TxnNumber>),
    /// To whom an owner hands its block.
    pub peer: Option<ComponentId>,
    /// Clean bytes are wanted, too.
    pub once: bool,
}

impl Probing {
    pub fn new(kind: MessageKind, range: Range, txn: (Option<TxnKey>, Option<TxnNumber>)) -> Self {
        Self { kind, range, txn, peer: None, once: false }
    }
}

impl Pending {
    /// Begins anew for a block; what it had room for it keeps.
    pub fn renew(&mut self, block: Address, parent: Option<ComponentId>, since: Tick) {
        (self.block, self.parent, self.since) = (block, parent, since);
        (self.asked, self.probe, self.evicting) = (None, None, None);
        (self.writeback, self.mshr, self.waits) = (false, false, false);
        (self.acquire, self.released, self.uncached) = (None, false, false);
        // What was idle has nothing in them, as a rule.
        if !self.queue.is_empty() || !self.passed.is_empty() {
            self.queue.clear();
            self.passed.clear();
        }
        self.serving.clear();
    }

    /// Puts a want at a place of the queue, or at its end. Mostly it stays alone there, and GPUs have very many queues: they
    /// begin with room for one.
    pub fn enqueue(&mut self, place: usize, want: Want) {
        if self.queue.capacity() == 0 {
            self.queue.reserve_exact(1);
        }
        if place < self.queue.len() {
            self.queue.insert(place, want);
        } else {
            self.queue.push_back(want);
        }
    }

    /// Goes on serving a child.
    pub fn keep_serving(&mut self, service: Service) {
        if self.serving.capacity() == 0 {
            self.serving.reserve_exact(1);
        }
        self.serving.push(service);
    }

    /// Takes a want out of its queue.
    pub fn take_want(&mut self, place: usize) -> Option<Want> {
        if place == 0 { self.queue.pop_front() } else { self.queue.remove(place) }
    }

    /// Something is passed up from a place of the queue: what stands behind that comes after it.
    pub fn pass(&mut self, place: usize, want: Want) {
        self.queue.iter_mut().skip(place).for_each(|later| later.behind += 1);
        self.passed.push_back(want);
    }

    /// The stores to a byte that were passed up, and atomics.
    pub fn stores_passed(&self, at: Address) -> impl Iterator<Item = &Want> {
        self.passed.iter().filter(move |want| !want.is_load() && want.range.contains(at))
    }

    /// What was passed up is answered.
    pub fn take_passed(&mut self, place: usize) -> Option<Want> {
        let came_later = self.queue.iter_mut().filter(|want| want.behind as usize > place);
        came_later.for_each(|want| want.behind -= 1);
        self.passed.remove(place)
    }

    /// Whether there is something that may go on.
    #[must_use]
    pub fn waits_for_more(&self) -> bool {
        !self.queue.is_empty() || self.probe.is_some() || self.acquire.is_some()
    }

    /// What is here will not be any more when what is under way has ended.
    #[must_use]
    pub fn is_leaving(&self) -> bool {
        self.evicting.is_some_and(|eviction| eviction.reason != Reason::Recall)
            || self.probe.is_some_and(|probe| probe.action == Action::Write)
    }

    /// Nothing is under way any more.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        self.asked.is_none()
            && self.queue.is_empty()
            && self.passed.is_empty()
            && self.serving.is_empty()
            && self.probe.is_none()
            && self.evicting.is_none()
            && !self.writeback
            && self.acquire.is_none()
    }

    /// No child is being asked or awaited, so that a parent's probe can be answered: rules 1 and 2. Waiting for the parent does not count.
    #[must_use]
    pub fn is_quiet(&self) -> bool {
        self.serving.is_empty() && self.evicting.is_none()
    }
}

/// A probe from the parent, which may span several blocks of this node.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ProbeJob {
    pub range: Range,
    pub kind: MessageKind,
    pub parent: ComponentId,
    /// The sibling that is to have the data.
    pub peer: Option<ComponentId>,
    pub txn: Option<TxnKey>,
    pub number: Option<TxnNumber>,
    /// Clean bytes are wanted too.
    pub supplies: bool,
    /// There were some.
    pub supplied: bool,
    /// Blocks that have not answered yet.
    pub left: u32,
    pub copies: Bits,
    pub owned: Bits,
    /// Dirty bytes gathered, over the whole range.
    pub dirty: Option<Patch>,
    /// Of a line kept by sector: those that the dirty bytes lie in.
    pub sectors: Sectors,
    /// Bytes of data on the wire.
    pub data_bytes: u32,
    /// State that a block that gave data was in.
    pub gave: Option<State>,
    /// This node supplies the data to the sibling.
    pub serves_peer: bool,
    /// The bytes for the sibling, if any are kept.
    pub for_peer: Option<Arc<Patch>>,
}

/// Allocations that are used again, so that a miss need not ask for memory. A copy of a node needs none of them.
#[derive(Debug, Default)]
pub struct Spare(Vec<Arc<Pending>>);

impl Clone for Spare {
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl Spare {
    /// One for any block, once it is renewed.
    pub fn take(&mut self) -> Arc<Pending> {
        self.0.pop().unwrap_or_default()
    }

    /// Takes back what was changed a moment ago, so that no clone of the node has it.
    pub fn put(&mut self, pending: Arc<Pending>) {
        self.0.push(pending);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn want(action: Action) -> Want {
        Want {
            who: Who::Child(0),
            request: MessageKind::Forward,
            action,
            range: Range::new(Address(0), 4),
            txn: None,
            number: None,
            cause: 0,
            arrived: 0,
            access: None,
            sectors: Sectors::NONE,
            got: Sectors::NONE,
            behind: 0,
            supplied: false,
            claimed: false,
        }
    }

    #[test]
    fn a_want_knows_how_many_that_were_passed_up_came_before_it() {
        let mut pending = Pending::default();
        pending.queue.extend([Action::Load, Action::Store, Action::Load].map(want));
        let behind = |pending: &Pending| pending.queue.iter().map(|want| want.behind).collect::<Vec<_>>();
        let store = pending.take_want(1).unwrap();
        pending.pass(1, store);
        assert_eq!(behind(&pending), [0, 1], "the first load came before the store");
        pending.pass(2, want(Action::Store));
        pending.queue.push_back(Want { behind: 2, ..want(Action::Load) });
        // The answers need not come in order.
        assert!(pending.take_passed(1).is_some());
        assert_eq!(behind(&pending), [0, 1, 1]);
        assert!(pending.take_passed(0).is_some());
        assert_eq!(behind(&pending), [0, 0, 0]);
    }
}
