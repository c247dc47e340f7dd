//! The selected transaction as a sequence diagram: a lifeline for each node, an arrow for each message.

use unicode_width::UnicodeWidthStr;

use crate::debug::frame::Frame;
use crate::debug::frame::sequence::{Fate, Sequence, SequenceStep, StepKind};
use crate::debug::frame::text;
use crate::model::component::{Component, ComponentId};
use crate::model::page_view::FaultView;
use crate::model::state::Action;
use crate::model::text::plural;
use crate::model::warp::by_warp;

use super::{age, fault};
use crate::report::number::{self, counted};
use crate::tui::canvas::{Canvas, fit, wrap};
use crate::tui::target::Target;
use crate::tui::theme::Role;

/// Columns of the cycle numbers, at least: the mark, the digits and a space.
const CYCLES: u16 = 6;

/// Columns from one lifeline to the next: at least, and below which their names need two rows.
const CLOSEST: u16 = 5;
const CLOSE: u16 = 7;

#[must_use]
pub fn title(frame: &Frame) -> String {
    match (drawn(frame), &frame.pages.fault, frame.selection.txn) {
        (Some(sequence), _, _) => match sequence.txn {
            Some(txn) => format!("{} · {}", txn.0, sequence.title),
            None => sequence.title.clone(),
        },
        (None, None, Some(txn)) => txn.0.to_string(),
        _ => String::new(),
    }
}

/// The journey that is drawn: not beside the fault of another page.
fn drawn(frame: &Frame) -> Option<&Sequence> {
    let fault = frame.pages.fault.as_ref();
    let goes_with =
        |sequence: &Sequence, fault| sequence.txn.is_some() && fault::is_of(fault, sequence.range);
    frame.sequence.as_ref().filter(|sequence| fault.is_none_or(|fault| goes_with(sequence, fault)))
}

/// Whether a journey is drawn, or the life of a fault.
#[must_use]
pub fn is_journey(frame: &Frame) -> bool {
    drawn(frame).is_some() || frame.pages.fault.is_some()
}

pub fn draw(frame: &Frame, canvas: &mut Canvas) {
    match (drawn(frame), &frame.pages.fault) {
        (Some(sequence), _) => diagram(frame, canvas, sequence),
        (None, Some(fault)) => fault::life(frame, canvas, fault),
        (None, None) => list(frame, canvas),
    }
}

/// Without a journey to draw: why there is none, and the transactions in flight, to choose from.
fn list(frame: &Frame, canvas: &mut Canvas) {
    let mut y = absent(frame, canvas);
    if frame.transactions.is_empty() {
        if frame.selection.txn.is_none() {
            let text = if frame.selection.block.is_some() {
                "No transaction is in flight, and none near here was about what is shown. Enter on a record of the log that \
                 names a transaction draws its journey."
            } else {
                "No transaction yet. Step until a warp or core issues an access: its journey is drawn here."
            };
            canvas.paragraph(1, y, text, Role::Dim);
        }
        return;
    }
    canvas.text(1, y, "In flight; enter draws one:", Role::Dim);
    for txn in &frame.transactions {
        y = y.saturating_add(1);
        let path = frame.info.components.path(txn.agent);
        let text = format!(
            "{:>5}  {path}{}  {} {}  {}",
            txn.number.0,
            by_warp(txn.warp),
            txn.name(),
            txn.range.start,
            counted(age(frame, txn.issued), "cycle")
        );
        canvas.text(1, y, &text, Role::Text);
        let target = Target::Txn { txn: txn.number, block: txn.range.start };
        canvas.item(1, y, text.width() as u16, target);
    }
}

