//! Quantities as the papers write them (`1.4 GHz`, `20 us`, `16 GB/s`, `4 KiB`), read exactly.

use std::fmt;

/// Why a text is no quantity of the kind that is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Misread {
    /// It is no number with one of the units behind it.
    Form,
    /// It is no whole number of the smallest unit, or has more than nine decimals.
    Fine,
    /// It has more than 64 bits, counted in the smallest unit.
    Large,
}

/// Decimals at most.
const DECIMALS: usize = 9;
const BILLION: u128 = 1_000_000_000;

/// A number as written (its whole part, its decimals) and its unit.
fn split(text: &str) -> Option<(String, &str, &str)> {
    let text = text.trim();
    let end = text.find(|c: char| !(c.is_ascii_digit() || c == '_')).unwrap_or(text.len());
    let (whole, rest) = text.split_at(end);
    let (decimals, unit) = match rest.strip_prefix('.') {
        Some(rest) => rest.split_at(rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len())),
        None => ("0", rest),
    };
    let is_number = whole.starts_with(|c: char| c.is_ascii_digit()) && !decimals.is_empty();
    is_number.then(|| (whole.replace('_', ""), decimals, unit.trim()))
}

/// `text` in the smallest of `units` (name, how many of the smallest it is).
fn parse(text: &str, units: &[(&str, u128)]) -> Result<u64, Misread> {
    let (whole, decimals, unit) = split(text).ok_or(Misread::Form)?;
    let (_, factor) = units.iter().find(|(name, _)| *name == unit).ok_or(Misread::Form)?;
    if decimals.len() > DECIMALS {
        return Err(Misread::Fine);
    }
    let billionths = format!("{decimals:0<DECIMALS$}").parse::<u128>().map_err(|_| Misread::Form)?;
    let whole = whole.parse::<u128>().ok().and_then(|whole| whole.checked_mul(BILLION));
    let scaled = whole.and_then(|whole| (whole + billionths).checked_mul(*factor)).ok_or(Misread::Large)?;
    if !scaled.is_multiple_of(BILLION) {
        return Err(Misread::Fine);
    }
    u64::try_from(scaled / BILLION).map_err(|_| Misread::Large)
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
            ///
            /// # Errors
            /// If the text has another form, or cannot be counted in the smallest unit.
            pub fn parse(text: &str) -> Result<Self, Misread> {
                parse(text, &[$(($unit, $factor)),+]).map(Self)
            }

            /// What was to be written instead of a text that is none.
            #[must_use]
            pub fn expected(instead_of: Misread) -> String {
                let smallest = Self::UNITS.first().copied().unwrap_or_default();
                match instead_of {
                    Misread::Form => format!("{} ({})", Self::EXPECTED, Self::UNITS.join(", ")),
                    Misread::Fine => format!("a whole number of {smallest}, in any unit, with {DECIMALS} decimals at most"),
                    Misread::Large => format!("at most {} {smallest}", u64::MAX),
                }
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
        assert_eq!(Size::parse("4 KiB"), Ok(Size(4096)));
        assert_eq!(Size::parse(" 1_000.25KiB "), Ok(Size(1_024_256)));
        assert_eq!(Size::parse("18446744073709551615 B"), Ok(Size(u64::MAX)));
        assert_eq!(Frequency::parse("1.4 GHz"), Ok(Frequency(1_400_000_000)));
        assert_eq!(Duration::parse("0.5ns"), Ok(Duration(500)));
        assert_eq!(Bandwidth::parse("16 GB/s"), Ok(Bandwidth(16_000_000_000)));
    }

    #[test]
    fn what_is_no_quantity_is_told_why() {
        let forms = [
            "",
            "4",
            "KiB",
            "4 kib",
            "-1 B",
            "1.2.3 KiB",
            "_4 KiB",
            "4. KiB",
            ".5 KiB",
            "0.5_0 KiB",
            "4 K iB",
        ];
        for wrong in forms {
            assert_eq!(Size::parse(wrong), Err(Misread::Form), "{wrong}");
        }
        for wrong in ["0.5 B", "1.0001 KiB", "1.0000000000 GiB"] {
            assert_eq!(Size::parse(wrong), Err(Misread::Fine), "{wrong}");
        }
        for wrong in ["99999999999999999999999 B", "18446744073709551616 B", "99999999999 GiB"] {
            assert_eq!(Size::parse(wrong), Err(Misread::Large), "{wrong}");
        }
        let huge = "9".repeat(60) + " GiB";
        assert_eq!(Size::parse(&huge), Err(Misread::Large));
        assert_eq!(Size::expected(Misread::Large), "at most 18446744073709551615 B");
    }

    #[test]
    fn quantities_print_as_they_are_written() {
        assert_eq!(Size(4096).to_string(), "4 KiB");
        assert_eq!(Size(u64::MAX).to_string(), "18446744073709551615 B");
        assert_eq!(Frequency(1_400_000_000).to_string(), "1.4 GHz");
        assert_eq!(Duration(20_000_000).to_string(), "20 us");
    }
}
