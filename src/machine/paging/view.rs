//! What can be seen of paged memory: pages, far-faults and TLBs.

use super::lives::Life;
use super::stands::Stands;
use super::{GpuPaging, Machine, Owner};
use crate::model::address::{Address, Range};
use crate::model::component::ComponentId;
use crate::model::inspect::{MshrEntryView, MshrView, oldest};
use crate::model::page::Page;
use crate::model::page_view::{
    FaultView, Mover, PageMove, PagesView, PermissionCell, PermissionsView, SetView, TlbMiss, TlbView,
};
use crate::model::paging::{FaultKind, MoveReason, Permission};
use crate::parts::agent::Agent;
use crate::parts::driver::Driver;
use crate::parts::gmmu::FarFault;
use crate::parts::tlb::Progress;

impl Machine {
    pub(in crate::machine) fn view_pages(&self, cells: usize) -> Vec<PagesView> {
        let Some(paging) = &self.paging else { return Vec::new() };
        let view =
            |(gpu, one): (usize, &GpuPaging)| Some(self.pages_of(gpu, one, one.driver.as_ref()?, cells));
        paging.gpus.iter().enumerate().filter_map(view).collect()
    }

    /// The memory that drivers may bring pages of, one range for pages that follow each other.
    #[must_use]
    pub fn allocated(&self) -> Vec<Range> {
        let Some(paging) = &self.paging else { return Vec::new() };
        let drivers = paging.gpus.iter().filter_map(|one| one.driver.as_ref());
        let mut pages: Vec<Page> = drivers.flat_map(|driver| driver.residency.allocated().iter()).collect();
        pages.sort_unstable();
        pages.dedup();
        let size = u64::from(paging.page);
        let runs = pages.chunk_by(|page, next| next.0 == page.0 + 1);
        runs.flat_map(|run| {
            // As long as a range can be.
            run.chunks((u64::from(u32::MAX) / size.max(1)) as usize)
        })
        .filter_map(|run| {
            Some(Range::new(run.first()?.range(paging.page).start, (run.len() as u64 * size) as u32))
        })
        .collect()
    }

    fn pages_of(&self, gpu: usize, one: &GpuPaging, driver: &Driver, cells: usize) -> PagesView {
        let residency = &driver.residency;
        let decision = &driver.decision;
        let faults = self.faults_of(gpu, one);
        let stands = Stands::of(one, driver);
        let group = residency.allocated().len().div_ceil(cells.max(1) as u64).next_power_of_two();
        PagesView {
            gpu: gpu as u32,
            driver: one.ports.driver,
            page: residency.page(),
            frames: (!self.maps_only()).then(|| residency.frames()),
            free: residency.free(),
            counts: stands.counts(),
            group,
            cells: stands.cells(group, self.now),
            moves: if self.maps_only() { Vec::new() } else { self.moves(one) },
            faults,
            queued: driver.queue().count() as u64,
            due: driver.next(),
            last_set: SetView {
                set: decision.set,
                at: decision.at,
                demanded: decision.demanded.len() as u64,
                prefetched: decision.prefetched as u64,
                evicted: decision.evicted as u64,
                free: decision.free,
            },
            mover: Mover::Driver {
                prefetcher: driver.prefetcher().name(),
                evictor: driver.config().evictor.name(),
            },
            wasted: driver.counters.wasted,
            thrashed: driver.counters.thrashed,
        }
    }

    fn maps_only(&self) -> bool {
        self.paging.as_ref().is_some_and(|paging| paging.only_maps())
    }

    /// Faults under way, oldest first.
    pub(super) fn faults_of(&self, gpu: usize, one: &GpuPaging) -> Vec<FaultView> {
        let mut faults: Vec<FaultView> =
            one.lives.open().map(|life| self.fault_view(gpu, one, life, true)).collect();
        faults.sort_by_key(|fault| (fault.steps.first().map(|step| step.at), fault.page));
        faults
    }

