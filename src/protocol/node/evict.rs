//! Evictions: recalling what the children hold, writing back, and taking the children's writebacks.

use std::sync::Arc;

use super::pending::{Eviction, Pending, Probing, Reason, Want};
use super::tagged::access_of;
use super::{Node, Role};
use crate::model::access::{Access, AccessKind};
use crate::model::address::{Address, Range};
use crate::model::bits::Bits;
use crate::model::fault::Fault;
use crate::model::message::{Held, Message, MessageKind, TxnKey, TxnNumber};
use crate::model::record::What;
use crate::model::state::{Action, State};
use crate::protocol::outbox::{About, Outbox};
use crate::protocol::store::bit;
use crate::protocol::table::{Next, Step};

/// What makes a node write back what it keeps.
pub(super) struct Cause {
    action: Action,
    txn: (Option<TxnKey>, Option<TxnNumber>),
    about: About,
}

impl Cause {
    /// Something that the table has do so.
    pub fn of(want: &Want) -> Self {
        Self { action: want.action, txn: Node::key_of(want), about: Node::about(want) }
    }

    /// A kernel that is to begin, and sees what was stored before.
    pub fn launch(range: Range) -> Self {
        Self { action: Action::Acquire, txn: (None, None), about: About::new(range, None) }
    }
}

impl Node {
    /// Starts to evict a block that is not busy. Without children to recall it is gone at once.
    pub(super) fn evict(
        &mut self,
        victim: Address,
        reason: Reason,
        txn: (Option<TxnKey>, Option<TxnNumber>),
        out: &mut Outbox,
    ) {
        self.store.focus(victim);
        let Some(entry) = self.store.get(victim) else { return };
        let holders = entry.holders();
        let about = About::new(self.range_of(victim), txn.1);
        let evicted = || What::Evict { state: entry.state, dirty: entry.data.marked_bytes() };
        out.record(self.config.id, about, evicted);
        self.counters.evictions += 1;
        self.start(victim, out, |node, pending, out| {
            let since = out.tick;
            let eviction = Eviction { awaiting: holders, since, number: txn.1, txn: txn.0, reason };
            node.recall(pending, eviction, out);
        });
    }

    /// Takes a block from children that have it.
    pub(super) fn recall(&mut self, pending: &mut Pending, eviction: Eviction, out: &mut Outbox) {
        let (block, txn) = (pending.block, (eviction.txn, eviction.number));
        pending.evicting = Some(eviction);
        if eviction.awaiting == 0 {
            return self.finish_eviction(pending, out);
        }
        self.counters.recalls += 1;
        self.recalling.push(block);
        let range = self.range_of(block);
        self.probe_children(eviction.awaiting, Probing::new(MessageKind::ProbeWrite, range, txn), out);
    }

    /// The children are empty: the block leaves, unless it stays, with its dirty bytes if it has any. The evictor is `I` as soon
    /// as its writeback is sent (rule 11).
    pub(super) fn finish_eviction(&mut self, pending: &mut Pending, out: &mut Outbox) {
        let Some(eviction) = pending.evicting.take() else { return };
        let block = pending.block;
        self.recalling.retain(|recalling| *recalling != block);
        if eviction.reason == Reason::Recall {
            return;
        }
        let written = self.depart(pending, Action::Evict, (eviction.txn, eviction.number), out);
        match eviction.reason {
            Reason::Flush => self.counters.flushed_bytes += written,
            Reason::Launch => self.counters.launch_bytes += written,
            Reason::Room | Reason::Drain | Reason::Recall => {}
        }
    }

    /// A block leaves, as the table says in the column of `action`. Returns how many bytes are written back.
    pub(super) fn depart(
        &mut self,
        pending: &mut Pending,
        action: Action,
        txn: (Option<TxnKey>, Option<TxnNumber>),
        out: &mut Outbox,
    ) -> u64 {
        let (block, mut written) = (pending.block, 0);
        self.note_free(block);
        self.unseen.remove(&block);
        let Some(entry) = self.store.remove(block) else { return 0 };
        let (state, is_dirty) = (entry.state, entry.data.mask.any());
        let about = About::new(self.range_of(block), txn.1);
        let step =
            self.config.table.cell(state, action, self.config.role != Role::Leaf).map(|cell| cell.step);
        if step.is_none() && action == Action::Evict && state != State::I {
            self.report_unforeseen(action, state, about, out);
        }
        self.tell_transition((state, State::I), action, false, about, out);
        if !is_dirty && step == Some(Step::Silent) {
            return 0;
        }
        let kind = if is_dirty { MessageKind::Writeback } else { MessageKind::Notify };
        let Some(parent) = pending.parent else { return 0 };
        let mut message = self.message(kind, parent, self.range_of(block), out);
        (message.txn, message.number) = txn;
        message.granted = Some(state);
        if is_dirty {
            let (sectors, bytes) = self.sectors_to_send(&entry);
            let data = entry.data;
            self.renew_answers(&data);
            self.counters.writebacks += 1;
            written = u64::from(bytes);
            message.size += bytes;
            message.sectors = sectors;
            message.has_data = true;
            message.patch = Some(Arc::new(data));
        }
        self.send(message, out);
        pending.writeback = true;
        written
    }

