//! Why something waits for a page.

use super::{GpuPaging, Machine, Owner};
use crate::model::component::ComponentId;
use crate::model::page::Page;
use crate::model::page_view::LifeStep;
use crate::model::text::plural;
use crate::model::time::Tick;
use crate::model::wait::{Party, WaitLink};
use crate::parts::agent::{Agent, Warp};
use crate::parts::driver::Driver;
use crate::parts::gmmu::{Found, Outcome};
use crate::parts::tlb::Progress;

impl Machine {
    /// The chain of waiting of a warp whose access is not translated.
    pub(in crate::machine) fn why_translation(&self, agent: &Agent, slot: u32) -> Vec<WaitLink> {
        let mut links = self.untranslated(agent, slot);
        if let Some(first) = links.first_mut() {
            first.text = format!("warp {slot} {}", first.text);
        }
        links
    }

    /// The same; the first link says what the warp does, and leaves its name out.
    fn untranslated(&self, agent: &Agent, slot: u32) -> Vec<WaitLink> {
        let Some(paging) = self.paging.as_ref() else { return Vec::new() };
        let at = agent.config.id;
        let warp = agent.warps.get(slot as usize);
        let Some(page) = warp.and_then(crate::parts::agent::Warp::untranslated) else {
            return self.why_blocked(agent, warp.map(|warp| warp.since));
        };
        let Some(gpu) = self.paged_gpu_of(agent) else {
            let since = warp.map(|warp| warp.since);
            if paging.brings_pages() {
                let text = format!("waits for page {page}, which {}", self.whereabouts(page));
                let taken_back = self.why_taken_back(page);
                return std::iter::once(WaitLink { at, text, since }).chain(taken_back).collect();
            }
            let text = format!("waits to write page {page}, which is read-only");
            // Its fault is its own handler's: no GMMU has a part in it (section 3.3).
            let handler =
                paging.gpus.first().map(|one| (self.why_handler(one, page), self.why_moving(one, page)));
            let then = handler.into_iter().flat_map(|(handler, moving)| handler.into_iter().chain(moving));
            return std::iter::once(WaitLink { at, text, since }).chain(then).collect();
        };
        let miss = agent.tlb.as_ref().and_then(|tlb| tlb.miss(page));
        // The miss may be that of another warp, before this one came.
        let since = miss.map(|miss| miss.since.tick).max(warp.map(|warp| warp.since));
        let link = |text: String| WaitLink { at, text, since };
        match miss.map(|miss| miss.progress) {
            Some(Progress::Walking) => self.why_walking(gpu, agent, page, since),
            Some(Progress::Dropped) => {
                let mut links = vec![link(format!(
                    "waits for page {page}: its fault was dropped, and the TLB replays it when \
                     another has ended"
                ))];
                links.extend(tracked_of(agent).map(|other| self.why_fault(gpu, other)).unwrap_or_default());
                links
            }
            _ => {
                let what = if paging.brings_pages() { "far-fault" } else { "the protection fault of page" };
                let mut links = vec![link(format!("waits for the TLB to replay {what} {page}"))];
                links.extend(self.why_fault(gpu, page));
                links
            }
        }
    }

    /// What a page waits for that a core wants: the driver serves its fault first, then it comes home.
    fn why_taken_back(&self, page: Page) -> Vec<WaitLink> {
        let gpus = self.paging.as_ref().map_or(&[][..], |paging| &paging.gpus);
        let leaves = gpus.iter().find_map(|one| self.why_leaving(one, page));
        self.why_recalled(page).into_iter().chain(leaves).collect()
    }

    fn why_recalled(&self, page: Page) -> Option<WaitLink> {
        let paging = self.paging.as_ref()?;
        let (due, _) = paging.recalled.get(&page)?;
        let at = paging.gpus.first()?.ports.driver;
        let text = match due {
            Some(due) => {
                let cycle = self.fixed.time.cycle(*due);
                format!("serves the fault of a core, and takes page {page} back in cycle {cycle}")
            }
            None => format!("takes page {page} back for a core"),
        };
        Some(WaitLink { at, text, since: None })
    }

