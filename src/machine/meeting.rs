//! What one kernel has stored, the next one sees: where stores are non-coherent, what they changed comes to where all compute units
//! look before another kernel begins ("flush the modified contents of the GPU memory hierarchy", UMH, section 4.2). The compute
//! units of one GPU meet in its L2, those of several in the memory behind all of them: the host's, or that of the GPU in whose
//! memory a page lives. Nothing goes further, and what nobody has stored to stays where it is.

use rustc_hash::FxHashMap;

use super::Machine;
use crate::model::component::ComponentId;
use crate::model::fault::Fault;
use crate::model::wait::WaitLink;
use crate::protocol::node::{NodeConfig, Role, Scope};
use crate::protocol::outbox::Outbox;
use crate::workload::{Task, TaskKind, Workload};

/// The nodes that flush before a launch, by index: level by level, the L1s first, and then those where compute units meet.
#[derive(Clone, Debug, Default)]
pub struct Meeting {
    levels: Vec<Vec<usize>>,
    meets: Vec<usize>,
}

impl Meeting {
    /// That of nodes by their configurations, `leaves` of which are the L1s of GPUs. Where caches above those where compute units meet keep
    /// no stores from others, nothing is to be flushed.
    #[must_use]
    pub fn of(nodes: &[&NodeConfig], leaves: &[usize]) -> Self {
        let indices: FxHashMap<ComponentId, usize> = nodes.iter().map(|node| node.id).zip(0..).collect();
        let known =
            |node: &&NodeConfig| node.parents.iter().filter_map(|id| indices.get(id).copied()).collect();
        let parents: Vec<Vec<usize>> = nodes.iter().map(known).collect();
        // Of each node, how many of the L1s are above it, and how far.
        let mut above = vec![(0, 0); nodes.len()];
        for &leaf in leaves {
            let mut level = vec![leaf];
            for height in 0.. {
                if level.is_empty() {
                    break;
                }
                for &node in &level {
                    above[node] = (above[node].0 + 1, height);
                }
                let mut next: Vec<usize> = level.iter().flat_map(|&node| &parents[node]).copied().collect();
                next.sort_unstable();
                next.dedup();
                level = next;
            }
        }
        let mut meeting = Self::default();
        for (node, (count, height)) in above.into_iter().enumerate() {
            if count == leaves.len() || count > 0 && nodes[node].role == Role::Root {
                meeting.meets.push(node);
            } else if count > 0 {
                meeting.levels.resize(meeting.levels.len().max(height + 1), Vec::new());
                meeting.levels[height].push(node);
            }
        }
        meeting.levels.retain(|level| !level.is_empty());
        let keeps = |&node: &usize| nodes[node].table.keeps_stores(nodes[node].role != Role::Leaf);
        if meeting.levels.iter().flatten().any(keeps) { meeting } else { Self::default() }
    }

    /// Whether a node takes part.
    #[must_use]
    pub fn has(&self, node: usize) -> bool {
        self.levels.iter().chain([&self.meets]).any(|level| level.contains(&node))
    }

    /// What flushes in a step, and how.
    fn step(&self, number: usize) -> Option<(&[usize], Scope)> {
        match self.levels.get(number) {
            Some(level) => Some((level, Scope::Stored)),
            None if number == self.levels.len() => Some((&self.meets, Scope::Unseen)),
            None => None,
        }
    }
}

/// Whether kernels come after others.
#[must_use]
pub fn has_several_launches(workload: &Workload) -> bool {
    workload.tasks.iter().filter(|task| matches!(task.what, TaskKind::Kernel(_))).count() > 1
}

impl Machine {
    /// Whether a kernel that is to start has to wait until what others have stored before it has come to where it looks.
    pub(super) fn meets_first(&mut self, task: usize, out: &mut Outbox) -> bool {
        let is_kernel = |task: &Task| matches!(task.what, TaskKind::Kernel(_));
        let is_later = !self.tasks.launches.is_empty();
        let meeting = self.meeting.clone();
        if meeting.meets.is_empty()
            || !is_later
            || !self.tasks.workload.tasks.get(task).is_some_and(is_kernel)
        {
            return false;
        }
        let now = self.now;
        let Some(state) = self.tasks.states.get_mut(task) else { return false };
        let is_first = state.flushed == 0;
        let steps = if self.fixed.faults.contains(&Fault::NoLaunchFlush) { 0 } else { usize::MAX };
        let step = meeting.step(state.flushed).filter(|_| state.flushed < steps);
        if step.is_some() {
            state.flushes_since.get_or_insert(now);
        }
        if is_first {
            self.begin_meeting();
        }
        let Some((nodes, scope)) = step else {
            self.end_meeting();
            return false;
        };
        let Some(state) = self.tasks.states.get_mut(task) else { return false };
        state.flushed += 1;
        self.tasks.flush(task, nodes.to_vec());
        for &node in nodes {
            if let Some(target) = self.nodes.get_mut(node) {
                target.flush(scope, out);
            }
            self.after_node(node, out);
        }
        true
    }

