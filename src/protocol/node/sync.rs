//! Software coherence: what an acquire invalidates here, and what a release writes back.
//!
//! Nobody tracks the copies, so that whoever synchronises empties whole caches. An acquire lets no later request see bytes
//! that were fetched before it, those of a fetch under way included. A release has ended when everything that was stored
//! here before it has been acknowledged by the parent.

use super::pending::Pending;
use super::{Node, Role};
use crate::model::address::Address;
use crate::model::state::{Action, State};
use crate::protocol::outbox::{About, Outbox};
use crate::protocol::table::{Cell, Next, Step};

/// Releases of a node: one goes on at a time, and those that come meanwhile share the next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Releases {
    /// Writebacks that the one under way waits for.
    left: u32,
    /// Releases that have ended.
    done: u64,
    /// Another one has to follow.
    wanted: bool,
}

impl Node {
    /// Whether an acquire does anything to blocks here.
    #[must_use]
    pub fn is_synchronised(&self) -> bool {
        let is_leaf = self.config.role == Role::Leaf;
        let mut rows = self.config.table.rows.iter();
        let cells = |row: &crate::protocol::table::Row| if is_leaf { row.leaf } else { row.inner };
        let shares = self.config.table.uncached_cell(Action::Load, !is_leaf).map(|cell| cell.step);
        self.config.role != Role::Root
            && (shares == Some(Step::Fetch)
                || rows.any(|row| cells(row).get(Action::Acquire.index()).is_some_and(Option::is_some)))
    }

    /// Whether a release may have to wait for blocks here.
    #[must_use]
    pub fn is_released(&self) -> bool {
        let rows = || self.config.table.rows.iter();
        self.is_synchronised()
            && rows().any(|row| self.acquire_cell(row.state).is_some_and(|cell| cell.step == Step::Writeback))
    }

    fn acquire_cell(&self, state: State) -> Option<Cell> {
        self.config.table.cell(state, Action::Acquire, self.config.role != Role::Leaf)
    }

    /// Empties the node of everything that an acquire invalidates. What is dirty is written back; what is under way for
    /// a block ends first, and whoever asks for it from now on asks the parent again.
    pub fn acquire(&mut self, out: &mut Outbox) {
        let blocks: Vec<(Address, State)> =
            self.store.entries().map(|(_, entry)| (entry.block, entry.state)).collect();
        for (block, state) in blocks {
            let cell = self.acquire_cell(state);
            let empties = cell.is_some_and(|cell| cell.next == Next::To(State::I));
            if self.pending.contains(block) {
                if empties || state == State::I {
                    self.acquire_later(block);
                }
            } else if empties {
                self.start(block, out, Self::acquire_now);
            }
        }
        // Nor may who comes later share what is on its way for others.
        let shared: Vec<Address> = self
            .pending
            .values()
            .filter(|pending| pending.uncached && pending.asked.is_some())
            .map(|pending| pending.block)
            .collect();
        for block in shared {
            self.acquire_later(block);
        }
    }

    /// The requests that wait for a block may still have what is on its way; none that comes later.
    fn acquire_later(&mut self, block: Address) {
        if let Some(pending) = self.pending.get_mut(block)
            && pending.acquire.is_none()
        {
            pending.acquire = Some(pending.queue.len() as u32);
        }
    }

    /// Whether an acquire that had to wait for a block can happen now, or everything has to wait for it.
    pub(super) fn awaits_acquire(pending: &Pending) -> bool {
        pending.acquire == Some(0)
    }

    /// Lets an acquire happen that waited for what was under way. `false` if it still has to wait.
    pub(super) fn acquire_when_free(&mut self, pending: &mut Pending, out: &mut Outbox) -> bool {
        let is_free = pending.asked.is_none() && pending.passed.is_empty() && pending.serving.is_empty();
        if is_free {
            self.acquire_now(pending, out);
        }
        is_free
    }

