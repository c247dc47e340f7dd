//! What page tables decide: whether an access may go to memory at all. On a machine with paged GPU memory, whether its page is
//! there ("Towards High Performance Paged Memory for GPUs"); on one that takes pages for read-only, whether it may be written
//! ("Selective GPU Caches", section 3.3). Translations, faults and replays are the same.

mod check;
mod copies;
mod crossing;
mod hold;
mod lives;
mod moves;
mod protection;
mod serve;
mod sockets;
mod stands;
mod tell;
mod view;
mod why;

use std::collections::{BTreeMap, VecDeque};
use std::hash::{Hash, Hasher};

use super::Machine;
use super::queue::Event;
use crate::config::machine::CopyMode;
use crate::model::address::{Address, Range};
use crate::model::component::ComponentId;
use crate::model::page::{Page, PageSet};
use crate::model::paging::FaultStage;
use crate::model::time::{EventNumber, Tick};
use crate::parts::channel::Path;
use crate::parts::driver::{Driver, Planned};
use crate::parts::gmmu::{Gmmu, Outcome};
use crate::protocol::outbox::Outbox;
pub use copies::Copies;
use crossing::Crossing;
use hold::Part;
use lives::Lives;
pub use protection::{Protection, ProtectionConfig};

/// What does not change while pages move.
#[derive(Clone, Debug)]
pub struct GpuPorts {
    pub gmmu: ComponentId,
    pub driver: ComponentId,
    /// Compute units, by their index among the agents.
    pub units: Vec<usize>,
    /// Caches, by their index among the nodes: L1s first, then L2s.
    pub caches: Vec<usize>,
    /// The GPU's own memory, by index among the nodes.
    pub memories: Vec<usize>,
    /// What leads from the host and to it.
    pub links: (Path, Path),
    /// From a TLB to the GMMU, one way.
    pub latency: Tick,
}

/// The translations and faults of one GPU.
#[derive(Clone, Debug)]
pub struct GpuPaging {
    pub ports: std::sync::Arc<GpuPorts>,
    pub gmmu: Gmmu,
    /// Moves pages; none where pages stay where they are.
    pub driver: Option<Driver>,
    /// What the GMMU has found, on its way to the TLBs.
    replies: VecDeque<(Tick, Outcome)>,
    /// Pages on the link.
    arrivals: VecDeque<(Tick, Planned)>,
    departures: VecDeque<(Tick, Page, EventNumber)>,
    /// How far the first of either is.
    coming: Option<Crossing>,
    going: Option<Crossing>,
    /// Until when the link carries what the work, on a machine where copies and work overlap, has already.
    streams_until: Option<Tick>,
    /// When it was planned to go on.
    wake: Option<Tick>,
    /// What became of faults, and how many came to each stage. Nothing depends on it: no part of the digest.
    lives: Lives,
    pub stages: [u64; FaultStage::ALL.len()],
}

/// Where a page is, as the driver of the whole machine sees it. Pages that it does not list are in host memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Owner {
    /// Leaving the caches of the host for a GPU, or on the link to it.
    ToGpu(u32),
    Gpu(u32),
    /// Leaving the caches of a GPU for the host, or on the link.
    ToHost(u32),
}

/// What it is for a page to have come to a GPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keep {
    /// Its bytes are in the memory of that GPU, which alone translates it.
    Apart,
    /// Its bytes are in the memory of that socket, and all sockets translate it.
    Shared,
    /// The page table of that GPU has it. Its bytes stay where the hardware keeps them, and others may use it meanwhile.
    Mapped,
}

/// Which memory has the bytes of a page.
pub(super) enum Holder {
    Gpu(usize),
    Host,
    /// The one that is its home.
    Home,
}

/// The paging of a machine.
#[derive(Clone, Debug)]
pub struct Paging {
    /// Bytes of a page.
    pub page: u32,
    /// From a core's access of a page that a GPU has, to the order to bring it back.
    service: Tick,
    pub gpus: Vec<GpuPaging>,
    /// Caches of the host, L1s first.
    host_caches: Vec<usize>,
    cores: Vec<usize>,
    owners: BTreeMap<Page, Owner>,
    /// Pages that leave the caches of a side, and the nodes that have something of them yet.
    draining: BTreeMap<Page, Vec<usize>>,
    /// Fetches that wait for their page to come to rest: the GPU, and what it wants.
    wanted: BTreeMap<Page, Vec<(u32, Planned)>>,
    /// Pages that cores wait for, when the driver orders them back (nothing once it has), and because of which event.
    recalled: BTreeMap<Page, (Option<Tick>, EventNumber)>,
    copies: Copies,
    /// Pages that are taken for read-only.
    protection: Option<Protection>,
    /// Pages that the work touches, as far as that is foreseen. For who looks.
    known: PageSet,
    /// Compute units told to replay, and pages that came, so far.
    pub(super) told: u64,
    pub(super) came: u64,
    /// Pages that changed sides in this event: to be checked.
    moved: Vec<Page>,
    /// The GPU of each agent, if it is one of a GPU.
    gpu_of: Vec<Option<u32>>,
    keep: Keep,
}