    /// Sends the dirty bytes of a block down but keeps it, no longer as its owner (`flush` in a table). It is in the state that
    /// follows from then on: the parent may let others have the block before it has acknowledged. `false` if there is
    /// nothing to send.
    pub(super) fn flush_down(
        &mut self,
        pending: &mut Pending,
        cause: &Cause,
        next: Next,
        out: &mut Outbox,
    ) -> bool {
        let block = pending.block;
        let state = self.state(block);
        let Some(parent) = pending.parent else { return false };
        let Some(sent) = self.store.get(block).map(|entry| self.sectors_to_send(entry)) else { return false };
        let Some(entry) = self.store.get_mut(block) else { return false };
        let data = entry.data.clone();
        entry.data.mask.clear();
        if !data.mask.any() {
            return false;
        }
        self.renew_answers(&data);
        let mut message = self.message(MessageKind::Writeback, parent, self.range_of(block), out);
        (message.txn, message.number) = cause.txn;
        message.granted = Some(state);
        let to = if let Next::To(to) = next { to } else { state };
        let owned = if self.config.table.is_owner(to) { Bits::full(1) } else { Bits::new(1) };
        let held = Held { block: self.config.block, copies: Bits::full(1), owned };
        message.held = Some(Box::new(held));
        message.size += sent.1;
        message.sectors = sent.0;
        message.has_data = true;
        if cause.action == Action::Acquire {
            self.counters.launch_bytes += u64::from(data.len);
        }
        message.patch = Some(Arc::new(data));
        self.counters.writebacks += 1;
        self.send(message, out);
        pending.writeback = true;
        if to != state {
            self.transition(block, cause.action, to, cause.about, out);
        }
        true
    }

    /// A writeback is accepted in every state, at once, and acknowledged (rule 8).
    pub(super) fn receive_eviction(&mut self, message: &Message, out: &mut Outbox) {
        let block = self.block_of(message.range.start);
        let Some(child) = self.config.child(message.from) else { return };
        self.ensure_root_entry(block);
        if let Some(store) = self.store_of(child, message) {
            return self.take_as_store(block, child, message, Some(store), out);
        }
        if !self.drops_writeback(child, message) {
            self.take_bytes(block, child, message, out);
        }
        self.leave(block, child, message, out);
        if self.config.has_fault(Fault::WritebackIsAnswer) {
            self.note_answer(block, child, message, out);
        }
        if message.has_data && self.hides_from_host(child, block) {
            return self.take_as_store(block, child, message, None, out);
        }
        let mut ack = self.message(MessageKind::EvictAck, message.from, message.range, out);
        (ack.txn, ack.number) = (message.txn, message.number);
        self.send(ack, out);
    }

    /// A writeback that is a store like others. Of a child that keeps to no directory the host's caches may hold older bytes, which
    /// go first, as those of processors do when a device writes to memory; and a cache that tracks nobody may have evicted
    /// what its child still has.
    fn store_of(&self, child: u16, message: &Message) -> Option<Access> {
        let is_outside = self.config.outside & bit(child) != 0;
        let tracks = self.config.role == Role::Root || self.config.table.has_directory();
        let kind = match (is_outside, tracks) {
            (true, _) => AccessKind::Store,
            (false, false) => AccessKind::NStore,
            (false, true) => return None,
        };
        let patch = message.patch.as_deref().filter(|_| message.has_data)?;
        Some(access_of(patch, kind))
    }

    /// Whether a cache of the host has a copy from before non-coherent stores of a GPU that have come home: nobody would take it
    /// away later, and after a flush the host reads what the GPUs have made.
    fn hides_from_host(&self, child: u16, block: Address) -> bool {
        let is_host = self.config.snooped & bit(child) != 0;
        let units = self.store.get(block).into_iter().flat_map(|entry| &entry.units);
        let sharers = units.fold(0, |sharers, unit| sharers | unit.sharers);
        self.config.table.is_noncoherent() && !is_host && sharers & self.config.snooped != 0
    }

    /// Does what a store of the block needs (takes it from the caches of the host, finds it a place), and stores what is to be
    /// stored; then the sender is answered.
    fn take_as_store(
        &mut self,
        block: Address,
        child: u16,
        message: &Message,
        store: Option<Access>,
        out: &mut Outbox,
    ) {
        let action = store.as_ref().map_or(Action::Store, |store| self.action_of(store));
        let mut want = Want::of(&mut message.clone(), child, action, out.tick);
        want.access = store.map(Arc::new);
        self.enqueue(block, want, out);
    }

    pub(super) fn receive_evict_ack(&mut self, message: &Message, out: &mut Outbox) {
        let block = self.block_of(message.range.start);
        self.go_on(block, out, |node, pending, out| {
            pending.writeback = false;
            node.end_part_of_release(pending, out);
            true
        });
    }
}
