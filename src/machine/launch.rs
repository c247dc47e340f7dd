//! Tasks begin and end; the blocks of kernels are dealt over compute units.

use std::sync::Arc;

use super::Machine;
use super::queue::Event;
use super::step::Handled;
use crate::model::access::Bytes;
use crate::model::record::What;
use crate::model::time::Tick;
use crate::parts::agent::Work;
use crate::policy::cta::Schedule;
use crate::protocol::outbox::{About, Outbox};
use crate::workload::TaskKind;

impl Machine {
    pub(super) fn work_ended(&mut self, agent: usize, work: Work, bytes: Bytes, out: &mut Outbox) {
        let task = work.task();
        let Some(state) = self.tasks.states.get_mut(task) else { return };
        state.left = state.left.saturating_sub(1);
        if !bytes.is_empty() {
            state.result = Some(bytes);
        }
        let done = state.left == 0;
        if self.tasks.frees_room(work) {
            self.deal_to(agent, out);
        }
        if done && matches!(work, Work::Block { .. }) {
            self.close_kernel(task, out);
        } else if done {
            self.end_task(task, out);
        }
    }

    pub(super) fn start_task(&mut self, task: usize, out: &mut Outbox) -> Handled {
        let workload = self.tasks.workload.clone();
        let Some(work) = workload.tasks.get(task) else { return Handled::No };
        let waits = self.copies_first(task, out)
            || self.copied_first(task, out)
            || self.clears_first(task, out)
            || self.meets_first(task, out);
        if waits {
            return Handled::Yes;
        }
        self.mark_pages(task, out);
        if let Some(state) = self.tasks.states.get_mut(task) {
            state.started = Some(self.now);
        }
        match &work.what {
            TaskKind::Program { agent, warp, operations } => {
                if let Some(state) = self.tasks.states.get_mut(task) {
                    state.left = 1;
                }
                let index = self.fixed.components.find(agent).and_then(|id| self.fixed.agent_of[id.index()]);
                if let (Some(index), Some(_)) = (index, operations.at(0)) {
                    if let Some(agent) = self.agents.get_mut(index) {
                        let slot = warp.map(|warp| warp as usize);
                        agent.assign(Work::Program { task }, slot, self.now, out);
                    }
                    self.wake(index);
                } else {
                    self.end_task(task, out);
                }
            }
            TaskKind::Kernel(kernel) => {
                self.tasks.launches.push(self.event);
                let (name, launch) = (Arc::from(kernel.name()), self.tasks.launch_of(task));
                let at = self.host_component();
                out.record(at, About::default(), || What::Kernel { name, launch, ended: false });
                self.lanes_at_launch(out);
                let warps = kernel.blocks().saturating_mul(u64::from(kernel.warps_per_block()));
                if let Some(state) = self.tasks.states.get_mut(task) {
                    state.left = warps;
                    state.next_block = vec![0; self.fixed.gpu_agents.len()];
                }
                self.open_kernel(out);
                self.halve_ways(out);
                if warps == 0 {
                    self.end_task(task, out);
                } else {
                    self.tasks.kernels.push(task);
                    self.deal(task, out);
                }
            }
            TaskKind::Flush { below } => self.start_flush(task, below, out),
        }
        Handled::Yes
    }

    /// Deals blocks to every compute unit that has room, one block each in turn.
    fn deal(&mut self, task: usize, out: &mut Outbox) {
        let fixed = self.fixed.clone();
        let schedule = fixed.spec.gpu.as_ref().map_or(Schedule::Modulo, |gpu| gpu.ctas);
        let mut agents: Vec<(usize, usize)> =
            fixed.gpu_agents.iter().flat_map(|agents| agents.iter().copied().enumerate()).collect();
        if !schedule.has_shares() {
            // The next block goes to the next GPU.
            agents.sort_by_key(|(place, _)| *place);
        }
        loop {
            let mut dealt = false;
            for &(_, agent) in &agents {
                dealt |= self.deal_one(task, agent, out);
            }
            if !dealt {
                return;
            }
        }
    }

    /// A block or program of a compute unit has ended: as many blocks as fit now, first of the kernel that was launched first.
    fn deal_to(&mut self, agent: usize, out: &mut Outbox) {
        if self.tasks.kernels.is_empty() {
            return;
        }
        let mut place = 0;
        while let Some(&task) = self.tasks.kernels.get(place) {
            while self.deal_one(task, agent, out) {}
            place += 1;
        }
        self.wake(agent);
    }

