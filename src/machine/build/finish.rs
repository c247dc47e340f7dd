//! The last step: nodes from their configurations, indices, and the machine around them.

use std::sync::{Arc, OnceLock};

use rustc_hash::FxHashSet;

use super::{Blueprint, Builder};
use crate::config::machine::{NetworkKind, Organisation};
use crate::diagnostic::{Diagnostic, Result};
use crate::machine::check::Checker;
use crate::machine::consistency::Consistency;
use crate::machine::injected::Injected;
use crate::machine::latency::Latencies;
use crate::machine::meeting::{Meeting, has_several_launches};
use crate::machine::plan::Plan;
use crate::machine::queue::Queue;
use crate::machine::resources;
use crate::machine::synchronise::Reach;
use crate::machine::tags::CachedMemories;
use crate::machine::tasks::Tasks;
use crate::machine::transactions::Transactions;
use crate::machine::ways::Ways;
use crate::machine::{Fixed, Machine};
use crate::model::bits::Bits;
use crate::model::component::ComponentId;
use crate::model::level::Level;
use crate::model::message::{MessageKind, Network};
use crate::model::time::Tick;
use crate::parts::agent::Told;
use crate::parts::channel::Channel;
use crate::protocol::homes::Homes;
use crate::protocol::node::{Node, NodeConfig, Role};

