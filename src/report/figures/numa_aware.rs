//! NUMA-aware GPUs (MICRO 2017): the machine of Table 1, the workloads of Table 2.

use super::figure::{Figure, How};

const MISSING: How = How::Missing("GPUs of several sockets are not simulated yet");

/// In the order of the scoreboard.
pub static FIGURES: [Figure; 11] = [
    Figure {
        id: "numa-remote",
        claim: "remote share of accesses with fine or page interleave, 4 sockets",
        paper: &[75.0],
        unit: "%",
        place: "NUMA-aware GPUs 3",
        how: MISSING,
    },
    Figure {
        id: "numa-locality",
        claim: "4 sockets with single-GPU policies do not match 1 GPU; locality-optimised almost always better",
        paper: &[],
        unit: "order",
        place: "NUMA-aware GPUs 3.1, Fig 3",
        how: MISSING,
    },
    Figure {
        id: "numa-lanes",
        claim: "lane reversal, 5K-cycle samples, 100-cycle turn: average, best gain",
        paper: &[14.0, 80.0],
        unit: "%",
        place: "NUMA-aware GPUs 4.1, Fig 6",
        how: MISSING,
    },
    Figure {
        id: "numa-turn",
        claim: "loss when the turn takes 500 cycles, below; 10 cycles gains little",
        paper: &[2.0],
        unit: "%",
        place: "NUMA-aware GPUs 4.1",
        how: MISSING,
    },
    Figure {
        id: "numa-sample",
        claim: "too rare sampling misses phases, too frequent loses bandwidth",
        paper: &[],
        unit: "order",
        place: "NUMA-aware GPUs 4.1, Fig 6",
        how: MISSING,
    },
    Figure {
        id: "numa-ways",
        claim: "over memory-side L2: static half, NUMA-aware; NUMA-aware over static",
        paper: &[54.0, 76.0, 22.0],
        unit: "%",
        place: "NUMA-aware GPUs 5.2, Fig 8",
        how: MISSING,
    },
    Figure {
        id: "numa-flush",
        claim: "overhead of software coherence in L2, average",
        paper: &[10.0],
        unit: "%",
        place: "NUMA-aware GPUs 5.2, Fig 9",
        how: MISSING,
    },
    Figure {
        id: "numa-writeback",
        claim: "write-back L2 over write-through",
        paper: &[9.0],
        unit: "%",
        place: "NUMA-aware GPUs 5.2",
        how: MISSING,
    },
    Figure {
        id: "numa-combined",
        claim: "4 sockets: over 1 GPU; over the locality-optimised baseline (80 % faster)",
        paper: &[2.1, 1.8],
        unit: "x",
        place: "NUMA-aware GPUs 6, Fig 10",
        how: MISSING,
    },
    Figure {
        id: "numa-scaling",
        claim: "2, 4, 8 sockets over 1 (89, 84, 76 % of the ideal larger GPU)",
        paper: &[1.5, 2.3, 3.2],
        unit: "x",
        place: "NUMA-aware GPUs 6, Fig 11",
        how: MISSING,
    },
    Figure {
        id: "numa-power",
        claim: "link power at 10 pJ/bit, before and after",
        paper: &[30.0, 14.0],
        unit: "W",
        place: "NUMA-aware GPUs 6",
        how: MISSING,
    },
];
