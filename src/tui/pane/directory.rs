//! Who holds the selected block: the tree of nodes, then every block with its letter at each node.

use crate::debug::frame::Frame;
use crate::debug::frame::directory::DirectoryRow;
use crate::debug::frame::text::remote_claim;
use crate::model::inspect::BlockView;
use crate::model::state::State;

use super::age;
use super::directory_columns::{Columns, Window, is_dirty, is_here, sharers, shortened, worth};
use crate::report::number::{counted, grouped};
use crate::tui::canvas::Canvas;
use crate::tui::target::Target;
use crate::tui::theme::{self, Role};

#[must_use]
pub fn title(frame: &Frame) -> String {
    match (frame.directory.line, frame.selection.block) {
        (Some(line), _) => format!("block {}, {} bytes", line.start, line.len),
        (None, Some(block)) => format!("block {block}"),
        (None, None) => String::new(),
    }
}

pub fn draw(frame: &Frame, canvas: &mut Canvas) {
    let directory = &frame.directory;
    let Some(line) = directory.line else {
        canvas.paragraph(
            1,
            0,
            "Nobody has asked for a block yet. Step (s, t): this shows the block of what happens.",
            Role::Dim,
        );
        blocks(frame, canvas, 2);
        return;
    };
    let longest = directory.rows.iter().map(|row| row.depth * 2 + row.name.chars().count() as u16).max();
    let shown = (line, worth(frame, line));
    let columns = Columns::new(canvas.width(), longest.unwrap_or(10) + 1, &directory.rows, shown);
    canvas.stick(1);
    let window = Window::new(frame, line, &columns);
    head(canvas, &directory.rows, &columns, &window);
    let mut y = 1;
    for row in &directory.rows {
        node(frame, canvas, y, row, &window, &columns);
        y = claim(canvas, y.saturating_add(1), row, &columns);
    }
    if directory.rows.is_empty() {
        canvas.text(1, y, "Nobody holds this block", Role::Dim);
        y += 1;
    }
    if directory.blocks.len() > 1 || directory.rows.is_empty() || directory.unlisted {
        blocks(frame, canvas, y + 1);
    }
}

fn head(canvas: &mut Canvas, rows: &[DirectoryRow], columns: &Columns, window: &Window) {
    canvas.text(1, 0, "node", Role::Dim);
    canvas.text(columns.state, 0, "state", Role::Dim);
    if columns.sharers > columns.owner {
        canvas.text(columns.owner, 0, "owner", Role::Dim);
        canvas.text(columns.sharers, 0, "sharers", Role::Dim);
    } else {
        canvas.text(columns.sharers, 0, "holders", Role::Dim);
    }
    if columns.bytes > 0 {
        if columns.signs > 0 {
            canvas.text(columns.dirty, 0, "dirty", Role::Dim);
        }
        let room = canvas.width().saturating_sub(columns.value);
        canvas.field(columns.value, 0, room, &window.value_heading(room), Role::Dim);
    } else {
        let room = canvas.width().saturating_sub(columns.dirty);
        let held = rows.iter().any(|row| row.view.is_some());
        let off = if !held || rows.iter().any(|row| row.value.is_some()) { "" } else { "; values off" };
        canvas.field(columns.dirty, 0, room, &format!("{}{off}", window.mask_heading()), Role::Dim);
    }
}

