//! The machine as a picture: a column for each device, the letter of the selected block at each node, and a rail for
//! each link with what is on it.

use unicode_width::UnicodeWidthStr;

use crate::debug::frame::map::{Device, MapNode};
use crate::debug::frame::{Frame, Knot};
use crate::model::component::ComponentKind;

use super::map_node::{Cell, cell, crowded, letter, plain, role};
use super::{map_rail, map_switch};
use crate::tui::canvas::{Canvas, fit};
use crate::tui::target::Target;
use crate::tui::theme::Role;

/// Rows of letters beyond which they are counted, if all of the picture has room.
const ROWS: usize = 4;

/// Rows of the counts, mostly.
const TALLY: usize = 2;

/// Nodes of one level of a device beyond which each is but a letter, and how many of those stand in a row.
const DENSE: usize = 8;

/// Rows of the picture above the rails with lines between the levels, legend included.
const AIRY: u16 = 10;

/// Rows of these lines.
const JOINS: u16 = 2;

/// Columns for the names of the levels, where they have no room beside the nodes.
const GUTTER: u16 = 4;

/// Columns of a device in which the lanes of its link to a switch have room.
const NARROWEST: u16 = 6;

pub fn draw(frame: &Frame, canvas: &mut Canvas) {
    let map = &frame.map;
    if map.devices.is_empty() {
        canvas.text(1, 0, "No machine yet", Role::Dim);
        return;
    }
    let order = order(&map.devices);
    let mut columns = columns(canvas.width(), order.len(), 0);
    let narrower = self::columns(canvas.width(), order.len(), GUTTER);
    let has_room = narrower.first().is_some_and(|column| column.width >= NARROWEST);
    let is_untold = !are_told(frame, &order, &columns);
    let needs_gutter = has_room && is_untold;
    if needs_gutter {
        columns = narrower;
    }
    let width = columns.first().map_or(0, |column| column.width);
    let centres: Vec<(&str, u16)> =
        order.iter().zip(&columns).map(|(device, column)| (device.name.as_str(), column.centre())).collect();
    let room = canvas.height().saturating_sub(map_rail::height(map, &centres) + map_switch::height(map));
    // With too little room for the links nodes are counted; with room to spare the levels stand apart, joined by lines.
    let rows = if room < tall(&order, width, ROWS) { 1 } else { ROWS };
    let airy = room >= AIRY.max(tall(&order, width, rows) + JOINS);
    for (device, column) in order.iter().zip(&mut columns) {
        (column.airy, column.rows) = (airy, rows);
        column.name(device, canvas);
    }
    let bottom = levels(frame, canvas, &order, (&columns, needs_gutter));
    let end = map_rail::draw(frame, canvas, bottom, &centres);
    let places: Vec<(&str, u16, u16)> = order
        .iter()
        .zip(&columns)
        .map(|(device, column)| (device.name.as_str(), column.x, column.width))
        .collect();
    let (end, is_marked) = map_switch::draw(frame, canvas, end, &places);
    let last = canvas.height().saturating_sub(1);
    if let Some(knot) = &frame.deadlock {
        deadlock(canvas, end, knot);
    } else if end <= last {
        // What the levels are comes before room around the legend.
        let has_second = is_untold && !needs_gutter && end < last;
        let y = if has_second { last - 1 } else { last }.min(end + 1);
        legend(canvas, y, is_marked);
        if has_second {
            canvas.text(1, y + 1, "from above: units, L1, L2, memory, links", Role::Dim);
        }
    }
}

/// Columns for so many devices, with room for the names of their levels on the left.
fn columns(width: u16, count: usize, gutter: u16) -> Vec<Column> {
    let each = width.saturating_sub(1 + gutter) / count.max(1) as u16;
    let column = |nth| Column { x: 1 + gutter + nth as u16 * each, width: each, airy: false, rows: ROWS };
    (0..count).map(column).collect()
}

/// The nodes of a device on one level.
fn on_level<'a>(device: &'a Device, kinds: &[ComponentKind]) -> Vec<&'a MapNode> {
    device.nodes.iter().filter(|node| kinds.contains(&node.kind)).collect()
}

