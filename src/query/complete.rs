//! Completion: what may stand at the cursor, from what the parser would have accepted there.

use std::ops::Range;

use crate::model::component::{ComponentKind, Components};

use super::context::Context;
use super::filter::Filter;
use super::parser::{Offer, Parser};
use super::predicate::Predicate;
use super::text::Text;

/// Which part of the language is being typed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    /// A [`Filter`].
    Records,
    /// A [`Predicate`] or [`super::Expression`].
    State,
    /// A [`super::Stop`].
    Stop,
}

/// One way to go on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Completion {
    pub text: String,
    /// What it means.
    pub about: String,
    /// The bytes of the typed text that it replaces.
    pub replaces: Range<usize>,
}

/// Completions at most.
const MOST: usize = 200;

/// What may stand at byte `cursor` of `text`, given what stands before it and the letters of the word so far.
#[must_use]
pub fn complete(text: &str, cursor: usize, language: Language, context: &Context) -> Vec<Completion> {
    let Some(before) = text.get(..cursor) else { return Vec::new() };
    let boundary = |c: char| c.is_whitespace() || matches!(c, '(' | ')' | '=' | '<' | '>' | '!');
    let start =
        before.rfind(boundary).map_or(0, |at| at + before[at..].chars().next().map_or(1, char::len_utf8));
    let (done, typed) = before.split_at(start);
    let mut list = Vec::new();
    for offer in offers(done, language, context) {
        for (word, about) in words(&offer, context) {
            if word.starts_with(typed) && !list.iter().any(|known: &Completion| known.text == word) {
                list.push(Completion { text: word, about, replaces: start..cursor });
            }
        }
    }
    list.truncate(MOST);
    list
}

/// What the parser would accept after `done`.
fn offers(done: &str, language: Language, context: &Context) -> Vec<Offer> {
    let text = Text::new("prompt", done);
    let mut parser = Parser::new(&text, context);
    let condition = language == Language::Stop && parser.eat("if", "a condition on the state");
    let mut on_state = language == Language::State || condition;
    if !on_state && Filter::parse(&mut parser).is_ok() && language == Language::Stop {
        on_state = parser.eat("if", "a condition on the state");
    }
    if on_state {
        // An error is where the offers are.
        let _ = Predicate::parse(&mut parser);
    }
    parser.offers_at_end()
}

/// The words of an offer and what they mean.
fn words(offer: &Offer, context: &Context) -> Vec<(String, String)> {
    let own = |word: &str, about: &str| vec![(word.to_string(), about.to_string())];
    match offer {
        Offer::Word(word, about) | Offer::Field(word, about) => own(word, about),
        Offer::Value(word) => own(word, ""),
        Offer::Kind(kind) => own(kind.name, kind.about),
        Offer::Component(fits) => components(*fits, context),
        Offer::State => context.states().iter().map(|s| (s.to_string(), "state".into())).collect(),
        Offer::Block => context.blocks.iter().map(|b| (b.to_string(), "block".into())).collect(),
        Offer::Statistic => context.statistics.iter().map(|key| (key.clone(), "statistic".into())).collect(),
        Offer::Task => {
            let read = context.ids.iter().filter(|id| !context.silent.contains(id));
            read.map(|id| (id.clone(), "task or access".into())).collect()
        }
        Offer::Number(_) | Offer::Text(_) => Vec::new(),
    }
}

/// The paths of the components that fit, and of the groups above them (`gpu0`).
fn components(fits: fn(ComponentKind) -> bool, context: &Context) -> Vec<(String, String)> {
    let mut list: Vec<(String, String)> = Vec::new();
    let fitting = context.components.iter().flat_map(Components::iter);
    for (_, component) in fitting.filter(|(_, component)| fits(component.kind)) {
        if let Some((group, _)) = component.path.split_once('.')
            && !list.iter().any(|(known, _)| known == group)
        {
            list.push((group.to_string(), "everything beneath".into()));
        }
        list.push((component.path.clone(), component.kind.name().to_string()));
    }
    list
}
