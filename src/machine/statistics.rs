//! Statistics: what the parts have counted, as flat dotted keys in a fixed order.

use super::Machine;
use crate::model::inspect::WarpState;
use crate::model::message::{MessageKind, Network};
use crate::model::record::RowAccess;
use crate::protocol::node::Node;

impl Machine {
    /// All statistics. Times are in quoted cycles, amounts in bytes.
    pub(super) fn all_statistics(&self) -> Vec<(String, f64)> {
        let mut all = Vec::new();
        let mut put = |key: String, value: f64| all.push((key, value));
        put("cycles".to_owned(), self.fixed.time.cycle(self.now) as f64);
        put("events".to_owned(), self.event as f64);
        put("accesses".to_owned(), self.accesses() as f64);
        put("violations".to_owned(), self.violations.len() as f64);
        for (kind, (count, bytes)) in MessageKind::ALL.into_iter().zip(self.sent) {
            put(format!("messages.{}.count", kind.name()), count as f64);
            put(format!("messages.{}.bytes", kind.name()), bytes as f64);
        }
        self.nodes.iter().for_each(|node| self.node_statistics(node, &mut put));
        self.link_statistics(&mut put);
        self.dram_statistics(&mut put);
        self.agent_statistics(&mut put);
        for task in self.tasks() {
            if let (Some(started), Some(ended)) = (task.started, task.ended) {
                let cycles = self.fixed.time.cycle(ended.saturating_sub(started));
                put(format!("tasks.{}.cycles", task.id), cycles as f64);
            }
        }
        all
    }

    fn node_statistics(&self, node: &Node, put: &mut impl FnMut(String, f64)) {
        let path = self.fixed.components.path(node.id());
        let counters = node.counters;
        let looked_up = counters.hits + counters.misses;
        let values = [
            ("hits", counters.hits),
            ("misses", counters.misses),
            ("merges", counters.merges),
            ("evictions", counters.evictions),
            ("recalls", counters.recalls),
            ("writebacks", counters.writebacks),
            ("probes", counters.probes),
            ("merged_bytes", counters.merged_bytes),
            ("peer_transfers", counters.peer_transfers),
            ("promotions", counters.promotions),
            ("mshr_full", counters.mshr_full),
            ("mshr_high_water", u64::from(node.high_water())),
        ];
        for (name, value) in values {
            put(format!("{path}.{name}"), value as f64);
        }
        let rate = if looked_up == 0 { f64::NAN } else { counters.hits as f64 / looked_up as f64 };
        put(format!("{path}.hit_rate"), rate);
    }

    fn link_statistics(&self, put: &mut impl FnMut(String, f64)) {
        for (link, shown) in self.links.iter().zip(&self.fixed.visible_links) {
            let Some((id, _, _)) = shown else { continue };
            let path = self.fixed.components.path(*id);
            put(format!("{path}.bytes"), link.bytes as f64);
            put(format!("{path}.messages"), link.messages as f64);
            let share = if self.now == 0 { 0.0 } else { link.busy.min(self.now) as f64 / self.now as f64 };
            put(format!("{path}.utilisation"), share);
        }
        let (data, coherence) = self.crossing_bytes();
        put("network.data_bytes".to_owned(), data as f64);
        put("network.coherence_bytes".to_owned(), coherence as f64);
        put(
            "network.coherence_share".to_owned(),
            if data == 0 { 0.0 } else { coherence as f64 / data as f64 },
        );
    }

    /// Bytes sent by kind: those with data, and probes, empty answers and acknowledgements. Requests belong to
    /// neither (UMH, section 6.1.4 compares coherency information with the data transferred).
    fn crossing_bytes(&self) -> (u64, u64) {
        let header = u64::from(self.fixed.spec.network.header);
        let mut sums = (0, 0);
        for (kind, (count, bytes)) in MessageKind::ALL.into_iter().zip(self.sent) {
            sums.0 += bytes.saturating_sub(count * header);
            if kind.network() == Network::Probe || matches!(kind, MessageKind::Answer | MessageKind::GrantAck)
            {
                sums.1 += count * header;
            }
        }
        sums
    }

    fn dram_statistics(&self, put: &mut impl FnMut(String, f64)) {
        for (node, dram) in self.nodes.iter().zip(&self.fixed.dram_of) {
            let Some(dram) = dram.and_then(|(index, _)| self.drams.get(index)) else { continue };
            let path = self.fixed.components.path(node.id());
            let counters = dram.counters();
            for (access, count) in RowAccess::ALL.into_iter().zip(counters.rows) {
                let name = match access {
                    RowAccess::Hit => "row_hits",
                    RowAccess::Miss => "row_misses",
                    RowAccess::Conflict => "row_conflicts",
                    RowAccess::Reopen => "directory_accesses",
                };
                put(format!("{path}.dram.{name}"), count as f64);
            }
            put(format!("{path}.dram.reads"), counters.reads as f64);
            put(format!("{path}.dram.writes"), counters.writes as f64);
            put(format!("{path}.dram.bytes"), counters.bytes as f64);
            put(format!("{path}.dram.queue_high_water"), f64::from(counters.queue_high_water));
            put(format!("{path}.dram.busy_cycles"), self.fixed.time.cycle(counters.busy) as f64);
        }
    }

    fn agent_statistics(&self, put: &mut impl FnMut(String, f64)) {
        for agent in &self.agents {
            let path = self.fixed.components.path(agent.config.id);
            put(format!("{path}.accesses"), agent.accesses as f64);
            for (state, time) in WarpState::ALL.into_iter().zip(agent.time_in) {
                if matches!(state, WarpState::None | WarpState::Done) {
                    continue;
                }
                put(format!("{path}.warp_cycles.{}", state.name()), self.fixed.time.cycle(time) as f64);
            }
        }
    }
}
