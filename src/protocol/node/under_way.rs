//! What is under way for a block: where it is begun, changed, and driven as far as it goes.

use std::sync::Arc;

use super::pending::Pending;
use super::{Node, Role};
use crate::model::address::Address;
use crate::model::cow::own;
use crate::model::fault::Fault;
use crate::model::state::State;
use crate::protocol::outbox::Outbox;

impl Node {
    /// Changes what is under way for a block, or begins it, and does whatever has become possible.
    pub(super) fn begin(
        &mut self,
        block: Address,
        out: &mut Outbox,
        change: impl FnOnce(&mut Self, &mut Pending, &mut Outbox),
    ) {
        let known = self.pending.take(block);
        let is_new = known.is_none();
        let mut shared = known.unwrap_or_else(|| self.spare.take());
        let Some(pending) = own(&mut shared) else { return };
        if is_new {
            pending.renew(block, self.config.parent(block, &out.homes), out.tick);
            pending.uncached = self.is_uncached(block, out);
        }
        change(self, pending, out);
        let is_over = self.resume(pending, out);
        self.keep(block, shared, is_over);
    }

    /// Begins something for a block for which nothing is under way, and keeps it unless it is over at once.
    pub(super) fn start(
        &mut self,
        block: Address,
        out: &mut Outbox,
        change: impl FnOnce(&mut Self, &mut Pending, &mut Outbox),
    ) {
        let mut shared = self.spare.take();
        let Some(pending) = own(&mut shared) else { return };
        pending.renew(block, self.config.parent(block, &out.homes), out.tick);
        change(self, pending, out);
        if pending.is_idle() {
            self.spare.put(shared);
        } else {
            self.pending.insert(block, shared);
        }
    }

    /// Changes what is under way for a block, if anything is, and does whatever has become possible, unless the change says
    /// that nothing has.
    pub(super) fn go_on(
        &mut self,
        block: Address,
        out: &mut Outbox,
        change: impl FnOnce(&mut Self, &mut Pending, &mut Outbox) -> bool,
    ) {
        let Some(mut shared) = self.pending.take(block) else { return };
        let Some(pending) = own(&mut shared) else { return };
        if !change(self, pending, out) {
            self.pending.insert(block, shared);
            return;
        }
        let is_over = self.resume(pending, out);
        self.keep(block, shared, is_over);
    }

    /// Does whatever has become possible for a block. Returns whether nothing is under way any more.
    fn resume(&mut self, pending: &mut Pending, out: &mut Outbox) -> bool {
        self.store.focus(pending.block);
        // Mostly something has ended, and nothing waited for that.
        if pending.waits_for_more() {
            self.drive(pending, out);
        }
        // Who waits for a way has none meanwhile: those that could leave it may wait for an MSHR.
        let is_needed = !pending.queue.is_empty() && !pending.waits;
        if pending.asked.is_none() && pending.passed.is_empty() && !is_needed {
            self.release_mshr(pending, None, out);
        }
        pending.is_idle()
    }

    /// Keeps what is under way for a block, which nobody else has, unless it is over.
    fn keep(&mut self, block: Address, pending: Arc<Pending>, is_over: bool) {
        if !is_over {
            self.pending.insert(block, pending);
            return;
        }
        self.pending.vacate(block);
        self.spare.put(pending);
        self.flushing.note_free(block);
        // One that has left has no way to give.
        let Some(state) = self.store.get(block).map(|entry| entry.state) else { return };
        self.note_free(block);
        if self.config.role != Role::Root && state == State::I {
            self.store.remove(block);
        }
    }

    /// Apart, so that what ends costs little.
    #[inline(never)]
    fn drive(&mut self, pending: &mut Pending, out: &mut Outbox) {
        loop {
            if let Some(probe) = pending.probe {
                let held_back = pending.asked.is_some() && self.config.has_fault(Fault::ProbesMayNotPass);
                if probe.started || !self.may_answer(pending) || held_back {
                    return;
                }
                self.start_probe(pending, out);
                continue;
            }
            if pending.evicting.is_some() || self.waits_for_evict_ack(pending) {
                return;
            }
            let goes_on = if Self::awaits_acquire(pending) {
                self.acquire_when_free(pending, out)
            } else {
                self.serve_next(pending, out)
            };
            if !goes_on {
                return;
            }
        }
    }
}
