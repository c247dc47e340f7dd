//! What synchronisation cost: the time of warps, and the final flush (UMH, section 4.2).

use super::Sheet;
use crate::machine::Machine;
use crate::machine::latency::Class;
use crate::model::time::Tick;
use crate::model::warp::WarpState;
use crate::protocol::node::Node;
use crate::workload::TaskKind;

impl Machine {
    pub(super) fn synchronisation_statistics(&self, sheet: &mut Sheet) {
        let times = || self.agents.iter().map(|agent| agent.time_in(self.now));
        let spent = |state: WarpState| -> Tick {
            times().map(|times| times.get(state as usize).copied().unwrap_or(0)).sum()
        };
        sheet.put("sync.fence_cycles".to_owned(), self.cycles(spent(WarpState::Fence)));
        sheet.put("sync.barrier_cycles".to_owned(), self.cycles(spent(WarpState::Barrier)));
        let spun = self.agents.iter().map(|agent| agent.spun(self.now)).sum();
        sheet.put("sync.spin_cycles".to_owned(), self.cycles(spun));
        let exclusive = self.latencies.of_class(Class::Exclusive);
        sheet.count("sync.exclusive_accesses".to_owned(), exclusive.count);
        sheet.put("sync.exclusive_cycles".to_owned(), self.cycles(exclusive.ticks));
        sheet.put("sync.flush_cycles".to_owned(), self.cycles(self.flush_time()));
        // Rows of a memory with tags go home at every boundary where the host is to see them.
        let home = |node: &Node| if node.is_tagged() { node.counters.released_bytes } else { 0 };
        let flushed = self.nodes.iter().map(|node| node.counters.flushed_bytes + home(node)).sum();
        sheet.count("sync.flush_bytes".to_owned(), flushed);
    }

    /// Ticks that flush tasks took, or have taken so far.
    fn flush_time(&self) -> Tick {
        let tasks = self.tasks.workload.tasks.iter().zip(&self.tasks.states);
        let flushes = tasks.filter(|(task, _)| matches!(task.what, TaskKind::Flush { .. }));
        let time = |started: Tick, ended: Option<Tick>| ended.unwrap_or(self.now).saturating_sub(started);
        flushes.filter_map(|(_, state)| Some(time(state.started?, state.ended))).sum()
    }
}
