//! Predicates over a machine's state, and expressions to watch and display.

use std::fmt;

use crate::diagnostic::{Diagnostic, Result};

use super::context::{Context, Subject};
use super::parser::Parser;
use super::predicate_grammar::{Comparisons, begins, quantity};
use super::predicate_test::Test;
use super::quantity::{Quantity, What};
use super::text::Text;
use super::tree::{self, Tree};

/// What must be, compiled for a machine. Displays as a query that means the same.
#[derive(Clone, Debug, PartialEq)]
pub struct Predicate {
    pub(super) tree: Tree<Test>,
}

impl Predicate {
    /// Compiles a predicate.
    ///
    /// # Errors
    /// Points at the word that is not understood or names what the machine does not have.
    pub fn compile(text: &Text, context: &Context) -> Result<Self> {
        let mut parser = Parser::new(text, context);
        let predicate = Self::parse(&mut parser)?;
        parser.finish()?;
        Ok(predicate)
    }

    /// The complaint about a predicate that stands where a query over records should.
    #[must_use]
    pub fn misplaced(text: &Text, context: &Context) -> Option<Box<Diagnostic>> {
        let mut error = begins(text.as_str()).then(|| Self::compile(text, context).err())??;
        error.message = format!("{}; and what is asked of the state stands behind if", error.message);
        Some(error)
    }

    pub(super) fn parse(parser: &mut Parser<'_>) -> Result<Self> {
        Ok(Self { tree: tree::parse::<Comparisons>(parser, ())? })
    }

    #[must_use]
    pub fn holds(&self, subject: &dyn Subject) -> bool {
        self.tree.holds(&|test| test.holds(subject))
    }

    /// Why it does not hold: what the decisive quantities are instead, or `None` if it holds.
    #[must_use]
    pub fn complaint(&self, subject: &dyn Subject) -> Option<String> {
        complaint(&self.tree, subject)
    }
}

fn complaint(tree: &Tree<Test>, subject: &dyn Subject) -> Option<String> {
    match tree {
        Tree::Test(test) => test.complaint(subject),
        Tree::Not(inner) => {
            inner.holds(&|test| test.holds(subject)).then(|| format!("{} holds, but must not", Shown(inner)))
        }
        Tree::All(parts) => parts.iter().find_map(|part| complaint(part, subject)),
        Tree::Any(parts) => {
            let all: Option<Vec<_>> = parts.iter().map(|part| complaint(part, subject)).collect();
            all.map(|all| all.join(", and "))
        }
    }
}

/// A part of a predicate, to be written.
struct Shown<'a>(&'a Tree<Test>);

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.write(f, " and ")
    }
}

impl fmt::Display for Predicate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Shown(&self.tree).fmt(f)
    }
}

/// Bytes of a word. A value whose width is not stated and that is compared with nothing goes to the end of its word: never into
/// another block.
const WORD: u32 = 4;

/// What is watched or displayed: a quantity, or whether a predicate holds.
#[derive(Clone, Debug, PartialEq)]
pub enum Expression {
    Quantity(Quantity),
    Predicate(Predicate),
}

impl Expression {
    /// Compiles an expression.
    ///
    /// # Errors
    /// As those of [`Predicate::compile`].
    pub fn compile(text: &Text, context: &Context) -> Result<Self> {
        let mut parser = Parser::new(text, context);
        if let Ok(mut quantity) = quantity(&mut parser)
            && parser.ended()
        {
            if let What::Value { at, width: width @ 0, .. } = &mut quantity.0 {
                *width = WORD - (at.0 % u64::from(WORD)) as u32;
            }
            return Ok(Self::Quantity(quantity));
        }
        Ok(Self::Predicate(Predicate::compile(text, context)?))
    }

    /// What it is now, in words: one value, or `path value` for each of several nodes; `yes` or `no`.
    #[must_use]
    pub fn show(&self, subject: &dyn Subject) -> String {
        match self {
            Self::Predicate(predicate) => if predicate.holds(subject) { "yes" } else { "no" }.into(),
            Self::Quantity(quantity) => {
                let components = subject.components();
                match &quantity.read(subject)[..] {
                    [(_, only)] => only.show(components),
                    several => {
                        let each = several.iter().map(|(node, reading)| {
                            let path = node.map_or("memory", |id| components.path(id));
                            format!("{path} {}", reading.show(components))
                        });
                        each.collect::<Vec<_>>().join(", ")
                    }
                }
            }
        }
    }
}

impl fmt::Display for Expression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Quantity(quantity) => quantity.fmt(f),
            Self::Predicate(predicate) => predicate.fmt(f),
        }
    }
}
