//! How a diagnostic looks: where and what, the line with carets under the span, what was expected instead.

use std::fmt::{self, Write as _};

use unicode_width::UnicodeWidthChar;

use super::{Diagnostic, Source, floor};

/// Columns of the source line that are shown; a longer line is cut round the carets.
const SHOWN: usize = 76;

/// Characters of a message that are shown.
const LONGEST: usize = 1000;

/// Columns that a tab is shown as.
const TAB: &str = "    ";

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let message = printable(&self.message);
        match (&self.source, self.position()) {
            (Some(source), Some((line, column))) => {
                write!(f, "{}:{line}:{column}: {message}", printable(&source.name))?;
                if let Some(excerpt) = self.excerpt(source) {
                    let gutter = line.to_string();
                    write!(f, "\n {gutter} | {}", excerpt.text)?;
                    write!(f, "\n {:width$} | {}", "", excerpt.carets, width = gutter.len())?;
                }
            }
            (Some(source), None) => write!(f, "{}: {message}", printable(&source.name))?,
            (None, _) => write!(f, "{message}")?,
        }
        if let Some(expected) = &self.expected {
            write!(f, "\n expected {}", printable(expected))?;
        }
        if let Some(suggestion) = &self.suggestion {
            write!(f, "\n {}", printable(suggestion))?;
        }
        self.others.iter().try_for_each(|other| write!(f, "\n{other}"))
    }
}

/// A source line made fit for a terminal, and the carets under it.
struct Excerpt {
    text: String,
    carets: String,
}

impl Diagnostic {
    fn excerpt(&self, source: &Source) -> Option<Excerpt> {
        let span = self.span.as_ref()?;
        let text = &source.text;
        let start = floor(text, span.start);
        let from = text.get(..start)?.rfind('\n').map_or(0, |newline| newline + 1);
        let line = text.get(from..)?;
        let line = line.split('\n').next().unwrap_or("").trim_end_matches('\r');
        Some(cut(line, start - from, span.end.saturating_sub(from)))
    }
}

/// Shows `line` with carets under the bytes `[start, end)` of it, cut to [`SHOWN`] columns.
fn cut(line: &str, start: usize, end: usize) -> Excerpt {
    let start = floor(line, start);
    let before = line.get(..start).unwrap_or("");
    let marked = line.get(start..floor(line, end).max(start)).unwrap_or("");
    let after = line.get(start + marked.len()..).unwrap_or("");

    let marked = head(marked, SHOWN);
    let caret_width = columns(&marked).max(1);
    let left = tail(before, (SHOWN - caret_width.min(SHOWN)).max(SHOWN / 3));
    let rest = SHOWN.saturating_sub(columns(&left) + caret_width);
    let right = if marked.ends_with('…') { String::new() } else { head(after, rest) };
    let carets = " ".repeat(columns(&left)) + &"^".repeat(caret_width);
    Excerpt { text: format!("{left}{marked}{right}").trim_end().to_owned(), carets }
}

/// As much of the start of `text` as `limit` columns hold, with an ellipsis if that is not all.
fn head(text: &str, limit: usize) -> String {
    let mut shown = String::new();
    let mut used = 0;
    for c in text.chars() {
        let piece = glyph(c);
        let width = columns(&piece);
        if used + width > limit {
            shown.push('…');
            break;
        }
        used += width;
        shown.push_str(&piece);
    }
    shown
}

/// As much of the end of `text` as `limit` columns hold, with an ellipsis if that is not all.
fn tail(text: &str, limit: usize) -> String {
    let mut pieces = Vec::new();
    let mut used = 0;
    for c in text.chars().rev() {
        let piece = glyph(c);
        let width = columns(&piece);
        if used + width > limit {
            pieces.push("…".to_owned());
            break;
        }
        used += width;
        pieces.push(piece);
    }
    pieces.into_iter().rev().collect()
}

/// What stands for one character of a source line: tabs as spaces, control characters made visible.
fn glyph(c: char) -> String {
    match c {
        '\t' => TAB.to_owned(),
        c if c.is_control() => char::REPLACEMENT_CHARACTER.to_string(),
        c => c.to_string(),
    }
}

/// Columns that `text` takes on a terminal.
fn columns(text: &str) -> usize {
    text.chars().map(|c| c.width().unwrap_or(0)).sum()
}

/// `text` without anything that could drive a terminal, cut at [`LONGEST`] characters; line breaks stay.
fn printable(text: &str) -> String {
    let mut shown = String::new();
    for (index, c) in text.chars().enumerate() {
        if index == LONGEST {
            shown.push('…');
            break;
        }
        if c.is_control() && c != '\n' {
            let _ = write!(shown, "{}", c.escape_default());
        } else {
            shown.push(c);
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str, needle: &str) -> String {
        let source = Source::new("a.toml", text);
        let start = text.find(needle).unwrap();
        Diagnostic::new("wrong").at(&source, start..start + needle.len()).to_string()
    }

    #[test]
    fn carets_stand_under_the_span() {
        let diagnostic = Diagnostic::new("unknown key `lin`")
            .at(&Source::new("m.toml", "[gpu]\nl1 = { lin = 3 }\n"), 13..16)
            .expected("one of `line`, `size`")
            .nearest("lin", ["line", "size"]);
        let expected = "m.toml:2:8: unknown key `lin`\n 2 | l1 = { lin = 3 }\n   |        ^^^\n \
                        expected one of `line`, `size`\n did you mean line?";
        assert_eq!(diagnostic.to_string(), expected);
    }

    #[test]
    fn tabs_wide_characters_and_carriage_returns_keep_the_carets_in_place() {
        assert_eq!(shown("\tx = 1\r\n", "x"), "a.toml:1:2: wrong\n 1 |     x = 1\n   |     ^");
        assert_eq!(shown("漢字 = 1", "="), "a.toml:1:4: wrong\n 1 | 漢字 = 1\n   |      ^");
    }

    #[test]
    fn a_long_line_is_cut_round_the_carets() {
        let text = format!("{}HERE{}", "a".repeat(5000), "b".repeat(5000));
        let shown = shown(&text, "HERE");
        let lines: Vec<_> = shown.lines().collect();
        assert!(lines.iter().all(|line| line.chars().count() < 90), "{shown}");
        let caret = lines[2].chars().position(|c| c == '^').unwrap();
        assert_eq!(lines[1].chars().skip(caret).take(4).collect::<String>(), "HERE");
    }

    #[test]
    fn a_span_past_the_end_or_inside_a_character_does_not_panic() {
        let source = Source::new("a", "é\n");
        for (start, end) in [(1, 2), (3, 3), (3, 99), (99, 100), (0, usize::MAX), (2, 1)] {
            let text = Diagnostic::new("w").at(&source, start..end).to_string();
            assert!(text.contains('^'), "{start}..{end}: {text}");
        }
    }

    #[test]
    fn nothing_in_a_message_drives_the_terminal() {
        let text = Diagnostic::new("a\u{1b}[31m").at(&Source::new("a", "\u{1b}[31m"), 0..1).to_string();
        assert!(!text.contains('\u{1b}'));
    }
}
