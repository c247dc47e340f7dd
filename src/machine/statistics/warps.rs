//! Where warps spent their time: each compute unit and core, each GPU and the host, and all together.

use std::collections::BTreeMap;

use super::Sheet;
use crate::machine::Machine;
use crate::model::text::key_word;
use crate::model::time::Tick;
use crate::model::warp::WarpState;

/// Ticks by position in [`WarpState::ALL`].
type Times = [Tick; WarpState::ALL.len()];

fn add(sum: &mut Times, times: &Times) {
    sum.iter_mut().zip(times).for_each(|(sum, time)| *sum += time);
}

impl Machine {
    pub(super) fn warp_statistics(&self, sheet: &mut Sheet) {
        let mut all = Times::default();
        let mut groups: BTreeMap<&str, Times> = BTreeMap::new();
        for agent in &self.agents {
            let times = agent.time_in(self.now);
            add(&mut all, &times);
            add(groups.entry(self.fixed.components.device(agent.config.id)).or_default(), &times);
        }
        self.put_times("", &all, sheet);
        for (group, times) in groups {
            self.put_times(&format!("{group}."), &times, sheet);
        }
        for agent in &self.agents {
            let path = self.fixed.components.path(agent.config.id);
            sheet.count(format!("{path}.accesses"), agent.accesses);
            for (state, time) in WarpState::ALL.into_iter().zip(agent.time_in(self.now)) {
                sheet.put(format!("{path}.warp_cycles.{}", key_word(state.name())), self.cycles(time));
            }
            if let Some(simds) = &agent.simds {
                let (waited, times) = simds.waits(self.now);
                sheet.put(format!("{path}.simd_utilisation"), simds.utilisation(self.now));
                sheet.put(format!("{path}.simd_queued_mean_cycles"), self.mean_cycles(waited, times));
            }
        }
    }

    /// Cycles in each state, and the share of the time in which warps had work.
    fn put_times(&self, prefix: &str, times: &Times, sheet: &mut Sheet) {
        let idle = |state: WarpState| matches!(state, WarpState::None | WarpState::Done);
        let states = || WarpState::ALL.into_iter().zip(times);
        let busy: Tick = states().filter(|(state, _)| !idle(*state)).map(|(_, time)| time).sum();
        for (state, time) in states() {
            sheet.put(format!("{prefix}warp_cycles.{}", key_word(state.name())), self.cycles(*time));
        }
        for (state, time) in states().filter(|(state, _)| !idle(*state)) {
            sheet.share(format!("{prefix}warp_share.{}", key_word(state.name())), *time, busy);
        }
    }
}
