//! Why something waits for a page.

use super::{Machine, Owner};
use crate::model::inspect::WaitLink;
use crate::model::page::Page;
use crate::model::time::Tick;
use crate::parts::agent::Agent;
use crate::parts::tlb::Progress;

impl Machine {
    /// The chain of waiting of a warp whose access is not translated.
    pub(in crate::machine) fn why_translation(&self, agent: &Agent, slot: u32) -> Vec<WaitLink> {
        let Some(paging) = self.paging.as_ref() else { return Vec::new() };
        let at = agent.config.id;
        let warp = agent.warps.get(slot as usize);
        let Some(page) = warp.and_then(crate::parts::agent::Warp::untranslated) else {
            let text = format!("warp {slot} waits for its TLB, which a far-fault blocks");
            return vec![WaitLink { at, text, since: warp.map(|warp| warp.since) }];
        };
        let own = |one: &super::GpuPaging| {
            one.ports.units.iter().any(|unit| self.agents.get(*unit).is_some_and(|unit| unit.config.id == at))
        };
        let Some(gpu) = paging.gpus.iter().position(own) else {
            let text = format!("warp {slot} waits for page {page}, which {}", self.whereabouts(page));
            return vec![WaitLink { at, text, since: warp.map(|warp| warp.since) }];
        };
        let miss = agent.tlb.iter().flat_map(|tlb| tlb.misses()).find(|(missed, _)| *missed == page);
        let since = miss.map(|(_, miss)| miss.since.tick);
        let (text, is_fault) = match miss.map(|(_, miss)| miss.progress) {
            Some(Progress::Walking) => (format!("warp {slot} waits for the page walk of page {page}"), false),
            Some(Progress::Dropped) => (
                format!(
                    "warp {slot} waits for page {page}: its far-fault was dropped, and is replayed when another has ended"
                ),
                false,
            ),
            _ => (format!("warp {slot} waits for the replay of far-fault {page}"), true),
        };
        let mut links = vec![WaitLink { at, text, since }];
        if is_fault {
            links.extend(self.why_fault(gpu, page));
        }
        links
    }

    fn why_fault(&self, gpu: usize, page: Page) -> Vec<WaitLink> {
        let Some(one) = self.paging.as_ref().and_then(|paging| paging.gpus.get(gpu)) else {
            return Vec::new();
        };
        let cycle = |tick: Tick| self.fixed.time.cycle(tick);
        let fault = one.gmmu.far_faults().find(|(faulted, _)| *faulted == page);
        let mut links = Vec::new();
        if let Some((_, fault)) = fault {
            let text = format!("tracks far-fault {page}, which {}", self.whereabouts(page));
            links.push(WaitLink { at: one.ports.gmmu, text, since: Some(fault.since.tick) });
        }
        if let Some(place) = one.driver.queue().position(|queued| queued.page == page) {
            let due =
                one.driver.next().map_or_else(String::new, |due| format!(", due at cycle {}", cycle(due)));
            let text = format!("has it in its queue behind {place} others for the next transfer set{due}");
            links.push(WaitLink { at: one.ports.driver, text, since: None });
        } else if let Some(place) = one.driver.planned().position(|planned| planned.page == page) {
            let text = format!("waits for a free frame for it, behind {place} others");
            links.push(WaitLink { at: one.ports.driver, text, since: None });
        } else if let Some(place) = one.arrivals.iter().position(|(_, planned)| planned.page == page)
            && let Some((due, _)) = one.arrivals.get(place)
        {
            let link = self.fixed.visible_links.get(one.ports.links.0.first).and_then(Option::as_ref);
            let text = format!("carries it behind {place} other pages, due at cycle {}", cycle(*due));
            links.push(WaitLink { at: link.map_or(one.ports.driver, |link| link.0), text, since: None });
        }
        links
    }

    fn whereabouts(&self, page: Page) -> String {
        match self.paging.as_ref().and_then(|paging| paging.owners.get(&page)) {
            None => "is in host memory".to_owned(),
            Some(Owner::ToGpu(gpu)) => format!("is on its way to gpu{gpu}"),
            Some(Owner::Gpu(gpu)) => format!("is in the memory of gpu{gpu}"),
            Some(Owner::ToHost(gpu)) => format!("is on its way from gpu{gpu} to the host"),
        }
    }
}
