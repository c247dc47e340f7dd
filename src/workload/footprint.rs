//! The memory that some work touches, in bounded space.

use std::collections::BTreeMap;

use crate::model::address::{Address, Range};

/// Runs of bytes that are kept apart. Of more, whole pages are touched: how many pages work has decides what is copied, what fits
/// and what is evicted.
const MOST_RUNS: usize = 1 << 18;

/// The smallest page.
const PAGE: u64 = 4096;

/// Runs of pages that are kept apart; above that, neighbours are taken together in ever larger steps.
const MOST_PAGES: usize = 1 << 22;

/// Disjoint runs of touched bytes.
#[derive(Clone, Debug)]
pub struct Footprint {
    /// Start to end (exclusive).
    runs: BTreeMap<u64, u64>,
    /// Starts and ends are multiples of this, a power of two.
    grain: u64,
    /// The run that was touched last.
    last: (u64, u64),
}

impl Default for Footprint {
    fn default() -> Self {
        Self { runs: BTreeMap::new(), grain: 1, last: (0, 0) }
    }
}

impl Footprint {
    /// Adds the bytes `[start, start + bytes)`.
    pub fn add(&mut self, start: u64, bytes: u64) {
        let end = start.saturating_add(bytes);
        if bytes == 0 || (self.last.0 <= start && end <= self.last.1) {
            return;
        }
        self.insert(start, end);
        if self.runs.len() > self.most() {
            self.coarsen();
        }
    }

    const fn most(&self) -> usize {
        if self.grain < PAGE { MOST_RUNS } else { MOST_PAGES }
    }

    fn insert(&mut self, start: u64, end: u64) {
        let mut start = start & !(self.grain - 1);
        let mut end = end.checked_next_multiple_of(self.grain).unwrap_or(u64::MAX);
        if let Some((&before, &until)) = self.runs.range(..=start).next_back()
            && until >= start
        {
            start = before;
            end = end.max(until);
        }
        while let Some((&after, &until)) = self.runs.range(start..=end).next() {
            end = end.max(until);
            self.runs.remove(&after);
        }
        self.runs.insert(start, end);
        self.last = (start, end);
    }

    fn coarsen(&mut self) {
        while self.runs.len() > self.most() / 2 {
            self.grain = self.grain.saturating_mul(4).max(64);
            for (start, end) in std::mem::take(&mut self.runs) {
                self.insert(start, end);
            }
        }
    }

    /// The touched memory, ascending, in pieces that a range can hold.
    pub fn ranges(&self) -> Vec<Range> {
        let piece = 1u64 << 31;
        let mut ranges = Vec::new();
        for (&start, &end) in &self.runs {
            let mut at = start;
            while at < end {
                let len = (end - at).min(piece);
                ranges.push(Range::new(Address(at), len as u32));
                at += len;
            }
        }
        ranges
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_grow_together() {
        let mut footprint = Footprint::default();
        for (start, bytes) in [(100, 4), (108, 4), (104, 4), (0, 1), (50, 0), (90, 100), (1 << 40, 3 << 31)] {
            footprint.add(start, bytes);
        }
        let runs: Vec<_> = footprint.runs.clone().into_iter().collect();
        assert_eq!(runs, [(0, 1), (90, 190), (1 << 40, (1 << 40) + (3 << 31))]);
        assert_eq!(footprint.ranges().len(), 5);
    }

    #[test]
    fn scattered_bytes_stay_covered_in_bounded_space() {
        let mut footprint = Footprint::default();
        let at = |nth: u64| nth * 1000;
        for nth in 0..=MOST_RUNS as u64 {
            footprint.add(at(nth), 1);
        }
        assert!(footprint.runs.len() <= MOST_RUNS / 2);
        let covered = |address: u64| {
            footprint.runs.range(..=address).next_back().is_some_and(|(_, &end)| end > address)
        };
        assert!((0..=MOST_RUNS as u64).all(|nth| covered(at(nth))));
    }

    #[test]
    fn scattered_pages_are_not_taken_together() {
        let mut footprint = Footprint::default();
        for nth in 0..=MOST_RUNS as u64 {
            footprint.add(nth * 2 * PAGE + 100, 4);
        }
        let bytes: u64 = footprint.ranges().iter().map(|range| u64::from(range.len)).sum();
        assert_eq!(bytes, (MOST_RUNS as u64 + 1) * PAGE);
    }
}
