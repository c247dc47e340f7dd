//! A cursor over a query's tokens that remembers what could have stood where it is: the same list serves
//! messages ("expected ...") and completion.

use crate::diagnostic::{Diagnostic, Result, nearest};
use crate::model::component::ComponentKind;
use crate::model::record::KindInfo;

use super::context::Context;
use super::number::{Interval, IntervalError};
use super::text::{Text, Token, TokenKind, tokens};

/// Something that may stand at a place.
#[derive(Clone, Copy, Debug)]
pub(super) enum Offer {
    /// A word of the language and what it means.
    Word(&'static str, &'static str),
    /// One of a field's words.
    Value(&'static str),
    Kind(&'static KindInfo),
    Field(&'static str, &'static str),
    /// A component pattern; only kinds that pass are offered.
    Component(fn(ComponentKind) -> bool),
    State,
    Block,
    /// A number and what it counts.
    Number(&'static str),
    Statistic,
    Task,
    /// Free text, described.
    Text(&'static str),
}

/// Reads one query.
pub(super) struct Parser<'a> {
    text: &'a Text,
    tokens: Vec<Token<'a>>,
    at: usize,
    pub depth: u32,
    pub context: &'a Context,
    offers: Vec<Offer>,
    offered_at: usize,
}

impl<'a> Parser<'a> {
    pub fn new(text: &'a Text, context: &'a Context) -> Self {
        let tokens = tokens(text.as_str());
        Self { text, tokens, at: 0, depth: 0, context, offers: Vec::new(), offered_at: 0 }
    }

    pub fn token(&self) -> Option<&Token<'a>> {
        self.tokens.get(self.at)
    }

    /// The word here, if it is one and not quoted.
    pub fn word(&self) -> Option<&'a str> {
        self.token().filter(|token| token.kind == TokenKind::Word).map(|token| token.text)
    }

    pub fn after(&self) -> Option<&Token<'a>> {
        self.tokens.get(self.at + 1)
    }

    pub fn advance(&mut self) {
        self.at = (self.at + 1).min(self.tokens.len());
    }

    /// Where the cursor is, to come back to.
    pub fn place(&self) -> usize {
        self.at
    }

    /// Goes back to a place that was seen before.
    pub fn back_to(&mut self, place: usize) {
        self.at = place;
    }

    pub fn ended(&self) -> bool {
        self.at >= self.tokens.len()
    }

    /// Remembers that `offer` could stand here.
    pub fn offer(&mut self, offer: Offer) {
        if self.offered_at != self.at {
            self.offers.clear();
            self.offered_at = self.at;
        }
        self.offers.push(offer);
    }

    /// What could stand at the end of the text.
    pub fn offers_at_end(self) -> Vec<Offer> {
        if self.offered_at == self.tokens.len() { self.offers } else { Vec::new() }
    }

    /// Takes `word` if it is here.
    pub fn eat(&mut self, word: &'static str, about: &'static str) -> bool {
        self.offer(Offer::Word(word, about));
        let here = self.word() == Some(word);
        if here {
            self.advance();
        }
        here
    }

    /// Takes `word`, which must be here.
    pub fn need(&mut self, word: &'static str, about: &'static str) -> Result<()> {
        if self.eat(word, about) { Ok(()) } else { Err(self.unexpected().into()) }
    }

    pub fn open(&mut self) -> bool {
        let here = self.token().is_some_and(|token| token.kind == TokenKind::Open);
        if here {
            self.advance();
        }
        here
    }

    pub fn close(&mut self) -> Result<()> {
        if self.token().is_some_and(|token| token.kind == TokenKind::Close) {
            self.advance();
            return Ok(());
        }
        if self.ended() {
            let end = self.end();
            return Err(Box::new(self.text.error(end, "a parenthesis is not closed").expected("a )")));
        }
        Err(self.unexpected().into())
    }

    /// Whether a group of tests that stand side by side ends here.
    pub fn group_ends(&self) -> bool {
        match self.token() {
            None => true,
            Some(token) => match token.kind {
                TokenKind::Close => true,
                TokenKind::Word => matches!(token.text, "or" | "if"),
                _ => false,
            },
        }
    }

    /// Whether what comes here is joined to what stands before it, rather than saying more of it.
    pub fn is_joined(&self) -> bool {
        self.token().is_some_and(|token| match token.kind {
            TokenKind::Open => true,
            TokenKind::Word => matches!(token.text, "and" | "not"),
            _ => false,
        })
    }

    /// The end of the text, or else what is left is not expected.
    pub fn finish(&mut self) -> Result<()> {
        if self.ended() { Ok(()) } else { Err(self.unexpected().into()) }
    }

