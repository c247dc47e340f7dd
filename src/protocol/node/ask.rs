//! Asking the parent, and what its grant does.

use super::pending::{Asked, Pending, Want, Who};
use super::{Node, Role};
use crate::model::access::{Access, AccessKind, Bytes};
use crate::model::address::{Address, Range};
use crate::model::component::ComponentId;
use crate::model::fault::Fault;
use crate::model::message::{Message, MessageKind, TxnKey, TxnNumber};
use crate::model::patch::Patch;
use crate::model::sectors::Sectors;
use crate::model::state::State;
use crate::protocol::outbox::{About, Outbox};
use crate::protocol::store::Entry;
use crate::protocol::table::{Cell, Next, Step};

impl Node {
    /// Asks the parent for what a want needs. Room is made first, so that the reply never waits for it: the
    /// victim's eviction ends before the request goes out. `false` if it has to wait for room.
    pub(super) fn ask(&mut self, pending: &mut Pending, want: &Want, cell: Cell, out: &mut Outbox) -> bool {
        let block = pending.block;
        if pending.waits {
            return false;
        }
        if !self.find_mshr(pending, want.number, out) {
            return false;
        }
        if !pending.uncached && self.store.get(block).is_none() && !self.find_place(pending, want, out) {
            return false;
        }
        let kind = match cell.step {
            Step::Ask(kind) => kind,
            _ => MessageKind::Fetch,
        };
        let Some(parent) = pending.parent else { return false };
        self.take_mshr(pending, want.number, out);
        // The cell is used now, whatever becomes of the block until the answer comes.
        self.count_cell((!pending.uncached).then(|| self.state(block)), want.action);
        pending.asked = Some(Asked {
            kind,
            action: want.action,
            next: cell.next,
            since: out.tick,
            parent,
            number: want.number,
            granted: None,
            has_data: false,
            data: None,
            coming: Sectors::NONE,
            spoiled: None,
        });
        if pending.uncached || kind == MessageKind::Fetch && self.is_sectored(block) {
            self.ask_for_sectors(pending, want, out);
            return true;
        }
        let mut message = self.message(kind, parent, self.range_of(block), out);
        (message.txn, message.number) = Self::key_of(want);
        let sectors = self.sectors_to_ask(pending);
        message.sectors = sectors;
        if let Some(asked) = pending.asked.as_mut().filter(|_| self.config.sectored) {
            asked.coming = sectors;
        }
        self.send(message, out);
        true
    }

    /// Hands an access, which was taken from a place of the queue, to the parent to perform (write-through). A copy here is
    /// kept up to date, or leaves.
    pub(super) fn pass_up(
        &mut self,
        pending: &mut Pending,
        place: usize,
        (want, next): (Want, Next),
        out: &mut Outbox,
    ) {
        let Some(parent) = pending.parent else { return };
        if !pending.uncached && !want.is_performed_here() {
            self.report_handed_on(&want, out);
        }
        if let Some(access) = &want.access
            && let Some(entry) = self.store.get_mut(pending.block)
        {
            copy_stored(entry, access);
        }
        self.count_cell((!pending.uncached).then(|| self.state(pending.block)), want.action);
        if !pending.uncached {
            self.follow(pending.block, next, &want, out);
        }
        self.take_mshr(pending, want.number, out);
        let kind = if want.is_fetch() { MessageKind::Fetch } else { MessageKind::Forward };
        let mut message = self.message(kind, parent, want.range, out);
        (message.txn, message.number) = Self::key_of(&want);
        message.access.clone_from(&want.access);
        message.sectors = want.sectors;
        if want.is_load() {
            self.counters.uncached_loads += 1;
            self.counters.uncached_requests += 1;
        } else {
            // Where sectors are moved, those that lanes skip are not.
            let is_cut = self.config.by_sector && !want.sectors.is_empty();
            let touched = if is_cut { want.sectors.bytes(self.config.block) } else { want.range.len };
            message.size += want.range.len.min(touched);
        }
        self.send(message, out);
        pending.pass(place, want);
    }

