//! What a warp or a core asks of its first-level cache.

use std::sync::Arc;

use smallvec::SmallVec;

use super::address::Range;
use super::bits::Bits;

/// The kind of an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum AccessKind {
    Load,
    /// A coherent (exclusive) store. Of zero bytes it is the exclusive access request of dynamic
    /// synchronisation (UMH, section 4.2.1).
    Store,
    /// A non-coherent store.
    NStore,
    /// A coherent read-modify-write; returns the old value.
    Atomic(AtomicOp),
}

/// What an atomic does to the value that it finds (little-endian, as wide as the access).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum AtomicOp {
    Add,
    Exchange,
    Max,
    /// Stores the operand if the old value is zero.
    CompareZeroSwap,
}

impl AccessKind {
    /// All of them, in a fixed order: traces store their place in it.
    pub const ALL: [Self; 7] = [
        Self::Load,
        Self::Store,
        Self::NStore,
        Self::Atomic(AtomicOp::Add),
        Self::Atomic(AtomicOp::Exchange),
        Self::Atomic(AtomicOp::Max),
        Self::Atomic(AtomicOp::CompareZeroSwap),
    ];

    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Load => "load",
            Self::Store => "store",
            Self::NStore => "n-store",
            Self::Atomic(AtomicOp::Add) => "atomic-add",
            Self::Atomic(AtomicOp::Exchange) => "atomic-exchange",
            Self::Atomic(AtomicOp::Max) => "atomic-max",
            Self::Atomic(AtomicOp::CompareZeroSwap) => "atomic-compare-zero-swap",
        }
    }

    /// The name of an access of so many bytes: a coherent store of none is an exclusive access.
    #[must_use]
    pub fn name_of(self, len: u32) -> &'static str {
        if self == Self::Store && len == 0 { "exclusive" } else { self.name() }
    }

    #[must_use]
    pub fn writes(self) -> bool {
        self != Self::Load
    }
}

/// Bytes of an access, inline up to eight.
pub type Bytes = SmallVec<[u8; 8]>;

/// One access to one block.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Access {
    pub kind: AccessKind,
    pub range: Range,
    /// What a store writes or an atomic operates with; as long as the range, or empty with values off.
    pub bytes: Bytes,
    /// Which bytes of the range it touches, where the lanes of a store leave gaps, or those of a load skip a sector; `None` for all.
    pub mask: Option<Arc<Bits>>,
}

impl Access {
    /// The runs of bytes that it touches, as ranges.
    #[must_use]
    pub fn runs(&self) -> SmallVec<[Range; 2]> {
        match &self.mask {
            Some(mask) => runs(self.range, mask),
            None => SmallVec::from_slice(&[self.range]),
        }
    }

    /// The bytes that a run of it writes.
    #[must_use]
    pub fn bytes_of(&self, run: Range) -> &[u8] {
        let from = run.start.0.saturating_sub(self.range.start.0) as usize;
        self.bytes.get(from..from + run.len as usize).unwrap_or(&[])
    }
}

/// The runs of bytes of a range that a mask with a bit a byte names.
#[must_use]
pub fn runs(range: Range, mask: &Bits) -> SmallVec<[Range; 2]> {
    let mut runs: SmallVec<[Range; 2]> = SmallVec::new();
    for bit in mask.iter() {
        let at = range.start.plus(u64::from(bit));
        match runs.last_mut() {
            Some(run) if run.end() == at.0 => run.len += 1,
            _ => runs.push(Range::new(at, 1)),
        }
    }
    runs
}

impl AtomicOp {
    /// All of them, in the order of [`AccessKind::ALL`].
    pub const ALL: [Self; 4] = [Self::Add, Self::Exchange, Self::Max, Self::CompareZeroSwap];

    /// The word for it: that of its access without `atomic-`.
    #[must_use]
    pub fn name(self) -> &'static str {
        let access = AccessKind::Atomic(self).name();
        access.strip_prefix("atomic-").unwrap_or(access)
    }

    /// The one that a word names.
    #[must_use]
    pub fn named(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|operation| operation.name() == word)
    }

    /// The new value from `old` and `operand`, both little-endian and of one width up to eight bytes.
    #[must_use]
    pub fn apply(self, old: &[u8], operand: &[u8]) -> Bytes {
        let number =
            |bytes: &[u8]| bytes.iter().take(8).rev().fold(0u64, |value, &byte| value << 8 | u64::from(byte));
        let (a, b) = (number(old), number(operand));
        let new = match self {
            Self::Add => a.wrapping_add(b),
            Self::Exchange => b,
            Self::Max => a.max(b),
            Self::CompareZeroSwap => {
                if a == 0 {
                    b
                } else {
                    a
                }
            }
        };
        new.to_le_bytes().into_iter().take(old.len()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_atomic_add_wraps_at_its_width() {
        assert_eq!(AtomicOp::Add.apply(&[255], &[2])[..], [1]);
        assert_eq!(AtomicOp::Add.apply(&[255, 0], &[2, 0])[..], [1, 1]);
    }
}