impl Paging {
    /// Which memory has the bytes of an address.
    pub(super) fn holder(&self, address: Address) -> Holder {
        match self.owners.get(&Page::of(address, self.page)) {
            Some(Owner::Gpu(gpu) | Owner::ToHost(gpu)) => Holder::Gpu(*gpu as usize),
            Some(Owner::ToGpu(_)) | None if self.is_shared() => Holder::Host,
            Some(Owner::ToGpu(_)) | None => Holder::Home,
        }
    }

    /// The partitions of a GPU's memory.
    pub(super) fn memories_of(&self, gpu: usize) -> &[usize] {
        self.gpus.get(gpu).map_or(&[], |one| &one.ports.memories)
    }

    /// Takes over how the drivers of `other` work.
    pub(super) fn adopt(&mut self, other: &Self) {
        for (own, new) in self.gpus.iter_mut().zip(&other.gpus) {
            own.gmmu.adopt(&new.gmmu);
            if let (Some(own), Some(new)) = (own.driver.as_mut(), new.driver.as_ref()) {
                own.adopt(new.config());
            }
        }
        self.service = other.service;
        if let Some((own, new)) = self.protection.as_mut().zip(other.protection.as_ref()) {
            own.config = new.config;
        }
    }

    #[must_use]
    pub fn new(
        page: u32,
        service: Tick,
        (gpus, keep): (Vec<GpuPaging>, Keep),
        host_caches: Vec<usize>,
        cores: Vec<usize>,
        copies: Copies,
    ) -> Self {
        let units = || {
            gpus.iter().zip(0..).flat_map(|(one, gpu)| one.ports.units.iter().map(move |unit| (*unit, gpu)))
        };
        let mut gpu_of = vec![None; units().map(|(unit, _)| unit + 1).max().unwrap_or(0)];
        for (unit, gpu) in units() {
            if let Some(place) = gpu_of.get_mut(unit) {
                *place = Some(gpu);
            }
        }
        Self {
            page,
            service,
            copies,
            protection: None,
            known: PageSet::default(),
            told: 0,
            came: 0,
            moved: Vec::new(),
            gpu_of,
            keep,
            gpus,
            host_caches,
            cores,
            owners: BTreeMap::new(),
            draining: BTreeMap::new(),
            wanted: BTreeMap::new(),
            recalled: BTreeMap::new(),
        }
    }

    /// The same, but its pages stay where they are and are taken for read-only. The work touches those that are `known`.
    #[must_use]
    pub fn protected(self, protection: Protection, known: PageSet) -> Self {
        Self { protection: Some(protection), known, ..self }
    }

    /// Pages that are taken for read-only, if this machine has such.
    #[must_use]
    pub fn protection(&self) -> Option<&Protection> {
        self.protection.as_ref()
    }

    /// Whether a GPU far-faults on pages that have not come to it.
    #[must_use]
    pub fn brings_pages(&self) -> bool {
        self.protection.is_none()
    }

    /// Whether a page that has come to a socket is there for all.
    fn is_shared(&self) -> bool {
        self.keep == Keep::Shared
    }

    /// Whether pages come by far-faults and nothing is copied: then the work is done when its last task is.
    pub(super) fn ends_with_tasks(&self) -> bool {
        self.brings_pages() && self.copies.mode == CopyMode::OnDemand && !self.copies.back
    }

    /// Whether a page that comes to a GPU is entered in its page table, and nothing else.
    pub(super) fn only_maps(&self) -> bool {
        self.keep == Keep::Mapped
    }

    /// Caches of all GPUs, by their index among the nodes.
    fn all_gpu_caches(&self) -> Vec<usize> {
        self.gpus.iter().flat_map(|one| one.ports.caches.iter().copied()).collect()
    }

    /// Whether a core may access a page.
    #[must_use]
    pub fn is_at_host(&self, page: Page) -> bool {
        !self.owners.contains_key(&page)
    }

    /// Nothing is asked for and nothing moves.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        self.recalled.is_empty()
            && self.wanted.is_empty()
            && self.copies.is_idle()
            && self.protection.as_ref().is_none_or(Protection::is_idle)
            && self.gpus.iter().all(GpuPaging::is_idle)
    }

    pub fn digest(&self, hasher: &mut impl Hasher) {
        for gpu in &self.gpus {
            gpu.gmmu.digest(hasher);
            if let Some(driver) = &gpu.driver {
                driver.digest(hasher);
            }
            (&gpu.replies, &gpu.arrivals, &gpu.departures, gpu.streams_until).hash(hasher);
            (gpu.coming, gpu.going).hash(hasher);
        }
        (&self.owners, &self.draining, &self.wanted, &self.recalled, &self.copies).hash(hasher);
        if let Some(protection) = &self.protection {
            protection.digest(hasher);
        }
    }
}

impl GpuPaging {
    #[must_use]
    pub fn new(ports: GpuPorts, gmmu: Gmmu, driver: Option<Driver>) -> Self {
        Self {
            ports: std::sync::Arc::new(ports),
            gmmu,
            driver,
            replies: VecDeque::new(),
            arrivals: VecDeque::new(),
            departures: VecDeque::new(),
            coming: None,
            going: None,
            streams_until: None,
            wake: None,
            lives: Lives::default(),
            stages: [0; FaultStage::ALL.len()],
        }
    }

