//! Translation: an access goes to the L1 once its page is translated; until then it is set aside.

use smallvec::SmallVec;

use super::{Agent, Surroundings, Told, Warp};
use crate::model::page::Page;
use crate::model::paging::{FaultKind, Permission, TlbChange};
use crate::model::record::What;
use crate::model::time::Since;
use crate::model::warp::WarpState;
use crate::parts::tlb::{Look, Miss, Progress, Tlb};
use crate::protocol::outbox::{About, Outbox};

impl Agent {
    /// Looks up the page of the next access of a warp. Unless it is translated, the access is set aside, or the warp waits
    /// for the TLB.
    pub(super) fn translate(
        &mut self,
        slot: usize,
        (page, writes): (Page, bool),
        around: &Surroundings<'_>,
        told: &mut Told,
        out: &mut Outbox,
    ) -> bool {
        let since = Since { tick: out.tick, event: out.event };
        let permission = out.permission(page.range(self.config.page).start);
        let is_allowed = !writes || permission == Permission::ReadWrite;
        let waits_here = |warp: &Warp| warp.waits_for(page);
        let look = if let Some(tlb) = &mut self.tlb {
            tlb.look(page, (writes, is_allowed), since)
        } else if is_allowed && (around.is_here)(page) {
            Look::Hit
        } else if self.waits_for(page) {
            Look::Merged
        } else {
            Look::Miss
        };
        match look {
            // A warp's accesses of a page stay in order, though others may read what it waits to write.
            Look::Hit if self.warps.get(slot).is_some_and(waits_here) => {}
            Look::Hit => return true,
            Look::Blocked => {
                self.stall(slot, self.blocked_state(slot), out);
                return false;
            }
            Look::Miss => {
                told.asked.push((page, writes));
                // A core has no TLB here: its page table is asked.
                if self.tlb.is_some() {
                    self.record_tlb(page, TlbChange::Miss, out);
                }
            }
            Look::Merged => self.record_merge(page, out),
        }
        self.set_aside(slot, page, out);
        false
    }

    /// Whether the next access of a warp, whose page is translated, has not missed in a TLB before.
    pub(super) fn hits_tlb(&self, slot: usize) -> bool {
        self.tlb.is_some() && self.warps.get(slot).is_some_and(|warp| warp.translated.is_empty())
    }

    /// An access that has hit is issued: what the L1 turns away is tried again, and counts once.
    pub(super) fn count_tlb_hit(&mut self, has_hit: bool) {
        if let Some(tlb) = self.tlb.as_mut().filter(|_| has_hit) {
            tlb.hits += 1;
        }
    }

    fn waits_for(&self, page: Page) -> bool {
        self.warps.iter().any(|warp| warp.waits_for(page))
    }

    fn set_aside(&mut self, slot: usize, page: Page, out: &mut Outbox) {
        let Some(warp) = self.warps.get_mut(slot) else { return };
        if let Some(aside) = warp.take_access() {
            warp.untranslated.push((page, aside));
        }
        // Accesses of one instruction to pages that miss leave the L1 to those that hit, as far as the TLB has ports.
        let next = self.warps.get(slot).and_then(Warp::next_access).map(|(_, access)| access.range.start);
        let next = next.map(|address| Page::of(address, self.config.page));
        let goes_on =
            next.is_some_and(|page| self.tlb.as_ref().is_some_and(|tlb| tlb.has_port(page, out.tick)));
        let cycle = if goes_on { 0 } else { self.config.clock.period };
        self.issue_free_at = self.issue_free_at.max(out.tick) + cycle;
        self.settle(slot, out);
        self.unstall(out);
    }

    fn record_tlb(&self, page: Page, change: TlbChange, out: &mut Outbox) {
        let about = About::new(page.range(self.config.page), None);
        out.record(self.config.id, about, || What::Tlb { change });
    }

    /// An access joins a miss, which is what it waits because of.
    fn record_merge(&self, page: Page, out: &mut Outbox) {
        let because = self.tlb.as_ref().and_then(|tlb| tlb.miss(page)).map(|miss| miss.since.event);
        let about = About { because, ..About::new(page.range(self.config.page), None) };
        out.record(self.config.id, about, || What::Tlb { change: TlbChange::Merge });
    }