impl Builder<'_> {
    /// Tells of each way the links of the network that it goes over.
    fn name_links(&mut self) {
        for way in &self.ways {
            let id = |node: usize| self.nodes.get(node).map(Node::id);
            let (Some(from), Some(to)) = (id(way.from), id(way.to)) else { continue };
            for link in [Some(way.path.first), way.path.second].into_iter().flatten() {
                if let Some(Some((link, _, _))) = self.visible.get(link) {
                    self.components.cross(from, to, *link);
                }
            }
        }
    }

    pub(super) fn finish(mut self) -> Result<Machine> {
        self.check_protocols()?;
        let meeting = self.meeting();
        self.nodes(&meeting)?;
        self.name_links();
        let paging = self.paging()?.map(Box::new);
        let copies = self.copies()?.map(Box::new);
        let channels = self.channels();
        let lanes = self.lanes().map(Box::new);
        let ways = self.partitions_of_ways().map(Box::new);
        let homes = self.homes();
        let read_only = self.spec.gpu.as_ref().and_then(|gpu| gpu.read_only.as_ref());
        let fixed = Arc::new(self.fixed(&channels));
        let (node_count, channel_count) = (self.nodes.len(), channels.len() as u32);
        let tasks = Tasks::new(self.blueprint.workload.clone());
        let tags = CachedMemories::among(&self.nodes).map(Box::new);
        let queue = Queue::new(fixed.time.ticks_per_cycle);
        let ports = std::mem::take(&mut self.ports);
        let mut machine = Machine {
            agent_wake: vec![None; self.agents.len()],
            ports,
            checker: self.blueprint.checks.then(|| Checker::new(self.spec.values, self.consistency(&fixed))),
            // Far from the end of time, so that what begins before it cannot run past that.
            last_tick: (self.blueprint.max_cycles.saturating_add(1))
                .saturating_mul(fixed.time.ticks_per_cycle)
                .min(Tick::MAX / 4)
                - 1,
            fixed,
            nodes: self.nodes,
            agents: self.agents,
            links: self.links,
            channels,
            drams: self.drams,
            paging,
            copies,
            lanes,
            lanes_due: Tick::MAX,
            homes,
            permissions: super::paging::permissions(read_only),
            awaited: Vec::new(),
            meeting: Arc::new(meeting),
            ways,
            tags,
            queue,
            latencies: Latencies::new(tasks.states.len()),
            tasks,
            txns: Transactions::default(),
            txns_made: 0,
            now: 0,
            event: 0,
            last: None,
            violations: Vec::new(),
            sent: [(0, 0); MessageKind::ALL.len()],
            wake_ups: 0,
            told: Told::default(),
            injected: Injected::default(),
            transaction_limit: None,
            overdue_after: 0,
            spinning: Vec::new(),
            finished_checked: false,
            buffers: None,
            laden: Bits::new(channel_count),
            full: vec![[0; Network::ALL.len()]; node_count],
            held: vec![Vec::new(); node_count],
            plan: Plan::default(),
        };
        machine.begin(self.blueprint)?;
        Ok(machine)
    }

    /// Makes a node of each configuration.
    fn nodes(&mut self, meeting: &Meeting) -> Result<()> {
        let all_that = |is_so: &dyn Fn(&NodeConfig) -> bool| -> FxHashSet<ComponentId> {
            let found = self.configs.iter().filter(|(config, _)| is_so(config));
            found.map(|(config, _)| config.id).collect()
        };
        let untracked = all_that(&|config| !config.is_tracked());
        let handing_on = all_that(&NodeConfig::hands_on_loads);
        let tagged = all_that(&|config| config.tags.is_some());
        let is_pcie = self.spec.network.kind == NetworkKind::Pcie;
        for (number, (mut config, store)) in std::mem::take(&mut self.configs).into_iter().enumerate() {
            config.remembers = meeting.has(number);
            config.answers_each = config.children.iter().any(|child| handing_on.contains(child));
            if !config.table.has_directory() {
                config.children.sort_unstable();
            }
            if (config.table.has_directory() || config.broadcasts()) && config.children.len() > 64 {
                let path = self.components.path(config.id);
                let message = format!(
                    "{path} would have {} children, each a bit in its directory",
                    config.children.len()
                );
                let expected = "at most 64: fewer of gpu.count, gpu.cu.count, gpu.l2.slices or host.cores";
                return Err(Box::new(Diagnostic::new(message).expected(expected)));
            }
            if config.role == Role::Root && self.components.is_host(config.id) && config.table.has_directory()
            {
                config.snooped = children_that(&config, |child| self.components.is_host(child));
                config.outside = children_that(&config, |child| untracked.contains(&child)) & !config.snooped;
                // What no directory tracks stores past the protocol; over PCIe that is a posted write.
                let is_posted = |child| tagged.contains(&child) || is_pcie && untracked.contains(&child);
                config.posted = children_that(&config, is_posted) & !config.snooped;
            }
            let (is_apart, line) = (config.own_side != 0, config.block);
            let mut node = Node::new(config, store);
            let gpu = self.spec.gpu.as_ref().filter(|_| is_apart);
            if let Some((gpu, spec)) = gpu.and_then(|gpu| Some((gpu, gpu.remote_directory.as_ref()?))) {
                node.set_remote(super::unified::remote_directory(spec, gpu.l2.slices, line));
            }
            self.nodes.push(node);
        }
        Ok(())
    }

    /// Where each address is at home.
    fn homes(&self) -> Homes {
        let numa = self.spec.gpu.as_ref().and_then(|gpu| Some((gpu, gpu.numa.as_ref()?)));
        let unified = self.spec.gpu.as_ref().and_then(|gpu| gpu.unified.as_ref());
        match (numa, unified) {
            (Some((gpu, numa)), _) => super::numa::homes(gpu, numa, &self.blueprint.workload),
            (None, Some(unified)) => super::unified::homes(unified),
            (None, None) => Homes::Single,
        }
    }

    /// What the software takes that flushes the CPU's caches.
    fn flush_trap(&self) -> Tick {
        let gpu = self.spec.gpu.as_ref();
        gpu.and_then(|gpu| gpu.remote_directory.as_ref()).map_or(0, |directory| self.ticks(directory.flush))
    }

    /// The partitions of the caches of sockets, if they are dealt.
    fn partitions_of_ways(&self) -> Option<Ways> {
        let gpu = self.spec.gpu.as_ref()?;
        let numa = gpu.numa.as_ref().filter(|numa| numa.organisation == Organisation::Partitioned)?;
        // One alone has no remote lines.
        if self.sockets.len() < 2 {
            return None;
        }
        Some(Ways::new(self.gpu_clock.cycles(u64::from(numa.sample)), numa.threshold, self.sockets.len()))
    }

    /// The checks of software coherence, where fences and kernels are all that keeps caches coherent.
    fn consistency(&self, fixed: &Fixed) -> Option<Consistency> {
        let numa = self.spec.numa();
        let is_kept = numa.is_none_or(|numa| numa.invalidate);
        let mut concerned = fixed.reach.gpus.iter().chain(&fixed.reach.host);
        let writes_back = concerned.any(|index| self.nodes.get(*index).is_some_and(Node::is_released));
        (self.spec.values && !fixed.coherent && is_kept).then(|| Consistency::new(!writes_back))
    }

    /// The nodes that flush between launches: none where there is only one, or fences see to it.
    fn meeting(&self) -> Meeting {
        let nodes: Vec<&NodeConfig> = self.configs.iter().map(|(config, _)| config).collect();
        let agents = self.gpu_agents.iter().flatten().filter_map(|&agent| self.agents.get(agent));
        let leaves: Vec<usize> = agents.map(|agent| agent.l1).collect();
        if !has_several_launches(&self.blueprint.workload) {
            return Meeting::default();
        }
        Meeting::of(&nodes, &leaves)
    }

    /// The caches that fences and kernels concern.
    fn reach(&self) -> Reach {
        let numa = self.spec.numa();
        let ignores = numa.is_some_and(|numa| !numa.invalidate);
        let concerns = |index: &usize| {
            let node = self.nodes.get(*index);
            node.is_some_and(|node| {
                node.is_synchronised() && !node.is_tagged() && (node.config.role == Role::Leaf || !ignores)
            })
        };
        let mut node_of = vec![None; self.components.len()];
        for (index, node) in self.nodes.iter().enumerate() {
            node_of[node.id().index()] = Some(index);
        }
        let below = |l1: usize| {
            let mut found: Vec<usize> = vec![l1];
            let mut seen: FxHashSet<usize> = found.iter().copied().collect();
            let mut next = 0;
            while let Some(node) = found.get(next).and_then(|&index| self.nodes.get(index)) {
                let parents: Vec<usize> =
                    node.config.parents.iter().filter_map(|parent| node_of[parent.index()]).collect();
                for parent in parents {
                    if seen.insert(parent) {
                        found.push(parent);
                    }
                }
                next += 1;
            }
            found.remove(0);
            found.retain(&concerns);
            found
        };
        let below: Vec<Vec<usize>> = self.agents.iter().map(|agent| below(agent.l1)).collect();
        let is_host =
            |index: &usize| self.nodes.get(*index).is_some_and(|node| self.components.is_host(node.id()));
        let (host, gpus) = (0..self.nodes.len()).filter(concerns).partition(is_host);
        Reach { below, gpus, host }
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
        let mut routes = vec![vec![None; count]; self.nodes.len()];
        for (position, channel) in channels.iter().enumerate() {
            if let Some(to) = self.nodes.get(channel.to) {
                routes[channel.from][to.id().index()] = u32::try_from(position).ok();
            }
        }
        let out = routes.iter().map(|to| to.iter().flatten().copied().collect()).collect();
        let mut agent_above = vec![None; self.nodes.len()];
        for (position, agent) in self.agents.iter().enumerate() {
            agent_above[agent.l1] = Some(position);
        }
        let kind = |node: &Node| self.components.get(node.id()).map(|component| component.kind);
        let level = |node: &Node| kind(node).map_or(Level::L1, Level::of);
        let titles = resources::titles(&self.nodes, &self.components);
        let shown: Vec<_> = self.visible.iter().map(|link| link.as_ref().map(|(id, _, _)| *id)).collect();
        let wires = resources::wires(&self.nodes, &titles, (&self.links, &shown), channels);
        Fixed {
            titles,
            wires,
            spec: self.spec.clone(),
            time: self.time,
            components: self.components.clone(),
            tables: self.blueprint.tables.clone(),
            faults: self.blueprint.faults.clone(),
            node_of: index(self.nodes.iter().map(Node::id).collect()),
            agent_of: index(self.agents.iter().map(|agent| agent.config.id).collect()),
            link_of,
            routes,
            out,
            folded: channels.iter().any(|channel| channel.folded),
            buffers_behind: buffers_behind(self.links.len(), channels),
            agent_above,
            level_of: self.nodes.iter().map(level).collect(),
            visible_links: self.visible.clone(),
            gpu_agents: self.gpu_agents.clone(),
            dram_of: self.dram_of.clone(),
            smallest_block: self.nodes.iter().map(|node| node.config.block).min().unwrap_or(64),
            cores: self.cores.clone(),
            hmds: self.hmds.clone(),
            sockets: self.finished_sockets(),
            reach: self.reach(),
            flush_trap: self.flush_trap(),
            coherent: self.nodes.iter().all(|node| !node.config.table.fetches()),
            hides_n_stores: self.nodes.iter().any(|node| {
                node.config.role == Role::Inner
                    && node.config.is_tracked()
                    && node.config.table.is_noncoherent()
            }),
            section_of: OnceLock::new(),
            shares_home: self.nodes.iter().all(|node| node.config.outside == 0 && !node.is_tagged()),
        }
    }
}

