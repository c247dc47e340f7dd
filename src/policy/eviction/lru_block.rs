use super::{BLOCK, Signals};
use crate::model::page::Page;

/// All pages of the block of 2 MiB that was accessed longest ago.
pub fn choose(signals: &mut Signals<'_>) -> Vec<Page> {
    let per_block = u64::from((BLOCK / signals.page.max(1)).max(1));
    let Some(block) = signals.blocks.oldest() else { return Vec::new() };
    let first = block.0 * per_block;
    (first..first + per_block).map(Page).filter(|page| signals.resident.contains(*page)).collect()
}
