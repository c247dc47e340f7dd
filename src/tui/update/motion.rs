//! Moving the cursor between the items of a pane, and scrolling when there is no further item in view.

use ratatui::layout::Rect;

use crate::debug::frame::wish::Pane;

use crate::tui::action::Action;
use crate::tui::app::App;
use crate::tui::seen::Hit;
use crate::tui::target::Target;

/// Records that the log can be scrolled back.
const LOG_ROWS: isize = 100_000;

impl App {
    pub(super) fn move_by(&mut self, action: Action, count: u32) {
        for _ in 0..count.min(1000) {
            self.move_once(action);
        }
    }

    fn move_once(&mut self, action: Action) {
        match action {
            Action::Up | Action::Down | Action::Left | Action::Right => self.step_cursor(action),
            Action::PageUp => self.turn_page(-1),
            Action::PageDown => self.turn_page(1),
            Action::Top => self.scroll_to_end(action),
            Action::Bottom => self.scroll_to_end(action),
            _ => {}
        }
    }

    /// Scrolls the focused pane by a page. Where that is in view as a whole, what the lesson says is scrolled.
    fn turn_page(&mut self, way: isize) {
        let is_whole = self.focus != Pane::Log && self.most(self.focus) == 0;
        let pane = if is_whole && self.most(Pane::Lesson) > 0 { Pane::Lesson } else { self.focus };
        let rows = isize::try_from(self.height(pane).saturating_sub(1)).unwrap_or(1).max(1);
        self.scroll_pane(pane, way * rows);
    }

    /// The rows of a pane in view.
    fn height(&self, pane: Pane) -> u16 {
        let placed = self.seen.panes.iter().find(|placed| placed.pane == pane);
        placed.map_or(0, |placed| placed.area.height.saturating_sub(2))
    }

    /// How far a pane can be scrolled.
    fn most(&self, pane: Pane) -> u16 {
        let seen = self.seen.extents.iter().find(|seen| seen.pane == pane);
        seen.map_or(0, |seen| seen.rows.saturating_sub(self.height(pane)))
    }

    /// To the nearest item in this direction; without one, the pane scrolls.
    fn step_cursor(&mut self, action: Action) {
        let hits: Vec<Hit> = self.seen.hits.iter().filter(|hit| hit.pane == self.focus).copied().collect();
        let state = self.pane(self.focus);
        let from = |hit: &&Hit| {
            let (x, y) = state.at;
            u32::from(hit.area.y.abs_diff(y)) * 256 + u32::from(hit.area.x.abs_diff(x))
        };
        let current =
            state.cursor.and_then(|cursor| hits.iter().filter(|hit| hit.target == cursor).min_by_key(from));
        let here = || self.here_on_timeline(&hits);
        let Some(current) = current.or_else(here) else {
            let first = match action {
                Action::Up => hits.last(),
                _ => hits.first(),
            };
            match first {
                Some(hit) => self.put_cursor(*hit),
                None => self.scroll_towards(action),
            }
            return;
        };
        let next = hits
            .iter()
            .filter_map(|hit| distance(current.area, hit.area, action).map(|far| (far, *hit)))
            .min_by_key(|(far, _)| *far);
        match next {
            Some((_, hit)) => self.put_cursor(hit),
            None => self.scroll_towards(action),
        }
    }

    /// The place on the timeline of the event that the frame shows, where that has the focus.
    fn here_on_timeline<'a>(&self, hits: &'a [Hit]) -> Option<&'a Hit> {
        let here = self.frame.position.event;
        let far = |hit: &&Hit| match hit.target {
            Target::Event(event) => event.abs_diff(here),
            _ => u64::MAX,
        };
        hits.iter().filter(|_| self.focus == Pane::Timeline).min_by_key(far)
    }

    pub(super) fn put_cursor(&mut self, hit: Hit) {
        if let Some(state) = self.pane_mut() {
            (state.cursor, state.at) = (Some(hit.target), (hit.area.x, hit.area.y));
        }
    }

    /// To the top or the bottom; in a pane that is in view as a whole, to the first or last item.
    fn scroll_to_end(&mut self, action: Action) {
        let is_top = action == Action::Top;
        let before = self.pane(self.focus).up;
        self.scroll(if is_top { isize::MIN / 2 } else { isize::MAX / 2 });
        let mut hits = self.seen.hits.iter().filter(|hit| hit.pane == self.focus);
        let hit = if is_top { hits.next() } else { hits.next_back() }.copied();
        if let Some(hit) = hit.filter(|_| self.focus != Pane::Log && self.pane(self.focus).up == before) {
            self.put_cursor(hit);
        }
    }

    fn scroll_towards(&mut self, action: Action) {
        match action {
            Action::Up => self.scroll(-1),
            Action::Down => self.scroll(1),
            Action::Left => self.scroll_sideways(-4),
            _ => self.scroll_sideways(4),
        }
    }

    /// Scrolls the focused pane by rows.
    pub(super) fn scroll(&mut self, rows: isize) {
        self.scroll_pane(self.focus, rows);
    }

    /// Scrolls a pane by rows. The log is scrolled by the engine, which has the other records.
    fn scroll_pane(&mut self, pane: Pane, rows: isize) {
        if pane == Pane::Log {
            // From where the log stands: the engine stops at its first record.
            let up = isize::try_from(self.frame.log.after).unwrap_or(0).saturating_sub(rows);
            self.log_up = up.clamp(0, LOG_ROWS) as usize;
            return;
        }
        let Some(seen) = self.seen.extents.iter().find(|seen| seen.pane == pane).copied() else {
            return;
        };
        let most = i64::from(self.most(pane));
        let target = i64::from(seen.up).saturating_add(rows as i64).clamp(0, most);
        if let Some(state) = self.panes.get_mut(pane as usize) {
            state.up = target as u16;
            state.held = target < most;
            state.seeks = false;
        }
    }

    fn scroll_sideways(&mut self, columns: i32) {
        let seen = self.seen.extents.iter().find(|seen| seen.pane == self.focus);
        let left = seen.map_or(0, |seen| seen.left);
        if let Some(state) = self.pane_mut() {
            state.left = (i32::from(left) + columns).clamp(0, i32::from(u16::MAX)) as u16;
        }
    }
}

/// How far `to` is from `from` in the direction of `action`; `None` if it is not in that direction.
fn distance(from: Rect, to: Rect, action: Action) -> Option<u32> {
    let middle = |area: Rect| i32::from(area.x) + i32::from(area.width) / 2;
    let (dx, dy) = (middle(to) - middle(from), i32::from(to.y) - i32::from(from.y));
    let (ahead, aside) = match action {
        Action::Up => (-dy, dx),
        Action::Down => (dy, dx),
        Action::Left => (-dx, dy * 8),
        Action::Right => (dx, dy * 8),
        _ => return None,
    };
    (ahead > 0).then(|| match action {
        Action::Left | Action::Right => ahead.unsigned_abs() + aside.unsigned_abs(),
        _ => ahead.unsigned_abs() * 256 + aside.unsigned_abs(),
    })
}