    /// Whether its memory has a page.
    fn has(&self, page: Page) -> bool {
        self.driver.as_ref().is_some_and(|driver| driver.residency.resident().contains(page))
    }

    fn is_idle(&self) -> bool {
        let still = self.streams_until.is_none()
            && self.replies.is_empty()
            && self.arrivals.is_empty()
            && self.departures.is_empty();
        still && self.gmmu.is_idle() && self.driver.as_ref().is_none_or(Driver::is_idle)
    }

    /// When it has something to do next.
    fn next(&self) -> Option<Tick> {
        self.heads().into_iter().filter_map(|(_, tick)| tick).min()
    }

    /// When each part has something to do next, in the order in which they do it.
    fn heads(&self) -> [(Part, Option<Tick>); 8] {
        let piece = |crossing: Option<Crossing>| {
            crossing.map(|crossing| crossing.next).filter(|next| *next < Tick::MAX)
        };
        [
            (Part::Going, piece(self.going)),
            (Part::Coming, piece(self.coming)),
            (Part::Departure, self.departures.front().map(|(tick, ..)| *tick)),
            (Part::Arrival, self.arrivals.front().map(|(tick, _)| *tick)),
            (Part::Reply, self.replies.front().map(|(tick, _)| *tick)),
            (Part::Walk, self.gmmu.next()),
            (Part::Driver, self.driver.as_ref().and_then(Driver::next)),
            (Part::Stream, self.streams_until),
        ]
    }
}

impl Machine {
    /// The driver that moves the pages of a GPU.
    fn driver(&mut self, gpu: usize) -> Option<&mut Driver> {
        self.paging.as_mut()?.gpus.get_mut(gpu)?.driver.as_mut()
    }

    /// An agent accesses a page.
    pub(super) fn touch_page(&mut self, agent: usize, range: Range, writes: bool, out: &mut Outbox) {
        let now = self.now;
        let Some(paging) = self.paging.as_mut() else { return };
        let page = Page::of(range.start, paging.page);
        let Some(gpu) = paging.gpu_of.get(agent).copied().flatten() else { return };
        let gpu = gpu as usize;
        if let Some(protection) = &mut paging.protection {
            protection.note_use(page, out.permission(range.start));
        }
        if let Some(driver) = paging.gpus.get_mut(gpu).and_then(|one| one.driver.as_mut()) {
            driver.note_order(page);
        }
        let home = self.bringer(gpu, page, out);
        let orders = self.driver(home).map(|driver| driver.touch(page, writes, now)).unwrap_or_default();
        if !orders.is_empty() {
            self.carry_out(home, orders, out);
            self.wake_paging(home);
        }
        self.part_with(home, page, out);
        self.take_back(home, page);
    }

    /// Of each GPU, its pages in the order in which they were accessed first.
    pub(super) fn touched_pages(&self) -> Vec<std::sync::Arc<[Page]>> {
        let drivers =
            self.paging.iter().flat_map(|paging| &paging.gpus).filter_map(|one| one.driver.as_ref());
        drivers.map(|driver| driver.order().into()).collect()
    }

    /// When the paging of a GPU has something to do next; that of the first one also does what is for cores.
    fn next_paging(&self, gpu: usize) -> Option<Tick> {
        let paging = self.paging.as_ref()?;
        let waits = paging.recalled.values().filter_map(|(due, _)| *due);
        let waits = waits.chain(paging.protection.as_ref().and_then(Protection::next));
        let recalled = if gpu == 0 { waits.min() } else { None };
        paging.gpus.get(gpu)?.next().into_iter().chain(recalled).min()
    }

    /// Schedules the paging of a GPU for when it has something to do.
    fn wake_paging(&mut self, gpu: usize) {
        let Some(next) = self.next_paging(gpu).map(|next| next.max(self.now)) else { return };
        let Some(one) = self.paging.as_mut().and_then(|paging| paging.gpus.get_mut(gpu)) else { return };
        if one.wake.is_none_or(|planned| next < planned) {
            one.wake = Some(next);
            self.queue.push(next, Event::Paging(gpu as u32));
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::machine::StepOutcome;
    use crate::machine::sample::working;
    use crate::model::access::AccessKind::Load;
    use crate::model::record::Records;

    #[test]
    fn what_is_on_its_way_to_a_tlb_is_part_of_the_digest() {
        let mut machine = working("tiny/paged-1gpu", &[], &[("gpu0.cu0", Load, vec![0x1000])]);
        while machine.paging.as_ref().unwrap().gpus[0].replies.is_empty() {
            assert_eq!(machine.step(&mut Records::silent()), StepOutcome::Ran);
        }
        let mut other = machine.clone();
        assert_eq!(machine.digest(), other.digest());
        other.paging.as_mut().unwrap().gpus[0].replies.clear();
        assert_ne!(machine.digest(), other.digest());
    }
}
