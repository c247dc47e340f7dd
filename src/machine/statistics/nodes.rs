//! What caches and directories counted: each, and each level of the hierarchy.

use super::Sheet;
use crate::machine::Machine;
use crate::model::component::{Component, ComponentId};
use crate::model::time::Tick;
use crate::parts::port::PortCounters;
use crate::protocol::node::{Counters, Node};

/// Counts of one node, or summed over those of a level.
#[derive(Clone, Copy, Debug, Default)]
struct Counted {
    nodes: u64,
    counters: Counters,
    high_water: u32,
    /// Ticks that MSHRs were in use, summed over them.
    mshr_ticks: Tick,
    ports: PortCounters,
}

impl Counted {
    fn add(&mut self, other: &Self) {
        self.nodes += other.nodes;
        self.counters.add(&other.counters);
        self.high_water = self.high_water.max(other.high_water);
        self.mshr_ticks = self.mshr_ticks.saturating_add(other.mshr_ticks);
        self.ports.add(&other.ports);
    }

    fn put(&self, prefix: &str, machine: &Machine, sheet: &mut Sheet) {
        let now = machine.now;
        let counters = &self.counters;
        let values = [
            ("hits", counters.hits),
            ("misses", counters.misses),
            ("merges", counters.merges),
            ("evictions", counters.evictions),
            ("recalls", counters.recalls),
            ("writebacks", counters.writebacks),
            ("probes", counters.probes),
            ("probed", counters.probed),
            ("lost", counters.lost),
            ("merged_bytes", counters.merged_bytes),
            ("peer_transfers", counters.peer_transfers),
            ("promotions", counters.promotions),
            ("mshr_full", counters.mshr_full),
            ("mshr_high_water", u64::from(self.high_water)),
        ];
        for (name, value) in values {
            sheet.count(format!("{prefix}.{name}"), value);
        }
        sheet.share(format!("{prefix}.mshr_mean"), self.mshr_ticks, now.saturating_mul(self.nodes));
        sheet.share(format!("{prefix}.hit_rate"), counters.hits, counters.hits + counters.misses);
        let ports = &self.ports;
        sheet.put(format!("{prefix}.port_utilisation"), ports.utilisation());
        let wait = machine.mean_cycles(ports.waited, ports.taken);
        sheet.put(format!("{prefix}.port_queued_mean_cycles"), wait);
    }
}

impl Machine {
    pub(super) fn level_statistics(&self, sheet: &mut Sheet) {
        let mut levels: Vec<(&str, Counted)> = Vec::new();
        for node in &self.nodes {
            let component = self.fixed.components.get(node.id());
            let Some((level, _)) = component.and_then(Component::level) else { continue };
            let counted = self.counted(node);
            match levels.iter_mut().find(|(name, _)| *name == level) {
                Some((_, sum)) => sum.add(&counted),
                None => levels.push((level, counted)),
            }
        }
        for (name, sum) in levels {
            sum.put(&format!("levels.{name}"), self, sheet);
        }
    }

    pub(super) fn node_statistics(&self, sheet: &mut Sheet) {
        for node in &self.nodes {
            self.counted(node).put(self.fixed.components.path(node.id()), self, sheet);
        }
    }

    /// What the ports of a node have done.
    pub(in crate::machine) fn port_counters(&self, node: ComponentId) -> PortCounters {
        let index = self.fixed.node_of.get(node.index()).copied().flatten();
        let port = index.and_then(|index| self.ports.get(index));
        port.map_or_else(PortCounters::default, |port| port.counters(self.now))
    }

    fn counted(&self, node: &Node) -> Counted {
        Counted {
            nodes: 1,
            counters: node.counters,
            high_water: node.high_water(),
            mshr_ticks: node.mshr_ticks(self.now),
            ports: self.port_counters(node.id()),
        }
    }
}
