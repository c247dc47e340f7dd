//! Who holds the selected block: the tree of nodes, then every block with its letter at each node.

use crate::debug::frame::Frame;
use crate::debug::frame::directory::DirectoryRow;
use crate::model::address::Range;
use crate::model::inspect::BlockView;
use crate::model::state::State;

use super::{age, tail};
use crate::tui::target::Target;
use crate::tui::theme::{self, Role};
use crate::tui::view::canvas::Canvas;

/// Columns of the tree, as far as they fit.
struct Columns {
    state: u16,
    owner: u16,
    sharers: u16,
    dirty: u16,
    /// Signs of the dirty column.
    signs: u32,
    value: u16,
    /// Bytes that the value column shows.
    bytes: usize,
}

impl Columns {
    fn new(width: u16, names: u16, holders: u16) -> Self {
        let names = names.clamp(10, 22);
        let owner = if width >= 62 { 7 } else { 0 };
        let sharers = (holders + 1).clamp(10, if width >= 72 { 13 } else { 10 });
        let state = names + 1;
        let dirty = state + 6 + owner + sharers;
        // Masks are cut shorter before values are: the values show which bytes are dirty, too.
        let signs = if width >= dirty + 18 + byte_columns(4) { 16 } else { 8 };
        let value = dirty + 2 + signs.max(11);
        let room = width.saturating_sub(value);
        let bytes = [16, 8, 4, 2, 1].into_iter().find(|bytes| byte_columns(*bytes) <= room).unwrap_or(0);
        Self {
            state,
            owner: state + 6,
            sharers: state + 6 + owner,
            dirty,
            signs: u32::from(signs),
            value,
            bytes: usize::from(bytes),
        }
    }
}

/// Columns of so many bytes, with a bracket after the last.
fn byte_columns(bytes: u16) -> u16 {
    bytes * 3
}

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
    let longest =
        directory.rows.iter().map(|row| row.depth * 2 + label(frame, row).chars().count() as u16).max();
    let holders = directory.rows.iter().map(|row| row.sharers.join(" ").len() as u16).max();
    let columns = Columns::new(canvas.width(), longest.unwrap_or(10) + 1, holders.unwrap_or(0));
    canvas.stick(1);
    let window = Window::new(frame, line, &columns);
    head(canvas, &directory.rows, &columns, &window);
    let mut y = 1;
    for row in &directory.rows {
        node(frame, canvas, y, row, &window, &columns);
        y = y.saturating_add(1);
    }
    if directory.rows.is_empty() {
        canvas.text(1, y, "Nobody holds this block", Role::Dim);
        y += 1;
    }
    if directory.blocks.len() > 1 || directory.rows.is_empty() {
        blocks(frame, canvas, y + 1);
    }
}

/// The bytes of the line that masks and values show: those that anybody has made dirty and those that the selected
/// transaction touches, if the signs are enough for them, else the whole line.
struct Window {
    line: Range,
    /// Offset of the first byte of the masks.
    mask: u32,
    /// Bytes that a sign stands for, and how many signs there are.
    each: u32,
    signs: u32,
    /// Offset of the first byte of the values.
    value: u32,
}

impl Window {
    fn new(frame: &Frame, line: Range, columns: &Columns) -> Self {
        let views: Vec<&BlockView> =
            frame.directory.rows.iter().filter_map(|row| row.view.as_ref()).collect();
        let dirty = |offset: &u32| views.iter().any(|view| is_dirty(view, line, *offset));
        let touched = touched_bytes(frame, line);
        let first = (0..line.len).find(dirty);
        let last = (0..line.len).rev().find(dirty);
        let first = first.into_iter().chain(touched.map(|(from, _)| from)).min();
        let last = last.into_iter().chain(touched.map(|(_, to)| to)).max();
        let (first, last) = first.zip(last).unwrap_or((0, line.len.saturating_sub(1)));
        let signs = columns.signs.min(line.len).max(1);
        // The window of this many bytes that holds both, if there is one on a multiple of them.
        let window = |bytes: u32| (first / bytes == last / bytes).then_some(first - first % bytes);
        let (mask, each) = window(signs).map_or((0, line.len.div_ceil(signs).max(1)), |mask| (mask, 1));
        let bytes = u32::try_from(columns.bytes).unwrap_or(1).max(1);
        // Too few columns for all of them: the transaction's come first.
        let begin = touched.map_or(first, |(from, _)| from);
        let value = window(bytes).unwrap_or(begin - begin % bytes);
        Self { line, mask, each, signs, value }
    }

