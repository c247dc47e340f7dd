//! What is due: page walks, answers to TLBs, transfer sets, and pages that have come.

use super::super::step::Handled;
use super::Machine;
use super::crossing::{Way, streams};
use super::sockets::is_mapped;
use crate::model::component::ComponentId;
use crate::model::fault::Fault;
use crate::model::page::Page;
use crate::model::paging::{FaultStage, MoveReason, PageChange, Permission};
use crate::model::time::Since;
use crate::parts::driver::{Order, Planned};
use crate::parts::gmmu::{Found, Outcome, Request, Walk};
use crate::parts::tlb::Progress;
use crate::protocol::outbox::Outbox;

/// Whether a page table grants an access with this permission, where pages stay where they are.
fn permits(permission: Permission, writes: bool) -> bool {
    match permission {
        Permission::ReadOnly => !writes,
        // Nobody gets a translation that would have to go again at once.
        Permission::Changing => false,
        Permission::ReadWrite => true,
    }
}

impl Machine {
    /// The paging of a GPU does what is due.
    pub(in crate::machine) fn run_paging(&mut self, gpu: usize, out: &mut Outbox) -> Handled {
        let now = self.now;
        let Some(one) = self.paging.as_mut().and_then(|paging| paging.gpus.get_mut(gpu)) else {
            return Handled::No;
        };
        if one.wake != Some(now) {
            return Handled::No;
        }
        one.wake = None;
        self.rest_driver(gpu);
        if self.next_paging(gpu).is_none_or(|next| next > now) {
            self.wake_paging(gpu);
            return Handled::No;
        }
        let Some(one) = self.paging.as_mut().and_then(|paging| paging.gpus.get_mut(gpu)) else {
            return Handled::No;
        };
        one.streams_until = one.streams_until.filter(|until| *until > now);
        self.cross_pieces(gpu, out);
        self.departed(gpu, out);
        self.arrived(gpu, out);
        self.answer(gpu, out);
        self.walk(gpu, out);
        self.submit(gpu, out);
        if gpu == 0 {
            self.recall(out);
            self.serve_protection(out);
        }
        self.wake_paging(gpu);
        Handled::Yes
    }

    /// Agents ask for translations: TLBs of their GMMU, cores of the driver.
    pub(in crate::machine) fn ask_for_pages(
        &mut self,
        agent: usize,
        pages: Vec<(Page, bool)>,
        out: &mut Outbox,
    ) {
        let now = self.now;
        let Some(paging) = self.paging.as_mut().filter(|_| !pages.is_empty()) else { return };
        let unit_of = |one: &super::GpuPaging| one.ports.units.iter().position(|unit| *unit == agent);
        let found = paging.gpus.iter().enumerate().find_map(|(gpu, one)| Some((gpu, unit_of(one)?)));
        let gpu = if let Some((gpu, unit)) = found {
            for (page, _) in pages {
                self.ask(gpu, unit as u32, page, out);
            }
            gpu
        } else if !paging.brings_pages() {
            for (page, _) in pages {
                self.fault_of_core(agent, page, out);
            }
            0
        } else {
            let due = now + paging.service;
            for (page, _) in pages {
                paging.recalled.entry(page).or_insert((Some(due), out.event));
            }
            0
        };
        self.wake_paging(gpu);
    }

    /// Page walks that have ended, and those that can begin.
    fn walk(&mut self, gpu: usize, out: &mut Outbox) {
        let since = Since { tick: self.now, event: out.event };
        let Some(paging) = self.paging.as_deref_mut() else { return };
        let (bytes, keep, owners) = (paging.page, paging.keep, &paging.owners);
        let Some(one) = paging.gpus.get_mut(gpu) else { return };
        let driver = one.driver.as_ref();
        let outcomes = one.gmmu.advance(since, |page, writes| match driver {
            Some(driver) => is_mapped(keep, owners.get(&page), (gpu, driver), page),
            None => permits(out.permission(page.range(bytes).start), writes),
        });
        let due = since.tick + one.ports.latency;
        one.replies.extend(outcomes.iter().map(|outcome| (due, *outcome)));
        for Outcome { walk, found, .. } in outcomes {
            let (page, unit) = (walk.page, walk.unit);
            out.cause = Some(walk.began.event);
            self.tell_walk(gpu, walk, Some(since), out);
            match found {
                Found::Translated => {}
                Found::Raised => {
                    self.tell_beginning(gpu, walk);
                    self.tell_unit(gpu, page, FaultStage::Raised, unit, out);
                    self.interrupt(gpu, page, since, out);
                }
                Found::Merged => self.tell_unit(gpu, page, FaultStage::Merged, unit, out),
                Found::Dropped => {
                    self.tell_beginning(gpu, walk);
                    self.tell_unit(gpu, page, FaultStage::Dropped, unit, out);
                }
            }
        }
        self.tell_begun(gpu, out);
        out.cause = None;
    }

