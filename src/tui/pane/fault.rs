//! The life of a fault, step by step.

use crate::debug::frame::Frame;
use crate::model::address::Range;
use crate::model::component::ComponentKind;
use crate::model::page_view::{FaultStep, FaultView, LifeStep};
use crate::model::paging::FaultKind;
use crate::model::text::plural;
use crate::model::wait::WaitLink;

use crate::report::number::grouped;
use crate::tui::canvas::{Canvas, fit, wrap};
use crate::tui::target::Target;
use crate::tui::theme::Role;

/// Far-faults that are listed, at most.
const LISTED: usize = 32;

/// So many are told whole.
const FEW: usize = 2;

/// Whether an access of `range` is one of the page that faulted.
#[must_use]
pub fn is_of(fault: &FaultView, range: Option<Range>) -> bool {
    range.is_some_and(|range| fault.range.contains(range.start))
}

#[must_use]
pub fn name(fault: &FaultView) -> String {
    format!("{} of page {} ({}) on gpu{}", fault.kind.name(), fault.page, fault.range.start, fault.gpu)
}

/// Where what is said of a step begins.
const SAYS: u16 = 22;

/// All its steps, a row each, and what it waits for.
pub fn life(frame: &Frame, canvas: &mut Canvas, fault: &FaultView) {
    let heading = name(fault);
    canvas.text(1, 0, &heading, Role::Strong);
    canvas.item(1, 0, heading.len() as u16, target(fault));
    let waits = fault.waits.iter().map(|link| {
        let text = format!("{} {}", frame.info.components.path(link.at), link.text);
        (text, Role::Waiting)
    });
    let mut below: Vec<(String, Role)> = waits.collect();
    if below.is_empty() {
        let (text, role) = end(fault);
        below.push((text.to_owned(), role));
    }
    let width = canvas.width().saturating_sub(1);
    let below_rows: usize = below.iter().map(|(text, _)| wrap(text, width).len()).sum();
    let mut y = steps(frame, canvas, fault, usize::from(canvas.height()).saturating_sub(1 + below_rows));
    for (text, role) in below {
        y = canvas.paragraph(1, y, &text, role);
    }
}

/// The steps, from row 1 on; what is said of each is told in full where all of them stand in so many rows. Returns the row after them.
fn steps(frame: &Frame, canvas: &mut Canvas, fault: &FaultView, rows: usize) -> u16 {
    let told: Vec<_> = folded(&fault.steps)
        .filter_map(|steps| Some((steps.first()?, says_all(frame, fault.kind, steps))))
        .collect();
    let first = told.first().map_or(0, |(step, _)| frame.time.cycle(step.at));
    let widest = told.iter().map(|(_, says)| says.chars().count()).max().unwrap_or(0) as u16;
    // How long it has taken is not to be cut: a part of a number is another one.
    let passed = |step: &FaultStep| format!("+{}", grouped(frame.time.cycle(step.at).saturating_sub(first)));
    let width = canvas.width();
    let room = |step| width.saturating_sub(SAYS + passed(step).len() as u16 + 2).min(widest);
    let in_full: usize = told.iter().map(|(step, says)| wrap(says, room(step)).len()).sum();
    let mut y = 1;
    for (step, says) in &told {
        let room = room(step);
        canvas.text_right(10, y, &grouped(frame.time.cycle(step.at)), Role::Dim);
        canvas.field(12, y, SAYS - 13, step.step.name(), role(step.step));
        canvas.text(SAYS + room + 2, y, &passed(step), Role::Text);
        let lines = if in_full <= rows { wrap(says, room) } else { vec![fit(says, room)] };
        for line in lines {
            canvas.text(SAYS, y, &line, Role::Text);
            y += 1;
        }
    }
    y
}

/// Steps of a kind that stand in rows of their own, one after the other; more of them share one.
const APART: usize = 3;

/// Steps in their order, those that many compute units take one after the other together.
fn folded(steps: &[FaultStep]) -> impl Iterator<Item = &[FaultStep]> {
    let same = |one: &FaultStep, other: &FaultStep| one.step.name() == other.step.name();
    steps.chunk_by(same).flat_map(|run| run.chunks(if run.len() > APART { run.len() } else { 1 }))
}

/// What is said of steps that are told together.
fn says_all(frame: &Frame, kind: FaultKind, steps: &[FaultStep]) -> String {
    let first = steps.first().map_or_else(String::new, |step| says(frame, kind, step));
    match (steps.len().saturating_sub(1), steps.last()) {
        (0, _) | (_, None) => first,
        (more, Some(last)) => {
            format!("{first}; so for {more} more until {}", grouped(frame.time.cycle(last.at)))
        }
    }
}

