//! `ScaleGPU` (CAL 2014): the machine of Table 1, the workloads of Table 2; relative to the copy-first baseline.

mod hotspot;
mod irregular;
mod split;
mod system;
mod tag;

use super::figure::Figure;

/// In the order of the scoreboard.
pub static FIGURES: [Figure; 4] = [split::FIGURE, hotspot::FIGURE, irregular::FIGURE, tag::FIGURE];