    /// What heads the masks.
    fn mask_heading(&self, room: u16) -> String {
        match self.each {
            1 => self.heading("dirty", self.mask, room),
            each if room < 15 => format!("dirty/{each} B"),
            each => format!("dirty, {each} B each"),
        }
    }

    /// What heads the values.
    fn value_heading(&self, room: u16) -> String {
        self.heading("value", self.value, room)
    }

    /// What it is and where it begins: by address, or how far into the line if there is no room for that.
    fn heading(&self, what: &str, offset: u32, room: u16) -> String {
        let long = format!("{what} at {}", self.line.start.plus(u64::from(offset)));
        if long.len() <= usize::from(room) { long } else { format!("{what} +{offset}") }
    }
}

/// Offsets in the line of the first and last byte that the selected transaction touches.
fn touched_bytes(frame: &Frame, line: Range) -> Option<(u32, u32)> {
    let range = frame.sequence.as_ref()?.range.filter(|range| range.overlaps(line))?;
    let from = range.start.0.saturating_sub(line.start.0);
    let to = range.end().saturating_sub(1).saturating_sub(line.start.0);
    let last = line.len.saturating_sub(1);
    let offset = |place: u64| u32::try_from(place).unwrap_or(last).min(last);
    Some((offset(from), offset(to)))
}

fn head(canvas: &mut Canvas, rows: &[DirectoryRow], columns: &Columns, window: &Window) {
    canvas.text(1, 0, "node", Role::Dim);
    canvas.text(columns.state, 0, "state", Role::Dim);
    if columns.sharers > columns.owner {
        canvas.text(columns.owner, 0, "owner", Role::Dim);
    }
    canvas.text(columns.sharers, 0, "sharers", Role::Dim);
    let room = columns.value.saturating_sub(columns.dirty + 1);
    canvas.field(columns.dirty, 0, room, &window.mask_heading(room), Role::Dim);
    if columns.bytes > 0 {
        let room = canvas.width().saturating_sub(columns.value);
        let kept = rows.iter().any(|row| row.value.is_some());
        let heading = if kept { window.value_heading(room) } else { "values off".to_owned() };
        canvas.field(columns.value, 0, room, &heading, Role::Dim);
    }
}

/// The root by its whole path, a child without its device where its parent is in the same one.
fn label(frame: &Frame, row: &DirectoryRow) -> String {
    let path = frame.info.components.path(row.node);
    let short = match row.depth {
        0 | 1 => path,
        _ => tail(path),
    };
    short.to_owned()
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
    canvas.field(x, y, room, &label(frame, row), Role::Text);
    let Some(view) = &row.view else {
        canvas.text(columns.state, y, "-", Role::Dim);
        canvas.item(1, y, columns.state.saturating_sub(2), Target::Component(row.node));
        return;
    };
    state(canvas, columns.state, y, row, view);
    // One that waits for the block has no data worth showing; one that is busy serving others has.
    let waiting = view.target.is_some() && view.target != view.state;
    // Nor has it holders, as a rule: then what it waits for has their columns, too.
    let alone = waiting && view.doing.is_some() && row.owner.is_none() && row.sharers.is_empty();
    if !alone {
        holders(canvas, y, row, columns);
    }
    match &view.doing {
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
        let end = canvas.text(end, y, "*", Role::Changed);
        if let Some(was) = row.was {
            canvas.text(end, y, &format!(" <{}", was.letter()), Role::Changed);
        }
        canvas.paint(x, y, 2, Role::Changed);
    }
}