/// Whether each level of each device has room to say what it is.
fn are_told(frame: &Frame, devices: &[&Device], columns: &[Column]) -> bool {
    devices
        .iter()
        .zip(columns)
        .all(|(device, column)| LEVELS.iter().all(|kinds| column.tells(frame, &on_level(device, kinds))))
}

/// Who waits for whom, with the numbers that stand at the nodes.
fn deadlock(canvas: &mut Canvas, y: u16, knot: &Knot) {
    let mut y = canvas.paragraph(1, y, &knot.headline, Role::Bad);
    for (nth, edge) in knot.edges.iter().enumerate() {
        y = canvas.paragraph(1, y, &format!("#{} {}", nth + 1, edge.text), Role::Text);
    }
}

/// What letters mean, and, where links are marked as saturated, what that is.
fn legend(canvas: &mut Canvas, y: u16, is_marked: bool) {
    let full = if is_marked { "   ! full" } else { "" };
    let long = format!("[I>S] asks for S or better   [S*] changed just now   ▸ happened here{full}");
    let short = format!("I>S asks   S* changed   ▸ here{full}");
    let text = if usize::from(canvas.width()) < long.chars().count() + 2 { short } else { long };
    canvas.text(1, y, &text, Role::Dim);
}

/// GPUs on both sides of the host.
fn order(devices: &[Device]) -> Vec<&Device> {
    let (host, gpus): (Vec<_>, Vec<_>) = devices.iter().partition(|device| !device.name.starts_with("gpu"));
    let left = gpus.len().div_ceil(2);
    gpus.iter().take(left).chain(&host).chain(gpus.iter().skip(left)).copied().collect()
}

/// The levels of a device from above, with what stands before their letters.
const LEVELS: [&[ComponentKind]; 4] = [
    &[ComponentKind::Cu, ComponentKind::Core],
    &[ComponentKind::L1],
    &[ComponentKind::L2, ComponentKind::Llc, ComponentKind::Client],
    &[ComponentKind::Smd, ComponentKind::Memory, ComponentKind::Hmd],
];

/// What stands before nodes of a kind that have no room for their names.
fn prefix(kind: ComponentKind) -> &'static str {
    match kind {
        ComponentKind::L1 | ComponentKind::L2 | ComponentKind::Smd | ComponentKind::Hmd => kind.name(),
        ComponentKind::Memory => "mem",
        _ => "",
    }
}

/// Rows of the devices, their names included, if a level of many nodes may have so many `rows` of letters.
fn tall(devices: &[&Device], width: u16, rows: usize) -> u16 {
    let across = DENSE.min(usize::from(width.saturating_sub(1))).max(1);
    let of_level = |kinds: &&[ComponentKind]| {
        let of_device = devices.iter().map(|device| {
            let count = device.nodes.iter().filter(|node| kinds.contains(&node.kind)).count();
            match count.div_ceil(across) {
                _ if count <= DENSE => count.min(1),
                letters if letters <= rows => letters,
                _ => TALLY,
            }
        });
        of_device.max().unwrap_or(0) as u16
    };
    1 + LEVELS.iter().map(of_level).sum::<u16>()
}

/// Draws the devices level by level, so that levels of different height stay side by side. Returns the row after them.
fn levels(
    frame: &Frame,
    canvas: &mut Canvas,
    devices: &[&Device],
    (columns, has_gutter): (&[Column], bool),
) -> u16 {
    let mut y = 1;
    let mut above: Vec<Vec<u16>> = vec![Vec::new(); devices.len()];
    for (nth, kinds) in LEVELS.iter().enumerate() {
        let nodes: Vec<Vec<&MapNode>> = devices.iter().map(|device| on_level(device, kinds)).collect();
        if nodes.iter().all(Vec::is_empty) {
            continue;
        }
        let join = columns.iter().any(|column| column.airy) && nth > 1;
        let top = y + u16::from(join);
        let mut end = top;
        let named = nodes.iter().filter_map(|nodes| nodes.first()).map(|node| prefix(node.kind));
        let told = named.filter(|_| has_gutter).find(|name| !name.is_empty()).unwrap_or_default();
        canvas.text(1, top, told, Role::Dim);
        for ((column, nodes), above) in columns.iter().zip(&nodes).zip(&mut above) {
            let Some(first) = nodes.first() else { continue };
            let own = prefix(first.kind);
            let own = if own == told { "" } else { own };
            let (bottom, below) = column.level(canvas, top, own, (frame, nodes));
            if join && !above.is_empty() {
                join_levels(canvas, y, above, &below);
            }
            *above = below;
            end = end.max(bottom);
        }
        y = end;
    }
    y
}

