//! The machine as a picture: a column for each device, the letter of the selected block at each node, and a rail for
//! each link with what is on it.

use unicode_width::UnicodeWidthStr;

use crate::debug::frame::Frame;
use crate::debug::frame::map::{Device, MapNode, Mark};
use crate::model::component::ComponentKind;
use crate::model::inspect::WarpState;
use crate::model::state::State;

use super::map_rail;
use crate::tui::target::Target;
use crate::tui::theme::{self, Role};
use crate::tui::view::canvas::{Canvas, fit};

pub fn draw(frame: &Frame, canvas: &mut Canvas) {
    let map = &frame.map;
    if map.devices.is_empty() {
        canvas.text(1, 0, "No machine yet", Role::Dim);
        return;
    }
    let order = order(&map.devices);
    let width = canvas.width().saturating_sub(1) / order.len().max(1) as u16;
    let rails = map_rail::rows(map);
    // With room to spare the levels stand apart, joined by lines.
    let airy = canvas.height() >= rails + 9;
    let mut bottom = 0;
    let mut centres = Vec::new();
    for (nth, device) in order.iter().enumerate() {
        let column = Column { x: 1 + nth as u16 * width, width, airy };
        bottom = bottom.max(column.device(frame, device, canvas));
        centres.push((device.name.as_str(), column.centre()));
    }
    let end = map_rail::draw(frame, canvas, bottom, &centres);
    if canvas.height() > end.saturating_add(1) {
        legend(canvas, canvas.height() - 1);
    }
}

fn legend(canvas: &mut Canvas, y: u16) {
    let text = "[I>S] asks for S   [S*] changed just now   ▸ happened here";
    let text = if canvas.width() < 62 { "I>S asks   S* changed   ▸ here" } else { text };
    canvas.text(1, y, text, Role::Dim);
}

/// GPUs on both sides of the host.
fn order(devices: &[Device]) -> Vec<&Device> {
    let (host, gpus): (Vec<_>, Vec<_>) = devices.iter().partition(|device| !device.name.starts_with("gpu"));
    let left = gpus.len().div_ceil(2);
    gpus.iter().take(left).chain(&host).chain(gpus.iter().skip(left)).copied().collect()
}

/// One node of a level, as text.
struct Cell<'a> {
    node: &'a MapNode,
    label: String,
    letters: String,
    role: Role,
}

impl Cell<'_> {
    fn labelled(&self) -> usize {
        self.label.width() + self.letters.width()
    }
}

struct Column {
    x: u16,
    width: u16,
    airy: bool,
}

impl Column {
    fn centre(&self) -> u16 {
        self.x + self.width / 2
    }

    /// Draws a device and returns the row after it.
    fn device(&self, frame: &Frame, device: &Device, canvas: &mut Canvas) -> u16 {
        let name = match device.name.strip_prefix("gpu") {
            Some(number) => format!("GPU {number}"),
            None => device.name.to_uppercase(),
        };
        self.centred(canvas, 0, &name, Role::Title);
        let mut y = 1;
        let levels: [(&str, &[ComponentKind]); 4] = [
            ("", &[ComponentKind::Cu, ComponentKind::Core]),
            ("l1", &[ComponentKind::L1]),
            ("l2", &[ComponentKind::L2, ComponentKind::Llc]),
            ("", &[ComponentKind::Smd, ComponentKind::Hmd]),
        ];
        for (nth, (prefix, kinds)) in levels.iter().enumerate() {
            let cells: Vec<Cell> = device
                .nodes
                .iter()
                .filter(|node| kinds.contains(&node.kind))
                .map(|node| cell(frame, node))
                .collect();
            if cells.is_empty() {
                continue;
            }
            if self.airy && nth > 1 {
                self.centred(canvas, y, "│", Role::Border);
                y += 1;
            }
            y = self.level(canvas, y, prefix, &cells);
        }
        y
    }

    fn centred(&self, canvas: &mut Canvas, y: u16, text: &str, role: Role) {
        let text = fit(text, self.width.saturating_sub(1));
        let room = self.width.saturating_sub(text.width() as u16);
        canvas.text(self.x + room / 2, y, &text, role);
    }

