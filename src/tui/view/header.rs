//! The first lines: what is open, where we are, what just happened and why.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use unicode_width::UnicodeWidthStr;

use crate::debug::frame::Frame;
use crate::debug::frame::session::{BreakpointRow, Lesson, RunState, Stop, Tone};

use super::footer::key_of;
use crate::report::number::grouped;
use crate::tui::action::Action;
use crate::tui::app::App;
use crate::tui::canvas::{fit, fit_end, wrap};
use crate::tui::keymap::Do;
use crate::tui::pane;
use crate::tui::theme::{self, Role};
use crate::tui::words::with_keys;

/// Rows of what is always there.
fn rows(area: Rect) -> u16 {
    if area.height >= 34 { 3 } else { 2 }
}

/// Rows of the header.
#[must_use]
pub fn height(app: &App, area: Rect) -> u16 {
    rows(area) + u16::from(displays(&app.frame).is_some())
}

/// Draws it. A lesson that no pane shows says here what it has to say.
pub fn draw(app: &App, area: Rect, shows_lesson: bool, buffer: &mut Buffer) {
    let rows = rows(area);
    position(app, Rect { height: 1, ..area }, buffer);
    let mut line = |row, sentence: &Sentence| {
        sentence.draw(app, Rect::new(area.x, area.y + row, area.width, 1), buffer);
    };
    let mut told = sentences(app, rows == 2);
    if let Some(lesson) = unseen_lesson(app).filter(|_| !shows_lesson) {
        told.retain(|sentence| sentence.mark != lesson.mark);
        told.insert(0, lesson);
    }
    if app.frame.stop.as_ref().is_some_and(|stop| stop.brief.is_none()) {
        fold(&mut told, rows - 1, area.width);
    }
    for (row, sentence) in (1..rows).zip(&told) {
        line(row, sentence);
    }
    if let Some(displays) = &displays(&app.frame) {
        line(rows, displays);
    }
}

/// What the lesson says where it has stopped the run, and the key that shows all of it.
fn unseen_lesson(app: &App) -> Option<Sentence> {
    let stop = app.frame.stop.as_ref().filter(|stop| stop.brief.as_deref() == Some("lesson"))?;
    let key = key_of(app, &Do::Action(Action::Layout9));
    let end = key.map_or_else(String::new, |key| format!("  {key}: all of it"));
    Some(Sentence { end, ..Sentence::new(STOPPED, &*stop.text, theme::tone(stop.tone)) })
}

/// The mark of why a run has stopped.
const STOPPED: &str = "■";

/// Shows all of a reason that is told nowhere else, over two lines where it comes first, or else how to see it.
fn fold(told: &mut Vec<Sentence>, lines: u16, width: u16) {
    let room = width.saturating_sub(4);
    let is_cut = |one: &Sentence| one.mark == STOPPED && one.text.width() > usize::from(room);
    let Some(place) = told.iter().position(is_cut) else { return };
    let Some(stop) = told.get_mut(place) else { return };
    let parts = wrap(&stop.text, room);
    let rest = parts.iter().skip(1).map(|part| part.trim()).collect::<Vec<_>>().join(" ");
    let first = parts.into_iter().next().filter(|_| place == 0 && lines > 1);
    let Some(first) = first else {
        stop.end = ALL_OF_IT.to_owned();
        return;
    };
    let end = if rest.width() > usize::from(room) { ALL_OF_IT } else { "" };
    let second = Sentence { end: end.to_owned(), ..Sentence::new(" ", rest, stop.role) };
    stop.text = first;
    told.insert(1, second);
}

/// Where a reason is told that the header has no room for.
const ALL_OF_IT: &str = "  :info stop: all of it";

/// What shall be seen at every stop, on a line of its own.
fn displays(frame: &Frame) -> Option<Sentence> {
    let displays = frame.breakpoints.iter().filter(|row| row.kind == "display");
    let value = |row: &BreakpointRow| row.value.as_ref().map_or(String::new(), |value| format!(" = {value}"));
    let each: Vec<_> = displays.map(|row| format!("{}: {}{}", row.number, row.text, value(row))).collect();
    (!each.is_empty()).then(|| Sentence::new("=", each.join("   "), Role::Strong))
}