    /// The TLB takes nothing because of another access: what that waits for.
    fn why_blocked(&self, agent: &Agent, since: Option<Tick>) -> Vec<WaitLink> {
        let moves = self.paging.as_ref().is_some_and(|paging| paging.brings_pages());
        let gpu = self.paged_gpu_of(agent);
        let (text, rest) = match tracked_of(agent) {
            Some(page) if moves => {
                let rest = gpu.map(|gpu| self.why_fault(gpu, page));
                (format!("waits for its TLB, which a far-fault of page {page} blocks"), rest)
            }
            _ if moves => ("waits for its TLB, which a far-fault blocks".to_owned(), None),
            _ => ("waits for its TLB, which more protection faults block than it bears".to_owned(), None),
        };
        let first = WaitLink { at: agent.config.id, text, since };
        std::iter::once(first).chain(rest.unwrap_or_default()).collect()
    }

    /// The GPU whose pages move, or are protected, that a compute unit belongs to.
    pub(super) fn paged_gpu_of(&self, agent: &Agent) -> Option<usize> {
        let at = agent.config.id;
        let is_own = |unit: &usize| self.agents.get(*unit).is_some_and(|unit| unit.config.id == at);
        self.paging.as_ref()?.gpus.iter().position(|one| one.ports.units.iter().any(is_own))
    }

    /// What a warp whose access is not translated waits for, and in words. A TLB that waits for a fault that the GMMU does not
    /// track will never be told; where nothing moves any more, a page that nobody has will never come.
    pub(in crate::machine) fn translation_waits(
        &self,
        agent: &Agent,
        slot: u32,
        warp: &Warp,
    ) -> Option<(Party, String)> {
        let link = self.untranslated(agent, slot).into_iter().next()?;
        let text = link.text;
        // One that its TLB does not even take waits for the page that blocks that.
        let page = warp.untranslated().or_else(|| tracked_of(agent)).or_else(|| walked_of(agent))?;
        let usual = Party::Page(link.at, page);
        let miss = agent.tlb.as_ref().and_then(|tlb| tlb.miss(page));
        let is_core = self.paged_gpu_of(agent).is_none();
        if let Some(one) = self.lost_to(page).filter(|_| is_core) {
            return Some((Party::Lost(one.ports.driver, agent.config.id), text));
        }
        let awaited = match miss.map(|miss| miss.progress) {
            Some(Progress::Tracked) => Some(page),
            Some(Progress::Dropped) => tracked_of(agent),
            _ => return Some((usual, text)),
        };
        let Some((gpu, awaited)) = self.paged_gpu_of(agent).zip(awaited) else { return Some((usual, text)) };
        let one = self.paging.as_ref()?.gpus.get(gpu)?;
        let (gmmu, driver) = (one.ports.gmmu, one.ports.driver);
        let path = |at| self.fixed.components.path(at);
        if !one.gmmu.far_faults().any(|(faulted, _)| faulted == awaited) {
            let text = format!("{text}, which {} does not track any more", path(gmmu));
            return Some((Party::WakeUp(agent.config.id, slot), text));
        }
        let bringer = self.brings(gpu, awaited).unwrap_or(one);
        let is_at_rest = || self.queue.is_empty() && !self.has_page_under_way(bringer, awaited);
        let is_lost = self.lost_to(awaited).is_some() || is_at_rest();
        if is_lost {
            let text = format!("{text}, which {} has sent for and which is nowhere", path(driver));
            return Some((Party::Lost(driver, gmmu), text));
        }
        Some((usual, text))
    }

