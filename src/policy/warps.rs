//! Which warp of a compute unit issues next.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The order in which warps that are ready take their turns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum WarpScheduler {
    /// The one that issued last goes on until it waits ("greedy then round-robin", "Beyond the Socket: NUMA-Aware GPUs",
    /// Table 1).
    #[default]
    Greedy,
    /// Each issues once in its turn ("`ScaleGPU`", Table 1). The accesses of one instruction stay together.
    RoundRobin,
}

impl WarpScheduler {
    /// The slot with which the round begins, after `last` has issued; it may have accesses of its instruction left.
    #[must_use]
    pub fn first(self, last: u32, has_accesses: bool) -> u32 {
        match self {
            Self::RoundRobin if !has_accesses => last + 1,
            Self::Greedy | Self::RoundRobin => last,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_greedy_stays_and_the_round_goes_on() {
        assert_eq!(WarpScheduler::Greedy.first(3, false), 3);
        assert_eq!(WarpScheduler::RoundRobin.first(3, false), 4);
        assert_eq!(WarpScheduler::RoundRobin.first(3, true), 3);
    }
}
