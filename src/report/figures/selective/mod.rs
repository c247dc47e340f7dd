//! Selective GPU caches (HPCA 2016): the machine of Table 4, 12 workloads; relative to the hardware-coherent GPU.

mod filter;

use super::figure::{Figure, How};

const MISSING: How =
    How::Missing("the systems with selective GPU caches and the hardware-coherent GPU are not simulated yet");

/// In the order of the scoreboard.
pub static FIGURES: [Figure; 11] = [
    Figure {
        id: "sel-steps",
        claim: "naive; + L1 coalescing; + L1+L2 coalescing; + 512 KiB client cache; + variable transfers; + read-only caching at 20 us",
        paper: &[42.0, 74.0, 79.0, 90.0, 93.0, 89.0],
        unit: "%",
        place: "Selective caching 5.1, 5.2, Fig 5-8",
        how: MISSING,
    },
    Figure {
        id: "sel-coalesced",
        claim: "share of requests coalesced: L1, L1+L2, average",
        paper: &[30.7, 35.4],
        unit: "%",
        place: "Selective caching Table 2",
        how: MISSING,
    },
    Figure {
        id: "sel-hitrates",
        claim: "hardware-coherent L1 and L2 hit rates, average",
        paper: &[44.4, 51.6],
        unit: "%",
        place: "Selective caching Table 1",
        how: MISSING,
    },
    Figure {
        id: "sel-lineuse",
        claim: "128 B line use when unmatched data is dropped, average",
        paper: &[60.6],
        unit: "%",
        place: "Selective caching Table 3",
        how: MISSING,
    },
    Figure {
        id: "sel-link",
        claim: "link efficiency at 32, 64, 128 B with a header flit of 16 B, exactly",
        paper: &[2.0 / 3.0, 0.8, 8.0 / 9.0],
        unit: "share",
        place: "Selective caching Table 4",
        how: MISSING,
    },
    Figure {
        id: "sel-traffic",
        claim: "interconnect traffic over hardware-coherent: fixed, variable size",
        paper: &[4.0, 2.6],
        unit: "x",
        place: "Selective caching 5.1.3",
        how: MISSING,
    },
    Figure {
        id: "sel-variable",
        claim: "gain from variable-size transfers; from 1.5x link bandwidth instead",
        paper: &[3.0, 1.0],
        unit: "%",
        place: "Selective caching 5.1.3",
        how: MISSING,
    },
    Figure {
        id: "sel-client",
        claim: "gain levels off at this client cache size",
        paper: &[512.0],
        unit: "KiB",
        place: "Selective caching Fig 6",
        how: MISSING,
    },
    Figure {
        id: "sel-readonly",
        claim: "with 20 us faults 7 of 12 gain; btree gains 35 %; backprop, cns, needle lose",
        paper: &[],
        unit: "order",
        place: "Selective caching 5.2",
        how: MISSING,
    },
    filter::FIGURE,
    Figure {
        id: "sel-spill",
        claim: "10 % of the data in GPU memory instead of 80 %: same order of the enhancements",
        paper: &[],
        unit: "order",
        place: "Selective caching 5.3, Fig 9",
        how: MISSING,
    },
];
