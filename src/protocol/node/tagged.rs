//! A memory that is a direct-mapped cache of its parent's, with its tags in DRAM: what it does with a request, and what its tag
//! miss handler does with those that miss ("`ScaleGPU`", section 3). Which of the ways a request goes is the table's.
//!
//! What leads to the parent keeps one order: writes that were handed on come there before a fetch that follows them, as posted
//! writes do on PCIe.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::Node;
use super::pending::Want;
use super::tag_miss_handler::{Lack, TagMissHandler};
use crate::model::access::{Access, AccessKind, Bytes};
use crate::model::address::{Address, Range};
use crate::model::bits::Bits;
use crate::model::fault::Fault;
use crate::model::message::{Message, MessageKind, Network, TxnKey, TxnNumber};
use crate::model::patch::Patch;
use crate::model::record::What;
use crate::model::state::{Action, State};
use crate::model::tags::{TagOutcome, TagRecord};
use crate::model::time::EventNumber;
use crate::protocol::outbox::{About, Outbox, Outgoing, TagRead, Touch, TouchKind};
use crate::protocol::store::Room;
use crate::protocol::table::{Cell, Next, Step};

/// Bytes of an access to the DRAM (`ScaleGPU`, Table 1 and section 4.3).
const ACCESS: u32 = 64;

impl Node {
    /// Whether it is a cache with its tags in DRAM.
    #[must_use]
    pub fn is_tagged(&self) -> bool {
        self.tags.is_some()
    }

    /// The tag miss handler, of a memory that has one.
    #[must_use]
    pub fn tag_miss_handler(&self) -> Option<&TagMissHandler> {
        self.tags.as_deref()
    }

    /// Takes a message of a child or of the parent.
    pub(super) fn receive_tagged(&mut self, message: &mut Message, out: &mut Outbox) {
        match message.kind {
            MessageKind::Reply if message.has_data => self.arrive(message, out),
            MessageKind::Reply => self.note_relayed(message.range, out),
            MessageKind::Notify => {
                let mut ack = self.message(MessageKind::EvictAck, message.from, message.range, out);
                (ack.txn, ack.number) = (message.txn, message.number);
                self.send(ack, out);
            }
            _ => {
                let (from, range) = (message.from, message.range);
                let Some(want) = self.want_of(message, out) else { return };
                let is_second = self.tags.as_deref_mut().is_some_and(|tags| tags.was_refused(from, range));
                self.look_up(want, !is_second, out);
            }
        }
        self.count_scores(out);
    }

    /// The scoreboard is what holds misses here: its entries are told like MSHRs.
    fn count_scores(&mut self, out: &Outbox) {
        let Some(tags) = self.tags.as_deref() else { return };
        let held = |count: u32| u64::from(count).wrapping_mul(out.tick);
        let used = tags.scores.len() as u32;
        let ticks = self.counters.mshr_ticks.wrapping_add(held(self.mshrs_used)).wrapping_sub(held(used));
        (self.counters.mshr_ticks, self.mshrs_used) = (ticks, used);
        self.high_water = tags.counters.scoreboard_high_water;
    }

    /// What a child's message asks. A writeback is a store of the bytes that are dirty.
    fn want_of(&self, message: &mut Message, out: &Outbox) -> Option<Want> {
        let child = self.config.child(message.from)?;
        let action = self.action_of_message(message);
        if let (MessageKind::Writeback, Some(patch)) = (message.kind, message.patch.as_deref()) {
            message.access = Some(Arc::new(access_of(patch, AccessKind::NStore)));
        }
        Some(Want::of(message, child, action, out.tick))
    }

    fn action_of_message(&self, message: &Message) -> Action {
        match message.kind {
            MessageKind::Writeback => Action::NStore,
            _ => self.action_of_request(message),
        }
    }

    /// How a request finds its tag: the state of its block, which tells whether something else stands in its place.
    pub(super) fn tag_state(&self, block: Address) -> State {
        match self.store.get(block) {
            Some(entry) => entry.state,
            None if self.occupant(block).is_some() => self.config.table.conflict(),
            None => State::I,
        }
    }

    /// The block that stands in the place of another.
    pub(super) fn occupant(&self, block: Address) -> Option<Address> {
        match self.store.room(block, |_| false) {
            Room::Victim(_, victim) => Some(victim),
            Room::Free(_) | Room::None => None,
        }
    }

