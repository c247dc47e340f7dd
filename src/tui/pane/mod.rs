//! The panes, one file each: what they draw, what their title says, how many rows they would like.

mod breakpoints;
mod caches;
mod crowd;
mod directory;
mod directory_columns;
mod fault;
mod homes;
mod lesson;
mod link_lanes;
mod link_pages;
mod links;
mod log;
mod map;
mod map_node;
mod map_rail;
mod map_switch;
mod mshrs;
mod page_grid;
mod pages;
mod permissions;
mod protocol;
mod timeline;
mod tags;
mod tlbs;
mod transaction;
mod waits;
mod warps;

pub use lesson::outcome;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use crate::debug::frame::Frame;
use crate::debug::frame::wish::Pane;
use crate::scenario::flow;

use super::app::App;
use super::canvas::Canvas;
use super::theme::Role;

/// Draws the content of a pane, as soon as there is a frame that has it: what is not known yet is not missing.
pub fn draw(pane: Pane, app: &App, canvas: &mut Canvas) {
    let frame = &*app.frame;
    if !frame.panes.has(pane) {
        canvas.text(1, 0, "…", Role::Dim);
        return;
    }
    match pane {
        Pane::Map => map::draw(frame, canvas),
        Pane::Directory => directory::draw(frame, canvas),
        Pane::Links => links::draw(frame, canvas),
        Pane::Mshrs => mshrs::draw(frame, canvas),
        Pane::Warps => warps::draw(frame, canvas),
        Pane::Transaction => transaction::draw(frame, canvas),
        Pane::Waits => waits::draw(frame, canvas),
        Pane::Caches => caches::draw(frame, canvas),
        Pane::Pages => pages::draw(frame, canvas),
        Pane::Protocol => protocol::draw(frame, canvas),
        Pane::Log => log::draw(frame, canvas),
        Pane::Lesson => lesson::draw(frame, app.heard, canvas),
        Pane::Breakpoints => breakpoints::draw(frame, canvas),
        Pane::Timeline => timeline::draw(frame, canvas),
    }
}

/// What a pane's title says after its name.
#[must_use]
pub fn title(pane: Pane, frame: &Frame) -> String {
    match pane {
        _ if !frame.panes.has(pane) => String::new(),
        Pane::Map => frame.map.line.map_or(String::new(), |line| format!("block {}", line.start)),
        Pane::Directory => directory::title(frame),
        Pane::Transaction => transaction::title(frame),
        Pane::Protocol => protocol::title(frame),
        Pane::Log => log::title(frame),
        Pane::Lesson => lesson::title(frame),
        Pane::Warps => warps::title(frame),
        Pane::Pages => pages::title(frame),
        Pane::Waits => waits::title(frame),
        Pane::Links | Pane::Mshrs | Pane::Caches | Pane::Breakpoints | Pane::Timeline => String::new(),
    }
}

/// Rows that the whole content takes in half the width of `body`; `None` for as many as there are.
#[must_use]
pub fn natural(pane: Pane, app: &App, body: Rect) -> Option<u16> {
    if matches!(pane, Pane::Log | Pane::Transaction | Pane::Timeline) {
        return None;
    }
    let area = Rect::new(0, 0, (body.width / 2).saturating_sub(2), (body.height / 2).saturating_sub(2));
    let (mut scratch, mut nothing) = (Buffer::empty(Rect::ZERO), Vec::new());
    let mut canvas =
        Canvas::measuring(&mut scratch, area, &app.theme, pane, &app.frame.selection, &mut nothing);
    canvas.end_at(body.height);
    match (pane, &app.frame.lesson) {
        (Pane::Lesson, Some(lesson)) => {
            lesson::urgent(&app.frame, app.heard, (&mut canvas, 0), lesson);
        }
        _ => draw(pane, app, &mut canvas),
    }
    Some(canvas.extent().1)
}

/// Whether a pane shows its end until the user scrolls it: a journey does, a list to choose from does not.
#[must_use]
pub fn follows_end(pane: Pane, frame: &Frame) -> bool {
    pane == Pane::Transaction && transaction::is_journey(frame)
}

/// The cycles between `since` and now, in words.
fn age(frame: &Frame, since: crate::model::time::Tick) -> u64 {
    frame.position.cycle.saturating_sub(frame.time.cycle(since))
}

/// A share from 0 to 1 in per cent.
fn per_cent(share: f64) -> String {
    format!("{:.0} %", share.clamp(0.0, 1.0) * 100.0)
}

/// A file breaks its lines anywhere; an empty line ends a paragraph, and indented lines are a table.
#[must_use]
pub fn reflow(text: &str) -> String {
    flow(text.trim_end()).replace("\n\n", "\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_empty_line_ends_a_paragraph() {
        assert_eq!(reflow("one\ntwo\n\nthree\n"), "one two\nthree");
        assert_eq!(reflow("one:\n    a   b\n    c   d\n"), "one:\n    a   b\n    c   d");
    }
}