    /// What a warp does that can issue nothing before an access in flight has ended: the oldest that waits for a page tells.
    pub(super) fn waiting_state(&self, slot: usize) -> WarpState {
        let Some(page) = self.warps.get(slot).and_then(Warp::untranslated) else { return WarpState::Memory };
        match self.tlb.as_ref().and_then(|tlb| tlb.miss(page)) {
            Some(miss) if miss.progress == Progress::Walking => WarpState::Translation,
            _ => self.faulted(),
        }
    }

    /// What a warp does that the TLB turns away: it waits for the walk of another access, or until faults are over, which may be its
    /// own.
    fn blocked_state(&self, slot: usize) -> WarpState {
        if self.tlb.as_deref().is_some_and(Tlb::only_walks) {
            return WarpState::Translation;
        }
        let own = self.waiting_state(slot);
        if own == self.faulted() { own } else { WarpState::TlbBlocked }
    }

    /// The page that a warp waits for in a state: that of its own oldest access, or of a miss that blocks its TLB.
    pub(super) fn awaited_page(&self, slot: usize, state: WarpState) -> Option<Page> {
        if !state.is_for_page() {
            return None;
        }
        if !self.stalled.contains(&slot) {
            return self.warps.get(slot)?.untranslated();
        }
        let walks = |(_, miss): &(Page, &Miss)| miss.progress == Progress::Walking;
        let mut misses = self.tlb.as_deref()?.misses();
        misses.find(|miss| walks(miss) == (state == WarpState::Translation)).map(|(page, _)| page)
    }

    /// What a warp does that waits for a fault.
    fn faulted(&self) -> WarpState {
        match self.config.fault {
            FaultKind::Far => WarpState::FarFault,
            FaultKind::Protection => WarpState::ProtectionFault,
        }
    }

    /// A page is translated, or may be accessed: what waited for it goes on.
    pub fn translated(&mut self, page: Page, out: &mut Outbox) {
        if let Some(tlb) = &mut self.tlb {
            tlb.fill(page);
            self.record_tlb(page, TlbChange::Fill, out);
        }
        for slot in 0..self.warps.len() {
            let Some(warp) = self.warps.get_mut(slot) else { continue };
            let waiting = std::mem::take(&mut warp.untranslated);
            let (ready, still): (Vec<_>, Vec<_>) =
                waiting.into_iter().partition(|(waited, _)| *waited == page);
            warp.untranslated = still;
            if ready.is_empty() {
                continue;
            }
            warp.translated.extend(ready.into_iter().map(|(_, aside)| aside));
            warp.ready_at = warp.ready_at.max(out.tick + self.config.clock.period);
            // What computes, or will, does so first.
            if !matches!(warp.state, WarpState::Running | WarpState::SimdFull) {
                self.set_state(slot, WarpState::Ready, out);
            }
        }
        self.unstall(out);
    }

    /// A translation turned into a fault (Nack-Replayable), which another has raised before or not.
    pub fn nacked(&mut self, page: Page, joined: bool, out: &mut Outbox) -> Progress {
        let progress = self.tlb.as_mut().map_or(Progress::Tracked, |tlb| tlb.nack(page, joined));
        self.settle_waiting(out);
        progress
    }

    /// A fault has ended: the pages whose translation the TLB asks for again.
    pub fn resolved(&mut self, page: Page, out: &mut Outbox) -> SmallVec<[Page; 2]> {
        let again = self.tlb.as_mut().map(|tlb| tlb.resolve(page)).unwrap_or_default();
        self.settle_waiting(out);
        self.unstall(out);
        again
    }

    /// The states of warps that wait for translations, after those have changed.
    pub(super) fn settle_waiting(&mut self, out: &mut Outbox) {
        for slot in 0..self.warps.len() {
            if !self.warps.get(slot).is_some_and(|warp| warp.state.is_for_page()) {
                continue;
            }
            let is_blocked = self.stalled.contains(&slot);
            let state = if is_blocked { self.blocked_state(slot) } else { self.waiting_state(slot) };
            self.set_state(slot, state, out);
        }
    }

    /// Drops a translation.
    pub fn shoot_down(&mut self, page: Page, out: &mut Outbox) {
        if self.tlb.as_mut().is_some_and(|tlb| tlb.shoot_down(page)) {
            self.record_tlb(page, TlbChange::ShootDown, out);
        }
    }
}
