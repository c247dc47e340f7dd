//! What is wrong with an input: where, what was expected, and what was probably meant.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

/// One complaint about a file, query, command or argument.
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
}

/// A named text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// A file's path, or a name such as `:break`.
    pub name: Arc<str>,
    pub text: Arc<str>,
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
        }
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

    /// Line and column, both from 1, of the start of the span.
    #[must_use]
    pub fn position(&self) -> Option<(usize, usize)> {
        let text = &self.source.as_ref()?.text;
        let start = self.span.as_ref()?.start.min(text.len());
        let before = text.get(..start)?;
        let line = before.matches('\n').count().saturating_add(self.first_line);
        let column = before.rsplit('\n').next().unwrap_or("").chars().count() + 1;
        Some((line, column))
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.source, self.position()) {
            (Some(source), Some((line, column))) => {
                writeln!(f, "{}:{line}:{column}: {}", source.name, self.message)?;
            }
            (Some(source), None) => writeln!(f, "{}: {}", source.name, self.message)?,
            (None, _) => writeln!(f, "{}", self.message)?,
        }
        Ok(())
    }
}

impl std::error::Error for Diagnostic {}

/// The candidate nearest to `name` in edit distance, if it is near enough to be a slip.
#[must_use]
pub fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    candidates
        .into_iter()
        .map(|candidate| (distance(name, candidate), candidate))
        .filter(|(distance, candidate)| *distance <= candidate.len().max(name.len()) / 3 + 1)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let next = (diagonal + usize::from(x != *y)).min(row[j] + 1).min(row[j + 1] + 1);
            diagonal = row[j + 1];
            row[j + 1] = next;
        }
    }
    row.last().copied().unwrap_or(0)
}
