//! What is told of faults, pages and page walks: as records to those who listen, and as the lives of faults to those who look.

use super::Machine;
use crate::model::component::ComponentId;
use crate::model::page::Page;
use crate::model::page_view::{FaultStep, LifeStep};
use crate::model::paging::{FaultStage, PageChange, PageWalk};
use crate::model::record::What;
use crate::model::time::{Since, Tick};
use crate::parts::agent::Warp;
use crate::parts::gmmu::Walk;
use crate::protocol::outbox::{About, Outbox};

impl Machine {
    pub(super) fn about_page(&self, page: Page) -> About {
        let bytes = self.paging.as_ref().map_or(4096, |paging| paging.page);
        About::new(page.range(bytes), None)
    }

    /// Tells of a fault that the driver or the GMMU takes on.
    pub(super) fn tell_fault(
        &mut self,
        gpu: usize,
        page: Page,
        stage: FaultStage,
        set: u64,
        out: &mut Outbox,
    ) {
        self.tell_of(gpu, page, (stage, set, None), out);
    }

    /// Tells of a fault what is about one compute unit.
    pub(super) fn tell_unit(
        &mut self,
        gpu: usize,
        page: Page,
        stage: FaultStage,
        unit: u32,
        out: &mut Outbox,
    ) {
        self.tell_of(gpu, page, (stage, 0, Some(unit)), out);
    }

    fn tell_of(
        &mut self,
        gpu: usize,
        page: Page,
        (stage, set, unit): (FaultStage, u64, Option<u32>),
        out: &mut Outbox,
    ) {
        let (at, about, step) = (self.now, self.about_page(page), self.life_step(gpu, stage, set, unit));
        let Some(paging) = self.paging.as_mut() else { return };
        let (brings_pages, is_shared) = (paging.brings_pages(), paging.is_shared());
        let Some(one) = paging.gpus.get_mut(gpu) else { return };
        if let Some(count) = one.stages.get_mut(stage as usize) {
            *count += 1;
        }
        let taker = match stage {
            FaultStage::Queued | FaultStage::Serviced => one.ports.driver,
            _ => one.ports.gmmu,
        };
        let agent = unit.and_then(|unit| self.agents.get(*one.ports.units.get(unit as usize)?));
        let who = agent.map_or(taker, |agent| agent.config.id);
        let told = FaultStep { step, at, who };
        if is_shared && matches!(stage, FaultStage::Queued | FaultStage::Serviced) {
            paging.tell_askers(page, told);
        } else {
            one.lives.tell(page, told);
        }
        let miss = || Some(agent?.tlb.as_ref()?.miss(page)?.writes);
        out.record(taker, about, || {
            let writes = miss().unwrap_or(false);
            if brings_pages {
                What::FarFault { stage, gpu: gpu as u32, set, unit, writes }
            } else {
                What::ProtectionFault { stage, who, writes }
            }
        });
    }

    /// A stage, with what is known of it now.
    fn life_step(&self, gpu: usize, stage: FaultStage, set: u64, unit: Option<u32>) -> LifeStep {
        let one = self.paging.as_ref().and_then(|paging| paging.gpus.get(gpu));
        match stage {
            FaultStage::Raised => {
                let gmmu = one.map(|one| &one.gmmu);
                let used = gmmu.zip(unit).map_or(0, |(gmmu, unit)| gmmu.held(unit));
                LifeStep::Raised { used, most: gmmu.map_or(0, |gmmu| gmmu.config().far_faults) }
            }
            FaultStage::Merged => LifeStep::Merged,
            FaultStage::Nacked => LifeStep::Nacked,
            FaultStage::Dropped => LifeStep::Dropped,
            FaultStage::Queued => LifeStep::Queued,
            FaultStage::Serviced => {
                let driver = one.and_then(|one| one.driver.as_ref());
                let made = driver.map(|driver| &driver.decision).filter(|made| set > 0 && made.set == set);
                let (demanded, prefetched) =
                    made.map_or((0, 0), |made| (made.demanded.len(), made.prefetched));
                LifeStep::Serviced { set, demanded: demanded as u32, prefetched: prefetched as u32 }
            }
            FaultStage::Arrived => LifeStep::Arrived,
            FaultStage::Replayed => LifeStep::Replayed,
        }
    }