/// Says where the selected transaction is, of which nothing has happened yet or is at hand. Returns the row after it.
fn absent(frame: &Frame, canvas: &mut Canvas) -> u16 {
    let Some(txn) = frame.selection.txn else { return 0 };
    let begins = frame.begins.filter(|begins| *begins > frame.position.event);
    let text = match begins {
        Some(begins) => format!("Transaction {} has not begun: it begins at event {begins} (enter).", txn.0),
        None => format!("Nothing of transaction {} is near here. esc selects none.", txn.0),
    };
    let end = canvas.paragraph(1, 0, &text, Role::Text);
    if let Some(begins) = begins {
        canvas.item(1, 0, canvas.width().saturating_sub(2), Target::Event(begins));
    }
    end + 1
}

/// A lifeline: of a node, or of all nodes of another GPU where there is no room for each.
struct Column {
    name: String,
    nodes: Vec<ComponentId>,
}

/// Where the lifelines stand.
struct Lines {
    columns: Vec<Column>,
    /// Rows of their names: two where they stand close, every other one below.
    heads: u16,
    step: u16,
    /// Columns of the cycle numbers.
    cycles: u16,
}

impl Lines {
    fn x(&self, nth: usize) -> u16 {
        self.cycles + 2 + nth as u16 * self.step
    }

    fn of(&self, node: ComponentId) -> Option<u16> {
        self.columns.iter().position(|column| column.nodes.contains(&node)).map(|nth| self.x(nth))
    }

    /// Whether a step is one within what shares a lifeline.
    fn is_within(&self, step: &SequenceStep) -> bool {
        let shares = |node: &ComponentId| {
            self.columns.iter().any(|all| all.nodes.len() > 1 && all.nodes.contains(node))
        };
        match &step.what {
            StepKind::Message { from, to, .. } => self.of(*from) == self.of(*to),
            StepKind::Transition { at, .. } | StepKind::Hit { at, .. } => shares(at),
            StepKind::Note { .. } => false,
        }
    }

    /// The names of the lifelines, those that are in view.
    fn heads(&self, canvas: &mut Canvas) {
        let room = (self.step * self.heads).saturating_sub(1);
        let short = self.shortening(room);
        // Where the last name of each row ends.
        let mut ends = [0; 2];
        for (nth, column) in self.columns.iter().enumerate() {
            let row = if self.heads == 2 { nth as u16 % 2 } else { 0 };
            let name = fit(&short(&column.name), room);
            if self.x(nth) >= canvas.width() {
                return;
            }
            let x = self.x(nth).saturating_sub(name.width() as u16 / 2);
            let x = x.min(canvas.width().saturating_sub(name.width() as u16)).max(ends[usize::from(row)]);
            let name = fit(&name, canvas.width().saturating_sub(x));
            ends[usize::from(row)] = x + name.width() as u16 + 1;
            canvas.text(x, row, &name, Role::Strong);
            if let Some(first) = column.nodes.first() {
                canvas.item(x, row, name.width() as u16, Target::Component(*first));
            }
        }
    }

    /// How names are shortened so that all fit, each in the same way: a device goes by one name.
    fn shortening(&self, room: u16) -> fn(&str) -> String {
        let ways: [fn(&str) -> String; 3] = [
            |name| name.to_owned(),
            |name| name.replace("gpu", "g"),
            |name| name.replace("gpu", "g").replace(".l1", ""),
        ];
        let fits = |way: &fn(&str) -> String| {
            self.columns.iter().all(|column| way(&column.name).width() <= usize::from(room))
        };
        let [.., shortest] = ways;
        ways.into_iter().find(fits).unwrap_or(shortest)
    }

    /// The lifelines of one row.
    fn draw(&self, canvas: &mut Canvas, y: u16) {
        for nth in 0..self.columns.len() {
            canvas.text(self.x(nth), y, "│", Role::Border);
        }
    }
}

