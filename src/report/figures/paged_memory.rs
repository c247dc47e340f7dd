//! Paged GPU memory (HPCA 2016): the machine of Table 1; relative to programmer-directed copies.

use super::figure::{Figure, How};

const MISSING: How = How::Missing("paged GPU memory with far-faults and prefetchers is not simulated yet");

/// In the order of the scoreboard.
pub static FIGURES: [Figure; 11] = [
    Figure {
        id: "page-blocking",
        claim: "CUs that block on faults, slowdown at 20 us: average, worst; at 5 us average",
        paper: &[6.0, 15.0, 2.0],
        unit: "x",
        place: "Paged memory 2.1, Fig 3",
        how: MISSING,
    },
    Figure {
        id: "page-replay",
        claim: "slowdown with replayable far-faults: before and after",
        paper: &[3.6, 2.0],
        unit: "x",
        place: "Paged memory 1, 3.2, Fig 5",
        how: MISSING,
    },
    Figure {
        id: "page-mshrs",
        claim: "in-flight far-faults per CU that suffice; no use beyond",
        paper: &[4.0, 16.0],
        unit: "faults",
        place: "Paged memory 3.2",
        how: MISSING,
    },
    Figure {
        id: "page-bus",
        claim: "link use under demand paging, average",
        paper: &[25.0],
        unit: "%",
        place: "Paged memory 4, Fig 6",
        how: MISSING,
    },
    Figure {
        id: "page-set",
        claim: "pages that fill 20 us of a 16 GB/s link; time of a 4 KiB and of a 2 MiB page, within 3 %",
        paper: &[80.0, 0.25, 128.0],
        unit: "pages, us, us",
        place: "Paged memory 4.1, 4.3",
        how: MISSING,
    },
    Figure {
        id: "page-prefetch",
        claim: "locality prefetcher, faster; its gap to the oracle; best to worst prefetcher; prefetch without replay, slower",
        paper: &[12.0, 3.0, 11.0, 5.0],
        unit: "%",
        place: "Paged memory 4.3, Fig 7",
        how: MISSING,
    },
    Figure {
        id: "page-latency",
        claim: "cost of 40 us instead of 20 us",
        paper: &[4.0],
        unit: "%",
        place: "Paged memory 4.3, Fig 8",
        how: MISSING,
    },
    Figure {
        id: "page-evict",
        claim: "50 % fits: random close to LRU but for xsbench (about 7x); xsbench and nw hurt by prefetch with random",
        paper: &[],
        unit: "order",
        place: "Paged memory 5.1, 5.2, Fig 9",
        how: MISSING,
    },
    Figure {
        id: "page-oversub",
        claim: "slowdown where 50 % fits, random: on demand; with prefetch",
        paper: &[3.9, 2.5],
        unit: "x",
        place: "Paged memory 5.2",
        how: MISSING,
    },
    Figure {
        id: "page-range",
        claim: "range of oversubscription slowdowns; backprop, minife, hotspot stand 2x",
        paper: &[0.0, 60.0],
        unit: "x",
        place: "Paged memory 5.3, Fig 10",
        how: MISSING,
    },
    Figure {
        id: "page-ideal",
        claim: "distance to perfect overlap of copy and execution",
        paper: &[15.0],
        unit: "%",
        place: "Paged memory 7",
        how: MISSING,
    },
];
