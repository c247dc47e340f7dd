//! Pages change sides: their translations and cached lines go first, then their bytes over the link.

#[cfg(test)]
mod tests;

use super::crossing::{Way, streams};
use super::{GpuPaging, Machine, Owner};
use crate::machine::transport::carry;
use crate::model::address::Range;
use crate::model::fault::Fault;
use crate::model::page::{Page, PageRun};
use crate::model::paging::{MoveReason, PageChange};
use crate::model::time::EventNumber;
use crate::parts::driver::Planned;
use crate::protocol::outbox::{Outbox, TouchKind};

/// Nodes that a page leaves.
struct Drained<'a> {
    gpus: &'a [GpuPaging],
    host: &'a [usize],
    /// The memories of the GPUs, too.
    memories: bool,
}

impl Drained<'_> {
    fn iter(&self) -> impl Iterator<Item = usize> {
        let caches = self.gpus.iter().flat_map(|one| &one.ports.caches);
        let memories = self.gpus.iter().filter(|_| self.memories).flat_map(|one| &one.ports.memories);
        caches.chain(memories).chain(self.host).copied()
    }

    fn contains(&self, node: usize) -> bool {
        self.iter().any(|own| own == node)
    }
}

impl Machine {
    /// A page is to come to a GPU, which has a frame for it.
    pub(super) fn fetch(&mut self, gpu: usize, planned: Planned, out: &mut Outbox) {
        let Planned { page, reason, set, .. } = planned;
        let change = match reason {
            MoveReason::Demanded => PageChange::Demanded,
            MoveReason::Prefetched => PageChange::Prefetched,
            MoveReason::Copied => PageChange::Copied,
        };
        self.tell_page(gpu, page, change, set, out);
        self.begin_fetch(gpu, Planned { because: Some(out.event), ..planned }, out);
    }

    fn begin_fetch(&mut self, gpu: usize, planned: Planned, out: &mut Outbox) {
        let (page, now) = (planned.page, self.now);
        let Some(paging) = self.paging.as_mut() else { return };
        if paging.only_maps() {
            if let Some(one) = paging.gpus.get_mut(gpu) {
                one.arrivals.push_back((now, planned));
            }
            return self.wake_paging(gpu);
        }
        match paging.owners.get(&page).copied() {
            None => {
                paging.owners.insert(page, Owner::ToGpu(gpu as u32));
                self.claim(gpu, page, out);
                let Some(paging) = self.paging.as_mut() else { return };
                paging.draining.insert(page, Vec::new());
                paging.wanted.entry(page).or_default().insert(0, (gpu as u32, planned));
                self.drain(page, out);
            }
            Some(owner) => {
                paging.wanted.entry(page).or_default().push((gpu as u32, planned));
                if let Owner::Gpu(other) = owner {
                    self.part_with(other as usize, page, out);
                }
            }
        }
    }

    /// A page of a GPU that another one wants leaves it, once it has been used there: else they might take it from each other
    /// for ever.
    pub(super) fn part_with(&mut self, gpu: usize, page: Page, out: &mut Outbox) {
        let Some(paging) = self.paging.as_ref().filter(|paging| paging.wanted.contains_key(&page)) else {
            return;
        };
        if paging.owners.get(&page) == Some(&Owner::Gpu(gpu as u32)) && self.is_settled(gpu, page) {
            self.send_home(gpu, page, out);
        }
    }

    /// Whether a page of a GPU has been used by those who waited for it.
    fn is_settled(&self, gpu: usize, page: Page) -> bool {
        let one = self.paging.as_ref().and_then(|paging| paging.gpus.get(gpu));
        one.and_then(|one| one.driver.as_ref()).is_some_and(|driver| driver.residency.is_settled(page))
    }

    /// A page of a GPU was used: a core that wants it, and whose time has come, gets it now.
    pub(super) fn take_back(&mut self, gpu: usize, page: Page) {
        let now = self.now;
        let Some(paging) = self.paging.as_mut().filter(|paging| !paging.recalled.is_empty()) else { return };
        let is_own = paging.owners.get(&page) == Some(&Owner::Gpu(gpu as u32));
        if let Some((due, _)) = paging.recalled.get_mut(&page).filter(|(due, _)| is_own && due.is_none()) {
            *due = Some(now);
            self.wake_paging(0);
        }
    }

