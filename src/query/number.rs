//! Ranges and comparisons, as queries write them.

use std::fmt;

use crate::model::number::parse_number;

/// The little-endian number that `bytes` are; `None` if it is wider than 64 bits.
pub(super) fn little_endian(bytes: &[u8]) -> Option<u64> {
    if bytes.iter().skip(8).any(|&byte| byte != 0) {
        return None;
    }
    Some(bytes.iter().take(8).rev().fold(0, |value, &byte| value << 8 | u64::from(byte)))
}

/// From one number to another, both included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Interval {
    pub from: u64,
    pub to: u64,
}

impl Interval {
    /// `A` or `A..B`. The error tells a range that ends before it begins from what is no number.
    pub fn parse(text: &str) -> Result<Self, IntervalError> {
        let (from, to) = text.split_once("..").unwrap_or((text, text));
        match (parse_number(from), parse_number(to)) {
            (Some(from), Some(to)) if from <= to => Ok(Self { from, to }),
            (Some(_), Some(_)) => Err(IntervalError::Backwards),
            _ => Err(IntervalError::NoNumber),
        }
    }

    pub fn is_single(self) -> bool {
        self.from == self.to
    }

    /// In hexadecimal if `hex`.
    pub fn show(self, hex: bool) -> String {
        let one = |n: u64| if hex { format!("{n:#x}") } else { n.to_string() };
        if self.is_single() { one(self.from) } else { format!("{}..{}", one(self.from), one(self.to)) }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum IntervalError {
    NoNumber,
    Backwards,
}

/// How a value is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Comparison {
    Is,
    IsNot,
    Less,
    AtMost,
    More,
    AtLeast,
}

impl Comparison {
    /// The comparison that an operator writes.
    pub fn of_operator(text: &str) -> Option<Self> {
        Some(match text {
            "=" | "==" => Self::Is,
            "!=" => Self::IsNot,
            "<" => Self::Less,
            "<=" => Self::AtMost,
            ">" => Self::More,
            ">=" => Self::AtLeast,
            _ => return None,
        })
    }

    /// Whether it needs an order, which states and names do not have.
    pub fn orders(self) -> bool {
        !matches!(self, Self::Is | Self::IsNot)
    }

    /// Whether `value` compares so with an interval of `from` to `to`.
    pub fn holds<T: PartialOrd + Copy>(self, value: T, from: T, to: T) -> bool {
        match self {
            Self::Is => from <= value && value <= to,
            Self::IsNot => value < from || to < value,
            Self::Less => value < from,
            Self::AtMost => value <= from,
            Self::More => value > from,
            Self::AtLeast => value >= from,
        }
    }

    /// Whether something that is equal or not compares so. What has no order is neither less nor more.
    pub fn holds_for(self, equal: bool) -> bool {
        match self {
            Self::Is => equal,
            Self::IsNot => !equal,
            _ => false,
        }
    }
}

impl fmt::Display for Comparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Is => "=",
            Self::IsNot => "!=",
            Self::Less => "<",
            Self::AtMost => "<=",
            Self::More => ">",
            Self::AtLeast => ">=",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_read_from_the_last() {
        assert_eq!(little_endian(&[7, 1]), Some(263));
        assert_eq!(little_endian(&[0; 9]), Some(0));
        assert_eq!(little_endian(&[1; 9]), None);
    }

    #[test]
    fn a_range_includes_both_ends() {
        let range = Interval::parse("0x40..0x7f").unwrap();
        assert!(Comparison::Is.holds(0x40, range.from, range.to));
        assert!(Comparison::Is.holds(0x7f, range.from, range.to));
        assert!(Comparison::IsNot.holds(0x80, range.from, range.to));
        assert_eq!(Interval::parse("4..3"), Err(IntervalError::Backwards));
        assert_eq!(Interval::parse("4..x"), Err(IntervalError::NoNumber));
    }
}