fn diagram(frame: &Frame, canvas: &mut Canvas, sequence: &Sequence) {
    let latest = sequence.steps.iter().map(|step| step.cycle).max().unwrap_or(0);
    let cycles = CYCLES.max(latest.to_string().len() as u16 + 2);
    let width = canvas.width().saturating_sub(cycles + 6);
    let (columns, left_out) = columns(frame, sequence, usize::from(width / CLOSEST) + 1);
    let step = width / (columns.len() as u16).saturating_sub(1).max(1);
    let step = step.clamp(CLOSEST, 18);
    let heads = if step < CLOSE { 2 } else { 1 };
    canvas.stick(heads);
    let lines = Lines { columns, heads, step, cycles };
    lines.heads(canvas);
    let (mut y, mut above) = (heads + u16::from(!sequence.has_beginning), 0);
    let mut shown = None;
    let mut steps = sequence.steps.iter().peekable();
    while let Some(one) = steps.next() {
        if !is_telling(one) || lines.is_within(one) {
            continue;
        }
        lines.draw(canvas, y);
        let new = shown != Some(one.cycle);
        shown = Some(one.cycle);
        row(frame, canvas, y, &lines, one, new);
        above += u64::from(y <= canvas.hidden() + heads && one.is_message());
        // A change of state and the message that follows it at once share a row where both fit.
        if let Some(next) = steps.next_if(|next| !lines.is_within(next) && joins(&lines, one, next)) {
            row(frame, canvas, y, &lines, next, false);
            above += u64::from(y <= canvas.hidden() + heads && next.is_message());
        }
        y += 1;
    }
    lines.draw(canvas, y);
    let y = if left_out.is_empty() { y } else { canvas.paragraph(1, y, &left_out, Role::Dim) };
    footer(frame, canvas, (cycles, y), sequence);
    beginning(frame, canvas, sequence, (above, lines.heads));
}

/// A lifeline for each node, of which so many fit; where they do not, one for all of another GPU, or at last of all others. And
/// what is not drawn so.
fn columns(frame: &Frame, sequence: &Sequence, fits: usize) -> (Vec<Column>, String) {
    let device = |node: ComponentId| frame.info.components.get(node).and_then(Component::gpu);
    let own = sequence.lifelines.first().and_then(|first| device(*first));
    let other = |node: ComponentId| device(node).filter(|gpu| Some(*gpu) != own);
    let each = |node| lifeline_name(frame, sequence, node);
    let whole = |node| other(node).map_or_else(|| each(node), |gpu| format!("gpu{gpu}"));
    let together = |node| other(node).map_or_else(|| each(node), |_| "others".to_owned());
    let mut all = grouped(sequence, &each);
    for names in [&whole as &dyn Fn(ComponentId) -> String, &together] {
        if all.len() > fits {
            all = grouped(sequence, names);
        }
    }
    let shared = all.iter().filter(|column| column.nodes.len() > 1).flat_map(|column| &column.nodes);
    let mut gpus: Vec<_> = shared.filter_map(|node| device(*node)).collect();
    gpus.sort_unstable();
    gpus.dedup();
    let gpus: Vec<_> = gpus.iter().map(|gpu| format!("gpu{gpu}")).collect();
    let left_out = match gpus.as_slice() {
        [] => String::new(),
        some => format!("what goes on within {} is drawn where there is more room", some.join(", ")),
    };
    (all, left_out)
}

/// Nodes of one name share a lifeline.
fn grouped(sequence: &Sequence, name: &dyn Fn(ComponentId) -> String) -> Vec<Column> {
    let mut columns: Vec<Column> = Vec::new();
    for &node in &sequence.lifelines {
        let name = name(node);
        match columns.iter_mut().find(|column| column.name == name) {
            Some(column) => column.nodes.push(node),
            None => columns.push(Column { name, nodes: vec![node] }),
        }
    }
    columns
}