    /// What may be done with pages, in at most so many cells, where they are taken for read-only.
    pub(in crate::machine) fn view_permissions(&self, cells: usize) -> Option<PermissionsView> {
        let paging = self.paging.as_ref()?;
        let protection = paging.protection.as_ref()?;
        let pages = &paging.known;
        let group = pages.len().div_ceil(cells.max(1) as u64).next_power_of_two();
        let (mut counts, mut all): ([u64; 3], Vec<PermissionCell>) = ([0; 3], Vec::new());
        let (mut next, bytes) = (pages.next(Page(0)), u64::from(paging.page));
        while let Some(page) = next {
            let first = page.0 / group * group;
            let of_group = |number| pages.contains(Page(number)).then(|| self.permission(Page(number)));
            let mut own = [0; 3];
            for permission in (first..first + group).filter_map(of_group) {
                own[permission as usize] += 1;
            }
            counts.iter_mut().zip(own).for_each(|(count, own)| *count += own);
            let most = Permission::ALL.into_iter().max_by_key(|it| own[*it as usize]);
            let changes = own[Permission::Changing as usize] > 0;
            let permission =
                if changes { Permission::Changing } else { most.unwrap_or(Permission::ReadWrite) };
            all.push(PermissionCell { first: Address(first * bytes), len: group * bytes, permission });
            next = pages.next(Page(first + group));
        }
        let faults = paging.gpus.iter().enumerate().flat_map(|(gpu, one)| self.faults_of(gpu, one));
        Some(PermissionsView {
            driver: paging.gpus.first()?.ports.driver,
            page: paging.page,
            is_on: self.permissions.is_on(),
            has_given_up: protection.gave_up,
            counts,
            group,
            cells: all,
            faults: faults.collect(),
            by_cores: protection.counters.by_cores,
            by_gpus: protection.counters.by_gpus,
            recent: protection.recent(self.now),
        })
    }

    fn permission(&self, page: Page) -> Permission {
        let bytes = self.paging.as_ref().map_or(1, |paging| paging.page);
        self.permissions.of(page.range(bytes).start, &self.homes)
    }

    pub(super) fn link_component(&self, link: usize, or: ComponentId) -> ComponentId {
        self.fixed.visible_links.get(link).and_then(Option::as_ref).map_or(or, |shown| shown.0)
    }

    pub(in crate::machine) fn moves(&self, one: &GpuPaging) -> Vec<PageMove> {
        let ports = &one.ports;
        let (to, from) = (
            self.link_component(ports.links.0.first, ports.driver),
            self.link_component(ports.links.1.first, ports.driver),
        );
        let coming = one.arrivals.iter().map(|(due, planned)| PageMove {
            page: planned.page,
            link: to,
            due: *due,
            to_gpu: true,
            set: planned.set,
            demanded: planned.reason == MoveReason::Demanded,
        });
        let going = one.departures.iter().map(|(due, page, _)| PageMove {
            page: *page,
            link: from,
            due: *due,
            to_gpu: false,
            set: 0,
            demanded: false,
        });
        coming.chain(going).collect()
    }

    fn fault_view(&self, gpu: usize, one: &GpuPaging, life: &Life, open: bool) -> FaultView {
        let page = self.paging.as_ref().map_or(1, |paging| paging.page);
        FaultView {
            gpu: gpu as u32,
            kind: if one.driver.is_some() { FaultKind::Far } else { FaultKind::Protection },
            page: life.page,
            range: life.page.range(page),
            steps: life.steps.iter().copied().collect(),
            waits: self.why_fault_lasts(gpu, one, life.page, open),
        }
    }

    /// The last fault of a page, of one GPU or of any.
    pub(in crate::machine) fn view_fault(&self, address: Address, of: Option<u32>) -> Option<FaultView> {
        let paging = self.paging.as_ref()?;
        let page = Page::of(address, paging.page);
        let gpus = paging.gpus.iter().enumerate();
        let gpus = gpus.filter(|(gpu, _)| of.is_none_or(|of| of as usize == *gpu));
        let lives = gpus.filter_map(|(gpu, one)| {
            let (life, open) = one.lives.of(page)?;
            Some((life.steps.back().map(|step| step.at), gpu, one, life, open))
        });
        let (_, gpu, one, life, open) = lives.max_by_key(|(last, gpu, ..)| (*last, *gpu))?;
        Some(self.fault_view(gpu, one, life, open))
    }

