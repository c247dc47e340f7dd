//! Randomness that is part of a machine's state: the same seed makes the same choices everywhere.

/// What `SplitMix64` counts up by: the golden ratio.
pub const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

/// The largest seed that files and the command line take: what a number of TOML has room for.
pub const MOST_SEED: u64 = i64::MAX as u64;

/// Spreads every bit of a word over all of them: the finaliser of `SplitMix64`.
#[must_use]
pub fn mix(word: u64) -> u64 {
    let word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ (word >> 31)
}

/// A seed for each of many runs with one seed, so that neighbouring ones have nothing in common.
#[must_use]
pub fn seed_of(seed: u64, number: u64) -> u64 {
    mix(seed ^ number.wrapping_mul(STEP))
}

/// A `SplitMix64` generator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Random {
    state: u64,
}

impl Random {
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    /// The next 64 bits.
    pub fn draw(&mut self) -> u64 {
        self.state = self.state.wrapping_add(STEP);
        mix(self.state)
    }

    /// A number below `bound`, each as likely as the others; 0 for a bound of 0.
    pub fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.draw()) * u128::from(bound)) >> 64) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_seed_makes_one_sequence() {
        let draw = |seed| {
            let mut random = Random::new(seed);
            (0..8).map(|_| random.below(10)).collect::<Vec<_>>()
        };
        assert_eq!(draw(7), draw(7));
        assert_ne!(draw(7), draw(8));
        assert!(draw(7).iter().all(|&number| number < 10));
        assert_eq!(Random::new(1).below(0), 0);
    }
}
