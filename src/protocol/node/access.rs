//! Accesses of the warp or core above a leaf, and accesses that a child has forwarded.

use std::sync::Arc;

use smallvec::SmallVec;

use super::pending::{Pending, Want, Who};
use super::{Decision, Node, Role};
use crate::model::access::{Access, AccessKind, Bytes, runs};
use crate::model::address::{Address, Range};
use crate::model::bits::Bits;
use crate::model::message::{MessageKind, TxnKey, TxnNumber};
use crate::model::patch::Patch;
use crate::model::record::{MshrChange, What};
use crate::model::sectors::Sectors;
use crate::model::state::{Action, State};
use crate::protocol::outbox::{Completion, Notes, Outbox, PerformedHere, Taken, Ticket};
use crate::protocol::store::{Entry, bit};
use crate::protocol::table::{Next, Step};

/// The column of the table for a kind of access.
fn plain_action(kind: AccessKind) -> Action {
    match kind {
        AccessKind::Load => Action::Load,
        AccessKind::Store | AccessKind::Atomic(_) => Action::Store,
        AccessKind::NStore => Action::NStore,
    }
}

/// What would become of an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Offer {
    /// It would be performed at once.
    Hit,
    /// It would be under way.
    Miss,
    /// Every MSHR is in use; try again when the node has changed.
    Full,
}

impl Node {
    /// The column of the table for an access of this kind. A non-coherent store that starts or ends inside a
    /// mask bit must be coherent (UMH, section 4.1.2).
    pub(super) fn action_of(&self, access: &Access) -> Action {
        match access.kind {
            AccessKind::NStore if self.must_promote(access) => Action::Store,
            kind => plain_action(kind),
        }
    }

    /// Whether a non-coherent store must be coherent, because a mask bit stands for more bytes than it writes.
    #[must_use]
    pub fn must_promote(&self, access: &Access) -> bool {
        let bytes = self.config.mask_bytes;
        let masked = || self.config.table.rows.iter().any(|row| row.noncoherent);
        bytes > 1 && masked() && access.runs().iter().any(|run| !Patch::aligned(*run, bytes))
    }

    /// Whether an access, which must lie in one block, can be taken.
    pub fn offer(&mut self, access: &Access, out: &mut Outbox) -> Offer {
        let block = self.block_of(access.range.start);
        self.store.focus(block);
        if self.pending.contains(block) {
            return Offer::Miss;
        }
        let (action, sectors) = (self.action_of(access), self.sectors_of(block, access));
        if matches!(self.decide(block, (action, sectors), true, self.is_uncached(block, out)), Decision::Here(cell) if cell.step == Step::Hit)
        {
            return Offer::Hit;
        }
        if self.has_mshr() {
            return Offer::Miss;
        }
        self.counters.mshr_full += 1;
        self.record_mshr(block, None, MshrChange::Full, out);
        Offer::Full
    }

    /// Performs an access that hits, where nobody keeps its bytes or a record of it. `false`, and nothing is done, if it
    /// does not hit. It must lie in one block.
    pub fn hit(&mut self, kind: AccessKind, range: Range, mask: Option<&Bits>, out: &mut Outbox) -> bool {
        let block = self.block_of(range.start);
        // What may have to be coherent is looked at on the long way.
        let is_plain = kind != AccessKind::NStore || self.config.mask_bytes <= 1;
        if !is_plain || self.pending.contains(block) || self.is_uncached(block, out) {
            return false;
        }
        self.store.focus(block);
        let Some(entry) = self.store.get_mut(block) else { return false };
        let action = plain_action(kind);
        let Some((row, cell)) = self.config.table.leaf_cell(entry.state, action) else { return false };
        let is_hit = match cell.step {
            Step::Hit => true,
            Step::Fetch => entry.state != State::I && entry.data.mask.is_full(),
            _ => false,
        };
        // Where not all of it is here, its sectors are looked at.
        if self.config.role != Role::Leaf || !is_hit || entry.here.is_some() {
            return false;
        }
        self.uses += 1;
        entry.used = self.uses;
        if let Next::To(to) = cell.next {
            entry.state = to;
        }
        self.counters.hits += 1;
        self.counters.remote_hits += u64::from(entry.remote);
        if let Some(count) = self.cells.get_mut(row * Action::ALL.len() + action.index()) {
            *count += 1;
        }
        if kind.writes() && range.len > 0 {
            match mask {
                None => entry.data.mark(range),
                Some(mask) => runs(range, mask).into_iter().for_each(|run| entry.data.mark(run)),
            }
            self.note_write(range, out);
        }
        true
    }

