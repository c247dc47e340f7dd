//! Something of the machine's state that is watched or displayed: an expression, or whether a predicate holds.

use super::subject::Subject;
use crate::diagnostic::Result;
use crate::query::{Context, Expression, Predicate, Text};

/// What is read.
#[derive(Clone, Debug)]
pub enum Watched {
    Value { expression: Expression, was: String },
    Truth { predicate: Predicate, was: String },
}

impl Watched {
    /// Reads an expression (`state of gpu0.l2.0 block 0x1000`) or a predicate (`... is M`).
    ///
    /// # Errors
    /// The complaint of whichever reading got further.
    pub fn parse(text: &Text, context: &Context) -> Result<Self> {
        let value = match Expression::parse(text, context) {
            Ok(expression) => return Ok(Self::Value { expression, was: String::new() }),
            Err(error) => error,
        };
        let truth = match Predicate::parse(text, context) {
            Ok(predicate) => return Ok(Self::Truth { predicate, was: String::new() }),
            Err(error) => error,
        };
        let reach = |span: &Option<std::ops::Range<usize>>| span.as_ref().map_or(0, |span| span.start);
        Err(if reach(&value.span) > reach(&truth.span) { value } else { truth })
    }

    /// What it is now, for people.
    #[must_use]
    pub fn read(&self, machine: &dyn Subject) -> String {
        match self {
            Self::Value { expression, .. } => expression.read(machine).to_string(),
            Self::Truth { predicate, .. } => if predicate.holds(machine) { "yes" } else { "no" }.to_owned(),
        }
    }

    /// Remembers what it is now.
    pub fn arm(&mut self, machine: &dyn Subject) {
        let now = self.read(machine);
        *self.was_mut() = now;
    }

    /// Before and after, if it changed since it was last looked at.
    pub fn look(&mut self, machine: &dyn Subject) -> Option<(String, String)> {
        let now = self.read(machine);
        let was = self.was_mut();
        (*was != now).then(|| (std::mem::replace(was, now.clone()), now))
    }

    fn was_mut(&mut self) -> &mut String {
        match self {
            Self::Value { was, .. } | Self::Truth { was, .. } => was,
        }
    }
}
