//! Where panes draw: a clipped, scrolled piece of the screen that also notes which item stands where.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::symbols::merge::MergeStrategy;
use unicode_width::UnicodeWidthStr;

use crate::debug::frame::selection::Selection;
use crate::debug::frame::wish::Pane;
use crate::model::state::State;

use crate::tui::seen::Hit;
use crate::tui::target::Target;
use crate::tui::theme::{self, Role, Theme};

/// How a pane is looked at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Look {
    /// Rows and columns scrolled away.
    pub up: u16,
    pub left: u16,
    /// The item under the cursor, if the pane has the focus.
    pub cursor: Option<Target>,
}

/// A pane's drawing surface. Places are relative to its content; what is scrolled away or does not fit is left out.
#[derive(Debug)]
pub struct Canvas<'a> {
    buffer: &'a mut Buffer,
    area: Rect,
    theme: &'a Theme,
    look: Look,
    pane: Pane,
    /// What is selected.
    selection: &'a Selection,
    hits: &'a mut Vec<Hit>,
    /// Columns and rows that the content needs so far.
    extent: (u16, u16),
    /// Rows at the top that do not scroll.
    stuck: u16,
    /// From this row on nobody asks how many rows there are exactly.
    end: u16,
    /// The first row with the component that is selected, in view or not.
    chosen: Option<u16>,
}

impl<'a> Canvas<'a> {
    pub fn new(
        buffer: &'a mut Buffer,
        area: Rect,
        theme: &'a Theme,
        (pane, look): (Pane, Look),
        selection: &'a Selection,
        hits: &'a mut Vec<Hit>,
    ) -> Self {
        let area = area.intersection(buffer.area);
        Self {
            buffer,
            area,
            theme,
            look,
            pane,
            selection,
            hits,
            extent: (0, 0),
            stuck: 0,
            end: u16::MAX,
            chosen: None,
        }
    }

    /// A surface that draws nothing and tells how large the content is in the room of `area`.
    pub fn measuring(
        buffer: &'a mut Buffer,
        area: Rect,
        theme: &'a Theme,
        pane: Pane,
        selection: &'a Selection,
        hits: &'a mut Vec<Hit>,
    ) -> Self {
        let look = Look { up: u16::MAX, left: 0, cursor: None };
        Self { area, ..Self::new(buffer, area, theme, (pane, look), selection, hits) }
    }

    /// Columns in view.
    #[must_use]
    pub fn width(&self) -> u16 {
        self.area.width
    }

    /// Rows in view.
    #[must_use]
    pub fn height(&self) -> u16 {
        self.area.height
    }

    /// Columns and rows of all the content drawn so far, in view or not.
    #[must_use]
    pub fn extent(&self) -> (u16, u16) {
        self.extent
    }

    /// The first row drawn so far of the component that is selected, in view or not.
    #[must_use]
    pub fn chosen(&self) -> Option<u16> {
        self.chosen
    }

    /// Keeps the first `rows` rows in view while the rest scrolls.
    pub fn stick(&mut self, rows: u16) {
        self.stuck = rows;
    }

    /// Rows of the content that are scrolled away; none while it is measured.
    #[must_use]
    pub fn hidden(&self) -> u16 {
        if self.look.up == u16::MAX { 0 } else { self.look.up }
    }

    /// Whether row `y` of the content is in view.
    #[must_use]
    pub fn shows(&self, y: u16) -> bool {
        self.row(y).is_some()
    }

    /// From row `y` on, or from the end of what is in view, nobody asks how many rows there are exactly.
    pub fn end_at(&mut self, y: u16) {
        self.end = y.max(self.hidden().saturating_add(self.area.height));
    }

    /// Whether what stands in row `y` need not be drawn, and counts as one row however many it takes.
    #[must_use]
    pub fn is_past(&self, y: u16) -> bool {
        y >= self.end
    }

    /// Notes that the content reaches to row `y`, without drawing it.
    pub fn reserve(&mut self, y: u16) {
        self.extent.1 = self.extent.1.max(y.saturating_add(1));
    }

    /// Where row `y` of the content is in view.
    fn row(&self, y: u16) -> Option<u16> {
        let row =
            if y < self.stuck { y } else { y.checked_sub(self.look.up).filter(|row| *row >= self.stuck)? };
        (row < self.area.height).then_some(row)
    }

    /// Draws `text` and returns the column after it.
    pub fn text(&mut self, x: u16, y: u16, text: &str, role: Role) -> u16 {
        let width = columns(text).min(usize::from(u16::MAX)) as u16;
        let end = x.saturating_add(width);
        self.extent = (self.extent.0.max(end), self.extent.1.max(y.saturating_add(1)));
        if let Some(row) = self.row(y).filter(|_| end > self.look.left) {
            self.draw(x, self.area.y + row, text, role);
        }
        end
    }

