//! Which sectors of a line: pieces of 32 B, the smallest that a GPU asks a memory for.

use super::address::{Address, Range};

/// Sectors of one block, a bit each. A block larger than 64 sectors has its last bit stand for all the rest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Sectors(u64);

/// The most sectors of a block that are told apart.
const MOST: u32 = 64;

impl Sectors {
    /// Bytes of a sector: "32B requests happen to be the minimum and most frequently sized request issued to the GPU
    /// memory system" (Selective GPU Caches, section 3.2.3).
    pub const SIZE: u32 = 32;
    pub const NONE: Self = Self(0);

    /// Every sector of a block of `block` bytes.
    #[must_use]
    pub fn all(block: u32) -> Self {
        match block.div_ceil(Self::SIZE).max(1) {
            count if count >= MOST => Self(u64::MAX),
            count => Self((1 << count) - 1),
        }
    }

    /// Those that a run of bytes touches in the block that starts at `block`.
    #[must_use]
    pub fn of(run: Range, block: Address) -> Self {
        let place = |at: u64| (at.saturating_sub(block.0) / u64::from(Self::SIZE)).min(u64::from(MOST - 1));
        let (first, last) = (place(run.start.0), place(run.end().max(run.start.0 + 1) - 1));
        Self((first..=last).fold(0, |bits, place| bits | 1 << place))
    }

    #[must_use]
    pub fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    #[must_use]
    pub fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    #[must_use]
    pub fn both(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    #[must_use]
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    #[must_use]
    pub fn count(self) -> u32 {
        self.0.count_ones()
    }

    /// Bytes that they are of a block of `block` bytes.
    #[must_use]
    pub fn bytes(self, block: u32) -> u32 {
        if self == Self::all(block) { block } else { (self.count() * Self::SIZE).min(block) }
    }

    /// Where each run of neighbours lies, in a block that starts at `block`.
    pub fn runs(self, block: Range) -> impl Iterator<Item = Range> {
        let size = u64::from(Self::SIZE);
        (0..MOST).filter(move |place| self.0 >> place & 1 == 1).filter_map(move |place| {
            let start = block.start.plus(u64::from(place) * size);
            let end = if place == MOST - 1 { block.end() } else { (start.0 + size).min(block.end()) };
            (start.0 < end).then(|| Range::new(start, (end - start.0) as u32))
        })
    }

    /// A letter each, first sector first: `#` for those that are there.
    #[must_use]
    pub fn picture(self, block: u32) -> String {
        let count = Self::all(block).count();
        (0..count).map(|place| if self.0 >> place & 1 == 1 { '#' } else { '.' }).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_touches_the_sectors_that_it_lies_in() {
        let of = |start, len| Sectors::of(Range::new(Address(start), len), Address(0x1000)).picture(128);
        assert_eq!(of(0x1000, 4), "#...");
        assert_eq!(of(0x101c, 8), "##..");
        assert_eq!(of(0x1060, 32), "...#");
        assert_eq!(of(0x1000, 128), "####");
        assert_eq!(Sectors::all(128).bytes(128), 128);
        assert_eq!(Sectors::all(4096).bytes(4096), 4096);
        assert_eq!(Sectors::all(8).bytes(8), 8);
    }

    #[test]
    fn runs_are_where_the_bits_are() {
        let block = Range::new(Address(0x1000), 128);
        let some = Sectors::of(Range::new(Address(0x1020), 64), Address(0x1000));
        let starts: Vec<u64> = some.runs(block).map(|run| run.start.0).collect();
        assert_eq!((starts, some.count(), some.bytes(128)), (vec![0x1020, 0x1040], 2, 64));
        assert_eq!(some.without(Sectors::all(128)), Sectors::NONE);
    }
}
