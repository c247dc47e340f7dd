//! `and`, `or`, `not` and parentheses over any kind of test. `not` is about the test that follows: a kind of record with its fields,
//! or one field.

use std::fmt;

use crate::diagnostic::Result;

use super::parser::Parser;

/// Tests and how they are combined.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Tree<T> {
    Test(T),
    Not(Box<Tree<T>>),
    All(Vec<Tree<T>>),
    Any(Vec<Tree<T>>),
}

impl<T> Tree<T> {
    /// Whether it holds where `test` tells for each test.
    pub fn holds(&self, test: &impl Fn(&T) -> bool) -> bool {
        match self {
            Self::Test(one) => test(one),
            Self::Not(inner) => !inner.holds(test),
            Self::All(parts) => parts.iter().all(|part| part.holds(test)),
            Self::Any(parts) => parts.iter().any(|part| part.holds(test)),
        }
    }

    /// Writes it so that it reads back as the same tree; `and` joins what must all hold.
    pub fn write(&self, f: &mut fmt::Formatter<'_>, and: &str) -> fmt::Result
    where
        T: fmt::Display,
    {
        match self {
            Self::Test(one) => one.fmt(f),
            Self::Not(inner) => {
                f.write_str("not ")?;
                inner.write_in(f, and, matches!(**inner, Self::All(_) | Self::Any(_)))
            }
            Self::All(parts) => {
                Self::join(parts, f, and, and, |part| matches!(part, Self::All(_) | Self::Any(_)))
            }
            Self::Any(parts) => Self::join(parts, f, and, " or ", |part| matches!(part, Self::Any(_))),
        }
    }

    fn write_in(&self, f: &mut fmt::Formatter<'_>, and: &str, parentheses: bool) -> fmt::Result
    where
        T: fmt::Display,
    {
        if !parentheses {
            return self.write(f, and);
        }
        f.write_str("(")?;
        self.write(f, and)?;
        f.write_str(")")
    }

    fn join(
        parts: &[Self],
        f: &mut fmt::Formatter<'_>,
        and: &str,
        between: &str,
        parentheses: impl Fn(&Self) -> bool,
    ) -> fmt::Result
    where
        T: fmt::Display,
    {
        for (index, part) in parts.iter().enumerate() {
            if index > 0 {
                f.write_str(between)?;
            }
            part.write_in(f, and, parentheses(part))?;
        }
        Ok(())
    }
}

/// What the tests of a tree look like.
pub(super) trait Grammar {
    type Test;
    /// What a test tells those that follow it side by side.
    type Scope: Copy;
    /// Whether tests that stand side by side must all hold.
    const SIDE_BY_SIDE: bool;

    fn test(parser: &mut Parser<'_>, scope: Self::Scope) -> Result<Self::Test>;
    fn scope_after(test: &Self::Test, scope: Self::Scope) -> Self::Scope;
    /// Whether the tests that follow side by side say more of the same.
    fn is_head(test: &Self::Test) -> bool;
    /// Offers what a test may begin with, for completion and messages.
    fn offer(parser: &mut Parser<'_>, scope: Self::Scope);
}

/// Parentheses and `not` may nest so deep.
const DEEPEST: u32 = 64;

/// Reads tests joined by `or`.
pub(super) fn parse<G: Grammar>(parser: &mut Parser<'_>, scope: G::Scope) -> Result<Tree<G::Test>> {
    let mut parts = vec![all::<G>(parser, scope)?];
    while parser.eat("or", "either side") {
        parts.push(all::<G>(parser, scope)?);
    }
    Ok(collapse(parts, Tree::Any))
}

/// Reads tests joined by `and`, or side by side.
fn all<G: Grammar>(parser: &mut Parser<'_>, mut scope: G::Scope) -> Result<Tree<G::Test>> {
    let mut parts = Vec::new();
    loop {
        let part = unary::<G>(parser, scope)?;
        if let Tree::Test(test) = &part {
            scope = G::scope_after(test, scope);
        }
        parts.push(part);
        if parser.eat("and", "both sides") {
            continue;
        }
        if G::SIDE_BY_SIDE {
            G::offer(parser, scope);
            if !parser.group_ends() {
                continue;
            }
        }
        return Ok(collapse(parts, Tree::All));
    }
}

fn unary<G: Grammar>(parser: &mut Parser<'_>, scope: G::Scope) -> Result<Tree<G::Test>> {
    if parser.depth >= DEEPEST {
        return Err(parser.fail(format!("nested more than {DEEPEST} deep")).into());
    }
    G::offer(parser, scope);
    parser.depth += 1;
    let tree = if parser.eat("not", "the opposite") {
        Tree::Not(Box::new(denied::<G>(parser, scope)?))
    } else if parser.open() {
        let inner = parse::<G>(parser, scope)?;
        parser.close()?;
        inner
    } else {
        Tree::Test(G::test(parser, scope)?)
    };
    parser.depth -= 1;
    Ok(tree)
}

/// What stands behind a `not`.
fn denied<G: Grammar>(parser: &mut Parser<'_>, scope: G::Scope) -> Result<Tree<G::Test>> {
    let first = unary::<G>(parser, scope)?;
    let Tree::Test(head) = &first else { return Ok(first) };
    if !G::is_head(head) {
        return Ok(first);
    }
    let scope = G::scope_after(head, scope);
    let mut parts = vec![first];
    G::offer(parser, scope);
    while !parser.group_ends() && !parser.is_joined() {
        parts.push(Tree::Test(G::test(parser, scope)?));
        G::offer(parser, scope);
    }
    Ok(collapse(parts, Tree::All))
}

fn collapse<T>(mut parts: Vec<Tree<T>>, many: impl Fn(Vec<Tree<T>>) -> Tree<T>) -> Tree<T> {
    match (parts.len(), parts.pop()) {
        (1, Some(only)) => only,
        (_, Some(last)) => {
            parts.push(last);
            many(parts)
        }
        (_, None) => many(parts),
    }
}
