//! Expectations compiled for a machine: when to look, and what must hold then.

use crate::config::Document;
use crate::config::document::At;
use crate::diagnostic::{Diagnostic, Result};
use crate::query::{Context, Filter, Predicate, Text};

use super::file::ExpectFile;
use super::values::Texts;

/// One expectation.
#[derive(Clone, Debug)]
pub struct Expectation {
    pub when: When,
    /// What must hold then.
    pub that: Vec<Condition>,
    /// The line of the file it starts on.
    pub line: usize,
    pub about: Option<String>,
}

/// A predicate and the line that it is written on.
#[derive(Clone, Debug)]
pub struct Condition {
    pub predicate: Predicate,
    pub text: String,
    pub line: usize,
}

/// When an expectation is looked at.
#[derive(Clone, Debug)]
pub enum When {
    /// When a task has ended.
    After(String),
    /// After the first event of this cycle or a later one.
    At(u64),
    /// After the event of the n-th record that matches.
    On(Matching, u64),
    /// After every event.
    Always,
    /// No record may match.
    Never(Matching),
    /// So many records must match.
    Count(Matching, u64, u64),
    End,
}

impl When {
    /// The same in words, with what it is about if it says that itself.
    #[must_use]
    pub fn told(&self) -> String {
        match self {
            Self::After(id) => format!("after {id}"),
            Self::At(cycle) => format!("at cycle {cycle}"),
            Self::On(query, nth) if *nth > 1 => format!("on number {nth} of {}", query.text),
            Self::On(query, _) => format!("on {}", query.text),
            Self::Always => "always".into(),
            Self::Never(query) => format!("never {}", query.text),
            Self::Count(query, least, u64::MAX) => format!("at least {least} of {}", query.text),
            Self::Count(query, least, most) if least == most => format!("{least} of {}", query.text),
            Self::Count(query, least, most) => format!("{least} to {most} of {}", query.text),
            Self::End => "in the end".into(),
        }
    }
}

/// A filter and how it is written.
#[derive(Clone, Debug)]
pub struct Matching {
    pub filter: Filter,
    pub text: String,
}

/// Compiles queries of one scenario file.
#[derive(Clone, Copy)]
pub(super) struct Compiler<'a> {
    pub document: &'a Document,
    pub context: &'a Context,
}

