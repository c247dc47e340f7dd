//! The checks that every number of a machine file goes through.

use std::fmt;
use std::ops::{Range, RangeInclusive};

use super::document::{At, Document};
use super::fail;
use crate::diagnostic::{Diagnostic, Result};
use crate::model::units::{Bandwidth, BitEnergy, Duration, Frequency, Size};

/// Checks values against their limits, and complains in the document that they come from.
#[derive(Clone, Copy, Debug)]
pub(super) struct Check<'a> {
    pub document: &'a Document,
}

/// A value, and where it was given, unless it is a default.
#[derive(Clone, Debug)]
pub(super) struct Known {
    pub value: u64,
    pub span: Option<Range<usize>>,
}

impl Check<'_> {
    /// That a key is what it cannot be; it is called as it was written.
    fn complain(self, span: &Range<usize>, key: &str, value: impl fmt::Display) -> Diagnostic {
        let message = format!("{} is {value}", self.document.as_written(key));
        self.document.complain(Some(span), message)
    }

    /// A count within `limits`.
    pub fn count(
        self,
        key: &str,
        given: Option<&At<u64>>,
        default: u32,
        limits: RangeInclusive<u32>,
    ) -> Result<u32> {
        let Some(At { value, span }) = given else { return Ok(default) };
        match u32::try_from(*value) {
            Ok(count) if limits.contains(&count) => Ok(count),
            _ => {
                let expected = format!("{} to {}", limits.start(), limits.end());
                fail(self.complain(span, key, value).expected(expected))
            }
        }
    }

    /// Percent with a decimal, in thousandths, of what some work touches.
    pub fn thousandths(self, key: &str, given: Option<&At<f64>>) -> Result<Option<u32>> {
        let Some(share) = given else { return Ok(None) };
        // Below one percent stands who means a fraction of 1.
        if !(1.0..=100.0).contains(&share.value) {
            let mut complaint = self.complain(&share.span, key, share.value);
            if (0.01..1.0).contains(&share.value) {
                complaint.suggestion =
                    Some(format!("did you mean {}?", (share.value * 1000.0).round() / 10.0));
            }
            return fail(complaint.expected("1 to 100 percent of the arrays that the work is about"));
        }
        Ok(Some((share.value * 10.0).round() as u32))
    }

    /// One of a few numbers.
    pub fn choice(self, key: &str, given: Option<&At<u64>>, choices: &[u32]) -> Result<u32> {
        let default = choices.first().copied().unwrap_or(0);
        let Some(At { value, span }) = given else { return Ok(default) };
        if let Some(choice) = choices.iter().find(|&&choice| u64::from(choice) == *value) {
            return Ok(*choice);
        }
        let mut sorted = choices.to_vec();
        sorted.sort_unstable();
        let words: Vec<String> = sorted.iter().map(u32::to_string).collect();
        let expected = match words.split_last() {
            Some((last, rest)) if !rest.is_empty() => format!("{} or {last}", rest.join(", ")),
            _ => words.concat(),
        };
        fail(self.complain(span, key, value).expected(expected))
    }

    /// A size within `limits`.
    pub fn size(
        self,
        key: &str,
        given: Option<&At<Size>>,
        default: u64,
        limits: RangeInclusive<u64>,
    ) -> Result<Known> {
        let Some(At { value, span }) = given else { return Ok(Known { value: default, span: None }) };
        if limits.contains(&value.0) {
            return Ok(Known { value: value.0, span: Some(span.clone()) });
        }
        let expected = format!("{} to {}", Size(*limits.start()), Size(*limits.end()));
        fail(self.complain(span, key, value).expected(expected))
    }

    /// A size within `limits` that is a power of two.
    pub fn power(
        self,
        key: &str,
        given: Option<&At<Size>>,
        default: u64,
        limits: RangeInclusive<u64>,
    ) -> Result<Known> {
        let size = self.size(key, given, default, limits)?;
        if size.value.is_power_of_two() {
            return Ok(size);
        }
        let (below, above) = around(size.value);
        let key = self.document.as_written(key);
        let message = format!("{key} is {}, which is not a power of two", Size(size.value));
        let expected = format!("{} or {}", Size(below), Size(above));
        fail(self.document.complain(size.span.as_ref(), message).expected(expected))
    }

    /// A clock from 1 MHz to 100 GHz.
    pub fn clock(self, key: &str, given: Option<&At<Frequency>>, default: u64) -> Result<Frequency> {
        let fits = |clock: Frequency| (1_000_000..=100_000_000_000).contains(&clock.0);
        self.within(key, given, Frequency(default), fits, "1 MHz to 100 GHz")
    }

    /// A time up to a second.
    pub fn time(self, key: &str, given: Option<&At<Duration>>, default: u64) -> Result<Duration> {
        self.within(key, given, Duration(default), |time| time.0 <= 1_000_000_000_000, "0 ns to 1 s")
    }

    /// A bandwidth from 1 MB/s to 100 TB/s.
    pub fn bandwidth(self, key: &str, given: Option<&At<Bandwidth>>, default: u64) -> Result<Bandwidth> {
        let fits = |rate: Bandwidth| (1_000_000..=100_000_000_000_000).contains(&rate.0);
        self.within(key, given, Bandwidth(default), fits, "1 MB/s to 100 TB/s")
    }

    /// An energy up to a nanojoule a bit.
    pub fn energy(self, key: &str, given: Option<&At<BitEnergy>>, default: u64) -> Result<BitEnergy> {
        self.within(key, given, BitEnergy(default), |energy| energy.0 <= 1_000_000, "0 pJ/bit to 1 nJ/bit")
    }

    /// What is given, if it fits; the default where nothing is.
    pub fn within<T: Copy + fmt::Display>(
        self,
        key: &str,
        given: Option<&At<T>>,
        default: T,
        fits: impl Fn(T) -> bool,
        range: &str,
    ) -> Result<T> {
        let Some(At { value, span }) = given else { return Ok(default) };
        if fits(*value) {
            return Ok(*value);
        }
        fail(self.complain(span, key, value).expected(range))
    }

    /// That the block or piece `below` is not larger than `above`; the complaint points at the one that was given.
    pub fn at_most(self, below: (&str, &Known), above: (&str, &Known)) -> Result<()> {
        let ((small, lower), (large, upper)) = (below, above);
        if lower.value <= upper.value {
            return Ok(());
        }
        let (lower_size, upper_size) = (Size(lower.value), Size(upper.value));
        let complaint = match &upper.span {
            Some(span) => self
                .document
                .complain(Some(span), format!("{large} is {upper_size}, smaller than {small} ({lower_size})"))
                .expected(format!("{lower_size} or more")),
            None => self
                .document
                .complain(
                    lower.span.as_ref(),
                    format!("{small} is {lower_size}, larger than {large} ({upper_size})"),
                )
                .expected(format!("{upper_size} or less")),
        };
        fail(complaint)
    }
}

/// The powers of two next to `value`, below and above.
pub(super) fn around(value: u64) -> (u64, u64) {
    let above = value.checked_next_power_of_two().unwrap_or(1 << 63);
    (if above == value { above } else { above / 2 }, above)
}