    fn deal_one(&mut self, task: usize, agent: usize, out: &mut Outbox) -> bool {
        let workload = self.tasks.workload.clone();
        let Some(TaskKind::Kernel(kernel)) = workload.tasks.get(task).map(|task| &task.what) else {
            return false;
        };
        let Some(gpu) = self.fixed.gpu_agents.iter().position(|agents| agents.contains(&agent)) else {
            return false;
        };
        let warps = kernel.warps_per_block();
        let schedule = self.fixed.spec.gpu.as_ref().map_or(Schedule::Modulo, |gpu| gpu.ctas);
        let share = if schedule.has_shares() { gpu } else { 0 };
        let Some(next) = self.tasks.states.get_mut(task).and_then(|state| state.next_block.get_mut(share))
        else {
            return false;
        };
        let (share, shares) = match kernel.only_on() {
            Some(only) if only as usize == gpu => (0, 1),
            Some(_) => return false,
            None => (gpu as u64, self.fixed.gpu_agents.len() as u64),
        };
        let Some(block) = schedule.block(share, shares, *next, kernel.blocks()) else { return false };
        let Some(unit) = self.agents.get_mut(agent) else { return false };
        if unit.free_slots() < warps as usize {
            return false;
        }
        *next += 1;
        self.tasks.blocks.insert((task, block), warps);
        for warp in 0..warps {
            unit.assign(Work::Block { task, block, warp }, None, self.now, out);
        }
        self.wake(agent);
        true
    }

    pub(super) fn end_task(&mut self, task: usize, out: &mut Outbox) {
        let workload = self.tasks.workload.clone();
        if let Some(TaskKind::Kernel(kernel)) = workload.tasks.get(task).map(|task| &task.what) {
            let (name, launch) = (Arc::from(kernel.name()), self.tasks.launch_of(task));
            let at = self.host_component();
            out.record(at, About::default(), || What::Kernel { name, launch, ended: true });
        }
        for ready in self.tasks.end(task, self.now) {
            self.plan_task(ready);
        }
        if self.paging.is_some() && self.tasks.all_ended() {
            self.tell_unused(out);
            self.copy_back(out);
        }
        if self.tags.is_some() && self.tasks.all_ended() {
            self.bring_home(out);
        }
        self.copies_after(out);
    }

    /// Puts the start of a task into the queue: after its delay and its launch overhead.
    pub(super) fn plan_task(&mut self, task: usize) {
        let Some(work) = self.tasks.workload.tasks.get(task) else { return };
        let cycles = work.delay.saturating_add(work.launch_overhead().unwrap_or(0));
        // Far from the end of time, so that what follows the start cannot run past it.
        let at = self.now.saturating_add(self.fixed.time.tick_of_cycle(cycles)).min(Tick::MAX / 4);
        self.queue.push(at, Event::Task(task as u32));
    }
}

#[cfg(test)]
mod tests {
    use crate::machine::StepOutcome;
    use crate::machine::sample::{performing, program};
    use crate::model::access::AccessKind::Load;
    use crate::model::record::{Records, What};

    /// The warps in the order in which they issue, of two with three loads each that need not wait.
    fn issued(scheduler: &str) -> Vec<u32> {
        let mut work = vec![
            program("gpu0.cu0", Load, &[0x0, 0x40, 0x80]),
            program("gpu0.cu0", Load, &[0x100, 0x140, 0x180]),
        ];
        work[1].id = "second".into();
        let changes = [scheduler, "gpu.cu.outstanding=4", "gpu.l1.mshrs=8"];
        let mut machine = performing("tiny/umh-1gpu", &changes, work);
        let (mut records, mut warps) = (Records::listening(), Vec::new());
        while machine.step(&mut records) == StepOutcome::Ran {
            for record in records.list.drain(..) {
                if let What::Issue { warp, .. } = record.what {
                    warps.push(warp);
                }
            }
        }
        warps
    }

    #[test]
    fn warps_issue_in_the_order_of_their_scheduler() {
        assert_eq!(issued("gpu.cu.scheduler=greedy"), [0, 0, 0, 1, 1, 1]);
        assert_eq!(issued("gpu.cu.scheduler=round-robin"), [1, 0, 1, 0, 1, 0]);
    }
}
