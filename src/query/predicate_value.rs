//! Reads the second half of a test: how a quantity is compared, and with what.

use crate::diagnostic::Result;
use crate::model::number::parse_bytes;

use super::comparing::{comparison, joins, not_bytes, ordered_single};
use super::number::{Comparison, Interval};
use super::operand::{Named, component, state};
use super::parser::{Offer, Parser};
use super::quantity::OfBlock;
use super::reading::Wanted;
use super::text::TokenKind;

/// Takes a comparison, which must be there.
pub(super) fn verb(parser: &mut Parser<'_>, ordered: bool) -> Result<Comparison> {
    parser.offer(Offer::Word("is", "equals"));
    if ordered {
        for (word, about) in [("=", "equals"), ("<", "less"), (">=", "at least")] {
            parser.offer(Offer::Word(word, about));
        }
    }
    let here = parser.token().is_some_and(|token| token.kind == TokenKind::Operator || token.text == "is");
    if !here {
        return Err(parser.unexpected().into());
    }
    comparison(parser, ordered)
}

pub(super) fn of_block(parser: &mut Parser<'_>, what: OfBlock) -> Result<(Comparison, Wanted)> {
    if what == OfBlock::Sharers {
        return sharers(parser);
    }
    let how = verb(parser, false)?;
    let wanted = match what {
        OfBlock::State => states(parser)?,
        OfBlock::Owner => {
            if is_nobody(parser) {
                Wanted::Holders(Vec::new())
            } else {
                Wanted::Holders(vec![component(parser, |_| true)?])
            }
        }
        OfBlock::Dirty | OfBlock::Sharers => offsets(parser)?,
    };
    Ok((how, wanted))
}

/// `M` or `one of S E`.
fn states(parser: &mut Parser<'_>) -> Result<Wanted> {
    let several = parser.eat("one", "any of several states");
    if several {
        parser.need("of", "the states")?;
    }
    let mut list = vec![state(parser)?];
    while several && parser.word().is_some_and(|word| !joins(word)) {
        list.push(state(parser)?);
    }
    Ok(Wanted::States(list))
}

/// `are gpu0 gpu1`, `are not ...`, `are none`, or `include gpu0`.
fn sharers(parser: &mut Parser<'_>) -> Result<(Comparison, Wanted)> {
    if parser.eat("include", "at least these") {
        return Ok((Comparison::Is, Wanted::Include(holders(parser)?)));
    }
    let how = if parser.eat("are", "exactly these") {
        if parser.eat("not", "differs") { Comparison::IsNot } else { Comparison::Is }
    } else {
        verb(parser, false)?
    };
    if is_nobody(parser) {
        return Ok((how, Wanted::Holders(Vec::new())));
    }
    Ok((how, Wanted::Holders(holders(parser)?)))
}

fn holders(parser: &mut Parser<'_>) -> Result<Vec<Named>> {
    let mut list = vec![component(parser, |_| true)?];
    while parser.word().is_some_and(|word| !joins(word)) {
        list.push(component(parser, |_| true)?);
    }
    Ok(list)
}

/// Takes that it is nobody, as panes and logs have it, too.
fn is_nobody(parser: &mut Parser<'_>) -> bool {
    if parser.eat("none", "nobody") {
        return true;
    }
    let is_spoken = parser.word() == Some("nobody");
    if is_spoken {
        parser.advance();
    }
    is_spoken
}

/// Byte offsets in the block: `none`, `all`, or numbers and ranges.
fn offsets(parser: &mut Parser<'_>) -> Result<Wanted> {
    if parser.eat("none", "no byte") {
        return Ok(Wanted::Offsets(Vec::new()));
    }
    if parser.eat("all", "every byte") {
        return Ok(Wanted::AllOffsets);
    }
    let mut runs = vec![parser.interval("byte offsets in the block")?];
    while parser.word().is_some_and(|word| !joins(word)) {
        runs.push(parser.interval("byte offsets in the block")?);
    }
    Ok(Wanted::Offsets(merged(runs)))
}

