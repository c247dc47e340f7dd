//! `ScaleGPU`: the machine of Table 1, the workloads of Table 2; relative to the copy-first baseline.

use super::figure::{Figure, How};

const MISSING: How = How::Missing("ScaleGPU's memory and the copy-first baseline are not simulated yet");

/// In the order of the scoreboard.
pub static FIGURES: [Figure; 4] = [
    Figure {
        id: "scale-split",
        claim: "vectorAdd, histogram: ScaleGPU, zero-copy, faster by",
        paper: &[8.0, 58.0],
        unit: "%",
        place: "ScaleGPU 4.2",
        how: MISSING,
    },
    Figure {
        id: "scale-hotspot",
        claim: "hotspot: average; at the same memory; memory that keeps the baseline's speed",
        paper: &[32.0, 48.0, 25.0],
        unit: "%",
        place: "ScaleGPU 4.2, abstract",
        how: MISSING,
    },
    Figure {
        id: "scale-irregular",
        claim: "Shortest Path and Bank Account: average; Shortest Path with 12.5 % of the memory; the baseline cannot run them smaller",
        paper: &[42.0, 21.0],
        unit: "%",
        place: "ScaleGPU 4.2",
        how: MISSING,
    },
    Figure {
        id: "scale-tag",
        claim: "less data per tag helps hotspot, Shortest Path, Bank Account; no effect on vectorAdd, histogram",
        paper: &[],
        unit: "order",
        place: "ScaleGPU 4.3, Fig 4",
        how: MISSING,
    },
];
