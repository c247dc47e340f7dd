//! Component operands: patterns resolved to sets of a machine's components.

use std::fmt;
use std::sync::Arc;

use crate::diagnostic::{Complaint, Result, nearest};
use crate::model::bits::Bits;
use crate::model::component::{ComponentId, ComponentKind, Components};
use crate::model::state::State;

use super::parser::{Offer, Parser};
use super::pattern::Pattern;

/// The components that a pattern names.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Named {
    pub pattern: Pattern,
    /// Resolved for a machine; without it, paths are matched one by one.
    set: Option<Arc<Bits>>,
}

impl Named {
    pub fn contains(&self, id: ComponentId, components: &Components) -> bool {
        match &self.set {
            Some(set) => set.get(id.0),
            None => self.pattern.matches(components.path(id)),
        }
    }
}

impl fmt::Display for Named {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.pattern.fmt(f)
    }
}

/// Takes a component pattern that names at least one component of the machine.
pub(super) fn component(parser: &mut Parser<'_>, fits: fn(ComponentKind) -> bool) -> Result<Named> {
    parser.offer(Offer::Component(fits));
    let Some(word) = parser.word() else { return Err(parser.unexpected().into()) };
    let named = named(parser, word)?;
    parser.advance();
    Ok(named)
}

/// The components that `word`, which stands here, names.
pub(super) fn named(parser: &Parser<'_>, word: &str) -> Result<Named> {
    let Some(pattern) = Pattern::parse(word) else {
        let error = parser.fail(format!("\"{word}\" is not a component"));
        return Err(Box::new(error.expected("a component such as gpu0.cu0.l1 or gpu*.l1")));
    };
    let Some(components) = &parser.context.components else {
        return Ok(Named { pattern, set: None });
    };
    let set = pattern.resolve(components);
    if set.is_empty() {
        let near = pattern.alternatives(components);
        let mut error = parser.fail(format!("no component matches {word}"));
        // What is suggested is a whole path, a component that is there; but all of a GPU for a GPU.
        let meant = nearest(word, near.iter().map(|(piece, _)| piece.as_str()));
        let path = meant.and_then(|meant| near.iter().find(|(piece, _)| piece == meant));
        error.suggestion = path.map(|(piece, path)| {
            let meant = if piece.contains('.') { path } else { piece };
            format!("did you mean {meant}?")
        });
        return Err(Box::new(error));
    }
    Ok(Named { pattern, set: Some(Arc::new(set)) })
}

/// Takes a state of the machine's protocols.
pub(super) fn state(parser: &mut Parser<'_>) -> Result<State> {
    parser.offer(Offer::State);
    let Some(word) = parser.word() else { return Err(parser.unexpected().into()) };
    let known = parser.context.states();
    let Some(state) = State::parse(word).filter(|state| known.is_empty() || known.contains(state)) else {
        let error = parser.fail(format!("\"{word}\" is not a state")).complaining(Complaint::State);
        return Err(Box::new(error.expected(parser.context.expected_state())));
    };
    parser.advance();
    Ok(state)
}
