//! Warps that spin on what nobody is left to store.

use super::Machine;
use crate::model::component::ComponentId;
use crate::model::time::{EventNumber, Tick};

impl Machine {
    /// Goes on beyond the last cycle of the run, to see what would become of it.
    pub fn lift_limit(&mut self) {
        self.last_tick = Tick::MAX;
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
