//! Eviction by blocks of 2 MiB.

use super::Signals;
use crate::model::page::Page;

/// All pages of the block of 2 MiB that was accessed longest ago.
pub fn choose(signals: &mut Signals<'_>) -> Vec<Page> {
    let Some(block) = signals.blocks.oldest() else { return Vec::new() };
    let first = block.0 * signals.per_block;
    (first..first + signals.per_block).map(Page).filter(|page| signals.resident.contains(*page)).collect()
}