    fn interrupt(&mut self, gpu: usize, page: Page, since: Since, out: &mut Outbox) {
        let gpu = self.bringer(gpu, page, out);
        if let Some(driver) = self.driver(gpu) {
            driver.note_fault(page);
        }
        if !self.is_news(gpu, page) {
            return;
        }
        self.claim(gpu, page, out);
        let thrashes = self.driver(gpu).map(|driver| driver.interrupt(page, since));
        self.wake_paging(gpu);
        self.tell_fault(gpu, page, FaultStage::Queued, 0, out);
        let Some(thrashes) = thrashes else {
            return self.fault_of_gpu(page, out);
        };
        if thrashes {
            self.tell_page(gpu, page, PageChange::Thrash, 0, out);
        }
    }

    /// What the GMMU has found comes to the TLBs.
    fn answer(&mut self, gpu: usize, out: &mut Outbox) {
        let now = self.now;
        while let Some(one) = self.paging.as_mut().and_then(|paging| paging.gpus.get_mut(gpu)) {
            if one.replies.front().is_none_or(|(due, _)| *due > now) {
                break;
            }
            let Some((_, outcome)) = one.replies.pop_front() else { return };
            let ports = one.ports.clone();
            let Outcome { walk: Walk { unit, page, writes, .. }, found, walked } = outcome;
            out.cause = Some(walked);
            // The page may have come or gone, or its permission changed, since the walk ended.
            let is_granted = self.is_granted(gpu, page, writes, out);
            let Some(&agent) = ports.units.get(unit as usize) else { continue };
            let Some(target) = self.agents.get_mut(agent) else { continue };
            match found {
                Found::Translated if is_granted => {
                    target.translated(page, out);
                    self.tell_filled(gpu, page, agent);
                }
                Found::Translated => self.ask(gpu, unit, page, out),
                Found::Raised | Found::Merged | Found::Dropped => {
                    let progress = target.nacked(page, found == Found::Merged, out);
                    self.tell_unit(gpu, page, FaultStage::Nacked, unit, out);
                    // It came, or came and went, while the Nack was on its way; or there is room again for what was
                    // dropped.
                    let is_tracked = self.is_tracked(gpu, unit, page);
                    if progress == Progress::Tracked && !is_tracked || is_granted {
                        self.replay(gpu, unit, page, out);
                    }
                }
            }
            self.wake(agent);
        }
        out.cause = None;
    }

    fn is_granted(&self, gpu: usize, page: Page, writes: bool, out: &Outbox) -> bool {
        let Some(paging) = self.paging.as_ref() else { return false };
        if paging.brings_pages() {
            return paging.maps(gpu, page);
        }
        permits(out.permission(page.range(paging.page).start), writes)
    }

    /// Whether the GMMU will tell this compute unit when the page is there.
    fn is_tracked(&self, gpu: usize, unit: u32, page: Page) -> bool {
        let one = self.paging.as_ref().and_then(|paging| paging.gpus.get(gpu));
        one.is_some_and(|one| one.gmmu.tracks(unit, page))
    }

    fn ask(&mut self, gpu: usize, unit: u32, page: Page, out: &Outbox) {
        let (now, asked) = (self.now, out.event);
        if let Some(one) = self.paging.as_mut().and_then(|paging| paging.gpus.get_mut(gpu)) {
            let ready = now + one.ports.latency;
            let agent = one.ports.units.get(unit as usize).and_then(|agent| self.agents.get(*agent));
            let tlb = agent.and_then(|agent| agent.tlb.as_deref());
            let writes = tlb.and_then(|tlb| tlb.miss(page)).is_some_and(|miss| miss.writes);
            one.gmmu.ask(Request { unit, page, writes, ready, asked });
        }
    }

    /// A fault of a compute unit has ended: its TLB replays (step 6 of Fig. 4).
    pub(super) fn replay(&mut self, gpu: usize, unit: u32, page: Page, out: &mut Outbox) {
        let Some(one) = self.paging.as_ref().and_then(|paging| paging.gpus.get(gpu)) else { return };
        let Some(&agent) = one.ports.units.get(unit as usize) else { return };
        let Some(target) = self.agents.get_mut(agent) else { return };
        for again in target.resolved(page, out) {
            self.tell_unit(gpu, again, FaultStage::Replayed, unit, out);
            self.ask(gpu, unit, again, out);
        }
        self.wake(agent);
    }

