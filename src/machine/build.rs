//! Builds a machine from its specification: components, nodes, links and channels.

use std::collections::BTreeMap;
use std::sync::Arc;

use slotmap::SlotMap;

use super::check::Checker;
use super::queue::Queue;
use super::tasks::Tasks;
use super::{Blueprint, Fixed, InitialBlock, Machine};
use crate::config::machine::{CacheSpec, DramSpec, GpuHome, GpuSpec, HostSpec, MachineSpec, Topology};
use crate::diagnostic::{Diagnostic, Result};
use crate::model::address::{Address, Range};
use crate::model::component::{ComponentId, ComponentKind, Components};
use crate::model::message::MessageKind;
use crate::model::time::{ByteRate, Clock, Tick, TimeBase, gcd};
use crate::model::units::{Bandwidth, Duration, Frequency};
use crate::parts::agent::{Agent, AgentConfig};
use crate::parts::channel::{Channel, Lane};
use crate::parts::dram::{Dram, DramTiming};
use crate::parts::link::Link;
use crate::protocol::node::{Node, NodeConfig, Role};
use crate::protocol::store::{Interleave, Store};
use crate::protocol::table::{Step, Table};
use crate::workload::TaskKind;

/// Ticks a second at most: beyond that clocks have no useful common multiple.
const MAX_RESOLUTION: u64 = 1_000_000_000_000_000;
/// Cycles in a sample of a link's utilisation.
pub(super) const SAMPLE_CYCLES: u64 = 500;

/// A way between two nodes before channels are made.
struct Way {
    from: usize,
    to: usize,
    link: usize,
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
    period: Vec<Tick>,
    agents: Vec<Agent>,
    gpu_agents: Vec<Vec<usize>>,
    drams: Vec<Dram>,
    dram_of: Vec<Option<(usize, Interleave)>>,
    links: Vec<Link>,
    visible: Vec<Option<(ComponentId, String, String)>>,
    ways: Vec<Way>,
}

pub(super) fn build(blueprint: &Blueprint) -> Result<Machine> {
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
        period: Vec::new(),
        agents: Vec::new(),
        gpu_agents: Vec::new(),
        drams: Vec::new(),
        dram_of: Vec::new(),
        links: Vec::new(),
        visible: Vec::new(),
        ways: Vec::new(),
    };
    builder.devices()?;
    builder.finish()
}