struct Column {
    x: u16,
    width: u16,
    airy: bool,
    /// Rows of letters beyond which they are counted.
    rows: usize,
}

impl Column {
    fn centre(&self) -> u16 {
        self.x + self.width.saturating_sub(1) / 2
    }

    fn name(&self, device: &Device, canvas: &mut Canvas) {
        let name = match device.name.strip_prefix("gpu") {
            Some(number) if self.width < 6 => format!("G{number}"),
            Some(number) => format!("GPU {number}"),
            None if self.width < 5 => device.name.chars().take(1).collect::<String>().to_uppercase(),
            None => device.name.to_uppercase(),
        };
        self.centred(canvas, 0, &name, Role::Title);
    }

    fn centred(&self, canvas: &mut Canvas, y: u16, text: &str, role: Role) {
        let text = fit(text, self.width.saturating_sub(1));
        canvas.text(self.start(text.width()), y, &text, role);
    }

    /// The column where something of this width begins, so that it stands in the middle.
    fn start(&self, width: usize) -> u16 {
        self.centre().saturating_sub(width as u16 / 2).max(self.x)
    }

    /// Whether there is room to say what the nodes of one level are: for their names, or for that of the level.
    fn tells(&self, frame: &Frame, nodes: &[&MapNode]) -> bool {
        let Some(first) = nodes.first() else { return true };
        let room = usize::from(self.width.saturating_sub(1));
        let letters = if nodes.len() > DENSE {
            DENSE
        } else {
            let cells: Vec<Cell> = nodes.iter().map(|node| cell(frame, node)).collect();
            let brief = cells.iter().map(|cell| cell.brief.width());
            let names: usize = cells.iter().map(|cell| cell.label.width() + cell.brief.width()).sum();
            if names + cells.len().saturating_sub(1) <= room { 0 } else { brief.sum() }
        };
        let name = prefix(first.kind);
        name.is_empty() || letters == 0 || name.width() + 1 + letters <= room
    }

    /// Draws the nodes of one level: with their names if there is room, else their letters, in several rows if need be.
    /// Returns the row after it and the middle of each node.
    fn level(
        &self,
        canvas: &mut Canvas,
        y: u16,
        prefix: &str,
        (frame, nodes): (&Frame, &[&MapNode]),
    ) -> (u16, Vec<u16>) {
        let room = usize::from(self.width.saturating_sub(1));
        // Of very many it need not be measured.
        if nodes.len() > room.max(DENSE) {
            return (self.strip(canvas, y, prefix, (frame, nodes)), vec![self.centre()]);
        }
        let cells: Vec<Cell> = nodes.iter().map(|node| cell(frame, node)).collect();
        let gaps = cells.len().saturating_sub(1);
        let named = |letters: fn(&Cell) -> usize| {
            cells.iter().map(|cell| cell.label.width() + letters(cell)).sum::<usize>() + gaps
        };
        let full = named(|cell| cell.letters.width());
        let brief = named(|cell| cell.brief.width());
        if full.min(brief) <= room {
            let (total, letters): (usize, fn(&Cell) -> String) = if full <= room {
                (full, |cell| cell.letters.clone())
            } else {
                (brief, |cell| cell.brief.clone())
            };
            let mut x = self.start(total);
            let mut middles = Vec::new();
            for cell in &cells {
                let start = cell.label(canvas, x, y);
                let end = canvas.text(start, y, &letters(cell), cell.role);
                canvas.item(x, y, end - x, Target::Component(cell.node.id));
                middles.push(u16::midpoint(x, end.saturating_sub(1)));
                x = end + 1;
            }
            if cells.len() == 1 {
                middles = vec![self.centre()];
            }
            return (y + 1, middles);
        }
        if nodes.len() > DENSE {
            return (self.strip(canvas, y, prefix, (frame, nodes)), vec![self.centre()]);
        }
        let letters: usize = cells.iter().map(|cell| cell.marked().width()).sum();
        let prefix = if prefix.width() + 1 + letters <= room { prefix } else { "" };
        let begin = self.start(letters + prefix.width() + 1);
        let start = canvas.text(begin, y, prefix, Role::Dim) + u16::from(!prefix.is_empty());
        let (mut x, mut row) = (start, y);
        for cell in &cells {
            let letters = cell.marked();
            if usize::from(x - self.x) + letters.width() > room && x > start {
                (x, row) = (start, row + 1);
            }
            let left = (self.x + self.width).saturating_sub(x + 1);
            x = plain(canvas, (x, row), cell.node, &fit(&crowded(&letters, left), left), cell.role);
        }
        (row + 1, vec![self.centre()])
    }

