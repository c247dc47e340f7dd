//! The instructions of a warp or core, as far as the memory system sees them.

use std::sync::Arc;

use smallvec::SmallVec;

use super::access::{AccessKind, Bytes};
use super::address::Address;
use super::bits::ones_of;

/// One instruction of a warp or core.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Operation {
    /// Computes for so many cycles of the agent's clock.
    Compute(u32),
    Access(WarpAccess),
    /// Repeats the access (a load of one lane) until it reads these bytes.
    SpinUntil(WarpAccess, Bytes),
    /// Waits for all warps of the block.
    Barrier,
    Fence(Fence),
}

/// What a fence waits for. On tables with an `acquire` column (software coherence) an acquire also empties the L1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fence {
    Acquire,
    Release,
    Full,
}

/// A memory instruction of a warp: one access per active lane.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WarpAccess {
    pub kind: AccessKind,
    /// Bytes per lane; 0 for the exclusive access request of dynamic synchronisation.
    pub width: u8,
    pub lanes: Lanes,
    pub value: StoreValue,
    /// Names the result, so that expectations can ask for it.
    pub label: Option<Arc<str>>,
}

/// The lanes that take part, and their addresses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Lanes {
    /// Lane of the n-th set bit of `mask` accesses `base + stride * bit number`.
    Strided { mask: u64, base: Address, stride: i64 },
    /// The n-th set bit of `mask` accesses `addresses[n]`.
    Listed { mask: u64, addresses: SmallVec<[Address; 4]> },
}

/// What the lanes store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StoreValue {
    /// The same bytes in each lane (as long as the width).
    Bytes(Bytes),
    /// Different in each lane, a function of this seed and the lane's address.
    Seed(u64),
}

impl Operation {
    /// Whether it leaves its warp with bytes that it has read.
    #[must_use]
    pub fn reads(&self) -> bool {
        match self {
            Self::Access(access) => matches!(access.kind, AccessKind::Load | AccessKind::Atomic(_)),
            Self::SpinUntil(..) => true,
            Self::Compute(_) | Self::Barrier | Self::Fence(_) => false,
        }
    }
}

impl Fence {
    pub const ALL: [Self; 3] = [Self::Acquire, Self::Release, Self::Full];

    /// The word for it in a program.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Acquire => "acquire",
            Self::Release => "release",
            Self::Full => "full",
        }
    }

    /// The one that a word names.
    #[must_use]
    pub fn named(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|fence| fence.name() == word)
    }
}

impl Lanes {
    /// One lane.
    #[must_use]
    pub fn one(address: Address) -> Self {
        Self::Strided { mask: 1, base: address, stride: 0 }
    }

    /// The address of the only lane, if there is only one.
    #[must_use]
    pub fn single(&self) -> Option<Address> {
        match self {
            Self::Strided { mask, base, stride } if mask.is_power_of_two() => {
                let offset = stride.wrapping_mul(i64::from(mask.trailing_zeros())) as u64;
                Some(Address(base.0.wrapping_add(offset)))
            }
            Self::Listed { mask, addresses } if mask.is_power_of_two() => addresses.first().copied(),
            _ => None,
        }
    }

    /// How many lanes take part.
    #[must_use]
    pub fn count(&self) -> u32 {
        match self {
            Self::Strided { mask, .. } => mask.count_ones(),
            Self::Listed { mask, addresses } => mask.count_ones().min(addresses.len() as u32),
        }
    }

    /// Lane numbers and addresses, ascending by lane.
    pub fn iter(&self) -> impl Iterator<Item = (u32, Address)> + '_ {
        let mask = match self {
            Self::Strided { mask, .. } | Self::Listed { mask, .. } => *mask,
        };
        ones_of(mask).enumerate().filter_map(move |(nth, lane)| match self {
            Self::Strided { base, stride, .. } => {
                let offset = stride.wrapping_mul(i64::from(lane)) as u64;
                Some((lane, Address(base.0.wrapping_add(offset))))
            }
            Self::Listed { addresses, .. } => addresses.get(nth).map(|address| (lane, *address)),
        })
    }
}

impl StoreValue {
    /// The bytes that the lane at `address` stores.
    #[must_use]
    pub fn bytes(&self, address: Address, width: u8) -> Bytes {
        match self {
            Self::Bytes(bytes) => bytes.clone(),
            Self::Seed(seed) => {
                let mut mixed = seed.wrapping_add(address.0).wrapping_mul(0x9e37_79b9_7f4a_7c15);
                (0..width)
                    .map(|_| {
                        mixed ^= mixed >> 29;
                        mixed = mixed.wrapping_mul(0xbf58_476d_1ce4_e5b9).wrapping_add(1);
                        (mixed >> 56) as u8
                    })
                    .collect()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fence_is_named_by_its_own_word() {
        assert_eq!(Fence::ALL.map(Fence::name), ["acquire", "release", "full"]);
        assert_eq!(Fence::ALL.map(|fence| Fence::named(fence.name())), Fence::ALL.map(Some));
        assert_eq!(Fence::named("Full"), None);
    }
}