/// Says what comes before the first row in view: messages that are scrolled away, in place of that row, or that the records
/// at hand do not reach back to the beginning. `above` are the messages down to this row.
fn beginning(frame: &Frame, canvas: &mut Canvas, sequence: &Sequence, (above, heads): (u64, u16)) {
    let text = match (canvas.hidden(), frame.begins) {
        (0, _) if sequence.has_beginning => return,
        (0, Some(event)) => format!("it began at event {event}: enter here draws it from there"),
        (0, None) => "it began before the records that are at hand".to_owned(),
        _ if above == 0 => "▲ more before: page up".to_owned(),
        _ => format!("▲ {} before: page up", plural(above, "message")),
    };
    let (width, y) = (canvas.width(), canvas.hidden() + heads);
    canvas.text(0, y, &format!("{:<1$}", fit(&format!(" {text}"), width), usize::from(width)), Role::Hint);
    if let (0, Some(txn), Some(range)) = (canvas.hidden(), sequence.txn, sequence.range) {
        canvas.item(0, y, width, Target::Txn { txn, block: range.start });
    }
}

/// The device is named once: lifelines of the requester's own device go without.
fn lifeline_name(frame: &Frame, sequence: &Sequence, node: ComponentId) -> String {
    let names = &frame.info.components;
    let path = names.path(node);
    let own = sequence.lifelines.first().is_some_and(|first| names.device(*first) == names.device(node));
    match path.split_once('.') {
        Some((_, rest)) if own || names.device(node) == "host" => rest.to_owned(),
        _ => path.to_owned(),
    }
}

/// A hit tells something only where it answers a probe: the others are what the requests are for.
fn is_telling(step: &SequenceStep) -> bool {
    match &step.what {
        StepKind::Hit { action, .. } => matches!(action, Action::Read | Action::Write),
        _ => true,
    }
}

/// Whether a change of state at one node and the message that it sends to the left fit in one row.
fn joins(lines: &Lines, one: &SequenceStep, next: &SequenceStep) -> bool {
    match (&one.what, &next.what) {
        (StepKind::Transition { at, .. } | StepKind::Hit { at, .. }, StepKind::Message { from, to, .. }) => {
            one.cycle == next.cycle && at == from && lines.of(*to) < lines.of(*from)
        }
        _ => false,
    }
}

fn row(frame: &Frame, canvas: &mut Canvas, y: u16, lines: &Lines, step: &SequenceStep, new: bool) {
    let now = frame.now.first().is_some_and(|now| now.id.event == step.id.event);
    if new {
        canvas.text_right(lines.cycles - 1, y, &step.cycle.to_string(), Role::Dim);
    }
    if now {
        canvas.text(0, y, "▸", Role::Changed);
    }
    match &step.what {
        StepKind::Message { from, to, label, data, fate } => {
            if let Some((from, to)) = lines.of(*from).zip(lines.of(*to)) {
                arrow(canvas, y, (from, to), label, *data, *fate);
            }
        }
        StepKind::Transition { at, from, to, .. } => {
            if let Some(x) = lines.of(*at) {
                canvas.text(x + 1, y, &format!("{}>{}", from.letter(), to.letter()), Role::Changed);
            }
        }
        StepKind::Hit { at, state, action } => {
            if let Some(x) = lines.of(*at) {
                let text = format!("{} stays: {}", state.letter(), text::action(*action));
                let room = canvas.width().saturating_sub(x + 1);
                canvas.field(x + 1, y, room, &text, Role::Strong);
            }
        }
        StepKind::Note { at, text: note } => {
            let x = lines.of(*at).unwrap_or(lines.x(0));
            let room = canvas.width().saturating_sub(x + 2);
            canvas.field(x + 1, y, room, &format!(" {note}"), Role::Good);
        }
    }
}

