//! Draws the state of the screen. Nothing here changes anything: a drawing tells what it put where.

mod footer;
mod header;
mod overlay;

use std::cell::Cell;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use crate::debug::frame::Frame;
use crate::debug::frame::wish::Pane;

use super::app::App;
use super::canvas::{self, Canvas, Look};
use super::glyphs;
use super::layout::{self, Placed, SMALLEST};
use super::pane;
use super::seen::{Extent, Seen};
use super::theme::Role;

/// Draws the whole screen.
pub fn draw(app: &App, buffer: &mut Buffer) -> Seen {
    let area = buffer.area;
    let mut seen = Seen::default();
    if area.width < SMALLEST.0 || area.height < SMALLEST.1 {
        too_small(app, area, buffer);
    } else {
        buffer.set_style(area, app.theme.style(Role::Text));
        let header = header::height(app, area);
        let body = Rect::new(area.x, area.y + header, area.width, area.height.saturating_sub(header + 1));
        body_panes(app, body, buffer, &mut seen);
        let shows_lesson = seen.panes.iter().any(|placed| placed.pane == Pane::Lesson);
        header::draw(app, area, shows_lesson, buffer);
        footer::hints(app, Rect::new(area.x, area.bottom() - 1, area.width, 1), buffer);
        let below = footer::line(app, Rect::new(area.x, body.bottom(), area.width, 1), buffer, &mut seen);
        let above = Rect { height: body.height.saturating_sub(below), ..body };
        overlay::draw(app, above, buffer, &mut seen);
    }
    if app.ascii {
        glyphs::translate(buffer);
    }
    seen
}

impl App {
    /// Draws the whole screen, and notes what stands where. A focus on a pane that is not there moves to one that is.
    pub fn draw(&mut self, buffer: &mut Buffer) {
        self.size = (buffer.area.width, buffer.area.height);
        self.seen = draw(self, buffer);
        let has_focus = |placed: &Placed| placed.pane == self.focus;
        if let Some(first) = self.seen.panes.first().filter(|_| !self.seen.panes.iter().any(has_focus)) {
            self.focus = first.pane;
            buffer.reset();
            self.seen = draw(self, buffer);
        }
    }

    /// Brings [`App::seen`] up to date for a screen of this size.
    pub fn see(&mut self, width: u16, height: u16) {
        self.draw(&mut Buffer::empty(Rect::new(0, 0, width, height)));
    }
}

fn too_small(app: &App, area: Rect, buffer: &mut Buffer) {
    let (width, height) = SMALLEST;
    let text = format!(
        "umscope needs a terminal of {width}x{height} or more; this one is {}x{}. Make it larger, or press q to leave.",
        area.width, area.height
    );
    for (row, line) in canvas::wrap(&text, area.width).iter().enumerate() {
        if row < usize::from(area.height) {
            let style = app.theme.style(Role::Warning);
            buffer.set_stringn(area.x, area.y + row as u16, line, usize::from(area.width), style);
        }
    }
}

fn body_panes(app: &App, body: Rect, buffer: &mut Buffer, seen: &mut Seen) {
    let frame = &*app.frame;
    // A layout asks for the same pane more than once, and it is drawn to be measured.
    let known: Cell<[Option<Option<u16>>; Pane::ALL.len()]> = Cell::default();
    let natural = |which: Pane| {
        let mut all = known.get();
        let rows = all.get_mut(which as usize)?.get_or_insert_with(|| pane::natural(which, app, body));
        let rows = *rows;
        known.set(all);
        rows
    };
    seen.panes = if app.zoom {
        vec![Placed { pane: app.focus, area: body }]
    } else {
        let tree = layout::layout(app.layout, body, frame.lesson.is_some(), &natural);
        layout::place(&tree, body, &|which| which == Pane::Lesson && frame.lesson.is_none())
    };
    let border = app.theme.style(Role::Border);
    for placed in &seen.panes {
        canvas::frame(buffer, placed.area, border);
    }
    for placed in seen.panes.clone() {
        title(app, frame, placed, buffer);
        content(app, placed, buffer, seen);
    }
}

fn title(app: &App, frame: &Frame, placed: Placed, buffer: &mut Buffer) {
    let focused = placed.pane == app.focus;
    let role = if focused { Role::Focus } else { Role::Title };
    let mark = if focused { "▸" } else { " " };
    let rest = pane::title(placed.pane, frame);
    let parts = [
        (format!("{mark}{}", placed.pane.name()), app.theme.style(role)),
        (if rest.is_empty() { " ".to_owned() } else { format!(" · {rest} ") }, app.theme.style(Role::Hint)),
    ];
    let room = placed.area.right().saturating_sub(1);
    let mut x = placed.area.x + 1;
    for (text, style) in parts {
        let text = canvas::fit(&text, room.saturating_sub(x));
        buffer.set_stringn(x, placed.area.y, &text, usize::from(room.saturating_sub(x)), style);
        x = x.saturating_add(unicode_width::UnicodeWidthStr::width(text.as_str()) as u16);
    }
}

/// How a pane is looked at, with the scroll kept inside its content: what is not scrolled need not be measured for that.
fn look(app: &App, pane: Pane, inner: Rect) -> Look {
    let state = app.pane(pane);
    let cursor = (pane == app.focus).then_some(state.cursor).flatten();
    if (state.up, state.left) == (0, 0) && !state.seeks && !pane::follows_end(pane, &app.frame) {
        return Look { up: 0, left: 0, cursor };
    }
    let mut nothing = Vec::new();
    let mut scratch = Buffer::empty(Rect::ZERO);
    let mut measure =
        Canvas::measuring(&mut scratch, inner, &app.theme, pane, &app.frame.selection, &mut nothing);
    pane::draw(pane, app, &mut measure);
    let extent = measure.extent();
    let most = extent.1.saturating_sub(inner.height);
    let follows = pane::follows_end(pane, &app.frame) && !state.held;
    let sought = measure.chosen().filter(|row| {
        let is_seen = (state.up..state.up.saturating_add(inner.height)).contains(row);
        state.seeks && !is_seen
    });
    let up = if follows { most } else { sought.unwrap_or(state.up).min(most) };
    let left = state.left.min(extent.0.saturating_sub(inner.width));
    Look { up, left, cursor }
}

fn content(app: &App, placed: Placed, buffer: &mut Buffer, seen: &mut Seen) {
    let area = placed.area;
    if area.width < 3 || area.height < 3 {
        return;
    }
    let inner = Rect::new(area.x + 1, area.y + 1, area.width - 2, area.height - 2);
    let look = look(app, placed.pane, inner);
    let mut canvas =
        Canvas::new(buffer, inner, &app.theme, (placed.pane, look), &app.frame.selection, &mut seen.hits);
    // Only the one that is scrolled has to know how far it goes.
    if placed.pane != app.focus {
        canvas.end_at(0);
    }
    pane::draw(placed.pane, app, &mut canvas);
    let extent = canvas.extent();
    seen.extents.push(Extent { pane: placed.pane, rows: extent.1, up: look.up, left: look.left });
    more(app, area, extent.1, look.up, buffer);
}

/// Shows on the right border that there is more above or below.
fn more(app: &App, area: Rect, rows: u16, up: u16, buffer: &mut Buffer) {
    let style = app.theme.style(Role::Key);
    let x = area.right() - 1;
    if up > 0 {
        buffer.set_stringn(x, area.y + 1, "▲", 1, style);
    }
    if rows > up.saturating_add(area.height - 2) {
        buffer.set_stringn(x, area.bottom() - 2, "▼", 1, style);
    }
}