/// What became of one for which nothing waits.
fn end(fault: &FaultView) -> (&'static str, Role) {
    let has = |one| fault.steps.iter().any(|step| step.step == one);
    if has(LifeStep::Dropped) && !has(LifeStep::Arrived) {
        return ("dropped: to be replayed when another fault has ended", Role::Waiting);
    }
    let text = match fault.kind {
        FaultKind::Far => "over: the page came, and all who waited looked it up again",
        FaultKind::Protection => "over: the page may be written",
    };
    (text, Role::Good)
}

/// The same in few words: what came before an access of the page.
pub fn before(frame: &Frame, canvas: &mut Canvas, y: u16, fault: &FaultView) {
    let step = |steps: &[FaultStep]| {
        let first = steps.first()?;
        let times = if steps.len() > 1 { format!(", {} times", steps.len()) } else { String::new() };
        Some(format!("{} {}{times}", first.step.name(), grouped(frame.time.cycle(first.at))))
    };
    let steps: Vec<String> = folded(&fault.steps).filter_map(step).collect();
    // It may have been another access that it held up.
    canvas.paragraph(1, y, &format!("the last {}: {}", name(fault), steps.join(" › ")), Role::Dim);
}

#[must_use]
pub fn target(fault: &FaultView) -> Target {
    Target::Pages { first: fault.range.start, len: u64::from(fault.range.len) }
}

fn role(step: LifeStep) -> Role {
    match step {
        LifeStep::Missed { .. } | LifeStep::Walked => Role::Dim,
        LifeStep::Raised { .. } | LifeStep::Dropped => Role::Bad,
        LifeStep::Merged | LifeStep::Nacked | LifeStep::Queued => Role::Waiting,
        LifeStep::Serviced { .. } | LifeStep::Sent { .. } => Role::Changed,
        LifeStep::Arrived | LifeStep::Replayed | LifeStep::Filled => Role::Good,
    }
}

fn says(frame: &Frame, kind: FaultKind, step: &FaultStep) -> String {
    let who = frame.info.components.path(step.who);
    let is_far = kind == FaultKind::Far;
    match step.step {
        LifeStep::Missed { warp } => format!("in the TLB of {who}, for warp {warp}"),
        LifeStep::Walked => format!("{who} walks the page table"),
        LifeStep::Raised { used, most } if is_far => {
            format!("by {who}: the page is not here; MSHR {used} of {most}")
        }
        LifeStep::Raised { .. } => format!("by {who}: it writes a read-only page"),
        LifeStep::Merged => format!("with that of {who}"),
        LifeStep::Nacked => format!("{who} is told: not now"),
        LifeStep::Dropped => format!("that of {who}: no MSHR is free"),
        LifeStep::Queued => format!("in {who}, which is interrupted"),
        LifeStep::Serviced { set, demanded, prefetched } if is_far => {
            format!("by {who}: set {set}, {demanded} demanded + {prefetched} prefetched")
        }
        LifeStep::Serviced { .. } => format!("by {who}: translations and lines of it go"),
        LifeStep::Sent { ahead: 0 } => format!("over {who}"),
        LifeStep::Sent { ahead } => format!("over {who}, behind {}", plural(u64::from(ahead), "page")),
        LifeStep::Arrived if is_far => "the page is there".to_owned(),
        LifeStep::Arrived => "the page may be written".to_owned(),
        LifeStep::Replayed => format!("{who} asks again"),
        LifeStep::Filled => format!("in the TLB of {who}: its warps go on"),
    }
}

/// Faults under way; a few are told whole, many have a row each.
pub fn faults(frame: &Frame, canvas: &mut Canvas, y: u16, faults: &[FaultView]) -> u16 {
    let mut y = y;
    for fault in faults.iter().take(LISTED) {
        y = waiting(frame, canvas, y, fault, faults.len() <= FEW);
    }
    if faults.len() > LISTED {
        canvas.text(1, y, &format!("and {} faults more", faults.len() - LISTED), Role::Dim);
        y += 1;
    }
    y
}

/// A far-fault under way: its last stage and what it waits for; of one that a TLB has to replay only that, since the rest is about another page.
fn waiting(frame: &Frame, canvas: &mut Canvas, y: u16, fault: &FaultView, whole: bool) -> u16 {
    let stage = fault.steps.last().map_or("", |step| step.step.name());
    let is_unit = |link: &WaitLink| {
        let part = frame.info.components.get(link.at);
        part.is_some_and(|part| part.kind == ComponentKind::Cu)
    };
    let replays = fault.waits.first().filter(|link| is_unit(link));
    let waits = replays
        .or(fault.waits.last())
        .map_or_else(String::new, |link| format!(": {} {}", frame.info.components.path(link.at), link.text));
    let room = canvas.width().saturating_sub(1);
    canvas.item(1, y, room, target(fault));
    if whole {
        let text = format!("page {} ({}) {stage}{waits}", fault.page, fault.range.start);
        return canvas.paragraph(1, y, &text, Role::Waiting);
    }
    canvas.field(1, y, room, &format!("page {} {stage}{waits}", fault.page), Role::Waiting);
    y + 1
}
