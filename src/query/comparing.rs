//! What filters and predicates are read alike in: comparisons, and where a value ends.

use crate::diagnostic::{Diagnostic, Result};

use super::number::{Comparison, Interval};
use super::parser::Parser;
use super::text::TokenKind;

/// Takes `is`, `is not`, an operator, or nothing.
pub(super) fn comparison(parser: &mut Parser<'_>, ordered: bool) -> Result<Comparison> {
    if parser.eat("is", "equals") {
        return Ok(if parser.eat("not", "differs") { Comparison::IsNot } else { Comparison::Is });
    }
    let Some(token) = parser.token().filter(|token| token.kind == TokenKind::Operator) else {
        return Ok(Comparison::Is);
    };
    let Some(how) = Comparison::of_operator(token.text) else {
        let error = parser.fail(format!("\"{}\" is not a comparison", token.text));
        return Err(Box::new(error.expected("=, !=, <, <=, >, >= or is")));
    };
    if how.orders() && !ordered {
        let error = parser.fail(format!("\"{}\" needs numbers", token.text));
        return Err(Box::new(error.expected("=, != or is")));
    }
    parser.advance();
    Ok(how)
}

/// A range cannot be larger or smaller than something.
pub(super) fn ordered_single(parser: &Parser<'_>, how: Comparison, interval: Interval) -> Result<()> {
    if how.orders() && !interval.is_single() {
        let error = parser.fail_before(format!("a range cannot be compared with {how}"));
        return Err(Box::new(error.expected("one number after <, <=, > or >=")));
    }
    Ok(())
}

/// Whether it is a word that joins tests.
pub(super) fn joins(word: &str) -> bool {
    matches!(word, "and" | "or" | "not" | "if")
}

/// What stands here in quotes is no bytes.
pub(super) fn not_bytes(parser: &Parser<'_>) -> Diagnostic {
    let written = parser.token().map_or("", |token| token.text);
    let error = parser.fail(format!("\"{written}\" are not bytes"));
    error.expected("pairs of hexadecimal digits such as \"07 00\"")
}
