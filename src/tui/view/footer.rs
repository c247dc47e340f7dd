//! The bottom line with the hints of the focused pane, and the line above it for the prompt and short messages.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use unicode_width::UnicodeWidthStr;

use super::Seen;
use crate::debug::frame::session::RunState;
use crate::tui::action::Action;
use crate::tui::app::{App, Overlay};
use crate::tui::canvas::{fit, wrap};
use crate::tui::keymap::{Binding, Do, Key};
use crate::tui::theme::{self, Role};
use crate::tui::words;

/// Draws the keys that matter now.
pub fn hints(app: &App, line: Rect, buffer: &mut Buffer) {
    let idle = app.prompt.is_none() && app.overlay.is_none();
    let end = if idle { last_hints(app, line, buffer) } else { line.right() };
    let mut x = line.x + 1;
    let mut hint = |key: &str, text: &str| {
        let width = (key.width() + text.width() + 3) as u16;
        if x.saturating_add(width) > end.saturating_add(1) {
            return;
        }
        let (after, _) = buffer.set_stringn(x, line.y, key, usize::from(width), app.theme.style(Role::Key));
        let (after, _) = buffer.set_stringn(
            after + 1,
            line.y,
            text,
            usize::from(line.right().saturating_sub(after + 1)),
            app.theme.style(Role::Hint),
        );
        x = after + 2;
    };
    match (&app.prompt, &app.overlay) {
        (Some(prompt), _) => prompt.hints().iter().for_each(|(key, text)| hint(key, text)),
        (None, Some(Overlay::Choices(_))) => CHOOSING.iter().for_each(|(key, text)| hint(key, text)),
        (None, Some(_)) => READING.iter().for_each(|(key, text)| hint(key, text)),
        (None, None) => {
            moment(app, &mut hint);
            focused(app, &mut hint);
        }
    }
}

/// The keys of a question with answers to choose from.
const CHOOSING: [(&str, &str); 4] =
    [("1-9", "answer"), ("enter", "answer"), ("r", "reveal"), ("esc", "not now")];

/// The keys of an overlay that is read.
const READING: [(&str, &str); 4] = [("esc", "close"), ("j k", "scroll"), ("?", "keys"), ("q", "quit")];

/// Whether the machine plays, which one key ends.
fn plays(app: &App) -> bool {
    matches!(app.frame.run, RunState::Running { events_per_second: Some(_) })
}

/// What this moment asks for: to stop what runs, why nothing moves, the rest of keys that are begun, an answer.
fn moment(app: &App, hint: &mut impl FnMut(&str, &str)) {
    let moves = !app.frame.run.is_at_rest();
    if let Some(key) = key_of(app, &Do::Action(Action::Interrupt)).filter(|_| moves) {
        hint(key, "stop");
    }
    if let Some(key) = key_of(app, &Do::Action(Action::Play)).filter(|_| plays(app)) {
        hint(key, "pause");
    }
    let is_stuck = app.frame.deadlock.is_some() || app.frame.run == RunState::Stuck;
    if let Some(key) = app.keymap.key_of_command(words::DEADLOCK).filter(|_| is_stuck) {
        hint(key, "deadlock");
    }
    if let Some(pending) = pending(app) {
        hint(&pending, "...");
    }
    let question = app.frame.lesson.as_ref().and_then(|lesson| lesson.question.as_ref());
    let asks = question.is_some_and(|question| question.predicted.is_none() && question.revealed.is_none());
    let answers = app.keymap.hints(app.focus).find(|binding| asks && is_predict(binding));
    if let Some(binding) = answers {
        hint(&binding.name, "answer");
    }
}

/// What the focused pane offers, besides.
fn focused(app: &App, hint: &mut impl FnMut(&str, &str)) {
    let is_told = |binding: &Binding| plays(app) && binding.does == Do::Action(Action::Play);
    for binding in app.keymap.hints(app.focus) {
        // Back to an effect leads only where a cause was gone to.
        let is_vain = binding.does == Do::Action(Action::Uncause) && app.effects.is_empty();
        if !(is_predict(binding) || is_last(binding) || is_told(binding) || is_vain) {
            hint(&binding.name, binding.hint.as_deref().unwrap_or_default());
        }
    }
}

