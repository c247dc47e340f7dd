//! Time is an integer count of ticks; a tick is chosen per machine so that every clock's period is a whole number of them, and
//! clocks do not drift. Stated times are rounded down to a tick, of 10 ps at most.

use super::units::Frequency;

/// A point in, or a span of, simulated time.
pub type Tick = u64;

/// The number of an event; a position in a run. `step` executes exactly one event.
pub type EventNumber = u64;

/// When something began: for how long, and which event shows it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Since {
    pub tick: Tick,
    pub event: EventNumber,
}

/// Converts between ticks, nanoseconds and the cycles that people are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimeBase {
    /// Resolution of a tick.
    pub ticks_per_second: u64,
    /// Length of the cycle that positions are quoted in (the GPU core clock), in ticks.
    pub ticks_per_cycle: u64,
}

/// Ticks of a second at least, and at most: so that some hours of a machine's time still fit.
const COARSEST: u128 = 100_000_000_000;
const FINEST: u64 = 1_000_000_000_000_000;

impl TimeBase {
    /// A tick that divides the cycle of both clocks and is at most 10 ps. Positions are quoted in cycles of the first.
    ///
    /// # Errors
    /// If it would have to be shorter than a femtosecond.
    pub fn of(quoted: Frequency, other: Frequency) -> Result<Self, String> {
        let (clock, also) = (quoted.0.max(1), other.0.max(1));
        let common = u128::from(clock) / u128::from(gcd(clock, also)) * u128::from(also);
        let ticks = common * COARSEST.div_ceil(common);
        match u64::try_from(ticks) {
            Ok(ticks) if ticks <= FINEST => {
                Ok(Self { ticks_per_second: ticks, ticks_per_cycle: ticks / clock })
            }
            _ => Err(format!("{quoted} and {other} have no common tick of a femtosecond or more")),
        }
    }

    /// The quoted cycle that contains `tick`.
    #[must_use]
    pub fn cycle(self, tick: Tick) -> u64 {
        tick / self.ticks_per_cycle.max(1)
    }

    /// The first tick of `cycle`; saturates at the end of time.
    #[must_use]
    pub fn tick_of_cycle(self, cycle: u64) -> Tick {
        cycle.saturating_mul(self.ticks_per_cycle)
    }

    /// `tick` in nanoseconds.
    #[must_use]
    pub fn nanoseconds(self, tick: Tick) -> f64 {
        tick as f64 * 1e9 / self.ticks_per_second.max(1) as f64
    }
}

/// A clock domain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Clock {
    /// Ticks in one cycle of this clock; at least 1.
    pub period: Tick,
}

impl Clock {
    /// The span of `cycles` cycles; saturates.
    #[must_use]
    pub fn cycles(self, cycles: u64) -> Tick {
        cycles.saturating_mul(self.period)
    }

    /// The first edge of this clock at or after `tick`.
    #[must_use]
    pub fn edge(self, tick: Tick) -> Tick {
        tick.div_ceil(self.period.max(1)).saturating_mul(self.period)
    }
}

/// A byte rate as an exact fraction, which carries the remainder of each transfer into the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ByteRate {
    /// Bytes moved ...
    pub bytes: u64,
    /// ... in this many ticks.
    pub ticks: u64,
    carry: u64,
}

impl ByteRate {
    /// `bytes` every `ticks`; a zero in either place is read as one.
    #[must_use]
    pub fn new(bytes: u64, ticks: u64) -> Self {
        let (bytes, ticks) = (bytes.max(1), ticks.max(1));
        let divisor = gcd(bytes, ticks);
        Self { bytes: bytes / divisor, ticks: ticks / divisor, carry: 0 }
    }

    /// The ticks that `bytes` occupy, counting what earlier transfers left of a tick.
    pub fn occupy(&mut self, bytes: u64) -> Tick {
        // Nearly always it fits, and a division of 128 bits is slow.
        if let Some(total) = bytes.checked_mul(self.ticks).and_then(|total| total.checked_add(self.carry)) {
            self.carry = total % self.bytes;
            return total / self.bytes;
        }
        let total = u128::from(bytes) * u128::from(self.ticks) + u128::from(self.carry);
        let per = u128::from(self.bytes);
        self.carry = (total % per) as u64;
        u64::try_from(total / per).unwrap_or(u64::MAX)
    }

    /// Becomes `other`; what is left of a tick stays if it is the same rate.
    pub fn adopt(&mut self, other: Self) {
        if (self.bytes, self.ticks) != (other.bytes, other.ticks) {
            *self = Self { carry: 0, ..other };
        }
    }
}

/// Greatest common divisor.
#[must_use]
fn gcd(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_byte_rate_carries_the_remainder() {
        let mut rate = ByteRate::new(3, 2);
        let total: u64 = (0..300).map(|_| rate.occupy(1)).sum();
        assert_eq!(total, 200);
    }

    #[test]
    fn an_edge_is_never_early() {
        let clock = Clock { period: 5 };
        assert_eq!(clock.edge(0), 0);
        assert_eq!(clock.edge(11), 15);
    }
}