impl Machine {
    /// Places what is there at the start, and plans what may begin.
    fn begin(&mut self, blueprint: &Blueprint) -> Result<()> {
        self.check_workload()?;
        self.place_memory(blueprint)?;
        self.start_partitions();
        self.place_initial(&blueprint.initial)?;
        for task in self.tasks.ready() {
            self.plan_task(task);
        }
        Ok(())
    }
}

/// Of each link, the buffers of each network that what goes over it last ends in.
fn buffers_behind(links: usize, channels: &[Channel]) -> Vec<[u32; Network::ALL.len()]> {
    let mut behind = vec![[0; Network::ALL.len()]; links];
    for channel in channels {
        let counts = behind[channel.path.last()].iter_mut().zip(Network::ALL);
        let counts = counts.filter(|(_, network)| channel.lanes.get(channel.lane_of(*network)).is_some());
        counts.for_each(|(count, _)| *count += channel.buffers);
    }
    behind
}

/// The children of a node of which something is so, a bit each; of the first 64: more are refused where bits count.
pub(super) fn children_that(config: &NodeConfig, is_so: impl Fn(ComponentId) -> bool) -> u64 {
    let children = config.children.iter().take(64).enumerate();
    children.fold(0, |bits, (place, child)| bits | u64::from(is_so(*child)) << place)
}
