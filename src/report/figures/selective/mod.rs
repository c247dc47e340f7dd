//! Selective GPU caches (HPCA 2016): the machines of Table 4, 12 workloads; relative to the hardware-coherent GPU.

mod client;
mod coalesced;
mod filter;
mod hit_rates;
mod line_use;
mod link;
mod read_only;
mod spill;
mod steps;
mod system;
mod traffic;
mod variable;

use super::figure::Figure;

/// In the order of the scoreboard.
pub static FIGURES: [Figure; 11] = [
    steps::FIGURE,
    coalesced::FIGURE,
    hit_rates::FIGURE,
    line_use::FIGURE,
    link::FIGURE,
    traffic::FIGURE,
    variable::FIGURE,
    client::FIGURE,
    read_only::FIGURE,
    filter::FIGURE,
    spill::FIGURE,
];