    /// What becomes of a copy here of what is handed on. One that is I takes no place.
    fn follow(&mut self, block: Address, next: Next, want: &Want, out: &mut Outbox) {
        let Some(entry) = self.store.get_mut(block) else { return };
        let from = entry.state;
        if let Next::To(to) = next
            && from != State::I
        {
            entry.state = to;
        }
        let (to, is_held) = (entry.state, entry.holders() != 0);
        if from != to {
            self.record_change((from, to), want.action, false, Self::about(want), out);
        }
        if to == State::I && !is_held {
            self.store.remove(block);
            self.note_free(block);
        }
    }

    /// A grant, or the data of a peer transfer: the request has ended when both are here.
    pub(super) fn receive_grant(&mut self, message: &Message, out: &mut Outbox) {
        let block = self.block_of(message.range.start);
        self.go_on(block, out, |node, pending, out| {
            let is_complete = node.take_grant(pending, message, out);
            if is_complete {
                node.end_request(pending, message, out);
            }
            is_complete
        });
    }

    /// Notes what has come. Returns whether all has.
    fn take_grant(&self, pending: &mut Pending, message: &Message, out: &mut Outbox) -> bool {
        let Some(asked) = pending.asked.as_mut() else { return false };
        if message.kind == MessageKind::Grant {
            asked.granted = message.granted;
        }
        if message.has_data {
            asked.has_data = true;
            asked.data.clone_from(&message.patch);
        }
        let is_complete = asked.granted.is_some() && asked.has_data;
        if !is_complete && self.acknowledges_early(message) {
            let (to, number) = (asked.parent, asked.number);
            self.acknowledge(pending.block, to, (message.txn, number), out);
        }
        is_complete
    }

    /// Takes the granted state and the bytes, performs what asked, and acknowledges.
    pub(super) fn end_request(&mut self, pending: &mut Pending, message: &Message, out: &mut Outbox) {
        let block = pending.block;
        if let Some(mut asked) = pending.asked.take() {
            self.fill(block, asked.data.as_deref(), message.sectors, out);
            // Its children may have lines of it from before.
            self.note_unseen(block, !0);
            let to = match asked.next {
                Next::To(state) => Some(state),
                Next::Granted => Some(asked.granted.unwrap_or(State::I)),
                Next::Same => None,
            };
            if let Some(to) = to {
                let about = About::new(message.range, asked.number).because(message.cause);
                let entry = self.store.get_mut(block);
                let from = entry.map_or(State::I, |entry| std::mem::replace(&mut entry.state, to));
                self.record_change((from, to), asked.action, false, about, out);
            }
            if self.config.role == Role::Leaf {
                self.perform_waiting(pending, out);
            }
            if asked.kind == MessageKind::Fetch && !asked.coming.is_empty() {
                (asked.next, asked.has_data, asked.data) = (Next::Same, false, None);
                pending.asked = Some(asked);
                return;
            }
            let is_acknowledged =
                message.kind == MessageKind::PeerData && self.config.has_fault(Fault::AckBeforeData);
            if asked.kind != MessageKind::Fetch && !is_acknowledged {
                self.acknowledge(block, asked.parent, (message.txn, asked.number), out);
            }
        }
        self.release_mshr(pending, message.number, out);
    }

    fn acknowledge(
        &self,
        block: Address,
        to: ComponentId,
        key: (Option<TxnKey>, Option<TxnNumber>),
        out: &mut Outbox,
    ) {
        let mut ack = self.message(MessageKind::GrantAck, to, self.range_of(block), out);
        (ack.txn, ack.number) = key;
        self.send(ack, out);
    }

