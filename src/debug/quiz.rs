//! The quiz: before a block changes its state the run stops and asks for the next state. The protocol's table answers,
//! so any scenario can be run as one.

use super::frame::text;
use super::question::Asked;
use super::timeline::Timeline;
use crate::model::component::ComponentKind;
use crate::model::message::{MessageKind, Network};
use crate::model::record::{Record, What};
use crate::model::state::{Action, State};
use crate::protocol::table::Table;
use crate::scenario::{Ask, CellName};

/// The question about the event whose records these are, if it changes a state: asked before it.
#[must_use]
pub fn question(timeline: &Timeline, records: &[Record]) -> Option<Asked> {
    records.iter().find_map(|record| match record.what {
        What::Transition { from, to, action } => ask(timeline, record, (from, to, action), records),
        _ => None,
    })
}

fn ask(
    timeline: &Timeline,
    record: &Record,
    (from, to, action): (State, State, Action),
    records: &[Record],
) -> Option<Asked> {
    let machine = timeline.machine();
    let table = machine.table(record.at)?;
    let at = machine.components().get(record.at)?;
    // A record of an access names the bytes that it is about, which may lie anywhere in the block.
    let start = record
        .range
        .map(|range| machine.block(record.at, range.start).map_or(range.start, |view| view.range.start));
    let block = start.map_or_else(|| "a block".to_owned(), |start| format!("block {start}"));
    // A grant names the state that it grants, and did so before if its data come from a peer: there is nothing left to predict.
    let granted = |other: &Record| match &other.what {
        What::Delivery(message) => matches!(message.kind, MessageKind::Grant | MessageKind::PeerData),
        _ => false,
    };
    if records.iter().any(|other| other.at == record.at && granted(other)) {
        return None;
    }
    let is_probe = |other: &Record| matches!(&other.what, What::Delivery(message) if message.kind.network() == Network::Probe);
    let arrives = records.iter().any(|other| other.at == record.at && is_probe(other));
    let happens = match action {
        Action::Read | Action::Write if arrives => format!("a {} arrives", text::action(action)),
        // It came before, and those below have been asked first.
        Action::Read | Action::Write => format!("it can answer a {} now", text::action(action)),
        // An n is spoken "en".
        Action::NStore | Action::Acquire => format!("an {} comes", text::action(action)),
        Action::Evict => "it must make room".to_owned(),
        Action::Merge => "dirty bytes arrive from a child".to_owned(),
        _ => format!("a {} comes", text::action(action)),
    };
    let cell = cell(table, from, action, at.kind != ComponentKind::L1);
    let because = cell.and_then(|cell| Some((cell, cell.answer(table)?)));
    let ask = Ask {
        text: format!("{} holds {block} in {from}, and {happens}. Which state next?", at.path),
        answer: to.to_string(),
        choices: table.rows.iter().map(|row| row.state.to_string()).collect(),
        because,
        why: String::new(),
    };
    let about = start.map(|start| (record.at, start));
    Some(Asked { about, ..Asked::new(timeline.event().saturating_sub(1), None, ask) })
}

/// The cell that decides, where the table has one of this name.
fn cell(table: &Table, from: State, action: Action, inner: bool) -> Option<CellName> {
    table.cell(from, action, inner)?;
    Some(if inner { CellName::Inner(from, action) } else { CellName::Cache(from, action) })
}
