//! Quantities as the papers write them (`1.4 GHz`, `20 us`, `16 GB/s`, `4 KiB`), read exactly.

use std::fmt;

/// A number with up to nine decimals and its unit, as written.
fn split(text: &str) -> Option<(u128, &str)> {
    let text = text.trim();
    let end = text.find(|c: char| !(c.is_ascii_digit() || c == '.' || c == '_')).unwrap_or(text.len());
    let digits = text[..end].replace('_', "");
    let (whole, fraction) = digits.split_once('.').unwrap_or((&digits, ""));
    if whole.is_empty() || fraction.len() > 9 || whole.len() > 20 || fraction.contains('.') {
        return None;
    }
    let nanos = format!("{fraction:0<9}").parse::<u128>().ok()?;
    Some((whole.parse::<u128>().ok()? * 1_000_000_000 + nanos, text[end..].trim()))
}

/// `text` in the smallest of `units` (name, how many of the smallest it is), if it is a whole number of those.
fn parse(text: &str, units: &[(&str, u128)]) -> Option<u64> {
    let (value, unit) = split(text)?;
    let (_, factor) = units.iter().find(|(name, _)| *name == unit)?;
    let scaled = value.checked_mul(*factor)?;
    (scaled % 1_000_000_000 == 0).then(|| u64::try_from(scaled / 1_000_000_000).ok())?
}

macro_rules! quantity {
    ($(#[$doc:meta])* $name:ident, $what:literal, $example:literal, [$(($unit:literal, $factor:expr)),+ $(,)?]) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub u64);

        impl $name {
            /// What a reader of a file is told to write.
            pub const EXPECTED: &'static str = concat!($what, " such as \"", $example, "\"");

            /// The units that it is written in, the smallest first.
            pub const UNITS: &'static [&'static str] = &[$($unit),+];

            /// Reads a quantity with its unit.
            #[must_use]
            pub fn parse(text: &str) -> Option<Self> {
                parse(text, &[$(($unit, $factor)),+]).map(Self)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                let units: &[(&str, u128)] = &[$(($unit, $factor)),+];
                let value = u128::from(self.0);
                let (unit, factor) = units
                    .iter()
                    .rev()
                    .find(|(_, factor)| *factor <= value && (value * 1000).is_multiple_of(*factor))
                    .or(units.first())
                    .copied()
                    .unwrap_or(("", 1));
                if value.is_multiple_of(factor) {
                    write!(f, "{} {unit}", value / factor)
                } else {
                    write!(f, "{} {unit}", value as f64 / factor as f64)
                }
            }
        }
    };
}

quantity!(
    /// An amount of memory in bytes. `KiB` and `KB` both mean 1,024 bytes, as in the papers.
    Size, "a size", "4 KiB",
    [("B", 1), ("KB", 1 << 10), ("KiB", 1 << 10), ("MB", 1 << 20), ("MiB", 1 << 20), ("GB", 1 << 30), ("GiB", 1 << 30)]
);
quantity!(
    /// A frequency in hertz.
    Frequency, "a frequency", "1.4 GHz",
    [("Hz", 1), ("kHz", 1_000), ("MHz", 1_000_000), ("GHz", 1_000_000_000)]
);
quantity!(
    /// A time in picoseconds.
    Duration, "a time", "20 us",
    [("ps", 1), ("ns", 1_000), ("us", 1_000_000), ("ms", 1_000_000_000), ("s", 1_000_000_000_000)]
);
quantity!(
    /// A bandwidth in bytes a second; decimal units, as link vendors count.
    Bandwidth, "a bandwidth", "16 GB/s",
    [("B/s", 1), ("KB/s", 1_000), ("MB/s", 1_000_000), ("GB/s", 1_000_000_000), ("TB/s", 1_000_000_000_000)]
);
quantity!(
    /// The energy that moves a bit, in femtojoules.
    BitEnergy, "an energy", "10 pJ/bit",
    [("fJ/bit", 1), ("pJ/bit", 1_000), ("nJ/bit", 1_000_000)]
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities_are_read_exactly() {
        assert_eq!(Size::parse("4 KiB"), Some(Size(4096)));
        assert_eq!(Frequency::parse("1.4 GHz"), Some(Frequency(1_400_000_000)));
        assert_eq!(Duration::parse("0.5ns"), Some(Duration(500)));
        assert_eq!(Bandwidth::parse("16 GB/s"), Some(Bandwidth(16_000_000_000)));
        for wrong in ["", "4", "KiB", "4 kib", "-1 B", "0.5 B", "1.2.3 GHz", "99999999999999999999999 B"] {
            assert_eq!(Size::parse(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn quantities_print_as_they_are_written() {
        assert_eq!(Size(4096).to_string(), "4 KiB");
        assert_eq!(Size(u64::MAX).to_string(), "18446744073709551615 B");
        assert_eq!(Frequency(1_400_000_000).to_string(), "1.4 GHz");
        assert_eq!(Duration(20_000_000).to_string(), "20 us");
    }
}
