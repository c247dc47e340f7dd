//! Paged GPU memory and pages that are taken for read-only: TLBs, GMMUs and drivers, and which pages there are.

use std::sync::Arc;

use super::numa::ranges_of;
use super::pages::{count, set_of};
use super::{Builder, GpuParts};
use crate::config::machine::{CopyMode, FaultMode, GpuHome, PagingSpec, ReadOnlySpec};
use crate::diagnostic::{Diagnostic, Result};
use crate::machine::paging::{Copies, GpuPaging, GpuPorts, Keep, Paging, Protection, ProtectionConfig};
use crate::model::component::ComponentKind;
use crate::model::page::{Page, PageSet};
use crate::model::paging::FaultKind;
use crate::model::units::Size;
use crate::parts::driver::{Driver, DriverConfig};
use crate::parts::gmmu::{Gmmu, GmmuConfig};
use crate::parts::residency::Residency;
use crate::parts::tlb::{Tlb, TlbConfig};
use crate::policy::read_only::Limit;
use crate::protocol::permissions::Permissions;

impl Builder<'_> {
    /// The paging of the machine, if it has any. Its agents get their TLBs.
    ///
    /// # Errors
    /// If it is to copy all data to memories that do not hold them.
    pub(super) fn paging(&mut self) -> Result<Option<Paging>> {
        if let Some(spec) = self.spec.gpu.as_ref().and_then(|gpu| gpu.read_only.clone()) {
            return Ok(Some(self.protection(&spec)));
        }
        let Some(spec) = self.spec.gpu.as_ref().and_then(|gpu| gpu.paging.clone()) else { return Ok(None) };
        let pages = set_of(self.paged(&spec));
        self.holds_a_page(&spec)?;
        self.fits_copies(&spec, &pages)?;
        let mut parts = std::mem::take(&mut self.gpu_parts);
        parts.resize_with(self.gpu_agents.len(), GpuParts::default);
        let gpus =
            parts.into_iter().enumerate().map(|(gpu, parts)| self.gpu_paging(gpu, parts, &spec, &pages));
        let gpus: Vec<GpuPaging> = gpus.collect();
        let cores = self.translating(spec.page, FaultKind::Far);
        let copies = Copies::new(spec.copy, spec.copy_back);
        let host = self.host_caches.clone();
        let gpus = (gpus, self.keep());
        Ok(Some(Paging::new(spec.page, self.ticks(spec.service), gpus, host, cores, copies)))
    }

    /// Pages go to memories of GPUs, and otherwise where the hardware moves data itself only into their page tables.
    fn keep(&self) -> Keep {
        match self.spec.gpu.as_ref().map(|gpu| gpu.memory.home) {
            Some(GpuHome::Own) => Keep::Apart,
            Some(GpuHome::Numa) => Keep::Shared,
            _ => Keep::Mapped,
        }
    }

    /// The pages that may come to a GPU: of sockets, those whose home it is, or that have none yet.
    fn pages_of_gpu(&self, gpu: usize, pages: &PageSet, size: u32) -> PageSet {
        let spec = self.spec.gpu.as_ref();
        let Some((spec, numa)) = spec.and_then(|gpu| Some((gpu, gpu.numa.as_ref()?))) else {
            return pages.clone();
        };
        let homes = super::numa::homes(spec, numa, &self.blueprint.workload);
        let is_own = |page: &Page| {
            let first = page.range(size).start;
            homes.is_undecided(first) || homes.of(first) as usize == gpu
        };
        pages.iter().filter(is_own).collect()
    }

    /// Compute units ask for translations of such pages, and fault so; cores do where pages may be taken from them, or may not be
    /// written. Those cores.
    fn translating(&mut self, page: u32, fault: FaultKind) -> Vec<usize> {
        let of_gpu: Vec<usize> = self.gpu_agents.iter().flatten().copied().collect();
        let only_maps = fault == FaultKind::Far && self.keep() == Keep::Mapped;
        let mut cores = Vec::new();
        for (index, agent) in self.agents.iter_mut().enumerate() {
            let is_core = !of_gpu.contains(&index);
            if !(is_core && only_maps) {
                (agent.config.page, agent.config.fault) = (page, fault);
            }
            if is_core {
                cores.push(index);
            }
        }
        cores
    }

    /// Translations and faults of pages that stay where they are.
    fn protection(&mut self, spec: &ReadOnlySpec) -> Paging {
        let gpus = (0..self.gpu_agents.len()).map(|gpu| self.gpu_protection(gpu, spec)).collect();
        let cores = self.translating(spec.page, FaultKind::Protection);
        let copies = Copies::new(CopyMode::OnDemand, false);
        let config = ProtectionConfig {
            host_fault: self.ticks(spec.host_fault),
            gpu_fault: self.ticks(spec.gpu_fault),
            every_launch: spec.every_launch,
            limit: spec
                .limit
                .map(|(faults, window)| (Limit { faults: u64::from(faults) }, self.ticks(window))),
        };
        let known = set_of(ranges_of(&self.blueprint.workload, spec.page));
        let paging = Paging::new(spec.page, 0, (gpus, Keep::Mapped), Vec::new(), cores, copies);
        paging.protected(Protection::new(config), known)
    }

    fn gpu_protection(&mut self, gpu: usize, spec: &ReadOnlySpec) -> GpuPaging {
        let units = self.gpu_agents.get(gpu).cloned().unwrap_or_default();
        self.give_tlbs(
            &units,
            TlbConfig { entries: spec.tlb, far_faults: spec.pending, ports: 1, bears: spec.pending },
        );
        let walks = GmmuConfig {
            walkers: spec.walkers,
            levels: 1,
            cache: 0,
            cache_latency: 0,
            memory_latency: self.ticks(spec.walk),
            far_faults: spec.pending,
        };
        let gmmu = Gmmu::new(walks, units.len());
        let ports = GpuPorts { caches: self.caches_of(gpu), ..self.gpu_ports(gpu, units, spec.tlb_latency) };
        GpuPaging::new(ports, gmmu, None)
    }

    /// L1s and L2s of a GPU, by index among the nodes.
    fn caches_of(&self, gpu: usize) -> Vec<usize> {
        let prefix = format!("gpu{gpu}.");
        let is_cache = |id| {
            let kind = self.components.get(id).map(|component| component.kind);
            matches!(kind, Some(ComponentKind::L1 | ComponentKind::L2))
                && self.components.path(id).starts_with(&prefix)
        };
        self.nodes
            .iter()
            .enumerate()
            .filter(|(_, node)| is_cache(node.id()))
            .map(|(index, _)| index)
            .collect()
    }

    fn give_tlbs(&mut self, units: &[usize], config: TlbConfig) {
        for unit in units {
            if let Some(agent) = self.agents.get_mut(*unit) {
                agent.tlb = Some(Box::new(Tlb::new(config)));
            }
        }
    }

    /// The GMMU and the driver of a GPU, and its compute units; what else its pages have to do with is left out.
    fn gpu_ports(&mut self, gpu: usize, units: Vec<usize>, tlb_latency: u32) -> GpuPorts {
        GpuPorts {
            gmmu: self.components.add(format!("gpu{gpu}.gmmu"), ComponentKind::Gmmu),
            driver: self.components.add(format!("gpu{gpu}.driver"), ComponentKind::Driver),
            latency: self.gpu_clock.cycles(u64::from(tlb_latency.max(1))),
            links: Default::default(),
            caches: Vec::new(),
            memories: Vec::new(),
            units,
        }
    }

    /// GPU memory is not smaller than a page.
    fn holds_a_page(&self, spec: &PagingSpec) -> Result<()> {
        let size = self.memory_size();
        if self.keep() == Keep::Mapped {
            return Ok(());
        }
        if spec.share.is_some() || size >= u64::from(spec.page) {
            return Ok(());
        }
        let (page, size) = (Size(u64::from(spec.page)), Size(size));
        let message = format!("gpu.paging.page: GPU memory of {size} does not hold a page of {page}");
        Err(Box::new(Diagnostic::new(message).expected("smaller pages, or a larger gpu.memory.size")))
    }

    /// Bytes of the memory of a GPU.
    fn memory_size(&self) -> u64 {
        self.spec.gpu.as_ref().map_or(0, |gpu| gpu.memory.size.0 * u64::from(gpu.l2.slices))
    }

    /// Who copies all data first needs one GPU with memory for them all.
    fn fits_copies(&self, spec: &PagingSpec, pages: &PageSet) -> Result<()> {
        if spec.copy == CopyMode::OnDemand {
            return Ok(());
        }
        let frames = self.frames(spec, pages);
        let count = self.spec.gpu.as_ref().map_or(0, |gpu| gpu.count);
        let complaint = if frames < pages.len() {
            format!("gpu.paging.copy: the work touches {} pages, and GPU memory holds {frames}", pages.len())
        } else if count > 1 {
            format!("gpu.paging.copy: with {count} GPUs it is not known which of them shall have a page")
        } else {
            return Ok(());
        };
        Err(Box::new(Diagnostic::new(complaint).expected("one GPU with room for all, or \"on-demand\"")))
    }

    fn gpu_paging(&mut self, gpu: usize, parts: GpuParts, spec: &PagingSpec, pages: &PageSet) -> GpuPaging {
        let units = self.gpu_agents.get(gpu).cloned().unwrap_or_default();
        // A compute unit that blocks has one fault at a time.
        let (bears, far_faults) = match spec.faults {
            FaultMode::Block => (0, 1),
            FaultMode::Replay => (u32::MAX, spec.far_faults),
        };
        let entries = Some(spec.tlb);
        self.give_tlbs(&units, TlbConfig { entries, far_faults, ports: spec.tlb_ports, bears });
        let cycles = |count: u32| self.gpu_clock.cycles(u64::from(count));
        let walks = GmmuConfig {
            walkers: spec.walkers,
            levels: spec.levels,
            cache: spec.walk_cache,
            cache_latency: cycles(spec.walk_cache_latency),
            memory_latency: self.ticks(spec.walk_memory),
            far_faults,
        };
        let service = DriverConfig {
            service: self.ticks(spec.service).max(1),
            set: spec.transfer_set as usize,
            prefetcher: spec.prefetch,
            evictor: spec.evict,
            prefetch_when_full: spec.prefetch_when_full,
            precondition: spec.precondition,
        };
        let own = self.pages_of_gpu(gpu, pages, spec.page);
        let residency = Residency::new(spec.page, self.frames(spec, pages), own);
        let seed = self.blueprint.seed.wrapping_add(gpu as u64);
        let gmmu = Gmmu::new(walks, units.len());
        let ports = GpuPorts {
            links: (parts.links.1, parts.links.0),
            caches: parts.caches,
            memories: parts.memories,
            ..self.gpu_ports(gpu, units, spec.tlb_latency)
        };
        let touched = self.touched.get(gpu).cloned().unwrap_or_else(|| Arc::from([]));
        let driver = Driver::new(service, residency, touched, seed);
        GpuPaging::new(ports, gmmu, Some(driver))
    }

    /// Pages that fit into the memory of a GPU; of sockets, each has its part of a share.
    fn frames(&self, spec: &PagingSpec, pages: &PageSet) -> u64 {
        let frames = match spec.share {
            _ if self.keep() == Keep::Mapped => u64::MAX,
            Some(share) => {
                // Who copies all that is allocated needs room for that.
                let touched = || count(ranges_of(&self.blueprint.workload, spec.page));
                let counted = if spec.copy == CopyMode::OnDemand { touched() } else { pages.len() };
                (counted * u64::from(share)).div_ceil(1000 * self.sockets.len().max(1) as u64)
            }
            None => self.memory_size() / u64::from(spec.page.max(1)),
        };
        frames.max(1)
    }
}

/// What may be done with pages at the start.
pub(super) fn permissions(spec: Option<&ReadOnlySpec>) -> Permissions {
    spec.map_or_else(Permissions::default, |spec| Permissions::speculative(spec.page, spec.everywhere))
}
