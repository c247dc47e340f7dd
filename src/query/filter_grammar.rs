//! Reads the clauses of a filter.

use crate::diagnostic::{Diagnostic, Result};
use crate::model::access::{AccessKind, AtomicOp};
use crate::model::component::ComponentKind;
use crate::model::lanes::{LaneDirection, LanePhase, LaneReason};
use crate::model::message::{MessageKind, Network};
use crate::model::number::parse_bytes;
use crate::model::paging::{FaultStage, PageChange, PageWalk, Permission, TlbChange};
use crate::model::record::{FieldInfo, FieldType, KINDS, KindInfo, MshrChange, RowAccess};
use crate::model::selective::RemoteChange;
use crate::model::state::Action;
use crate::model::tags::TagOutcome;
use crate::model::text::hex;
use crate::model::warp::WarpState;
use crate::model::ways::WayStep;

use super::clause::{Clause, Meaning, Operand, Shared};
use super::comparing::{comparison, joins, not_bytes, ordered_single};
use super::context::PageSize;
use super::number::{Comparison, Interval};
use super::operand::{component, named, state};
use super::parser::{Offer, Parser};
use super::text::TokenKind;
use super::tree::Grammar;

/// The grammar of filters: its scope is the kind of record that was named before.
pub(super) struct Clauses;

const SHARED: [(Shared, &str); 7] = [
    (Shared::Block, "an address in its range"),
    (Shared::Page(PageSize(4096)), "a page in its range, by number"),
    (Shared::Gpu, "number of the GPU it happened on"),
    (Shared::Txn, "transaction"),
    (Shared::Cycle, "when"),
    (Shared::Event, "event number"),
    (Shared::Because, "the event that caused it"),
];

const MSHR_CHANGES: [MshrChange; 4] =
    [MshrChange::Allocate, MshrChange::Merge, MshrChange::Release, MshrChange::Full];

impl Grammar for Clauses {
    type Test = Clause;
    type Scope = Option<&'static KindInfo>;
    const SIDE_BY_SIDE: bool = true;

    fn test(parser: &mut Parser<'_>, scope: Self::Scope) -> Result<Clause> {
        let Some(word) = parser.word() else { return Err(parser.unexpected().into()) };
        let kind = KINDS.iter().find(|kind| kind.name == word);
        let fields = fields_named(word, scope);
        if let Some(kind) = kind
            && (fields.is_empty() || !value_follows(parser))
        {
            if scope.is_some_and(|scope| scope.name != kind.name) {
                return Err(unknown(parser, word, scope).into());
            }
            parser.advance();
            return Ok(Clause::Kind(kind));
        }
        if let Some(field) = fields.first() {
            parser.advance();
            return field_clause(parser, field.name, &fields);
        }
        match word {
            "at" => {
                parser.advance();
                let how = comparison(parser, false)?;
                Ok(Clause::At(how, component(parser, |_| true)?))
            }
            "link" => {
                parser.advance();
                let how = comparison(parser, false)?;
                Ok(Clause::Link(how, component(parser, |kind| kind == ComponentKind::Link)?))
            }
            _ => shared(parser, word, scope),
        }
    }

    fn scope_after(test: &Clause, scope: Self::Scope) -> Self::Scope {
        if let Clause::Kind(kind) = test { Some(kind) } else { scope }
    }

    fn is_head(test: &Clause) -> bool {
        matches!(test, Clause::Kind(_))
    }

    fn offer(parser: &mut Parser<'_>, scope: Self::Scope) {
        let fields = scope.map_or(&[][..], |kind| kind.fields);
        for field in fields {
            parser.offer(Offer::Field(field.name, field.about));
        }
        parser.offer(Offer::Field("at", "where it happened"));
        parser.offer(Offer::Field("link", "a link it happened on, or its message goes over"));
        for (shared, about) in SHARED {
            parser.offer(Offer::Field(shared.name(), about));
        }
        if scope.is_none() {
            for kind in KINDS {
                parser.offer(Offer::Kind(kind));
            }
        }
    }
}