    /// The cell for a request: a load of bytes that are here hits, though not all of its block are.
    fn tag_cell(&self, block: Address, action: Action, range: Range) -> Option<Cell> {
        let cell = self.config.table.cell(self.tag_state(block), action, true)?;
        let is_here = action == Action::Load && self.store.get(block).is_some_and(|entry| entry.has(range));
        Some(if is_here { Cell { step: Step::Hit, next: Next::Same } } else { cell })
    }

    /// Whether a request would have to wait in the pending queue. A write does so behind a fetch of its tag: handed on to the
    /// host it would be missing from what comes.
    fn must_wait(&self, cell: Cell, block: Address) -> bool {
        let awaited = || self.tags.as_deref().is_some_and(|tags| tags.is_awaited(block));
        match cell.step {
            Step::Fetch => true,
            Step::Relay => awaited() && !self.config.has_fault(Fault::RelayPastFetch),
            _ => false,
        }
    }

    /// What keeps the node from taking a message, if anything does.
    #[must_use]
    pub fn lack(&self, message: &Message) -> Option<Lack> {
        let (tags, config) = (self.tags.as_deref()?, self.config.tags?);
        if !matches!(message.kind, MessageKind::Fetch | MessageKind::Forward | MessageKind::Writeback) {
            return None;
        }
        let block = self.block_of(message.range.start);
        let cell = self.tag_cell(block, self.action_of_message(message), message.range)?;
        self.must_wait(cell, block).then(|| tags.lacks(block, config))?
    }

    /// Tells that a message had to stay where it is.
    pub fn tell_lack(&mut self, message: &Message, out: &mut Outbox) {
        if self.lack(message).is_some() {
            let about = About::message(message).because(message.cause);
            self.tell_tag(TagOutcome::Full, message.kind != MessageKind::Fetch, about, out);
            self.counters.misses += 1;
            self.counters.mshr_full += 1;
            if let Some(tags) = self.tags.as_deref_mut() {
                tags.refused.push((message.from, message.range));
            }
        }
    }

    /// The network whose messages need as much room behind the node as this one: a write may have to be handed on.
    #[must_use]
    pub fn room_for(&self, message: &Message) -> Network {
        match message.kind {
            MessageKind::Writeback if self.is_tagged() => Network::Request,
            kind => kind.network(),
        }
    }

    fn tell_tag(&mut self, outcome: TagOutcome, writes: bool, about: About, out: &mut Outbox) {
        let Some(tags) = self.tags.as_deref_mut() else { return };
        tags.note(outcome);
        let (pending, scoreboard) = (tags.queue.len() as u32, tags.scores.len() as u32);
        out.record(self.config.id, about, || What::Tag(TagRecord { outcome, writes, pending, scoreboard }));
    }

    /// Compares a request with its tag, for the first time or in a replay, and does what follows; `false` if it misses and waits.
    fn look_up(&mut self, want: Want, is_first: bool, out: &mut Outbox) -> bool {
        let block = self.block_of(want.range.start);
        self.store.focus(block);
        let state = self.tag_state(block);
        let Some(cell) = self.tag_cell(block, want.action, want.range) else {
            self.report_impossible(block, &want, out);
            return true;
        };
        let must_wait = self.must_wait(cell, block);
        let is_hit = !must_wait && !matches!(cell.step, Step::Relay | Step::Both);
        match (is_first, is_hit) {
            (true, true) => self.count_hit(block),
            (true, false) => self.counters.misses += 1,
            (false, _) => {}
        }
        if must_wait {
            self.miss(block, want, state, out);
            return false;
        }
        let first = out.sends.len();
        match cell.step {
            Step::Relay => self.relay(block, &want, state, out),
            Step::Both => self.write_both(block, &want, cell, out),
            _ => self.hit_tag(block, &want, out),
        }
        // The tag is read whatever comes of it, and all that leaves waits for it.
        let sent = out.sends.iter_mut().skip(first);
        for (sent, tag) in sent.zip([TagRead::Own].into_iter().chain(std::iter::repeat(TagRead::Shared))) {
            sent.tag = tag;
        }
        true
    }

    fn hit_tag(&mut self, block: Address, want: &Want, out: &mut Outbox) {
        self.tell_tag(TagOutcome::Hit, want.action != Action::Load, Self::about(want), out);
        if want.access.is_some() {
            self.perform(block, want, out);
            self.note_here(block, want, out);
        } else {
            self.perform_for_child(block, want, out);
        }
    }

