//! The protocol table as text, with how often each cell was used.

use std::fmt::Write as _;

use crate::debug::command::Arguments;
use crate::debug::session::Session;
use crate::diagnostic::Result;
use crate::model::inspect::CellCount;
use crate::model::state::{Action, State};
use crate::protocol::table::{Cell, Next, Step, Table};

pub(super) fn table(session: &mut Session, arguments: &Arguments) -> Result<Vec<String>> {
    arguments.none()?;
    let Some(table) = session.table() else {
        return Ok(vec!["this machine has no protocol table".to_owned()]);
    };
    let node = session.selection().component;
    let counts = session.machine().cells(node);
    let columns: Vec<Action> = Action::ALL
        .into_iter()
        .filter(|action| table.rows.iter().any(|row| has(&table, row.state, *action)))
        .collect();
    let mut lines = vec![format!("{}: {} ({})", table.name, table.title, table.source)];
    let mut head = format!("{:<4}", "");
    for action in &columns {
        let _ = write!(head, "{:<20}", action.name());
    }
    lines.push(head.trim_end().to_owned());
    for row in &table.rows {
        let mut line = format!("{:<4}", row.state.to_string());
        for action in &columns {
            let _ = write!(line, "{:<20}", written(&table, row.state, *action, &counts));
        }
        lines.push(line.trim_end().to_owned());
    }
    Ok(lines)
}

fn has(table: &Table, state: State, action: Action) -> bool {
    cell(table, state, action).is_some()
}

/// The cell of a leaf, or where that has none, of a node with children.
fn cell(table: &Table, state: State, action: Action) -> Option<Cell> {
    table.cell(state, action, false).or_else(|| table.cell(state, action, true))
}

fn written(table: &Table, state: State, action: Action, counts: &[CellCount]) -> String {
    let Some(cell) = cell(table, state, action) else { return "-".to_owned() };
    let next = match cell.next {
        Next::Same => String::new(),
        Next::To(state) => format!(">{state}"),
        Next::Granted => ">granted".to_owned(),
    };
    let times: u64 = counts
        .iter()
        .filter(|used| used.state == state && used.action == action)
        .map(|used| used.count)
        .sum();
    let times = if times == 0 { String::new() } else { format!(" {times}") };
    format!("{}{next}{times}", step(cell.step))
}

fn step(step: Step) -> &'static str {
    match step {
        Step::Hit => "hit",
        Step::Ask(kind) => kind.name(),
        Step::Fetch => "fetch",
        Step::Forward => "forward",
        Step::Allocate => "allocate",
        Step::Flush => "flush",
        Step::Relay => "relay",
        Step::Both => "both",
        Step::Data => "data",
        Step::Ack => "ack",
        Step::Writeback => "writeback",
        Step::Notify => "notify",
        Step::Silent => "silent",
    }
}
