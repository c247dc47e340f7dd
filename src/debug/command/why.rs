//! `why`: the chain of waiting from a warp, transaction, MSHR or link outwards.

use super::arguments::Word;
use super::decided;
use super::select::Absent;
use super::{Arguments, Command, Completes, Effect, Group, Takes};
use crate::debug::blame::blame;
use crate::debug::diagnosis::diagnose;
use crate::debug::frame::focus;
use crate::debug::frame::selection::Selection;
use crate::debug::frame::why::first_that_waits;
use crate::debug::session::Session;
use crate::diagnostic::Result;
use crate::model::address::Address;
use crate::model::component::{ComponentId, ComponentKind};
use crate::model::inspect::TransactionView;
use crate::model::message::TxnNumber;
use crate::model::number::parse_number;
use crate::model::wait::WaitLink;
use crate::model::warp::{NO_WARP, by_warp};

/// Transactions in flight that are looked through for those on a block, and those of them that are told of.
const IN_FLIGHT: usize = 1 << 16;
const CHAINS: usize = 8;

pub const WHY: Command = Command {
    name: "why",
    aliases: &[],
    usage: "why [COMPONENT [warp N] | block ADDRESS | txn N | page N]",
    group: Group::Looking,
    about: "why something cannot go on, as one chain",
    details: "Of a warp, a core, a node (its MSHRs), a link, the transactions on a block, one transaction or a fault of a page; without an argument, of what is selected, or shown. Of a transaction that has ended, where its cycles went (info latency). Where a rule is broken and nothing is selected, what the tables decided of the block, with the lines of their files; where lanes turn or ways move, by what that was decided.",
    completes: Completes::Slots(&[Takes::ComponentOr(&["block", "txn", "page"]), Takes::Words(&["warp"])]),
    run: why,
};

/// What stands before the number of a transaction.
const TXN: [&str; 2] = ["txn", "transaction"];

/// What a rule that is broken here goes back to, unless something else was picked.
fn blamed(session: &mut Session) -> Option<Effect> {
    let is_picked = session.selection() != Selection::default();
    if is_picked { None } else { blame(session).map(Effect::Said) }
}

fn why(session: &mut Session, arguments: &Arguments) -> Result<Effect> {
    let words = arguments.words();
    if words.is_empty()
        && let Some(told) = blamed(session)
    {
        return Ok(told);
    }
    match words.as_slice() {
        [] if session.selection() == Selection::default() => of_last(session, arguments),
        [] => of_selection(session, arguments),
        [kind, number] if TXN.contains(&kind.text) => {
            let number = arguments.number(number, "the number of a transaction")?;
            transaction(session, arguments, TxnNumber(number))
        }
        [kind, number] if kind.text == "page" => {
            let page = session.page(arguments, number)?;
            let nothing = || {
                let number = page.0 / u64::from(session.context().page.0);
                Effect::line(format!("nothing waits for page {number:#x}, which begins at address {page}"))
            };
            Ok(fault_chain(session, Some(page)).unwrap_or_else(nothing))
        }
        [kind, address] if kind.text == "block" => {
            let address = arguments.number(address, "an address such as 0x1000")?;
            Ok(block_chains(session, Address(address)))
        }
        [kind] if TXN.contains(&kind.text) => Err(arguments.missing("the number of a transaction")),
        [kind] if kind.text == "page" => Err(arguments.missing("the number of a page")),
        [kind] if kind.text == "block" => Err(arguments.missing("an address such as 0x1000")),
        [_, kind] if kind.text == "warp" => Err(arguments.missing("the number of a warp")),
        [path] => Ok(component_chain(session, component(session, arguments, path)?, None)),
        [path, kind, number] if kind.text == "warp" => {
            let component = session.component(arguments, path)?;
            let warp = session.warp(arguments, component, number)?;
            Ok(component_chain(session, component, Some(warp)))
        }
        [kind, _] if kind.text == "warp" => {
            let error = arguments.error(kind.span.clone(), "a warp is one of a component");
            Err(Box::new(error.expected("COMPONENT warp N")))
        }
        [kind, _, third, ..] if TXN.contains(&kind.text) || matches!(kind.text, "page" | "block") => {
            Err(arguments.error(third.span.clone(), "nothing is expected here"))
        }
        [path, second, rest @ ..] => {
            component(session, arguments, path)?;
            let extra = if second.text == "warp" { rest.get(1).unwrap_or(second) } else { second };
            Err(arguments.error(extra.span.clone(), "nothing is expected here"))
        }
    }
}

