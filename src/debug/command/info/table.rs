//! The protocol table as text, with how often each cell was used.

use crate::debug::command::Arguments;
use crate::debug::frame::protocol::{Ruled, beside_cells};
use crate::debug::session::Session;
use crate::diagnostic::Result;
use crate::model::component::Components;
use crate::model::inspect::CellCount;
use crate::model::state::{Action, State};
use crate::protocol::table::{Cell, Next};

pub(super) fn table(session: &mut Session, arguments: &Arguments) -> Result<Vec<String>> {
    arguments.none()?;
    let selected = session.selection().component;
    let mut tables = session.tables();
    // The table of the selected node, as that node has used it.
    if let Some(node) = selected
        && let Some(ruled) = tables.iter().find(|ruled| ruled.nodes.contains(&node))
    {
        tables = vec![Ruled { nodes: vec![node], ..ruled.clone() }];
    }
    if tables.is_empty() {
        return Ok(vec!["this machine has no protocol table".to_owned()]);
    }
    let machine = session.machine();
    Ok(tables
        .iter()
        .flat_map(|ruled| lines(ruled, &machine.cells(&ruled.nodes), machine.components()))
        .collect())
}

fn lines(ruled: &Ruled, counts: &[CellCount], components: &Components) -> Vec<String> {
    let table = &ruled.table;
    let has = |state: State, action: Action| table.cell(state, action, ruled.inner).is_some();
    let columns: Vec<Action> = Action::ALL
        .into_iter()
        .filter(|action| table.rows.iter().any(|row| has(row.state, *action)))
        .collect();
    let source = if table.source.is_empty() { String::new() } else { format!(" ({})", table.source) };
    let mut lines = vec![format!("{}, {}: {}{source}", table.name, ruled.kinds(components), table.title)];
    let rows = table.rows.iter().filter(|row| columns.iter().any(|action| has(row.state, *action)));
    let rows = rows.map(|row| {
        let cell = |action: &Action| {
            written(table.cell(row.state, *action, ruled.inner), (Some(row.state), *action), counts)
        };
        std::iter::once(row.state.to_string()).chain(columns.iter().map(cell)).collect()
    });
    let names = columns.iter().map(|action| action.name().to_owned());
    let head = std::iter::once(String::new()).chain(names).collect();
    lines.extend(aligned(&std::iter::once(head).chain(rows).collect::<Vec<_>>()));
    let not_kept = |action: &Action| table.uncached_cell(*action, ruled.inner).map(|cell| (*action, cell));
    let cells: Vec<_> = Action::ALL.iter().filter_map(not_kept).collect();
    if !cells.is_empty() {
        let told: Vec<_> = cells
            .iter()
            .map(|(action, cell)| {
                format!("{} {}", action.name(), written(Some(*cell), (None, *action), counts))
            })
            .collect();
        lines.push(format!("of lines that it may not keep: {}", told.join(", ")));
    }
    if ruled.inner {
        let beside = beside_cells(table).into_iter();
        lines.extend(beside.map(|(about, says)| format!("{about}: {says}")));
    }
    lines
}

/// Columns that are as wide as what is in them.
fn aligned(rows: &[Vec<String>]) -> impl Iterator<Item = String> {
    let width =
        |column: usize| rows.iter().filter_map(|row| row.get(column)).map(String::len).max().unwrap_or(0);
    let widths: Vec<usize> = (0..rows.first().map_or(0, Vec::len)).map(width).collect();
    rows.iter().map(move |row| {
        let cells = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}  "));
        cells.collect::<String>().trim_end().to_owned()
    })
}

fn written(cell: Option<Cell>, (state, action): (Option<State>, Action), counts: &[CellCount]) -> String {
    let Some(cell) = cell else { return "-".to_owned() };
    let times: u64 = counts
        .iter()
        .filter(|used| used.state == state && used.action == action)
        .map(|used| used.count)
        .sum();
    let times = if times == 0 { String::new() } else { format!(" {times}") };
    format!("{}{times}", plain(cell))
}

/// What a cell says.
fn plain(cell: Cell) -> String {
    let next = match cell.next {
        Next::Same => String::new(),
        Next::To(state) => format!(">{state}"),
        Next::Granted => ">granted".to_owned(),
    };
    format!("{}{next}", cell.step.name())
}

#[cfg(test)]
mod tests {
    use crate::debug::interrupt::Interrupt;
    use crate::debug::origin::Origin;
    use crate::debug::session::Session;

    #[test]
    fn a_cell_is_used_when_it_asks_and_not_once_more_when_it_is_granted() {
        let text = "machine = 'tiny/umh-2gpu'\n[[do]]\nby = 'gpu0.cu0'\nstore = { address = 0x1000, bytes = '07' }\n";
        let mut session = Session::open(Origin::of_text("t", text).unwrap(), None);
        let mut row_of_i = |line: &str| {
            session.execute(line, &Interrupt::default()).unwrap();
            let lines = session.execute("info table", &Interrupt::default()).unwrap().lines;
            lines.into_iter().find(|line| line.starts_with("I ")).unwrap()
        };
        assert!(!row_of_i("step 1").contains("write>M 1"));
        // The L1 has asked, and nothing has come back.
        assert!(row_of_i("step 1").contains("write>M 1 "));
        assert!(row_of_i("end").contains("write>M 1 "));
    }
}
