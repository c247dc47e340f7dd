//! The protocol's table: what each state does on each action, how often that happened, and what happened last.

use crate::debug::frame::Frame;
use crate::debug::frame::protocol::{ProtocolView, beside_cells};
use crate::debug::frame::text;
use crate::model::message::MessageKind;
use crate::model::state::{Action, State};
use crate::protocol::table::{Cell, Next, Step};

use crate::tui::canvas::Canvas;
use crate::tui::target::Target;
use crate::tui::theme::{self, Role};

#[must_use]
pub fn title(frame: &Frame) -> String {
    frame.protocol.first().map_or_else(String::new, name)
}

/// Which table, and who works by it.
fn name(view: &ProtocolView) -> String {
    format!("{} · {}", view.table.name, view.nodes)
}

pub fn draw(frame: &Frame, canvas: &mut Canvas) {
    if frame.protocol.is_empty() {
        canvas.text(1, 0, "No table", Role::Dim);
    }
    let mut y = 0;
    for (nth, view) in frame.protocol.iter().enumerate() {
        if nth > 0 {
            canvas.text(1, y + 1, &name(view), Role::Title);
            y += 2;
        }
        y = table(frame, canvas, y, view);
    }
}

/// Draws one table from row `top` on, and returns the row below it.
fn table(frame: &Frame, canvas: &mut Canvas, top: u16, view: &ProtocolView) -> u16 {
    let table = &view.table;
    let has = |state: State, action: Action| table.cell(state, action, view.inner).is_some();
    let used = |action: &Action| table.rows.iter().any(|row| has(row.state, *action));
    let actions: Vec<Action> = Action::ALL.into_iter().filter(used).collect();
    let width = (canvas.width().saturating_sub(4) / actions.len().max(1) as u16).clamp(8, 15);
    for (column, action) in actions.iter().enumerate() {
        let heading = if width > 11 { text::action(*action) } else { short(*action) };
        canvas.field(4 + column as u16 * width, top, width - 1, heading, Role::Dim);
    }
    let mut y = top + 1;
    // A state that only nodes of the other rank can have says nothing here.
    for row in table.rows.iter().filter(|row| actions.iter().any(|action| has(row.state, *action))) {
        canvas.text(1, y, &row.state.letter().to_string(), theme::state(row.state));
        for (column, action) in actions.iter().enumerate() {
            let cell = table.cell(row.state, *action, view.inner);
            one(canvas, (4 + column as u16 * width, y), width - 1, view, (row.state, *action), cell);
        }
        y += 1;
    }
    if table.uncached.is_some() {
        // Of lines that it may not keep: those have no state here.
        canvas.text(1, y, "~", Role::Dim);
        for (column, action) in actions.iter().enumerate() {
            let cell = table.uncached_cell(*action, view.inner);
            let times = count(view, None, *action);
            let text =
                cell.map_or_else(|| "-".to_owned(), |cell| counted(cell, times, usize::from(width) - 1));
            let role = if times == 0 { Role::Dim } else { Role::Text };
            canvas.field(4 + column as u16 * width, y, width - 1, &text, role);
        }
        let x = 4 + actions.len() as u16 * width;
        if canvas.width() > x + 10 {
            canvas.field(x, y, canvas.width() - x, "not kept", Role::Dim);
        }
        y += 1;
    }
    summary(frame, canvas, y, view);
    if !view.inner {
        return y + 1;
    }
    let beside = beside_cells(table);
    let label = beside.iter().map(|(about, _)| about.len()).max().unwrap_or(0) as u16;
    y += 1;
    for (about, says) in beside {
        canvas.text(1, y, &about, Role::Dim);
        y = canvas.paragraph(label + 3, y, &says, Role::Text);
    }
    y
}

fn short(action: Action) -> &'static str {
    match action {
        Action::Read => "probe r",
        Action::Write => "probe w",
        other => other.name(),
    }
}

/// How often a cell was used, or that of blocks that may not be kept.
fn count(view: &ProtocolView, state: Option<State>, action: Action) -> u64 {
    view.counts
        .iter()
        .filter(|cell| cell.state == state && cell.action == action)
        .map(|cell| cell.count)
        .sum()
}

fn one(
    canvas: &mut Canvas,
    (x, y): (u16, u16),
    width: u16,
    view: &ProtocolView,
    (state, action): (State, Action),
    cell: Option<Cell>,
) {
    let Some(cell) = cell else {
        canvas.text(x, y, "-", Role::Dim);
        return;
    };
    let times = count(view, Some(state), action);
    let last = view.last.is_some_and(|last| last.state == state && last.action == action);
    let role = match (last, times) {
        (true, _) => Role::Changed,
        (false, 0) => Role::Dim,
        _ => Role::Text,
    };
    let mark = if last { "▸" } else { "" };
    let text = counted(cell, times, usize::from(width).saturating_sub(mark.chars().count()));
    canvas.field(x, y, width, &format!("{mark}{text}"), role);
    canvas.item(x, y, width, Target::Cell(state, action));
}

