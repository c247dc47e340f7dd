//! Breakpoints, watchpoints, displays and bookmarks.

use crate::debug::frame::Frame;
use crate::debug::frame::session::MarkKind;

use crate::tui::canvas::Canvas;
use crate::tui::target::Target;
use crate::tui::theme::Role;

pub fn draw(frame: &Frame, canvas: &mut Canvas) {
    let mut y = 0;
    for row in &frame.breakpoints {
        let role = if row.enabled { Role::Text } else { Role::Dim };
        let mut x = canvas.text_right(5, y, &row.number.to_string(), role) + 1;
        x = canvas.field(x, y, 8, &row.kind, Role::Key) + 1;
        let off = if row.enabled { "" } else { "  (disabled)" };
        let hits = match row.hits {
            0 => String::new(),
            1 => "  hit once".into(),
            hits => format!("  hit {hits} times"),
        };
        let value = row.value.as_deref().map_or(String::new(), |value| format!(" = {value}"));
        let room = canvas.width().saturating_sub(x + 1);
        canvas.field(x, y, room, &format!("{}{value}{hits}{off}", row.text), role);
        canvas.item(1, y, canvas.width().saturating_sub(2), Target::Line(row.number));
        y += 1;
    }
    let bookmarks = frame.marks.iter().filter(|mark| mark.kind == MarkKind::Bookmark);
    for mark in bookmarks {
        let name = mark.name.as_deref().unwrap_or("-");
        let text = format!("bookmark {name} at event {}", mark.event);
        canvas.text(6, y, &text, Role::Mark);
        canvas.item(6, y, text.len() as u16, Target::Event(mark.event));
        y += 1;
    }
    if y == 0 {
        canvas.paragraph(
            1,
            0,
            "No breakpoints. b breaks on what is selected, w watches it, m a marks this moment; :break QUERY for more.",
            Role::Dim,
        );
    }
}