    /// Bytes that were stored are here. A block of which all are is as if it had been fetched.
    fn note_here(&mut self, block: Address, want: &Want, out: &mut Outbox) {
        let Some(access) = want.access.as_deref() else { return };
        let Some(entry) = self.store.get_mut(block).filter(|entry| entry.here.is_some()) else { return };
        access.runs().into_iter().for_each(|run| entry.note_here(run));
        if entry.here.is_none() {
            let state = entry.state;
            self.become_whole(block, state, Self::about(want), out);
        }
    }

    /// A block that was partly here is here with all its bytes: the state that its row gives a load.
    fn become_whole(&mut self, block: Address, state: State, about: About, out: &mut Outbox) {
        let cell = self.config.table.cell(state, Action::Load, true);
        if let Some(Cell { step: Step::Fetch, next: Next::To(to) }) = cell
            && let Some(entry) = self.store.get_mut(block)
        {
            entry.state = to;
            self.tell_transition((state, to), Action::Load, false, about, out);
        }
    }

    /// A request that misses waits in the pending queue until its data have come from the parent.
    fn miss(&mut self, block: Address, want: Want, state: State, out: &mut Outbox) {
        let (about, key) = (Self::about(&want), Self::key_of(&want));
        let (writes, range) = (want.action != Action::Load, want.range);
        let asks = self.tags.as_deref_mut().is_some_and(|tags| tags.wait(block, state, want));
        let outcome = if !asks {
            self.counters.merges += 1;
            TagOutcome::Merge
        } else if state == self.config.table.conflict() {
            TagOutcome::ConflictMiss
        } else {
            TagOutcome::ColdMiss
        };
        self.tell_tag(outcome, writes, about, out);
        if asks {
            self.fetch(block, key, TagRead::Own, out);
        } else {
            out.touches.push(Touch { what: TouchKind::ReadTag, range });
        }
        if !writes {
            out.touches.push(Touch { what: TouchKind::Read, range });
        }
    }

    fn fetch(
        &self,
        block: Address,
        (txn, number): (Option<TxnKey>, Option<TxnNumber>),
        tag: TagRead,
        out: &mut Outbox,
    ) {
        let Some(parent) = self.config.parent(block, &out.homes) else { return };
        let mut message = self.message(MessageKind::Fetch, parent, self.range_of(block), out);
        (message.txn, message.number) = (txn, number);
        let read = Range::new(message.range.start, 0);
        out.sends.push(Outgoing { message, read, tag });
    }

    /// A write whose place something else has: the host performs it, and the sender is answered at once.
    fn relay(&mut self, block: Address, want: &Want, state: State, out: &mut Outbox) {
        self.tell_tag(TagOutcome::Relay, true, Self::about(want), out);
        self.count_cell(Some(state), want.action);
        self.hand_on(block, want, out);
        if let Some(access) = want.access.as_deref() {
            self.complete(want, access, Bytes::new(), Bytes::new(), out);
        }
    }

    /// A write whose row is not loaded, and whose place nothing else has: it is performed here and by the host.
    fn write_both(&mut self, block: Address, want: &Want, cell: Cell, out: &mut Outbox) {
        self.tell_tag(TagOutcome::Both, true, Self::about(want), out);
        let is_new = self.store.get(block).is_none();
        if let Next::To(to) = cell.next {
            if is_new {
                self.put(block, self.config.table.is_partial(to));
            }
            self.transition(block, want.action, to, Self::about(want), out);
        }
        if let (Some(access), Some(entry)) = (want.access.as_deref(), self.store.get_mut(block)) {
            for run in access.runs() {
                entry.data.copy_in(run.start, access.bytes_of(run));
            }
        }
        self.note_here(block, want, out);
        self.note_write(want.range, out);
        if is_new {
            out.touches.push(Touch { what: TouchKind::WriteTag, range: want.range });
        }
        if !self.config.has_fault(Fault::ColdWriteOnlyHere) {
            self.hand_on(block, want, out);
        }
        if let Some(access) = want.access.as_deref() {
            self.complete(want, access, Bytes::new(), Bytes::new(), out);
        }
    }

    /// Takes the place of a block, which is free.
    fn put(&mut self, block: Address, partial: bool) {
        let Room::Free(slot) = self.store.room(block, |_| false) else { return };
        let mut entry = self.new_entry(block);
        if partial {
            entry.forget();
        }
        self.store.place(slot, entry);
        self.touch(block);
    }