fn put(buffer: &mut Buffer, line: Rect, x: u16, text: &str, style: ratatui::style::Style) -> u16 {
    if x >= line.width {
        return x;
    }
    let (end, _) = buffer.set_stringn(line.x + x, line.y, text, usize::from(line.width - x), style);
    end - line.x
}

/// Columns of a machine's name that still tell something, and those that are left to the name of a scenario.
const MACHINE: usize = 16;
const SHORTEST: usize = 16;

fn position(app: &App, line: Rect, buffer: &mut Buffer) {
    let frame = &*app.frame;
    let (mark, state, role) = run_state(app);
    let at = frame.position;
    let end = if at.ended { format!(" of {}", grouped(at.known)) } else { String::new() };
    let place = format!("event {}{end} · cycle {}", grouped(at.event), grouped(at.cycle));
    let exact = format!(" ({})", time(at.nanoseconds));
    let machine = match (&*frame.info.protocol, &*frame.info.machine) {
        ("", machine) => machine.to_owned(),
        (protocol, "") => protocol.to_uppercase(),
        (protocol, machine) => format!("{} · {machine}", protocol.to_uppercase()),
    };
    let fixed = mark.width() + state.width() + place.width() + exact.width() + 12;
    let room = usize::from(line.width).saturating_sub(fixed);
    let name =
        if frame.info.scenario.is_empty() { "umscope".to_owned() } else { frame.info.scenario.clone() };
    let branch = frame.branch.map_or(String::new(), |branch| {
        format!(" [branch {} from event {}]", branch.number, grouped(branch.event))
    });
    // The name makes some room for the machine: a lesson's tells less than where it is.
    let beside = branch.width() + machine.width().min(MACHINE) + 3;
    let name = fit_end(&name, room.saturating_sub(beside).clamp(SHORTEST, 40) as u16);
    let x = put(buffer, line, 1, &name, app.theme.style(Role::Header));
    let mut x = put(buffer, line, x, &branch, app.theme.style(Role::Warning));
    x = put(buffer, line, x + 2, &format!("{mark} {state}"), app.theme.style(role));
    // Part of a number would be another number.
    let place = fit(&place, line.width.saturating_sub(x + 2));
    x = put(buffer, line, x + 2, &place, app.theme.style(Role::Strong));
    if usize::from(line.width.saturating_sub(x)) >= exact.width() {
        x = put(buffer, line, x, &exact, app.theme.style(Role::Strong));
    }
    let left = line.width.saturating_sub(x + 3);
    let machine = fit(&machine, left);
    let width = machine.width() as u16;
    if usize::from(width) >= MACHINE.min(frame.info.machine.width()) && width > 0 {
        put(buffer, line, line.width - width - 1, &machine, app.theme.style(Role::Dim));
    }
}

fn run_state(app: &App) -> (&'static str, String, Role) {
    let frame = &*app.frame;
    if app.works && frame.run.is_at_rest() {
        // A command that looks for something, and moves nothing.
        return ("●", "at work".into(), Role::Warning);
    }
    match &frame.run {
        RunState::Paused => ("‖", "paused".into(), Role::Strong),
        RunState::Running { events_per_second: None } => ("▶", "running".into(), Role::Good),
        RunState::Running { events_per_second: Some(speed) } => {
            ("▶", format!("playing {speed}/s"), Role::Good)
        }
        RunState::Busy { what, done } => {
            let done = done.map_or(String::new(), |done| format!(" {:.0} %", done.clamp(0.0, 1.0) * 100.0));
            ("●", format!("{what}{done}"), Role::Warning)
        }
        RunState::Finished => ("■", "finished".into(), Role::Good),
        RunState::Stuck => {
            // What a bug comes to is for the user to find.
            let is_hunted = frame.lesson.as_ref().is_some_and(Lesson::is_hunted);
            let knot = frame.deadlock.as_ref().filter(|_| !is_hunted);
            let verdict = knot.map_or("STUCK", |knot| knot.verdict);
            ("■", verdict.to_owned(), Role::Bad)
        }
    }
}

/// A line of the header.
#[derive(Clone, Debug)]
struct Sentence {
    mark: &'static str,
    text: String,
    /// Shown even if the text must be cut.
    end: String,
    role: Role,
    /// Follows on the same line, if there is room.
    next: Option<Box<Self>>,
}

/// Columns in which a second sentence on a line still tells something.
const WORTH: u16 = 24;