    /// The parent's bytes go in under the complement of this node's own mask (rule 6).
    fn fill(&mut self, block: Address, fresh: Option<&Patch>, sectors: Sectors, out: &mut Outbox) {
        let has_fault = |fault| self.config.has_fault(fault);
        let whole = has_fault(Fault::MergeWholeBlocks) || has_fault(Fault::GrantOverOwnBytes);
        if self.is_sectored(block) && !whole {
            self.fill_sectors(block, fresh, sectors);
        } else if let Some(fresh) = fresh
            && let Some(entry) = self.store.get_mut(block)
        {
            if whole {
                entry.data.copy_in(fresh.start, fresh.bytes());
            } else {
                entry.data.fill(fresh);
            }
        }
        let range = Range::new(block, self.config.block);
        // What was stored here before is only in the memory.
        let is_whole = !self.store.get(block).is_some_and(|entry| entry.data.mask.any());
        if self.config.has_memory && is_whole && !self.is_sectored(block) {
            self.at_hand = Some((out.event, range));
        }
        self.note_write(range, out);
    }

    /// Performs the accesses at the head of the queue that the new state allows.
    fn perform_waiting(&mut self, pending: &mut Pending, out: &mut Outbox) {
        while let Some(want) = pending.queue.front() {
            if Self::awaits_acquire(pending) {
                return;
            }
            let super::Decision::Here(cell) =
                self.decide(pending.block, (want.action, want.sectors), true, false)
            else {
                return;
            };
            if cell.step != Step::Hit {
                return;
            }
            if let Some(want) = pending.queue.pop_front() {
                Self::note_served(pending);
                self.perform(pending.block, &want, out);
            }
        }
    }

    /// The answer to the oldest access that was passed up, or to a fetch.
    pub(super) fn receive_reply(&mut self, message: &Message, out: &mut Outbox) {
        let block = self.block_of(message.range.start);
        self.go_on(block, out, |node, pending, out| {
            let is_fetch = pending.asked.as_ref().is_some_and(|asked| {
                asked.kind == MessageKind::Fetch
                    && message.range == Range::new(block, node.config.block)
                    && !message.sectors.is_empty()
            });
            if is_fetch && message.has_data {
                node.take_fetched(pending, message, out);
            } else if let Some(want) = take_passed(pending, message) {
                node.end_passed(pending, &want, message, out);
            }
            true
        });
    }

    fn end_passed(&mut self, pending: &Pending, want: &Want, message: &Message, out: &mut Outbox) {
        if let Who::Child(child) = want.who
            && want.is_load()
        {
            self.reply_load(child, want, message.patch.clone(), true, out);
            return;
        }
        let Some(access) = want.access.clone() else { return };
        let read: Bytes =
            message.patch.as_ref().map(|patch| patch.bytes().iter().copied().collect()).unwrap_or_default();
        let wrote = match access.kind {
            AccessKind::Atomic(op) => op.apply(&read, &access.bytes),
            _ => access.bytes.clone(),
        };
        if let Some(entry) = self.store.get_mut(pending.block)
            && matches!(access.kind, AccessKind::Atomic(_))
        {
            entry.data.copy_in(access.range.start, &wrote);
            // What was stored after it stays on top.
            for later in pending.passed.iter().filter_map(|want| want.access.as_deref()) {
                copy_stored(entry, later);
            }
        }
        self.complete(want, &access, read, wrote, out);
    }
}

/// Keeps a copy up to date with a store that the parent performs.
fn copy_stored(entry: &mut Entry, access: &Access) {
    if matches!(access.kind, AccessKind::Store | AccessKind::NStore) {
        for run in access.runs() {
            entry.data.copy_in(run.start, access.bytes_of(run));
        }
    }
}

/// Takes out what was passed up and is answered by a message: the oldest that fits.
fn take_passed(pending: &mut Pending, message: &Message) -> Option<Want> {
    let fits = |want: &Want| {
        want.number == message.number
            && want.range == message.range
            && want.is_load() != message.sectors.is_empty()
    };
    let place = pending.passed.iter().position(fits).unwrap_or(0);
    pending.take_passed(place)
}