    fn end(&self) -> std::ops::Range<usize> {
        let end = self.text.as_str().trim_end().len();
        end..end
    }

    /// A complaint about the word here.
    pub fn fail(&self, message: impl Into<String>) -> Diagnostic {
        let span = self.token().map_or_else(|| self.end(), |token| token.span.clone());
        self.text.error(span, message)
    }

    /// A complaint about the word before this place.
    pub fn fail_before(&self, message: impl Into<String>) -> Diagnostic {
        let before = self.at.checked_sub(1).and_then(|at| self.tokens.get(at));
        let span = before.map_or_else(|| self.end(), |token| token.span.clone());
        self.text.error(span, message)
    }

    /// The word here does not belong here: what was expected, and the nearest of it.
    pub fn unexpected(&self) -> Diagnostic {
        let offers: &[Offer] = if self.offered_at == self.at { &self.offers } else { &[] };
        let message = match self.token() {
            None if self.tokens.is_empty() => "the query is empty".to_string(),
            None => "the query ends too early".to_string(),
            Some(token) => format!("\"{}\" is not understood here", token.text),
        };
        let mut error = self.fail(message);
        error.expected = describe(offers, self.context);
        if let Some(token) = self.token() {
            let words = offers.iter().filter_map(|offer| match offer {
                Offer::Word(word, _) | Offer::Value(word) | Offer::Field(word, _) => Some(*word),
                Offer::Kind(kind) => Some(kind.name),
                _ => None,
            });
            let is_quoted = token.kind == TokenKind::Quoted && words.clone().any(|word| word == token.text);
            error.suggestion = if is_quoted {
                Some(format!("did you mean {}, without quotes?", token.text))
            } else {
                nearest(token.text, words).map(|near| format!("did you mean {near}?"))
            };
        }
        error
    }

    /// Takes a number or a range of them.
    pub fn interval(&mut self, what: &'static str) -> Result<Interval> {
        self.offer(Offer::Number(what));
        let Some(word) = self.word() else { return Err(self.unexpected().into()) };
        match Interval::parse(word) {
            Ok(interval) => {
                self.advance();
                Ok(interval)
            }
            Err(IntervalError::Backwards) => Err(Box::new(
                self.fail(format!("the range {word} ends before it begins")).expected("A..B with A <= B"),
            )),
            Err(IntervalError::NoNumber) => {
                let mut error = self.fail(format!("\"{word}\" is not a number"));
                error.expected = Some(format!("{what}, such as 7, 0x40 or 0x40..0x7f"));
                let bare = word.strip_suffix('%').filter(|bare| Interval::parse(bare).is_ok());
                error.suggestion = bare.map(|bare| format!("did you mean {bare}?")).or(error.suggestion);
                Err(error.into())
            }
        }
    }
}

/// The offers in one phrase: kinds and fields as groups, words one by one.
fn describe(offers: &[Offer], context: &Context) -> Option<String> {
    let mut parts: Vec<String> = Vec::new();
    let list = |pick: fn(&Offer) -> Option<&'static str>| {
        let mut names: Vec<&str> = Vec::new();
        for name in offers.iter().filter_map(pick) {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        names.join(", ")
    };
    let kinds = list(|offer| if let Offer::Kind(kind) = offer { Some(kind.name) } else { None });
    if !kinds.is_empty() {
        parts.push(format!("a kind of record ({kinds})"));
    }
    let fields = list(|offer| if let Offer::Field(name, _) = offer { Some(name) } else { None });
    if !fields.is_empty() {
        parts.push(format!("a clause ({fields})"));
    }
    let values = list(|offer| if let Offer::Value(word) = offer { Some(word) } else { None });
    if !values.is_empty() {
        parts.push(format!("one of {values}"));
    }
    for part in offers.iter().filter_map(|offer| phrase(*offer, context)) {
        if !parts.contains(&part) {
            parts.push(part);
        }
    }
    let end = parts.pop()?;
    Some(if parts.is_empty() { end } else { format!("{} or {end}", parts.join(", ")) })
}

/// An offer that is not listed with others of its kind.
fn phrase(offer: Offer, context: &Context) -> Option<String> {
    Some(match offer {
        Offer::Word("one", _) => "\"one of\"".into(),
        Offer::Word(word, _) => format!("\"{word}\""),
        Offer::Component(_) => "a component such as gpu0.cu0.l1".into(),
        Offer::State => context.expected_state(),
        Offer::Block => "an address such as 0x1000".into(),
        Offer::Number(what) | Offer::Text(what) => what.into(),
        Offer::Statistic => "a statistic's key".into(),
        Offer::Task => "the id of a task or access".into(),
        Offer::Kind(_) | Offer::Field(..) | Offer::Value(_) => return None,
    })
}
