//! Pages, and sets of them that are cheap to copy.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use super::address::{Address, Range};

/// The number of a page: its address divided by the page size of the machine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Page(pub u64);

impl Page {
    /// The page of `size` bytes (a power of two) that holds `address`.
    #[must_use]
    pub fn of(address: Address, size: u32) -> Self {
        Self(address.0 >> size.max(1).trailing_zeros())
    }

    /// Its bytes.
    #[must_use]
    pub fn range(self, size: u32) -> Range {
        Range::new(Address(self.0 << size.max(1).trailing_zeros()), size)
    }
}

impl fmt::Display for Page {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#x}", self.0)
    }
}

/// Pages in a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PageRun {
    pub first: Page,
    pub count: u64,
}

impl PageRun {
    /// The pages of `size` bytes that a range lies in.
    #[must_use]
    pub fn of(range: Range, size: u32) -> Self {
        let last = Address(range.end().saturating_sub(1).max(range.start.0));
        let first = Page::of(range.start, size);
        Self { first, count: Page::of(last, size).0 - first.0 + 1 }
    }

    /// The page after the last one.
    #[must_use]
    pub fn end(self) -> Page {
        Page(self.first.0 + self.count)
    }

    #[must_use]
    pub fn contains(self, page: Page) -> bool {
        self.first <= page && page < self.end()
    }

    /// Ascending.
    pub fn iter(self) -> impl Iterator<Item = Page> {
        (self.first.0..self.end().0).map(Page)
    }

    /// All pages of these runs, ascending, cut wherever one of the runs begins or ends.
    #[must_use]
    pub fn cut(runs: &[Self]) -> Vec<Self> {
        let mut edges: Vec<u64> = runs.iter().flat_map(|run| [run.first.0, run.end().0]).collect();
        edges.sort_unstable();
        edges.dedup();
        let covered = Self::merged(runs.to_vec());
        let is_covered = |page: Page| {
            let after = covered.partition_point(|run| run.first <= page);
            after.checked_sub(1).and_then(|at| covered.get(at)).is_some_and(|run| run.contains(page))
        };
        let parts = edges.windows(2).map(|pair| Self { first: Page(pair[0]), count: pair[1] - pair[0] });
        parts.filter(|part| is_covered(part.first)).collect()
    }

    /// These runs ascending, those that overlap as one.
    #[must_use]
    pub fn merged(mut runs: Vec<Self>) -> Vec<Self> {
        runs.sort_unstable();
        let mut merged: Vec<Self> = Vec::new();
        for run in runs {
            match merged.last_mut().filter(|last| run.first < last.end()) {
                Some(last) => last.count = last.count.max(run.end().0 - last.first.0),
                None => merged.push(run),
            }
        }
        merged
    }
}

/// Pages in a chunk of a set: as many as 64 words have bits.
const CHUNK: u64 = 64 * 64;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Chunk {
    words: Arc<[u64; 64]>,
    count: u32,
}

impl Default for Chunk {
    fn default() -> Self {
        Self { words: Arc::new([0; 64]), count: 0 }
    }
}

/// A set of pages: sparse, and shared with its clones until one of them is changed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct PageSet {
    /// By page number / `CHUNK`; none is empty.
    chunks: BTreeMap<u64, Chunk>,
    len: u64,
}

fn place(page: Page) -> (u64, usize, u32) {
    let bit = page.0 % CHUNK;
    (page.0 / CHUNK, (bit / 64) as usize, (bit % 64) as u32)
}

/// The bits of the word of pages from `start` on that lie in `[from, end)`.
fn mask(start: u64, from: u64, end: u64) -> u64 {
    let low = from.saturating_sub(start).min(64);
    let high = end.saturating_sub(start).min(64);
    let up_to = |bits: u64| 1u64.checked_shl(bits as u32).map_or(!0, |bit| bit - 1);
    up_to(high) & !up_to(low)
}

impl PageSet {
    /// Pages in it.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.len
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    #[must_use]
    pub fn contains(&self, page: Page) -> bool {
        let (chunk, word, bit) = place(page);
        let word = self.chunks.get(&chunk).and_then(|chunk| chunk.words.get(word));
        word.is_some_and(|word| word >> bit & 1 == 1)
    }

    /// The 64 pages from `number * 64` on, a bit each.
    #[must_use]
    pub fn word(&self, number: u64) -> u64 {
        let (chunk, word, _) = place(Page(number.saturating_mul(64)));
        self.chunks.get(&chunk).and_then(|chunk| chunk.words.get(word)).copied().unwrap_or(0)
    }

    /// Whether it was not there.
    pub fn insert(&mut self, page: Page) -> bool {
        if self.contains(page) {
            return false;
        }
        let (number, word, bit) = place(page);
        let chunk = self.chunks.entry(number).or_default();
        if let Some(word) = Arc::make_mut(&mut chunk.words).get_mut(word) {
            *word |= 1 << bit;
        }
        chunk.count += 1;
        self.len += 1;
        true
    }

    /// Whether it was there.
    pub fn remove(&mut self, page: Page) -> bool {
        if !self.contains(page) {
            return false;
        }
        let (number, word, bit) = place(page);
        if let Some(chunk) = self.chunks.get_mut(&number) {
            if let Some(word) = Arc::make_mut(&mut chunk.words).get_mut(word) {
                *word &= !(1 << bit);
            }
            chunk.count -= 1;
            if chunk.count == 0 {
                self.chunks.remove(&number);
            }
        }
        self.len -= 1;
        true
    }