    /// Takes an access as it was offered.
    pub fn access(
        &mut self,
        offer: Offer,
        ticket: Ticket,
        access: Access,
        txn: (Option<TxnKey>, Option<TxnNumber>),
        out: &mut Outbox,
    ) {
        let block = self.block_of(access.range.start);
        let mut want = Want {
            who: Who::Local(ticket),
            request: MessageKind::Forward,
            action: self.action_of(&access),
            range: access.range,
            txn: txn.0,
            number: txn.1,
            cause: out.event,
            arrived: out.tick,
            access: None,
            sectors: self.sectors_of(block, &access),
            got: Sectors::NONE,
            behind: 0,
            supplied: false,
            claimed: false,
        };
        self.note_promotion(&want, &access, ticket, out);
        if offer == Offer::Hit {
            self.count_hit(block);
            self.perform_access(block, &want, &access, out);
            return;
        }
        if self.hits_beside(block, &want) {
            self.count_hit(block);
        } else {
            self.count_miss(block, out);
        }
        want.access = Some(Arc::new(access));
        self.enqueue(block, want, out);
        self.settle(out);
    }

    /// Whether an access hits although something is under way for its block: stores that were passed up, which it need not wait for.
    fn hits_beside(&self, block: Address, want: &Want) -> bool {
        let is_hit = |pending: &Pending| {
            matches!(self.decide_want(pending, want), Decision::Here(cell) if cell.step == Step::Hit)
                && pending.asked.is_none()
                && pending.queue.is_empty()
                && pending.probe.is_none()
                && pending.evicting.is_none()
                && !self.waits_for_evict_ack(pending)
                && !Self::awaits_acquire(pending)
                && !self.awaits_atomic(pending, want)
        };
        self.pending.get(block).is_some_and(is_hit)
    }

    fn note_promotion(&mut self, want: &Want, access: &Access, ticket: Ticket, out: &mut Outbox) {
        if access.kind == AccessKind::NStore && want.action == Action::Store {
            self.counters.promotions += 1;
            let (kind, warp) = (access.kind, ticket.warp);
            out.record(self.config.id, Self::about(want), || What::Promote { kind, warp });
        }
    }

    /// Puts a want behind those that already wait for its block, and does what can be done.
    pub(super) fn enqueue(&mut self, block: Address, mut want: Want, out: &mut Outbox) {
        self.begin(block, out, |node, pending, out| {
            if node.joins(pending, &want) {
                node.counters.merges += 1;
                node.record_mshr(block, want.number, MshrChange::Merge, out);
            }
            want.behind = pending.passed.len() as u32;
            let place = node.place_in(&pending.queue, &want);
            pending.enqueue(place, want);
        });
    }

    /// Whether a want that misses is served by a request that is under way for its block, or that one before it will make: it
    /// needs none of its own.
    fn joins(&self, pending: &Pending, want: &Want) -> bool {
        let is_leaving = self.config.role != Role::Root && pending.is_leaving();
        let misses = |want: &Want| match self.decide_want(pending, want) {
            Decision::Parent(_) | Decision::Place => want.request != MessageKind::Writeback,
            Decision::Here(_) => is_leaving || matches!(want.who, Who::Local(_)),
            // It goes alone, whatever else is on its way.
            Decision::PassUp(_) | Decision::Never => false,
        };
        (pending.asked.is_some() || pending.queue.iter().any(misses))
            && misses(want)
            && !Self::lacks_sectors(pending, want)
            && !self.misses_more(pending, want)
    }

    /// Performs an access at this node, whose state allows it.
    pub(super) fn perform(&mut self, block: Address, want: &Want, out: &mut Outbox) {
        if let Some(access) = &want.access {
            self.perform_access(block, want, access, out);
        }
    }

    fn perform_access(&mut self, block: Address, want: &Want, access: &Access, out: &mut Outbox) {
        self.uses += 1;
        let is_root = self.config.role == Role::Root;
        let mut bytes = (Bytes::new(), Bytes::new());
        let mut change = None;
        let mut is_here = is_root || access.range.len == 0;
        if let Some(entry) = self.store.get_mut(block) {
            entry.used = self.uses;
            if !is_root {
                let from = entry.state;
                let cell = self.config.cell(from, want.action, true);
                if let Some(Next::To(to)) = cell.map(|cell| cell.next) {
                    entry.state = to;
                }
                is_here |= from != State::I || cell.is_some_and(|cell| cell.step == Step::Allocate);
                change = Some((from, entry.state));
            }
            bytes = apply(entry, access, is_root);
        }
        if !is_here {
            self.report_nothing_here(want, out);
        }
        if out.notes == Notes::Performed {
            let (kind, range, (read, wrote)) = (access.kind, access.range, bytes.clone());
            let is_local = matches!(want.who, Who::Local(_));
            out.performed.push(PerformedHere { kind, range, is_local, read, wrote });
        }
        if let Some((from, to)) = change {
            let waited = want.arrived < out.tick;
            self.tell_transition((from, to), want.action, waited, Self::about(want), out);
        }
        if access.kind.writes() && access.range.len > 0 {
            self.note_write(access.range, out);
        }
        self.complete(want, access, bytes.0, bytes.1, out);
    }

