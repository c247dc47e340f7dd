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
        let (at, hit_time) = (node.id(), node.config.hit_time);
        self.latencies.count_hit(Some(work.task()), kind, range, hit_time);
        self.note_performed(at, kind, range);
        if !out.touches.is_empty() {
            self.dispatch(l1, out);
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use crate::machine::sample::{performing, program};
    use crate::machine::{Machine, StepOutcome};
    use crate::model::access::AccessKind::{Load, Store};
    use crate::model::operation::Operation;
    use crate::model::record::Records;
    use crate::workload::{Operations, Task, TaskKind};

    /// A core stores with a hit; what has a label goes another way than what has none.
    fn machine(has_label: bool) -> Machine {
        let core = program("host.cpu0", Load, &[0x1000]);
        let mut store = program("host.cpu0", Store, &[0x1000]);
        if let TaskKind::Program { operations: Operations::Listed(listed), .. } = &mut store.what
            && let Some(Operation::Access(access)) =
                Arc::get_mut(listed).and_then(|listed| listed.first_mut())
            && has_label
        {
            access.label = Some("stored".into());
        }
        let then = Task { id: "then".into(), after: vec![0], ..store };
        let mut machine = performing("tiny/scalegpu", &["values=false"], vec![core, then]);
        machine.checker = None;
        machine
    }

    #[test]
    fn a_store_that_hits_makes_copies_in_gpu_memory_old_whether_or_not_somebody_listens() {
        for has_label in [false, true] {
            let [mut silent, mut heard] = [machine(has_label), machine(has_label)];
            let mut records = Records::listening();
            silent.run_until(u64::MAX);
            while heard.step(&mut records) == StepOutcome::Ran {}
            assert_eq!(silent.event, heard.event);
            assert_eq!(silent.digest(), heard.digest(), "{has_label}");
        }
    }
}