/// The fields of this name: of the kind in scope, or of any.
fn fields_named(name: &str, scope: Option<&'static KindInfo>) -> Vec<&'static FieldInfo> {
    let kinds = KINDS.iter().filter(|kind| scope.is_none_or(|scope| scope.name == kind.name));
    kinds.flat_map(|kind| kind.fields).filter(|field| field.name == name).collect()
}

/// Whether a number or comparison follows, so that a word which names both a kind and a field is the field.
fn value_follows(parser: &Parser<'_>) -> bool {
    parser.after().is_some_and(|token| {
        token.kind == TokenKind::Operator
            || token.text.starts_with(|c: char| c.is_ascii_digit())
            || matches!(token.text, "is" | "one")
    })
}

fn shared(parser: &mut Parser<'_>, word: &str, scope: Option<&'static KindInfo>) -> Result<Clause> {
    let Some((shared, about)) = SHARED.into_iter().find(|(shared, _)| shared.name() == word) else {
        return Err(unknown(parser, word, scope).into());
    };
    parser.advance();
    let how = comparison(parser, true)?;
    let shared = match shared {
        Shared::Page(_) => Shared::Page(parser.context.page),
        other => other,
    };
    if shared == Shared::Block {
        parser.offer(Offer::Block);
    }
    let interval = parser.interval(about)?;
    ordered_single(parser, how, interval)?;
    if shared == Shared::Gpu && how == Comparison::Is {
        known_gpu(parser, interval)?;
    }
    Ok(Clause::Number(shared, how, interval))
}

/// Something happens only on a GPU that the machine has.
fn known_gpu(parser: &Parser<'_>, wanted: Interval) -> Result<()> {
    let Some(components) = &parser.context.components else { return Ok(()) };
    let gpus = components.iter().filter_map(|(_, part)| part.gpu()).map(u64::from).max();
    match gpus {
        Some(last) if wanted.from <= last => Ok(()),
        Some(last) => {
            let error = parser.fail_before(format!("there is no GPU {}", wanted.from));
            Err(Box::new(error.expected(if last == 0 { "0".to_owned() } else { format!("0 to {last}") })))
        }
        None => Err(Box::new(parser.fail_before("this machine has no GPU".to_owned()))),
    }
}

/// A word that is neither kind nor field.
fn unknown(parser: &mut Parser<'_>, word: &str, scope: Option<&'static KindInfo>) -> Diagnostic {
    let mut error = parser.unexpected();
    match scope {
        Some(kind) if KINDS.iter().any(|other| other.name == word) => {
            error.message = format!("no record is {} and {word}: it has one kind", kind.name);
        }
        Some(kind) if !fields_named(word, None).is_empty() => {
            error.message = format!("{} records have no {word}", kind.name);
        }
        Some(kind) => error.message = format!("\"{word}\" is not a field of {} records", kind.name),
        None => error.message = format!("\"{word}\" is neither a kind of record nor a field"),
    }
    let of_kind = scope.and_then(|kind| meant_of(kind, word));
    let meant = of_kind.or_else(|| meant(word));
    error.suggestion = meant.map(|meant| format!("did you mean {meant}?")).or(error.suggestion);
    error
}

/// What somebody means by it after the name of the kind: the field is left out, as in `far-fault dropped`, or has another name.
fn meant_of(kind: &KindInfo, word: &str) -> Option<String> {
    if word == "kind" && kind.fields.iter().any(|field| field.name == "type") {
        return Some("type".to_owned());
    }
    let field =
        kind.fields.iter().find(|field| words_of(field.is).iter().any(|known| is_same(known, word)))?;
    let known = words_of(field.is).into_iter().find(|known| is_same(known, word))?;
    Some(format!("{} {known}", field.name))
}

/// Hyphens may be left out.
fn is_same(known: &str, word: &str) -> bool {
    known.replace('-', "") == word.replace('-', "")
}

/// Words of the papers that are no words of records, and what stands for them.
const SYNONYMS: [(&str, &str); 9] = [
    ("by", "at"),
    ("coalesce", "mshr change merge"),
    ("coalesced", "mshr change merge"),
    ("drop", "use-once dropped > 0"),
    ("forced-flush", "remote-directory change full"),
    ("copy", "page-move"),
    ("in-transfer-set", "far-fault stage serviced"),
    ("transfer-set", "far-fault stage serviced"),
    ("lane-turn", "lane-reversal"),
];

/// What somebody means who names what a field may be, and not the field: a message by its type, or such as `tlb change
/// shoot-down`.
fn meant(word: &str) -> Option<String> {
    if let Some((_, meant)) = SYNONYMS.into_iter().find(|(known, _)| is_same(known, word)) {
        return Some(meant.to_owned());
    }
    if message_words().contains(&word) {
        return Some(format!("message type {word}"));
    }
    let fields = KINDS.iter().flat_map(|kind| kind.fields.iter().map(move |field| (kind, field)));
    let mut values =
        fields.flat_map(|(kind, field)| words_of(field.is).into_iter().map(move |word| (kind, field, word)));
    let (kind, field, word) = values.find(|(_, _, known)| is_same(known, word))?;
    Some(format!("{} {} {word}", kind.name, field.name))
}

/// Reads what a field is compared with. Without a kind before it, a word may mean several types of value.
fn field_clause(parser: &mut Parser<'_>, name: &'static str, fields: &[&FieldInfo]) -> Result<Clause> {
    let mut types: Vec<FieldType> = Vec::new();
    for field in fields {
        if !types.contains(&field.is) {
            types.push(field.is);
        }
    }
    // A flag alone means yes.
    if types == [FieldType::Flag] && !flag_follows(parser) {
        let yes =
            Operand { text: "1".to_owned(), meanings: vec![Meaning::Number(Interval { from: 1, to: 1 })] };
        return Ok(Clause::Field { name, comparison: Comparison::Is, values: vec![yes] });
    }
    let ordered = types.iter().any(|is| matches!(is, FieldType::Number | FieldType::Flag | FieldType::Bytes));
    let how = comparison(parser, ordered)?;
    let several = parser.eat("one", "any of several values");
    if several {
        parser.need("of", "the values")?;
    }
    let mut values = vec![operand(parser, &types, how)?];
    while several && !parser.ended() && !list_ends(parser, &types) {
        match operand(parser, &types, how) {
            Ok(value) => values.push(value),
            Err(_) => break,
        }
    }
    Ok(Clause::Field { name, comparison: how, values })
}

/// Whether the word here goes on with the query, where a list of values could take any word.
fn list_ends(parser: &Parser<'_>, types: &[FieldType]) -> bool {
    let any_word = types.iter().any(|is| matches!(is, FieldType::Component | FieldType::Text));
    let Some(word) = parser.word() else { return false };
    let clause = word == "at" || word == "link" || SHARED.iter().any(|(shared, _)| shared.name() == word);
    let kind = || KINDS.iter().any(|kind| kind.name == word) || !fields_named(word, None).is_empty();
    joins(word) || (any_word && (clause || kind()))
}

/// Takes one value of any of these types; if there is none, says what the last type expects.
fn operand(parser: &mut Parser<'_>, types: &[FieldType], how: Comparison) -> Result<Operand> {
    let mut meanings = Vec::new();
    let mut text = String::new();
    let mut complaint = None;
    for &is in types {
        match meaning(parser, is) {
            Ok((meaning, shown)) => {
                if let Meaning::Number(interval) = meaning {
                    ordered_single(parser, how, interval)?;
                }
                meanings.push(meaning);
                text = shown;
            }
            Err(error) => complaint = Some(error),
        }
    }
    if meanings.is_empty() {
        return Err(complaint.unwrap_or_else(|| parser.unexpected().into()));
    }
    parser.advance();
    Ok(Operand { text, meanings })
}

/// What the token here means as a value of one type, and its canonical text. Does not take it.
fn meaning(parser: &mut Parser<'_>, is: FieldType) -> Result<(Meaning, String)> {
    match is {
        FieldType::State => here(parser, state).map(|s| (Meaning::State(s), s.to_string())),
        FieldType::Component => {
            parser.offer(Offer::Component(ComponentKind::is_node));
            parser.offer(Offer::Word("none", "nobody"));
            match parser.word() {
                Some("none" | "nobody") => Ok((Meaning::Nobody, "none".into())),
                Some(word) if !joins(word) => {
                    let named = named(parser, word)?;
                    let text = named.to_string();
                    Ok((Meaning::Component(named), text))
                }
                _ => Err(parser.unexpected().into()),
            }
        }
        FieldType::Number => number(parser),
        FieldType::Flag => flag(parser),
        FieldType::Bytes => bytes(parser),
        FieldType::Text => text(parser),
        other => word(parser, &words_of(other)),
    }
}

/// The words that a field of this type may be, if they are a few.
fn words_of(is: FieldType) -> Vec<&'static str> {
    match is {
        FieldType::State
        | FieldType::Component
        | FieldType::Number
        | FieldType::Flag
        | FieldType::Bytes
        | FieldType::Text => Vec::new(),
        FieldType::Action => action_words(),
        FieldType::AccessKind => access_words(),
        FieldType::MessageKind => message_words(),
        FieldType::MshrChange => MSHR_CHANGES.map(MshrChange::name).to_vec(),
        FieldType::RowAccess => RowAccess::ALL.map(RowAccess::name).to_vec(),
        FieldType::FaultStage => FaultStage::ALL.map(FaultStage::name).to_vec(),
        FieldType::PageChange => PageChange::ALL.map(PageChange::name).to_vec(),
        FieldType::Permission => Permission::ALL.map(Permission::name).to_vec(),
        FieldType::TagOutcome => TagOutcome::ALL.map(TagOutcome::name).to_vec(),
        FieldType::TlbChange => TlbChange::ALL.map(TlbChange::name).to_vec(),
        FieldType::WalkChange => PageWalk::CHANGES.to_vec(),
        FieldType::RemoteChange => RemoteChange::ALL.map(RemoteChange::name).to_vec(),
        FieldType::WayStep => WayStep::CHANGING.map(WayStep::name).to_vec(),
        FieldType::WarpState => WarpState::ALL.map(WarpState::name).to_vec(),
        FieldType::Network => Network::ALL.map(Network::name).to_vec(),
        FieldType::LaneDirection => LaneDirection::ALL.map(LaneDirection::name).to_vec(),
        FieldType::LanePhase => LanePhase::ALL.map(LanePhase::name).to_vec(),
        FieldType::LaneReason => LaneReason::TURNING.map(LaneReason::name).to_vec(),
        FieldType::LaneDecision => LaneReason::SAMPLED.map(LaneReason::name).to_vec(),
        FieldType::WayDecision => WayStep::DECIDED.map(WayStep::name).to_vec(),
    }
}

