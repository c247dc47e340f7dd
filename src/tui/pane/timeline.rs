//! The timeline: the whole run as one line with its marks and the cursor; a click goes there.

use crate::debug::frame::Frame;
use crate::debug::frame::session::{Activity, Mark, MarkKind};

use crate::report::number::grouped;
use crate::tui::canvas::Canvas;
use crate::tui::glyphs::bar;
use crate::tui::target::Target;
use crate::tui::theme::Role;

pub fn draw(frame: &Frame, canvas: &mut Canvas) {
    let at = frame.position;
    let known = at.known.max(at.event);
    let end = if at.ended { grouped(known) } else { format!("{}…", grouped(known)) };
    let width = canvas.width().saturating_sub(end.chars().count() as u16 + 5);
    if width < 4 {
        return;
    }
    canvas.text(1, 0, "0", Role::Dim);
    let cells = cells(frame, known, width);
    let levels = levels(&frame.activity, known, width);
    let cursor = column(at.event, known, width);
    for (nth, cell) in cells.iter().enumerate() {
        let x = 3 + nth as u16;
        let here = nth as u16 == cursor;
        let past = (nth as u16) < cursor;
        let (text, role) = match cell {
            _ if here => ("┃".to_owned(), Role::Focus),
            Some(kind) => (letter(*kind).to_owned(), mark_role(*kind)),
            None => {
                let level = levels.get(nth).copied().unwrap_or(0.0);
                let text = if level > 0.0 { bar(level) } else { '·' };
                (text.to_string(), if past { Role::Text } else { Role::Dim })
            }
        };
        canvas.text(x, 0, &text, role);
        canvas.item(x, 0, 1, Target::Event(event(nth as u16, known, width)));
    }
    canvas.text(3 + width + 1, 0, &end, Role::Dim);
    if canvas.height() > 1 {
        legend(frame, &cells, canvas, 1);
    }
}

/// Events in a column from which on its state changes are not marked.
const DENSE: u64 = 8;

/// The event that column `x` of `width` stands for.
fn event(x: u16, known: u64, width: u16) -> u64 {
    let last = u128::from(width.saturating_sub(1).max(1));
    u64::try_from(u128::from(x) * u128::from(known) / last).unwrap_or(known)
}

/// The column that stands for `event`.
fn column(event: u64, known: u64, width: u16) -> u16 {
    let last = u128::from(width.saturating_sub(1));
    let x = (u128::from(event) * last + u128::from(known) / 2) / u128::from(known.max(1));
    u16::try_from(x).unwrap_or(u16::MAX).min(width.saturating_sub(1))
}

/// The most important mark of each column.
fn cells(frame: &Frame, known: u64, width: u16) -> Vec<Option<MarkKind>> {
    let mut cells = vec![None; usize::from(width)];
    // Where a column stands for many events, state changes are everywhere and would hide how busy they are.
    let dense = known > DENSE * u64::from(width);
    let tells = |mark: &&Mark| !(dense && mark.kind == MarkKind::Transition);
    for mark in frame.marks.iter().filter(tells) {
        let x = usize::from(column(mark.event, known, width));
        if let Some(cell) = cells.get_mut(x) {
            *cell = (*cell).max(Some(mark.kind));
        }
    }
    cells
}

/// The coherence traffic of each column, as a share of the busiest.
fn levels(activity: &Activity, known: u64, width: u16) -> Vec<f64> {
    let probes = |x: u16| {
        let until = if x + 1 < width { event(x + 1, known, width) } else { known };
        (activity.until(until) - activity.until(event(x, known, width))).max(0.0)
    };
    let all: Vec<f64> = (0..width).map(probes).collect();
    let most = all.iter().copied().fold(0.0, f64::max);
    if most <= 0.0 { Vec::new() } else { all.into_iter().map(|probes| probes / most).collect() }
}

fn letter(kind: MarkKind) -> &'static str {
    match kind {
        MarkKind::Transition => "t",
        MarkKind::Narration => "◆",
        MarkKind::Breakpoint => "b",
        MarkKind::Bookmark => "•",
        MarkKind::Kernel => "k",
        MarkKind::Lanes => "l",
        MarkKind::Ways => "w",
        MarkKind::Input => "y",
        MarkKind::Fault => "!",
        MarkKind::Violation => "✗",
    }
}

fn mark_role(kind: MarkKind) -> Role {
    match kind {
        MarkKind::Transition | MarkKind::Kernel | MarkKind::Lanes | MarkKind::Ways => Role::Text,
        MarkKind::Narration | MarkKind::Bookmark => Role::Mark,
        MarkKind::Breakpoint | MarkKind::Input | MarkKind::Fault => Role::Warning,
        MarkKind::Violation => Role::Bad,
    }
}

/// The signs that are drawn, in words.
fn legend(frame: &Frame, drawn: &[Option<MarkKind>], canvas: &mut Canvas, y: u16) {
    let kinds = [
        (MarkKind::Transition, "state change"),
        (MarkKind::Narration, "the lesson speaks"),
        (MarkKind::Breakpoint, "breakpoint"),
        (MarkKind::Bookmark, "bookmark"),
        (MarkKind::Kernel, "kernel"),
        (MarkKind::Lanes, "lanes turn"),
        (MarkKind::Ways, "ways move"),
        (MarkKind::Input, "changed from outside"),
        (MarkKind::Fault, "injected fault"),
        (MarkKind::Violation, "a check failed"),
    ];
    let mut x = canvas.text(3, y, "┃ here", Role::Dim) + 3;
    for (kind, text) in kinds {
        if drawn.contains(&Some(kind)) {
            x = canvas.text(x, y, &format!("{} {text}", letter(kind)), Role::Dim) + 3;
        }
    }
    if frame.activity.probes.last().is_some_and(|probes| *probes > 0) {
        canvas.text(x, y, "▁▄█ probes, of the most", Role::Dim);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_busiest_column_is_full_and_a_quiet_one_empty() {
        let activity =
            Activity { start: 0, spacing: 10, probes: vec![0, 0, 0, 0, 0, 40, 40, 40, 60, 60, 60] };
        let levels = levels(&activity, 100, 11);
        assert_eq!((levels[1], levels[4], levels[7]), (0.0, 1.0, 0.5), "{levels:?}");
        assert!(super::levels(&Activity::default(), 100, 11).is_empty());
    }

    #[test]
    fn where_the_lesson_speaks_is_seen_beside_lanes_that_turn_there() {
        let mark = |kind| Mark { event: 50, kind, name: None };
        let marks = vec![mark(MarkKind::Narration), mark(MarkKind::Lanes), mark(MarkKind::Kernel)];
        let frame = Frame { marks, ..Frame::default() };
        assert_eq!(cells(&frame, 100, 11)[5], Some(MarkKind::Narration));
    }

    #[test]
    fn columns_and_events_agree() {
        assert_eq!((column(0, 1000, 50), column(1000, 1000, 50)), (0, 49));
        assert_eq!((event(0, 1000, 50), event(49, 1000, 50)), (0, 1000));
        assert_eq!(column(5, 0, 50), 49);
        assert_eq!(column(u64::MAX, u64::MAX, 80), 79);
        for x in 0..50 {
            assert_eq!(column(event(x, 100_000, 50), 100_000, 50), x);
        }
    }
}
