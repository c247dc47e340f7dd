//! Room: the node's MSHRs, a way of its set for a block, and who waits for either.

use std::collections::btree_map::Entry as Place;
use std::collections::{BTreeMap, VecDeque};

use smallvec::SmallVec;

use super::Node;
use super::pending::{Pending, Reason, Want};
use crate::model::address::Address;
use crate::model::message::TxnNumber;
use crate::model::record::{MshrChange, What};
use crate::protocol::outbox::{About, Outbox};
use crate::protocol::store::{Entry, Kind, Room};

/// A block that waits for a way of its set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Waiter {
    block: Address,
    /// Whether it lives in another socket.
    is_remote: bool,
}

/// Blocks that wait for an MSHR or for a way of their set, first come first served.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Waiting {
    pub for_mshr: VecDeque<Address>,
    /// By set, no list of which is empty: GPUs with many warps may have hundreds.
    for_way: BTreeMap<u32, VecDeque<Waiter>>,
    /// Sets of which a way may have become free.
    pub freed: SmallVec<[u32; 4]>,
}

impl Waiting {
    /// Takes out the block that waits in the n-th place for a way of a set.
    fn take(&mut self, set: u32, nth: usize) -> Option<Address> {
        let Place::Occupied(mut waiters) = self.for_way.entry(set) else { return None };
        let waiter = waiters.get_mut().remove(nth);
        if waiters.get().is_empty() {
            waiters.remove();
        }
        waiter.map(|waiter| waiter.block)
    }

    /// Whether the block in the n-th place for a way of a set is remote, if one is there.
    fn kind(&self, set: u32, nth: usize) -> Option<bool> {
        self.for_way.get(&set)?.get(nth).map(|waiter| waiter.is_remote)
    }

    /// Whether a block of a kind waits for a way of a set.
    fn has(&self, set: u32, is_remote: bool) -> bool {
        self.for_way.get(&set).is_some_and(|waiters| waiters.iter().any(|one| one.is_remote == is_remote))
    }

    /// Of every set that is waited for, a way may have become free.
    pub fn call_all(&mut self) {
        self.freed.extend(self.for_way.keys().rev().copied());
    }

    /// A block waits for a way of its set: in the place that it had, or behind the others.
    fn put(&mut self, set: u32, waiter: Waiter, nth: Option<usize>) {
        let waiters = self.for_way.entry(set).or_default();
        waiters.insert(nth.unwrap_or(waiters.len()).min(waiters.len()), waiter);
    }
}

impl Node {
    /// Whether an MSHR can be taken.
    pub(super) fn has_mshr(&self) -> bool {
        self.config.mshrs == 0 || self.mshrs_used < self.config.mshrs
    }

    /// Whether a block has an MSHR or may take one; if not, it waits for one.
    pub(super) fn find_mshr(
        &mut self,
        pending: &mut Pending,
        number: Option<TxnNumber>,
        out: &mut Outbox,
    ) -> bool {
        if pending.mshr || !pending.waits && self.has_mshr() {
            return true;
        }
        if !pending.waits {
            pending.waits = true;
            self.waiting.for_mshr.push_back(pending.block);
            self.counters.mshr_full += 1;
            self.record_mshr(pending.block, number, MshrChange::Full, out);
        }
        false
    }

    pub(super) fn take_mshr(&mut self, pending: &mut Pending, number: Option<TxnNumber>, out: &mut Outbox) {
        if !pending.mshr {
            pending.mshr = true;
            self.mshrs_used += 1;
            self.counters.mshr_ticks = self.counters.mshr_ticks.wrapping_sub(out.tick);
            self.high_water = self.high_water.max(self.mshrs_used);
            self.record_mshr(pending.block, number, MshrChange::Allocate, out);
        }
    }

    pub(super) fn release_mshr(
        &mut self,
        pending: &mut Pending,
        number: Option<TxnNumber>,
        out: &mut Outbox,
    ) {
        if pending.mshr {
            pending.mshr = false;
            self.mshrs_used = self.mshrs_used.saturating_sub(1);
            self.counters.mshr_ticks = self.counters.mshr_ticks.wrapping_add(out.tick);
            self.record_mshr(pending.block, number, MshrChange::Release, out);
        }
    }

    pub(super) fn record_mshr(
        &self,
        block: Address,
        txn: Option<TxnNumber>,
        change: MshrChange,
        out: &mut Outbox,
    ) {
        let (used, capacity) = (self.mshrs_used, self.config.mshrs);
        let about = About::new(self.range_of(block), txn);
        out.record(self.config.id, about, || What::Mshr { change, used, capacity });
    }

