//! Completion: what an access that was performed means for its warp, and what follows when its work ends.

use super::warps::{InFlight, Warp};
use super::{Agent, Told, Work};
use crate::model::access::{AccessKind, Bytes};
use crate::model::address::Address;
use crate::model::message::TxnNumber;
use crate::model::time::Tick;
use crate::model::warp::WarpState;
use crate::protocol::outbox::{Completion, Outbox};

/// An access that was performed, as far as its warp is concerned.
pub(super) struct Performed<'a> {
    pub slot: usize,
    /// Number of the memory instruction.
    pub instruction: u64,
    /// The transaction that the warp waits for, if it does.
    pub number: Option<TxnNumber>,
    /// Where it begins.
    pub start: Address,
    /// What a load or atomic read.
    pub read: &'a Bytes,
}

impl Agent {
    /// An access of this agent was performed. One that has joined a miss under way takes as long as a hit, at least.
    pub fn complete(&mut self, completion: &Completion, told: &mut Told, out: &mut Outbox) {
        let slot = completion.ticket.warp as usize;
        let none = Bytes::new();
        let performed = Performed {
            slot,
            instruction: completion.ticket.instruction,
            number: completion.number,
            start: completion.range.start,
            read: if completion.kind == AccessKind::Store { &none } else { &completion.read },
        };
        self.perform(&performed, completion.ticket.issued, told, out);
        self.await_hits(slot, out);
    }

    /// What follows for the warp, of what was issued at a time.
    pub(super) fn perform(&mut self, performed: &Performed, issued: Tick, told: &mut Told, out: &mut Outbox) {
        let &Performed { slot, instruction, number, start, read } = performed;
        let now = out.tick;
        let soon = now + self.config.clock.period;
        let landed = issued + self.config.clock.cycles(u64::from(self.config.l1_latency.max(1)));
        let Some(warp) = self.warps.get_mut(slot) else { return };
        warp.waits.retain(|waited| Some(*waited) != number);
        let found = warp.in_flight.iter().position(|entry| entry.number == instruction);
        let Some(index) = found else { return };
        let mut finished = None;
        if let Some(entry) = warp.in_flight.get_mut(index) {
            entry.left = entry.left.saturating_sub(1);
            if !read.is_empty() {
                entry.read.push((start, read.clone()));
            }
            if entry.left == 0 {
                finished = Some(index);
            }
        }
        warp.ready_at = warp.ready_at.max(soon);
        warp.let_go = Some(out.event);
        if let Some(index) = finished {
            let entry = warp.in_flight.remove(index);
            // Nothing passes a load that spins.
            if entry.until.is_some() {
                warp.ready_at = warp.ready_at.max(landed);
            } else if landed > soon {
                warp.note_hit(landed, now);
            }
            Self::end_instruction(warp, entry, now, told);
        }
        let goes_on = match warp.state {
            WarpState::Fence => warp.in_flight.is_empty(),
            state if state == WarpState::Memory || state.is_for_page() => {
                !warp.must_wait(self.config.outstanding)
            }
            _ => false,
        };
        if goes_on {
            self.set_state(slot, WarpState::Ready, out);
        }
    }

    fn end_instruction(warp: &mut Warp, mut entry: InFlight, now: Tick, told: &mut Told) {
        let read = entry.take_result();
        if entry.until.as_ref().is_some_and(|until| *until != read) {
            warp.next = warp.next.saturating_sub(1);
            return;
        }
        if entry.until.is_some() {
            (warp.spun, warp.spins_since) = (warp.spun(now), None);
        }
        if let Some(label) = entry.label {
            told.results.push((label, read.clone()));
        }
        if !read.is_empty() {
            warp.result = read;
        }
    }

    /// The work of a warp has ended: the slot is free for what waits.
    pub(super) fn end(&mut self, slot: usize, told: &mut Told, out: &mut Outbox) {
        let now = out.tick;
        let Some(warp) = self.warps.get_mut(slot) else { return };
        if let Some(work) = warp.work.take() {
            told.ended.push((work, std::mem::take(&mut warp.result)));
            self.set_state(slot, WarpState::Done, out);
            self.release_barrier(work, now + self.config.clock.period, out);
        }
        let fits = |(_, wanted): &(Work, Option<usize>)| wanted.is_none_or(|wanted| wanted == slot);
        let next = self.waiting.iter().position(fits).and_then(|index| self.waiting.remove(index));
        if let Some((work, _)) = next {
            self.begin(slot, work, now + self.config.clock.period, out);
        }
    }
}
