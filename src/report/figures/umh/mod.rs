//! UMH (2016): the machine of Table III, the workloads of Table I.

mod block;
mod interleave;
mod mask;
mod peer;
mod scaling;
mod serial;
mod smd_size;
mod sync_bytes;
mod system;
mod traffic;

use super::figure::{Figure, How};

const BASELINES: &str = "the memcpy and zero-copy systems that UMH is compared with are not simulated yet";

const ZERO_COPY: &str = "the zero-copy system that UMH is compared with is not simulated yet";

/// In the order of the scoreboard.
pub static FIGURES: [Figure; 14] = [
    Figure {
        id: "umh-order",
        claim: "UMH fastest, zero-copy slowest for almost every workload; NVLink beats PCIe for all",
        paper: &[],
        unit: "order",
        place: "UMH 6.1.1, Fig 13",
        how: How::Missing(BASELINES),
    },
    Figure {
        id: "umh-memcpy",
        claim: "speedup of UMH over memcpy on 1, 2, 4 GPUs, average",
        paper: &[1.54, 2.12, 1.92],
        unit: "x",
        place: "UMH 6.1.1",
        how: How::Missing("the memcpy system that UMH is compared with is not simulated yet"),
    },
    Figure {
        id: "umh-zerocopy",
        claim: "speedup of UMH over zero-copy, 4 GPUs",
        paper: &[5.38],
        unit: "x",
        place: "UMH 8",
        how: How::Missing(ZERO_COPY),
    },
    scaling::FIGURE,
    block::FIGURE,
    serial::FIGURE,
    Figure {
        id: "umh-fw",
        claim: "Floyd-Warshall on 4 GPUs: zero-copy beats UMH",
        paper: &[],
        unit: "order",
        place: "UMH 6.1.3",
        how: How::Missing(ZERO_COPY),
    },
    peer::FIGURE,
    traffic::FIGURE,
    Figure {
        id: "umh-sync",
        claim: "start of the CPU's use of GPU results, over zero-copy, memcpy, software UM: at least",
        paper: &[13.0, 20.0, 24.0],
        unit: "x",
        place: "UMH 6.2, Fig 14",
        how: How::Missing(
            "the zero-copy, memcpy and software UM systems that UMH is compared with are not simulated yet",
        ),
    },
    sync_bytes::FIGURE,
    interleave::FIGURE,
    smd_size::FIGURE,
    mask::FIGURE,
];