    /// Whether the driver, the caches or the link have something to do yet about a page that a fault asks for.
    fn has_page_under_way(&self, one: &GpuPaging, page: Page) -> bool {
        let Some(paging) = self.paging.as_ref() else { return false };
        let has = |driver: &Driver| {
            driver.queue().any(|queued| queued.page == page)
                || driver.planned().any(|planned| planned.page == page)
        };
        paging.draining.contains_key(&page)
            || one.arrivals.iter().any(|(_, planned)| planned.page == page)
            || one.driver.as_ref().is_some_and(has)
            || paging.protection.as_ref().is_some_and(|protection| protection.due(page).is_some())
    }

    /// A TLB that has asked for a page, and has no answer yet.
    fn why_walking(&self, gpu: usize, agent: &Agent, page: Page, since: Option<Tick>) -> Vec<WaitLink> {
        let answer = self.answer_under_way(gpu, agent, page);
        let is_answered = answer.is_some();
        let waits = answer.unwrap_or_else(|| format!("which waits for the walk of page {page}"));
        let first = WaitLink { at: agent.config.id, text: format!("waits for the TLB, {waits}"), since };
        let one = self.paging.as_ref().and_then(|paging| paging.gpus.get(gpu));
        let is_tracked = one.is_some_and(|one| one.gmmu.far_faults().any(|(faulted, _)| faulted == page));
        let rest = match is_tracked {
            true => self.why_fault(gpu, page),
            false if is_answered => Vec::new(),
            false => self.why_walk(gpu, page).into_iter().collect(),
        };
        std::iter::once(first).chain(rest).collect()
    }

    /// What the GMMU has found of a page and is on its way to a TLB, and when it is there.
    pub(super) fn reply_under_way(&self, gpu: usize, agent: &Agent, page: Page) -> Option<&(Tick, Outcome)> {
        let one = self.paging.as_ref()?.gpus.get(gpu)?;
        let is_own = |unit: u32| {
            let place = one.ports.units.get(unit as usize).and_then(|unit| self.agents.get(*unit));
            place.is_some_and(|unit| unit.config.id == agent.config.id)
        };
        one.replies.iter().find(|(_, reply)| reply.walk.page == page && is_own(reply.walk.unit))
    }

    /// The same in words.
    fn answer_under_way(&self, gpu: usize, agent: &Agent, page: Page) -> Option<String> {
        let (due, outcome) = self.reply_under_way(gpu, agent, page)?;
        let what = match outcome.found {
            Found::Translated => "the translation",
            Found::Raised | Found::Merged | Found::Dropped => "the Nack-Replayable",
        };
        let due = self.fixed.time.cycle(*due);
        let then = match outcome.found {
            Found::Dropped => "; its fault was dropped, and is replayed when another has ended",
            _ => "",
        };
        Some(format!("to which {what} of page {page} is on its way, due at cycle {due}{then}"))
    }

    fn why_walk(&self, gpu: usize, page: Page) -> Option<WaitLink> {
        let one = self.paging.as_ref()?.gpus.get(gpu)?;
        let cycle = |tick: Tick| self.fixed.time.cycle(tick);
        let text = match one.gmmu.about(page) {
            (Some(ends), _) => format!("walks its page table for page {page} until cycle {}", cycle(ends)),
            (None, Some(ready)) if ready > self.now => {
                format!("gets the request for page {page} at cycle {}", cycle(ready))
            }
            _ => {
                let (waiting, walking) = one.gmmu.busy();
                let others = if waiting == 1 { "1 more waits" } else { &format!("{waiting} more wait") };
                format!("has {} under way, and {others} for a walker", plural(walking as u64, "page walk"))
            }
        };
        Some(WaitLink { at: one.ports.gmmu, text, since: None })
    }

