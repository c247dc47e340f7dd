//! GPUs and host: their compute units, cores, caches, directories and memories.

use super::{Builder, GpuParts};
use crate::config::machine::{CacheSpec, GpuHome, GpuSpec, HostSpec};
use crate::diagnostic::Result;
use crate::machine::dealing::{over_hmds, over_slices};
use crate::model::component::ComponentKind;
use crate::model::time::{ByteRate, Clock, Tick};
use crate::protocol::interleave::Interleave;
use crate::protocol::node::Role;

impl Builder<'_> {
    pub(super) fn devices(&mut self) -> Result<()> {
        let spec = self.spec;
        let mut tops: Vec<(u32, Vec<usize>)> = Vec::new();
        if let Some((gpu, numa)) = spec.gpu.as_ref().and_then(|gpu| Some((gpu, gpu.numa.as_ref()?))) {
            let homes = self.sockets(gpu, numa)?;
            let (hmds, cpu) = self.host(&spec.host)?;
            if gpu.paging.is_some() {
                self.paged_sockets();
            }
            if gpu.copies.is_some() || gpu.paging.is_some() {
                self.host_memory(&cpu, &hmds);
                return Ok(());
            }
            let slices = over_slices(gpu);
            if !cpu.is_empty() {
                self.host_homes(&cpu, &homes, slices);
            }
            return Ok(());
        }
        if let Some(gpu) = spec.gpu.as_ref().filter(|gpu| gpu.unified.is_some()) {
            return self.unified(gpu);
        }
        if let Some(gpu) = &spec.gpu {
            for index in 0..gpu.count {
                tops.push((index, self.gpu(index, gpu)?));
            }
        }
        let (hmds, cpu) = self.host(&spec.host)?;
        let dealing = self.host_memory(&cpu, &hmds);
        self.network(&tops, &hmds, dealing);
        Ok(())
    }

    /// Connects the caches of the host with its memory; returns how addresses are dealt over it.
    fn host_memory(&mut self, tops: &[usize], hmds: &[usize]) -> Interleave {
        let dealing = over_hmds(&self.spec.host);
        let hop = self.ticks(self.spec.host.hop);
        for &top in tops {
            let (up, down) = (self.wire(None, hop), self.wire(None, hop));
            self.connect(top, hmds, dealing, (up, down));
        }
        dealing
    }

    /// The compute units of a GPU; returns their L1s.
    pub(super) fn units(&mut self, index: u32, gpu: &GpuSpec) -> Result<Vec<usize>> {
        let clock = self.gpu_clock;
        let mut l1s = Vec::new();
        let mut agents = Vec::new();
        for cu in 0..gpu.cu.count {
            let path = format!("gpu{index}.cu{cu}");
            let l1 = self.node(
                format!("{path}.l1"),
                ComponentKind::L1,
                &gpu.l1,
                Role::Leaf,
                clock,
                Interleave::NONE,
            )?;
            self.is_called_directly(l1, clock);
            agents.push(self.agents.len());
            let shape = (gpu.cu.lanes, gpu.cu.wavefronts, gpu.cu.outstanding);
            self.agent(path, ComponentKind::Cu, l1, shape, clock, gpu.l1.latency);
            if let Some(agent) = self.agents.last_mut() {
                agent.config.socket = gpu.numa.as_ref().map(|_| index);
            }
            l1s.push(l1);
        }
        self.gpu_agents.push(agents);
        Ok(l1s)
    }

    /// What is above an L1 looks up there itself: messages from its peers are not looked up again.
    fn is_called_directly(&mut self, l1: usize, clock: Clock) {
        if let Some(lookup) = self.lookup.get_mut(l1) {
            *lookup = clock.period;
        }
    }

    /// One GPU; returns the nodes that face the host.
    fn gpu(&mut self, index: u32, gpu: &GpuSpec) -> Result<Vec<usize>> {
        let clock = self.gpu_clock;
        let l1s = self.units(index, gpu)?;
        let dealing = over_slices(gpu);
        let latency = clock.cycles(u64::from(gpu.l2.crossbar_latency));
        let width = gpu.l2.crossbar_width;
        let rate = (width > 0).then(|| ByteRate::new(u64::from(width), clock.period));
        let mut tops = l1s.clone();
        if gpu.l2.present {
            tops.clear();
            for slice in 0..gpu.l2.slices {
                let path = format!("gpu{index}.l2.{slice}");
                tops.push(self.node(path, ComponentKind::L2, &gpu.l2.cache, Role::Inner, clock, dealing)?);
            }
            self.cross(&l1s, &tops, dealing, (rate, latency));
        }
        let memories = match gpu.memory.home {
            GpuHome::Host | GpuHome::Numa | GpuHome::Unified => return Ok(tops),
            GpuHome::Smd => self.stacks(index, gpu, dealing)?,
            GpuHome::Own => self.partitions(index, gpu, dealing)?,
            GpuHome::Cache => self.cached_memories(index, gpu, dealing)?,
        };
        if gpu.l2.present {
            for (&slice, &memory) in tops.iter().zip(&memories) {
                let (up, down) = (self.wire(None, clock.period), self.wire(None, clock.period));
                self.connect(slice, &[memory], Interleave::NONE, (up, down));
            }
        } else {
            self.cross(&l1s, &memories, dealing, (rate, latency));
        }
        if gpu.memory.home != GpuHome::Own {
            return Ok(memories);
        }
        let slices = tops.into_iter().filter(|top| !l1s.contains(top));
        let caches = l1s.iter().copied().chain(slices).collect();
        self.gpu_parts.push(GpuParts { caches, memories, links: Default::default() });
        Ok(Vec::new())
    }

    /// A crossbar between the L1s of a GPU and what is behind them.
    pub(super) fn cross(
        &mut self,
        l1s: &[usize],
        parents: &[usize],
        dealing: Interleave,
        wire: (Option<ByteRate>, Tick),
    ) {
        for &l1 in l1s {
            let (up, down) = (self.wire(wire.0, wire.1), self.wire(wire.0, wire.1));
            self.connect(l1, parents, dealing, (up, down));
        }
    }

    /// The partitions of the GPU's own memory, one for each slice.
    pub(super) fn partitions(
        &mut self,
        index: u32,
        gpu: &GpuSpec,
        dealing: Interleave,
    ) -> Result<Vec<usize>> {
        let memory = &gpu.memory;
        let cache = CacheSpec {
            size: memory.size,
            ways: 1,
            line: if gpu.l2.present { gpu.l2.cache.line } else { gpu.l1.line },
            latency: memory.latency,
            fill: memory.latency,
            mshrs: 0,
            ports: memory.ports,
            // A memory that the host caches too answers in the protocol of the host.
            protocol: gpu.l2.cache.protocol.clone().filter(|_| gpu.unified.is_none()),
        };
        let mut partitions = Vec::new();
        for number in 0..gpu.l2.slices {
            let path = format!("gpu{index}.memory.{number}");
            let node = self.node(path, ComponentKind::Memory, &cache, Role::Root, self.gpu_clock, dealing)?;
            self.dram(node, &memory.dram, dealing, None);
            partitions.push(node);
        }
        Ok(partitions)
    }

    /// The stacked memory directories with their stacks, one for each slice.
    fn stacks(&mut self, index: u32, gpu: &GpuSpec, dealing: Interleave) -> Result<Vec<usize>> {
        let clock = self.gpu_clock;
        let memory = &gpu.memory;
        let cache = CacheSpec {
            size: memory.size,
            ways: memory.ways,
            line: memory.secondary_block,
            latency: memory.latency,
            fill: memory.latency,
            mshrs: memory.mshrs,
            ports: memory.ports,
            protocol: None,
        };
        // Dealt in pieces smaller than its blocks, a stack may be asked for part of any block (UMH, section 5.3).
        let own = if dealing.size < u64::from(memory.secondary_block) { Interleave::NONE } else { dealing };
        let mut smds = Vec::new();
        for number in 0..gpu.l2.slices {
            let path = format!("gpu{index}.smd{number}");
            let smd = self.node(path, ComponentKind::Smd, &cache, Role::Inner, clock, own)?;
            self.dram(smd, &memory.dram, own, None);
            smds.push(smd);
        }
        Ok(smds)
    }

    /// The cores with their L1s, and the LLC: those of them that face the HMDs.
    fn host_caches(&mut self, host: &HostSpec) -> Result<Vec<usize>> {
        let (clock, whole) = (self.host_clock, Interleave::NONE);
        let mut tops = Vec::new();
        for core in 0..host.cores {
            let path = format!("host.cpu{core}");
            let l1 =
                self.node(format!("{path}.l1"), ComponentKind::L1, &host.l1, Role::Leaf, clock, whole)?;
            self.is_called_directly(l1, clock);
            self.host_caches.push(l1);
            self.cores.push(self.agents.len());
            self.agent(path, ComponentKind::Core, l1, (1, 4, host.outstanding), clock, host.l1.latency);
            tops.push(l1);
        }
        let Some(llc) = host.llc.as_ref().filter(|_| host.cores > 0) else { return Ok(tops) };
        let node = self.node("host.llc".to_owned(), ComponentKind::Llc, llc, Role::Inner, clock, whole)?;
        self.host_caches.push(node);
        let hop = self.ticks(host.hop);
        for l1 in tops {
            let (up, down) = (self.wire(None, hop), self.wire(None, hop));
            self.connect(l1, &[node], whole, (up, down));
        }
        Ok(vec![node])
    }

    /// The host: its HMDs, and the caches that face them.
    pub(super) fn host(&mut self, host: &HostSpec) -> Result<(Vec<usize>, Vec<usize>)> {
        let clock = self.host_clock;
        let tops = self.host_caches(host)?;
        let dealing = over_hmds(host);
        let mut hmds = Vec::new();
        for number in 0..host.hmds {
            let shape = CacheSpec {
                size: host.memory,
                ways: 1,
                line: host.block,
                latency: 1,
                fill: 1,
                mshrs: 0,
                ports: 1,
                protocol: None,
            };
            let path = format!("host.hmd{number}");
            let hmd = self.node(path, ComponentKind::Hmd, &shape, Role::Root, clock, dealing)?;
            let latency = self.ticks(host.latency).max(1);
            if let Some(lookup) = self.lookup.get_mut(hmd) {
                *lookup = latency;
            }
            self.dram(hmd, &host.dram, dealing, None);
            hmds.push(hmd);
        }
        self.hmds.clone_from(&hmds);
        Ok((hmds, tops))
    }
}
