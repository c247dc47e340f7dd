//! Builds a machine from its specification: components, nodes, links and channels.

mod copies;
mod devices;
mod finish;
mod network;
mod numa;
mod pages;
mod paging;
mod protocols;
mod tags;
mod unified;
#[cfg(test)]
mod dram_tables;
#[cfg(test)]
mod table_four;
#[cfg(test)]
mod table_three;

use std::sync::Arc;

use super::numa::Socket;
use super::{Blueprint, FirstPass, Machine, StepOutcome};
use crate::config::machine::{CacheSpec, DramScheduler, DramSpec, MachineSpec};
use crate::diagnostic::{Diagnostic, Result};
use smallvec::SmallVec;

use crate::model::component::{ComponentId, ComponentKind, Components};
use crate::model::inspect::Inspect;
use crate::model::page::Page;
use crate::model::paging::FaultKind;
use crate::model::time::{ByteRate, Clock, Tick, TimeBase};
use crate::model::units::{Bandwidth, Duration, Frequency};
use crate::parts::agent::{Agent, AgentConfig};
use crate::parts::channel::Path;
use crate::parts::dram::{Controller, Dram, DramTiming, Gaps, InOrder, Scheduling, TagBanks};
use crate::parts::link::{Link, Packets};
use crate::parts::port::Port;
use crate::policy::prefetch::Prefetcher;
use crate::policy::warps::WarpScheduler;
use crate::protocol::interleave::Interleave;
use crate::protocol::node::{Node, NodeConfig, Role};
use crate::protocol::store::Store;
use crate::protocol::table::Table;
use network::Trunks;

/// Cycles in a sample of a link's utilisation.
pub(super) const SAMPLE_CYCLES: u64 = 500;

/// A way between two nodes before channels are made.
struct Way {
    from: usize,
    to: usize,
    path: Path,
    /// How long the receiver takes before it does anything with a message.
    lookup: Tick,
}

struct Builder<'a> {
    blueprint: &'a Blueprint,
    spec: &'a MachineSpec,
    time: TimeBase,
    gpu_clock: Clock,
    host_clock: Clock,
    components: Components,
    nodes: Vec<Node>,
    /// Parents and children are known only once all nodes are: kept apart until the end.
    configs: Vec<(NodeConfig, Store)>,
    lookup: Vec<Tick>,
    /// The same for what comes from a parent.
    fill: Vec<Tick>,
    ports: Vec<Port>,
    agents: Vec<Agent>,
    gpu_agents: Vec<Vec<usize>>,
    drams: Vec<Dram>,
    dram_of: Vec<Option<(usize, Interleave)>>,
    links: Vec<Link>,
    visible: Vec<Option<(ComponentId, String, String)>>,
    ways: Vec<Way>,
    trunks: Trunks,
    gpu_parts: Vec<GpuParts>,
    cores: Vec<usize>,
    hmds: Vec<usize>,
    sockets: Vec<Socket>,
    host_caches: Vec<usize>,
    /// Of each GPU, the order in which an earlier run touched its pages.
    touched: Vec<Arc<[Page]>>,
}

/// What of a GPU its pages have to do with, by index among nodes and links.
#[derive(Clone, Debug, Default)]
pub struct GpuParts {
    pub caches: Vec<usize>,
    pub memories: Vec<usize>,
    /// What leads to the host and from it.
    pub links: (Path, Path),
}

/// Events of a first run between two questions whether it may go on.
const SLICE: u64 = 1 << 14;

/// Builds a machine; for an oracle, after a first run of the same work that only records what it touches.
pub(super) fn build(blueprint: &Blueprint) -> Result<Machine> {
    let paging = blueprint.spec.gpu.as_ref().and_then(|gpu| gpu.paging.as_ref());
    let has_oracle =
        paging.is_some_and(|paging| paging.precondition || paging.prefetch == Prefetcher::Oracle);
    let touched = match &blueprint.first_pass {
        FirstPass::Unwatched | FirstPass::Watched(_) if has_oracle => first_pass(blueprint)?,
        _ => Vec::new(),
    };
    build_once(blueprint, touched)
}

/// Of each GPU, its pages in the order in which a run of the same work accesses them first.
fn first_pass(blueprint: &Blueprint) -> Result<Vec<Arc<[Page]>>> {
    let mut first = Blueprint { checks: false, faults: Vec::new(), ..blueprint.clone() };
    if let Some(paging) = first.spec.gpu.as_mut().and_then(|gpu| gpu.paging.as_mut()) {
        (paging.prefetch, paging.precondition, paging.share) = (Prefetcher::Sequential, false, Some(1000));
        paging.copy_back = false;
    }
    let mut machine = build_once(&first, Vec::new())?;
    while machine.run_until(machine.event() + SLICE) == StepOutcome::Ran {
        if !blueprint.first_pass.goes_on(machine.event()) {
            let text = "the first run, which tells the oracle what the work touches, was stopped";
            return Err(Box::new(Diagnostic::new(text)));
        }
    }
    Ok(machine.touched_pages())
}

