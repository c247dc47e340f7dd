//! What may be done with pages that are taken for read-only: a letter each, and the faults that change them.

use crate::debug::frame::Frame;
use crate::model::page_view::PermissionsView;
use crate::model::paging::Permission;

use super::pages::{LABEL, faults};
use crate::tui::target::Target;
use crate::tui::theme::Role;
use crate::tui::view::canvas::Canvas;

pub fn draw(frame: &Frame, canvas: &mut Canvas, all: &PermissionsView) {
    let name = frame.info.components.path(all.driver);
    let x = canvas.text(1, 0, name, Role::Strong);
    canvas.item(1, 0, name.len() as u16, Target::Component(all.driver));
    canvas.field(x + 1, 0, canvas.width().saturating_sub(x + 1), stand(all), Role::Text);
    let limit = all
        .recent
        .map_or_else(String::new, |(recent, limit)| format!(", {recent} lately, gives up above {limit}"));
    let counts = format!("faults: {} of cores, {} of the GPU{limit}", all.by_cores, all.by_gpus);
    canvas.field(1, 1, canvas.width().saturating_sub(1), &counts, Role::Text);
    let mut x = 1;
    for (permission, count) in Permission::ALL.into_iter().zip(all.counts) {
        let text = format!("{} {} {count}", permission.letter(), permission.name());
        x = canvas.text(x, 2, &text, if count > 0 { role(permission) } else { Role::Dim }) + 2;
    }
    let y = grid(canvas, 3, all);
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

/// Rows of letters after the address of the first.
fn grid(canvas: &mut Canvas, y: u16, all: &PermissionsView) -> u16 {
    let across = usize::from(canvas.width().saturating_sub(LABEL + 2)).max(1);
    let across = if across >= 32 { across / 16 * 16 } else { across };
    let mut row = y;
    for cells in all.cells.chunks(across) {
        canvas.reserve(row);
        if let Some(first) = cells.first() {
            canvas.field(1, row, LABEL, &first.first.to_string(), Role::Dim);
        }
        let shown = canvas.shows(row);
        for (at, cell) in cells.iter().enumerate().filter(|_| shown) {
            let x = LABEL + 1 + at as u16;
            canvas.text(x, row, &cell.permission.letter().to_string(), role(cell.permission));
            canvas.item(x, row, 1, Target::Pages { first: cell.first, len: cell.len });
        }
        row += 1;
    }
    row
}
