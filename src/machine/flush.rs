//! Flushes: what GPUs hold goes home, to the memory behind it ("final flush", UMH, section 6.2).

use super::Machine;
use super::queue::Event;
use super::synchronise::Waiter;
use super::tasks::TaskState;
use crate::model::component::{ComponentId, is_beneath};
use crate::protocol::node::{Node, Role, Scope};
use crate::protocol::outbox::Outbox;

impl Machine {
    /// A task that flushes begins.
    pub(super) fn start_flush(&mut self, task: usize, below: &str, out: &mut Outbox) {
        if self.tags.is_some() {
            self.release_gpus(Waiter::Flush(task), out);
            return;
        }
        let fixed = self.fixed.clone();
        let is_home =
            |parent: &ComponentId| self.node(*parent).is_some_and(|parent| parent.config.role == Role::Root);
        let is_meant = |path: &str| below.is_empty() || is_beneath(path, below);
        let is_top = |node: &Node| {
            let components = &fixed.components;
            !components.is_host(node.id())
                && is_meant(components.path(node.id()))
                && node.config.parents.iter().any(is_home)
        };
        let nodes: Vec<usize> = (0..self.nodes.len()).filter(|&index| is_top(&self.nodes[index])).collect();
        self.tasks.flush(task, nodes.clone());
        if nodes.is_empty() {
            self.end_task(task, out);
        }
        for node in nodes {
            if let Some(target) = self.nodes.get_mut(node) {
                target.flush(Scope::All, out);
            }
            self.after_node(node, out);
        }
    }

    /// A node has nothing left of what it had when it was flushed.
    pub(super) fn node_flushed(&mut self, node: usize, out: &mut Outbox) {
        for task in self.tasks.flushed(node) {
            match self.tasks.states.get(task) {
                Some(TaskState { started: None, .. }) => self.queue.push(self.now, Event::Task(task as u32)),
                Some(TaskState { ended: None, .. }) => self.end_task(task, out),
                _ => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::machine::StepOutcome;
    use crate::machine::sample::{performing, program};
    use crate::model::access::AccessKind::{Load, NStore};
    use crate::model::address::Address;
    use crate::model::bits::Bits;
    use crate::model::inspect::Inspect;
    use crate::model::record::{Records, What};
    use crate::workload::{Task, TaskKind};

    #[test]
    fn nothing_dirty_is_left_in_any_system() {
        let machines =
            ["umh-2gpu", "zerocopy-2gpu", "numa-2socket", "selective-coherent", "selective", "scalegpu"];
        for name in machines {
            let store = program("gpu0.cu0", NStore, &[0x1000, 0x2000]);
            let what = TaskKind::Flush { below: String::new() };
            let flush = Task { id: "flush".into(), after: vec![0], delay: 0, launch: None, what };
            let mut machine = performing(&format!("tiny/{name}"), &[], vec![store, flush]);
            machine.run_until(u64::MAX);
            assert!(machine.is_finished(), "{name}");
            for (node, component) in machine.components().iter() {
                let is_dirty = |address| {
                    let view = machine.block(node, address).filter(|view| view.state.is_some());
                    view.and_then(|view| view.dirty).is_some_and(|dirty| Bits::any(&dirty))
                };
                assert!(
                    ![0x1000, 0x2000].map(Address).into_iter().any(is_dirty),
                    "{name}: {}",
                    component.path
                );
            }
        }
    }

    #[test]
    fn what_is_flushed_is_what_the_host_reads_though_it_had_a_copy() {
        for name in ["umh-1gpu", "umh-2gpu", "zerocopy-1gpu", "scalegpu"] {
            let warm = program("host.cpu0", Load, &[0x1000]);
            let store = Task { after: vec![0], ..program("gpu0.cu0", NStore, &[0x1000]) };
            let what = TaskKind::Flush { below: String::new() };
            let flush = Task { id: "flush".into(), after: vec![1], delay: 0, launch: None, what };
            let look = Task { after: vec![2], ..program("host.cpu0", Load, &[0x1000]) };
            let work = vec![warm, store, flush, look];
            let mut machine = performing(&format!("tiny/{name}"), &[], work);
            let (mut records, mut loads) = (Records::listening(), Vec::new());
            while machine.step(&mut records) == StepOutcome::Ran {
                loads.extend(records.list.drain(..).filter_map(|record| match record.what {
                    What::Complete { kind: Load, bytes, .. } => Some(bytes),
                    _ => None,
                }));
            }
            assert!(machine.is_finished() && loads.len() == 2, "{name}");
            assert_ne!(loads[0], loads[1], "{name}: the GPU's store is seen");
        }
    }

    #[test]
    fn what_is_not_beneath_the_place_stays() {
        let changes = &["gpu.memory.size=64 KiB", "gpu.l2.slices=11", "gpu.l2.interleave=4 KiB"];
        let left = |below: &str| {
            let store = program("gpu0.cu0", NStore, &[0x1000, 0xa000]);
            let flush = Task {
                id: "flush".into(),
                after: vec![0],
                delay: 0,
                launch: None,
                what: TaskKind::Flush { below: below.into() },
            };
            let mut machine = performing("tiny/umh-1gpu", changes, vec![store, flush]);
            machine.run_until(u64::MAX);
            let held = |node: &str, address| {
                let node = machine.components().find(node).unwrap();
                machine.block(node, Address(address)).is_some()
            };
            (held("gpu0.smd1", 0x1000), held("gpu0.smd10", 0xa000))
        };
        assert_eq!(left("gpu0.smd1"), (false, true));
        assert_eq!(left("gpu0.smd10"), (true, false));
        assert_eq!(left("gpu0"), (false, false));
    }
}