impl Sentence {
    fn new(mark: &'static str, text: impl Into<String>, role: Role) -> Self {
        Self { mark, text: text.into(), end: String::new(), role, next: None }
    }

    /// Draws it, and on what is left of the line the next.
    fn draw(&self, app: &App, line: Rect, buffer: &mut Buffer) {
        let style = app.theme.style(self.role);
        let x = put(buffer, line, 1, self.mark, style);
        let room = line.width.saturating_sub(x + 2 + self.end.width() as u16);
        let x = put(buffer, line, x + 1, &fit(&self.text, room), style);
        let x = put(buffer, line, x, &self.end, app.theme.style(Role::Hint));
        let left = line.width.saturating_sub(x + 1);
        if let Some(next) = self.next.as_ref().filter(|_| left >= WORTH) {
            next.draw(app, Rect { x: line.x + x + 1, width: left, ..line }, buffer);
        }
    }
}

/// What happened, in the order of telling: why it stopped, what the event did, what the scenario is about. On a single
/// line the reason of the stop comes first, for it is told nowhere else; the rest gets what is left.
fn sentences(app: &App, single: bool) -> Vec<Sentence> {
    let frame = &*app.frame;
    let stop = frame.stop.as_ref().filter(|stop| !stop.text.is_empty());
    let why = stop.map(|stop| Sentence::new(STOPPED, reason(app, stop, single), theme::tone(stop.tone)));
    let mut lines: Vec<_> = why.into_iter().chain(event(frame)).collect();
    if single {
        let next = lines.drain(1.min(lines.len())..).next();
        if let Some(first) = lines.first_mut() {
            first.next = next.map(|next| Box::new(Sentence { end: String::new(), ..next }));
        }
    } else if stop.is_some_and(|stop| stop.tone != Tone::Bad) {
        lines.reverse();
    }
    if !frame.info.title.is_empty() {
        let source = &frame.info.source;
        let source = if source.is_empty() { String::new() } else { format!("  ({source})") };
        lines.push(Sentence::new(" ", format!("{}{source}", frame.info.title), Role::Dim));
    }
    lines
}

/// Why it stopped: at the end of a lesson, how what was expected stands.
fn reason(app: &App, stop: &Stop, single: bool) -> String {
    let frame = &*app.frame;
    let is_over = match stop.brief.as_deref() {
        Some("end") => true,
        Some("lesson") => single && frame.run == RunState::Finished,
        _ => false,
    };
    if let Some(outcome) = pane::outcome(frame).filter(|_| is_over) {
        return format!("end of the run: {outcome}");
    }
    with_keys(stop.brief.as_ref().filter(|_| single).unwrap_or(&stop.text), &app.keymap)
}

/// What the last event did and why; before the first one, how to go on.
fn event(frame: &Frame) -> Option<Sentence> {
    if !frame.now.is_empty() {
        let because = frame.now.iter().find_map(|happening| happening.because);
        let because = because.map_or(String::new(), |event| format!("  ← event {event} (x)"));
        return Some(Sentence { end: because, ..Sentence::new("▸", story(frame), Role::Changed) });
    }
    let text = match (frame.position.event, &frame.run) {
        (0, _) => "Nothing has happened yet. s one event, t next change of state, c go on",
        (_, RunState::Running { .. } | RunState::Busy { .. }) => return None,
        _ => frame.unrecorded.as_deref()?,
    };
    Some(Sentence::new("▸", text, Role::Hint))
}

/// What the last event did, each component named once.
fn story(frame: &Frame) -> String {
    let names = &frame.info.components;
    let mut text = String::new();
    let mut who = None;
    for happening in frame.now.iter().take(4) {
        if who == Some(happening.at) {
            text.push_str(", ");
        } else {
            text.push_str(if text.is_empty() { "" } else { "; " });
            if let Some(at) = happening.at {
                text.push_str(names.path(at));
                text.push(' ');
            }
            who = Some(happening.at);
        }
        text.push_str(&happening.text);
    }
    text
}

/// A time as people say it.
#[must_use]
pub fn time(nanoseconds: f64) -> String {
    match nanoseconds {
        // Cycles that have begun are not counted either.
        n if n < 10_000.0 => format!("{} ns", n.floor()),
        n if n < 10_000_000.0 => format!("{:.1} us", n / 1e3),
        n => format!("{:.1} ms", n / 1e6),
    }
}
