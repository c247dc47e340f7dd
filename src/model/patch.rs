//! Bytes under a mask: what a block holds, what a message carries, what is merged.

use std::sync::Arc;

use super::address::{Address, Range};
use super::bits::Bits;

/// Bytes of a range with a mask of which of them count. With values off `bytes` is empty and only the mask moves.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Patch {
    pub start: Address,
    pub len: u32,
    /// Bytes that one mask bit stands for (1, 2, 4 or 8; a whole line with values off).
    pub granule: u32,
    pub mask: Bits,
    /// The bytes of the whole range, shared until written; none with values off.
    bytes: Option<Arc<[u8]>>,
}

impl Patch {
    /// A range of which no byte counts yet, zeros if `values`.
    #[must_use]
    pub fn empty(range: Range, granule: u32, values: bool) -> Self {
        let granule = granule.clamp(1, range.len.max(1));
        Self {
            start: range.start,
            len: range.len,
            granule,
            mask: Bits::new(range.len.div_ceil(granule)),
            bytes: values.then(|| std::iter::repeat_n(0, range.len as usize).collect()),
        }
    }

    /// The bytes of the whole range; empty with values off.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        self.bytes.as_deref().unwrap_or_default()
    }

    /// Whether bytes are kept.
    #[must_use]
    pub fn has_values(&self) -> bool {
        self.bytes.is_some()
    }

    #[must_use]
    pub fn range(&self) -> Range {
        Range::new(self.start, self.len)
    }

    /// The mask bits that cover `[from, to)`, as offsets into this patch.
    #[must_use]
    pub fn bits_of(&self, range: Range) -> (u32, u32) {
        let from = range.start.0.saturating_sub(self.start.0).min(u64::from(self.len)) as u32;
        let to = range.end().saturating_sub(self.start.0).min(u64::from(self.len)) as u32;
        (from / self.granule, to.div_ceil(self.granule))
    }

    /// Whether `range` starts and ends on mask bits, so that a non-coherent store of it can be merged later.
    #[must_use]
    pub fn aligned(range: Range, granule: u32) -> bool {
        let granule = u64::from(granule.max(1));
        range.start.0.is_multiple_of(granule) && range.end().is_multiple_of(granule)
    }

    /// Writes `data` at `at` and marks it.
    pub fn write(&mut self, at: Address, data: &[u8]) {
        self.copy_in(at, data);
        self.mark(Range::new(at, data.len() as u32));
    }

    /// Marks `range` as counting.
    pub fn mark(&mut self, range: Range) {
        let (from, to) = self.bits_of(range);
        self.mask.set_range(from, to, true);
    }

    /// Marks `range` as not counting.
    pub fn unmark(&mut self, range: Range) {
        let (from, to) = self.bits_of(range);
        self.mask.set_range(from, to, false);
    }

    /// Puts bytes in place without marking them.
    pub fn copy_in(&mut self, at: Address, data: &[u8]) {
        if let Some(offset) = at.0.checked_sub(self.start.0)
            && let Some(bytes) = self.bytes.as_mut()
            && (offset as usize) < bytes.len()
            && let Some(place) = Arc::make_mut(bytes).get_mut(offset as usize..)
        {
            let count = place.len().min(data.len());
            place[..count].copy_from_slice(&data[..count]);
        }
    }

    /// Puts what `change` makes of it in place of every byte, marked or not. Copies them only if any changes.
    pub fn change_bytes(&mut self, change: impl Fn(Address, u8) -> u8) {
        let Some(bytes) = &mut self.bytes else { return };
        let start = self.start;
        let new = |(offset, byte): (usize, &u8)| change(start.plus(offset as u64), *byte);
        if bytes.iter().enumerate().any(|place| new(place) != *place.1) {
            *bytes = bytes.iter().enumerate().map(new).collect();
        }
    }

    /// Zeros every byte that does not count.
    pub fn clear_unmarked(&mut self) {
        let (start, granule, mask) = (self.start.0, u64::from(self.granule), self.mask.clone());
        self.change_bytes(|at, byte| if mask.get(((at.0 - start) / granule) as u32) { byte } else { 0 });
    }

    /// The bytes of `range`, as far as they lie inside and values are kept.
    #[must_use]
    pub fn read(&self, range: Range) -> Option<&[u8]> {
        let from = range.start.0.checked_sub(self.start.0)? as usize;
        self.bytes().get(from..from.checked_add(range.len as usize)?)
    }

    /// Whether any byte of `range` counts.
    #[must_use]
    pub fn marked(&self, range: Range) -> bool {
        let (from, to) = self.bits_of(range);
        self.mask.any_in(from, to)
    }

    /// Takes the bytes of `other` that count there, marks them here, and returns how many mask bits moved.
    /// The ranges need only overlap.
    pub fn merge(&mut self, other: &Self) -> u32 {
        let mut moved = 0;
        for bit in other.mask.iter() {
            let piece = other.piece(bit);
            if !self.range().contains(piece.start) {
                continue;
            }
            if let Some(bytes) = other.read(piece) {
                self.copy_in(piece.start, bytes);
            }
            self.mark(piece);
            moved += 1;
        }
        moved
    }

    /// Takes the bytes of `newer` that count both there and here.
    pub fn renew(&mut self, newer: &Self) {
        for bit in newer.mask.iter() {
            let piece = newer.piece(bit);
            if self.range().contains(piece.start)
                && self.marked(piece)
                && let Some(bytes) = newer.read(piece)
            {
                self.copy_in(piece.start, bytes);
            }
        }
    }

    /// Takes every byte of `fresh` that is not marked here, without marking it: how a grant is filled in under
    /// the complement of the requester's own mask.
    pub fn fill(&mut self, fresh: &Self) {
        let kept = self.mask.clone();
        self.fill_except(fresh, &kept);
    }

    /// The same with another mask of what is kept.
    pub fn fill_except(&mut self, fresh: &Self, kept: &Bits) {
        let Some(own) = self.bytes.as_mut().filter(|_| fresh.has_values()) else { return };
        if kept.is_empty() && (self.start, self.len) == (fresh.start, fresh.len) {
            self.bytes.clone_from(&fresh.bytes);
            return;
        }
        let own = Arc::make_mut(own);
        for bit in (0..kept.len()).filter(|&bit| !kept.get(bit)) {
            let offset = bit * self.granule;
            let len = self.granule.min(self.len.saturating_sub(offset));
            let piece = Range::new(self.start.plus(u64::from(offset)), len);
            let place = own.get_mut(offset as usize..(offset + len) as usize);
            if let (Some(place), Some(bytes)) = (place, fresh.read(piece)) {
                place.copy_from_slice(bytes);
            }
        }
    }

    /// The range that mask bit `bit` stands for.
    #[must_use]
    pub fn piece(&self, bit: u32) -> Range {
        let offset = bit * self.granule;
        Range::new(self.start.plus(u64::from(offset)), self.granule.min(self.len.saturating_sub(offset)))
    }

    /// The bytes of `range` without a mask.
    #[must_use]
    pub fn clean_copy(&self, range: Range) -> Self {
        let bytes = match &self.bytes {
            Some(all) if range == self.range() => Some(all.clone()),
            Some(_) => self.read(range).map(Arc::from),
            None => None,
        };
        let granule = self.granule.clamp(1, range.len.max(1));
        let mask = Bits::new(range.len.div_ceil(granule));
        Self { start: range.start, len: range.len, granule, mask, bytes }
    }

    /// The pieces of `line` bytes of which any byte counts, those beside each other as one. `line` is a power of two.
    pub fn marked_lines(&self, line: u32) -> impl Iterator<Item = Range> + '_ {
        let mut lines = self.range().blocks(line.min(self.len).max(1)).map(move |start| {
            let end = start.plus(u64::from(line)).0.min(self.range().end());
            Range::new(start, (end - start.0) as u32)
        });
        let is_marked = |line: &Range| self.marked(*line);
        std::iter::from_fn(move || {
            let first = lines.find(is_marked)?;
            let rest = lines.by_ref().take_while(is_marked);
            Some(rest.fold(first, |run, line| Range::new(run.start, run.len + line.len)))
        })
    }

    /// Bytes that count, as far as the mask can tell.
    #[must_use]
    pub fn marked_bytes(&self) -> u32 {
        (self.mask.count() * self.granule).min(self.len)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_which_anything_counts_come_in_runs() {
        let mut patch = Patch::empty(Range::new(Address(0x1000), 512), 1, false);
        for (at, len) in [(0x1004, 4), (0x1044, 1), (0x10ff, 2)] {
            patch.mark(Range::new(Address(at), len));
        }
        let runs: Vec<_> = patch.marked_lines(64).map(|run| (run.start.0, run.len)).collect();
        assert_eq!(runs, [(0x1000, 128), (0x10c0, 128)]);
        assert_eq!(patch.marked_lines(512).map(|run| run.len).collect::<Vec<_>>(), [512]);
    }

    fn range(start: u64, len: u32) -> Range {
        Range::new(Address(start), len)
    }

    #[test]
    fn a_merge_moves_only_marked_bytes() {
        let mut home = Patch::empty(range(0, 16), 1, true);
        let mut line = Patch::empty(range(4, 4), 1, true);
        line.copy_in(Address(4), &[1, 2, 3, 4]);
        line.mark(range(5, 2));
        assert_eq!(home.merge(&line), 2);
        assert_eq!(home.bytes()[..8], [0, 0, 0, 0, 0, 2, 3, 0]);
        assert_eq!(home.mask.count(), 2);
    }

    #[test]
    fn what_is_renewed_is_marked_on_both_sides() {
        let mut answer = Patch::empty(range(0, 8), 1, true);
        answer.write(Address(4), &[1, 1]);
        let mut line = Patch::empty(range(4, 4), 1, true);
        line.write(Address(5), &[2, 2]);
        answer.renew(&line);
        assert_eq!(answer.bytes(), [0, 0, 0, 0, 1, 2, 0, 0]);
        assert_eq!(answer.mask.count(), 2);
    }

    #[test]
    fn a_fill_keeps_what_is_marked() {
        let mut line = Patch::empty(range(0, 4), 1, true);
        line.write(Address(1), &[9]);
        let mut fresh = Patch::empty(range(0, 4), 1, true);
        fresh.copy_in(Address(0), &[1, 1, 1, 1]);
        line.fill(&fresh);
        assert_eq!(line.bytes(), [1, 9, 1, 1]);
    }

    #[test]
    fn alignment_follows_the_granule() {
        assert!(Patch::aligned(range(4, 4), 4));
        assert!(!Patch::aligned(range(4, 2), 4));
        assert!(Patch::aligned(range(3, 1), 1));
    }
}
