//! Prefetching as real drivers do.

use super::Signals;
use crate::model::address::Range;
use crate::model::page::{Page, PageSet};

/// Bytes of a basic block, the leaf of a tree, and of a whole tree.
const LEAF: u64 = 64 << 10;
const ROOT: u64 = 2 << 20;

/// What the drivers of NVIDIA GPUs do, as far as it can be seen from outside (transfers of a GTX 1080 Ti): a far-fault
/// brings its block of 64 KiB, and with it the largest part of the tree of 2 MiB round it that is then more than half
/// present. The room of a transfer set does not bound it.
pub fn choose(signals: &Signals<'_>) -> Vec<Page> {
    let page = u64::from(signals.page.max(1));
    let (leaf, root) = ((LEAF / page).max(1), (ROOT / page).max(1));
    let mut brought = PageSet::default();
    let mut order = Vec::new();
    for fault in signals.demand {
        let mut whole = leaf;
        let mut size = leaf * 2;
        while size <= root {
            let inner = part(*fault, whole);
            let counts = |page: &Page| {
                inner.contains(&page.0) || signals.present.contains(*page) || brought.contains(*page)
            };
            let present = part(*fault, size).map(Page).filter(counts).count() as u64;
            if present * 2 > size {
                whole = size;
            }
            size *= 2;
        }
        // Its own block first, in case there are not frames for all.
        for page in part(*fault, leaf).chain(part(*fault, whole)).map(Page) {
            if signals.absent.contains(page) && brought.insert(page) {
                order.push(page);
            }
        }
    }
    order
}

/// What is allocated for a range: what it has of its last tree is rounded up to a power of two of basic blocks, as the drivers of
/// NVIDIA GPUs do (managedAllocRoundUp of the traces: 192 KiB become 256 KiB).
pub fn rounded(range: Range) -> Range {
    let end = range.end();
    let tree = (end.saturating_sub(1) / ROOT * ROOT).max(range.start.0);
    let leaves = (end - tree).div_ceil(LEAF).max(1).next_power_of_two();
    let whole = (tree + leaves * LEAF).min((tree / ROOT + 1) * ROOT).max(end);
    u32::try_from(whole - range.start.0).map_or(range, |len| Range::new(range.start, len))
}

/// The aligned `size` pages round a page.
fn part(page: Page, size: u64) -> std::ops::Range<u64> {
    let first = page.0 / size * size;
    first..first.saturating_add(size)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::address::Address;

    /// Bytes that each touch of a block of 64 KiB moves, in KiB.
    fn moved(blocks: &[u64]) -> Vec<u64> {
        let mut absent: PageSet = (0..512).map(Page).collect();
        let mut present = PageSet::default();
        let touch = |block: &u64| {
            let demand = [Page(block * 16 + 3)];
            absent.remove(demand[0]);
            let mut pages = choose(&Signals {
                room: 0,
                demand: &demand,
                last: None,
                absent: &absent,
                present: &present,
                touched: &[],
                page: 4096,
                is_full: false,
            });
            pages.extend(demand);
            for page in &pages {
                absent.remove(*page);
                present.insert(*page);
            }
            pages.len() as u64 * 4
        };
        blocks.iter().map(touch).collect()
    }

    #[test]
    fn it_moves_what_a_gtx_1080_ti_moves() {
        // getHWPrefetcherP1 to P3 of the traces.
        assert_eq!(moved(&[0, 1, 2, 4, 8, 16]), [64, 64, 128, 256, 512, 1024]);
        assert_eq!(moved(&[1, 3, 0]), [64, 64, 128]);
    }

    #[test]
    fn the_rest_of_an_allocation_is_rounded_up_to_a_power_of_two_of_blocks() {
        let rounded = |start: u64, kib: u32| rounded(Range::new(Address(start), kib << 10)).len >> 10;
        // managedAllocRoundUp of the traces, and others.
        assert_eq!(
            [2048 + 192, 2048, 192, 40, 2216].map(|kib| rounded(2 << 20, kib)),
            [2304, 2048, 256, 64, 2304]
        );
        // A tree ends where the next one begins.
        assert_eq!(rounded((2 << 20) + (1984 << 10), 40), 64);
        assert_eq!(rounded((2 << 20) + (1856 << 10), 150), 192);
    }

    #[test]
    fn a_tree_ends_at_two_mebibytes() {
        assert_eq!(part(Page(513), 512), 512..1024);
    }
}
