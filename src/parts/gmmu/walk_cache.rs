//! The page walk cache: entries of the upper levels of the page table ("8KB 20-cycle latency PW-cache", Table 1).

use crate::model::page::Page;

/// Bits of a page number that one level of the page table resolves.
const FAN_OUT: u32 = 9;

/// What a walk found at the levels above the last.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct WalkCache {
    /// Level and prefix of each entry, least recently used first.
    entries: Vec<(u8, u64)>,
    capacity: usize,
}

impl WalkCache {
    /// `capacity` entries of 8 bytes.
    #[must_use]
    pub fn new(capacity: usize) -> Self {
        Self { entries: Vec::new(), capacity }
    }

    /// Begins to walk a table of `levels` levels: how many of them the cache has, and how many memory has to be asked for.
    pub fn look(&mut self, page: Page, levels: u32) -> (u32, u32) {
        let hits = entries(page, levels).filter(|entry| self.touch(*entry)).count() as u32;
        (hits, levels.saturating_sub(hits))
    }

    /// The walk has ended: what memory was asked for is here.
    pub fn fill(&mut self, page: Page, levels: u32) {
        for entry in entries(page, levels) {
            if self.touch(entry) || self.capacity == 0 {
                continue;
            }
            if self.entries.len() >= self.capacity {
                self.entries.remove(0);
            }
            self.entries.push(entry);
        }
    }

    /// Whether it has an entry, which is then the one used last.
    fn touch(&mut self, entry: (u8, u64)) -> bool {
        let place = self.entries.iter().rposition(|known| *known == entry);
        if let Some(place) = place {
            self.entries[place..].rotate_left(1);
        }
        place.is_some()
    }
}

/// The entries above the last level: that one, the page's own, is never cached, which is what TLBs are for.
fn entries(page: Page, levels: u32) -> impl Iterator<Item = (u8, u64)> {
    let prefix = move |level| page.0.checked_shr(FAN_OUT * (levels - level)).unwrap_or(0);
    (1..levels).map(move |level| (level as u8, prefix(level)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_near_each_other_share_upper_levels() {
        let walk = |cache: &mut WalkCache, page| {
            let found = cache.look(Page(page), 4);
            cache.fill(Page(page), 4);
            found
        };
        let mut cache = WalkCache::new(8);
        assert_eq!(walk(&mut cache, 0), (0, 4));
        assert_eq!(walk(&mut cache, 511), (3, 1));
        assert_eq!(walk(&mut cache, 512), (2, 2));
        assert_eq!(walk(&mut cache, 512 * 512), (1, 3));
        let mut none = WalkCache::new(0);
        assert_eq!([0, 0].map(|page| walk(&mut none, page)), [(0, 4); 2]);
    }

    #[test]
    fn a_walk_under_way_has_left_nothing_yet() {
        let mut cache = WalkCache::new(8);
        assert_eq!([0, 1].map(|page| cache.look(Page(page), 4)), [(0, 4); 2]);
        cache.fill(Page(0), 4);
        assert_eq!(cache.look(Page(1), 4), (3, 1));
    }
}
