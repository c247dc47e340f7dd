//! Pages on a link, by transfer set.

use std::collections::BTreeMap;

use crate::debug::frame::Frame;
use crate::model::component::ComponentId;
use crate::model::page_view::PageMove;

use crate::tui::target::Target;
use crate::tui::theme::Role;
use crate::tui::view::canvas::Canvas;

/// A row for each transfer set on `link`, from column and row `at` on. Returns the row after them.
pub fn draw(frame: &Frame, canvas: &mut Canvas, (x, y): (u16, u16), link: ComponentId) -> u16 {
    let mut y = y;
    for gpu in &frame.pages.gpus {
        let mut sets: BTreeMap<u64, Vec<&PageMove>> = BTreeMap::new();
        for moved in gpu.moves.iter().filter(|moved| moved.link == link) {
            sets.entry(moved.set).or_default().push(moved);
        }
        for (set, moves) in sets {
            let text = of_set(frame, set, &moves);
            let room = canvas.width().saturating_sub(x);
            canvas.field(x, y, room, &text, Role::Reply);
            if let Some(first) = moves.first() {
                let range = first.page.range(gpu.page);
                canvas.item(x, y, room, Target::Pages { first: range.start, len: u64::from(range.len) });
            }
            y += 1;
        }
    }
    y
}

fn of_set(frame: &Frame, set: u64, moves: &[&PageMove]) -> String {
    let demanded = moves.iter().filter(|moved| moved.demanded).count();
    let last = moves.iter().map(|moved| moved.due).max().unwrap_or(0);
    let next = moves.first().map_or(String::new(), |moved| moved.page.to_string());
    let due = frame.time.cycle(last);
    if set == 0 {
        return format!("{} pages back to the host, next {next}, until {due}", moves.len());
    }
    let prefetched = moves.len() - demanded;
    format!("set {set}: {demanded} demanded {prefetched} prefetched to come, next {next}, until {due}")
}