fn node(frame: &Frame, canvas: &mut Canvas, y: u16, row: &DirectoryRow, window: &Window, columns: &Columns) {
    let happened = !frame.now.is_empty() && touched(frame, row);
    let mut x = canvas.text(0, y, if happened { "▸" } else { " " }, Role::Changed);
    for (depth, last) in row.last.iter().enumerate().skip(1) {
        let own = depth + 1 == row.last.len();
        let branch = match (own, last) {
            (true, true) => "└ ",
            (true, false) => "├ ",
            (false, true) => "  ",
            (false, false) => "│ ",
        };
        x = canvas.text(x, y, branch, Role::Border);
    }
    let room = columns.state.saturating_sub(x + 1);
    canvas.field(x, y, room, &row.name, Role::Text);
    let Some(view) = &row.view else {
        let end =
            canvas.text(columns.state, y, "-", if row.was.is_some() { Role::Changed } else { Role::Dim });
        lost(canvas, end, y, row);
        canvas.item(1, y, columns.state.saturating_sub(2), Target::Component(row.node));
        return;
    };
    state(canvas, columns.state, y, row, view);
    // One that waits for the block has no data worth showing; one that is busy serving others has.
    let waiting = view.target.is_some() && view.target != view.state;
    // Nor has it holders, as a rule: then what it waits for has their columns, too.
    let mut offsets = window.signs.iter().flat_map(Clone::clone);
    let has_dirty = window.hides_dirty(view) || offsets.any(|offset| is_dirty(view, window.line, offset));
    let alone =
        waiting && !has_dirty && view.doing.is_some() && row.owner.is_none() && row.sharers.is_empty();
    if !alone {
        holders(canvas, y, row, columns);
    }
    match &view.doing {
        // But dirty bytes, which are nowhere else, stay while it waits.
        Some(doing) if waiting && has_dirty => {
            let end = dirty(canvas, y, view, window, columns);
            waits(frame, canvas, y, end + 2, view, doing);
        }
        Some(doing) if waiting => {
            waits(frame, canvas, y, if alone { columns.owner } else { columns.dirty }, view, doing);
        }
        Some(doing) => {
            canvas.text(columns.state + 1, y, "…", Role::Waiting);
            let end = bytes(canvas, y, row, view, window, columns);
            waits(frame, canvas, y, end + 2, view, doing);
        }
        None => {
            bytes(canvas, y, row, view, window, columns);
        }
    }
    canvas.item(1, y, columns.state.saturating_sub(2), Target::Component(row.node));
}

/// What the remote directory of a memory says of the block, below its row. Returns the row after that.
fn claim(canvas: &mut Canvas, y: u16, row: &DirectoryRow, columns: &Columns) -> u16 {
    let Some(claim) = row.view.as_ref().and_then(|view| view.remote_claim) else { return y };
    let role = if claim { Role::Strong } else { Role::Dim };
    canvas.text(columns.state, y, &format!("remote directory: {}", remote_claim(claim)), role);
    y.saturating_add(1)
}

fn touched(frame: &Frame, row: &DirectoryRow) -> bool {
    row.was.is_some()
        || frame
            .map
            .devices
            .iter()
            .flat_map(|device| &device.nodes)
            .any(|node| node.id == row.node && node.touched)
}

fn state(canvas: &mut Canvas, x: u16, y: u16, row: &DirectoryRow, view: &BlockView) {
    let end = canvas.state(x, y, view.state, view.target);
    if row.was.is_some() && view.target.is_none() {
        lost(canvas, end, y, row);
        canvas.paint(x, y, 2, Role::Changed);
    }
}

/// The state that the last event took away.
fn lost(canvas: &mut Canvas, x: u16, y: u16, row: &DirectoryRow) {
    if let Some(was) = row.was {
        canvas.text(x, y, &format!("* <{}", was.letter()), Role::Changed);
    }
}

fn holders(canvas: &mut Canvas, y: u16, row: &DirectoryRow, columns: &Columns) {
    let role = if row.busy { Role::Waiting } else { Role::Text };
    let together = columns.sharers == columns.owner;
    if !together {
        let owner = row.owner.as_deref().unwrap_or("-");
        canvas.field(columns.owner, y, columns.sharers - columns.owner - 1, owner, role);
    }
    let room = columns.dirty - columns.sharers - 1;
    let mut text = sharers(row, together);
    if text.len() > usize::from(room) {
        text = shortened(&text);
    }
    canvas.field(columns.sharers, y, room, if text.is_empty() { "-" } else { &text }, role);
}