fn build_once(blueprint: &Blueprint, touched: Vec<Arc<[Page]>>) -> Result<Machine> {
    let spec = &blueprint.spec;
    let time = time_base(spec)?;
    let per = |frequency: Frequency| Clock { period: (time.ticks_per_second / frequency.0.max(1)).max(1) };
    let mut builder = Builder {
        blueprint,
        spec,
        time,
        gpu_clock: spec.gpu.as_ref().map_or_else(|| per(spec.host.clock), |gpu| per(gpu.clock)),
        host_clock: per(spec.host.clock),
        components: Components::default(),
        nodes: Vec::new(),
        configs: Vec::new(),
        lookup: Vec::new(),
        fill: Vec::new(),
        ports: Vec::new(),
        agents: Vec::new(),
        gpu_agents: Vec::new(),
        drams: Vec::new(),
        dram_of: Vec::new(),
        links: Vec::new(),
        visible: Vec::new(),
        ways: Vec::new(),
        trunks: Trunks::default(),
        gpu_parts: Vec::new(),
        cores: Vec::new(),
        hmds: Vec::new(),
        sockets: Vec::new(),
        host_caches: Vec::new(),
        touched,
    };
    builder.check_pages()?;
    builder.devices()?;
    builder.finish()
}

/// The ticks of a machine, whose positions are quoted in cycles of its GPUs, or else of its host.
///
/// # Errors
/// If the clocks have no common tick.
fn time_base(spec: &MachineSpec) -> Result<TimeBase> {
    let gpu = spec.gpu.as_ref().map_or(spec.host.clock, |gpu| gpu.clock);
    TimeBase::of(gpu, spec.host.clock).map_err(|text| Box::new(Diagnostic::new(text)))
}

