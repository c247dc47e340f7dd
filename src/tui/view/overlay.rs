//! Boxes over the panes: help, the output of a command, why something waits, the choices of a question.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use crate::debug::frame::wish::Pane;

use super::Seen;
use super::canvas::{self, Canvas, Look};
use super::footer::blank;
use crate::tui::app::{App, Overlay};
use crate::tui::help;
use crate::tui::theme::Role;

/// A line of an overlay: pieces with their roles.
pub type Line = Vec<(String, Role)>;

/// Draws the open overlay, if any.
pub fn draw(app: &App, body: Rect, buffer: &mut Buffer, seen: &mut Seen) {
    let Some(overlay) = &app.overlay else {
        return;
    };
    let most = body.width.saturating_sub(4).min(110);
    let (title, lines) = content(app, overlay, most.saturating_sub(4));
    let height = (lines.len() as u16 + 2).min(body.height);
    let area =
        Rect::new(body.x + (body.width - most) / 2, body.bottom().saturating_sub(height), most, height);
    blank(buffer, area);
    canvas::frame(buffer, area, app.theme.style(Role::Focus));
    let style = app.theme.style(Role::Focus);
    buffer.set_stringn(area.x + 2, area.y, format!(" {title} "), usize::from(most.saturating_sub(4)), style);
    let inner = Rect::new(area.x + 2, area.y + 1, area.width.saturating_sub(4), height.saturating_sub(2));
    let rows = lines.len() as u16;
    let up = app.overlay_up.min(rows.saturating_sub(inner.height));
    seen.overlay = (rows, inner.height);
    let mut hits = Vec::new();
    let look = Look { up, left: 0, cursor: None };
    let selection = &app.frame.selection;
    let mut canvas = Canvas::new(buffer, inner, &app.theme, (Pane::Lesson, look), selection, &mut hits);
    for (row, line) in lines.iter().enumerate() {
        let mut x = 0;
        for (text, role) in line {
            x = canvas.text(x, row as u16, text, *role);
        }
    }
    let style = app.theme.style(Role::Key);
    if up > 0 {
        buffer.set_stringn(area.right() - 1, area.y + 1, "▲", 1, style);
    }
    if rows > up + inner.height {
        buffer.set_stringn(area.right() - 1, area.bottom().saturating_sub(2), "▼", 1, style);
    }
}

fn content(app: &App, overlay: &Overlay, width: u16) -> (&'static str, Vec<Line>) {
    match overlay {
        Overlay::Help => ("keys and commands", help::lines(&app.keymap, &app.frame.info.commands, width)),
        Overlay::Output(lines) => {
            ("output", lines.iter().flat_map(|line| wrapped(line, width, Role::Text)).collect())
        }
        Overlay::Why => ("why it waits", why(app, width)),
        Overlay::Choices(chosen) => ("question", choices(app, *chosen, width)),
    }
}

/// Output keeps its columns unless it is too long.
fn wrapped(text: &str, width: u16, role: Role) -> Vec<Line> {
    if unicode_width::UnicodeWidthStr::width(text) <= usize::from(width) {
        return vec![vec![(text.to_owned(), role)]];
    }
    canvas::wrap(text, width).into_iter().map(|line| vec![(line, role)]).collect()
}

fn why(app: &App, width: u16) -> Vec<Line> {
    let frame = &*app.frame;
    if frame.why.is_empty() {
        let text = "Nothing holds it up: what is selected can go on, or nothing is selected. \
                    Select a warp, a transaction or a node that waits (enter), then press y.";
        return wrapped(text, width, Role::Text);
    }
    let mut lines = Vec::new();
    for (nth, link) in frame.why.iter().enumerate() {
        let since = link.since.map_or(String::new(), |tick| {
            let cycle = frame.time.cycle(tick);
            format!("  since cycle {cycle}, {} cycles ago", frame.position.cycle.saturating_sub(cycle))
        });
        let arrow = if nth == 0 { "  " } else { "→ " };
        let path = frame.info.components.path(link.at);
        let place = if link.text.starts_with(path) { String::new() } else { format!("{path} ") };
        lines.extend(wrapped(&format!("{arrow}{place}{}{since}", link.text), width, Role::Text));
    }
    lines
}

fn choices(app: &App, chosen: usize, width: u16) -> Vec<Line> {
    let question = app.frame.lesson.as_ref().and_then(|lesson| lesson.question.as_ref());
    let Some(question) = question else {
        return Vec::new();
    };
    let mut lines = wrapped(&question.text, width, Role::Strong);
    lines.push(Vec::new());
    for (nth, choice) in question.choices.iter().enumerate() {
        let (mark, role) = if nth == chosen { ("▸", Role::Cursor) } else { (" ", Role::Text) };
        lines.push(vec![(format!("{mark} {} ", nth + 1), Role::Key), (format!(" {choice} "), role)]);
    }
    lines
}
