//! Runs of bytes with one history: the same stores, in the same order. Whatever is about a part of such a run cuts it.

use std::collections::BTreeMap;

use smallvec::SmallVec;

use crate::model::address::Range;

/// A run of bytes.
pub trait Run {
    /// One to which nothing was ever stored: it has zeros.
    fn unwritten(len: u32) -> Self;

    /// Bytes, at least one.
    fn len(&self) -> u32;

    /// Keeps so many bytes, and gives the others.
    fn cut(&mut self, len: u32) -> Self;

    /// Past its last byte, if its first one is at `start`.
    fn end(&self, start: u64) -> u64 {
        start + u64::from(self.len())
    }
}

/// All runs that somebody has stored to, by their first bytes.
#[derive(Clone, Debug)]
pub struct Runs<R>(BTreeMap<u64, R>);

impl<R> Default for Runs<R> {
    fn default() -> Self {
        Self(BTreeMap::new())
    }
}

impl<R: Run> Runs<R> {
    /// The runs of a range, which begin and end with it. What was never stored to has zeros.
    pub fn within(&mut self, range: Range) -> impl Iterator<Item = (u64, &mut R)> {
        self.cut(range);
        let mut gaps: SmallVec<[(u64, u64); 2]> = SmallVec::new();
        let mut at = range.start.0;
        for (&start, run) in self.0.range(at..range.end()) {
            gaps.push((at, start));
            at = run.end(start);
        }
        gaps.push((at, range.end()));
        for (from, to) in gaps.into_iter().filter(|(from, to)| from < to) {
            self.0.insert(from, R::unwritten((to - from) as u32));
        }
        self.0.range_mut(range.start.0..range.end()).map(|(&start, run)| (start, run))
    }

    /// The same without what was never stored to.
    pub fn known(&mut self, range: Range) -> impl Iterator<Item = (u64, &mut R)> {
        self.cut(range);
        self.0.range_mut(range.start.0..range.end()).map(|(&start, run)| (start, run))
    }

    /// The runs that have bytes of a range.
    pub fn overlapping(&self, range: Range) -> impl Iterator<Item = (u64, &R)> {
        let before = self.0.range(..range.start.0).next_back();
        let before = before.filter(|(start, run)| run.end(**start) > range.start.0);
        let first = before.map_or(range.start.0, |(&start, _)| start);
        self.0.range(first..range.end().max(first)).map(|(&start, run)| (start, run))
    }

    pub fn all(&self) -> impl Iterator<Item = (u64, &R)> {
        self.0.iter().map(|(&start, run)| (start, run))
    }

    /// Bytes that a clone takes, roughly, where each run has so many of its own.
    pub fn footprint(&self, own: impl Fn(&R) -> usize) -> usize {
        self.0.values().map(|run| own(run) + size_of::<(u64, R)>()).sum()
    }

    pub fn all_mut(&mut self) -> impl Iterator<Item = &mut R> {
        self.0.values_mut()
    }

    /// Puts one run in place of all that has bytes of it.
    pub fn replace(&mut self, start: u64, run: R) {
        let last = run.end(start);
        for at in [start, last] {
            self.cut_at(at);
        }
        let old: SmallVec<[u64; 8]> = self.0.range(start..last).map(|(&start, _)| start).collect();
        for start in old {
            self.0.remove(&start);
        }
        self.0.insert(start, run);
    }

    /// Cuts a run into its bytes.
    pub fn shatter(&mut self, start: u64) {
        let Some(mut rest) = self.0.remove(&start) else { return };
        for at in start..rest.end(start) {
            let after = (rest.len() > 1).then(|| rest.cut(1));
            self.0.insert(at, rest);
            let Some(after) = after else { return };
            rest = after;
        }
    }

    fn cut(&mut self, range: Range) {
        self.cut_at(range.start.0);
        self.cut_at(range.end());
    }

    fn cut_at(&mut self, at: u64) {
        let Some((&start, run)) = self.0.range_mut(..at).next_back() else { return };
        if at < run.end(start) {
            let rest = run.cut((at - start) as u32);
            self.0.insert(at, rest);
        }
    }
}