fn holders(canvas: &mut Canvas, y: u16, row: &DirectoryRow, columns: &Columns) {
    let role = if row.busy { Role::Waiting } else { Role::Text };
    let owner = row.owner.as_deref().unwrap_or("-");
    let mut sharers = row.sharers.join(" ");
    if columns.sharers > columns.owner {
        canvas.field(columns.owner, y, columns.sharers - columns.owner - 1, owner, role);
    } else if row.owner.is_some() {
        sharers = format!("{owner}! {sharers}");
    }
    let room = columns.dirty - columns.sharers - 1;
    if sharers.len() > usize::from(room) {
        sharers = sharers.replace("gpu", "g");
    }
    let sharers = if sharers.is_empty() { "-" } else { sharers.trim_end() };
    canvas.field(columns.sharers, y, room, sharers, role);
}

fn waits(frame: &Frame, canvas: &mut Canvas, y: u16, x: u16, view: &BlockView, doing: &str) {
    let room = canvas.width().saturating_sub(x + 1);
    let short = doing.strip_prefix("waits for ").unwrap_or(doing);
    let texts = match view.since {
        Some(since) => {
            let (cycle, age) = (frame.time.cycle(since), age(frame, since));
            vec![
                format!("{doing} since {cycle} ({age} cycles)"),
                format!("{doing}, {age} cycles"),
                format!("{short}, {age} cycles"),
                format!("{short}, {age}"),
            ]
        }
        None => vec![doing.to_owned(), short.to_owned()],
    };
    let fits = texts.iter().find(|text| text.chars().count() <= usize::from(room));
    if let Some(text) = fits.or(texts.last()).filter(|_| room > 12) {
        canvas.field(x, y, room, text, Role::Waiting);
    }
}

fn is_dirty(view: &BlockView, line: Range, offset: u32) -> bool {
    let place = (line.start.0 + u64::from(offset)).saturating_sub(view.range.start.0);
    let bit = place / u64::from(view.granule.max(1));
    view.dirty.as_ref().is_some_and(|mask| u32::try_from(bit).is_ok_and(|bit| mask.get(bit)))
}

fn bytes(
    canvas: &mut Canvas,
    y: u16,
    row: &DirectoryRow,
    view: &BlockView,
    window: &Window,
    columns: &Columns,
) -> u16 {
    let (line, each) = (window.line, window.each);
    let mut x = columns.dirty;
    for sign in 0..window.signs {
        let from = window.mask + sign * each;
        let dirty = (from..from + each).filter(|offset| is_dirty(view, line, *offset)).count() as u32;
        let (sign, role) = match dirty {
            0 => ("-", Role::Dim),
            all if all == each => ("#", Role::Dirty),
            _ => ("+", Role::Dirty),
        };
        x = canvas.text(x, y, sign, role);
    }
    let Some(value) = &row.value else {
        return x;
    };
    let mut x = columns.value.saturating_sub(1);
    let mut before = false;
    for (nth, byte) in value.iter().enumerate().skip(window.value as usize).take(columns.bytes) {
        let dirty = is_dirty(view, line, nth as u32);
        x = canvas.text(x, y, bracket(before, dirty), Role::Dirty);
        x = canvas.text(x, y, &format!("{byte:02x}"), if dirty { Role::Dirty } else { Role::Text });
        before = dirty;
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
        canvas.text(1, y, &block.address.to_string(), Role::Text);
        for ((x, _, _), (now, target)) in columns.iter().zip(&block.cells) {
            letter(canvas, *x, y, *now, *target);
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
    canvas.text(1, y, "blocks that somebody holds", Role::Dim);
    for (nth, block) in frame.directory.blocks.iter().enumerate() {
        let (x, y) = (1 + (nth as u16 % across) * column, y + 1 + nth as u16 / across);
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
