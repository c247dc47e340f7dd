//! UMH (2016): the machine of Table III, the workloads of Table I.

mod baseline;
mod block;
mod interleave;
mod mask;
mod order;
mod outlier;
mod peer;
mod scaling;
mod serial;
mod smd_size;
mod speedup;
mod sync;
mod sync_bytes;
mod system;
mod traffic;

use super::figure::Figure;

/// In the order of the scoreboard.
pub static FIGURES: [Figure; 14] = [
    order::FIGURE,
    speedup::OVER_MEMCPY,
    speedup::OVER_ZEROCOPY,
    scaling::FIGURE,
    block::FIGURE,
    serial::FIGURE,
    outlier::FIGURE,
    peer::FIGURE,
    traffic::FIGURE,
    sync::FIGURE,
    sync_bytes::FIGURE,
    interleave::FIGURE,
    smd_size::FIGURE,
    mask::FIGURE,
];
