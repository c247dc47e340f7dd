//! Physical addresses and ranges of them.

use std::fmt;

/// A physical byte address.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Address(pub u64);

impl Address {
    /// The start of the block of `size` bytes (a power of two) that holds this address.
    #[must_use]
    pub fn block(self, size: u32) -> Self {
        Self(self.0 & !(u64::from(size.max(1)) - 1))
    }

    /// This address moved up by `bytes`; wraps at the end of the address space.
    #[must_use]
    pub fn plus(self, bytes: u64) -> Self {
        Self(self.0.wrapping_add(bytes))
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#x}", self.0)
    }
}

/// A run of bytes `[start, start + len)`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Range {
    pub start: Address,
    pub len: u32,
}

impl Range {
    #[must_use]
    pub fn new(start: Address, len: u32) -> Self {
        Self { start, len }
    }

    /// The block of `size` bytes that holds `address`.
    #[must_use]
    pub fn block(address: Address, size: u32) -> Self {
        Self { start: address.block(size), len: size }
    }

    /// Its first byte.
    #[must_use]
    pub fn start_only(self) -> Self {
        Self::new(self.start, 1)
    }

    /// One past the last byte; saturates.
    #[must_use]
    pub fn end(self) -> u64 {
        self.start.0.saturating_add(u64::from(self.len))
    }

    #[must_use]
    pub fn contains(self, address: Address) -> bool {
        self.start <= address && address.0 < self.end()
    }

    /// Whether it holds every byte of another.
    #[must_use]
    pub fn covers(self, other: Self) -> bool {
        self.start <= other.start && other.end() <= self.end()
    }

    /// Whether both hold a common byte. An empty range touches what contains its start.
    #[must_use]
    pub fn overlaps(self, other: Self) -> bool {
        let end = |r: Self| r.end().max(r.start.0.saturating_add(1));
        self.start.0 < end(other) && other.start.0 < end(self)
    }

    /// The blocks of `size` bytes that this range touches, in order.
    pub fn blocks(self, size: u32) -> impl Iterator<Item = Address> {
        let size = size.max(1);
        let first = self.start.block(size).0;
        let last = self.end().max(self.start.0.saturating_add(1)) - 1;
        (first..=last).step_by(size as usize).map(Address)
    }

    /// The parts of this range that lie in one block of `size` bytes each, in order.
    pub fn by_block(self, size: u32) -> impl Iterator<Item = Self> {
        self.blocks(size).map(move |block| {
            let start = self.start.max(block);
            let end = self.end().min(block.0.saturating_add(u64::from(size.max(1))));
            Self::new(start, end.saturating_sub(start.0) as u32)
        })
    }
}

impl fmt::Display for Range {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}+{}", self.start, self.len)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_names_its_blocks() {
        let blocks: Vec<_> = Range::new(Address(0x30), 0x60).blocks(64).collect();
        assert_eq!(blocks, [Address(0), Address(0x40), Address(0x80)]);
        assert_eq!(Range::new(Address(0x40), 0).blocks(64).count(), 1);
        let parts: Vec<_> = Range::new(Address(0x3e), 8).by_block(64).collect();
        assert_eq!(parts, [Range::new(Address(0x3e), 2), Range::new(Address(0x40), 6)]);
    }

    #[test]
    fn overlap_needs_a_common_byte() {
        let a = Range::new(Address(0), 64);
        assert!(a.overlaps(Range::new(Address(63), 1)));
        assert!(!a.overlaps(Range::new(Address(64), 64)));
        assert!(a.overlaps(Range::new(Address(63), 0)));
    }
}
