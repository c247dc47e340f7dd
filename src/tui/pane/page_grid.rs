//! Pages as rows of letters, and what the letters mean: what all panes about pages share.

use crate::model::address::Address;
use crate::tui::canvas::Canvas;
use crate::tui::glyphs;
use crate::tui::target::Target;
use crate::tui::theme::Role;

/// Columns of the addresses.
const LABEL: u16 = 11;

/// Rows that are left to what stands below: bars of heat do not push it out of view.
const BELOW: u16 = 8;

/// Some pages as a letter.
#[derive(Clone, Copy, Debug)]
pub struct Cell {
    pub first: Address,
    pub len: u64,
    pub letter: char,
    pub role: Role,
    /// How lately they were used, 0 to 1, where that is known.
    pub heat: Option<f32>,
}

/// What the letters mean, and how many pages have each: (letter, name, role, count).
pub fn legend(
    canvas: &mut Canvas,
    y: u16,
    kinds: impl IntoIterator<Item = (char, &'static str, Role, u64)>,
) -> u16 {
    let (mut x, mut row) = (1, y);
    for (letter, name, role, count) in kinds {
        let text = format!("{letter} {name} {count}");
        if x + text.len() as u16 > canvas.width() && x > 1 {
            (x, row) = (1, row + 1);
        }
        x = canvas.text(x, row, &text, if count > 0 { role } else { Role::Dim }) + 2;
    }
    row + 1
}

/// Rows of letters after the address of the first; below the first of them, as many as there is room for, their bars of heat. For each page that
/// is not among them stands a dot, or the address of the next one where that is far.
pub fn draw<T>(canvas: &mut Canvas, y: u16, pages: &[T], cell: impl Fn(&T) -> Cell) -> u16 {
    let across = usize::from(canvas.width().saturating_sub(LABEL + 2)).max(1);
    let across = if across >= 32 { across / 16 * 16 } else { across };
    let cells: Vec<Cell> = pages.iter().map(cell).collect();
    let rows = rows(&cells, across);
    let spare = usize::from(canvas.height().saturating_sub(y + BELOW)).saturating_sub(rows.len());
    let has_heat = cells.iter().any(|cell| cell.heat.is_some());
    let mut row = y;
    for (number, cells) in rows.into_iter().enumerate() {
        let heated = has_heat && number < spare;
        canvas.reserve(row);
        if let Some((_, first)) = cells.first() {
            canvas.field(1, row, LABEL, &first.first.to_string(), Role::Dim);
        }
        let shown = canvas.shows(row);
        let mut next = LABEL + 1;
        for (at, cell) in cells.into_iter().filter(|_| shown) {
            let x = LABEL + 1 + at;
            if is_far(u64::from(x - next)) {
                canvas.text(next + 1, row, &cell.first.to_string(), Role::Dim);
            } else {
                canvas.text(next, row, &"·".repeat(usize::from(x - next)), Role::Dim);
            }
            next = x + 1;
            canvas.text(x, row, &cell.letter.to_string(), cell.role);
            canvas.item(x, row, 1, Target::Pages { first: cell.first, len: cell.len });
            if let Some(heat) = cell.heat.filter(|_| heated) {
                canvas.text(x, row + 1, &glyphs::bar(f64::from(heat)).to_string(), Role::Dim);
            }
        }
        if heated {
            canvas.field(1, row + 1, LABEL, "recency", Role::Dim);
        }
        row += 1 + u16::from(heated);
    }
    row
}

/// Whether the address of a page tells more than dots for those before it.
fn is_far(pages: u64) -> bool {
    pages > 11
}

/// The cells of each row, each with its column.
fn rows(cells: &[Cell], across: usize) -> Vec<Vec<(u16, Cell)>> {
    let mut rows: Vec<Vec<(u16, Cell)>> = Vec::new();
    let mut end = None;
    for cell in cells {
        let absent = end.map_or(0, |end| cell.first.0.saturating_sub(end) / cell.len.max(1));
        end = Some(cell.first.0.saturating_add(cell.len));
        let last = rows.last().and_then(|row| row.last()).map(|(at, _)| *at);
        // An address, and a blank on either side of it.
        let apart =
            if is_far(absent) { cell.first.to_string().len().max(10) as u16 + 2 } else { absent as u16 };
        let at = last.map_or(0, |last| last + 1 + apart);
        match rows.last_mut().filter(|_| usize::from(at) < across) {
            Some(row) => row.push((at, *cell)),
            None => rows.push(vec![(0, *cell)]),
        }
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_stand_in_their_places_and_far_ones_after_their_addresses() {
        let cell = |page: u64| Cell {
            first: Address(page * 4096),
            len: 4096,
            letter: 'x',
            role: Role::Dim,
            heat: None,
        };
        let columns = |across| -> Vec<Vec<u16>> {
            let rows = rows(&[1, 2, 3, 6, 7, 90].map(cell), across);
            rows.iter().map(|row| row.iter().map(|(at, _)| *at).collect()).collect()
        };
        assert_eq!(columns(32), [[0, 1, 2, 5, 6, 19]]);
        assert_eq!(columns(6), [vec![0, 1, 2, 5], vec![0], vec![0]]);
        assert_eq!(columns(5), [vec![0, 1, 2], vec![0, 1], vec![0]]);
    }
}