    /// Sends a write on to the parent.
    fn hand_on(&mut self, block: Address, want: &Want, out: &mut Outbox) {
        let Some(access) = want.access.as_deref() else { return };
        let access = Access { kind: AccessKind::Store, ..access.clone() };
        self.send_write(block, access, Self::key_of(want), false, out);
    }

    /// Sends a write to the parent, a packet for each stretch of bytes that follow each other. What is `stored` here only is read first.
    fn send_write(
        &mut self,
        block: Address,
        access: Access,
        (txn, number): (Option<TxnKey>, Option<TxnNumber>),
        stored: bool,
        out: &mut Outbox,
    ) {
        let Some(parent) = self.config.parent(block, &out.homes) else { return };
        let range = access.range;
        let mut message = self.message(MessageKind::Forward, parent, range, out);
        (message.txn, message.number) = (txn, number);
        let runs = access.runs();
        let packets = (runs.len() as u32).max(1);
        message.size = message.size * packets + runs.iter().map(|run| run.len).sum::<u32>();
        message.has_data = true;
        let read = if stored { touched(&runs) } else { 0 };
        message.access = Some(Arc::new(access));
        out.sends.push(Outgoing { message, read: Range::new(range.start, read), tag: TagRead::None });
        if let Some(tags) = self.tags.as_deref_mut() {
            tags.relayed.push_back((range, out.tick));
        }
    }

    /// Data have come from the parent: they take their place, and requests at the head of the pending queue are looked up again.
    fn arrive(&mut self, message: &Message, out: &mut Outbox) {
        let block = self.block_of(message.range.start);
        let Some(tags) = self.tags.as_deref_mut() else { return };
        let Some(score) = tags.score_mut(block).filter(|score| !score.arrived) else { return };
        if std::mem::take(&mut score.expired) {
            let about = About::message(message).because(message.cause);
            self.tell_tag(TagOutcome::TooOld, false, about, out);
            self.fetch(block, (message.txn, message.number), TagRead::None, out);
            return;
        }
        score.arrived = !self.config.faults.contains(&Fault::LoseArrival);
        let found = score.found;
        let about = About::message(message).because(message.cause);
        self.tell_tag(TagOutcome::Arrival, false, about, out);
        if let Some(victim) = self.occupant(block).filter(|_| self.store.get(block).is_none()) {
            self.displace(victim, Action::Evict, (message.txn, message.number), out);
        }
        self.settle_in(block, found, message, about, out);
        out.touches.push(Touch { what: TouchKind::WriteTag, range: message.range });
        self.replay(message.cause, out);
    }

    /// Fetched bytes go in where none are here; `found` is how the tag was when they were asked for.
    fn settle_in(&mut self, block: Address, found: State, message: &Message, about: About, out: &mut Outbox) {
        self.store.focus(block);
        let is_new = self.store.get(block).is_none();
        if is_new {
            self.put(block, false);
        }
        let state = if is_new { found } else { self.state(block) };
        if let Some(entry) = self.store.get_mut(block) {
            let here = entry.here.take();
            if let Some(fresh) = message.patch.as_deref() {
                match here {
                    Some(here) => entry.data.fill_except(fresh, &here),
                    None => entry.data.fill(fresh),
                }
            }
        }
        self.note_write(self.range_of(block), out);
        self.become_whole(block, state, about, out);
    }

    fn replay(&mut self, cause: EventNumber, out: &mut Outbox) {
        loop {
            let size = self.config.block;
            let ready = |want: &Want| want.range.start.block(size);
            let Some(mut want) = self.tags.as_deref_mut().and_then(|tags| tags.take_ready(ready)) else {
                return;
            };
            want.cause = cause;
            self.tell_tag(TagOutcome::Replay, want.action != Action::Load, Self::about(&want), out);
            if !self.look_up(want, false, out)
                && let Some(tags) = self.tags.as_deref_mut()
            {
                tags.counters.replays_missed += 1;
            }
        }
    }

