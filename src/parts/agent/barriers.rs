//! Barriers: the warps of a block wait for each other.

use super::warps::Warp;
use super::{Agent, Work};
use crate::model::time::Tick;
use crate::model::warp::WarpState;
use crate::protocol::outbox::Outbox;

impl Agent {
    /// The slots of the warps of its block that a warp at a barrier waits for.
    #[must_use]
    pub fn barrier_awaits(&self, slot: u32) -> Vec<u32> {
        let Some(Work::Block { task, block, .. }) = self.warps.get(slot as usize).and_then(|warp| warp.work)
        else {
            return Vec::new();
        };
        let others = self.warps.iter().zip(0..).filter(|(warp, _)| {
            warp.state != WarpState::Barrier
                && matches!(warp.work, Some(Work::Block { task: t, block: b, .. }) if t == task && b == block)
        });
        others.map(|(_, slot)| slot).collect()
    }

    /// Lets the warps of a block go on when all that are left stand at its barrier.
    pub(super) fn release_barrier(&mut self, work: Work, ready: Tick, out: &mut Outbox) {
        let Work::Block { task, block, .. } = work else {
            self.release_lone(work, ready, out);
            return;
        };
        let same = |warp: &Warp| matches!(warp.work, Some(Work::Block { task: t, block: b, .. }) if t == task && b == block);
        if self.warps.iter().any(|warp| same(warp) && warp.state != WarpState::Barrier) {
            return;
        }
        for slot in 0..self.warps.len() {
            if self.warps.get(slot).is_some_and(same) {
                self.go_on(slot, ready, out);
            }
        }
    }

    /// A program has no block-mates to wait for.
    fn release_lone(&mut self, work: Work, ready: Tick, out: &mut Outbox) {
        let found =
            self.warps.iter().position(|warp| warp.work == Some(work) && warp.state == WarpState::Barrier);
        if let Some(slot) = found {
            self.go_on(slot, ready, out);
        }
    }

    fn go_on(&mut self, slot: usize, ready: Tick, out: &mut Outbox) {
        if let Some(warp) = self.warps.get_mut(slot) {
            warp.ready_at = ready;
        }
        self.set_state(slot, WarpState::Ready, out);
    }
}