/// Reads without taking.
fn here<T>(parser: &mut Parser<'_>, read: impl FnOnce(&mut Parser<'_>) -> Result<T>) -> Result<T> {
    let place = parser.place();
    let result = read(parser);
    parser.back_to(place);
    result
}

fn number(parser: &mut Parser<'_>) -> Result<(Meaning, String)> {
    let interval = here(parser, |parser| parser.interval("a number"))?;
    Ok((Meaning::Number(interval), interval.show(false)))
}

/// `1`, `yes` or `true`, and their contraries.
fn flag(parser: &mut Parser<'_>) -> Result<(Meaning, String)> {
    let value = match parser.word() {
        Some("yes" | "true") => 1,
        Some("no" | "false") => 0,
        _ => return number(parser),
    };
    Ok((Meaning::Number(Interval { from: value, to: value }), value.to_string()))
}

/// Whether something stands here that a flag can be compared with.
fn flag_follows(parser: &Parser<'_>) -> bool {
    let is_value = |word: &str| {
        matches!(word, "is" | "one" | "yes" | "no" | "true" | "false")
            || word.starts_with(|c: char| c.is_ascii_digit())
    };
    parser.token().is_some_and(|token| token.kind == TokenKind::Operator || is_value(token.text))
}

fn bytes(parser: &mut Parser<'_>) -> Result<(Meaning, String)> {
    parser.offer(Offer::Text("bytes such as \"07 00\""));
    let Some(token) = parser.token().filter(|token| token.kind == TokenKind::Quoted) else {
        return number(parser);
    };
    match parse_bytes(token.text) {
        Some(bytes) => Ok((Meaning::Bytes(bytes.to_vec()), format!("\"{}\"", hex(&bytes)))),
        None => Err(not_bytes(parser).into()),
    }
}