fn waits(frame: &Frame, canvas: &mut Canvas, y: u16, x: u16, view: &BlockView, doing: &str) {
    let room = canvas.width().saturating_sub(x + 1);
    let short = doing.strip_prefix("waits for ").unwrap_or(doing);
    // Without a verb it would read as if the other one had asked.
    let brief = if short == doing { doing.to_owned() } else { format!("awaits {short}") };
    let texts = match view.since {
        Some(since) => {
            let (cycle, age) = (frame.time.cycle(since), age(frame, since));
            vec![
                format!("{doing} since {} ({})", grouped(cycle), counted(age, "cycle")),
                format!("{doing}, {}", counted(age, "cycle")),
                format!("{brief}, {}", counted(age, "cycle")),
                brief,
                short.to_owned(),
            ]
        }
        None => vec![doing.to_owned(), brief, short.to_owned()],
    };
    let fits = texts.iter().find(|text| text.chars().count() <= usize::from(room));
    if let Some(text) = fits.or(texts.last()).filter(|_| room > 12) {
        canvas.field(x, y, room, text, Role::Waiting);
    }
}

/// Which bytes are dirty.
fn dirty(canvas: &mut Canvas, y: u16, view: &BlockView, window: &Window, columns: &Columns) -> u16 {
    let line = window.line;
    let mut x = columns.dirty;
    for sign in &window.signs {
        let dirty = sign.clone().filter(|offset| is_dirty(view, line, *offset)).count();
        let (sign, role) = match dirty {
            0 if !sign.clone().all(|offset| is_here(view, line, offset)) => (".", Role::Dim),
            0 => ("-", Role::Dim),
            all if all == sign.len() => ("#", Role::Dirty),
            _ => ("+", Role::Dirty),
        };
        x = canvas.text(x, y, sign, role);
    }
    if window.hides_dirty(view) {
        x = canvas.text(x, y, "+", Role::Dirty);
    }
    x
}

fn bytes(
    canvas: &mut Canvas,
    y: u16,
    row: &DirectoryRow,
    view: &BlockView,
    window: &Window,
    columns: &Columns,
) -> u16 {
    let line = window.line;
    let x = if columns.signs > 0 { dirty(canvas, y, view, window, columns) } else { columns.dirty };
    let Some(value) = row.value.as_ref().filter(|_| columns.bytes > 0) else {
        return x;
    };
    let mut x = columns.value.saturating_sub(1);
    let (mut before, mut expected) = (false, None);
    for offset in window.signs.iter().map(|sign| sign.start) {
        let dirty = is_dirty(view, line, offset);
        let gap = expected.is_some_and(|expected| expected != offset);
        x = match (gap, before == dirty) {
            (true, true) => canvas.text(x, y, "│", Role::Border),
            _ => canvas.text(x, y, bracket(before, dirty), Role::Dirty),
        };
        let known = value.get(offset as usize).filter(|_| is_here(view, line, offset));
        let byte = known.map_or("..".to_owned(), |byte| format!("{byte:02x}"));
        x = canvas.text(x, y, &byte, if dirty { Role::Dirty } else { Role::Text });
        (before, expected) = (dirty, Some(offset + 1));
    }
    canvas.text(x, y, bracket(before, false), Role::Dirty)
}

/// Dirty bytes stand in brackets.
fn bracket(before: bool, now: bool) -> &'static str {
    match (before, now) {
        (false, true) => "[",
        (true, false) => "]",
        _ => " ",
    }
}

/// Columns of one node in the list of blocks.
const NODE: u16 = 4;

/// Columns of the addresses in the list of blocks, with the gap after them.
fn address_column(frame: &Frame) -> u16 {
    let blocks = frame.directory.blocks.iter();
    blocks.map(|block| block.address.to_string().len()).max().unwrap_or(0) as u16 + 2
}

/// Where each node's column begins: devices stand a little apart.
fn node_columns(frame: &Frame) -> Vec<(u16, &str, String)> {
    let names = &frame.info.components;
    let (mut x, mut before) = (12.max(1 + address_column(frame)), "");
    let mut columns = Vec::new();
    for node in &frame.directory.nodes {
        let path = names.path(*node);
        let (device, rest) = path.split_once('.').unwrap_or(("", path));
        if device != before && !before.is_empty() {
            x += 2;
        }
        before = device;
        columns.push((x, device, column_head(rest.strip_suffix(".l1").unwrap_or(rest))));
        x += NODE;
    }
    columns
}