    /// What a fault waits for; of one that the GMMU does not track, what a TLB waits for that still misses its page.
    pub(super) fn why_fault_lasts(
        &self,
        gpu: usize,
        one: &GpuPaging,
        page: Page,
        open: bool,
    ) -> Vec<WaitLink> {
        let is_tracked = one.gmmu.far_faults().any(|(faulted, _)| faulted == page);
        // The walk of its page may still be under way, or the answer on its way to it.
        let misses = |agent: &&Agent| agent.tlb.as_ref().is_some_and(|tlb| tlb.miss(page).is_some());
        let slot_of = |agent: &Agent| agent.warps.iter().position(|warp| warp.untranslated() == Some(page));
        let mut units = one.ports.units.iter().filter_map(|unit| self.agents.get(*unit));
        match units.find(misses).and_then(|unit| Some((unit, slot_of(unit)?))) {
            Some((unit, slot)) if !is_tracked => self.why_translation(unit, slot as u32),
            _ if open => self.why_fault(gpu, page),
            _ => Vec::new(),
        }
    }

    /// What a far-fault waits for: the GMMU, the driver, and then a frame, the caches or the link.
    pub(super) fn why_fault(&self, gpu: usize, page: Page) -> Vec<WaitLink> {
        let Some(one) = self.paging.as_ref().and_then(|paging| paging.gpus.get(gpu)) else {
            return Vec::new();
        };
        let at = one.ports.gmmu;
        let whereabouts = self.whereabouts(page);
        let Some((_, fault)) = one.gmmu.far_faults().find(|(faulted, _)| *faulted == page) else {
            // The fault of a core does not come here.
            let changes =
                || self.why_handler(one, page).into_iter().chain(self.why_moving(one, page)).collect();
            let text = match &one.driver {
                Some(_) => format!("does not track far-fault {page}; the page {whereabouts}"),
                None => return changes(),
            };
            return vec![WaitLink { at, text, since: None }];
        };
        let text = match &one.driver {
            Some(_) => format!("tracks far-fault {page}; the page {whereabouts}"),
            None => format!("tracks the protection fault of page {page}"),
        };
        let tracks = WaitLink { at, text, since: Some(fault.since.tick) };
        let bringer = self.brings(gpu, page).unwrap_or(one);
        let serves = match &bringer.driver {
            Some(driver) => self.why_driver(bringer, driver, page),
            None => self.why_handler(one, page),
        };
        let then = self.why_room(bringer, page).into_iter().chain(self.why_moving(bringer, page));
        std::iter::once(tracks).chain(serves).chain(then).collect()
    }

    /// What keeps the frame that a page waits for: the first of those pages that leave.
    fn why_room(&self, one: &GpuPaging, page: Page) -> Option<WaitLink> {
        let driver = one.driver.as_ref()?;
        driver.planned().find(|planned| planned.page == page)?;
        self.why_leaving(one, driver.residency.leaving().next(Page(0))?)
    }

    /// A page that leaves a GPU: its lines leave the caches, then its bytes cross the link.
    fn why_leaving(&self, one: &GpuPaging, page: Page) -> Option<WaitLink> {
        if self.paging.as_ref()?.draining.contains_key(&page) {
            let text = format!("waits until the caches of the GPU have given up the lines of page {page}");
            return Some(WaitLink { at: one.ports.driver, text, since: None });
        }
        let (due, ..) = one.departures.iter().find(|(_, leaves, _)| *leaves == page)?;
        let link = self.fixed.visible_links.get(one.ports.links.1.first).and_then(Option::as_ref);
        let text = format!("carries page {page} home; it is there at cycle {}", self.fixed.time.cycle(*due));
        Some(WaitLink { at: link.map_or(one.ports.driver, |link| link.0), text, since: None })
    }