    /// A block leaves; what only it has goes to the parent.
    fn displace(
        &mut self,
        victim: Address,
        action: Action,
        key: (Option<TxnKey>, Option<TxnNumber>),
        out: &mut Outbox,
    ) {
        self.store.focus(victim);
        let Some(entry) = self.store.get(victim) else { return };
        let (state, dirty) = (entry.state, entry.data.marked_bytes());
        let about = About::new(self.range_of(victim), key.1);
        if action == Action::Evict {
            self.counters.evictions += 1;
            out.record(self.config.id, about, || What::Evict { state, dirty });
        } else {
            self.counters.invalidated += 1;
        }
        if dirty > 0 {
            let access = access_of(&entry.data, AccessKind::Store);
            self.counters.writebacks += 1;
            if action == Action::Acquire {
                self.counters.released_bytes += u64::from(dirty);
            }
            self.tell_tag(TagOutcome::WriteBack, true, about, out);
            if !self.config.has_fault(Fault::DropDirtyRow) {
                self.send_write(victim, access, key, true, out);
            }
        }
        self.transition(victim, action, State::I, about, out);
        self.store.remove(victim);
        // What is on its way for it was read before what was written to it here.
        let score = self.tags.as_deref_mut().and_then(|tags| tags.score_mut(victim));
        if let Some(score) = score.filter(|score| !score.arrived) {
            score.expired = true;
        }
    }

    /// The parent has performed a write.
    fn note_relayed(&mut self, range: Range, out: &mut Outbox) {
        let Some(tags) = self.tags.as_deref_mut() else { return };
        if let Some(place) = tags.relayed.iter().position(|(sent, _)| *sent == range) {
            tags.relayed.remove(place);
        }
        if !tags.relayed.is_empty() {
            return;
        }
        if self.flushing.end() {
            out.flushed = true;
        }
        self.end_release(out);
    }

    /// These blocks leave. What of them was fetched before and comes later is fetched again.
    pub fn forget(&mut self, blocks: &BTreeSet<Address>, out: &mut Outbox) {
        for &block in blocks {
            self.displace(block, Action::Acquire, (None, None), out);
        }
        if let Some(tags) = self.tags.as_deref_mut() {
            let under_way =
                tags.scores.iter_mut().filter(|score| !score.arrived && blocks.contains(&score.block));
            under_way.for_each(|score| score.expired = true);
        }
    }

    /// Everything that is dirty goes to the parent, and stays. Whether all of it is there.
    pub(super) fn clean_tags(&mut self, out: &mut Outbox) -> bool {
        let dirty = self.store.entries().filter(|(_, entry)| entry.data.mask.any());
        let blocks: Vec<Address> = dirty.map(|(_, entry)| entry.block).collect();
        for block in blocks {
            self.clean(block, out);
        }
        self.tags.as_deref().is_none_or(|tags| tags.relayed.is_empty())
    }

    /// The dirty bytes of a block go to the parent, as if it had asked to read them.
    fn clean(&mut self, block: Address, out: &mut Outbox) {
        self.store.focus(block);
        let Some(entry) = self.store.get_mut(block) else { return };
        let (state, dirty) = (entry.state, entry.data.marked_bytes());
        let access = access_of(&entry.data, AccessKind::Store);
        entry.data.mask.clear();
        let about = About::new(self.range_of(block), None);
        self.counters.writebacks += 1;
        self.counters.released_bytes += u64::from(dirty);
        self.tell_tag(TagOutcome::WriteBack, true, about, out);
        if !self.config.has_fault(Fault::DropDirtyRow) {
            self.send_write(block, access, (None, None), true, out);
        }
        if let Some(Cell { next: Next::To(to), .. }) = self.config.table.cell(state, Action::Read, true) {
            self.transition(block, Action::Read, to, about, out);
        }
    }
}

/// Bytes that a memory moves for some stretches of a row, ascending: whole accesses.
fn touched(runs: &[Range]) -> u32 {
    let size = u64::from(ACCESS);
    let (mut bytes, mut behind) = (0, 0);
    for run in runs {
        let first = (run.start.0 / size).max(behind);
        behind = run.end().div_ceil(size).max(behind);
        bytes += (behind - first) as u32 * ACCESS;
    }
    bytes
}

/// A store of the bytes of a patch that count.
pub(super) fn access_of(patch: &Patch, kind: AccessKind) -> Access {
    let mask = (!patch.mask.is_full()).then(|| {
        let mut bytes = Bits::new(patch.len);
        for bit in patch.mask.iter() {
            bytes.set_range(bit * patch.granule, (bit + 1) * patch.granule, true);
        }
        Arc::new(bytes)
    });
    Access { kind, range: patch.range(), bytes: Bytes::from_slice(patch.bytes()), mask }
}
