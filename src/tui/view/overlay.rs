//! Boxes over the panes: help, the output of a command, why something waits, the choices of a question.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use crate::debug::frame::wish::Pane;

use super::Seen;
use super::footer::blank;
use crate::report::number::{counted, grouped};
use crate::tui::app::{App, Overlay};
use crate::tui::canvas::{self, Canvas, Look};
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
    let up = in_view(&lines, inner.height).unwrap_or(app.overlay_up).min(rows.saturating_sub(inner.height));
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

/// How many lines are scrolled away so that the one under the cursor, if there is one, is in view as a whole.
fn in_view(lines: &[Line], height: u16) -> Option<u16> {
    let has_cursor = |line: &Line| line.iter().any(|(_, role)| *role == Role::Cursor);
    let first = lines.iter().position(has_cursor)?;
    let last = lines.iter().rposition(has_cursor)?;
    Some((last + 1).saturating_sub(usize::from(height)).min(first) as u16)
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
    let (mark, body) = text.split_at(hanging(text));
    let (mark, body) = if mark.len() * 2 > usize::from(width) { ("", text) } else { (mark, body) };
    let lines = canvas::wrap(body, width - mark.len() as u16);
    let head = |row: usize| if row == 0 { mark.to_owned() } else { " ".repeat(mark.len()) };
    lines.into_iter().enumerate().map(|(row, line)| vec![(head(row) + &line, role)]).collect()
}

/// Bytes before the text of a line: what it is indented by, and its number in a list.
fn hanging(text: &str) -> usize {
    let spaces = |text: &str| text.len() - text.trim_start_matches(' ').len();
    let indent = spaces(text);
    let body = &text[indent..];
    let digits = body.len() - body.trim_start_matches(|letter: char| letter.is_ascii_digit()).len();
    let gap = spaces(&body[digits..]);
    if digits > 0 && gap > 0 { indent + digits + gap } else { indent }
}

fn why(app: &App, width: u16) -> Vec<Line> {
    let frame = &*app.frame;
    if frame.why.links.is_empty() {
        let text = "Nothing holds it up: what is selected can go on, or nothing is selected. \
                    Select a warp, a transaction or a node that waits (enter), then press y.";
        return wrapped(text, width, Role::Text);
    }
    let mut lines = wrapped(&format!("{}:", frame.why.head), width, Role::Strong);
    for (nth, link) in frame.why.links.iter().enumerate() {
        let since = link.since.map_or(String::new(), |tick| {
            let cycle = frame.time.cycle(tick);
            let age = frame.position.cycle.saturating_sub(cycle);
            format!("  since cycle {}, {} ago", grouped(cycle), counted(age, "cycle"))
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
        // Whole: choices may differ in their last words only.
        for (row, line) in canvas::wrap(choice, width.saturating_sub(6)).into_iter().enumerate() {
            let label = if row == 0 { format!("{mark} {} ", nth + 1) } else { " ".repeat(4) };
            lines.push(vec![(label, Role::Key), (format!(" {line} "), role)]);
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sentences_of_a_list_hang_beside_their_numbers() {
        let lines = |text: &str, width| -> Vec<String> {
            wrapped(text, width, Role::Text).concat().into_iter().map(|(text, _)| text).collect()
        };
        assert_eq!(lines("  12  it waits for that", 14), ["  12  it waits", "      for that"]);
        assert_eq!(lines("  it waits for that", 12), ["  it waits", "  for that"]);
        assert_eq!(lines("12 it waits", 40), ["12 it waits"]);
        assert_eq!(lines("1255 it waits", 6), ["1255", "it", "waits"], "the mark has not half of the room");
    }
}