    fn why_driver(&self, one: &super::GpuPaging, driver: &Driver, page: Page) -> Option<WaitLink> {
        let at = one.ports.driver;
        let link = |text: String, since| WaitLink { at, text, since };
        if let Some((place, queued)) = driver.queue().enumerate().find(|(_, queued)| queued.page == page) {
            let due = driver.next().map_or_else(String::new, |due| {
                format!(", which it submits at cycle {}", self.fixed.time.cycle(due))
            });
            let place = if place == 0 { "first".to_owned() } else { behind(place, "other") };
            let text = format!("has it in its queue, {place}, for the next transfer set{due}");
            return Some(link(text, Some(queued.since.tick)));
        }
        let planned = driver.planned().enumerate().find(|(_, planned)| planned.page == page);
        if let Some((place, planned)) = planned {
            let leaving = driver.residency.leaving().len();
            let before = match place {
                0 => "it is the next to get one".to_owned(),
                1 => "1 other waits before it".to_owned(),
                _ => format!("{place} others wait before it"),
            };
            let text = format!(
                "has it in transfer set {} and no free frame for it: {before}, and {} being freed",
                planned.set,
                if leaving == 1 { "1 frame is".to_owned() } else { format!("{leaving} frames are") }
            );
            return Some(link(text, None));
        }
        let (life, _) = one.lives.of(page)?;
        let served = life.steps.iter().rev().find_map(|step| match step.step {
            LifeStep::Serviced { set, .. } => Some((set, step.at)),
            _ => None,
        });
        let (set, at) = served?;
        let lost = if self.lost_to(page).is_some() { ", and it is nowhere" } else { "" };
        Some(link(format!("has put it into transfer set {set}{lost}"), Some(at)))
    }

    /// The fault handler that changes the permission of a page.
    fn why_handler(&self, one: &super::GpuPaging, page: Page) -> Option<WaitLink> {
        let due = self.paging.as_ref()?.protection.as_ref()?.due(page)?;
        let text =
            format!("is in its fault handler for page {page} until cycle {}", self.fixed.time.cycle(due));
        Some(WaitLink { at: one.ports.driver, text, since: None })
    }

    /// A page that moves: its lines leave the caches of one side, then its bytes cross the link.
    fn why_moving(&self, one: &super::GpuPaging, page: Page) -> Option<WaitLink> {
        let paging = self.paging.as_ref()?;
        if paging.draining.contains_key(&page) {
            let whose = match paging.owners.get(&page) {
                _ if !paging.brings_pages() => "the GPU".to_owned(),
                Some(Owner::ToHost(other)) => format!("gpu{other}"),
                _ => "the host".to_owned(),
            };
            let text = format!("waits until the caches of {whose} have given up its lines");
            return Some(WaitLink { at: one.ports.driver, text, since: None });
        }
        let place = one.arrivals.iter().position(|(_, planned)| planned.page == page)?;
        let (due, _) = one.arrivals.get(place)?;
        if paging.only_maps() {
            let text = format!("enters it in the page table at cycle {}", self.fixed.time.cycle(*due));
            return Some(WaitLink { at: one.ports.driver, text, since: None });
        }
        let link = self.fixed.visible_links.get(one.ports.links.0.first).and_then(Option::as_ref);
        let busy = self.links.get(one.ports.links.0.first)?.busy_since();
        let cycle = |tick: Tick| self.fixed.time.cycle(tick);
        let place = if place == 0 { String::new() } else { format!(" {}", behind(place, "other page")) };
        let text = format!(
            "carries it{place}, without a pause since cycle {}; it is due at cycle {}",
            cycle(busy),
            cycle(*due)
        );
        Some(WaitLink { at: link.map_or(one.ports.driver, |link| link.0), text, since: None })
    }

    /// Why a GMMU or a driver cannot go on: its oldest far-fault.
    pub(in crate::machine) fn why_paging(&self, component: ComponentId) -> Option<Vec<WaitLink>> {
        let mut gpus = self.paging.as_ref()?.gpus.iter().enumerate();
        let (gpu, one) =
            gpus.find(|(_, one)| one.ports.gmmu == component || one.ports.driver == component)?;
        let oldest = one.gmmu.far_faults().min_by_key(|(_, fault)| fault.since.tick);
        Some(oldest.map(|(page, _)| self.why_fault(gpu, page)).unwrap_or_default())
    }
}

