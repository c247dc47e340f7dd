//! What breakpoints are made of: `QUERY`, `QUERY if PREDICATE`, or `if PREDICATE`.

use std::fmt;

use crate::diagnostic::Result;

use super::context::Context;
use super::filter::Filter;
use super::parser::Parser;
use super::predicate::{Expression, Predicate};
use super::text::Text;

/// Where to stop: at a record, if a predicate holds after its event; or where a predicate becomes true.
#[derive(Clone, Debug, PartialEq)]
pub struct Stop {
    pub on: Option<Filter>,
    pub when: Option<Predicate>,
}

impl Stop {
    /// Compiles `QUERY [if PREDICATE]`.
    ///
    /// # Errors
    /// As those of [`Filter::compile`] and [`Predicate::compile`].
    pub fn compile(text: &Text, context: &Context) -> Result<Self> {
        Self::parse(text, context).map_err(|mut error| {
            let state = text.as_str();
            let meant = if Predicate::compile(text, context).is_ok() {
                format!("did you mean `if {state}`?")
            } else if Expression::compile(text, context).is_ok() {
                format!("did you mean `if {state} is ...`?")
            } else {
                return Predicate::misplaced(text, context).unwrap_or(error);
            };
            error.message = "this is about the state of the machine, not about a record".to_owned();
            error.suggestion = Some(meant);
            error
        })
    }

    fn parse(text: &Text, context: &Context) -> Result<Self> {
        let mut parser = Parser::new(text, context);
        if parser.eat("if", "a condition on the state") {
            let when = Some(Predicate::parse(&mut parser)?);
            parser.finish()?;
            return Ok(Self { on: None, when });
        }
        let on = Some(Filter::parse(&mut parser)?);
        let conditional = parser.eat("if", "a condition on the state");
        let when = conditional.then(|| Predicate::parse(&mut parser)).transpose()?;
        parser.finish()?;
        Ok(Self { on, when })
    }
}

impl fmt::Display for Stop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.on, &self.when) {
            (Some(on), Some(when)) => write!(f, "{on} if {when}"),
            (Some(on), None) => on.fmt(f),
            (None, Some(when)) => write!(f, "if {when}"),
            (None, None) => Ok(()),
        }
    }
}
