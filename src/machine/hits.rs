//! Hits in an L1 of which nobody has to be told: most of what a machine does, so that they go a way of their own.

use super::Machine;
use super::tasks::listed;
use crate::protocol::outbox::Outbox;

impl Machine {
    /// Lets an agent perform its next instruction, if that is written down and a single access that hits, and nothing else
    /// follows from it. `false`, and nothing is done, otherwise.
    pub(super) fn hit_unwatched(&mut self, agent: usize, l1: usize, out: &mut Outbox) -> bool {
        let is_watched = out.records.on || self.checker.is_some();
        if is_watched || self.paging.is_some() || self.copies.is_some() {
            return false;
        }
        let workload = &self.tasks.workload;
        let (Some(unit), Some(node)) = (self.agents.get_mut(agent), self.nodes.get_mut(l1)) else {
            return false;
        };
        let Some((work, kind, range)) = unit.hit_next(node, |work, index| listed(workload, work, index), out)
        else {
            return false;
        };
        self.txns_made += 1;
        self.latencies.count_hit(Some(work.task()), kind, range, node.config.hit_time);
        if !out.touches.is_empty() {
            self.dispatch(l1, out);
        }
        true
    }
}
