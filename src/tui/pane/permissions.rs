//! What may be done with pages that are taken for read-only: a letter each, and the faults that change them.

use crate::debug::frame::Frame;
use crate::model::page_view::{PermissionCell, PermissionsView};
use crate::model::paging::Permission;

use super::fault::faults;
use super::page_grid::{self, Cell};
use crate::tui::canvas::Canvas;
use crate::tui::target::Target;
use crate::tui::theme::Role;

pub fn draw(frame: &Frame, canvas: &mut Canvas, all: &PermissionsView) {
    let name = frame.info.components.path(all.driver);
    let x = canvas.text(1, 0, name, Role::Strong);
    canvas.item(1, 0, name.len() as u16, Target::Component(all.driver));
    let y = canvas.paragraph(x + 1, 0, stand(all), Role::Text);
    let limit = all
        .recent
        .map_or_else(String::new, |(recent, limit)| format!(", {recent} lately, gives up above {limit}"));
    let counts = format!("faults: {} of cores, {} of the GPU{limit}", all.by_cores, all.by_gpus);
    let y = canvas.paragraph(1, y, &counts, Role::Text);
    let kinds = Permission::ALL.into_iter().zip(all.counts);
    let kinds =
        kinds.map(|(permission, count)| (permission.letter(), permission.name(), role(permission), count));
    let y = page_grid::legend(canvas, y, kinds);
    let y = page_grid::draw(canvas, y, &all.cells, cell);
    faults(frame, canvas, y, &all.faults);
}

fn stand(all: &PermissionsView) -> &'static str {
    match (all.is_on, all.has_given_up) {
        (true, true) => "gives up: too many faults",
        (true, false) => "takes pages for read-only until they are written",
        (false, true) => "has given up: too many faults; every page may be written",
        (false, false) => "every page may be written: no GPU has begun to work",
    }
}

fn role(permission: Permission) -> Role {
    match permission {
        Permission::ReadOnly => Role::Good,
        Permission::Changing => Role::Changed,
        Permission::ReadWrite => Role::Dirty,
    }
}

fn cell(pages: &PermissionCell) -> Cell {
    let PermissionCell { first, len, permission } = *pages;
    Cell { first, len, letter: permission.letter(), role: role(permission), heat: None }
}
