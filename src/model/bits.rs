//! A small bit set of fixed length, held inline up to 64 bits.

use smallvec::{SmallVec, smallvec};

/// Bits numbered from 0; bits past the length read as clear.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Bits {
    len: u32,
    words: SmallVec<[u64; 1]>,
}

impl Bits {
    /// `len` clear bits.
    #[must_use]
    pub fn new(len: u32) -> Self {
        Self { len, words: smallvec![0; len.div_ceil(64) as usize] }
    }

    /// `len` set bits.
    #[must_use]
    pub fn full(len: u32) -> Self {
        let mut bits = Self::new(len);
        bits.set_range(0, len, true);
        bits
    }

    #[must_use]
    pub fn len(&self) -> u32 {
        self.len
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.words.iter().all(|&word| word == 0)
    }

    #[must_use]
    pub fn any(&self) -> bool {
        !self.is_empty()
    }

    /// Whether every bit is set.
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.count() == self.len
    }

    #[must_use]
    pub fn count(&self) -> u32 {
        self.words.iter().map(|word| word.count_ones()).sum()
    }

    #[must_use]
    pub fn get(&self, bit: u32) -> bool {
        self.words.get(bit as usize / 64).is_some_and(|word| word >> (bit % 64) & 1 == 1)
    }

    /// Sets or clears one bit; a bit past the length is ignored.
    pub fn set(&mut self, bit: u32, value: bool) {
        if bit >= self.len {
            return;
        }
        if let Some(word) = self.words.get_mut(bit as usize / 64) {
            let one = 1u64 << (bit % 64);
            if value { *word |= one } else { *word &= !one }
        }
    }

    /// Sets or clears the bits `[from, to)`.
    pub fn set_range(&mut self, from: u32, to: u32, value: bool) {
        let to = to.min(self.len);
        let mut bit = from;
        while bit < to {
            let high = to.min((bit / 64 + 1) * 64);
            if let Some(word) = self.words.get_mut(bit as usize / 64) {
                if value { *word |= ones(bit, high) } else { *word &= !ones(bit, high) }
            }
            bit = high;
        }
    }

    /// Whether any of the bits `[from, to)` is set.
    #[must_use]
    pub fn any_in(&self, from: u32, to: u32) -> bool {
        let to = to.min(self.len);
        let mut bit = from;
        while bit < to {
            let high = to.min((bit / 64 + 1) * 64);
            if self.words.get(bit as usize / 64).is_some_and(|word| word & ones(bit, high) != 0) {
                return true;
            }
            bit = high;
        }
        false
    }

    pub fn clear(&mut self) {
        self.words.fill(0);
    }

    /// The set bits, ascending.
    pub fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        self.iter_from(0)
    }

    /// The set bits from `first` on, ascending.
    pub fn iter_from(&self, first: u32) -> impl Iterator<Item = u32> + '_ {
        let index = first as usize / 64;
        let word = self.words.get(index).map_or(0, |word| word & u64::MAX << (first % 64));
        Ones { words: &self.words, index, rest: word }
    }
}

/// The set bits of a word, ascending.
pub fn ones_of(word: u64) -> impl Iterator<Item = u32> {
    Ones { words: &[], index: 0, rest: word }
}

/// The set bits that are left of the word at `index`, and those of the words behind it.
struct Ones<'a> {
    words: &'a [u64],
    index: usize,
    rest: u64,
}

impl Iterator for Ones<'_> {
    type Item = u32;

    fn next(&mut self) -> Option<u32> {
        while self.rest == 0 {
            self.index += 1;
            self.rest = *self.words.get(self.index)?;
        }
        let bit = self.rest.trailing_zeros();
        self.rest &= self.rest - 1;
        Some(self.index as u32 * 64 + bit)
    }
}

/// The bits `[from, to)` of the word that holds them all.
fn ones(from: u32, to: u32) -> u64 {
    let width = to - from;
    if width == 64 { u64::MAX } else { ((1u64 << width) - 1) << (from % 64) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_cross_words() {
        let mut bits = Bits::new(200);
        bits.set_range(60, 130, true);
        assert_eq!(bits.count(), 70);
        assert_eq!(bits.iter().next(), Some(60));
        assert_eq!(bits.iter().last(), Some(129));
        bits.set_range(61, 129, false);
        assert_eq!(bits.iter().collect::<Vec<_>>(), [60, 129]);
        assert!(bits.any_in(129, 200) && bits.any_in(0, 61) && !bits.any_in(61, 129));
        bits.set(500, true);
        assert_eq!(bits.count(), 2);
        let from = |first| bits.iter_from(first).collect::<Vec<_>>();
        assert_eq!(
            [from(60), from(61), from(129), from(130), from(500)],
            [vec![60, 129], vec![129], vec![129], vec![], vec![]]
        );
    }
}