    /// The transfer set that is due.
    fn submit(&mut self, gpu: usize, out: &mut Outbox) {
        let now = self.now;
        let is_working = self.is_at_work(gpu);
        let Some(driver) = self.driver(gpu) else { return };
        let before = driver.decision.set;
        let orders = driver.advance(now);
        let (because, is_new) = (driver.decision.because, driver.decision.set > before);
        let demanded = if is_new { driver.decision.demanded.clone() } else { Vec::new() };
        driver.wake(now, is_working);
        for planned in demanded {
            out.cause = planned.because;
            self.tell_fault(gpu, planned.page, FaultStage::Serviced, planned.set, out);
        }
        out.cause = because;
        self.carry_out(gpu, orders, out);
        out.cause = None;
    }

    /// A transfer set that is due without a far-fault, when the GPU has no work any more, is none.
    fn rest_driver(&mut self, gpu: usize) {
        let (now, is_working) = (self.now, self.is_at_work(gpu));
        if let Some(driver) = self.driver(gpu).filter(|driver| driver.next() == Some(now) && !is_working) {
            driver.rest();
        }
    }

    /// Whether a GPU has work: only then its pages are brought unasked.
    fn is_at_work(&self, gpu: usize) -> bool {
        let units =
            self.paging.iter().filter_map(|paging| paging.gpus.get(gpu)).flat_map(|one| &one.ports.units);
        let mut agents = units.filter_map(|unit| self.agents.get(*unit));
        agents.any(|agent| agent.warps.iter().any(|warp| warp.work.is_some()))
    }

    pub(super) fn carry_out(&mut self, gpu: usize, orders: Vec<Order>, out: &mut Outbox) {
        for order in orders {
            match order {
                Order::Evict { page, wasted } => {
                    self.expel(gpu, page, (PageChange::Evicted, wasted), out);
                }
                Order::Fetch(planned) => {
                    let before = std::mem::replace(&mut out.cause, planned.because);
                    self.fetch(gpu, planned, out);
                    out.cause = before;
                }
            }
        }
    }

    /// Pages that have come over the link.
    fn arrived(&mut self, gpu: usize, out: &mut Outbox) {
        let now = self.now;
        while let Some(one) = self.paging.as_mut().and_then(|paging| paging.gpus.get_mut(gpu)) {
            if one.arrivals.front().is_none_or(|(due, _)| *due > now) {
                break;
            }
            let Some((_, planned)) = one.arrivals.pop_front() else { return };
            out.cause = planned.because;
            let at = one.ports.driver;
            self.settle_bytes(gpu, planned, out);
            if self.takes_next((at, planned.page), |all| &mut all.came, |nth| Fault::LosePage { nth }, out) {
                continue;
            }
            self.settle_in(gpu, planned, out);
        }
        out.cause = None;
    }

    /// The bytes of a page are there, unless they stream in while it is used.
    fn settle_bytes(&mut self, gpu: usize, planned: Planned, out: &mut Outbox) {
        let mode = self.paging.as_ref().map(|paging| paging.copies.mode);
        if mode.is_some_and(|mode| !streams(planned, mode)) {
            self.end_crossing(gpu, planned.page, Way::ToGpu, out);
        }
    }

    /// A page is in the memory of the GPU: it is translated from here on.
    fn settle_in(&mut self, gpu: usize, planned: Planned, out: &mut Outbox) {
        let Planned { page, set, .. } = planned;
        let now = self.now;
        if self.paging.as_ref().is_some_and(|paging| !paging.only_maps()) {
            self.copy_to_gpu(gpu, page);
        }
        let Some(orders) = self.driver(gpu).map(|driver| driver.arrived(planned, now)) else { return };
        let Some(ended) = self.paging.as_mut().map(|paging| paging.end_faults(gpu, page)) else { return };
        self.tell_page(gpu, page, PageChange::Arrived, set, out);
        if planned.reason == MoveReason::Prefetched && self.tasks.all_ended() {
            self.tell_page(gpu, page, PageChange::Unused, set, out);
        }
        for (gpu, _) in ended.iter().filter(|(_, units)| !units.is_empty()) {
            self.tell_fault(*gpu, page, FaultStage::Arrived, set, out);
        }
        self.come_to_rest(page, Some(gpu as u32), out);
        self.go_on_with_tasks();
        for (gpu, units) in ended {
            self.replay_all(gpu, &units, page, out);
            self.wake_paging(gpu);
        }
        self.carry_out(gpu, orders, out);
    }