    fn acquire_now(&mut self, pending: &mut Pending, out: &mut Outbox) {
        pending.acquire = None;
        let block = pending.block;
        self.store.focus(block);
        match self.acquire_cell(self.state(block)) {
            Some(cell) if cell.next == Next::To(State::I) => {
                self.counters.invalidated += 1;
                let is_dirty = self.store.get(block).is_some_and(|entry| entry.data.mask.any());
                if cell.step == Step::Writeback && is_dirty {
                    self.counters.released_bytes += self.depart(pending, Action::Acquire, (None, None), out);
                } else {
                    let about = About::new(self.range_of(block), None);
                    self.transition(block, Action::Acquire, State::I, about, out);
                    self.store.remove(block);
                    self.note_free(block);
                }
            }
            _ => {}
        }
        if !pending.writeback {
            self.end_part_of_release(pending, out);
        }
    }

    /// One of the requests that an acquire has to wait for has been served.
    pub(super) fn note_served(pending: &mut Pending) {
        pending.acquire = pending.acquire.map(|left| left.saturating_sub(1));
    }

    /// Starts to write back everything that is dirty here; the number of the release that has to end.
    pub fn release(&mut self, out: &mut Outbox) -> u64 {
        if self.releases.left > 0 {
            self.releases.wanted = true;
            return self.releases.done + 2;
        }
        self.start_release(out);
        self.releases.done + u64::from(self.releases.left > 0)
    }

    /// Releases that have ended.
    #[must_use]
    pub fn releases(&self) -> u64 {
        self.releases.done
    }

    fn start_release(&mut self, out: &mut Outbox) {
        if self.is_tagged() {
            let is_clean = self.clean_tags(out);
            self.releases.done += u64::from(is_clean);
            self.releases.left = u32::from(!is_clean);
            return;
        }
        let on_their_way: Vec<Address> =
            self.pending.values().filter(|pending| pending.writeback).map(|pending| pending.block).collect();
        let dirty: Vec<Address> = self
            .store
            .entries()
            .filter(|(_, entry)| entry.data.mask.any())
            .filter(|(_, entry)| {
                self.acquire_cell(entry.state).is_some_and(|cell| cell.step == Step::Writeback)
            })
            .map(|(_, entry)| entry.block)
            .collect();
        for block in dirty {
            if self.pending.contains(block) {
                self.acquire_later(block);
            } else {
                self.start(block, out, Self::acquire_now);
            }
            self.wait_for(block);
        }
        for block in on_their_way {
            self.wait_for(block);
        }
        if self.releases.left == 0 {
            self.releases.done += 1;
        }
    }

    fn wait_for(&mut self, block: Address) {
        if let Some(pending) = self.pending.get_mut(block)
            && !std::mem::replace(&mut pending.released, true)
        {
            self.releases.left += 1;
        }
    }

    /// A block that a release waits for has been written back, or had nothing dirty after all.
    pub(super) fn end_part_of_release(&mut self, pending: &mut Pending, out: &mut Outbox) {
        if !std::mem::take(&mut pending.released) {
            return;
        }
        self.releases.left = self.releases.left.saturating_sub(1);
        if self.releases.left == 0 {
            self.releases.done += 1;
            out.released = true;
        }
    }

    /// All that was handed on to the parent has been acknowledged.
    pub(super) fn end_release(&mut self, out: &mut Outbox) {
        if std::mem::take(&mut self.releases.left) > 0 {
            self.releases.done += 1;
            out.released = true;
        }
    }

    /// Whether a release was asked for while another one went on.
    pub(super) fn wants_release(&self) -> bool {
        self.releases.wanted
    }

    /// Starts it.
    pub(super) fn release_again(&mut self, out: &mut Outbox) {
        if self.releases.left == 0 && std::mem::take(&mut self.releases.wanted) {
            self.start_release(out);
            out.released = true;
        }
    }
}