    /// What a compute unit waits for that has no work before a kernel begins.
    pub(super) fn why_meeting(&self, component: ComponentId) -> Option<Vec<WaitLink>> {
        let agent = self.agent_at(component)?;
        if agent.warps.iter().any(|warp| warp.work.is_some()) {
            return None;
        }
        let mut tasks = self.tasks.workload.tasks.iter().zip(&self.tasks.states);
        let (task, state) = tasks.find(|(task, state)| {
            state.started.is_none() && !state.flushing.is_empty() && self.is_done_by(&task.what, component)
        })?;
        let text = format!("has nothing to do before {} begins, which sees what was stored before", task.id);
        let first = WaitLink { at: component, text, since: state.flushes_since };
        let flushes = state.flushing.iter().filter_map(|&node| {
            let at = self.nodes.get(node)?.id();
            let is_met = self.meeting.meets.contains(&node);
            let text = if is_met { "takes older copies back" } else { "writes that back" }.to_owned();
            Some(WaitLink { at, text, since: None })
        });
        Some(std::iter::once(first).chain(flushes).collect())
    }
}

#[cfg(test)]
mod tests {
    use crate::machine::Machine;
    use crate::machine::sample::faulty;
    use crate::model::fault::Fault;
    use crate::workload::Task;
    use crate::workload::kernels::{self, Parameters, Value};

    /// A machine after the launches of a kernel, each of which uses what GPUs have stored in those before.
    fn launched(machine: &str, kernel: &str, parameters: &[(&str, i64)], faults: &[Fault]) -> Machine {
        launched_with(machine, &[], (kernel, parameters), faults)
    }

    fn launched_with(
        machine: &str,
        changes: &[&str],
        (kernel, parameters): (&str, &[(&str, i64)]),
        faults: &[Fault],
    ) -> Machine {
        let small = [("workgroup", 4), ("wavefront", 4), ("launch", 10)];
        let parameters: Vec<_> =
            parameters.iter().chain(&small).map(|(name, value)| (*name, Value::Integer(*value))).collect();
        let steps = kernels::build(kernel, &Parameters::of(&parameters)).unwrap();
        let task = |(index, what): (usize, _)| Task {
            id: format!("step-{index}").into(),
            after: index.checked_sub(1).into_iter().collect(),
            delay: 0,
            launch: None,
            what,
        };
        let tasks = steps.into_iter().enumerate().map(task).collect();
        let mut machine = faulty(&format!("tiny/{machine}"), changes, tasks, faults.to_vec());
        machine.run_until(u64::MAX);
        machine
    }

    const WORK: [(&str, &[(&str, i64)]); 2] =
        [("floyd-warshall", &[("nodes", 8), ("shorter", 50)]), ("fast-walsh-transform", &[("size", 64)])];

    #[test]
    fn a_kernel_sees_what_those_before_have_stored() {
        for machine in ["umh-1gpu", "umh-2gpu", "umh-4gpu", "zerocopy-1gpu", "zerocopy-2gpu", "memcpy-2gpu"] {
            for (kernel, parameters) in WORK {
                let ran = launched(machine, kernel, parameters, &[]);
                assert!(ran.is_finished(), "{machine}, {kernel}");
                assert!(ran.violations().is_empty(), "{machine}, {kernel}: {:?}", ran.violations());
            }
        }
    }

    #[test]
    fn where_l1s_write_through_l2s_flush_nevertheless() {
        for machine in ["umh-2gpu", "umh-4gpu"] {
            for (kernel, parameters) in WORK {
                let ran = launched_with(machine, &["gpu.l1.protocol=vi"], (kernel, parameters), &[]);
                assert!(ran.is_finished(), "{machine}, {kernel}");
                assert!(ran.violations().is_empty(), "{machine}, {kernel}: {:?}", ran.violations());
            }
        }
    }

    #[test]
    fn a_memory_that_all_look_into_keeps_what_is_stored_there() {
        for (kernel, parameters) in WORK {
            let ran = launched("scalegpu", kernel, parameters, &[]);
            assert!(ran.is_finished() && ran.violations().is_empty(), "{kernel}: {:?}", ran.violations());
            assert!(ran.meeting.meets.is_empty(), "{kernel}");
        }
    }

    #[test]
    fn without_the_flush_between_them_it_goes_on_with_stale_copies() {
        for machine in ["umh-2gpu", "zerocopy-2gpu", "memcpy-2gpu"] {
            let is_stale = |(kernel, parameters): (&str, &[(&str, i64)])| {
                let ran = launched(machine, kernel, parameters, &[Fault::NoLaunchFlush]);
                ran.violations().iter().any(|violation| violation.rule == "stale-read")
            };
            assert!(WORK.into_iter().any(is_stale), "{machine}");
        }
    }
}