/// What a cell does and how often it did: where there is no room for both, the step is shortened, then only where it leads is said, then the
/// count is but a `+`: a cell without one looks as if it had never been used.
fn counted(cell: Cell, times: u64, room: usize) -> String {
    let [long, short, next] = words(cell);
    if times == 0 {
        return if long.len() <= room { long } else { short };
    }
    let fits =
        |step: &str, count: &str| (step.len() + 1 + count.len() <= room).then(|| format!("{step} {count}"));
    let (exact, round) = (times.to_string(), rounded(times));
    fits(&long, &exact)
        .or_else(|| fits(&short, &exact))
        .or_else(|| fits(&long, &round))
        .or_else(|| fits(&short, &round))
        .or_else(|| fits(&next, &round).filter(|_| !next.is_empty()))
        .or_else(|| fits(&short, "+"))
        .or_else(|| [&long, &short].into_iter().find(|step| step.len() <= room).cloned())
        .or_else(|| Some(next.clone()).filter(|next| !next.is_empty() && next.len() <= room))
        .unwrap_or_else(|| short.chars().take(room).collect())
}

/// A count in at most four characters: `999`, `1.2k`, `55k`, `1.2M`.
fn rounded(count: u64) -> String {
    let mut unit = 1;
    for name in ["", "k", "M", "G", "T", "P", "E"] {
        let whole = count / unit;
        if whole < 1000 {
            let tenth = count % unit / (unit / 10).max(1);
            let tenth = if unit > 1 && whole < 10 { format!(".{tenth}") } else { String::new() };
            return format!("{whole}{tenth}{name}");
        }
        unit = unit.saturating_mul(1000);
    }
    count.to_string()
}

/// What a cell does, as the table file writes it (`write>M`), in short, and only where it leads to.
fn words(cell: Cell) -> [String; 3] {
    let step = cell.step.name();
    let short = match cell.step {
        Step::Ask(MessageKind::Read) => "rd",
        Step::Ask(MessageKind::ReadNc) => "rdnc",
        Step::Ask(_) => "wr",
        Step::Forward => "fwd",
        Step::Allocate => "alloc",
        Step::Writeback => "wb",
        Step::Notify => "ntfy",
        Step::Silent => "-",
        _ => step,
    };
    let next = match cell.next {
        Next::Same => String::new(),
        Next::To(state) => format!(">{}", state.letter()),
        Next::Granted => ">?".to_owned(),
    };
    [format!("{step}{next}"), format!("{short}{next}"), next]
}

fn summary(frame: &Frame, canvas: &mut Canvas, y: u16, view: &ProtocolView) {
    let table = &view.table;
    let cells = table.rows.iter().flat_map(|row| Action::ALL.map(|action| (row.state, action)));
    let possible = |(state, action): &(State, Action)| table.cell(*state, *action, view.inner).is_some();
    let all: Vec<(State, Action)> = cells.filter(possible).collect();
    let seen = all.iter().filter(|(state, action)| count(view, Some(*state), *action) > 0).count();
    let not_kept: Vec<Action> =
        Action::ALL.into_iter().filter(|action| table.uncached_cell(*action, view.inner).is_some()).collect();
    let seen = seen + not_kept.iter().filter(|action| count(view, None, **action) > 0).count();
    let text = format!("{seen} of {} cells seen", all.len() + not_kept.len());
    let x = canvas.text(1, y, &text, Role::Dim);
    if let Some(last) = view.last {
        let to = if last.state == last.to { String::new() } else { format!(" > {}", last.to.letter()) };
        let path = frame.info.components.path(last.at);
        let text = format!("▸ {path}: {} {}{to}", last.state.letter(), text::action(last.action));
        let room = canvas.width().saturating_sub(x + 3);
        canvas.field(x + 3, y, room, &text, Role::Changed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_count_is_never_cut() {
        let cell = |step, next| Cell { step, next };
        let hit = cell(Step::Hit, Next::Same);
        assert_eq!(counted(hit, 55_123, 9), "hit 55123");
        assert_eq!(counted(hit, 55_123, 7), "hit 55k");
        assert_eq!(counted(hit, 1_234_567, 7), "hit +");
        let read = cell(Step::Ask(MessageKind::ReadNc), Next::To(State(b'N')));
        assert_eq!(counted(read, 7, 11), "read-nc>N 7");
        assert_eq!(counted(read, 7, 8), "rdnc>N 7");
        assert_eq!(counted(read, 55_123, 7), ">N 55k");
        assert_eq!(counted(cell(Step::Fetch, Next::To(State(b'V'))), 52_172, 7), ">V 52k");
        assert_eq!(counted(read, 55_123, 5), ">N");
        assert_eq!(counted(read, 0, 7), "rdnc>N");
        assert_eq!(rounded(u64::MAX), "18E");
    }
}
