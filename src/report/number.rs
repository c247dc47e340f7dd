//! Numbers as people read them.

use crate::model::text::noun_for;

/// A large number with its digits in groups: `1,234,567`.
#[must_use]
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// So many of something: `1 access`, `1,234 accesses`.
#[must_use]
pub fn counted(count: u64, noun: &str) -> String {
    format!("{} {}", grouped(count), noun_for(count, noun))
}

/// A number in six places at most, up to a thousand million: `9,999`, `123 k`, `1.2 M`.
#[must_use]
pub fn short(number: f64) -> String {
    match number {
        small if small < 10_000.0 => grouped(small as u64),
        _ if number < 999_500.0 => format!("{:.0} k", number / 1e3),
        _ if number < 99.95e6 => format!("{:.1} M", number / 1e6),
        _ => format!("{:.0} M", number / 1e6),
    }
}

/// Bytes in the largest unit of which there is one at least: `1.5 MiB`.
#[must_use]
pub fn bytes(number: f64) -> String {
    scaled(number, &["B", "KiB", "MiB", "GiB", "TiB"], 1024.0)
}

/// Nanoseconds in the largest unit of which there is one at least: `2.35 us`.
#[must_use]
pub fn time(nanoseconds: f64) -> String {
    scaled(nanoseconds, &["ns", "us", "ms", "s"], 1000.0)
}

/// An energy in the largest unit of which there is one at least: `1.23 uJ`.
#[must_use]
pub fn energy(joules: f64) -> String {
    scaled(joules * 1e12, &["pJ", "nJ", "uJ", "mJ", "J"], 1000.0)
}

/// A power in the largest unit of which there is one at least: `30 W`.
#[must_use]
pub fn power(watts: f64) -> String {
    scaled(watts * 1e6, &["uW", "mW", "W", "kW"], 1000.0)
}

fn scaled(number: f64, units: &[&str], step: f64) -> String {
    let mut rest = number;
    let mut units = units.iter().peekable();
    while let Some(unit) = units.next() {
        if rest < step || units.peek().is_none() {
            let decimals = if rest.fract() == 0.0 || rest >= 100.0 { 0 } else { 2 };
            return format!("{rest:.decimals$} {unit}");
        }
        rest /= step;
    }
    format!("{number}")
}

/// A mean: with a decimal where that says something.
#[must_use]
pub fn mean(value: f64) -> String {
    if value < 100.0 { format!("{value:.1}") } else { grouped(value.round() as u64) }
}

/// A share of one in percent.
#[must_use]
pub fn percent(share: f64) -> String {
    format!("{:.1} %", share * 100.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_well() {
        let texts: Vec<_> = [0, 999, 1000, 1_234_567].into_iter().map(grouped).collect();
        assert_eq!(texts, ["0", "999", "1,000", "1,234,567"]);
        assert_eq!([bytes(64.0), bytes(1536.0), bytes(1e20)], ["64 B", "1.50 KiB", "90949470 TiB"]);
        let shorts = [9999.0, 10_000.0, 999_499.0, 999_500.0, 99_949_999.0, 1e8].map(short);
        assert_eq!(shorts, ["9,999", "10 k", "999 k", "1.0 M", "99.9 M", "100 M"]);
        assert_eq!([energy(0.0), energy(1.5e-6), power(30.0)], ["0 pJ", "1.50 uJ", "30 W"]);
        assert_eq!([time(12.5), time(2345.0), time(9e12)], ["12.50 ns", "2.35 us", "9000 s"]);
    }
}
