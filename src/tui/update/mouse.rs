//! The mouse: a click focuses a pane and selects what is there, the wheel scrolls.

use crossterm::event::{MouseButton, MouseEvent, MouseEventKind};
use ratatui::layout::{Position, Rect};

use crate::tui::action::Action;
use crate::tui::app::{App, Overlay};

impl App {
    pub(super) fn mouse(&mut self, mouse: MouseEvent) {
        let at = Position::new(mouse.column, mouse.row);
        match mouse.kind {
            MouseEventKind::Down(MouseButton::Left) => self.click(at),
            MouseEventKind::ScrollUp => self.wheel(at, Action::Up),
            MouseEventKind::ScrollDown => self.wheel(at, Action::Down),
            _ => {}
        }
    }

    fn pane_at(&mut self, at: Position) -> bool {
        // Neighbours share a border, which belongs to neither.
        let inside = |area: Rect| {
            at.x > area.x && at.x + 1 < area.right() && at.y >= area.y && at.y + 1 < area.bottom()
        };
        let placed = self.seen.panes.iter().find(|placed| inside(placed.area));
        if let Some(placed) = placed {
            self.focus = placed.pane;
        }
        placed.is_some()
    }

    fn click(&mut self, at: Position) {
        if self.overlay.is_some() {
            if !matches!(self.overlay, Some(Overlay::Choices(_))) {
                self.overlay = None;
            }
            return;
        }
        self.pane_at(at);
        let hit = self.seen.hits.iter().rev().find(|hit| hit.area.contains(at)).copied();
        if let Some(hit) = hit {
            self.focus = hit.pane;
            self.put_cursor(hit);
            self.choose(hit.target);
        }
    }

    fn wheel(&mut self, at: Position, towards: Action) {
        if self.overlay.is_some() {
            (0..3).for_each(|_| self.act(towards, None));
        } else if self.pane_at(at) {
            self.scroll(if towards == Action::Up { -3 } else { 3 });
        }
    }
}
