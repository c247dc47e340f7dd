//! A query as written, with its place in the file or prompt that it comes from, and its words.

use std::ops::Range;
use std::sync::Arc;

use crate::diagnostic::{Diagnostic, Source};

/// A query's text and where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Text {
    source: Source,
    written: Arc<str>,
    /// Where `written` is in the source.
    span: Range<usize>,
    /// Whether the source holds it letter for letter there, so that a word's own place is known.
    exact: bool,
}

impl Text {
    /// A query that is a source of its own, such as a line typed at a prompt.
    #[must_use]
    pub fn new(name: &str, text: &str) -> Self {
        let text: Arc<str> = text.into();
        let source = Source { name: name.into(), text: text.clone() };
        Self { span: 0..text.len(), source, written: text, exact: true }
    }

    /// The query `value` that a file writes (in quotes, perhaps with escapes) in `span`.
    #[must_use]
    pub fn within(source: &Source, span: Range<usize>, value: &str) -> Self {
        let start = source.text.get(span.clone()).and_then(|written| written.find(value));
        let (span, exact) = match start {
            Some(start) => (span.start + start..span.start + start + value.len(), true),
            None => (span, false),
        };
        Self { source: source.clone(), written: value.into(), span, exact }
    }

    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.written
    }

    #[must_use]
    pub fn source(&self) -> &Source {
        &self.source
    }

    /// Where it is in its source.
    #[must_use]
    pub fn span(&self) -> Range<usize> {
        self.span.clone()
    }

    /// A complaint about the bytes `part` of this text.
    #[must_use]
    pub fn error(&self, part: Range<usize>, message: impl Into<String>) -> Diagnostic {
        let span = if self.exact {
            self.span.start + part.start..self.span.start + part.end
        } else {
            self.span.clone()
        };
        Diagnostic::new(message).at(&self.source, span)
    }

    /// A complaint about all of it.
    #[must_use]
    pub fn complaint(&self, message: impl Into<String>) -> Diagnostic {
        self.error(0..self.written.len(), message)
    }
}

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TokenKind {
    Word,
    /// Between quotes; the text is without them.
    Quoted,
    /// `=`, `!=`, `<`, `<=`, `>`, `>=` or a slip such as `=>`.
    Operator,
    Open,
    Close,
}

/// A word of a query and its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Token<'a> {
    pub kind: TokenKind,
    pub text: &'a str,
    /// Quotes included.
    pub span: Range<usize>,
}

fn class(letter: char) -> TokenKind {
    match letter {
        '(' => TokenKind::Open,
        ')' => TokenKind::Close,
        '=' | '!' | '<' | '>' => TokenKind::Operator,
        '"' | '\'' => TokenKind::Quoted,
        _ => TokenKind::Word,
    }
}

/// Splits `text` into tokens. A quote that is never closed reaches to the end.
pub(super) fn tokens(text: &str) -> Vec<Token<'_>> {
    let mut list = Vec::new();
    let mut letters = text.char_indices().peekable();
    while let Some((start, letter)) = letters.next() {
        if letter.is_whitespace() {
            continue;
        }
        let kind = class(letter);
        if kind == TokenKind::Quoted {
            let inner = start + 1;
            let close = letters.by_ref().find(|(_, c)| *c == letter).map(|(at, _)| at);
            let (end, after) = close.map_or((text.len(), text.len()), |at| (at, at + 1));
            list.push(Token { kind, text: &text[inner..end], span: start..after });
            continue;
        }
        let mut end = start + letter.len_utf8();
        if matches!(kind, TokenKind::Word | TokenKind::Operator) {
            while let Some((at, next)) = letters.next_if(|(_, c)| !c.is_whitespace() && class(*c) == kind) {
                end = at + next.len_utf8();
            }
        }
        list.push(Token { kind, text: &text[start..end], span: start..end });
    }
    list
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_need_no_blanks_around_operators() {
        let texts: Vec<_> = tokens("size>=64 (value '07 00')").iter().map(|t| t.text.to_string()).collect();
        assert_eq!(texts, ["size", ">=", "64", "(", "value", "07 00", ")"]);
    }

    #[test]
    fn a_query_in_a_file_knows_its_line_and_column() {
        let text = "a = 1\nb = \"at gpu9\"\n";
        let source = Source { name: "f".into(), text: text.into() };
        let query = Text::within(&source, 10..19, "at gpu9");
        assert_eq!(query.error(3..7, "x").position(), Some((2, 9)));
        let escaped = Text::within(&source, 10..19, "other");
        assert_eq!(escaped.error(3..7, "x").position(), Some((2, 5)));
    }
}
