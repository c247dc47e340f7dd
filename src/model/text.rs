//! Small texts that several parts write alike.

use std::borrow::Cow;

/// A text without characters that command a terminal: names and titles come from files of others. Each stands there as JSON
/// escapes it, so that JSON stays JSON.
#[must_use]
pub fn tame(text: &str) -> Cow<'_, str> {
    let commands = |letter: char| letter.is_control() && !matches!(letter, '\n' | '\t');
    if !text.contains(commands) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len());
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '\r' if letters.peek().is_none_or(|next| *next == '\n') => {}
            letter if commands(letter) => shown.push_str(&format!("\\u{:04x}", u32::from(letter))),
            letter => shown.push(letter),
        }
    }
    Cow::Owned(shown)
}

/// Bytes as two hexadecimal digits each: `07 00 00 00`.
#[must_use]
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().join(" ")
}

/// The first of them, so many at most; `..` stands for the others.
#[must_use]
pub fn hex_head(bytes: &[u8], most: usize) -> String {
    match bytes.get(..most).filter(|head| head.len() < bytes.len()) {
        Some(head) => format!("{} ..", hex(head)),
        None => hex(bytes),
    }
}

/// A digest as it is written: 16 hexadecimal digits.
#[must_use]
pub fn digits(digest: u64) -> String {
    format!("{digest:016x}")
}

/// So many of something whose name takes an `s`: `1 page`, `2 pages`, `2 accesses`, `2 branches`.
#[must_use]
pub fn plural(count: u64, noun: &str) -> String {
    format!("{count} {}", noun_for(count, noun))
}

/// The noun as it stands after a number.
#[must_use]
pub fn noun_for(count: u64, noun: &str) -> String {
    let ending = match count {
        1 => "",
        _ if noun.ends_with('s') || noun.ends_with("ch") => "es",
        _ => "s",
    };
    format!("{noun}{ending}")
}

/// A name as a part of the key of a statistic.
#[must_use]
pub fn key_word(name: &str) -> String {
    name.replace('-', "_")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_is_not_several() {
        assert_eq!(
            [plural(1, "access"), plural(0, "access"), plural(2, "page"), plural(2, "branch")],
            ["1 access", "0 accesses", "2 pages", "2 branches"]
        );
    }

    #[test]
    fn bytes_that_are_not_shown_are_told() {
        assert_eq!(
            [hex_head(&[7, 0], 2), hex_head(&[7, 0, 10], 2), hex_head(&[], 2)],
            ["07 00", "07 00 ..", ""]
        );
    }
}