impl Compiler<'_> {
    pub fn text(self, at: &At<String>) -> Text {
        Text::within(self.document.source(), at.span.clone(), &at.value)
    }

    pub fn complain(self, span: &std::ops::Range<usize>, message: impl Into<String>) -> Diagnostic {
        self.document.complain(Some(span), message)
    }

    pub fn matching(self, at: &At<String>) -> Result<Matching> {
        let filter = Filter::compile(&self.text(at), self.context)?;
        Ok(Matching { filter, text: at.value.clone() })
    }

    pub fn conditions(self, texts: &Texts) -> Result<Vec<Condition>> {
        let condition = |at: &At<String>| {
            let text = self.text(at);
            let predicate = Predicate::compile(&text, self.context)?;
            Ok(Condition { predicate, text: at.value.clone(), line: self.line(&at.span) })
        };
        texts.0.iter().map(condition).collect()
    }

    /// The id of a task, which must be there.
    pub fn task(self, at: &At<String>) -> Result<String> {
        let known = &self.context.ids;
        if known.contains(&at.value) {
            return Ok(at.value.clone());
        }
        let error = self.complain(&at.span, format!("there is no task {}", at.value));
        Err(error.nearest(&at.value, known.iter().map(String::as_str)).into())
    }

    /// Which of several matches, from 1.
    pub fn nth(self, at: Option<&At<u64>>) -> Result<u64> {
        match at {
            Some(At { value: 0, span }) => Err(self.complain(span, "the first is number 1").into()),
            Some(at) => Ok(at.value),
            None => Ok(1),
        }
    }

    /// That a key which only goes with another one is not given without it.
    pub fn alone<T>(self, given: Option<&At<T>>, key: &str, with: &str) -> Result<()> {
        match given {
            Some(at) => Err(self.complain(&at.span, format!("{key} needs {with}")).into()),
            None => Ok(()),
        }
    }

    pub fn expectation(self, at: &At<ExpectFile>) -> Result<Expectation> {
        let file = &at.value;
        let when = self.when(at)?;
        if !matches!(when, When::On(..)) {
            self.alone(file.nth.as_ref(), "nth", "on")?;
        }
        if !matches!(when, When::Count(..)) {
            self.alone(file.is.as_ref(), "is", "count")?;
            self.alone(file.at_least.as_ref(), "at-least", "count")?;
            self.alone(file.at_most.as_ref(), "at-most", "count")?;
        }
        let mut that = self.conditions(&file.that)?;
        match (&when, file.that.0.first()) {
            (When::Always, _) => {
                let always = file.always.as_ref().map(|always| self.conditions(always)).transpose()?;
                that.extend(always.unwrap_or_default());
            }
            (When::Never(_) | When::Count(..), Some(first)) => {
                let error = self.complain(&first.span, "that does not go with never and count");
                return Err(error.expected("after, at, on, always or end").into());
            }
            _ => {}
        }
        if that.is_empty() && matches!(when, When::At(_) | When::Always | When::End) {
            let error = self.complain(&at.span, "this expects nothing");
            return Err(error.expected("that = [\"state of gpu0.l2.0 block 0x1000 is M\"]").into());
        }
        Ok(Expectation { when, that, line: self.line(&at.span), about: file.about.clone() })
    }

    /// The line of the file that something starts on.
    pub fn line(self, span: &std::ops::Range<usize>) -> usize {
        self.document.line(span.start)
    }

    fn when(self, at: &At<ExpectFile>) -> Result<When> {
        let file = &at.value;
        let mut found = Vec::new();
        if let Some(id) = &file.after {
            found.push(When::After(self.task(id)?));
        }
        if let Some(cycle) = &file.at {
            found.push(When::At(cycle.value));
        }
        if let Some(query) = &file.on {
            found.push(When::On(self.matching(query)?, self.nth(file.nth.as_ref())?));
        }
        if file.always.is_some() {
            found.push(When::Always);
        }
        if let Some(query) = &file.never {
            found.push(When::Never(self.matching(query)?));
        }
        if let Some(query) = &file.count {
            let (least, most) = self.limits(query, file)?;
            found.push(When::Count(self.matching(query)?, least, most));
        }
        if let Some(end) = &file.end {
            if !end.value {
                return Err(self.complain(&end.span, "this is no moment").expected("end = true").into());
            }
            found.push(When::End);
        }
        if found.len() > 1 {
            let error = self.complain(&at.span, "this is expected at more than one moment");
            return Err(error.expected("one of after, at, on, always, never, count and end").into());
        }
        Ok(found.pop().unwrap_or(When::End))
    }

    fn limits(self, count: &At<String>, file: &ExpectFile) -> Result<(u64, u64)> {
        let (least, most) = (file.at_least.as_ref(), file.at_most.as_ref());
        match (&file.is, least, most) {
            (Some(is), None, None) => Ok((is.value, is.value)),
            (None, None, None) => {
                let error = self.complain(&count.span, "how many records shall match?");
                Err(error.expected("is, at-least or at-most").into())
            }
            (None, least, most) => {
                let range = (least.map_or(0, |at| at.value), most.map_or(u64::MAX, |at| at.value));
                match most.filter(|_| range.0 > range.1) {
                    Some(most) => Err(self.complain(&most.span, "at-most is less than at-least").into()),
                    None => Ok(range),
                }
            }
            (Some(is), _, _) => {
                Err(self.complain(&is.span, "is does not go with at-least and at-most").into())
            }
        }
    }
}