    /// Draws the nodes of one level: with their names if there is room, else their letters, in several rows if need be.
    fn level(&self, canvas: &mut Canvas, y: u16, prefix: &str, cells: &[Cell]) -> u16 {
        let room = usize::from(self.width.saturating_sub(1));
        let named: usize = cells.iter().map(|cell| cell.labelled() + 1).sum::<usize>() - 1;
        let lettered: usize = prefix.width() + 1 + cells.iter().map(|cell| cell.letters.width()).sum::<usize>();
        if named <= room {
            let mut x = self.x + (room - named) as u16 / 2;
            for cell in cells {
                x = Self::cell(canvas, x, y, cell, true) + 1;
            }
            return y + 1;
        }
        let mut x = self.x;
        if lettered <= room {
            x += (room - lettered) as u16 / 2;
        }
        x = canvas.text(x, y, prefix, Role::Dim) + u16::from(!prefix.is_empty());
        let (start, mut row) = (x, y);
        for cell in cells {
            if usize::from(x - self.x) + cell.letters.width() > room && x > start {
                (x, row) = (start, row + 1);
            }
            x = Self::cell(canvas, x, row, cell, false);
        }
        row + 1
    }

    fn cell(canvas: &mut Canvas, x: u16, y: u16, cell: &Cell, named: bool) -> u16 {
        let mut end = x;
        if named {
            let role = if cell.node.touched { Role::Changed } else { Role::Text };
            end = canvas.text(end, y, &cell.label, role);
        }
        end = canvas.text(end, y, &cell.letters, cell.role);
        canvas.item(x, y, end - x, Target::Component(cell.node.id));
        end
    }
}

/// What a node shows: `▸` in front if the last event happened there.
fn cell<'a>(frame: &Frame, node: &'a MapNode) -> Cell<'a> {
    let here = if node.touched { "▸" } else { "" };
    let name = if node.kind == ComponentKind::L1 {
        node.label.strip_suffix(".l1").unwrap_or(&node.label)
    } else {
        &node.label
    };
    let (letters, role) = letters(frame, node);
    Cell { node, label: format!("{here}{name}"), letters, role }
}

fn letters(frame: &Frame, node: &MapNode) -> (String, Role) {
    let changed = if node.was.is_some() { "*" } else { "" };
    match &node.mark {
        Mark::None => (String::new(), Role::Dim),
        Mark::Warps(counts) => (warps(counts), Role::Dim),
        Mark::State { now: None, target: None, .. } => {
            (if frame.selection.block.is_some() { "[.]".into() } else { String::new() }, Role::Dim)
        }
        Mark::State { now, target: Some(to), .. } if Some(*to) != *now => {
            (format!("[{}>{}]", now.map_or('.', State::letter), to.letter()), Role::Waiting)
        }
        Mark::State { now, busy, .. } => {
            let letter = now.map_or('.', State::letter);
            let role = match now {
                _ if node.was.is_some() => Role::Changed,
                _ if *busy => Role::Waiting,
                Some(state) => theme::state(*state),
                None => Role::Dim,
            };
            (format!("[{letter}{changed}]"), role)
        }
        Mark::Holders { owner, sharers, busy } => {
            let mut names: Vec<String> = Vec::new();
            for name in owner.iter().chain(sharers.iter().filter(|name| Some(*name) != owner.as_ref())) {
                let short = name.strip_prefix("gpu").unwrap_or(name);
                names.push(if Some(name) == owner.as_ref() { format!("{short}!") } else { short.to_owned() });
            }
            let text = format!("{{{}}}", names.join(","));
            (text, if *busy { Role::Waiting } else { Role::Strong })
        }
    }
}

/// The most telling warp states of an agent: ` m` for one warp, ` 12m` for twelve.
fn warps(counts: &[(WarpState, u32)]) -> String {
    let waits = counts.iter().filter(|(state, _)| !matches!(state, WarpState::Done | WarpState::Ready));
    let Some((state, count)) = waits.max_by_key(|(_, count)| *count).or(counts.first()) else {
        return " .".into();
    };
    if *count == 1 { format!(" {}", state.letter()) } else { format!(" {count}{}", state.letter()) }
}
