//! Which of many things was used longest ago: cheap to touch, cheap to copy.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::page::Page;
use super::time::Tick;

/// Pages that share a bound.
const CHUNK: u64 = 64;

/// When each page was used last. Clones share what neither changes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Recency {
    /// Tick of the last use and one more, 0 for none; by page number / `CHUNK`.
    stamps: BTreeMap<u64, Arc<[Tick; CHUNK as usize]>>,
    /// Of each chunk, a tick at or before its oldest stamp: stamps only grow, so that a bound need not be kept exact.
    bounds: BTreeSet<(Tick, u64)>,
}

fn place(page: Page) -> (u64, usize) {
    (page.0 / CHUNK, (page.0 % CHUNK) as usize)
}

impl Recency {
    /// A page is used.
    pub fn touch(&mut self, page: Page, now: Tick) {
        let (number, at) = place(page);
        let stamp = now.saturating_add(1);
        let bounds = &mut self.bounds;
        let chunk = self.stamps.entry(number).or_insert_with(|| {
            bounds.insert((stamp, number));
            Arc::new([0; CHUNK as usize])
        });
        if let Some(known) = Arc::make_mut(chunk).get_mut(at) {
            *known = stamp;
        }
    }

    /// A page is there no longer.
    pub fn forget(&mut self, page: Page) {
        let (number, at) = place(page);
        if let Some(known) = self.stamps.get_mut(&number).and_then(|chunk| Arc::make_mut(chunk).get_mut(at)) {
            *known = 0;
        }
    }

    /// When any of the `count` pages from `from` on was used last.
    #[must_use]
    pub fn newest_in(&self, from: Page, count: u64) -> Option<Tick> {
        let end = from.0.saturating_add(count);
        let chunks = self.stamps.range(from.0 / CHUNK..=end / CHUNK);
        let of = |(number, chunk): (&u64, &Arc<[Tick; CHUNK as usize]>)| {
            let first = number * CHUNK;
            let is_in = |at: usize| (from.0..end).contains(&(first + at as u64));
            chunk.iter().enumerate().filter(|(at, _)| is_in(*at)).map(|(_, stamp)| *stamp).max()
        };
        chunks.filter_map(of).max()?.checked_sub(1)
    }

    /// The page that was used longest ago; of several the lowest.
    pub fn oldest(&mut self) -> Option<Page> {
        loop {
            let (bound, number) = self.bounds.first().copied()?;
            let chunk = self.stamps.get(&number)?;
            let used = chunk.iter().enumerate().filter(|(_, stamp)| **stamp != 0);
            let Some((at, &stamp)) = used.min_by_key(|(at, stamp)| (**stamp, *at)) else {
                self.bounds.remove(&(bound, number));
                self.stamps.remove(&number);
                continue;
            };
            if stamp == bound {
                return Some(Page(number * CHUNK + at as u64));
            }
            self.bounds.remove(&(bound, number));
            self.bounds.insert((stamp, number));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_is_found_though_bounds_are_loose() {
        let mut recency = Recency::default();
        for (page, now) in [(5, 10), (70, 20), (6, 30), (71, 40)] {
            recency.touch(Page(page), now);
        }
        assert_eq!(recency.oldest(), Some(Page(5)));
        assert_eq!((recency.newest_in(Page(5), 65), recency.newest_in(Page(5), 66)), (Some(30), Some(30)));
        assert_eq!((recency.newest_in(Page(5), 67), recency.newest_in(Page(7), 60)), (Some(40), None));
        recency.touch(Page(5), 50);
        assert_eq!(recency.oldest(), Some(Page(70)));
        recency.forget(Page(70));
        assert_eq!(recency.oldest(), Some(Page(6)));
        for page in [5, 6, 71] {
            recency.forget(Page(page));
        }
        assert_eq!(recency.oldest(), None);
        recency.touch(Page(70), 60);
        assert_eq!(recency.oldest(), Some(Page(70)));
    }

    #[test]
    fn it_agrees_with_a_list() {
        let mut random = crate::model::random::Random::new(3);
        let (mut recency, mut list) = (Recency::default(), BTreeMap::new());
        for now in 0..4000 {
            let page = Page(random.below(300));
            if random.below(4) == 0 {
                recency.forget(page);
                list.remove(&page);
            } else {
                recency.touch(page, now);
                list.insert(page, now);
            }
            let oldest = list.iter().min_by_key(|(page, now)| (**now, **page)).map(|(page, _)| *page);
            assert_eq!(recency.oldest(), oldest);
        }
    }
}