fn arrow(canvas: &mut Canvas, y: u16, (from, to): (u16, u16), label: &str, data: bool, fate: Fate) {
    let (flying, to_right, to_left) = match fate {
        Fate::UnderWay => (true, "…", "…"),
        Fate::Delivered => (false, "▶", "◀"),
        Fate::Lost => (true, "✗", "✗"),
    };
    let (left, right) = (from.min(to), from.max(to));
    let room = right.saturating_sub(left + 1);
    let dash = match (flying, data) {
        (true, _) => "╌",
        (false, true) => "═",
        (false, false) => "─",
    };
    let role = match label.split([' ', '-']).next() {
        Some("probe") => Role::Probe,
        Some("read" | "write" | "fetch" | "forward") => Role::Request,
        _ => Role::Reply,
    };
    canvas.text(left + 1, y, &dash.repeat(usize::from(room)), role);
    // The tip has a column of its own, on the side that the arrow goes to.
    let space = room.saturating_sub(1);
    // Something of a double line stays beside the words: it says that there are data.
    let label = brief(label, space.saturating_sub(u16::from(data && !flying)));
    let start = if to > from { left + 1 } else { left + 2 };
    let at = start + (space.saturating_sub(label.width() as u16)) / 2;
    canvas.text(at, y, &label, role);
    if to > from {
        canvas.text(right - 1, y, to_right, role);
        canvas.text(left, y, "├", Role::Border);
    } else {
        canvas.text(left + 1, y, to_left, role);
        canvas.text(right, y, "┤", Role::Border);
    }
}

/// Words of labels and what stands for them where there is less and less room.
const SHORTER: [&[(&str, &str)]; 4] = [
    &[("probe-", "probe "), ("writeback", "wb"), ("grant-ack", "gr-ack"), (" + data", "+data")],
    &[("grant ", ""), ("answer", "ans")],
    &[("probe read", "prb-r"), ("probe write", "prb-w"), ("read-nc", "rd-nc"), ("forward", "fwd")],
    // The double line says that there are data.
    &[("+data", ""), ("fetch", "fet"), ("write", "wr")],
];

/// A label in the room that an arrow has: whole words first, then short ones, at last the start of it.
fn brief(label: &str, room: u16) -> String {
    let mut short = label.to_owned();
    for words in SHORTER {
        if short.width() <= usize::from(room) {
            return short;
        }
        for (long, brief) in words {
            short = short.replace(long, brief);
        }
    }
    short.chars().take(usize::from(room)).collect()
}

fn footer(frame: &Frame, canvas: &mut Canvas, (x, y): (u16, u16), sequence: &Sequence) {
    let (text, role) = match (&sequence.view, sequence.completed) {
        (_, Some(cycle)) => (format!("done at cycle {}", number::grouped(cycle)), Role::Good),
        (Some(view), None) => {
            let waits = text::waits_at(view, &frame.info.components);
            let waits = waits.map_or_else(String::new, |waits| format!("; {waits}"));
            (format!("{} so far{waits}", counted(age(frame, view.issued), "cycle")), Role::Waiting)
        }
        (None, None) => (String::new(), Role::Dim),
    };
    let room = canvas.width().saturating_sub(x + 1);
    let mut below = y;
    for line in wrap(&text, room.saturating_sub(1)) {
        canvas.field(x, below, room, &format!(" {line}"), role);
        below = below.saturating_add(1);
    }
    // One that began later is another's.
    let begins = sequence.steps.first().map_or(u64::MAX, |step| step.cycle);
    let is_before =
        |fault: &FaultView| fault.steps.first().is_some_and(|step| frame.time.cycle(step.at) <= begins);
    if let Some(fault) = frame.pages.fault.as_ref().filter(|fault| is_before(fault)) {
        fault::before(frame, canvas, below.max(y.saturating_add(1)), fault);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_label_in_little_room_keeps_the_start_of_its_words() {
        assert_eq!(brief("probe-read", 10), "probe-read");
        assert_eq!(brief("probe-read", 8), "prb-r");
        assert_eq!(brief("grant M + data", 9), "M+data");
        assert_eq!(brief("grant M + data", 5), "M");
        assert_eq!(brief("answer + data", 10), "ans+data");
        assert_eq!(brief("answer", 5), "ans");
        assert_eq!(brief("answer", 2), "an");
    }
}