    /// Tells the one who wanted it: the warp above, or the child that forwarded it.
    pub(super) fn complete(
        &mut self,
        want: &Want,
        access: &Access,
        read: Bytes,
        wrote: Bytes,
        out: &mut Outbox,
    ) {
        match want.who {
            Who::Local(ticket) => {
                let coherent = want.action != Action::NStore;
                let (kind, at_once) = (access.kind, want.cause == out.event);
                // What is performed at once takes as long as a hit.
                let latency = out.cycles(out.tick.saturating_sub(ticket.issued).max(self.config.hit_time));
                let warp = ticket.warp;
                out.record(self.config.id, Self::about(want), || What::Complete {
                    kind,
                    warp,
                    bytes: read.clone(),
                    latency,
                });
                out.completions.push(Completion {
                    node: self.config.id,
                    ticket,
                    kind,
                    range: access.range,
                    at_once,
                    txn: want.txn,
                    number: want.number,
                    read,
                    wrote,
                    mask: access.mask.clone(),
                    coherent,
                });
            }
            Who::Child(child) if want.is_load() => {
                if !want.is_fetch() {
                    Self::note_taken(want, access, read, wrote, out);
                }
                let data = self.bytes_here(want);
                let once = self.is_known_beyond(self.block_of(want.range.start), out);
                self.reply_load(child, want, data, once, out);
            }
            Who::Child(child) => {
                // Who needed the room has not stored what is written back.
                let is_own = access.kind.writes() && want.request != MessageKind::Writeback;
                if is_own {
                    Self::note_taken(want, access, read.clone(), wrote, out);
                }
                self.reply(child, want, &read, out);
            }
        }
    }

    /// An access was performed for somebody above, who is told later.
    fn note_taken(want: &Want, access: &Access, read: Bytes, wrote: Bytes, out: &mut Outbox) {
        let Some(number) = want.number.filter(|_| out.notes == Notes::Taken) else { return };
        let (kind, range, mask) = (access.kind, access.range, access.mask.clone());
        out.taken.push(Taken { number, kind, range, read, wrote, mask });
    }

    /// Answers a child's forwarded store, or its atomic with the old value.
    fn reply(&self, child: u16, want: &Want, read: &Bytes, out: &mut Outbox) {
        let Some(&to) = self.config.children.get(child as usize) else { return };
        let is_eviction = want.request == MessageKind::Writeback;
        let kind = if is_eviction { MessageKind::EvictAck } else { MessageKind::Reply };
        let mut message = self.message(kind, to, want.range, out);
        (message.txn, message.number) = Self::key_of(want);
        // An atomic brings its old value back.
        if self.config.posted & bit(child) != 0 && !want.is_atomic() {
            message.size = 0;
        }
        if want.is_atomic() {
            message.has_data = true;
            message.size += want.range.len;
        }
        if !read.is_empty() {
            let mut patch = Patch::empty(want.range, 1, true);
            patch.copy_in(want.range.start, read);
            message.patch = Some(Arc::new(patch));
        }
        self.send(message, out);
    }
}

/// Marks what an access writes as dirty.
fn mark(entry: &mut Entry, access: &Access) {
    match &access.mask {
        _ if access.range.len == 0 => {}
        None => entry.data.mark(access.range),
        Some(_) => access.runs().into_iter().for_each(|run| entry.data.mark(run)),
    }
}

/// Reads and writes the bytes of an access in a block that is here.
fn apply(entry: &mut Entry, access: &Access, is_root: bool) -> (Bytes, Bytes) {
    let old: Bytes = entry.data.read(access.range).map(SmallVec::from_slice).unwrap_or_default();
    let new = match access.kind {
        AccessKind::Load => return (old, Bytes::new()),
        AccessKind::Store | AccessKind::NStore => SmallVec::from_slice(&access.bytes),
        AccessKind::Atomic(op) => op.apply(&old, &access.bytes),
    };
    if access.range.len > 0 && entry.data.has_values() {
        for run in access.runs() {
            let from = run.start.0.saturating_sub(access.range.start.0) as usize;
            entry.data.copy_in(run.start, new.get(from..from + run.len as usize).unwrap_or(&[]));
        }
    }
    if !is_root {
        mark(entry, access);
    }
    let read = if matches!(access.kind, AccessKind::Atomic(_)) { old } else { Bytes::new() };
    (read, new)
}