    /// The first page of the set from `page` on.
    #[must_use]
    pub fn next(&self, page: Page) -> Option<Page> {
        let (first, word, bit) = place(page);
        let in_chunk = |number: u64, chunk: &Chunk, from: usize, mask: u64| {
            let words = chunk.words.iter().enumerate().skip(from);
            let mut set = words.map(|(at, word)| (at, if at == from { word & mask } else { *word }));
            let (at, word) = set.find(|(_, word)| *word != 0)?;
            Some(Page(number * CHUNK + at as u64 * 64 + u64::from(word.trailing_zeros())))
        };
        let here = self.chunks.get(&first).and_then(|chunk| in_chunk(first, chunk, word, !0 << bit));
        here.or_else(|| {
            let (&number, chunk) = self.chunks.range(first + 1..).next()?;
            in_chunk(number, chunk, 0, !0)
        })
    }

    /// The page with so many smaller ones in the set.
    #[must_use]
    pub fn nth(&self, mut nth: u64) -> Option<Page> {
        for (number, chunk) in &self.chunks {
            if nth >= u64::from(chunk.count) {
                nth -= u64::from(chunk.count);
                continue;
            }
            for (at, word) in chunk.words.iter().enumerate() {
                if nth < u64::from(word.count_ones()) {
                    let bit = (0..64).filter(|bit| word >> bit & 1 == 1).nth(nth as usize)?;
                    return Some(Page(number * CHUNK + at as u64 * 64 + bit));
                }
                nth -= u64::from(word.count_ones());
            }
        }
        None
    }

    /// Ascending.
    pub fn iter(&self) -> impl Iterator<Item = Page> + '_ {
        std::iter::successors(self.next(Page(0)), |page| self.next(Page(page.0 + 1)))
    }

    /// How many of the pages `[from, from + count)` are in it.
    #[must_use]
    pub fn count_in(&self, from: Page, count: u64) -> u64 {
        let end = from.0.saturating_add(count);
        let of_chunk = |(number, chunk): (&u64, &Chunk)| {
            let (first, last) = (number * CHUNK, (number * CHUNK).saturating_add(CHUNK));
            if from.0 <= first && last <= end {
                return u64::from(chunk.count);
            }
            let words = chunk.words.iter().zip((first..last).step_by(64));
            words.map(|(word, start)| u64::from((word & mask(start, from.0, end)).count_ones())).sum()
        };
        self.chunks.range(from.0 / CHUNK..=end / CHUNK).map(of_chunk).sum()
    }
}

impl Extend<Page> for PageSet {
    fn extend<T: IntoIterator<Item = Page>>(&mut self, pages: T) {
        for page in pages {
            self.insert(page);
        }
    }
}

impl FromIterator<Page> for PageSet {
    fn from_iter<T: IntoIterator<Item = Page>>(pages: T) -> Self {
        let mut set = Self::default();
        set.extend(pages);
        set
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_a_run_of_bytes() {
        assert_eq!(Page::of(Address(0x40_1fff), 4096), Page(0x401));
        assert_eq!(Page(0x401).range(4096), Range::new(Address(0x40_1000), 4096));
        assert_eq!(Page::of(Address(0x5f_ffff), 2 << 20), Page(2));
    }

    #[test]
    fn runs_that_overlap_are_one_and_those_that_meet_are_not() {
        let run = |first, count| PageRun { first: Page(first), count };
        assert_eq!(PageRun::of(Range::new(Address(0x1ff0), 32), 4096), run(1, 2));
        assert_eq!(PageRun::of(Range::new(Address(0x2000), 4096), 4096), run(2, 1));
        let merged = PageRun::merged(vec![run(8, 2), run(1, 3), run(3, 2), run(10, 1), run(1, 1)]);
        assert_eq!(merged, [run(1, 4), run(8, 2), run(10, 1)]);
        assert!(merged[0].contains(Page(4)) && !merged[0].contains(Page(5)));
        let parts = PageRun::cut(&[run(1, 4), run(3, 4), run(9, 1)]);
        assert_eq!(parts, [run(1, 2), run(3, 2), run(5, 2), run(9, 1)]);
    }

    #[test]
    fn a_set_finds_its_pages_over_chunks() {
        let pages = [3, 64, 4095, 4096, 50_000].map(Page);
        let mut set: PageSet = pages.into_iter().collect();
        assert_eq!(set.iter().collect::<Vec<_>>(), pages);
        assert_eq!((0..6).map(|nth| set.nth(nth)).collect::<Vec<_>>()[..5], pages.map(Some));
        assert_eq!(set.nth(5), None);
        assert_eq!(set.next(Page(4097)), Some(Page(50_000)));
        assert_eq!(set.count_in(Page(60), 4037), 3);
        assert_eq!(set.count_in(Page(0), 100_000), 5);
        assert_eq!(
            (set.count_in(Page(64), 1), set.count_in(Page(65), 4030), set.count_in(Page(4), 0)),
            (1, 0, 0)
        );
        assert_eq!((set.word(0), set.word(1), set.word(63), set.word(9)), (8, 1, 1 << 63, 0));
        let before = set.clone();
        assert!(set.remove(Page(4096)) && !set.remove(Page(4096)));
        assert_eq!((set.len(), before.len()), (4, 5));
        assert_eq!(set.next(Page(4096)), Some(Page(50_000)));
        assert!(before.contains(Page(4096)));
    }
}
