//! Filters over records.

use std::fmt;

use crate::diagnostic::Result;
use crate::model::component::Components;
use crate::model::record::Record;

use super::clause::{Clause, Shared};
use super::context::Context;
use super::filter_grammar::Clauses;
use super::number::Comparison;
use super::parser::Parser;
use super::predicate::Predicate;
use super::text::Text;
use super::tree::{self, Tree};

/// Which records are meant, compiled for a machine. Displays as a query that means the same.
#[derive(Clone, Debug, PartialEq)]
pub struct Filter {
    pub(super) tree: Tree<Clause>,
}

impl Filter {
    /// Compiles a query.
    ///
    /// # Errors
    /// Points at the word that is not understood or names what the machine does not have.
    pub fn compile(text: &Text, context: &Context) -> Result<Self> {
        let mut parser = Parser::new(text, context);
        let filter = Self::parse(&mut parser).and_then(|filter| parser.finish().map(|()| filter));
        filter.map_err(|mut error| {
            let is_state = |text: &str| Predicate::compile(&Text::new("if", text), context).is_ok();
            let query = text.as_str();
            if is_state(query) || query.split_once(" if ").is_some_and(|(_, state)| is_state(state)) {
                error.message = "this is about the state of the machine, and only records are meant here".to_owned();
                error.expected = Some("a query over records; a breakpoint (break if, run --break 'if ...') and watch look at the state".to_owned());
                error.suggestion = None;
            }
            error
        })
    }

    pub(super) fn parse(parser: &mut Parser<'_>) -> Result<Self> {
        Ok(Self { tree: tree::parse::<Clauses>(parser, None)? })
    }

    /// Whether `record` is meant. `components` are those of the record's machine.
    #[must_use]
    pub fn matches(&self, record: &Record, components: &Components) -> bool {
        self.tree.holds(&|clause| clause.matches(record, components))
    }

    /// If it names a moment and nothing else, the predicate that becomes true then: events may make no record.
    #[must_use]
    pub fn moment(&self) -> Option<String> {
        let Tree::Test(Clause::Number(shared, Comparison::Is, at)) = &self.tree else { return None };
        match shared {
            Shared::Event => at.is_single().then(|| format!("event is {}", at.from)),
            Shared::Cycle => at.is_single().then(|| format!("cycle >= {}", at.from)),
            _ => None,
        }
    }
}

impl fmt::Display for Filter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.tree.write(f, " ")
    }
}