/// Sorted, and joined where they touch.
fn merged(mut runs: Vec<Interval>) -> Vec<(u32, u32)> {
    runs.sort_by_key(|run| run.from);
    let mut joined: Vec<(u32, u32)> = Vec::new();
    for run in runs {
        let clip = |n: u64| u32::try_from(n).unwrap_or(u32::MAX);
        let (from, to) = (clip(run.from), clip(run.to));
        match joined.last_mut() {
            Some(last) if last.1.saturating_add(1) >= from => last.1 = last.1.max(to),
            _ => joined.push((from, to)),
        }
    }
    joined
}

/// What bytes are compared with, and the width that the literal itself has: its bytes in quotes, the digits of a
/// hexadecimal number, or else the smallest of 1, 2, 4 and 8 bytes that holds the number.
pub(super) fn bytes(parser: &mut Parser<'_>, width: Option<u32>) -> Result<(Comparison, Wanted, u32)> {
    let how = verb(parser, true)?;
    parser.offer(Offer::Text("bytes such as \"07 00\""));
    if let Some(token) = parser.token().filter(|token| token.kind == TokenKind::Quoted) {
        let Some(bytes) = parse_bytes(token.text).filter(|bytes| !bytes.is_empty()) else {
            return Err(not_bytes(parser).into());
        };
        let len = bytes.len() as u32;
        if width.is_some_and(|width| width != len && width != u32::MAX) {
            let error = parser.fail(format!("{len} bytes are compared with {} bytes", width.unwrap_or(0)));
            return Err(Box::new(error.expected("as many bytes as the value has")));
        }
        if how.orders() {
            let error = parser.fail(format!("bytes in quotes cannot be compared with {how}"));
            return Err(Box::new(error.expected("a number, which is read little-endian")));
        }
        parser.advance();
        return Ok((how, Wanted::Bytes(bytes.to_vec()), len));
    }
    let digits = parser.word().map_or(0, hexadecimal_width);
    let interval = parser.interval("a number")?;
    ordered_single(parser, how, interval)?;
    let natural = natural_width(interval.to).max(digits);
    if width.is_some_and(|width| width < 8 && interval.to >> (8 * width) != 0) {
        let error = parser.fail_before(format!("{} does not fit", interval.show(false)));
        return Err(Box::new(error.expected(format!("a number of {} bytes", width.unwrap_or(0)))));
    }
    Ok((how, Wanted::Number(interval), natural))
}

/// The bytes that the digits of a hexadecimal literal fill: 1, 2, 4 or 8.
fn hexadecimal_width(word: &str) -> u32 {
    let last = word.rsplit("..").next().unwrap_or(word);
    let digits = last.strip_prefix("0x").map_or(0, |digits| digits.replace('_', "").len());
    match digits {
        0 => 0,
        1..=2 => 1,
        3..=4 => 2,
        5..=8 => 4,
        _ => 8,
    }
}

fn natural_width(number: u64) -> u32 {
    match number {
        0..=0xff => 1,
        0x100..=0xffff => 2,
        0x1_0000..=0xffff_ffff => 4,
        _ => 8,
    }
}

/// A statistic's comparison; its number may have a fraction.
pub(super) fn real(parser: &mut Parser<'_>) -> Result<(Comparison, Wanted)> {
    let how = verb(parser, true)?;
    parser.offer(Offer::Number("a number"));
    let fraction = parser.word().filter(|word| !word.contains("..") && word.contains('.'));
    let digits = |word: &&str| word.bytes().all(|c| c.is_ascii_digit() || c == b'.');
    if let Some(number) = fraction.filter(digits).and_then(|word| word.parse::<f64>().ok()) {
        parser.advance();
        return Ok((how, Wanted::Real(number, number)));
    }
    let interval = parser.interval("a number")?;
    ordered_single(parser, how, interval)?;
    Ok((how, Wanted::Real(interval.from as f64, interval.to as f64)))
}
