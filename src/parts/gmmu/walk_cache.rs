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

    /// Walks a table of `levels` levels; how many of them the cache has, and how many memory has to be asked for. The
    /// entry of the last level, the page's own, is never cached: that is what TLBs are for.
    pub fn walk(&mut self, page: Page, levels: u32) -> (u32, u32) {
        let mut hits = 0;
        for level in 1..levels {
            let entry = (level as u8, page.0.checked_shr(FAN_OUT * (levels - level)).unwrap_or(0));
            if let Some(place) = self.entries.iter().rposition(|known| *known == entry) {
                self.entries[place..].rotate_left(1);
                hits += 1;
            } else if self.capacity > 0 {
                if self.entries.len() >= self.capacity {
                    self.entries.remove(0);
                }
                self.entries.push(entry);
            }
        }
        (hits, levels.saturating_sub(hits))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_near_each_other_share_upper_levels() {
        let mut cache = WalkCache::new(8);
        assert_eq!(cache.walk(Page(0), 4), (0, 4));
        assert_eq!(cache.walk(Page(511), 4), (3, 1));
        assert_eq!(cache.walk(Page(512), 4), (2, 2));
        assert_eq!(cache.walk(Page(512 * 512), 4), (1, 3));
        assert_eq!(WalkCache::new(0).walk(Page(0), 4), (0, 4));
    }
}
