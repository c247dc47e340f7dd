//! One instruction of a trace, and how it is kept: a few bytes instead of a line of text.

use smallvec::SmallVec;

use crate::model::access::AccessKind;
use crate::model::address::Address;
use crate::model::operation::{Fence, Lanes, Operation, StoreValue, WarpAccess};

/// What an instruction does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// Computes for so many cycles.
    Compute(u32),
    Barrier,
    Fence,
    Touch(Touch),
}

/// An access to memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Touch {
    pub kind: AccessKind,
    /// Bytes of each lane.
    pub width: u8,
    pub lanes: Lanes,
    /// What is stored is made from this number and the address: traces hold no values.
    pub seed: u64,
}

impl From<Step> for Operation {
    fn from(step: Step) -> Self {
        match step {
            Step::Compute(cycles) => Self::Compute(cycles),
            Step::Barrier => Self::Barrier,
            Step::Fence => Self::Fence(Fence::Full),
            Step::Touch(Touch { kind, width, lanes, seed }) => {
                Self::Access(WarpAccess { kind, width, lanes, value: StoreValue::Seed(seed), label: None })
            }
        }
    }
}

/// Numbers of the other steps, and of the first kind of access; twice as many follow, for lanes listed or strided.
const COMPUTE: u8 = 0;
const BARRIER: u8 = 1;
const FENCE: u8 = 2;
const TOUCH: u8 = 3;

impl Step {
    /// Appends the step to `bytes`.
    pub fn write(&self, bytes: &mut Vec<u8>) {
        match self {
            Self::Compute(cycles) => {
                bytes.push(COMPUTE);
                put(bytes, u64::from(*cycles));
            }
            Self::Barrier => bytes.push(BARRIER),
            Self::Fence => bytes.push(FENCE),
            Self::Touch(touch) => touch.write(bytes),
        }
    }

    /// Takes the next step from `bytes`; `None` if they hold none.
    pub fn read(bytes: &mut &[u8]) -> Option<Self> {
        Some(match take(bytes)? {
            COMPUTE => Self::Compute(u32::try_from(get(bytes)?).ok()?),
            BARRIER => Self::Barrier,
            FENCE => Self::Fence,
            tag => Self::Touch(Touch::read(tag - TOUCH, bytes)?),
        })
    }
}

impl Touch {
    fn write(&self, bytes: &mut Vec<u8>) {
        let kind = AccessKind::ALL.iter().position(|kind| *kind == self.kind).unwrap_or_default() as u8;
        let listed = u8::from(matches!(self.lanes, Lanes::Listed { .. }));
        bytes.extend([TOUCH + kind * 2 + listed, self.width]);
        put(bytes, self.seed);
        match &self.lanes {
            Lanes::Strided { mask, base, stride } => {
                put(bytes, *mask);
                put(bytes, base.0);
                put(bytes, folded(*stride));
            }
            Lanes::Listed { mask, addresses } => {
                put(bytes, *mask);
                let mut last = 0u64;
                for address in addresses {
                    put(bytes, folded(address.0.wrapping_sub(last) as i64));
                    last = address.0;
                }
            }
        }
    }

    fn read(tag: u8, bytes: &mut &[u8]) -> Option<Self> {
        let kind = *AccessKind::ALL.get(usize::from(tag / 2))?;
        let width = take(bytes)?;
        let seed = get(bytes)?;
        let mask = get(bytes)?;
        let lanes = if tag.is_multiple_of(2) {
            Lanes::Strided { mask, base: Address(get(bytes)?), stride: unfolded(get(bytes)?) }
        } else {
            let mut last = 0u64;
            let next = |_| {
                last = last.wrapping_add(unfolded(get(bytes)?) as u64);
                Some(Address(last))
            };
            Lanes::Listed {
                mask,
                addresses: (0..mask.count_ones()).map(next).collect::<Option<SmallVec<_>>>()?,
            }
        };
        Some(Self { kind, width, lanes, seed })
    }
}

fn take(bytes: &mut &[u8]) -> Option<u8> {
    let (first, rest) = bytes.split_first()?;
    *bytes = rest;
    Some(*first)
}

/// Seven bits a byte, the lowest first; the top bit says that more follow.
fn put(bytes: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

fn get(bytes: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for shift in (0..64).step_by(7) {
        let byte = take(bytes)?;
        number |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Some(number);
        }
    }
    None
}

/// Small numbers of either sign as small numbers.
fn folded(number: i64) -> u64 {
    ((number << 1) ^ (number >> 63)) as u64
}

fn unfolded(number: u64) -> i64 {
    (number >> 1) as i64 ^ -((number & 1) as i64)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::workload::lanes;

    fn touch(kind: usize, mask: u64, addresses: Vec<u64>, stride: i64, seed: u64) -> Step {
        let kind = AccessKind::ALL[kind % AccessKind::ALL.len()];
        let lanes = if addresses.is_empty() {
            Lanes::Strided { mask, base: Address(seed), stride }
        } else {
            let mask = (1u64 << addresses.len()) - 1;
            lanes::compact(mask, addresses.into_iter().map(Address).collect())
        };
        Step::Touch(Touch { kind, width: stride as u8, lanes, seed })
    }

    proptest! {
        #[test]
        fn steps_are_read_as_they_were_written(
            kind in 0usize..7, mask: u64, stride: i64, seed: u64, cycles: u32,
            addresses in proptest::collection::vec(any::<u64>(), 0..33),
        ) {
            let steps = [
                Step::Compute(cycles), touch(kind, mask, addresses, stride, seed), Step::Barrier, Step::Fence,
            ];
            let mut bytes = Vec::new();
            for step in &steps {
                step.write(&mut bytes);
            }
            let mut rest = bytes.as_slice();
            let read: Vec<_> = std::iter::from_fn(|| Step::read(&mut rest)).collect();
            prop_assert_eq!(read, steps.to_vec());
            prop_assert!(rest.is_empty());
        }

        #[test]
        fn no_bytes_panic(bytes in proptest::collection::vec(any::<u8>(), 0..100)) {
            let mut rest = bytes.as_slice();
            while Step::read(&mut rest).is_some() {}
        }
    }

    #[test]
    fn a_word_of_a_core_takes_a_few_bytes() {
        let lanes = Lanes::one(Address(0x100_0000));
        let mut bytes = Vec::new();
        Step::Touch(Touch { kind: AccessKind::Store, width: 4, lanes, seed: 1000 }).write(&mut bytes);
        assert_eq!(bytes.len(), 10);
    }
}
