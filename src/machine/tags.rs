//! GPU memories that are caches of the host's, and when what they hold has to be the same: before a core goes on that works
//! with what a GPU has made, before a kernel begins for which a core has stored something, and at the end ("coherence is the
//! kernel boundary's": `ScaleGPU` keeps no account of who has what).

use std::collections::BTreeSet;

use super::Machine;
use super::queue::Event;
use super::synchronise::Waiter;
use crate::model::access::AccessKind;
use crate::model::address::{Address, Range};
use crate::model::component::ComponentId;
use crate::model::time::EventNumber;
use crate::protocol::node::Node;
use crate::protocol::outbox::Outbox;
use crate::workload::{Task, TaskKind};

/// The memories that are caches.
#[derive(Clone, Debug, Default, Hash)]
pub struct CachedMemories {
    /// By index among the nodes.
    nodes: Vec<usize>,
    /// Bytes of data that a tag stands for.
    data: u32,
    /// Blocks of that size to which cores have stored since the memories forgot such blocks last.
    stale: BTreeSet<Address>,
    /// Programs of cores that may start, since everything is in the host's memory.
    cleared: Vec<usize>,
    /// What is dirty at the end goes to the host.
    ending: bool,
}

impl CachedMemories {
    /// Those among these nodes, if there are any.
    #[must_use]
    pub fn among(nodes: &[Node]) -> Option<Self> {
        let tagged: Vec<usize> = (0..nodes.len()).filter(|&index| nodes[index].is_tagged()).collect();
        let data = tagged.first().map(|&index| nodes[index].config.block)?;
        Some(Self { nodes: tagged, data, ..Self::default() })
    }
}

impl Machine {
    fn is_of_core(&self, task: usize) -> bool {
        let task = self.tasks.workload.tasks.get(task);
        let is_program = |task: &Task| matches!(task.what, TaskKind::Program { .. });
        task.is_some_and(|task| is_program(task) && !task.what.is_on_gpu())
    }

    /// Whether a program of a core is under way, so that it may look at what GPUs release.
    fn has_core_at_work(&self) -> bool {
        let mut states = self.tasks.states.iter().enumerate();
        states.any(|(task, state)| state.started.is_some() && state.ended.is_none() && self.is_of_core(task))
    }

    /// Whether a release has to reach the host's memory.
    pub(super) fn releases_to_host(&self, who: Waiter) -> bool {
        let asked = matches!(who, Waiter::Start(_) | Waiter::Flush(_) | Waiter::End);
        self.tags.is_some() && (asked || self.has_core_at_work())
    }

    /// The memories that are caches, by index among the nodes.
    pub(super) fn cached_memories(&self) -> Vec<usize> {
        self.tags.as_ref().map(|tags| tags.nodes.clone()).unwrap_or_default()
    }

    /// A store was performed: of what a core has made, the memories of GPUs have an old copy.
    pub(super) fn note_performed(&mut self, node: ComponentId, kind: AccessKind, range: Range) {
        if let Some(tags) = self.tags.as_mut()
            && kind.writes()
            && self.fixed.components.is_host(node)
        {
            tags.stale.extend(range.blocks(tags.data));
        }
    }

    /// A GPU acquires: what a core has stored since the last time must be fetched again. The runtime knows what that is, since
    /// it is what a program copies to the device between launches.
    pub(super) fn forget_stale(&mut self, out: &mut Outbox) {
        let Some(tags) = self.tags.as_mut() else { return };
        let stale = std::mem::take(&mut tags.stale);
        if stale.is_empty() {
            return;
        }
        for node in tags.nodes.clone() {
            if let Some(memory) = self.nodes.get_mut(node) {
                memory.forget(&stale, out);
            }
            self.after_node(node, out);
        }
    }

    /// Whether a task that is to start has to wait until what GPUs have made is in the host's memory.
    pub(super) fn clears_first(&mut self, task: usize, out: &mut Outbox) -> bool {
        let is_of_core = self.is_of_core(task);
        let Some(tags) = self.tags.as_mut().filter(|_| is_of_core) else { return false };
        if let Some(place) = tags.cleared.iter().position(|cleared| *cleared == task) {
            tags.cleared.remove(place);
            return false;
        }
        self.release_gpus(Waiter::Start(task), out);
        true
    }

    /// Everything that GPUs have made is in the host's memory, for whom it was wanted.
    pub(super) fn cleared(&mut self, who: Waiter, begun: EventNumber, out: &mut Outbox) {
        self.note_kernel_closed(begun);
        match who {
            Waiter::Start(task) => {
                if let Some(tags) = self.tags.as_mut() {
                    tags.cleared.push(task);
                }
                self.queue.push(self.now, Event::Task(task as u32));
            }
            Waiter::Flush(task) => self.end_task(task, out),
            Waiter::Warp { .. } | Waiter::Task(_) | Waiter::End => {}
        }
    }

    /// The last task has ended: the host gets what it does not have.
    pub(super) fn bring_home(&mut self, out: &mut Outbox) {
        let Some(tags) = self.tags.as_mut() else { return };
        if !std::mem::replace(&mut tags.ending, true) {
            self.release_gpus(Waiter::End, out);
        }
    }
}
