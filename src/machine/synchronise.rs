//! Software coherence: fences and the boundaries of kernels, in all caches that they concern.
//!
//! A fence reaches the L1 of its warp and what stands below it, up to the memory; a kernel begins with an acquire, and ends
//! with a release, in the caches of all GPUs ("extended into the GPU L2 caches", "Beyond the Socket: NUMA-Aware GPUs",
//! section 5.2).

use super::Machine;
use crate::model::component::ComponentId;
use crate::model::operation::Fence;
use crate::model::time::EventNumber;
use crate::model::wait::WaitLink;
use crate::protocol::outbox::Outbox;

/// Who waits for releases.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Waiter {
    /// A warp of an agent, at a fence.
    Warp { agent: usize, slot: usize },
    /// The end of a kernel.
    Task(usize),
    /// The start of a program of a core.
    Start(usize),
    /// A task that wants everything in the host's memory.
    Flush(usize),
    /// The end of all work.
    End,
}

/// Releases that have to end.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Awaited {
    who: Waiter,
    /// Nodes, each with the number of its release.
    left: Vec<(usize, u64)>,
    begun: EventNumber,
    /// It has come to the memories that are caches of the host's.
    is_deep: bool,
}

/// The caches that synchronisation concerns, by index among the nodes.
#[derive(Clone, Debug, Default)]
pub struct Reach {
    /// Per agent, those below its L1.
    pub below: Vec<Vec<usize>>,
    /// Those of GPUs, L1s included.
    pub gpus: Vec<usize>,
    /// Those of the host.
    pub host: Vec<usize>,
}

impl Machine {
    /// A warp stands at a fence, and its L1 has done its part.
    pub(super) fn fence(&mut self, agent: usize, slot: usize, fence: Fence, out: &mut Outbox) {
        let fixed = self.fixed.clone();
        let below = fixed.reach.below.get(agent).map_or(&[][..], Vec::as_slice);
        if fence != Fence::Release {
            self.acquire_all(below, out);
            self.forget_stale(out);
            self.note_acquired(agent);
        }
        if below.is_empty() {
            return;
        }
        let who = Waiter::Warp { agent, slot };
        if fence == Fence::Acquire {
            self.pass_fence(agent, slot, out);
        } else {
            self.release_all(below, who, out);
        }
    }

    /// A kernel begins: nothing that its caches had from before is seen any more.
    pub(super) fn open_kernel(&mut self, out: &mut Outbox) {
        let fixed = self.fixed.clone();
        self.acquire_all(&fixed.reach.gpus, out);
        self.forget_stale(out);
        self.note_kernel_opened();
    }

    /// Everything that was stored in the caches of GPUs goes to the memories.
    pub(super) fn release_gpus(&mut self, who: Waiter, out: &mut Outbox) {
        let fixed = self.fixed.clone();
        self.release_all(&fixed.reach.gpus, who, out);
    }

    /// All warps of a kernel have ended: it ends when what they stored is in the memories.
    pub(super) fn close_kernel(&mut self, task: usize, out: &mut Outbox) {
        self.release_gpus(Waiter::Task(task), out);
    }

    fn acquire_all(&mut self, nodes: &[usize], out: &mut Outbox) {
        for &node in nodes {
            if let Some(target) = self.nodes.get_mut(node) {
                target.acquire(out);
            }
            self.after_node(node, out);
        }
    }

    fn release_all(&mut self, nodes: &[usize], who: Waiter, out: &mut Outbox) {
        let left = self.release_each(nodes, out);
        self.wait_for_releases(Awaited { who, left, begun: self.event, is_deep: false }, out);
    }

    fn wait_for_releases(&mut self, awaited: Awaited, out: &mut Outbox) {
        if awaited.left.is_empty() {
            self.released(&awaited, out);
        } else {
            self.awaited.push(awaited);
        }
    }

    /// Starts a release of each of these nodes; those that have not ended at once, with their numbers.
    fn release_each(&mut self, nodes: &[usize], out: &mut Outbox) -> Vec<(usize, u64)> {
        let mut left = Vec::new();
        for &node in nodes {
            let Some(target) = self.nodes.get_mut(node).filter(|node| node.is_released()) else { continue };
            let number = target.release(out);
            if target.releases() < number {
                left.push((node, number));
            }
            self.after_node(node, out);
        }
        left
    }

    /// A release of a node has ended.
    pub(super) fn node_released(&mut self, node: usize, out: &mut Outbox) {
        let done = self.nodes.get(node).map_or(0, crate::protocol::node::Node::releases);
        let mut ended = Vec::new();
        self.awaited.retain_mut(|awaited| {
            awaited.left.retain(|(other, number)| *other != node || *number > done);
            if awaited.left.is_empty() {
                ended.push(awaited.clone());
            }
            !awaited.left.is_empty()
        });
        for awaited in ended {
            self.released(&awaited, out);
        }
    }

    /// All that somebody waited for is in the memories; those that are caches have to pass it on, if it concerns the host.
    fn released(&mut self, awaited: &Awaited, out: &mut Outbox) {
        let Awaited { who, begun, is_deep, .. } = *awaited;
        if !is_deep && self.releases_to_host(who) {
            let left = self.release_each(&self.cached_memories(), out);
            self.wait_for_releases(Awaited { who, left, begun, is_deep: true }, out);
            return;
        }
        match who {
            Waiter::Start(_) | Waiter::Flush(_) | Waiter::End => self.cleared(who, begun, out),
            Waiter::Warp { agent, slot } => {
                self.note_released(agent, begun);
                self.pass_fence(agent, slot, out);
            }
            Waiter::Task(task) => {
                let fixed = self.fixed.clone();
                self.acquire_all(&fixed.reach.host, out);
                self.note_kernel_closed(begun);
                self.end_task(task, out);
            }
        }
    }

    fn pass_fence(&mut self, agent: usize, slot: usize, out: &mut Outbox) {
        if let Some(unit) = self.agents.get_mut(agent) {
            unit.pass_fence(slot, out);
        }
        self.wake(agent);
    }

    /// The nodes that somebody waits for, such as a warp at a fence.
    pub(super) fn awaited_by(&self, who: Waiter) -> Vec<usize> {
        let found = self.awaited.iter().find(|awaited| awaited.who == who);
        found.map(|awaited| awaited.left.iter().map(|(node, _)| *node).collect()).unwrap_or_default()
    }

    /// What a core waits for that has no work before what GPUs have made is in the host's memory.
    pub(super) fn why_start(&self, component: ComponentId) -> Option<Vec<WaitLink>> {
        let tasks = self.tasks.workload.tasks.iter().enumerate();
        let (task, nodes) = tasks
            .filter(|(_, task)| self.is_done_by(&task.what, component))
            .map(|(number, task)| (task, self.awaited_by(Waiter::Start(number))))
            .find(|(_, nodes)| !nodes.is_empty())?;
        let text = format!("has nothing to do before {} begins, which sees what GPUs have stored", task.id);
        let first = WaitLink { at: component, text, since: None };
        let writes = nodes.iter().filter_map(|&node| {
            let at = self.nodes.get(node)?.id();
            Some(WaitLink { at, text: "writes that back".to_owned(), since: None })
        });
        Some(std::iter::once(first).chain(writes).collect())
    }
}
