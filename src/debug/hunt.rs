//! Finding the bug of a scenario: what has been asked and said so far.

use crate::scenario::Bug;

/// A hunt under way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hunt {
    pub bug: Bug,
    /// How many hints have been asked for.
    pub hints: usize,
    /// Wrong answers so far.
    pub wrong: Vec<String>,
    pub found: bool,
}

impl Hunt {
    #[must_use]
    pub fn new(bug: Bug) -> Self {
        Self { bug, hints: 0, wrong: Vec::new(), found: false }
    }

    /// One more hint; `None` if there are no more.
    pub fn hint(&mut self) -> Option<&str> {
        let hint = self.bug.hints.get(self.hints)?;
        self.hints += 1;
        Some(hint)
    }

    /// Whether an answer, one of the choices, is right. Wrong ones are remembered.
    pub fn answer(&mut self, said: &str) -> bool {
        self.found |= said == self.bug.answer;
        if said != self.bug.answer && !self.wrong.iter().any(|wrong| wrong == said) {
            self.wrong.push(said.to_owned());
        }
        said == self.bug.answer
    }

    /// The hints given so far.
    pub fn given(&self) -> impl Iterator<Item = &String> {
        self.bug.hints.iter().take(self.hints)
    }
}
