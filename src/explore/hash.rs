//! Hashes of 128 bits: what is equal has the same one in every run and on every thread, and what differs practically never.

use std::hash::{Hash, Hasher};

use crate::model::random::{STEP, mix};

/// Two 64-bit hashes side by side.
#[derive(Clone, Copy, Debug)]
struct Wide {
    low: u64,
    high: u64,
}

const HIGH: u64 = 0xd6e8_feb8_6659_fd93;

impl Hasher for Wide {
    fn write_u64(&mut self, word: u64) {
        self.low = mix(self.low ^ word).wrapping_add(STEP);
        self.high = mix(self.high.rotate_left(23).wrapping_add(word)).wrapping_mul(HIGH);
    }

    fn write(&mut self, bytes: &[u8]) {
        for piece in bytes.chunks(8) {
            let word = piece.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte));
            self.write_u64(word);
        }
    }

    fn write_u8(&mut self, word: u8) {
        self.write_u64(u64::from(word));
    }

    fn write_u32(&mut self, word: u32) {
        self.write_u64(u64::from(word));
    }

    fn write_usize(&mut self, word: usize) {
        self.write_u64(word as u64);
    }

    fn write_isize(&mut self, word: isize) {
        self.write_u64(word as u64);
    }

    fn finish(&self) -> u64 {
        self.low
    }
}

/// The hash of a value.
#[must_use]
pub fn wide(value: &impl Hash) -> u128 {
    let mut hasher = Wide { low: 0x2545_f491_4f6c_dd1d, high: 0x6c62_272e_07bb_0142 };
    value.hash(&mut hasher);
    u128::from(mix(hasher.low)) << 64 | u128::from(mix(hasher.high))
}

/// An odd multiplier for the place of a thing in a list, so that a list's hash is the sum of its things' hashes, each times
/// that of its place, and changes by as little as the list does.
#[must_use]
pub fn place(index: usize) -> u128 {
    wide(&("place", index)) | 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_values_have_equal_hashes_and_others_do_not() {
        assert_eq!(wide(&(1u64, "a")), wide(&(1u64, "a")));
        let mut all: Vec<u128> = (0..10_000u64).map(|number| wide(&number)).collect();
        all.extend((0..10_000u64).map(|number| wide(&(number, 0u8))));
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), 20_000);
    }
}