/// Where nothing is picked: what was decided just now, and what is followed waits for.
fn of_last(session: &mut Session, arguments: &Arguments) -> Result<Effect> {
    let Some(mut lines) = decided::told(session) else { return of_selection(session, arguments) };
    if let Ok(Effect::Said(waits)) = of_selection(session, arguments) {
        lines.extend(waits);
    }
    Ok(Effect::Said(lines))
}

/// What is selected waits for, or what the screen follows; else whoever waits.
fn of_selection(session: &mut Session, arguments: &Arguments) -> Result<Effect> {
    let selection = session.spoken_selection();
    // What was picked, and not what the screen follows beside it.
    let picked = session.selection();
    let in_flight = picked.txn.filter(|txn| session.machine().transaction(*txn).is_some());
    let part = picked.component.filter(|_| in_flight.is_none() && picked.record.is_none());
    if let Some(part) = part {
        return Ok(of_picked(session, (part, picked), selection.txn));
    }
    match (selection.txn, selection.component) {
        (Some(txn), None) if session.machine().transaction(txn).is_none() => {
            Ok(instead_of(session, txn, picked.txn.is_some()))
        }
        (Some(txn), _) => transaction(session, arguments, txn),
        (None, Some(component)) => Ok(component_chain(session, component, selection.warp)),
        (None, None) => {
            let waiting = || {
                let (unit, _) = first_that_waits(session.machine())?;
                Some(component_chain(session, unit, None))
            };
            let stuck = || Some(Effect::Said(diagnose(session.machine().machine()?)?.chain()));
            let told = fault_chain(session, selection.block).or_else(waiting).or_else(stuck);
            told.ok_or_else(|| arguments.missing("a component or txn N, since nothing is selected"))
        }
    }
}

/// What the transactions on the line of an address wait for, or the fault of its page.
fn block_chains(session: &Session, address: Address) -> Effect {
    let machine = session.machine();
    let line = focus::line(machine, address);
    // The chains of a few are worth their making, and not those of all.
    let mut views = machine.transactions(IN_FLIGHT, 0);
    views.retain(|view| view.range.overlaps(line));
    let mut lines: Vec<String> = Vec::new();
    for view in views.iter().take(CHAINS).filter_map(|view| machine.transaction(view.number)) {
        lines.extend(chain(session, headed(session, &view), &view.chain));
    }
    if let Some(more) = views.len().checked_sub(CHAINS).filter(|more| *more > 0) {
        lines.push(format!("and {more} more on {line}"));
    }
    let nothing = || Effect::line(format!("no transaction in flight is about {line}"));
    if lines.is_empty() {
        return fault_chain(session, Some(address)).unwrap_or_else(nothing);
    }
    Effect::Said(lines)
}

/// What a component waits for that is selected, beside a transaction that is shown.
fn of_picked(
    session: &Session,
    (part, picked): (ComponentId, Selection),
    shown: Option<TxnNumber>,
) -> Effect {
    let warp = picked.warp;
    if !session.machine().why(part, warp).is_empty() {
        return component_chain(session, part, warp);
    }
    let path = session.machine().components().path(part);
    let warp = by_warp(warp.unwrap_or(NO_WARP));
    let mut lines = vec![format!("{path}{warp}, which is selected, waits for nothing")];
    if let Some(view) = shown.and_then(|txn| session.machine().transaction(txn)) {
        lines.push(format!("why txn {} tells of the transaction that is shown", view.number.0));
    }
    lines.extend(picked.block.map(|block| format!("why block {block} tells of the block that is selected")));
    Effect::Said(lines)
}

/// What is told where the transaction that is spoken of is not in flight: where its time went if it was picked; else of another that is,
/// of a warp that waits nevertheless, or where its time went.
fn instead_of(session: &Session, txn: TxnNumber, is_picked: bool) -> Effect {
    if is_picked && let Some(lines) = ended(session, txn) {
        return Effect::Said(lines);
    }
    let stands = format!("transaction {} {}", txn.0, session.over_or_ahead(txn));
    if !session.machine().transactions(1, 1).is_empty() {
        return oldest(session, &stands);
    }
    let waiting =
        || first_that_waits(session.machine()).map(|(unit, _)| component_chain(session, unit, None));
    waiting().or_else(|| ended(session, txn).map(Effect::Said)).unwrap_or_else(|| oldest(session, &stands))
}

