//! Issuing: which warp is next, its next operation, and the accesses that are offered to the L1.

use super::warps::{InFlight, SetAside, Warp};
use super::{Agent, Performed, Surroundings, Told, Work};
use crate::model::access::{AccessKind, Bytes};
use crate::model::address::Range;
use crate::model::operation::{Fence, Operation, WarpAccess};
use crate::model::page::Page;
use crate::model::record::What;
use crate::model::time::Tick;
use crate::model::warp::WarpState;
use crate::parts::coalescer::{alone, coalesce};
use crate::protocol::node::{Node, Offer};
use crate::protocol::outbox::{About, Outbox, Ticket};

impl Agent {
    /// Picks the next warp that can go on, in the order of the scheduler.
    fn pick(&self, now: Tick) -> Option<usize> {
        let has_accesses = self.warps.get(self.last).is_some_and(Warp::is_issuing);
        let from = self.config.scheduler.first(self.last as u32, has_accesses);
        let outstanding = self.config.outstanding;
        let is_ready = |slot: &u32| {
            self.warps.get(*slot as usize).is_some_and(|warp| warp.ready_from(outstanding) <= now)
        };
        // Nearly always the first can.
        if self.active.get(from) && is_ready(&from) {
            return Some(from as usize);
        }
        let next = self.active.iter_from(from).find(is_ready);
        let first = || self.active.iter().take_while(|slot| *slot < from).find(is_ready);
        next.or_else(first).map(|slot| slot as usize)
    }

    /// Issues for one warp.
    pub fn issue(&mut self, around: &mut Surroundings<'_>, told: &mut Told, out: &mut Outbox) {
        let now = out.tick;
        self.tell_landed(out);
        if self.simds.is_some() {
            self.compute(now, out);
        }
        if self.issue_free_at > now {
            return;
        }
        let Some(slot) = self.pick(now) else { return };
        self.last = slot;
        let issuing = self.warps.get(slot).is_some_and(Warp::is_issuing);
        if !issuing && !self.fetch(slot, around, told, out) {
            return;
        }
        self.issue_access(slot, around, told, out);
    }

    /// Warps that have waited for a SIMD unit until now have one.
    pub(super) fn compute(&mut self, now: Tick, out: &mut Outbox) {
        while let Some((slot, end)) = self.simds.as_mut().and_then(|simds| simds.call(now)) {
            self.run_until(slot as usize, end, out);
        }
    }

    /// A warp computes until `end`.
    pub(super) fn run_until(&mut self, slot: usize, end: Tick, out: &mut Outbox) {
        if let Some(warp) = self.warps.get_mut(slot) {
            warp.ready_at = end;
        }
        self.set_state(slot, WarpState::Running, out);
    }

    /// Takes the next operation of a warp; `true` if it has accesses to issue.
    fn fetch(
        &mut self,
        slot: usize,
        around: &mut Surroundings<'_>,
        told: &mut Told,
        out: &mut Outbox,
    ) -> bool {
        let now = out.tick;
        let period = self.config.clock.period;
        let Some(warp) = self.warps.get_mut(slot) else { return false };
        let Some(work) = warp.work else { return false };
        let at = warp.next;
        let operation = (around.operation)(work, at);
        warp.current = operation.is_some().then_some(at);
        let is_order = matches!(operation.as_deref(), None | Some(Operation::Barrier | Operation::Fence(_)));
        if is_order
            && warp.in_flight.is_empty()
            && let Some(landed) = warp.all_landed(now)
        {
            warp.ready_at = landed;
            // One that has computed does no more.
            self.set_state(slot, WarpState::Ready, out);
            self.await_hits(slot, out);
            return false;
        }
        match operation.as_deref() {
            None if warp.in_flight.is_empty() => self.end(slot, told, out),
            None => self.set_state(slot, self.waiting_state(slot), out),
            Some(Operation::Compute(cycles)) => self.take_simd(slot, *cycles, out),
            Some(Operation::Access(access)) => {
                self.load_accesses(slot, access, None, now);
                return true;
            }
            Some(Operation::SpinUntil(access, until)) => {
                warp.spins_since = warp.spins_since.or(Some(now));
                self.load_accesses(slot, access, Some(until.clone()), now);
                return true;
            }
            // What it has asked for comes first: a barrier orders what is before it.
            Some(Operation::Barrier) if !warp.in_flight.is_empty() => {
                self.set_state(slot, self.waiting_state(slot), out);
            }
            Some(Operation::Barrier) => {
                warp.next += 1;
                warp.instructions += 1;
                self.set_state(slot, WarpState::Barrier, out);
                self.release_barrier(work, now + period, out);
            }
            Some(Operation::Fence(_)) if !warp.in_flight.is_empty() => {
                self.set_state(slot, WarpState::Fence, out);
            }
            Some(Operation::Fence(fence)) => {
                warp.next += 1;
                warp.instructions += 1;
                warp.ready_at = now + period;
                if *fence != Fence::Release {
                    around.l1.acquire(out);
                }
                told.fences.push((slot, *fence));
                let state = if around.is_deep { WarpState::Fence } else { WarpState::Ready };
                self.set_state(slot, state, out);
            }
        }
        false
    }