    /// Gives blocks another try whose MSHR or way may be free now, and goes on flushing.
    pub(super) fn settle(&mut self, out: &mut Outbox) {
        // Mostly nobody waits for anything.
        if self.has_to_settle() {
            self.settle_all(out);
        }
    }

    fn has_to_settle(&self) -> bool {
        let is_waited_for = !self.waiting.for_mshr.is_empty() || !self.waiting.freed.is_empty();
        is_waited_for || self.has_to_flush() || self.may_purge() || self.wants_release()
    }

    /// Apart, so that asking whether costs little.
    #[inline(never)]
    fn settle_all(&mut self, out: &mut Outbox) {
        for _ in 0..self.waiting.for_mshr.len() {
            if !self.has_mshr() {
                break;
            }
            let Some(block) = self.waiting.for_mshr.pop_front() else { break };
            self.retry(block, out);
        }
        while let Some(set) = self.waiting.freed.pop() {
            self.call_for_way(set, out);
        }
        self.flush_more(out);
        self.purge_more(out);
        self.release_again(out);
    }

    /// A way of a set may have become free: it is for the first that waits for one and can use it. Where ways are dealt over local
    /// and remote blocks, that may be one behind others, of which one may go on once it waits no longer. What one
    /// cannot have, no other of its kind can.
    fn call_for_way(&mut self, set: u32, out: &mut Outbox) {
        let (mut nth, mut refused) = (0, [false; 2]);
        while let Some(kind) = self.waiting.kind(set, nth).map(usize::from) {
            if refused[kind] {
                nth += 1;
                continue;
            }
            let Some(block) = self.waiting.take(set, nth) else { return };
            self.called = Some((block, nth));
            self.retry(block, out);
            let waits_again = self.called.take().is_none();
            if self.remote_ways() == 0 || !waits_again && nth == 0 {
                return;
            }
            if waits_again {
                refused[kind] = true;
                nth += 1;
            } else {
                (nth, refused) = (0, [false; 2]);
            }
        }
    }

    fn retry(&mut self, block: Address, out: &mut Outbox) {
        self.go_on(block, out, |_, pending, _| {
            pending.waits = false;
            true
        });
    }

    /// A way of the block's set may be had now.
    pub(super) fn note_free(&mut self, block: Address) {
        if !self.waiting.for_way.is_empty() {
            self.waiting.freed.push(self.store.set_of(block));
        }
    }

    /// Finds a place for the block of a want. `false` if it has to wait for one.
    pub(super) fn find_place(&mut self, pending: &mut Pending, want: &Want, out: &mut Outbox) -> bool {
        if pending.waits {
            return false;
        }
        let block = pending.block;
        if self.make_room(block, want, out) {
            return true;
        }
        pending.waits = true;
        let had = self.called.take_if(|(called, _)| *called == block).map(|(_, nth)| nth);
        let is_remote = self.is_remote(block, &out.homes);
        self.waiting.put(self.store.set_of(block), Waiter { block, is_remote }, had);
        false
    }

    /// Finds a place for a block, evicting another if need be. `false` if none can be had yet.
    pub(super) fn make_room(&mut self, block: Address, want: &Want, out: &mut Outbox) -> bool {
        if !self.recalling.is_empty() && self.is_evicting_from(self.store.set_of(block)) {
            return false;
        }
        let is_remote = self.is_remote(block, &out.homes);
        let is_busy = |other| other == block || self.pending.contains(other);
        let found = if self.remote_ways() == 0 {
            self.store.room(block, is_busy)
        } else {
            let other_waits = self.waiting.has(self.store.set_of(block), !is_remote);
            self.store.room_by_kind(block, Kind { is_remote, other_waits }, is_busy)
        };
        let slot = match found {
            Room::Free(slot) => slot,
            Room::Victim(slot, victim) if self.clear(slot, victim, want, out) => slot,
            Room::Victim(..) | Room::None => return false,
        };
        self.uses += 1;
        let entry = Entry { remote: is_remote, used: self.uses, ..self.new_entry(block) };
        self.store.place(slot, entry);
        self.forget_sectors(block);
        true
    }

    /// Evicts a block for the sake of a want. Returns whether its slot is free.
    fn clear(&mut self, slot: usize, victim: Address, want: &Want, out: &mut Outbox) -> bool {
        let freed = self.waiting.freed.len();
        self.store.focus_on(slot, victim);
        self.evict(victim, Reason::Room, (want.txn, want.number), out);
        if self.store.get(victim).is_some() {
            return false;
        }
        // Its place is taken at once: whoever else waits for one need not look.
        self.waiting.freed.truncate(freed);
        true
    }

    /// One eviction at a time in a set, so that a block that waits for room does not empty the set.
    fn is_evicting_from(&self, set: u32) -> bool {
        self.recalling.iter().any(|&block| self.store.set_of(block) == set)
    }
}
