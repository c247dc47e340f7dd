//! Reads the quantities and comparisons of a predicate.

use crate::diagnostic::{Diagnostic, Result};
use crate::model::address::Address;
use crate::model::component::ComponentKind;
use crate::model::number::parse_number;

use super::comparing::ordered_single;
use super::operand::{component, named};
use super::parser::{Offer, Parser};
use super::predicate_test::Test;
use super::predicate_value::{bytes, of_block, real, verb};
use super::quantity::{Nodes, OfBlock, Quantity, What};
use super::reading::Wanted;
use super::text::TokenKind;
use super::tree::Grammar;

/// The grammar of predicates.
pub(super) struct Comparisons;

/// The first words of quantities and how they go on.
const QUANTITIES: [(&str, &str); 9] = [
    ("state", "state of NODE block ADDRESS is M"),
    ("value", "value at ADDRESS in NODE (or memory) is 7"),
    ("owner", "owner of NODE block ADDRESS is gpu0 (or none)"),
    ("sharers", "sharers of NODE block ADDRESS are gpu0 gpu1 (or none)"),
    ("dirty", "dirty of NODE block ADDRESS is 0..3 (or none, all)"),
    ("occupancy", "occupancy of NODE.mshr >= 8"),
    ("statistic", "statistic KEY >= 5"),
    ("result", "result of TASK is 7"),
    ("cycle", "cycle >= 100"),
];

/// Whether words are the beginning of a predicate, as no query over records begins.
pub(super) fn begins(text: &str) -> bool {
    let mut words = text.split_whitespace();
    let (first, second) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let goes_on = |words: &str| words.split(' ').nth(1) == Some(second) && matches!(second, "of" | "at");
    QUANTITIES.iter().any(|(word, about)| *word == first && (first == "statistic" || goes_on(about)))
}

/// What `any` before a pattern means.
const ANY: &str = "one of those that a pattern names, not each of them";

impl Grammar for Comparisons {
    type Test = Test;
    type Scope = ();
    const SIDE_BY_SIDE: bool = false;

    fn test(parser: &mut Parser<'_>, _scope: ()) -> Result<Test> {
        let mut quantity = quantity(parser)?;
        let ordered = !matches!(quantity.0, What::Block { .. });
        let (how, wanted) = match &mut quantity.0 {
            What::Block { what, .. } => of_block(parser, *what)?,
            What::Value { width, .. } => {
                let explicit = (*width != 0).then_some(*width);
                let (how, wanted, natural) = bytes(parser, explicit)?;
                *width = explicit.unwrap_or(natural);
                (how, wanted)
            }
            What::Result(_) => {
                let (how, wanted, _) = bytes(parser, Some(u32::MAX))?;
                (how, wanted)
            }
            What::Statistic(_) => real(parser)?,
            What::Occupancy(_) | What::Cycle | What::Event => {
                let how = verb(parser, ordered)?;
                let interval = parser.interval("a number")?;
                ordered_single(parser, how, interval)?;
                (how, Wanted::Number(interval))
            }
        };
        Ok(Test { quantity, how, wanted })
    }

    fn scope_after(_test: &Test, _scope: ()) {}

    fn is_head(_test: &Test) -> bool {
        false
    }

    fn offer(parser: &mut Parser<'_>, _scope: ()) {
        for (word, about) in QUANTITIES {
            parser.offer(Offer::Field(word, about));
        }
        parser.offer(Offer::Field("event", "event >= 100"));
    }
}

/// Reads a quantity. The width of a value that is not stated is 0 here; the literal decides.
pub(super) fn quantity(parser: &mut Parser<'_>) -> Result<Quantity> {
    Comparisons::offer(parser, ());
    let Some(word) = parser.word() else { return Err(parser.unexpected().into()) };
    let of_block = [OfBlock::State, OfBlock::Owner, OfBlock::Sharers, OfBlock::Dirty];
    if let Some(what) = of_block.into_iter().find(|what| what.name() == word) {
        parser.advance();
        return block_quantity(parser, what);
    }
    let what = match word {
        "value" => {
            parser.advance();
            value_quantity(parser)?
        }
        "occupancy" => {
            parser.advance();
            parser.need("of", "a node")?;
            occupancy(parser)?
        }
        "statistic" => {
            parser.advance();
            parser.offer(Offer::Statistic);
            What::Statistic(known_name(parser, "statistic", Names::Statistics)?)
        }
        "result" => {
            parser.advance();
            parser.need("of", "a task or labelled access")?;
            parser.offer(Offer::Task);
            result(parser)?
        }
        "cycle" | "event" => {
            parser.advance();
            if word == "cycle" { What::Cycle } else { What::Event }
        }
        _ => {
            let mut error = parser.unexpected();
            error.message = format!("\"{word}\" is nothing that can be asked of a machine");
            return Err(error.into());
        }
    };
    Ok(Quantity(what))
}

fn block_quantity(parser: &mut Parser<'_>, what: OfBlock) -> Result<Quantity> {
    parser.need("of", "a node")?;
    let nodes = nodes(parser, (what.fits(), what == OfBlock::State), what.name())?;
    parser.need("block", "its block that holds an address")?;
    parser.offer(Offer::Block);
    let block = address(parser)?;
    Ok(Quantity(What::Block { what, nodes, block }))
}

fn value_quantity(parser: &mut Parser<'_>) -> Result<What> {
    parser.need("at", "an address")?;
    parser.offer(Offer::Block);
    let (at, width) = address_and_width(parser)?;
    parser.need("in", "where the bytes are")?;
    if parser.eat("memory", "host memory") {
        return Ok(What::Value { at, width, nodes: None });
    }
    let nodes = nodes(parser, (ComponentKind::is_node, false), "value")?;
    Ok(What::Value { at, width, nodes: Some(nodes) })
}