fn behind(count: usize, what: &str) -> String {
    format!("behind {}", plural(count as u64, what))
}

/// A far-fault of a compute unit that the GMMU tracks.
fn tracked_of(agent: &Agent) -> Option<Page> {
    missed(agent, Progress::Tracked)
}

/// A page that is walked for it.
fn walked_of(agent: &Agent) -> Option<Page> {
    missed(agent, Progress::Walking)
}

/// The first page that its TLB misses, and that has come so far.
fn missed(agent: &Agent, progress: Progress) -> Option<Page> {
    let mut misses = agent.tlb.iter().flat_map(|tlb| tlb.misses());
    misses.find(|(_, miss)| miss.progress == progress).map(|(page, _)| page)
}

#[cfg(test)]
mod tests {
    use crate::machine::StepOutcome;
    use crate::machine::sample::working;
    use crate::model::access::AccessKind::Load;
    use crate::model::inspect::Inspect;
    use crate::model::paging::FaultStage;
    use crate::model::record::{Records, What};

    #[test]
    fn between_the_fault_and_the_nack_a_warp_waits_for_the_nack() {
        let mut machine = working("tiny/paged-1gpu", &[], &[("gpu0.cu0", Load, vec![0x1000])]);
        let unit = machine.components().find("gpu0.cu0").unwrap();
        let mut records = Records::listening();
        let is_raised = |records: &Records| {
            let raised = |what: &What| matches!(what, What::FarFault { stage: FaultStage::Raised, .. });
            records.list.iter().any(|record| raised(&record.what))
        };
        while !is_raised(&records) {
            assert_eq!(machine.step(&mut records), StepOutcome::Ran);
        }
        let why = machine.why(unit, Some(0));
        assert!(why[0].text.contains("the Nack-Replayable of page 0x1 is on its way"), "{why:?}");
        assert!(why[1].text.contains("tracks far-fault"), "{why:?}");
    }

    #[test]
    fn a_warp_waits_for_its_request_and_its_walk_and_not_for_walkers_that_are_free() {
        let mut machine = working("tiny/umh-2gpu-paged", &[], &[("gpu0.cu0", Load, vec![0x1000])]);
        let unit = machine.components().find("gpu0.cu0").unwrap();
        let (mut records, mut told) = (Records::silent(), Vec::new());
        while machine.step(&mut records) == StepOutcome::Ran {
            told.extend(machine.why(unit, Some(0)).last().map(|link| link.text.clone()));
        }
        told.dedup();
        let has = |part: &str| told.iter().any(|text| text.contains(part));
        assert!(has("gets the request for page 0x1") && has("walks its page table for page 0x1"), "{told:?}");
        // Nothing is carried where a far-fault only maps a page.
        assert!(
            has("enters it in the page table") && !has("carries it") && !has("wait for a walker"),
            "{told:?}"
        );
    }

    #[test]
    fn a_warp_whose_tlb_another_blocks_waits_for_what_that_waits_for() {
        let work = [("gpu0.cu0", Load, vec![0x1000, 0x3000]), ("gpu0.cu0", Load, vec![0x2000])];
        let mut machine = working("tiny/paged-1gpu", &["gpu.paging.faults=block"], &work);
        let unit = machine.components().find("gpu0.cu0").unwrap();
        let mut records = Records::listening();
        let texts = |machine: &crate::machine::Machine| -> Vec<String> {
            machine.why(unit, Some(0)).into_iter().map(|link| link.text).collect()
        };
        while !texts(&machine)
            .first()
            .is_some_and(|text| text.contains("which a far-fault of page 0x2 blocks"))
        {
            assert_eq!(machine.step(&mut records), StepOutcome::Ran);
        }
        let why = texts(&machine);
        assert!(why.iter().any(|text| text.contains("tracks far-fault 0x2")), "{why:?}");
    }
}
