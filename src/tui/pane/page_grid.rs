//! Pages as rows of letters, and what the letters mean: what all panes about pages share.

use crate::model::address::Address;
use crate::tui::glyphs;
use crate::tui::target::Target;
use crate::tui::theme::Role;
use crate::tui::view::canvas::Canvas;

/// Columns of the addresses.
const LABEL: u16 = 11;

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

/// Rows of letters after the address of the first; below each its bars of heat, where there is room for both.
pub fn draw<T>(canvas: &mut Canvas, y: u16, pages: &[T], cell: impl Fn(&T) -> Cell) -> u16 {
    let across = usize::from(canvas.width().saturating_sub(LABEL + 2)).max(1);
    let across = if across >= 32 { across / 16 * 16 } else { across };
    let rows = pages.len().div_ceil(across) as u16;
    let heated = rows * 2 + y < canvas.height().saturating_sub(2)
        && pages.iter().any(|pages| cell(pages).heat.is_some());
    let mut row = y;
    for pages in pages.chunks(across) {
        canvas.reserve(row);
        if let Some(first) = pages.first() {
            canvas.field(1, row, LABEL, &cell(first).first.to_string(), Role::Dim);
        }
        let shown = canvas.shows(row);
        for (at, cell) in pages.iter().map(&cell).enumerate().filter(|_| shown) {
            let x = LABEL + 1 + at as u16;
            canvas.text(x, row, &cell.letter.to_string(), cell.role);
            canvas.item(x, row, 1, Target::Pages { first: cell.first, len: cell.len });
            if let Some(heat) = cell.heat.filter(|_| heated) {
                canvas.text(x, row + 1, &glyphs::bar(f64::from(heat)).to_string(), Role::Dim);
            }
        }
        if heated {
            canvas.field(1, row + 1, LABEL, "used lately", Role::Dim);
        }
        row += 1 + u16::from(heated);
    }
    row
}
