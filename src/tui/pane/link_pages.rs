//! Pages on a link, by transfer set.

use crate::debug::frame::{Frame, hardware};
use crate::model::component::ComponentId;

use crate::tui::canvas::Canvas;
use crate::tui::target::Target;
use crate::tui::theme::Role;

/// A row for each transfer set on `link`, from column and row `at` on. Returns the row after them.
pub fn draw(frame: &Frame, canvas: &mut Canvas, (x, y): (u16, u16), link: ComponentId) -> u16 {
    let mut y = y;
    for (text, first) in hardware::pages_on(link, &frame.pages.gpus, frame.time) {
        let room = canvas.width().saturating_sub(x);
        canvas.field(x, y, room, &text, Role::Reply);
        canvas.item(x, y, room, Target::Pages { first: first.start, len: u64::from(first.len) });
        y += 1;
    }
    y
}
