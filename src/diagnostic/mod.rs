//! What is wrong with an input: where, what was expected, and what was probably meant.

mod nearest;
mod read;
mod render;
mod toml_error;
mod write;

use std::ops::Range;
use std::sync::Arc;

pub use nearest::nearest;
pub use read::{TEXT_LIMIT, read_text};
pub use toml_error::from_toml;
pub use write::{
    Named, WholeFile, cannot, claim, create_alone, may_replace, reason, try_out, write_new, write_whole,
};

/// One complaint about a file, query, command or argument. Its `Display` has no line break at the end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// What is wrong, in one sentence without a full stop.
    pub message: String,
    /// The text that it is about, if any.
    pub source: Option<Source>,
    /// Byte offsets into the source's text.
    pub span: Option<Range<usize>>,
    /// Number of the source text's first line: 1 unless the text is an excerpt of a file too large to hold.
    pub first_line: usize,
    /// What was expected instead.
    pub expected: Option<String>,
    /// What was probably meant.
    pub suggestion: Option<String>,
    /// What it complains of, where somebody has to know more than the words.
    pub complaint: Option<Complaint>,
    /// What else is wrong with the same text, told behind it.
    pub others: Vec<Self>,
}

/// What is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Complaint {
    /// A protocol has no such state, or nothing like this can happen to it.
    State,
    /// There is no key of this name.
    Key(String),
}

/// A named text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// A file's path, or a name such as `:break`.
    pub name: Arc<str>,
    pub text: Arc<str>,
}

impl Source {
    #[must_use]
    pub fn new(name: impl Into<Arc<str>>, text: impl Into<Arc<str>>) -> Self {
        Self { name: name.into(), text: text.into() }
    }
}

pub type Result<T> = std::result::Result<T, Box<Diagnostic>>;

impl Diagnostic {
    #[must_use]
    pub fn new(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            source: None,
            span: None,
            first_line: 1,
            expected: None,
            suggestion: None,
            complaint: None,
            others: Vec::new(),
        }
    }

    /// With what else is wrong.
    #[must_use]
    pub fn and(mut self, others: impl IntoIterator<Item = Self>) -> Self {
        self.others.extend(others);
        self
    }

    #[must_use]
    pub fn complaining(mut self, complaint: Complaint) -> Self {
        self.complaint = Some(complaint);
        self
    }

    #[must_use]
    pub fn at(mut self, source: &Source, span: Range<usize>) -> Self {
        self.source = Some(source.clone());
        self.span = Some(span);
        self
    }

    /// The source's text is an excerpt of its file that starts at this line (from 1).
    #[must_use]
    pub fn from_line(mut self, line: usize) -> Self {
        self.first_line = line;
        self
    }

    /// Names the text that it is about, without a place in it.
    #[must_use]
    pub fn of(mut self, source: &Source) -> Self {
        self.source = Some(source.clone());
        self
    }

    #[must_use]
    pub fn expected(mut self, expected: impl Into<String>) -> Self {
        self.expected = Some(expected.into());
        self
    }

    /// Suggests the one of `candidates` nearest to `name`, if one is near.
    #[must_use]
    pub fn nearest<'a>(mut self, name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Self {
        self.suggestion = nearest(name, candidates).map(|near| format!("did you mean {near}?"));
        self
    }

    /// Line and column, both from 1 and counted in characters, of the start of the span.
    #[must_use]
    pub fn position(&self) -> Option<(usize, usize)> {
        let text = &self.source.as_ref()?.text;
        let start = floor(text, self.span.as_ref()?.start);
        let before = text.get(..start)?;
        let line = before.matches('\n').count() + self.first_line;
        let column = before.rsplit('\n').next().unwrap_or("").chars().count() + 1;
        Some((line, column))
    }
}

impl std::error::Error for Diagnostic {}

/// The nearest start of a character at or before byte `index` of `text`.
fn floor(text: &str, index: usize) -> usize {
    let index = index.min(text.len());
    (0..=index).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0)
}
/// A text as a value of a TOML file.
#[must_use]
pub fn in_toml(text: &str) -> String {
    toml::Value::String(text.to_owned()).to_string()
}