    fn draw(&mut self, x: u16, row: u16, text: &str, role: Role) {
        let skip = usize::from(self.look.left.saturating_sub(x));
        let column = x.saturating_sub(self.look.left);
        if column >= self.area.width {
            return;
        }
        let visible: String;
        let text = if skip == 0 {
            text
        } else {
            visible = text.chars().skip(skip).collect();
            &visible
        };
        let room = usize::from(self.area.width - column);
        let style = self.theme.style(role);
        self.buffer.set_stringn(self.area.x + column, row, text, room, style);
    }

    /// Draws `text` so that it ends before column `end`.
    pub fn text_right(&mut self, end: u16, y: u16, text: &str, role: Role) -> u16 {
        let width = columns(text).min(usize::from(u16::MAX)) as u16;
        self.text(end.saturating_sub(width), y, text, role);
        end
    }

    /// Draws at most `width` columns of `text`, with an ellipsis if it is cut, and returns `x + width`.
    pub fn field(&mut self, x: u16, y: u16, width: u16, text: &str, role: Role) -> u16 {
        self.text(x, y, &fit(text, width), role);
        x.saturating_add(width)
    }

    /// Draws a state's letters: `S`, or `I>S` for one that waits. Returns the column after it.
    pub fn state(&mut self, x: u16, y: u16, now: Option<State>, target: Option<State>) -> u16 {
        let letter = |state: Option<State>| state.map_or('-', State::letter);
        match target {
            Some(to) if Some(to) != now => {
                self.text(x, y, &format!("{}>{}", letter(now), to.letter()), Role::Waiting)
            }
            _ => {
                let role = now.map_or(Role::Dim, theme::state);
                self.text(x, y, &letter(now).to_string(), role)
            }
        }
    }

    /// Draws `text` in lines of at most the visible width from `x` on, and returns the row after it.
    pub fn paragraph(&mut self, x: u16, y: u16, text: &str, role: Role) -> u16 {
        let mut row = y;
        for line in wrap(text, self.area.width.saturating_sub(x)) {
            self.text(x, row, &line, role);
            row = row.saturating_add(1);
        }
        row
    }

    /// Marks row `y` if what stands in it up to column `end` goes on beyond the columns in view.
    pub fn cut(&mut self, y: u16, end: u16) {
        let right = self.look.left.saturating_add(self.area.width);
        if end > right {
            self.text(right.saturating_sub(1), y, "…", Role::Dim);
        }
    }

    /// Lays a style over a piece that is drawn.
    pub fn paint(&mut self, x: u16, y: u16, width: u16, role: Role) {
        if let Some(area) = self.place(x, y, width) {
            self.buffer.set_style(area, self.theme.style(role));
        }
    }

    /// Notes that `target` stands here, and shows whether it is selected or under the cursor.
    pub fn item(&mut self, x: u16, y: u16, width: u16, target: Target) {
        let is_selected = target.is_selected(self.selection);
        if is_selected && matches!(target, Target::Component(_)) {
            self.chosen = self.chosen.or(Some(y));
        }
        let Some(area) = self.place(x, y, width) else {
            return;
        };
        if is_selected {
            self.buffer.set_style(area, self.theme.style(Role::Selected));
        }
        if self.look.cursor == Some(target) {
            self.buffer.set_style(area, self.theme.style(Role::Cursor));
        }
        self.hits.push(Hit { pane: self.pane, area, target });
    }

    /// The part of the screen that a piece of the content covers, if any of it is in view.
    fn place(&self, x: u16, y: u16, width: u16) -> Option<Rect> {
        let row = self.row(y)?;
        let left = x.max(self.look.left) - self.look.left;
        let right = x.saturating_add(width).saturating_sub(self.look.left).min(self.area.width);
        (left < right).then(|| Rect::new(self.area.x + left, self.area.y + row, right - left, 1))
    }
}

/// Columns that `text` takes: mostly one a byte.
#[must_use]
pub fn columns(text: &str) -> usize {
    if text.is_ascii() { text.len() } else { text.width() }
}

/// `text` in at most `width` columns, its end replaced by an ellipsis if it is longer.
#[must_use]
pub fn fit(text: &str, width: u16) -> String {
    let width = usize::from(width);
    if columns(text) <= width {
        return text.to_owned();
    }
    let mut short = String::new();
    let mut used = 0;
    for character in text.chars() {
        let wide = unicode_width::UnicodeWidthChar::width(character).unwrap_or(0);
        if used + wide + 1 > width {
            break;
        }
        used += wide;
        short.push(character);
    }
    if width > 0 {
        short.push('…');
    }
    short
}