/// A node's name over its column: letters give way to the number (`c10`, `sm1`), for that tells the columns apart.
fn column_head(name: &str) -> String {
    let room = usize::from(NODE) - 1;
    let (letters, number) = match name.rsplit_once('.') {
        Some((letters, number)) => (letters, number),
        None => name.split_at(name.trim_end_matches(|letter: char| letter.is_ascii_digit()).len()),
    };
    let number: String = number.chars().take(room).collect();
    let left = room - number.chars().count();
    letters.chars().take(left).chain(number.chars()).collect()
}

/// Every block, one a row, with the letter of each node that has it.
fn blocks(frame: &Frame, canvas: &mut Canvas, y: u16) {
    let directory = &frame.directory;
    if directory.unlisted {
        let text = "Too many caches to list their blocks: `:select block ADDRESS` selects one, click or Enter that of a message.";
        canvas.paragraph(1, y, text, Role::Dim);
        return;
    }
    if directory.blocks.is_empty() {
        return;
    }
    if directory.nodes.is_empty() {
        addresses(frame, canvas, y);
        return;
    }
    let columns = node_columns(frame);
    let end = columns.last().map_or(0, |(x, _, _)| x + NODE - 1);
    canvas.text(1, y + 1, "block", Role::Dim);
    let mut before = "";
    for (x, device, label) in &columns {
        if *device != before {
            canvas.text(*x, y, device, Role::Dim);
        }
        before = device;
        canvas.text(*x, y + 1, label, Role::Dim);
    }
    canvas.cut(y + 1, end);
    let (first, width) = (y + 2, address_column(frame) - 2);
    for (nth, block) in directory.blocks.iter().enumerate() {
        let y = first.saturating_add(nth as u16);
        // The first tells how wide they are.
        if nth > 0 && !canvas.shows(y) {
            canvas.reserve(y);
            continue;
        }
        canvas.text(1, y, &block.address.to_string(), Role::Text);
        for (((x, _, _), (now, target)), node) in columns.iter().zip(&block.cells).zip(&directory.nodes) {
            if (now, target) == (&None, &None) && block.homes.contains(node) {
                canvas.text(*x, y, "h", Role::Strong);
            } else {
                letter(canvas, *x, y, *now, *target);
            }
        }
        canvas.cut(y, end);
        canvas.item(1, y, width, Target::Block(block.address));
    }
    if directory.more {
        canvas.text(1, first.saturating_add(directory.blocks.len() as u16), "... and more", Role::Dim);
    }
}

/// The blocks of a machine with too many nodes for columns.
fn addresses(frame: &Frame, canvas: &mut Canvas, y: u16) {
    let column = address_column(frame);
    let across = (canvas.width().saturating_sub(1) / column).max(1);
    canvas.text(1, y, "blocks that somebody holds or asks for", Role::Dim);
    for (nth, block) in frame.directory.blocks.iter().enumerate() {
        let (x, y) = (1 + (nth as u16 % across) * column, y + 1 + nth as u16 / across);
        // The first row tells how wide they are.
        if nth >= usize::from(across) && !canvas.shows(y) {
            canvas.reserve(y);
            continue;
        }
        let text = block.address.to_string();
        canvas.text(x, y, &text, Role::Text);
        canvas.item(x, y, text.len() as u16, Target::Block(block.address));
    }
}

fn letter(canvas: &mut Canvas, x: u16, y: u16, now: Option<State>, target: Option<State>) {
    match target {
        Some(to) if target != now => {
            canvas.text(x, y, &format!("{}>{}", now.map_or('.', State::letter), to.letter()), Role::Waiting)
        }
        _ => {
            let role = now.map_or(Role::Dim, theme::state);
            canvas.text(x, y, &now.map_or('.', State::letter).to_string(), role)
        }
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heads_of_columns_keep_the_number() {
        let heads = ["cu1", "cu15", "l2.1", "smd0", "llc", "cpu12"].map(column_head);
        assert_eq!(heads, ["cu1", "c15", "l21", "sm0", "llc", "c12"]);
    }
}
