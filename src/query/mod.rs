//! The query language: filters over records, predicates over state, and the stops that breakpoints are made of.
//!
//! One grammar with two vocabularies. `not` binds before `and` before `or`, parentheses group.
//!
//! - A [`Filter`] says which records are meant: `transition at gpu*.l1 to N block 0x1000`. Clauses that stand
//!   side by side must all hold. The kind of record may be left out.
//! - A [`Predicate`] says what is: `state of gpu0.l2.0 block 0x1000 is M`. Where its component pattern matches
//!   several nodes, it holds if it holds for all of them.
//! - A [`Stop`] is a filter, a predicate, or both: `message type read if occupancy of gpu0.l2.0.mshr >= 8`.
//!
//! Both are compiled for a machine: the [`Context`] knows its components, protocol tables, task names and
//! statistics, so a slip is told where it is made, and matching looks at numbers only.

mod clause;
mod comparing;
mod complete;
mod context;
mod filter;
mod filter_grammar;
mod number;
mod operand;
mod parser;
mod pattern;
mod predicate;
mod predicate_grammar;
mod predicate_test;
mod predicate_value;
mod quantity;
mod reading;
mod stop;
mod text;
mod tree;
mod vain;

pub use complete::{Completion, Language, complete};
pub use context::{Context, PageSize, Subject};
pub use filter::Filter;
pub use pattern::{Pattern, glob};
pub use predicate::{Expression, Predicate};
pub use quantity::Quantity;
pub use reading::Reading;
pub use stop::Stop;
pub use text::Text;
pub use vain::{Possible, like_an_address};

#[cfg(test)]
pub(crate) mod sample;
#[cfg(test)]
mod tests;