    /// A page that another wants leaves the memory of a GPU.
    pub(super) fn send_home(&mut self, gpu: usize, page: Page, out: &mut Outbox) {
        if let Some(wasted) = self.driver(gpu).map(|driver| driver.send_home(page)) {
            self.expel(gpu, page, (PageChange::TakenBack, wasted), out);
        }
    }

    /// What was written on a page is copied back, after the last work.
    pub(super) fn copy_home(&mut self, gpu: usize, page: Page, out: &mut Outbox) {
        if let Some(wasted) = self.driver(gpu).map(|driver| driver.copy_home(page)) {
            self.expel(gpu, page, (PageChange::CopiedBack, wasted), out);
        }
    }

    /// A page leaves a GPU, to make room or taken back, and perhaps wasted: no TLB translates it any more, and its lines leave the caches.
    pub(super) fn expel(
        &mut self,
        gpu: usize,
        page: Page,
        (change, wasted): (PageChange, bool),
        out: &mut Outbox,
    ) {
        let Some(paging) = self.paging.as_mut() else { return };
        paging.owners.insert(page, Owner::ToHost(gpu as u32));
        paging.draining.insert(page, Vec::new());
        let units = paging.units_of(gpu);
        self.tell_page(gpu, page, change, 0, out);
        if wasted {
            self.tell_page(gpu, page, PageChange::Wasted, 0, out);
        }
        self.shoot_down(&units, page, out);
        self.drain(page, out);
    }

    /// No TLB of these compute units translates a page any more.
    pub(super) fn shoot_down(&mut self, units: &[usize], page: Page, out: &mut Outbox) {
        let skips = self.fixed.faults.contains(&Fault::SkipShootDown);
        for &unit in units.iter().filter(|_| !skips) {
            if let Some(agent) = self.agents.get_mut(unit) {
                agent.shoot_down(page, out);
            }
        }
    }

    /// A node has taken a message about a range: pages there that are leaving may have left it.
    pub(in crate::machine) fn drain_node(&mut self, node: usize, range: Range, out: &mut Outbox) {
        let Some(paging) = self.paging.as_ref().filter(|paging| !paging.draining.is_empty()) else { return };
        let Some(target) = self.nodes.get(node) else { return };
        let block = target.config.block.max(1);
        let touched = PageRun::of(Range::new(range.start.block(block), block), paging.page);
        for page in touched.iter() {
            let is_one_of = |left: &Vec<usize>| left.contains(&node) || self.caches_of(page).contains(node);
            if self.paging.as_ref().and_then(|paging| paging.draining.get(&page)).is_some_and(is_one_of) {
                self.drain_one(node, page, out);
            }
        }
    }

