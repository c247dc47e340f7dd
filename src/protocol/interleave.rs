//! How addresses are dealt over equal neighbours: slices, partitions, HMDs, sockets.

use smallvec::SmallVec;

use crate::model::address::{Address, Range};

/// How addresses are dealt over equal neighbours (slices, partitions, HMDs).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Interleave {
    /// Bytes in one piece.
    pub size: u64,
    pub count: u64,
    /// By all bits of a piece's number and not only the lowest, so that strides of a power of two do not all fall to the same
    /// ones ("partition camping"). The count is a power of two.
    pub hashed: bool,
}

/// `number / by` and `number % by`, without dividing where `by` is a power of two, as it mostly is.
pub fn divide(number: u64, by: u64) -> (u64, u64) {
    if by.is_power_of_two() {
        (number >> by.trailing_zeros(), number & (by - 1))
    } else {
        let by = by.max(1);
        (number / by, number % by)
    }
}

/// The digits of a number, in base `count`, a power of two, added without carry.
pub fn fold(number: u64, count: u64) -> u64 {
    let bits = count.trailing_zeros();
    let mut rest = if bits == 0 { 0 } else { number };
    let mut sum = 0;
    while rest > 0 {
        sum ^= rest & (count - 1);
        rest >>= bits;
    }
    sum
}

impl Interleave {
    pub const NONE: Self = Self { size: 1, count: 1, hashed: false };

    /// One piece after the other.
    #[must_use]
    pub fn in_turn(size: u64, count: u64) -> Self {
        Self { size, count, hashed: false }
    }

    /// Which of the neighbours serves `address`.
    #[must_use]
    pub fn index(self, address: Address) -> usize {
        if self.count == 1 {
            return 0;
        }
        let piece = divide(address.0, self.size).0;
        if self.hashed { fold(piece, self.count) as usize } else { divide(piece, self.count).1 as usize }
    }

    /// Which of the neighbours serves all that falls to one of others, which are dealt so; none if several do.
    #[must_use]
    pub fn index_of_all(self, others: Self, other: u64) -> Option<usize> {
        let is_finer = self.size == others.size && others.count.is_multiple_of(self.count);
        if !is_finer || self.hashed != others.hashed {
            return None;
        }
        if !self.hashed {
            return Some(divide(other, self.count).1 as usize);
        }
        let (bits, theirs) = (self.count.trailing_zeros(), others.count.trailing_zeros());
        (bits == 0 || theirs.is_multiple_of(bits)).then(|| fold(other, self.count) as usize)
    }

    /// What of `range` falls to each of the neighbours: where that begins, and its bytes, which follow each other there.
    #[must_use]
    pub fn parts(self, range: Range) -> SmallVec<[(Address, u32); 8]> {
        let mut parts: SmallVec<[(Address, u32); 8]> = SmallVec::new();
        let piece = if self.count == 1 { u64::MAX } else { self.size.max(1) };
        let mut start = range.start.0;
        while start < range.end() {
            let end = (divide(start, piece).0 + 1).saturating_mul(piece).min(range.end());
            let (index, bytes) = (self.index(Address(start)), (end - start) as u32);
            match parts.iter_mut().find(|(other, _)| self.index(*other) == index) {
                Some((_, all)) => *all += bytes,
                None => parts.push((Address(start), bytes)),
            }
            start = end;
        }
        parts
    }

    /// The address with the dealing squeezed out, so that a slice uses all its sets.
    #[must_use]
    pub fn local(self, address: Address) -> u64 {
        if self.count == 1 {
            return address.0;
        }
        let (piece, offset) = divide(address.0, self.size);
        divide(piece, self.count).0 * self.size.max(1) + offset
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashed_pieces_go_to_all_neighbours_whatever_the_stride_and_have_places_of_their_own() {
        let hashed = Interleave { hashed: true, ..Interleave::in_turn(4096, 4) };
        for stride in [1, 2, 4, 8, 16, 64, 1024] {
            let pieces = (0..64).map(|piece| Address(piece * stride * 4096));
            let mut counts = [0; 4];
            pieces.clone().for_each(|piece| counts[hashed.index(piece)] += 1);
            assert_eq!(counts, [16; 4], "every {stride}th piece");
            let places: std::collections::BTreeSet<_> =
                pieces.map(|piece| (hashed.index(piece), hashed.local(piece))).collect();
            assert_eq!(places.len(), 64);
        }
        let camped = Interleave::in_turn(4096, 4);
        assert!((0..64).all(|piece| camped.index(Address(piece * 4 * 4096)) == 0));
    }

    #[test]
    fn a_range_is_dealt_whole_and_each_part_lies_together() {
        for (dealing, range, expected) in [
            (Interleave::NONE, Range::new(Address(100), 5000), vec![(100, 5000)]),
            (Interleave::in_turn(256, 2), Range::new(Address(128), 640), vec![(128, 384), (256, 256)]),
            (
                Interleave::in_turn(4096, 3),
                Range::new(Address(8192), 8192),
                vec![(8192, 4096), (12288, 4096)],
            ),
        ] {
            let parts: Vec<_> = dealing.parts(range).iter().map(|(start, bytes)| (start.0, *bytes)).collect();
            assert_eq!(parts, expected);
        }
    }

    #[test]
    fn what_falls_to_one_slice_falls_to_one_directory_if_both_are_dealt_alike() {
        for hashed in [false, true] {
            let slices = Interleave { hashed, ..Interleave::in_turn(4096, 4) };
            for count in [1, 2, 4] {
                let few = Interleave { hashed, ..Interleave::in_turn(4096, count) };
                for piece in (0..512).map(|piece| Address(piece * 4096)) {
                    let one = few.index_of_all(slices, slices.index(piece) as u64);
                    assert_eq!(one, Some(few.index(piece)), "{count} {hashed} {piece}");
                }
            }
            let otherwise = Interleave { hashed: !hashed, ..Interleave::in_turn(4096, 2) };
            let (smaller, more) = (Interleave::in_turn(64, 2), Interleave::in_turn(4096, 8));
            for other in [otherwise, smaller, more] {
                assert_eq!(other.index_of_all(slices, 0), None);
            }
        }
        // Digits of three bits are not made of digits of two.
        let (eight, four) = (Interleave::in_turn(64, 8), Interleave::in_turn(64, 4));
        let hashed = |dealing| Interleave { hashed: true, ..dealing };
        assert_eq!(hashed(four).index_of_all(hashed(eight), 0), None);
    }
}
