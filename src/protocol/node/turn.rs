//! Whose turn it is: which of the wants of a block is served next, asks for what it needs, or waits.

use smallvec::SmallVec;

use super::evict::Cause;
use super::pending::{Pending, Want};
use super::{Decision, Node};
use crate::protocol::outbox::Outbox;
use crate::protocol::table::{Cell, Step};

/// What trying to serve a want came to.
enum Tried {
    /// Nothing more is tried now; whether something happened.
    Ends(bool),
    /// It waits, and so does what came later and is about the same unit.
    Holds,
    /// It waits, and nothing waits for it.
    LetsPass,
}

impl Node {
    /// Serves the first want that can be served; `false` if there is none. Wants of one unit keep their order.
    pub(super) fn serve_next(&mut self, pending: &mut Pending, out: &mut Outbox) -> bool {
        let mut held: SmallVec<[u32; 8]> = SmallVec::new();
        let eligible = pending.acquire.map_or(usize::MAX, |left| left as usize);
        for index in 0..pending.queue.len().min(eligible) {
            let Some(want) = pending.queue.get(index) else { break };
            let unit = self.unit_of(pending.block, want.range.start);
            if held.contains(&unit) {
                continue;
            }
            let is_served = pending.serving.iter().any(|service| service.unit == unit);
            match if is_served { Tried::Holds } else { self.try_want(pending, index, out) } {
                Tried::Ends(progress) => return progress,
                Tried::Holds => held.push(unit),
                Tried::LetsPass => {}
            }
        }
        false
    }

    /// Serves one want, asks for what it needs, or leaves it where it is.
    fn try_want(&mut self, pending: &mut Pending, index: usize, out: &mut Outbox) -> Tried {
        let Some(want) = pending.queue.get(index) else { return Tried::LetsPass };
        match self.decide_want(pending, want) {
            // A child takes answers in the order in which it asked.
            Decision::Here(_) | Decision::Place | Decision::Parent(_)
                if self.answers_later(pending, want) =>
            {
                Tried::Holds
            }
            Decision::Here(_) if self.awaits_atomic(pending, want) => Tried::Holds,
            // What is on its way would go over what is stored there now.
            Decision::Here(cell) if cell.step == Step::Allocate && pending.asked.is_some() => Tried::Holds,
            Decision::Here(cell) => {
                let block = pending.block;
                if !pending.queue.get_mut(index).is_some_and(|want| self.admit(block, want, out)) {
                    return Tried::Holds;
                }
                if let Some(mut want) = pending.take_want(index) {
                    Self::note_served(pending);
                    self.join_fetches(pending, &mut want, index);
                    self.serve(pending, want, cell, out);
                }
                Tried::Ends(true)
            }
            Decision::Parent(cell) if pending.asked.is_none() => {
                let want = want.without_access();
                Tried::Ends(self.ask(pending, &want, cell, out))
            }
            Decision::Parent(_) => {
                if Self::lacks_sectors(pending, want) || self.misses_more(pending, want) {
                    let want = want.without_access();
                    self.ask_for_sectors(pending, &want, out);
                }
                // Loads of what is not kept can be served in any order.
                if pending.uncached { Tried::LetsPass } else { Tried::Holds }
            }
            // A store that is passed up while the block is fetched would be lost from the copy.
            Decision::PassUp(_) if pending.asked.is_some() && !pending.uncached => Tried::Holds,
            Decision::PassUp(cell) => Tried::Ends(self.try_to_pass_up(pending, index, cell, out)),
            Decision::Place if pending.asked.is_some() => Tried::Holds,
            Decision::Place => {
                let want = want.without_access();
                Tried::Ends(self.find_place(pending, &want, out))
            }
            Decision::Never => {
                if let Some(want) = pending.take_want(index) {
                    Self::note_served(pending);
                    self.report_impossible(pending.block, &want, out);
                }
                Tried::Ends(true)
            }
        }
    }

    /// Passes a want up, once there is an MSHR for it and what is below has been flushed; `false` if it stays where it is.
    fn try_to_pass_up(&mut self, pending: &mut Pending, index: usize, cell: Cell, out: &mut Outbox) -> bool {
        let Some(want) = pending.queue.get(index).map(Want::without_access) else { return false };
        if !self.find_mshr(pending, want.number, out) {
            return false;
        }
        if !self.flush_down(pending, &Cause::of(&want), cell.next, out)
            && let Some(want) = pending.take_want(index)
        {
            Self::note_served(pending);
            self.pass_up(pending, index, (want, cell.next), out);
        }
        true
    }
}