/// The component of a path; a TLB is a part of its compute unit.
fn component(session: &Session, arguments: &Arguments, path: &Word) -> Result<ComponentId> {
    let unit = path.text.strip_suffix(".tlb").and_then(|unit| session.machine().components().find(unit));
    match unit.filter(|unit| session.machine().tlb(*unit).is_some()) {
        Some(unit) => Ok(unit),
        None => session.component(arguments, path).map_err(|mut error| {
            // A number alone is of a transaction or of an address.
            if parse_number(path.text).is_some() {
                let kind = if path.text.starts_with("0x") { "block" } else { "txn" };
                error.suggestion = Some(format!("did you mean why {kind} {}?", path.text));
            }
            error
        }),
    }
}

fn transaction(session: &Session, arguments: &Arguments, txn: TxnNumber) -> Result<Effect> {
    let Some(view) = session.machine().transaction(txn) else {
        let stands = session.over_or_ahead(txn);
        if let Some(lines) = ended(session, txn) {
            return Ok(Effect::Said(lines));
        }
        return Err(arguments.complaint(format!("transaction {} {stands}: it waits for nothing", txn.0)));
    };
    Ok(Effect::Said(chain(session, headed(session, &view), &view.chain)))
}

/// What a transaction in flight is.
fn headed(session: &Session, view: &TransactionView) -> String {
    format!(
        "transaction {}: {} of {} by {} since event {}",
        view.number.0,
        view.name(),
        view.range,
        session.machine().components().path(view.agent),
        view.issued_at
    )
}

/// Of a transaction that has ended, where its time went.
fn ended(session: &Session, txn: TxnNumber) -> Option<Vec<String>> {
    let has_ended = session.over_or_ahead(txn) == Absent::Ended;
    has_ended.then(|| super::info::latency_of_ended(session, txn)).flatten()
}

/// What the oldest transaction waits for, where the one that is spoken of is not in flight, as `stands` says.
fn oldest(session: &Session, stands: &str) -> Effect {
    let Some(view) = session.machine().transactions(1, 1).pop() else {
        let text = format!("{stands}, and none is in flight");
        let others = session.machine().machine().is_some_and(|machine| !machine.wait_for_graph().is_empty());
        let others = if others { "; deadlock tells what waits nevertheless" } else { "" };
        return Effect::line(text + others);
    };
    let about = format!("{} of {}", view.name(), view.range);
    let head = format!("{stands}; the oldest in flight is {}, {about}", view.number.0);
    Effect::Said(chain(session, head, &view.chain))
}

/// What the fault of a page that is selected, or shown, waits for.
fn fault_chain(session: &Session, block: Option<Address>) -> Option<Effect> {
    let fault = session.machine().fault(block?, None).filter(|fault| !fault.waits.is_empty())?;
    let head = format!("{} of page {} ({})", fault.kind.name(), fault.page, fault.range.start);
    Some(Effect::Said(chain(session, head, &fault.waits)))
}

fn component_chain(session: &Session, component: ComponentId, warp: Option<u32>) -> Effect {
    let machine = session.machine();
    let path = machine.components().path(component);
    let head = warp.map_or_else(|| path.to_owned(), |warp| format!("{path} warp {warp}"));
    let links = machine.why(component, warp);
    let kind = machine.components().get(component).map(|component| component.kind);
    if kind == Some(ComponentKind::Link) {
        let mut said = if links.is_empty() { Vec::new() } else { chain(session, head, &links) };
        said.extend(super::info::link_lines(session, component));
        return Effect::Said(said);
    }
    if links.is_empty() {
        return Effect::line(format!("{head} waits for nothing"));
    }
    Effect::Said(chain(session, head, &links))
}

/// One link a line, each further in.
fn chain(session: &Session, head: String, links: &[WaitLink]) -> Vec<String> {
    let machine = session.machine();
    let mut said = vec![head];
    for (depth, link) in links.iter().enumerate() {
        let since = link
            .since
            .map_or_else(String::new, |tick| format!(", since cycle {}", machine.time_base().cycle(tick)));
        let indent = "  ".repeat(depth.min(20) + 1);
        said.push(format!("{indent}{} {}{since}", machine.components().path(link.at), link.text));
    }
    said
}
