//! Pages: a letter each by where they are, how lately they were used, and what the driver does about them; or by what may be
//! done with them, where they are taken for read-only.

use crate::debug::frame::Frame;
use crate::model::page_view::{FaultView, PageStand, PagesView};

use super::{fault, permissions};
use crate::tui::glyphs;
use crate::tui::target::Target;
use crate::tui::theme::Role;
use crate::tui::view::canvas::Canvas;

/// Columns of the addresses.
pub(super) const LABEL: u16 = 11;

/// Far-faults that are listed, at most.
const LISTED: usize = 32;

#[must_use]
pub fn title(frame: &Frame) -> String {
    let of_gpu = frame.pages.gpus.first().map(|first| (first.page, first.group));
    let permissions = frame.pages.permissions.as_ref().map(|all| (all.page, all.group));
    let Some((size, group)) = of_gpu.or(permissions) else { return String::new() };
    let each = if group > 1 { format!(", {group} a letter") } else { String::new() };
    format!("{} each{each}", kib(u64::from(size)))
}

fn kib(bytes: u64) -> String {
    if bytes >= 1 << 20 { format!("{} MiB", bytes >> 20) } else { format!("{} KiB", bytes >> 10) }
}

pub fn draw(frame: &Frame, canvas: &mut Canvas) {
    if let Some(all) = &frame.pages.permissions {
        permissions::draw(frame, canvas, all);
        return;
    }
    if frame.pages.gpus.is_empty() {
        canvas.text(1, 0, "The memory of this machine is not paged", Role::Dim);
        return;
    }
    let mut y = 0;
    for gpu in &frame.pages.gpus {
        y = one(frame, canvas, y, gpu) + 1;
    }
}

fn one(frame: &Frame, canvas: &mut Canvas, y: u16, gpu: &PagesView) -> u16 {
    let held = gpu.frames.saturating_sub(gpu.free);
    let full = if gpu.free == 0 { ", FULL" } else { "" };
    let name = format!("gpu{}", gpu.gpu);
    let x = canvas.text(1, y, &name, Role::Strong);
    canvas.item(1, y, name.len() as u16, Target::Component(gpu.driver));
    let head = format!(
        "{held} of {} frames{full} · {} evicts, {} prefetches · {} wasted, {} thrashed",
        gpu.frames, gpu.evictor, gpu.prefetcher, gpu.wasted, gpu.thrashed
    );
    canvas.field(x + 1, y, canvas.width().saturating_sub(x + 1), &head, Role::Text);
    let mut y = legend(canvas, y + 1, gpu);
    y = grid(canvas, y, gpu);
    y = driver(frame, canvas, y, gpu);
    y = faults(frame, canvas, y, &gpu.faults);
    y
}

/// Faults under way, a row each.
pub(super) fn faults(frame: &Frame, canvas: &mut Canvas, y: u16, faults: &[FaultView]) -> u16 {
    let mut y = y;
    for fault in faults.iter().take(LISTED) {
        waiting(frame, canvas, y, fault);
        y += 1;
    }
    if faults.len() > LISTED {
        canvas.text(1, y, &format!("and {} faults more", faults.len() - LISTED), Role::Dim);
        y += 1;
    }
    y
}

/// What the letters mean, and how many pages have each.
fn legend(canvas: &mut Canvas, y: u16, gpu: &PagesView) -> u16 {
    let (mut x, mut row) = (1, y);
    for (stand, count) in PageStand::ALL.into_iter().zip(gpu.counts) {
        let text = format!("{} {} {count}", stand.letter(), stand.name());
        if x + text.len() as u16 > canvas.width() && x > 1 {
            (x, row) = (1, row + 1);
        }
        x = canvas.text(x, row, &text, if count > 0 { role(stand) } else { Role::Dim }) + 2;
    }
    row + 1
}

fn role(stand: PageStand) -> Role {
    match stand {
        PageStand::Thrashing => Role::Bad,
        PageStand::Faulted => Role::Waiting,
        PageStand::Coming => Role::Reply,
        PageStand::Leaving => Role::Request,
        PageStand::Dirty => Role::Dirty,
        PageStand::Unused => Role::Warning,
        PageStand::Used => Role::Good,
        PageStand::Evicted | PageStand::Host => Role::Dim,
    }
}

/// Rows of letters after the address of the first; below each its bars of heat, where there is room for both.
fn grid(canvas: &mut Canvas, y: u16, gpu: &PagesView) -> u16 {
    let across = usize::from(canvas.width().saturating_sub(LABEL + 2)).max(1);
    let across = if across >= 32 { across / 16 * 16 } else { across };
    let rows = gpu.cells.len().div_ceil(across) as u16;
    let heated =
        rows * 2 + y < canvas.height().saturating_sub(2) && gpu.cells.iter().any(|cell| cell.heat.is_some());
    let mut row = y;
    for cells in gpu.cells.chunks(across) {
        canvas.reserve(row);
        if let Some(first) = cells.first() {
            canvas.field(1, row, LABEL, &first.first.to_string(), Role::Dim);
        }
        let shown = canvas.shows(row);
        for (at, cell) in cells.iter().enumerate().filter(|_| shown) {
            let x = LABEL + 1 + at as u16;
            canvas.text(x, row, &cell.stand.letter().to_string(), role(cell.stand));
            canvas.item(x, row, 1, Target::Pages { first: cell.first, len: cell.len });
            if let Some(heat) = cell.heat.filter(|_| heated) {
                canvas.text(x, row + 1, &glyphs::bar(f64::from(heat)).to_string(), Role::Dim);
            }
        }
        if heated {
            canvas.field(1, row + 1, LABEL, "used lately", Role::Dim);
        }
        row += 1 + u16::from(heated);
    }
    row
}

/// What the driver gathers, and what it did last.
fn driver(frame: &Frame, canvas: &mut Canvas, y: u16, gpu: &PagesView) -> u16 {
    let cycle = |tick| frame.time.cycle(tick);
    let due = gpu.due.map_or_else(String::new, |due| {
        let left = cycle(due).saturating_sub(frame.position.cycle);
        format!("; the next set is due in {left} cycles, at {}", cycle(due))
    });
    let room = canvas.width().saturating_sub(1);
    let queue = format!("driver: {} far-faults queued{due}", gpu.queued);
    canvas.field(1, y, room, &queue, if gpu.queued > 0 { Role::Waiting } else { Role::Dim });
    let set = gpu.last_set;
    if set.set == 0 {
        return y + 1;
    }
    let last = format!(
        "set {} at {}: {} demanded + {} prefetched, {} evicted, {} frames were free",
        set.set,
        cycle(set.at),
        set.demanded,
        set.prefetched,
        set.evicted,
        set.free
    );
    canvas.field(1, y + 1, room, &last, Role::Text);
    y + 2
}

/// A far-fault under way: its last stage and what it waits for.
fn waiting(frame: &Frame, canvas: &mut Canvas, y: u16, fault: &FaultView) {
    let stage = fault.steps.last().map_or("", |step| step.stage.name());
    let waits = fault
        .waits
        .last()
        .map_or_else(String::new, |link| format!(": {} {}", frame.info.components.path(link.at), link.text));
    let text = format!("page {} {stage}{waits}", fault.page);
    let room = canvas.width().saturating_sub(1);
    canvas.field(1, y, room, &text, Role::Waiting);
    canvas.item(1, y, room, fault::target(fault));
}
