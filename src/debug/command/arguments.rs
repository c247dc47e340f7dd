//! What follows a command's name, with its place in the line, so that a complaint can point at it.

use std::ops::Range;
use std::path::Path;

use crate::diagnostic::{Diagnostic, Result, Source};
use crate::model::number::parse_number;
use crate::query::Text;

/// A part of a command line.
#[derive(Clone, Debug)]
pub struct Arguments {
    source: Source,
    span: Range<usize>,
}

/// A word and its place in the source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Word<'a> {
    pub text: &'a str,
    pub span: Range<usize>,
}

impl Arguments {
    /// The part `span` of `source`, blanks around it left out.
    #[must_use]
    pub fn new(source: Source, span: Range<usize>) -> Self {
        let text = source.text.get(span.clone()).unwrap_or_default();
        let start = span.start + (text.len() - text.trim_start().len());
        let end = start + text.trim().len();
        Self { source, span: start..end }
    }

    #[must_use]
    pub fn text(&self) -> &str {
        self.source.text.get(self.span.clone()).unwrap_or_default()
    }

    /// The text as the name of a file, which may stand in quotes.
    #[must_use]
    pub fn path(&self) -> &Path {
        let text = self.text();
        let inner =
            |quote: char| text.strip_prefix(quote)?.strip_suffix(quote).filter(|name| !name.is_empty());
        Path::new(inner('"').or_else(|| inner('\'')).unwrap_or(text))
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.span.is_empty()
    }

    #[must_use]
    pub fn source(&self) -> &Source {
        &self.source
    }

    /// Its place in the source.
    #[must_use]
    pub fn span(&self) -> Range<usize> {
        self.span.clone()
    }

    /// None at all, at the same place.
    #[must_use]
    pub fn nothing(&self) -> Self {
        Self { source: self.source.clone(), span: self.span.end..self.span.end }
    }

    /// The words, separated by blanks.
    #[must_use]
    pub fn words(&self) -> Vec<Word<'_>> {
        let text = self.text();
        let start = |word: &str| word.as_ptr() as usize - text.as_ptr() as usize + self.span.start;
        text.split_whitespace()
            .map(|word| Word { text: word, span: start(word)..start(word) + word.len() })
            .collect()
    }

    /// The first word, and the rest.
    #[must_use]
    pub fn split_first(&self) -> (&str, Self) {
        let text = self.text();
        let word = text.split_whitespace().next().unwrap_or_default();
        (word, Self::new(self.source.clone(), self.span.start + word.len()..self.span.end))
    }

    /// What stands before and after the first word `word`.
    #[must_use]
    pub fn split_at(&self, word: &str) -> (Self, Option<Self>) {
        let found = self.words().into_iter().find(|part| part.text == word).map(|part| part.span);
        match found {
            None => (self.clone(), None),
            Some(span) => (
                Self::new(self.source.clone(), self.span.start..span.start),
                Some(Self::new(self.source.clone(), span.end..self.span.end)),
            ),
        }
    }

    /// All of it as a query.
    #[must_use]
    pub fn query(&self) -> Text {
        Text::within(&self.source, self.span.clone(), self.text())
    }

    /// A complaint about its text alone, as one about the line that it stands in.
    #[must_use]
    pub fn placed(&self, mut error: Box<Diagnostic>) -> Box<Diagnostic> {
        let is_own = error.source.as_ref().is_some_and(|source| *source.text == *self.text());
        if let Some(span) = error.span.as_mut().filter(|_| is_own) {
            *span = span.start + self.span.start..span.end + self.span.start;
            error.source = Some(self.source.clone());
        }
        error
    }

    /// A complaint about `span`.
    #[must_use]
    pub fn error(&self, span: Range<usize>, message: impl Into<String>) -> Box<Diagnostic> {
        Box::new(Diagnostic::new(message).at(&self.source, span))
    }

    /// A complaint about all of it.
    #[must_use]
    pub fn complaint(&self, message: impl Into<String>) -> Box<Diagnostic> {
        self.error(self.span.clone(), message)
    }

    /// A complaint that something is missing.
    #[must_use]
    pub fn missing(&self, expected: impl Into<String>) -> Box<Diagnostic> {
        let end = self.span.end;
        Box::new(Diagnostic::new("something is missing here").at(&self.source, end..end).expected(expected))
    }

    /// `word` as a number.
    ///
    /// # Errors
    /// If it is none; `what` says what was expected.
    pub fn number(&self, word: &Word<'_>, what: &str) -> Result<u64> {
        parse_number(word.text).ok_or_else(|| {
            let error = self.error(word.span.clone(), format!("\"{}\" is not a number", word.text));
            Box::new(error.expected(what))
        })
    }

    /// Nothing, or how many times; at least once.
    ///
    /// # Errors
    /// If it is something else.
    pub fn count(&self) -> Result<u64> {
        let words = self.words();
        match words.as_slice() {
            [] => Ok(1),
            [word] => match self.number(word, "how many times, at least 1")? {
                0 => Err(Box::new(
                    self.error(word.span.clone(), "0 times is not at all").expected("at least 1"),
                )),
                count => Ok(count),
            },
            [_, second, ..] => Err(self.error(second.span.clone(), "nothing is expected after the count")),
        }
    }

    /// Nothing may follow so many words.
    ///
    /// # Errors
    /// If something does.
    pub fn only(&self, words: usize) -> Result<()> {
        match self.words().get(words) {
            Some(word) => Err(self.error(word.span.clone(), "nothing is expected here")),
            None => Ok(()),
        }
    }

    /// Nothing may follow.
    ///
    /// # Errors
    /// If something does.
    pub fn none(&self) -> Result<()> {
        if self.is_empty() { Ok(()) } else { Err(self.complaint("this command takes no arguments")) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arguments(text: &str) -> Arguments {
        Arguments::new(Source::new(":x", text), 1..text.len())
    }

    #[test]
    fn words_know_their_place_in_the_line() {
        let line = arguments("b  at gpu0 if  x");
        assert_eq!(line.words()[1], Word { text: "gpu0", span: 6..10 });
        let (before, after) = line.split_at("if");
        assert_eq!((before.text(), after.as_ref().map(Arguments::text)), ("at gpu0", Some("x")));
        assert_eq!(line.error(6..10, "").position(), Some((1, 7)));
    }

    #[test]
    fn a_count_is_at_least_one() {
        assert_eq!(arguments("s").count().unwrap(), 1);
        assert_eq!(arguments("s 0x10").count().unwrap(), 16);
        for wrong in ["s 0", "s -1", "s x", "s 1 2", "s 99999999999999999999999"] {
            assert!(arguments(wrong).count().is_err(), "{wrong}");
        }
    }
}