/// Answering is a hint only where something is asked.
fn is_predict(binding: &Binding) -> bool {
    binding.hint.as_deref() == Some("predict")
}

/// The key that does this.
pub(super) fn key_of<'a>(app: &'a App, does: &Do) -> Option<&'a str> {
    app.keymap.bindings.iter().find(|binding| binding.does == *does).map(|binding| binding.name.as_str())
}

/// Commands, help and leaving are always in sight, on the right.
fn is_last(binding: &Binding) -> bool {
    matches!(binding.does, Do::Action(Action::Prompt | Action::Help | Action::Quit))
}

/// Draws them and returns the column where they begin.
fn last_hints(app: &App, line: Rect, buffer: &mut Buffer) -> u16 {
    let mut end = line.right();
    let all: Vec<&Binding> = app.keymap.hints(app.focus).filter(|binding| is_last(binding)).collect();
    for binding in all.into_iter().rev() {
        let text = binding.hint.as_deref().unwrap_or_default();
        let width = (binding.name.width() + text.width() + 2) as u16;
        let Some(x) = end.checked_sub(width).filter(|x| *x > line.x) else {
            break;
        };
        let key = app.theme.style(Role::Key);
        let (after, _) = buffer.set_stringn(x, line.y, &binding.name, usize::from(width), key);
        buffer.set_stringn(after + 1, line.y, text, usize::from(width), app.theme.style(Role::Hint));
        end = x.saturating_sub(1);
    }
    end
}

fn pending(app: &App) -> Option<String> {
    let mut text = app.pending.count.map(|count| count.to_string()).unwrap_or_default();
    for Key { code, .. } in &app.pending.keys {
        text.push_str(&code.to_string());
    }
    if app.pending.letter.is_some() {
        text.push_str("a letter");
    }
    (!text.is_empty()).then_some(text)
}

/// Draws the prompt or the message over the last lines of the body. Returns how many it takes.
pub fn line(app: &App, hints: Rect, buffer: &mut Buffer, seen: &mut Seen) -> u16 {
    let width = hints.width;
    if let Some(prompt) = &app.prompt {
        let rows = prompt.below();
        let height = rows.len() as u16 + 1;
        let top = hints.y.saturating_sub(height);
        blank(buffer, Rect::new(hints.x, top, width, height));
        for (row, (text, role)) in rows.iter().enumerate() {
            let y = top + 1 + row as u16;
            buffer.set_stringn(hints.x, y, fit(text, width), usize::from(width), app.theme.style(*role));
        }
        let (text, column) = prompt.shown(width.saturating_sub(1));
        buffer.set_stringn(hints.x, top, &text, usize::from(width), app.theme.style(Role::Prompt));
        seen.cursor = Some((hints.x + column.min(width.saturating_sub(1)), top));
        return height;
    }
    let Some(message) = &app.message else {
        return 0;
    };
    let role = theme::tone(message.tone);
    let room = width.saturating_sub(2);
    let long = |line: &String| line.width() > usize::from(room);
    let lines =
        message.lines.iter().flat_map(|line| if long(line) { wrap(line, room) } else { vec![line.clone()] });
    let lines: Vec<String> = lines.collect();
    let height = (lines.len() as u16).min(hints.y.saturating_sub(1));
    let top = hints.y - height;
    blank(buffer, Rect::new(hints.x, top, width, height));
    for (row, text) in lines.iter().take(usize::from(height)).enumerate() {
        let style = app.theme.style(role);
        buffer.set_stringn(hints.x + 1, top + row as u16, text, usize::from(width) - 1, style);
    }
    height
}

/// Clears what was drawn beneath.
pub fn blank(buffer: &mut Buffer, area: Rect) {
    for y in area.y..area.bottom() {
        for x in area.x..area.right() {
            if let Some(cell) = buffer.cell_mut((x, y)) {
                cell.reset();
            }
        }
    }
}
