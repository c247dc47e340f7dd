//! Warps that spin on what nobody is left to store.

use super::Machine;
use super::tasks::operation;
use crate::model::component::ComponentId;
use crate::model::inspect::Inspect;
use crate::model::operation::Operation;
use crate::model::time::{EventNumber, Tick};
use crate::protocol::node::Node;

impl Machine {
    /// Goes on beyond the last cycle of the run, to see what would become of it.
    pub fn lift_limit(&mut self) {
        self.last_tick = Tick::MAX;
    }

    /// Who else has what a warp spins on: it was stored, and a cache that nobody tells of it reads an old copy for ever.
    #[must_use]
    pub fn has_what_spins(&self, unit: ComponentId, slot: u32) -> Option<ComponentId> {
        let agent = self.agent_at(unit)?;
        let warp = agent.warps.get(slot as usize)?;
        let operation = operation(&self.tasks.workload, warp.work?, warp.current?)?;
        let Operation::SpinUntil(access, until) = operation.as_ref() else { return None };
        let (at, own) = (access.lanes.single()?, self.nodes.get(agent.l1)?.id());
        let mut others = self.nodes.iter().map(Node::id).filter(|id| *id != own);
        let has = |id: &ComponentId| {
            self.value(*id, at, until.len() as u32).is_some_and(|value| value == until[..])
        };
        others.find(has)
    }

    /// The warps that spin, by slot and since when, if they are all that is left of the work: no other warp has any, no
    /// task can begin, and nothing comes from outside.
    #[must_use]
    pub fn lone_spinners(&self) -> Vec<(ComponentId, u32, Tick)> {
        let tasks = || self.tasks.states.iter();
        let may_begin = tasks().any(|task| task.waits_for == 0 && task.started.is_none());
        let flushes = tasks().any(|task| !task.flushing.is_empty());
        if may_begin || flushes || self.plan.due < EventNumber::MAX {
            return Vec::new();
        }
        let mut spinners = Vec::new();
        for agent in &self.agents {
            let slots = (0..).zip(&agent.warps);
            let spinning = slots.filter_map(|(slot, warp)| Some((agent.config.id, slot, warp.spins_since?)));
            spinners.extend(spinning);
        }
        let left: u64 = tasks().filter(|task| task.started.is_some()).map(|task| task.left).sum();
        if left == spinners.len() as u64 { spinners } else { Vec::new() }
    }
}
