//! Paged GPU memory (HPCA 2016): the machine of Table 1; relative to programmer-directed copies.

mod blocking;
mod bus;
mod evict;
mod ideal;
mod latency;
mod mshrs;
mod oversub;
mod prefetch;
mod range;
mod replay;
mod set;
mod system;

use super::figure::Figure;

/// In the order of the scoreboard.
pub static FIGURES: [Figure; 11] = [
    blocking::FIGURE,
    replay::FIGURE,
    mshrs::FIGURE,
    bus::FIGURE,
    set::FIGURE,
    prefetch::FIGURE,
    latency::FIGURE,
    evict::FIGURE,
    oversub::FIGURE,
    range::FIGURE,
    ideal::FIGURE,
];