impl Builder<'_> {
    fn ticks(&self, duration: Duration) -> Tick {
        let ticks = u128::from(duration.0) * u128::from(self.time.ticks_per_second) / 1_000_000_000_000;
        u64::try_from(ticks).unwrap_or(u64::MAX / 4)
    }

    fn rate(&self, bandwidth: Bandwidth) -> ByteRate {
        ByteRate::new(bandwidth.0, self.time.ticks_per_second)
    }

    fn table(&self, own: Option<&String>) -> Result<Arc<Table>> {
        let name = own.unwrap_or(&self.spec.protocol);
        let names = || self.blueprint.tables.iter().map(|table| table.name.as_str());
        self.blueprint.tables.iter().find(|table| table.name == *name).cloned().ok_or_else(|| {
            Box::new(Diagnostic::new(format!("no protocol table is called {name}")).nearest(name, names()))
        })
    }

    /// Adds a node with neither parents nor children.
    fn node(
        &mut self,
        path: String,
        kind: ComponentKind,
        cache: &CacheSpec,
        role: Role,
        clock: Clock,
        dealing: Interleave,
    ) -> Result<usize> {
        let table = self.table(cache.protocol.as_ref())?;
        let ways = cache.ways.max(1);
        let sets = (cache.size.0 / (u64::from(cache.line.max(1)) * u64::from(ways))).max(1);
        let store = match role {
            Role::Root => Store::memory(cache.line, dealing),
            _ => Store::tagged(u32::try_from(sets).unwrap_or(u32::MAX), ways, cache.line, dealing),
        };
        let id = self.components.add(path, kind);
        let config = NodeConfig {
            id,
            table,
            role,
            block: cache.line,
            unit: cache.line,
            mask_bytes: self.spec.gpu.as_ref().map_or(1, |gpu| gpu.memory.mask_bytes),
            values: self.spec.values,
            mshrs: cache.mshrs,
            parents: Vec::new(),
            by_home: SmallVec::new(),
            dealing: Interleave::NONE,
            home: None,
            hit_time: 0,
            children: Vec::new(),
            peers: 0,
            by_sector: self.spec.network.by_sector,
            sectored: false,
            header: self.spec.network.header,
            hits_under_stores: kind == ComponentKind::Client,
            own_side: 0,
            snooped: 0,
            remembers: false,
            outside: 0,
            answers_each: false,
            posted: 0,
            has_memory: false,
            tags: None,
            faults: self.blueprint.faults.iter().copied().collect(),
        };
        self.configs.push((config, store));
        self.lookup.push(clock.cycles(u64::from(cache.latency.max(1))));
        self.fill.push(clock.cycles(u64::from(cache.fill.max(1))));
        self.ports.push(Port::new(clock.period, cache.ports));
        self.dram_of.push(None);
        Ok(self.configs.len() - 1)
    }

    fn agent(
        &mut self,
        path: String,
        kind: ComponentKind,
        l1: usize,
        shape: (u32, u32, u32),
        clock: Clock,
        latency: u32,
    ) {
        let (lanes, slots, outstanding) = shape;
        let id = self.components.add(path, kind);
        let line = self.configs.get(l1).map_or(64, |(config, _)| config.block);
        if let Some((config, _)) = self.configs.get_mut(l1) {
            config.hit_time = clock.cycles(u64::from(latency));
        }
        let gpu = self.spec.gpu.as_ref().filter(|_| kind == ComponentKind::Cu);
        let config = AgentConfig {
            id,
            clock,
            lanes,
            simds: gpu.map(|gpu| gpu.cu.simds).filter(|simds| *simds < slots).unwrap_or(0),
            scheduler: gpu.map_or(WarpScheduler::default(), |gpu| gpu.cu.scheduler),
            outstanding,
            l1_latency: latency,
            line,
            values: self.spec.values,
            page: 0,
            fault: FaultKind::Far,
            socket: None,
            sockets: self.spec.gpu.as_ref().map_or(0, |gpu| gpu.count),
        };
        self.agents.push(Agent::new(config, l1, slots));
    }

    fn dram(&mut self, node: usize, spec: &DramSpec, dealing: Interleave, tags: Option<TagBanks>) {
        let timing = DramTiming {
            channels: spec.channels,
            banks: spec.banks,
            row: spec.row,
            interleave: spec.interleave,
            cas: self.ticks(spec.cas),
            activate: self.ticks(spec.activate),
            precharge: self.ticks(spec.precharge),
            gaps: Gaps {
                row_cycle: self.ticks(spec.row_cycle),
                row_to_row: self.ticks(spec.row_to_row),
                write_recovery: self.ticks(spec.write_recovery),
                write_to_read: self.ticks(spec.write_to_read),
            },
            hashed: spec.hash,
            always_reopen: spec.always_reopen,
            access: spec.access,
            tags,
        };
        let rate = self.rate(spec.bandwidth);
        let scheduling = Scheduling {
            window: spec.queue as usize,
            writes: spec.write_queue,
            row_hit_cap: spec.row_hit_cap,
        };
        self.drams.push(match spec.scheduler {
            DramScheduler::InOrder => Dram::InOrder(InOrder::new(timing, rate)),
            DramScheduler::FrFcfs => Dram::FrFcfs(Controller::new(timing, scheduling, rate)),
        });
        if let Some(place) = self.dram_of.get_mut(node) {
            *place = Some((self.drams.len() - 1, dealing));
        }
        if let Some((config, _)) = self.configs.get_mut(node) {
            config.has_memory = true;
        }
    }

    /// A wire that nothing else shares and that is not shown.
    fn wire(&mut self, rate: Option<ByteRate>, latency: Tick) -> usize {
        let window = self.time.ticks_per_cycle.saturating_mul(SAMPLE_CYCLES);
        self.links.push(Link::new(rate, latency, 1, window));
        self.visible.push(None);
        self.links.len() - 1
    }

    /// One direction of a link of the network.
    fn link(&mut self, path: String, from: &str, to: &str, latency: Tick) -> usize {
        let network = &self.spec.network;
        let lanes = network.lanes;
        let rate = self.rate(network.bandwidth);
        let window = self.time.ticks_per_cycle.saturating_mul(SAMPLE_CYCLES);
        let mut link = Link::new(Some(rate), latency, lanes, window);
        let (header, granularity) = (network.header, network.granularity);
        let is_cut = network.payload.is_some() || granularity > 1;
        let payload = network.payload.unwrap_or(u32::MAX);
        link.packets = is_cut.then_some(Packets { header, payload, granularity });
        self.links.push(link);
        let id = self.components.add(path, ComponentKind::Link);
        self.visible.push(Some((id, from.to_owned(), to.to_owned())));
        self.links.len() - 1
    }

    /// Connects a child with its parents in both directions: what carries messages up, and down.
    fn connect(
        &mut self,
        child: usize,
        parents: &[usize],
        dealing: Interleave,
        (up, down): (impl Into<Path>, impl Into<Path>),
    ) {
        let (up, down) = (up.into(), down.into());
        let Some(child_id) = self.configs.get(child).map(|(config, _)| config.id) else { return };
        let child_block = self.configs.get(child).map_or(64, |(config, _)| config.block);
        for &parent in parents {
            let Some((config, _)) = self.configs.get_mut(parent) else { continue };
            config.children.push(child_id);
            config.unit = if config.role == Role::Root { config.block } else { child_block };
            let parent_id = config.id;
            self.components.connect(child_id, parent_id);
            if let Some((config, _)) = self.configs.get_mut(child) {
                config.parents.push(parent_id);
                config.dealing = dealing;
            }
            let of = |ticks: &[Tick], node: usize| ticks.get(node).copied().unwrap_or(1);
            let (above, below) = (of(&self.fill, child), of(&self.lookup, parent));
            self.ways.push(Way { from: child, to: parent, path: up, lookup: below });
            self.ways.push(Way { from: parent, to: child, path: down, lookup: above });
        }
    }
}