/// A tick that divides the cycle of every clock, and is at most 10 ps.
fn time_base(spec: &MachineSpec) -> Result<TimeBase> {
    let gpu = spec.gpu.as_ref().map_or(spec.host.clock, |gpu| gpu.clock).0.max(1);
    let host = spec.host.clock.0.max(1);
    let common = u128::from(gpu) / u128::from(gcd(gpu, host)) * u128::from(host);
    let fine = common * 100_000_000_000u128.div_ceil(common);
    match u64::try_from(fine) {
        Ok(ticks) if ticks <= MAX_RESOLUTION => {
            Ok(TimeBase { ticks_per_second: ticks, ticks_per_cycle: ticks / gpu })
        }
        _ => Err(Box::new(
            Diagnostic::new(format!(
                "the clocks {} and {} have no common tick",
                spec.host.clock,
                Frequency(gpu)
            ))
            .expected("frequencies whose least common multiple is below 1,000 THz"),
        )),
    }
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

    fn granule(&self, line: u32) -> u32 {
        let own = self.spec.gpu.as_ref().map_or(1, |gpu| gpu.memory.mask_bytes);
        if self.spec.values { own } else { line }
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
            Role::Root => Store::Memory(BTreeMap::new()),
            _ => Store::tagged(u32::try_from(sets).unwrap_or(u32::MAX), ways, cache.line, dealing),
        };
        let id = self.components.add(path, kind);
        let config = NodeConfig {
            id,
            table,
            role,
            block: cache.line,
            unit: cache.line,
            granule: self.granule(cache.line),
            values: self.spec.values,
            mshrs: cache.mshrs,
            parents: Vec::new(),
            dealing: Interleave::NONE,
            children: Vec::new(),
            peers: 0,
            header: self.spec.network.header,
            has_memory: false,
            faults: self.blueprint.faults.iter().copied().collect(),
        };
        self.configs.push((config, store));
        self.lookup.push(clock.cycles(u64::from(cache.latency.max(1))));
        self.period.push(clock.period);
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
        let config = AgentConfig {
            id,
            clock,
            lanes,
            outstanding,
            l1_latency: latency,
            line,
            values: self.spec.values,
        };
        self.agents.push(Agent::new(config, l1, slots));
    }

    fn dram(&mut self, node: usize, spec: &DramSpec, dealing: Interleave) {
        let timing = DramTiming {
            banks: spec.banks,
            row: spec.row,
            cas: self.ticks(spec.cas),
            activate: self.ticks(spec.activate),
            precharge: self.ticks(spec.precharge),
            always_reopen: spec.always_reopen,
        };
        self.drams.push(Dram::new(timing, self.rate(spec.bandwidth)));
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
    fn link(&mut self, path: String, from: &str, to: &str) -> usize {
        let network = &self.spec.network;
        let (latency, lanes) = (self.ticks(network.latency), network.lanes);
        let rate = self.rate(network.bandwidth);
        let window = self.time.ticks_per_cycle.saturating_mul(SAMPLE_CYCLES);
        self.links.push(Link::new(Some(rate), latency, lanes, window));
        let id = self.components.add(path, ComponentKind::Link);
        self.visible.push(Some((id, from.to_owned(), to.to_owned())));
        self.links.len() - 1
    }

    /// Connects a child with its parents in both directions. `links` are up and down.
    fn connect(&mut self, child: usize, parents: &[usize], dealing: Interleave, links: (usize, usize)) {
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
            self.ways.push(Way { from: child, to: parent, link: links.0 });
            self.ways.push(Way { from: parent, to: child, link: links.1 });
        }
    }

    fn devices(&mut self) -> Result<()> {
        let spec = self.spec;
        let mut tops: Vec<(u32, Vec<usize>)> = Vec::new();
        if let Some(gpu) = &spec.gpu {
            for index in 0..gpu.count {
                tops.push((index, self.gpu(index, gpu)?));
            }
        }
        let (hmds, cpu) = self.host(&spec.host)?;
        let dealing = Interleave { size: u64::from(spec.host.interleave), count: hmds.len() as u64 };
        let hop = self.ticks(spec.host.hop);
        for top in cpu {
            let (up, down) = (self.wire(None, hop), self.wire(None, hop));
            self.connect(top, &hmds, dealing, (up, down));
        }
        self.network(&tops, &hmds, dealing);
        Ok(())
    }

    /// One GPU; returns the nodes that face the host.
    fn gpu(&mut self, index: u32, gpu: &GpuSpec) -> Result<Vec<usize>> {
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
            if let Some(lookup) = self.lookup.get_mut(l1) {
                *lookup = clock.period;
            }
            agents.push(self.agents.len());
            let shape = (gpu.cu.lanes, gpu.cu.wavefronts, gpu.cu.outstanding);
            self.agent(path, ComponentKind::Cu, l1, shape, clock, gpu.l1.latency);
            l1s.push(l1);
        }
        self.gpu_agents.push(agents);
        let dealing = Interleave { size: u64::from(gpu.l2.interleave), count: u64::from(gpu.l2.slices) };
        let mut slices = Vec::new();
        for slice in 0..gpu.l2.slices {
            let path = format!("gpu{index}.l2.{slice}");
            slices.push(self.node(path, ComponentKind::L2, &gpu.l2.cache, Role::Inner, clock, dealing)?);
        }
        let latency = clock.cycles(u64::from(gpu.l2.crossbar_latency));
        let width = gpu.l2.crossbar_width;
        let rate = (width > 0).then(|| ByteRate::new(u64::from(width), clock.period));
        for l1 in l1s {
            let (up, down) = (self.wire(rate, latency), self.wire(rate, latency));
            self.connect(l1, &slices, dealing, (up, down));
        }
        match gpu.memory.home {
            GpuHome::Host => Ok(slices),
            GpuHome::Smd => self.stacks(index, gpu, &slices, dealing),
        }
    }

    /// A stacked memory directory with its stack behind each slice.
    fn stacks(
        &mut self,
        index: u32,
        gpu: &GpuSpec,
        slices: &[usize],
        dealing: Interleave,
    ) -> Result<Vec<usize>> {
        let clock = self.gpu_clock;
        let memory = &gpu.memory;
        let cache = CacheSpec {
            size: memory.size,
            ways: memory.ways,
            line: memory.secondary_block,
            latency: memory.latency,
            mshrs: memory.mshrs,
            protocol: None,
        };
        let mut smds = Vec::new();
        for (slice, number) in slices.iter().zip(0u32..) {
            let path = format!("gpu{index}.smd{number}");
            let smd = self.node(path, ComponentKind::Smd, &cache, Role::Inner, clock, dealing)?;
            self.dram(smd, &memory.dram, dealing);
            let (up, down) = (self.wire(None, clock.period), self.wire(None, clock.period));
            self.connect(*slice, &[smd], Interleave::NONE, (up, down));
            smds.push(smd);
        }
        Ok(smds)
    }

    /// The host: its HMDs, and the caches that face them.
    fn host(&mut self, host: &HostSpec) -> Result<(Vec<usize>, Vec<usize>)> {
        let clock = self.host_clock;
        let mut tops = Vec::new();
        for core in 0..host.cores {
            let path = format!("host.cpu{core}");
            let l1 = self.node(
                format!("{path}.l1"),
                ComponentKind::L1,
                &host.l1,
                Role::Leaf,
                clock,
                Interleave::NONE,
            )?;
            if let Some(lookup) = self.lookup.get_mut(l1) {
                *lookup = clock.period;
            }
            self.agent(path, ComponentKind::Core, l1, (1, 4, host.outstanding), clock, host.l1.latency);
            tops.push(l1);
        }
        if let Some(llc) = host.llc.as_ref().filter(|_| host.cores > 0) {
            let node = self.node(
                "host.llc".to_owned(),
                ComponentKind::Llc,
                llc,
                Role::Inner,
                clock,
                Interleave::NONE,
            )?;
            let hop = self.ticks(host.hop);
            for l1 in std::mem::take(&mut tops) {
                let (up, down) = (self.wire(None, hop), self.wire(None, hop));
                self.connect(l1, &[node], Interleave::NONE, (up, down));
            }
            tops.push(node);
        }
        let dealing = Interleave { size: u64::from(host.interleave), count: u64::from(host.hmds) };
        let mut hmds = Vec::new();
        for number in 0..host.hmds {
            let shape = CacheSpec {
                size: host.memory,
                ways: 1,
                line: host.block,
                latency: 1,
                mshrs: 0,
                protocol: None,
            };
            let path = format!("host.hmd{number}");
            let hmd = self.node(path, ComponentKind::Hmd, &shape, Role::Root, clock, dealing)?;
            let latency = self.ticks(host.latency).max(1);
            if let Some(lookup) = self.lookup.get_mut(hmd) {
                *lookup = latency;
            }
            self.dram(hmd, &host.dram, dealing);
            hmds.push(hmd);
        }
        Ok((hmds, tops))
    }

    /// PCIe or NVLink between the GPUs and the host, and between GPUs for peer transfers.
    fn network(&mut self, gpus: &[(u32, Vec<usize>)], hmds: &[usize], dealing: Interleave) {
        let shared = (self.spec.network.topology == Topology::Shared && !gpus.is_empty()).then(|| {
            let up = self.link("link.host.in".to_owned(), "gpus", "host");
            (up, self.link("link.host.out".to_owned(), "host", "gpus"))
        });
        for (index, tops) in gpus {
            let name = format!("gpu{index}");
            let links = shared.unwrap_or_else(|| {
                let up = self.link(format!("link.{name}.out"), &name, "host");
                (up, self.link(format!("link.{name}.in"), "host", &name))
            });
            for (slice, &top) in (0u64..).zip(tops) {
                let reachable = self.reachable(slice, hmds, dealing);
                if reachable.len() == hmds.len() {
                    self.connect(top, hmds, dealing, links);
                } else {
                    self.connect(top, &reachable, Interleave::NONE, links);
                }
            }
        }
        if self.spec.host.peer_transfer {
            self.peers(gpus, shared.map(|(up, _)| up));
        }
    }

    /// The HMDs that a partition's addresses can fall to: half of them for half of the SMDs with Table III's
    /// two HMDs and equal interleaves.
    fn reachable(&self, slice: u64, hmds: &[usize], dealing: Interleave) -> Vec<usize> {
        let Some(gpu) = &self.spec.gpu else { return hmds.to_vec() };
        let (size, slices) = (u64::from(gpu.l2.interleave), u64::from(gpu.l2.slices));
        if size != dealing.size || !slices.is_multiple_of(dealing.count) {
            return hmds.to_vec();
        }
        hmds.get((slice % dealing.count) as usize).map(|hmd| vec![*hmd]).unwrap_or_default()
    }

    /// Channels between the same partitions of different GPUs.
    fn peers(&mut self, gpus: &[(u32, Vec<usize>)], shared: Option<usize>) {
        for (a, tops_a) in gpus {
            for (b, tops_b) in gpus.iter().filter(|(b, _)| b != a) {
                let link = shared.unwrap_or_else(|| {
                    self.link(format!("link.gpu{a}.gpu{b}"), &format!("gpu{a}"), &format!("gpu{b}"))
                });
                for (&from, &to) in tops_a.iter().zip(tops_b) {
                    self.ways.push(Way { from, to, link });
                }
            }
        }
        let tops: Vec<ComponentId> = gpus
            .iter()
            .flat_map(|(_, tops)| tops)
            .filter_map(|&top| self.configs.get(top).map(|(config, _)| config.id))
            .collect();
        for (config, _) in self.configs.iter_mut().filter(|(config, _)| config.role == Role::Root) {
            for (position, child) in config.children.iter().enumerate() {
                if tops.contains(child) {
                    config.peers |= 1 << position;
                }
            }
        }
    }

    fn channels(&self) -> Vec<Channel> {
        let count = if self.spec.network.virtual_networks == 1 { 1 } else { 3 };
        self.ways
            .iter()
            .map(|way| Channel {
                from: way.from,
                to: way.to,
                link: way.link,
                lookup: self.lookup.get(way.to).copied().unwrap_or(1),
                buffers: self.spec.network.buffers.max(1),
                lanes: vec![Lane::default(); count],
            })
            .collect()
    }

    fn finish(mut self) -> Result<Machine> {
        for (config, store) in std::mem::take(&mut self.configs) {
            if config.children.len() > 64 {
                let path = self.components.path(config.id);
                let message = format!("{path} would have {} children", config.children.len());
                return Err(Box::new(Diagnostic::new(message).expected("at most 64")));
            }
            self.nodes.push(Node::new(config, store));
        }
        let channels = self.channels();
        let fixed = Arc::new(self.fixed(&channels));
        let mut machine = Machine {
            agent_wake: vec![None; self.agents.len()],
            port_free_at: vec![0; self.nodes.len()],
            checker: self.blueprint.checks.then(|| Checker::new(self.spec.values)),
            fixed,
            nodes: self.nodes,
            agents: self.agents,
            links: self.links,
            channels,
            drams: self.drams,
            queue: Queue::default(),
            tasks: Tasks::new(self.blueprint.workload.clone()),
            txns: SlotMap::with_key(),
            txns_made: 0,
            now: 0,
            event: 0,
            violations: Vec::new(),
            sent: [(0, 0); MessageKind::ALL.len()],
            wake_ups: 0,
            finished_checked: false,
        };
        machine.check_workload()?;
        machine.place_memory(self.blueprint)?;
        machine.place_initial(&self.blueprint.initial)?;
        for task in machine.tasks.ready() {
            machine.plan_task(task);
        }
        Ok(machine)
    }

    fn fixed(&self, channels: &[Channel]) -> Fixed {
        let count = self.components.len();
        let index = |ids: Vec<ComponentId>| {
            let mut all = vec![None; count];
            for (position, id) in ids.into_iter().enumerate() {
                if let Some(place) = all.get_mut(id.index()) {
                    *place = Some(position);
                }
            }
            all
        };
        let mut link_of = vec![None; count];
        for (position, link) in self.visible.iter().enumerate() {
            if let Some(place) = link.as_ref().and_then(|(id, _, _)| link_of.get_mut(id.index())) {
                *place = Some(position);
            }
        }
        let mut routes = vec![Vec::new(); self.nodes.len()];
        let mut inputs = vec![Vec::new(); self.nodes.len()];
        for (position, channel) in channels.iter().enumerate() {
            if let Some(to) = self.nodes.get(channel.to) {
                routes[channel.from].push((to.id(), position));
            }
            inputs[channel.to].push(position);
        }
        let mut agent_above = vec![None; self.nodes.len()];
        for (position, agent) in self.agents.iter().enumerate() {
            agent_above[agent.l1] = Some(position);
        }
        let fetches = |table: &Table| {
            table.rows.iter().any(|row| row.leaf.iter().flatten().any(|cell| cell.step == Step::Fetch))
        };
        Fixed {
            spec: self.spec.clone(),
            time: self.time,
            components: self.components.clone(),
            tables: self.blueprint.tables.clone(),
            faults: self.blueprint.faults.clone(),
            node_of: index(self.nodes.iter().map(Node::id).collect()),
            agent_of: index(self.agents.iter().map(|agent| agent.config.id).collect()),
            link_of,
            routes,
            inputs,
            port_period: self.period.clone(),
            agent_above,
            visible_links: self.visible.clone(),
            gpu_agents: self.gpu_agents.clone(),
            dram_of: self.dram_of.clone(),
            coherent: self.nodes.iter().all(|node| !fetches(&node.config.table)),
        }
    }
}

