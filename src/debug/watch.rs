//! Something of the machine's state that is watched or displayed.

use super::subject::Subject;
use crate::diagnostic::Result;
use crate::query::{Context, Expression, Text};

/// An expression (`state of gpu0.l2.0 block 0x1000`) or predicate (`... is M`), and what it last was.
#[derive(Clone, Debug)]
pub struct Watched {
    expression: Expression,
    was: String,
}

impl Watched {
    /// # Errors
    /// If it is neither an expression nor a predicate.
    pub fn compile(text: &Text, context: &Context) -> Result<Self> {
        Ok(Self { expression: Expression::compile(text, context)?, was: String::new() })
    }

    /// What it is now, for people.
    #[must_use]
    pub fn show(&self, machine: &dyn Subject) -> String {
        self.expression.show(machine)
    }

    /// Remembers what it is now.
    pub fn arm(&mut self, machine: &dyn Subject) {
        self.was = self.show(machine);
    }

    /// Before and after, if it changed since it was last looked at.
    pub fn look(&mut self, machine: &dyn Subject) -> Option<(String, String)> {
        let now = self.show(machine);
        (self.was != now).then(|| (std::mem::replace(&mut self.was, now.clone()), now))
    }
}
