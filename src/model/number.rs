//! Numbers and bytes, as queries, scenarios and commands write them.

use super::access::Bytes;

/// A whole number: decimal or `0x` hexadecimal, `_` between digits allowed.
#[must_use]
pub fn parse_number(text: &str) -> Option<u64> {
    let (digits, radix) = match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        Some(hex) => (hex, 16),
        None => (text, 10),
    };
    if !digits.starts_with(|c: char| c.is_digit(radix)) {
        return None;
    }
    u64::from_str_radix(&digits.replace('_', ""), radix).ok()
}

/// Bytes as pairs of hexadecimal digits: `07 00 00 00` or `07000000`, at most 4,096 of them.
#[must_use]
pub fn parse_bytes(text: &str) -> Option<Bytes> {
    let mut bytes = Bytes::new();
    for word in text.split_whitespace() {
        if !word.len().is_multiple_of(2) || !word.bytes().all(|c| c.is_ascii_hexdigit()) {
            return None;
        }
        for at in (0..word.len()).step_by(2) {
            bytes.push(u8::from_str_radix(word.get(at..at + 2)?, 16).ok()?);
        }
    }
    (bytes.len() <= 4096).then_some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_decimal_or_hexadecimal() {
        assert_eq!(parse_number("0x1_000"), Some(4096));
        assert_eq!(parse_number("91_204"), Some(91_204));
        for wrong in ["", "0x", "_1", "-1", "+1", "1e3", "0x1g", "99999999999999999999"] {
            assert_eq!(parse_number(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn bytes_are_pairs_of_digits() {
        assert_eq!(parse_bytes("07 00ff").unwrap()[..], [7, 0, 255]);
        assert_eq!(parse_bytes("7"), None);
        assert_eq!(parse_bytes("0g"), None);
        assert_eq!(parse_bytes("é0"), None);
    }
}