impl Machine {
    /// Every task can run on this machine.
    fn check_workload(&self) -> Result<()> {
        let agents = || self.agents.iter().map(|agent| self.fixed.components.path(agent.config.id));
        for task in &self.tasks.workload.tasks {
            match &task.what {
                TaskKind::Program { agent, .. } if !agents().any(|path| path == agent) => {
                    return Err(Box::new(
                        Diagnostic::new(format!(
                            "{agent} can run no program: it is no compute unit or core of this machine"
                        ))
                        .expected("a path such as gpu0.cu0 or host.cpu0")
                        .nearest(agent, agents()),
                    ));
                }
                TaskKind::Kernel(kernel) => {
                    let slots = self.fixed.spec.gpu.as_ref().map_or(0, |gpu| gpu.cu.wavefronts);
                    if kernel.warps_per_block() > slots {
                        let message = format!(
                            "a block of {} has {} warps, but a compute unit has room for {slots}",
                            kernel.name(),
                            kernel.warps_per_block()
                        );
                        return Err(Box::new(Diagnostic::new(message)));
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn node_index(&self, path: &str) -> Result<usize> {
        let names = || self.nodes.iter().map(|node| self.fixed.components.path(node.id()));
        let found = self.nodes.iter().position(|node| self.fixed.components.path(node.id()) == path);
        found.ok_or_else(|| {
            Box::new(
                Diagnostic::new(format!("{path} holds no blocks on this machine")).nearest(path, names()),
            )
        })
    }

    fn place_initial(&mut self, blocks: &[InitialBlock]) -> Result<()> {
        for block in blocks {
            let index = self.node_index(&block.node)?;
            let table = self.nodes[index].config.table.clone();
            if let Some(state) = block.state
                && table.row(state).is_none()
            {
                let message = format!("{} has no state {state}", table.name);
                return Err(Box::new(Diagnostic::new(message)));
            }
            let memory = self.memory_of(block.address, self.nodes[index].config.block);
            let node = &mut self.nodes[index];
            if !node.place_block(block.address, block.state) {
                let message = format!("{} has no free way for block {}", block.node, block.address);
                return Err(Box::new(Diagnostic::new(message)));
            }
            let start = block.address.block(node.config.block);
            node.place_bytes(start, &memory, false);
            for (at, bytes) in &block.dirty {
                node.place_bytes(*at, bytes, true);
                if let Some(checker) = self.checker.as_mut() {
                    checker.add_initial(*at, bytes);
                }
            }
            for holder in block.sharers.iter().chain(&block.owner) {
                let child = self.fixed.components.find(holder);
                let owner = block.owner.as_ref() == Some(holder);
                let entered =
                    child.is_some_and(|child| self.nodes[index].place_holder(block.address, child, owner));
                if !entered {
                    let message = format!("{holder} is no child of {}", block.node);
                    return Err(Box::new(Diagnostic::new(message)));
                }
            }
        }
        Ok(())
    }

    /// The HMD behind `address`.
    pub(super) fn home(&self, address: Address) -> Option<&Node> {
        let host = &self.fixed.spec.host;
        let dealing = Interleave { size: u64::from(host.interleave), count: u64::from(host.hmds) };
        self.node_index(&format!("host.hmd{}", dealing.index(address)))
            .ok()
            .and_then(|index| self.nodes.get(index))
    }

    /// Bytes of host memory for a block, at the start.
    fn memory_of(&self, address: Address, block: u32) -> Vec<u8> {
        let range = Range::block(address, block);
        self.home(range.start).and_then(|home| home.value(range)).unwrap_or_default()
    }

    fn place_memory(&mut self, blueprint: &Blueprint) -> Result<()> {
        let size = blueprint.spec.host.memory.0;
        for (address, bytes) in &blueprint.memory {
            if address.0.saturating_add(bytes.len() as u64) > size {
                let message = format!(
                    "address {address} lies beyond the host memory of {}",
                    blueprint.spec.host.memory
                );
                return Err(Box::new(Diagnostic::new(message)));
            }
            for (offset, byte) in bytes.iter().enumerate() {
                let at = address.plus(offset as u64);
                let dealing = Interleave {
                    size: u64::from(blueprint.spec.host.interleave),
                    count: u64::from(blueprint.spec.host.hmds),
                };
                let name = format!("host.hmd{}", dealing.index(at));
                let index = self.node_index(&name)?;
                self.nodes[index].set_memory(at, &[*byte]);
                if let Some(checker) = self.checker.as_mut() {
                    checker.set_initial(at, *byte);
                }
            }
        }
        Ok(())
    }
}
