//! Which memory each page lives in: a letter each.

use crate::debug::frame::Frame;
use crate::model::page_view::{HomeCell, HomesView};

use super::page_grid::{self, Cell};
use crate::tui::canvas::Canvas;
use crate::tui::theme::Role;

pub fn draw(frame: &Frame, canvas: &mut Canvas, all: &HomesView) {
    canvas.field(1, 0, canvas.width().saturating_sub(1), &all.headline(), Role::Text);
    let shown = frame.selection.block.and_then(|block| Some((block, all.of(block)?)));
    let text = match shown {
        Some((block, home)) => {
            let page = block.0 / u64::from(all.page.max(1));
            format!("page {page:#x}, which {block} is in, lives in the memory of {}", home.name)
        }
        None => legend(all),
    };
    canvas.field(1, 1, canvas.width().saturating_sub(1), &text, Role::Dim);
    page_grid::draw(canvas, 2, &all.cells, |pages| cell(all, pages));
}

/// What the letters mean.
fn legend(all: &HomesView) -> String {
    if all.homes.iter().all(|home| home.letter.is_ascii_digit()) {
        return "a digit is the socket that a page lives on, * several, . nowhere yet".to_owned();
    }
    let homes: Vec<String> = all
        .homes
        .iter()
        .map(|home| format!("{} lives in the memory of {}", home.letter, home.name))
        .collect();
    format!("{}, * several", homes.join(", "))
}

fn cell(all: &HomesView, pages: &HomeCell) -> Cell {
    let HomeCell { first, len, .. } = *pages;
    let role = if all.of_cell(pages).is_some() { Role::Good } else { Role::Dim };
    Cell { first, len, letter: all.letter(pages), role, heat: None }
}
