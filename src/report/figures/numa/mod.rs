//! NUMA-aware GPUs (MICRO 2017): the machine of Table 1, workloads of Table 2.

mod combined;
mod lanes;
mod locality;
mod scaling;
mod system;
mod ways;

use super::figure::Figure;

/// In the order of the scoreboard.
pub static FIGURES: [Figure; 11] = [
    locality::REMOTE,
    locality::ORDER,
    lanes::GAIN,
    lanes::TURN,
    lanes::SAMPLE,
    ways::WAYS,
    ways::FLUSH,
    ways::WRITE_BACK,
    combined::COMBINED,
    scaling::FIGURE,
    combined::POWER,
];