/// The same for a path, whose end tells most: its beginning is replaced.
#[must_use]
pub fn fit_end(text: &str, width: u16) -> String {
    let width = usize::from(width);
    if columns(text) <= width {
        return text.to_owned();
    }
    if width == 0 {
        return String::new();
    }
    let mut ends = text.char_indices().map(|(at, _)| text.get(at..).unwrap_or_default());
    format!("…{}", ends.find(|end| columns(end) < width).unwrap_or_default())
}

/// The first of some ways to say the same that is no wider than `room`, or else the last.
#[must_use]
pub fn widest(texts: &[String], room: u16) -> &str {
    let fits = |text: &&String| columns(text) <= usize::from(room);
    texts.iter().find(fits).or(texts.last()).map_or("", String::as_str)
}

/// `text` in lines of at most `width` columns, broken between words where that is possible. Columns of a table stay where
/// they are in what is not broken, and what follows an indented line stands under its first word.
#[must_use]
pub fn wrap(text: &str, width: u16) -> Vec<String> {
    let width = usize::from(width.max(1));
    text.lines().flat_map(|line| broken(line.trim_end(), width)).collect()
}

/// One line of a text, broken.
fn broken(text: &str, width: usize) -> Vec<String> {
    if columns(text) <= width {
        return vec![text.to_owned()];
    }
    let mut rest = text.trim_start();
    let indent = text.len() - rest.len();
    let indent = " ".repeat(if indent * 2 > width { 0 } else { indent });
    let (mut lines, mut line, mut gap) = (Vec::new(), indent.clone(), 0);
    while !rest.is_empty() {
        let word = rest.split(char::is_whitespace).next().unwrap_or(rest);
        if columns(&line) > indent.len() && columns(&line) + gap + columns(word) > width {
            lines.push(std::mem::replace(&mut line, indent.clone()));
        } else {
            line.push_str(&" ".repeat(gap));
        }
        line.push_str(word);
        while columns(&line) > width {
            let cut = line.char_indices().nth(width).map_or(line.len(), |(at, _)| at);
            let rest = line.split_off(cut);
            if rest.is_empty() {
                break;
            }
            lines.push(std::mem::replace(&mut line, rest));
        }
        let after = rest.get(word.len()..).unwrap_or_default();
        rest = after.trim_start();
        gap = after.chars().count() - rest.chars().count();
    }
    lines.push(line);
    lines
}

/// Draws a box whose borders join those that touch it.
pub fn frame(buffer: &mut Buffer, area: Rect, style: Style) {
    let area = area.intersection(buffer.area);
    if area.width < 2 || area.height < 2 {
        return;
    }
    let (right, bottom) = (area.right() - 1, area.bottom() - 1);
    let mut line = |x: u16, y: u16, symbol: &str| {
        if let Some(cell) = buffer.cell_mut((x, y)) {
            cell.merge_symbol(symbol, MergeStrategy::Exact).set_style(style);
        }
    };
    for x in area.x + 1..right {
        line(x, area.y, "─");
        line(x, bottom, "─");
    }
    for y in area.y + 1..bottom {
        line(area.x, y, "│");
        line(right, y, "│");
    }
    line(area.x, area.y, "┌");
    line(right, area.y, "┐");
    line(area.x, bottom, "└");
    line(right, bottom, "┘");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_cut_and_wrapped_at_the_width() {
        assert_eq!(fit("abcdef", 4), "abc…");
        assert_eq!(fit("abcd", 4), "abcd");
        assert_eq!(fit("abcd", 0), "");
        assert_eq!(["abcdef", "abcd", "字字字"].map(|text| fit_end(text, 4)), ["…def", "abcd", "…字"]);
        assert_eq!([0, 1].map(|width| fit_end("ab", width)), ["", "…"]);
        assert_eq!(wrap("one two three", 7), ["one two", "three"]);
        assert_eq!(wrap("abcdefgh", 3), ["abc", "def", "gh"]);
        assert_eq!(wrap("字字字", 1).len(), 3);
    }

    #[test]
    fn columns_of_a_table_are_kept() {
        assert_eq!(wrap("id  at    hits\n 1  l2    4", 40), ["id  at    hits", " 1  l2    4"]);
        assert_eq!(wrap("1    transition at gpu0.l2", 18), ["1    transition at", "gpu0.l2"]);
        assert_eq!(wrap("  2  write  to all", 10), ["  2  write", "  to all"]);
        assert_eq!(wrap("      deep", 8), ["deep"], "the indentation has not half of the room");
    }
}