fn occupancy(parser: &mut Parser<'_>) -> Result<What> {
    let any = parser.eat("any", ANY);
    parser.offer(Offer::Component(ComponentKind::has_mshrs));
    let Some(word) = parser.word() else { return Err(parser.unexpected().into()) };
    let Some(path) = word.strip_suffix(".mshr") else {
        let error = parser.fail(format!("\"{word}\" has no occupancy"));
        let components = parser.context.components.as_ref();
        let has_some = |path: &str| {
            let named = components.and_then(|all| all.get(all.find(path)?));
            components.is_none() || named.is_some_and(|part| part.kind.has_mshrs())
        };
        let example = if has_some(word) { format!(" such as {word}.mshr") } else { ", NODE.mshr".to_owned() };
        return Err(Box::new(error.expected(format!("a node's MSHRs{example}"))));
    };
    let named = named(parser, path)?;
    let nodes = Nodes { any, ..Nodes::new(named, ComponentKind::has_mshrs) };
    let nodes = fitting(parser, nodes, "MSHRs")?;
    parser.advance();
    Ok(What::Occupancy(nodes))
}

/// Takes a pattern of which at least one component has what is asked for; of memories perhaps only those that are caches.
fn nodes(
    parser: &mut Parser<'_>,
    (fits, cached): (fn(ComponentKind) -> bool, bool),
    what: &str,
) -> Result<Nodes> {
    let any = parser.eat("any", ANY);
    let place = parser.place();
    let named = component(parser, fits)?;
    let after = parser.place();
    parser.back_to(place);
    let nodes = fitting(parser, Nodes { cached, any, ..Nodes::new(named, fits) }, what)?;
    parser.back_to(after);
    Ok(nodes)
}

fn fitting(parser: &Parser<'_>, nodes: Nodes, what: &str) -> Result<Nodes> {
    if let Some(components) = &parser.context.components
        && nodes.of(components).next().is_none()
    {
        let kinds: Vec<_> = nodes.kinds_of(components).into_iter().map(ComponentKind::name).collect();
        let error = parser.fail(format!("{} has no {what}", nodes.named));
        return Err(Box::new(error.expected(format!("a component of kind {}", kinds.join(", ")))));
    }
    Ok(nodes)
}

fn address(parser: &mut Parser<'_>) -> Result<Address> {
    let Some(word) = parser.word() else { return Err(parser.unexpected().into()) };
    let Some(address) = parse_number(word) else { return Err(not_address(parser, word).into()) };
    parser.advance();
    Ok(Address(address))
}

fn not_address(parser: &Parser<'_>, word: &str) -> Diagnostic {
    parser.fail(format!("\"{word}\" is not an address")).expected("an address such as 0x1000")
}

/// Takes `ADDRESS` or `ADDRESS+WIDTH`; a width that is not stated is 0.
fn address_and_width(parser: &mut Parser<'_>) -> Result<(Address, u32)> {
    let Some(word) = parser.word() else { return Err(parser.unexpected().into()) };
    let (start, width) = word.split_once('+').map_or((word, None), |(start, width)| (start, Some(width)));
    let Some(address) = parse_number(start) else { return Err(not_address(parser, word).into()) };
    let width = match width.map(parse_number) {
        None => 0,
        Some(Some(width @ 1..=4096)) => width as u32,
        Some(_) => {
            let error = parser.fail(format!("\"{word}\" has no good width"));
            return Err(Box::new(error.expected("ADDRESS+BYTES with 1 to 4096 bytes")));
        }
    };
    parser.advance();
    Ok((Address(address), width))
}

/// What a task or labelled access has read, if it reads anything.
fn result(parser: &mut Parser<'_>) -> Result<What> {
    let name = parser.token().map(|token| token.text.to_string()).unwrap_or_default();
    if parser.context.silent.contains(&name) {
        let error = parser.fail(format!("{name} reads nothing: it has no result"));
        return Err(Box::new(error.expected("a load, an atomic, or a task with one of them")));
    }
    Ok(What::Result(known_name(parser, "task or access", Names::Ids)?))
}

#[derive(Clone, Copy)]
enum Names {
    Statistics,
    Ids,
}

/// Takes a name that the machine knows, if it is known which it has.
fn known_name(parser: &mut Parser<'_>, what: &str, names: Names) -> Result<String> {
    let Some(token) =
        parser.token().filter(|token| matches!(token.kind, TokenKind::Word | TokenKind::Quoted))
    else {
        return Err(parser.unexpected().into());
    };
    let name = token.text.to_string();
    let known = match names {
        Names::Statistics => &parser.context.statistics,
        Names::Ids => &parser.context.ids,
    };
    if !known.is_empty() && !known.contains(&name) {
        let error = parser.fail(format!("there is no {what} {name}"));
        let mut error = error.nearest(&name, known.iter().map(String::as_str));
        if matches!(names, Names::Statistics) {
            // Its last words may be all that somebody remembers.
            let ends_so = |key: &&String| key.strip_suffix(&name).is_some_and(|rest| rest.ends_with('.'));
            let meant = known.iter().find(ends_so).map(|key| format!("did you mean {key}?"));
            error.suggestion = meant.or(error.suggestion);
            error = error.expected("a key of `umscope run --stats`, such as accesses");
        }
        return Err(Box::new(error));
    }
    parser.advance();
    Ok(name)
}
