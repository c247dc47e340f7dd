//! The last step: nodes from their configurations, indices, and the machine around them.

use std::sync::Arc;

use slotmap::SlotMap;

use super::Builder;
use crate::diagnostic::{Diagnostic, Result};
use crate::machine::check::Checker;
use crate::machine::latency::Latencies;
use crate::machine::plan::Plan;
use crate::machine::queue::Queue;
use crate::machine::tasks::Tasks;
use crate::machine::{Fixed, Machine};
use crate::model::component::ComponentId;
use crate::model::level::Level;
use crate::model::message::{MessageKind, Network};
use crate::parts::channel::Channel;
use crate::protocol::node::Node;
use crate::protocol::table::{Step, Table};

impl Builder<'_> {
    pub(super) fn finish(mut self) -> Result<Machine> {
        for (config, store) in std::mem::take(&mut self.configs) {
            if config.children.len() > 64 {
                let path = self.components.path(config.id);
                let message = format!("{path} would have {} children", config.children.len());
                return Err(Box::new(Diagnostic::new(message).expected("at most 64")));
            }
            self.nodes.push(Node::new(config, store));
        }
        let paging = self.paging()?.map(Box::new);
        let channels = self.channels();
        let fixed = Arc::new(self.fixed(&channels));
        let node_count = self.nodes.len();
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
            paging,
            queue: Queue::default(),
            tasks: Tasks::new(self.blueprint.workload.clone()),
            txns: SlotMap::with_key(),
            txns_made: 0,
            now: 0,
            event: 0,
            violations: Vec::new(),
            sent: [(0, 0); MessageKind::ALL.len()],
            latencies: Latencies::default(),
            wake_ups: 0,
            transaction_limit: None,
            finished_checked: false,
            buffers: None,
            full: vec![[0; Network::ALL.len()]; node_count],
            held: vec![0; node_count],
            plan: Plan::default(),
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
        let mut routes = vec![vec![None; count]; self.nodes.len()];
        let mut inputs = vec![Vec::new(); self.nodes.len()];
        for (position, channel) in channels.iter().enumerate() {
            if let Some(to) = self.nodes.get(channel.to) {
                routes[channel.from][to.id().index()] = u32::try_from(position).ok();
            }
            inputs[channel.to].push(position);
        }
        let mut agent_above = vec![None; self.nodes.len()];
        for (position, agent) in self.agents.iter().enumerate() {
            agent_above[agent.l1] = Some(position);
        }
        let mut hit_time = vec![0; self.nodes.len()];
        for agent in &self.agents {
            hit_time[agent.l1] = agent.config.clock.cycles(u64::from(agent.config.l1_latency));
        }
        let kind = |node: &Node| self.components.get(node.id()).map(|component| component.kind);
        let level = |node: &Node| kind(node).map_or(Level::L1, Level::of);
        let fetches = |table: &Table| {
            table.rows.iter().any(|row| row.leaf.iter().flatten().any(|cell| cell.step == Step::Fetch))
        };
        Fixed {
            spec: self.spec.clone(),
            time: self.time,
            last_tick: self.blueprint.max_cycles.saturating_add(1).saturating_mul(self.time.ticks_per_cycle)
                - 1,
            components: self.components.clone(),
            tables: self.blueprint.tables.clone(),
            faults: self.blueprint.faults.clone(),
            node_of: index(self.nodes.iter().map(Node::id).collect()),
            agent_of: index(self.agents.iter().map(|agent| agent.config.id).collect()),
            link_of,
            routes,
            folded: channels.iter().any(|channel| channel.lanes.len() == 1),
            inputs,
            port_period: self.period.clone(),
            agent_above,
            level_of: self.nodes.iter().map(level).collect(),
            hit_time,
            visible_links: self.visible.clone(),
            gpu_agents: self.gpu_agents.clone(),
            dram_of: self.dram_of.clone(),
            coherent: self.nodes.iter().all(|node| !fetches(&node.config.table)),
        }
    }
}
