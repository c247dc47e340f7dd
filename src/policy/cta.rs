//! Dealing thread blocks over the compute units of GPUs.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How the blocks of a kernel are dealt over GPUs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Schedule {
    /// One after the other to whichever compute unit has room, whatever its GPU: the "fine-grained dynamic assignment" of a
    /// single GPU ("Beyond the Socket: NUMA-Aware GPUs", section 3).
    RoundRobin,
    /// GPU g of n has blocks g, g + n, g + 2n and so on: "an interleaving of CTAs using modulo arithmetic"; also SKE's
    /// scheduler: "the workgroups from the same application are assigned to multiple GPUs in a round-robin fashion"
    /// (UMH, section 6).
    #[default]
    Modulo,
    /// Each GPU has its share, blocks that follow each other: an "equal amount of contiguous CTAs to each GPU". What is left over is
    /// spread over all, from the first one on, as pages of arrays that are divided are.
    Contiguous,
}

impl Schedule {
    /// Whether each GPU has a share of its own.
    #[must_use]
    pub fn has_shares(self) -> bool {
        self != Self::RoundRobin
    }

    /// The block that is `nth` (from 0) in the share of `gpu`, or of all where there are no shares; `None` past its end.
    #[must_use]
    pub fn block(self, gpu: u64, gpus: u64, nth: u64, blocks: u64) -> Option<u64> {
        let gpus = gpus.max(1);
        let (block, end) = match self {
            Self::RoundRobin => (nth, blocks),
            Self::Modulo => (gpu.saturating_add(nth.saturating_mul(gpus)), blocks),
            Self::Contiguous => {
                let start =
                    |gpu: u64| (u128::from(blocks) * u128::from(gpu)).div_ceil(u128::from(gpus)) as u64;
                (start(gpu).saturating_add(nth), start(gpu.saturating_add(1)))
            }
        };
        (block < end).then_some(block)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::placement::split;

    fn dealt(schedule: Schedule, gpu: u64, blocks: u64) -> Vec<u64> {
        (0..20).map_while(|nth| schedule.block(gpu, 3, nth, blocks)).collect()
    }

    #[test]
    fn every_block_is_dealt_once() {
        for schedule in [Schedule::Modulo, Schedule::Contiguous] {
            for blocks in [0, 2, 12, 13] {
                let mut all: Vec<u64> = (0..3).flat_map(|gpu| dealt(schedule, gpu, blocks)).collect();
                all.sort_unstable();
                assert_eq!(all, (0..blocks).collect::<Vec<_>>(), "{schedule:?}");
            }
        }
        assert_eq!(dealt(Schedule::RoundRobin, 1, 4), [0, 1, 2, 3]);
    }

    #[test]
    fn what_is_left_over_goes_where_the_pages_of_a_divided_array_do() {
        for count in 1..20_u64 {
            for gpu in 0..3 {
                let pages: Vec<u64> =
                    (0..count).filter(|page| u64::from(split(*page, count, 3)) == gpu).collect();
                assert_eq!(dealt(Schedule::Contiguous, gpu, count), pages, "{count}");
            }
        }
        assert_eq!(dealt(Schedule::Contiguous, 0, 1), [0]);
    }

    #[test]
    fn neighbours_stay_together_or_are_parted() {
        assert_eq!(dealt(Schedule::Contiguous, 1, 12), [4, 5, 6, 7]);
        assert_eq!(dealt(Schedule::Modulo, 1, 12), [1, 4, 7, 10]);
    }
}