    /// What holds lines of a page on the side that it leaves, or that must not keep it: caches, and memories that are busy with some.
    fn caches_of(&self, page: Page) -> Drained<'_> {
        let none = Drained { gpus: &[], host: &[], memories: false };
        let Some(paging) = self.paging.as_ref() else { return none };
        match paging.owners.get(&page) {
            _ if paging.protection.is_some() => Drained { gpus: &paging.gpus, ..none },
            Some(Owner::ToHost(gpu)) => {
                let gpu = *gpu as usize;
                Drained { gpus: paging.gpus.get(gpu..=gpu).unwrap_or(&[]), memories: true, ..none }
            }
            _ => Drained { host: &paging.host_caches, ..none },
        }
    }

    /// Evicts the lines of a page from the caches of the side that it leaves, or that must not keep it; once they are gone, it
    /// goes on.
    pub(super) fn drain(&mut self, page: Page, out: &mut Outbox) {
        let nodes: Vec<usize> = self.caches_of(page).iter().collect();
        let left: Vec<usize> = nodes.into_iter().filter(|node| !self.is_cleared(*node, page, out)).collect();
        let Some(paging) = self.paging.as_mut() else { return };
        if !left.is_empty() {
            paging.draining.insert(page, left);
        } else if paging.draining.remove(&page).is_some() {
            self.drained(page, out);
        }
    }

    /// The same for one of them, which has changed. That none is left is seen by looking at all: what an L1 still waited for has
    /// perhaps come into an L2 since that was clear.
    fn drain_one(&mut self, node: usize, page: Page, out: &mut Outbox) {
        let is_cleared = self.is_cleared(node, page, out);
        let left = self.paging.as_mut().and_then(|paging| paging.draining.get_mut(&page));
        let Some(left) = left else { return };
        left.retain(|other| *other != node);
        if !is_cleared {
            left.push(node);
        } else if left.is_empty() {
            self.drain(page, out);
        }
    }

    /// Evicts the lines of a page from a node. Whether none is left there.
    fn is_cleared(&mut self, node: usize, page: Page, out: &mut Outbox) -> bool {
        let Some(range) = self.paging.as_ref().map(|paging| page.range(paging.page)) else { return true };
        let Some(target) = self.nodes.get_mut(node).filter(|target| target.is_busy_with(range)) else {
            return true;
        };
        let mut acted = false;
        for address in range.blocks(target.config.block.max(1)) {
            acted |= target.evict_block(address, out);
        }
        if acted {
            self.after_node(node, out);
        }
        self.nodes.get(node).is_none_or(|node| !node.is_busy_with(range))
    }

    /// No cache has lines of the page any more.
    fn drained(&mut self, page: Page, out: &mut Outbox) {
        if self.paging.as_ref().is_some_and(|paging| paging.brings_pages()) {
            self.depart(page, out);
        } else {
            self.end_change(page, out);
        }
    }

    /// A page has left the caches: its bytes move.
    fn depart(&mut self, page: Page, out: &mut Outbox) {
        let owner = self.paging.as_ref().and_then(|paging| paging.owners.get(&page).copied());
        match owner {
            Some(Owner::ToGpu(gpu)) => self.depart_to_gpu(gpu as usize, page, out),
            Some(Owner::ToHost(gpu)) => self.depart_to_host(gpu as usize, page, out),
            _ => {}
        }
    }

    fn depart_to_gpu(&mut self, gpu: usize, page: Page, out: &mut Outbox) {
        let now = self.now;
        let Some(paging) = self.paging.as_mut() else { return };
        let Some(list) = paging.wanted.get_mut(&page).filter(|list| !list.is_empty()) else { return };
        let planned = list.remove(0).1;
        if list.is_empty() {
            paging.wanted.remove(&page);
        }
        let (bytes, mode) = (u64::from(paging.page), paging.copies.mode);
        let Some(one) = paging.gpus.get_mut(gpu) else { return };
        let due = carry(&mut self.links, one.ports.links.0, bytes, now);
        let is_first = one.arrivals.is_empty();
        if streams(planned, mode) {
            one.streams_until = Some(due);
            one.arrivals.push_back((now, planned));
            // It is used from its beginning on, and stands in nobody's way there.
            let range = page.range(paging.page);
            self.pass_memory(None, range, TouchKind::Read, out);
        } else {
            one.arrivals.push_back((due, planned));
            let (link, driver) = (one.ports.links.0.first, one.ports.driver);
            self.tell_sent(gpu, page, self.link_component(link, driver));
            if is_first {
                self.begin_crossing(gpu, Way::ToGpu);
            }
        }
        self.arm_sampler();
        self.wake_paging(gpu);
    }

    fn depart_to_host(&mut self, gpu: usize, page: Page, out: &mut Outbox) {
        let now = self.now;
        let Some(paging) = self.paging.as_mut() else { return };
        let bytes = u64::from(paging.page);
        let Some(one) = paging.gpus.get_mut(gpu) else { return };
        if !one.driver.as_ref().is_some_and(|driver| driver.residency.is_dirty(page)) {
            self.settle_back(gpu, page, out);
            return;
        }
        let arrival = carry(&mut self.links, one.ports.links.1, bytes, now);
        let is_first = one.departures.is_empty();
        one.departures.push_back((arrival, page, out.event));
        if is_first {
            self.begin_crossing(gpu, Way::ToHost);
        }
        self.arm_sampler();
        self.tell_page(gpu, page, PageChange::WrittenBack, 0, out);
        self.wake_paging(gpu);
    }

    /// A page is in host memory again.
    pub(super) fn settle_back(&mut self, gpu: usize, page: Page, out: &mut Outbox) {
        if !self.fixed.faults.contains(&Fault::DropPageWriteBack) {
            self.copy_to_host(gpu, page);
        }
        let Some(orders) = self.driver(gpu).map(|driver| driver.evicted(page)) else { return };
        self.tell_page(gpu, page, PageChange::Gone, 0, out);
        self.disclaim(gpu, page, out);
        self.come_to_rest(page, None, out);
        self.carry_out(gpu, orders, out);
    }

    /// Cores that wait for a page may access it now.
    pub(super) fn tell_cores(&mut self, cores: &[usize], page: Page, out: &mut Outbox) {
        for &core in cores {
            if let Some(agent) = self.agents.get_mut(core) {
                agent.translated(page, out);
            }
            self.wake(core);
        }
    }

    /// A page is at rest: who waits for it goes on.
    pub(super) fn come_to_rest(&mut self, page: Page, gpu: Option<u32>, out: &mut Outbox) {
        let Some(paging) = self.paging.as_mut().filter(|paging| !paging.only_maps()) else { return };
        match gpu {
            Some(gpu) => drop(paging.owners.insert(page, Owner::Gpu(gpu))),
            None => drop(paging.owners.remove(&page)),
        }
        let cores = if gpu.is_none() && paging.recalled.remove(&page).is_some() {
            paging.cores.clone()
        } else {
            Vec::new()
        };
        self.tell_cores(&cores, page, out);
        if let Some(gpu) = gpu {
            self.recall_at_rest(page);
            return self.part_with(gpu as usize, page, out);
        }
        let Some(paging) = self.paging.as_mut() else { return };
        let Some(list) = paging.wanted.get_mut(&page) else { return };
        let next = (!list.is_empty()).then(|| list.remove(0));
        if list.is_empty() {
            paging.wanted.remove(&page);
        }
        if let Some((gpu, planned)) = next {
            self.begin_fetch(gpu as usize, planned, out);
        }
    }

    /// A page that a core has waited for has come to a GPU: the core's turn comes when the page has been used.
    fn recall_at_rest(&mut self, page: Page) {
        let now = self.now;
        let recalled = self.paging.as_mut().and_then(|paging| paging.recalled.get_mut(&page));
        if let Some((due @ None, _)) = recalled {
            *due = Some(now);
            self.wake_paging(0);
        }
    }

    /// Cores have waited long enough for pages that GPUs have.
    pub(super) fn recall(&mut self, out: &mut Outbox) {
        let now = self.now;
        let Some(paging) = self.paging.as_mut() else { return };
        let is_due = |at: &Option<crate::model::time::Tick>| at.is_some_and(|at| at <= now);
        let waiting = paging.recalled.iter().filter(|(_, (at, _))| is_due(at));
        let due: Vec<(Page, EventNumber)> = waiting.map(|(page, (_, cause))| (*page, *cause)).collect();
        for (page, cause) in due {
            let Some(paging) = self.paging.as_mut() else { return };
            out.cause = Some(cause);
            match paging.owners.get(&page).copied() {
                Some(Owner::Gpu(gpu)) => {
                    paging.recalled.insert(page, (None, cause));
                    let gpu = gpu as usize;
                    // Who waits for it here uses it before: `take_back` is told then.
                    if !self.is_settled(gpu, page) {
                        continue;
                    }
                    if let Some(wasted) = self.driver(gpu).map(|driver| driver.give_back(page)) {
                        self.expel(gpu, page, (PageChange::TakenBack, wasted), out);
                    }
                }
                // It is on its way: where it comes to rest it is asked for.
                Some(_) => drop(paging.recalled.insert(page, (None, cause))),
                None => self.come_to_rest(page, None, out),
            }
        }
        out.cause = None;
    }

    /// Bytes of a page go from host memory to that of a GPU.
    pub(super) fn copy_to_gpu(&mut self, gpu: usize, page: Page) {
        self.copy_page(gpu, page, true);
    }

    pub(super) fn copy_to_host(&mut self, gpu: usize, page: Page) {
        self.copy_page(gpu, page, false);
    }

    fn copy_page(&mut self, gpu: usize, page: Page, to_gpu: bool) {
        let Some(range) = self.paging.as_ref().map(|paging| page.range(paging.page)) else { return };
        let host = Self::host_memory;
        let own = |machine: &Self, address| machine.gpu_memory(gpu, address);
        if to_gpu {
            self.move_bytes(range, host, own);
        } else {
            self.move_bytes(range, own, host);
        }
    }
}
