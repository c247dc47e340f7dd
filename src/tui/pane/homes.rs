//! Which socket each page lives on: a digit each.

use crate::debug::frame::Frame;
use crate::model::page_view::{HomeCell, HomesView};

use super::page_grid::{self, Cell};
use crate::tui::theme::Role;
use crate::tui::view::canvas::Canvas;

pub fn draw(frame: &Frame, canvas: &mut Canvas, all: &HomesView) {
    canvas.field(1, 0, canvas.width().saturating_sub(1), &all.headline(), Role::Text);
    let selected = frame.selection.block.and_then(|block| all.of(block));
    let text = match selected {
        Some(home) => format!("the selected page lives on socket {home}"),
        None => "a digit is the socket that a page lives on, * several, . nowhere yet".to_owned(),
    };
    canvas.field(1, 1, canvas.width().saturating_sub(1), &text, Role::Dim);
    page_grid::draw(canvas, 2, &all.cells, cell);
}

fn cell(pages: &HomeCell) -> Cell {
    let HomeCell { first, len, .. } = *pages;
    let role = if pages.is_mixed || pages.home.is_none() { Role::Dim } else { Role::Good };
    Cell { first, len, letter: pages.letter(), role, heat: None }
}