    /// The compute units whose fault has ended are told.
    pub(super) fn replay_all(&mut self, gpu: usize, units: &[u32], page: Page, out: &mut Outbox) {
        let gmmu = self.paging.as_ref().and_then(|paging| paging.gpus.get(gpu)).map(|one| one.ports.gmmu);
        let at = gmmu.unwrap_or_else(|| self.host_component());
        for &unit in units {
            if self.takes_next((at, page), |all| &mut all.told, |nth| Fault::DropReplay { nth }, out) {
                continue;
            }
            self.replay(gpu, unit, page, out);
        }
    }

    /// Whether an injected fault takes the next of what is counted.
    fn takes_next(
        &mut self,
        (at, page): (ComponentId, Page),
        count: impl Fn(&mut super::Paging) -> &mut u64,
        fault: impl Fn(u64) -> Fault,
        out: &mut Outbox,
    ) -> bool {
        let Some(paging) = self.paging.as_mut() else { return false };
        let counter = count(paging);
        *counter += 1;
        let count = *counter;
        let lost = self.is_struck(count, &fault);
        if lost {
            self.tell_struck(at, self.about_page(page), fault(count).name(), out);
        }
        lost
    }

    /// Written-back pages that have come to host memory.
    fn departed(&mut self, gpu: usize, out: &mut Outbox) {
        let now = self.now;
        while let Some(one) = self.paging.as_mut().and_then(|paging| paging.gpus.get_mut(gpu)) {
            if one.departures.front().is_none_or(|(due, ..)| *due > now) {
                break;
            }
            let Some((_, page, sent)) = one.departures.pop_front() else { return };
            out.cause = Some(sent);
            self.end_crossing(gpu, page, Way::ToHost, out);
            self.settle_back(gpu, page, out);
        }
        out.cause = None;
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use crate::machine::StepOutcome;
    use crate::machine::sample::working;
    use crate::model::access::AccessKind::{Load, Store};
    use crate::model::record::{Field, Record, Records};
    use crate::model::time::EventNumber;

    /// The word by which a record of paging is known.
    fn word(record: &Record) -> Option<&'static str> {
        let field = match record.kind() {
            "far-fault" => "stage",
            "page-move" | "tlb" | "page-walk" => "change",
            _ => return None,
        };
        if let Some(Field::Word(word)) = record.field(field) { Some(word) } else { None }
    }

    /// What each of these is caused by: the event of its cause has one of these records.
    const CAUSES: [(&str, &[&str]); 11] = [
        ("merge", &["miss"]),
        ("begun", &["miss", "replayed"]),
        ("ended", &["begun"]),
        ("raised", &["begun"]),
        ("merged", &["begun"]),
        ("nacked", &["raised", "merged"]),
        ("serviced", &["raised"]),
        ("demanded", &["raised"]),
        ("arrived", &["demanded"]),
        ("fill", &["ended"]),
        ("evicted", &["raised"]),
    ];

    #[test]
    fn every_step_of_a_far_fault_names_the_one_before() {
        let pages: Vec<u64> = (0..6).map(|page| page * 0x1000).collect();
        // Two warps of a compute unit touch the first page.
        let other = |unit| (unit, Load, vec![0x40]);
        let work = [("gpu0.cu0", Store, pages), other("gpu0.cu0"), other("gpu0.cu1")];
        let mut machine = working("tiny/paged-1gpu", &["gpu.paging.share=50"], &work);
        let (mut records, mut at) = (Records::listening(), BTreeMap::<EventNumber, Vec<&str>>::new());
        let mut seen = Vec::new();
        while machine.step(&mut records) == StepOutcome::Ran {
            for record in records.list.drain(..) {
                let Some(what) = word(&record) else { continue };
                at.entry(record.id.event).or_default().push(what);
                let Some((_, causes)) = CAUSES.iter().find(|(effect, _)| *effect == what) else { continue };
                let because = record.because.unwrap_or(record.id.event);
                let there =
                    at.get(&because).is_some_and(|all| causes.iter().any(|cause| all.contains(cause)));
                assert!(there, "{what} because {because}: {:?}", at.get(&because));
                seen.push(what);
            }
        }
        assert!(machine.is_finished());
        for (effect, _) in CAUSES {
            assert!(seen.contains(&effect), "{effect}: {seen:?}");
        }
    }
}