    /// Many nodes: a letter each, in rows of eight.
    fn strip(&self, canvas: &mut Canvas, y: u16, prefix: &str, (frame, nodes): (&Frame, &[&MapNode])) -> u16 {
        let room = usize::from(self.width.saturating_sub(1)).max(1);
        let prefix = if prefix.width() + 1 + DENSE <= room { prefix } else { "" };
        let gap = u16::from(!prefix.is_empty());
        let across = DENSE.min(room);
        if nodes.len().div_ceil(across) > self.rows {
            return self.tally(canvas, y, prefix, (frame, nodes));
        }
        let start =
            canvas.text(self.start(prefix.width() + usize::from(gap) + across), y, prefix, Role::Dim) + gap;
        for (nth, node) in nodes.iter().enumerate() {
            let at = (start + (nth % across) as u16, y + (nth / across) as u16);
            let role = if node.touched { Role::Changed } else { role(frame, node) };
            plain(canvas, at, node, letter(node).encode_utf8(&mut [0; 4]), role);
        }
        y + nodes.len().div_ceil(across) as u16
    }

    /// Too many even for that: how many have each letter, the most first.
    fn tally(&self, canvas: &mut Canvas, y: u16, prefix: &str, (frame, nodes): (&Frame, &[&MapNode])) -> u16 {
        let mut groups: Vec<(char, usize, &MapNode)> = Vec::new();
        for node in nodes {
            let letter = letter(node);
            match groups.iter_mut().find(|(known, ..)| *known == letter) {
                Some((_, count, _)) => *count += 1,
                None => groups.push((letter, 1, node)),
            }
        }
        groups.sort_by_key(|(_, count, _)| std::cmp::Reverse(*count));
        let room = self.width.saturating_sub(1);
        let (mut x, mut row) = (canvas.text(self.x, y, prefix, Role::Dim), y);
        x += u16::from(!prefix.is_empty());
        for (letter, count, first) in groups {
            let text = format!("{count}{letter}");
            if x + text.width() as u16 > self.x + room && x > self.x {
                (x, row) = (self.x, row + 1);
            }
            x = plain(canvas, (x, row), first, &text, role(frame, first)) + 1;
        }
        row + 1
    }
}

/// The lines from the nodes of one level to those of the next.
fn join_levels(canvas: &mut Canvas, y: u16, above: &[u16], below: &[u16]) {
    let all = || above.iter().chain(below);
    let (Some(left), Some(right)) = (all().min().copied(), all().max().copied()) else {
        return;
    };
    for x in left..=right {
        let (up, down) = (above.contains(&x), below.contains(&x));
        let glyph = match (up, down, x == left, x == right) {
            (_, _, true, true) => "│",
            (true, true, true, _) => "├",
            (true, true, _, true) => "┤",
            (true, true, ..) => "┼",
            (true, false, true, _) => "└",
            (true, false, _, true) => "┘",
            (true, false, ..) => "┴",
            (false, true, true, _) => "┌",
            (false, true, _, true) => "┐",
            (false, true, ..) => "┬",
            (false, false, ..) => "─",
        };
        canvas.text(x, y, glyph, Role::Border);
    }
}