    /// A walk has come to a fault that nobody knew of: what led to it.
    pub(super) fn tell_beginning(&mut self, gpu: usize, walk: Walk) {
        let Some(one) = self.paging.as_mut().and_then(|paging| paging.gpus.get_mut(gpu)) else { return };
        let agent = one.ports.units.get(walk.unit as usize).and_then(|agent| self.agents.get(*agent));
        if let Some(agent) = agent.filter(|_| !one.lives.is_open(walk.page))
            && let Some(miss) = agent.tlb.as_ref().and_then(|tlb| tlb.miss(walk.page))
        {
            let waits = |warp: &Warp| warp.waits_for(walk.page);
            let warp = agent.warps.iter().position(waits).unwrap_or_default() as u32;
            let step = LifeStep::Missed { warp };
            one.lives.tell(walk.page, FaultStep { step, at: miss.since.tick, who: agent.config.id });
        }
        let who = one.ports.gmmu;
        one.lives.tell(walk.page, FaultStep { step: LifeStep::Walked, at: walk.began.tick, who });
    }

    /// A page goes over a link to a GPU, behind others.
    pub(super) fn tell_sent(&mut self, gpu: usize, page: Page, link: ComponentId) {
        let at = self.now;
        if let Some(one) = self.paging.as_mut().and_then(|paging| paging.gpus.get_mut(gpu)) {
            let step = LifeStep::Sent { ahead: one.arrivals.len().saturating_sub(1) as u32 };
            one.lives.tell_sent(page, FaultStep { step, at, who: link });
        }
    }

    /// The TLB of an agent has the translation of a page.
    pub(super) fn tell_filled(&mut self, gpu: usize, page: Page, agent: usize) {
        let (at, who) = (self.now, self.agents.get(agent).map(|agent| agent.config.id));
        let one = self.paging.as_mut().and_then(|paging| paging.gpus.get_mut(gpu));
        if let (Some(one), Some(who)) = (one, who) {
            one.lives.tell_filled(page, FaultStep { step: LifeStep::Filled, at, who });
        }
    }

    pub(super) fn tell_page(
        &mut self,
        gpu: usize,
        page: Page,
        change: PageChange,
        set: u64,
        out: &mut Outbox,
    ) {
        if let Some(paging) = self.paging.as_mut().filter(|_| self.checker.is_some()) {
            paging.moved.push(page);
        }
        let Some(one) = self.paging.as_ref().and_then(|paging| paging.gpus.get(gpu)) else { return };
        out.record(one.ports.driver, self.about_page(page), || What::Page { change, gpu: gpu as u32, set });
    }

    /// All work has ended: tells of the pages that were prefetched for nothing and are still there. Others were told of
    /// when they went, or will be when they come.
    pub(in crate::machine) fn tell_unused(&self, out: &mut Outbox) {
        let gpus = self.paging.iter().flat_map(|paging| paging.gpus.iter().enumerate());
        let listens = out.records.on;
        for (gpu, one) in gpus.filter(|_| listens) {
            for page in one.driver.iter().flat_map(|driver| driver.residency.unused().iter()) {
                out.record(one.ports.driver, self.about_page(page), || What::Page {
                    change: PageChange::Unused,
                    gpu: gpu as u32,
                    set: 0,
                });
            }
        }
    }

    /// Tells of the page walks that began in this event.
    pub(super) fn tell_begun(&self, gpu: usize, out: &mut Outbox) {
        let one = self.paging.as_ref().and_then(|paging| paging.gpus.get(gpu));
        let Some(one) = one.filter(|_| out.records.on) else { return };
        for walk in one.gmmu.begun_in(out.event) {
            out.cause = Some(walk.asked);
            self.tell_walk(gpu, *walk, None, out);
        }
    }

    /// Tells that a page walk begins, or when it ended.
    pub(super) fn tell_walk(&self, gpu: usize, walk: Walk, ended: Option<Since>, out: &mut Outbox) {
        let Some(one) = self.paging.as_ref().and_then(|paging| paging.gpus.get(gpu)) else { return };
        let Walk { page, unit, began, cached, memory, .. } = walk;
        let cycle = |tick: Tick| self.fixed.time.cycle(tick);
        let cycles = ended.map(|ended| cycle(ended.tick) - cycle(began.tick));
        let told = PageWalk { gpu: gpu as u32, unit, cached, memory, cycles };
        out.record(one.ports.gmmu, self.about_page(page), || What::Walk(told));
    }
}