    /// The far-fault MSHRs, if `component` is a GMMU.
    pub(in crate::machine) fn view_far_faults(
        &self,
        component: ComponentId,
        entries: usize,
    ) -> Option<MshrView> {
        let paging = self.paging.as_ref()?;
        let (gpu, one) = paging.gpus.iter().enumerate().find(|(_, one)| one.ports.gmmu == component)?;
        let entry = |(page, fault): (Page, &FarFault)| {
            let last = self.why_fault(gpu, page).pop();
            MshrEntryView {
                range: page.range(paging.page),
                txn: None,
                since: fault.since.tick,
                waits_for: last.map_or_else(String::new, |link| {
                    let full = self.full_units(one, fault);
                    format!("{} {}{full}", self.fixed.components.path(link.at), link.text)
                }),
                merged: fault.units.len() as u32,
                has_mshr: true,
            }
        };
        let tracked = one.gmmu.config().far_faults.saturating_mul(one.ports.units.len() as u32);
        Some(MshrView {
            node: component,
            used: one.gmmu.far_faults().count() as u32,
            capacity: Some(tracked),
            high_water: one.gmmu.high_water as u32,
            under_way: one.gmmu.far_faults().count(),
            entries: oldest(one.gmmu.far_faults(), entries, |(_, fault)| fault.since.tick)
                .map(entry)
                .collect(),
        })
    }

    /// The TLB of a compute unit, if it has one.
    pub(in crate::machine) fn view_tlb(&self, agent: &Agent) -> Option<TlbView> {
        let (tlb, page) = (agent.tlb.as_ref()?, agent.config.page);
        let is_walked = tlb.misses().any(|(_, miss)| miss.progress == Progress::Walking);
        let gpu = if is_walked { self.paged_gpu_of(agent) } else { None };
        let is_answered = |missed| gpu.is_some_and(|gpu| self.reply_under_way(gpu, agent, missed).is_some());
        let miss = |(missed, miss): (Page, &crate::parts::tlb::Miss)| TlbMiss {
            range: missed.range(page),
            since: miss.since.tick,
            waits_for: match miss.progress {
                Progress::Walking if is_answered(missed) => "the answer of the GMMU, which is on its way",
                Progress::Walking => "the page walk",
                Progress::Tracked => "its fault, to replay",
                Progress::Dropped => "another fault's end: its own was dropped",
            },
            warps: agent.warps.iter().filter(|warp| warp.waits_for(missed)).count() as u32,
        };
        Some(TlbView {
            agent: agent.config.id,
            used: tlb.entries().len() as u32,
            capacity: tlb.config().entries,
            nacks: tlb.counted(),
            joined: tlb.joined,
            tracked: tlb.config().far_faults,
            hits: tlb.hits,
            missed: tlb.missed + tlb.merged,
            misses: tlb.misses().map(miss).collect(),
        })
    }

    /// The part of the paging of the GPU that a page was sent to, if it neither leaves the host's caches nor is on the link.
    pub(super) fn lost_to(&self, page: Page) -> Option<&GpuPaging> {
        let paging = self.paging.as_ref()?;
        let Some(Owner::ToGpu(gpu)) = paging.owners.get(&page) else { return None };
        let one = paging.gpus.get(*gpu as usize)?;
        let comes = one.arrivals.iter().any(|(_, planned)| planned.page == page);
        (!comes && !paging.draining.contains_key(&page)).then_some(one)
    }

    /// Those of the compute units that wait for a fault whose MSHRs are all taken: their next fault is dropped.
    fn full_units(&self, one: &GpuPaging, fault: &FarFault) -> String {
        let most = one.gmmu.config().far_faults;
        let full = fault.units.iter().filter(|unit| one.gmmu.held(**unit) >= most);
        let units = full.filter_map(|unit| self.agents.get(*one.ports.units.get(*unit as usize)?));
        let names: Vec<&str> = units.map(|unit| self.fixed.components.path(unit.config.id)).collect();
        if names.is_empty() {
            String::new()
        } else {
            let all = if most == 1 { "the only one".to_owned() } else { format!("all {most}") };
            let verb = if most == 1 { "is" } else { "are" };
            format!("; {all} of {} {verb} taken", names.join(", "))
        }
    }

    pub(super) fn whereabouts(&self, page: Page) -> String {
        match self.paging.as_ref().and_then(|paging| paging.owners.get(&page)) {
            None if self.maps_only() => "is not in its page table".to_owned(),
            None => "is in host memory".to_owned(),
            Some(Owner::ToGpu(gpu)) if self.lost_to(page).is_some() => {
                format!("was sent to gpu{gpu} and is nowhere")
            }
            Some(Owner::ToGpu(gpu)) => format!("is on its way to gpu{gpu}"),
            Some(Owner::Gpu(gpu)) => format!("is in the memory of gpu{gpu}"),
            Some(Owner::ToHost(gpu)) => format!("is on its way from gpu{gpu} to the host"),
        }
    }
}