fn text(parser: &mut Parser<'_>) -> Result<(Meaning, String)> {
    parser.offer(Offer::Text("text, in quotes if it has blanks; * stands for any letters"));
    let token = parser.token().filter(|token| matches!(token.kind, TokenKind::Word | TokenKind::Quoted));
    let Some(token) = token else { return Err(parser.unexpected().into()) };
    let quote = if token.text.contains('"') { '\'' } else { '"' };
    Ok((Meaning::Glob(token.text.into()), format!("{quote}{}{quote}", token.text)))
}

fn word(parser: &mut Parser<'_>, words: &[&'static str]) -> Result<(Meaning, String)> {
    for &word in words {
        parser.offer(Offer::Value(word));
    }
    let Some(written) = parser.word() else { return Err(parser.unexpected().into()) };
    if let Some(word) = words.iter().find(|word| **word == written) {
        return Ok((Meaning::Word(word), (*word).to_string()));
    }
    // What another kind of record may be is meant before what is only spelt alike.
    let mut error = parser.unexpected();
    error.suggestion = meant(written).map(|meant| format!("did you mean {meant}?")).or(error.suggestion);
    Err(error.into())
}

fn access_words() -> Vec<&'static str> {
    let mut words: Vec<_> =
        [AccessKind::Load, AccessKind::Store, AccessKind::NStore].map(AccessKind::name).into();
    words.push("atomic");
    words.extend(AtomicOp::ALL.map(|operation| AccessKind::Atomic(operation).name()));
    words.push(AccessKind::Store.name_of(0));
    words
}

fn action_words() -> Vec<&'static str> {
    Action::ALL.into_iter().chain([Action::Merge]).map(Action::name).collect()
}

fn message_words() -> Vec<&'static str> {
    let mut words = Vec::new();
    for word in MessageKind::ALL.iter().flat_map(|kind| kind.words()) {
        if !words.contains(word) {
            words.push(*word);
        }
    }
    words
}
