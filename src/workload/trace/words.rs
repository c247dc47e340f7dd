//! The words of a line, each expected to be something.

use std::ops::Range;

use super::text::Wrong;

pub type Parsed<T> = Result<T, Wrong>;

/// Words and where they are.
pub struct Words<'a> {
    pub line: &'a str,
    /// Where the last word ended.
    pub at: usize,
    /// What stands between words beside spaces.
    comma: bool,
}

impl<'a> Words<'a> {
    /// Words with spaces between them.
    pub fn new(line: &'a str) -> Self {
        Self { line, at: 0, comma: false }
    }

    /// Words with commas between them, as in a table.
    pub fn cells(line: &'a str) -> Self {
        Self { line, at: 0, comma: true }
    }

    fn ends(&self, character: char) -> bool {
        if self.comma { character == ',' } else { character.is_whitespace() }
    }

    /// The next word, empty if there is none, and where it is or should be.
    fn next(&self) -> (Range<usize>, &'a str) {
        let rest = self.line.get(self.at..).unwrap_or_default().trim_start();
        let rest = match rest.strip_prefix(',') {
            Some(after) if self.comma && self.at > 0 => after.trim_start(),
            _ => rest,
        };
        let start = self.line.len() - rest.len();
        let end = rest.find(|it| self.ends(it)).unwrap_or(rest.len());
        let word = rest.get(..end).unwrap_or_default().trim_end();
        (start..start + word.len(), word)
    }

    pub fn peek(&self) -> Option<(Range<usize>, &'a str)> {
        Some(self.next()).filter(|(_, word)| !word.is_empty())
    }

    /// The next word through `read`, which says no with `None`.
    pub fn take<T>(&mut self, expected: &str, read: impl FnOnce(&'a str) -> Option<T>) -> Parsed<T> {
        let (span, word) = self.next();
        let missing = word.is_empty() && span.end == self.line.len();
        let what = if missing { "the line ends too early" } else { "this does not belong here" };
        match read(word) {
            Some(value) => {
                self.at = span.end;
                Ok(value)
            }
            None => Err(Wrong { span, message: what.to_owned(), expected: expected.to_owned() }),
        }
    }

    /// All words that are left.
    pub fn all(mut self) -> impl Iterator<Item = &'a str> {
        std::iter::from_fn(move || self.take("", |word| (!word.is_empty()).then_some(word)).ok())
    }

    /// Nothing is left.
    pub fn end(&mut self) -> Parsed<()> {
        self.take("the end of the line", |word| word.is_empty().then_some(()))
    }
}

/// Hex digits alone.
pub fn hexadecimal(word: &str) -> Option<u64> {
    if word.starts_with('+') { None } else { u64::from_str_radix(word, 16).ok() }
}

/// `0x` and hex digits.
pub fn address(word: &str) -> Option<u64> {
    word.strip_prefix("0x").and_then(hexadecimal)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_taken_one_by_one() {
        let any = |word: &str| (!word.is_empty()).then(|| word.to_owned());
        let mut words = Words::new("  1 r\ta1 ");
        let taken: Vec<_> = std::iter::from_fn(|| words.take("", any).ok()).collect();
        assert_eq!(taken, ["1", "r", "a1"]);
        assert!(words.end().is_ok());
        let mut cells = Words::cells("a b, 0x1 ,2");
        let taken: Vec<_> = std::iter::from_fn(|| cells.take("", any).ok()).collect();
        assert_eq!(taken, ["a b", "0x1", "2"]);
        // Nothing may be left out.
        let wrong = Words::cells(",2").take("a name", any).unwrap_err();
        assert_eq!(wrong.span, 0..0);
    }

    #[test]
    fn addresses_are_hex_digits() {
        assert_eq!((address("0x1F"), address("1f"), hexadecimal("1f")), (Some(31), None, Some(31)));
        assert_eq!((address("0x+1"), address("0x"), hexadecimal("10000000000000000")), (None, None, None));
    }
}
