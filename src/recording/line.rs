//! Lines that check themselves: ` #` and eight hexadecimal digits over the line and all lines before it.

/// The check over all lines so far (FNV-1a, 64 bits, folded to 32 where it is shown).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Check(u64);

impl Check {
    pub const START: Self = Self(0xcbf2_9ce4_8422_2325);

    /// The check once this line has followed.
    #[must_use]
    pub fn after(self, line: &[u8]) -> Self {
        let byte = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        // The end of the line counts, so that two lines are not one.
        Self(line.iter().chain(b"\n").fold(self.0, byte))
    }

    /// The check as it is shown, in eight hexadecimal digits.
    #[must_use]
    pub fn shown(self) -> u32 {
        (self.0 ^ self.0 >> 32) as u32
    }
}

/// Bytes that a check adds to a line.
const SUFFIX: usize = 10;

/// `line` with its check, where `check` is that of all lines before it; and the check with it.
#[must_use]
pub fn sealed(line: &str, check: Check) -> (String, Check) {
    let check = check.after(line.as_bytes());
    (format!("{line} #{:08x}\n", check.shown()), check)
}

/// A line, without its end, as it was before it was sealed; nothing if its check is wrong.
#[must_use]
pub fn unsealed(line: &[u8], check: Check) -> Option<(&str, Check)> {
    let (text, suffix) = line.split_at_checked(line.len().checked_sub(SUFFIX)?)?;
    let check = check.after(text);
    let right = format!(" #{:08x}", check.shown());
    (suffix == right.as_bytes()).then_some(())?;
    Some((std::str::from_utf8(text).ok()?, check))
}

/// A text in one line.
#[must_use]
pub fn escape(text: &str) -> String {
    text.replace('\\', "\\\\").replace('\n', "\\n").replace('\r', "\\r")
}

/// The text that was put in one line.
#[must_use]
pub fn unescape(line: &str) -> String {
    let mut text = String::with_capacity(line.len());
    let mut letters = line.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '\\' => match letters.next() {
                Some('n') => text.push('\n'),
                Some('r') => text.push('\r'),
                Some(other) => text.push(other),
                None => {}
            },
            other => text.push(other),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_knows_itself_and_its_place() {
        let (first, check) = sealed("one", Check::START);
        let (second, _) = sealed("two", check);
        let (text, after) = unsealed(first.trim_end().as_bytes(), Check::START).unwrap();
        assert_eq!(text, "one");
        assert_eq!(unsealed(second.trim_end().as_bytes(), after).unwrap().0, "two");
        assert_eq!(unsealed(second.trim_end().as_bytes(), Check::START), None);
        assert_eq!(unsealed(b"onf #00000000", Check::START), None);
        assert_eq!(unsealed(b"", Check::START), None);
    }

    #[test]
    fn any_text_fits_in_a_line() {
        for text in ["", "a b", "a\nb\r\n", "\\n", "\\", "ä\\\nb"] {
            assert!(!escape(text).contains('\n'));
            assert_eq!(unescape(&escape(text)), text);
        }
    }
}
