//! Who waits for whom: what can never go on, one sentence an edge, or else the oldest transactions, each with its chain.

use super::fault;
use crate::debug::frame::session::{Lesson, RunState};
use crate::debug::frame::{Frame, Knot};
use crate::model::inspect::TransactionView;
use crate::model::page_view::FaultView;
use crate::report::number::counted;
use crate::tui::canvas::{Canvas, wrap};
use crate::tui::target::Target;
use crate::tui::theme::Role;

pub fn title(frame: &Frame) -> String {
    match (&frame.deadlock, frame.transactions.len()) {
        (Some(_), _) if frame.lesson.as_ref().is_some_and(Lesson::is_hunted) => "stuck".to_owned(),
        (Some(knot), _) => knot.verdict.to_lowercase(),
        (None, 0) => String::new(),
        (None, 1) => "1 transaction".to_owned(),
        (None, count) if frame.limit == Some(count) => format!("the oldest {count} transactions"),
        (None, count) => format!("{count} transactions"),
    }
}

pub fn draw(frame: &Frame, canvas: &mut Canvas) {
    match &frame.deadlock {
        Some(knot) => stuck(canvas, knot),
        None if frame.transactions.is_empty() && faults(frame).next().is_none() => {
            let text = if frame.run == RunState::Finished {
                "Nothing is under way, and nobody waits."
            } else {
                "No access is under way. Select what waits for something else (a fence, a copy, another task) and press y: \
                 it tells for what."
            };
            canvas.paragraph(1, 0, text, Role::Dim);
        }
        None => under_way(frame, canvas),
    }
}

/// The circle, or the chain to what was lost.
fn stuck(canvas: &mut Canvas, knot: &Knot) {
    let mut y = canvas.paragraph(1, 0, &knot.headline, Role::Bad);
    for (nth, edge) in (1..).zip(&knot.edges) {
        canvas.text_right(3, y, &format!("#{nth}"), Role::Key);
        let target = Target::Wait { at: edge.at, block: edge.block, txn: edge.txn };
        y = lines(canvas, (5, y), &edge.text, Role::Text, Some(target));
    }
    if knot.is_circle {
        y = canvas.paragraph(5, y, "which is #1 again", Role::Dim);
    }
    let more = "enter selects who waits; :deadlock goto goes to where it could not be avoided any more, :deadlock records \
                tells what made each wait";
    canvas.paragraph(1, y, more, Role::Dim);
}

/// Text over as many rows as it takes, which can be pointed at together. Returns the row below.
fn lines(canvas: &mut Canvas, (x, y): (u16, u16), text: &str, role: Role, target: Option<Target>) -> u16 {
    let room = canvas.width().saturating_sub(x + 1);
    let mut below = y;
    for line in wrap(text, room) {
        canvas.text(x, below, &line, role);
        if let Some(target) = target.filter(|_| below == y) {
            canvas.item(x, y, room, target);
        }
        below += 1;
    }
    below.max(y + 1)
}

/// Faults that are under way, on all GPUs.
fn faults(frame: &Frame) -> impl Iterator<Item = &FaultView> {
    let pages = frame.pages.gpus.iter().flat_map(|gpu| &gpu.faults);
    pages.chain(frame.pages.permissions.iter().flat_map(|all| &all.faults))
}

/// What is under way: faults, and then transactions, the oldest first.
fn under_way(frame: &Frame, canvas: &mut Canvas) {
    let mut y = 0;
    for view in faults(frame) {
        let since = view.steps.first().map_or(0, |step| super::age(frame, step.at));
        let text = format!("{}: {}", fault::name(view), counted(since, "cycle"));
        y = lines(canvas, (1, y), &text, Role::Text, Some(fault::target(view)));
        for link in &view.waits {
            let text = format!("{} {}", frame.info.components.path(link.at), link.text);
            y = lines(canvas, (4, y), &text, Role::Waiting, None);
        }
    }
    for view in &frame.transactions {
        let target = Target::Txn { txn: view.number, block: view.range.start };
        y = lines(canvas, (1, y), &headline(frame, view), Role::Text, Some(target));
        for link in &view.chain {
            let since = link
                .since
                .map_or(String::new(), |since| format!(" ({})", counted(super::age(frame, since), "cycle")));
            y = lines(
                canvas,
                (4, y),
                &format!("{} {}{since}", frame.info.components.path(link.at), link.text),
                Role::Waiting,
                None,
            );
        }
    }
}

fn headline(frame: &Frame, view: &TransactionView) -> String {
    let (path, age) = (frame.info.components.path(view.agent), super::age(frame, view.issued));
    format!("{} {path} {} {}: {}", view.number.0, view.name(), view.range.start, counted(age, "cycle"))
}