    /// Takes a unit for some cycles, or waits for one.
    fn take_simd(&mut self, slot: usize, cycles: u32, out: &mut Outbox) {
        let (now, ticks) = (out.tick, self.config.clock.cycles(u64::from(cycles.max(1))));
        let Some(warp) = self.warps.get_mut(slot) else { return };
        warp.next += 1;
        warp.instructions += 1;
        // One that waits is called.
        warp.ready_at = Tick::MAX;
        match self.simds.as_mut().map_or(Some(now + ticks), |simds| simds.take(slot as u32, now, ticks)) {
            Some(end) => self.run_until(slot, end, out),
            None => self.set_state(slot, WarpState::SimdFull, out),
        }
    }

    /// Performs the next instruction in place, if it is one access that hits and nobody has to be told of it or of its
    /// bytes: then whose and what it is. Nothing is done otherwise.
    pub fn hit_next<'a>(
        &mut self,
        l1: &mut Node,
        operation: impl Fn(Work, u64) -> Option<&'a Operation>,
        out: &mut Outbox,
    ) -> Option<(Work, AccessKind, Range)> {
        let now = out.tick;
        if self.issue_free_at > now || self.config.values || self.config.page > 0 {
            return None;
        }
        // Who has waited for a SIMD unit has it before anything else happens.
        if self.simds.as_ref().and_then(|simds| simds.next_begin()).is_some_and(|begin| begin <= now) {
            return None;
        }
        let slot = self.pick(now)?;
        let warp = self.warps.get_mut(slot).filter(|warp| !warp.is_issuing())?;
        let (work, at) = (warp.work?, warp.next);
        let Operation::Access(access) = operation(work, at)? else { return None };
        if access.label.is_some() {
            return None;
        }
        let range = alone(access, self.config.line)?;
        if !l1.hit(access.kind, range, None, out) {
            return None;
        }
        let kind = access.kind;
        (warp.current, warp.next) = (Some(at), at + 1);
        warp.let_go = Some(out.event);
        warp.instructions += 1;
        let (soon, latency) = (now + self.config.clock.period, self.config.l1_latency);
        warp.ready_at = warp.ready_at.max(soon);
        if latency > 1 {
            warp.note_hit(now + self.config.clock.cycles(u64::from(latency)), now);
        }
        (self.last, self.issue_free_at) = (slot, soon);
        self.accesses += 1;
        if warp.state != WarpState::Ready || warp.must_wait(self.config.outstanding) {
            self.settle(slot, out);
        }
        self.await_hits(slot, out);
        self.landed_until = now;
        self.unstall(out);
        Some((work, kind, range))
    }

    /// Turns a memory instruction into accesses.
    fn load_accesses(&mut self, slot: usize, access: &WarpAccess, until: Option<Bytes>, now: Tick) {
        let Some(warp) = self.warps.get_mut(slot) else { return };
        coalesce(access, self.config.line, self.config.values, &mut warp.to_issue);
        warp.next += 1;
        warp.instructions += 1;
        if warp.to_issue.is_empty() {
            return;
        }
        warp.in_flight.push(InFlight {
            number: warp.instructions,
            left: warp.to_issue.len() as u32,
            label: access.label.clone(),
            until,
            read: Vec::new(),
        });
        let cycles = u64::from(access.lanes.count().div_ceil(self.config.lanes.max(1)).max(1));
        self.issue_free_at = now + self.config.clock.cycles(cycles - 1);
    }

    /// Offers the next access of a warp to the L1.
    fn issue_access(
        &mut self,
        slot: usize,
        around: &mut Surroundings<'_>,
        told: &mut Told,
        out: &mut Outbox,
    ) {
        let now = out.tick;
        let Some(warp) = self.warps.get_mut(slot) else { return };
        let Some((instruction, access)) = warp.next_access() else {
            warp.ready_at = now + self.config.clock.period;
            return;
        };
        if !around.has_room {
            self.stall(slot, WarpState::LinkFull, out);
            return;
        }
        if self.config.page > 0 {
            let page = Page::of(access.range.start, self.config.page);
            let writes = access.kind.writes();
            if !self.translate(slot, (page, writes), around, told, out) {
                return;
            }
        }
        let has_hit = self.hits_tlb(slot);
        let Some(warp) = self.warps.get_mut(slot) else { return };
        let Some((_, access)) = warp.next_access() else { return };
        let start = access.range.start;
        if around.quiet
            && !self.config.values
            && around.l1.hit(access.kind, access.range, access.mask.as_deref(), out)
        {
            (around.begin)((slot as u32, warp.work), access, Offer::Hit, now);
            warp.take_access();
            self.count_tlb_hit(has_hit);
            let performed = Performed { slot, instruction, number: None, start, read: &Bytes::new() };
            self.perform(&performed, now, told, out);
            self.after_issue(slot, told, out);
            return;
        }
        told.placed.extend(self.place(start, out));
        let Some(warp) = self.warps.get_mut(slot) else { return };
        let Some((_, access)) = warp.next_access() else { return };
        let offer = around.l1.offer(access, out);
        if offer == Offer::Full {
            self.stall(slot, WarpState::MshrFull, out);
            return;
        }
        let ticket = Ticket { warp: slot as u32, instruction, issued: now };
        let Some(SetAside { access, .. }) = warp.take_access() else { return };
        let (key, number) = (around.begin)((slot as u32, warp.work), &access, offer, now);
        if offer == Offer::Miss {
            warp.waits.push(number);
        }
        let (id, kind, bytes) = (self.config.id, access.kind, &access.bytes);
        let issue = || What::Issue { kind, warp: slot as u32, bytes: bytes.clone() };
        let about = About::new(access.range, Some(number));
        out.record(id, About { because: warp.let_go, ..about }, issue);
        around.l1.access(offer, ticket, access, (key, Some(number)), out);
        self.count_tlb_hit(has_hit);
        self.after_issue(slot, told, out);
    }

    /// What a warp does once an access has been taken: goes on issuing, goes on, or waits. What the L1 performed
    /// meanwhile is this agent's own.
    fn after_issue(&mut self, slot: usize, told: &mut Told, out: &mut Outbox) {
        self.accesses += 1;
        if let Some(warp) = self.warps.get_mut(slot) {
            warp.let_go = Some(out.event);
        }
        self.issue_free_at = self.issue_free_at.max(out.tick) + self.config.clock.period;
        if !out.completions.is_empty() {
            let mine = std::mem::take(&mut out.completions);
            for completion in &mine {
                self.complete(completion, told, out);
            }
            out.completions = mine;
        }
        self.settle(slot, out);
        self.await_hits(slot, out);
        self.unstall(out);
    }

    /// Sets the state of a warp from what it has left to do.
    pub(super) fn settle(&mut self, slot: usize, out: &mut Outbox) {
        let Some(warp) = self.warps.get(slot) else { return };
        let full = warp.must_wait(self.config.outstanding);
        let state = if warp.work.is_none() {
            return;
        } else if warp.is_issuing() || !full {
            WarpState::Ready
        } else {
            self.waiting_state(slot)
        };
        self.set_state(slot, state, out);
    }

    pub(super) fn stall(&mut self, slot: usize, state: WarpState, out: &mut Outbox) {
        self.stalled.push_back(slot);
        self.set_state(slot, state, out);
    }

    /// The L1 has changed: the warp that it turned away first may try again. When that succeeds the next one
    /// follows, so that a free place does not wake them all.
    pub fn unstall(&mut self, out: &mut Outbox) {
        let Some(slot) = self.stalled.pop_front() else { return };
        if let Some(warp) = self.warps.get_mut(slot) {
            warp.ready_at = out.tick + self.config.clock.period;
        }
        self.set_state(slot, WarpState::Ready, out);
    }
}
