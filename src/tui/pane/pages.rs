//! Pages: a letter each by where they are, how lately they were used, and what the driver does about them; or by what may be
//! done with them, where they are taken for read-only.

use crate::debug::frame::{Frame, hardware};
use crate::model::address::Address;
use crate::model::page_view::{Mover, PageCell, PageStand, PagesView};
use crate::model::text::plural;
use crate::model::units::Size;

use super::page_grid::{self, Cell};
use super::{fault, homes, permissions};
use crate::report::number::{counted, grouped};
use crate::tui::canvas::{Canvas, widest};
use crate::tui::target::Target;
use crate::tui::theme::Role;

#[must_use]
pub fn title(frame: &Frame) -> String {
    let of_gpu = frame.pages.gpus.first().map(|first| (first.page, first.group));
    let permissions = frame.pages.permissions.as_ref().map(|all| (all.page, all.group));
    let homes = frame.pages.homes.as_ref().map(|all| (all.page, all.group));
    let Some((size, group)) = of_gpu.or(permissions).or(homes) else { return String::new() };
    let each = if group > 1 { format!(", {group} a letter") } else { String::new() };
    let policies = policies(frame).map_or_else(String::new, |policies| format!(" · {policies}"));
    format!("{} each{each}{policies}", Size(u64::from(size)))
}

/// By what pages move, where that is the same on all GPUs.
fn policies(frame: &Frame) -> Option<String> {
    let mut all = frame.pages.gpus.iter().map(PagesView::policies);
    let first = all.next()?;
    all.all(|other| other == first).then_some(first)
}

pub fn draw(frame: &Frame, canvas: &mut Canvas) {
    if let Some(all) = &frame.pages.permissions {
        permissions::draw(frame, canvas, all);
        return;
    }
    if let Some(all) = frame.pages.homes.as_ref().filter(|_| frame.pages.gpus.is_empty()) {
        homes::draw(frame, canvas, all);
        return;
    }
    if frame.pages.gpus.is_empty() {
        canvas.paragraph(1, 0, "The memory of this machine is not paged", Role::Dim);
        return;
    }
    let mut y = 0;
    for gpu in &frame.pages.gpus {
        y = one(frame, canvas, y, gpu) + 1;
    }
}

fn one(frame: &Frame, canvas: &mut Canvas, y: u16, gpu: &PagesView) -> u16 {
    let name = format!("gpu{}", gpu.gpu);
    let x = canvas.text(1, y, &name, Role::Strong);
    canvas.item(1, y, name.len() as u16, Target::Component(gpu.driver));
    let mut head = format!("{} · {}", gpu.room(), gpu.in_vain());
    if policies(frame).is_none() {
        head = format!("{head} · {}", gpu.policies());
    }
    canvas.field(x + 1, y, canvas.width().saturating_sub(x + 1), &head, Role::Text);
    // Only sockets of one GPU have pages of each other, and a page that is only mapped never leaves.
    let is_rare = |stand| match stand {
        PageStand::Away => true,
        PageStand::Thrashing | PageStand::Leaving | PageStand::Evicted => gpu.frames.is_none(),
        _ => false,
    };
    let kinds = PageStand::ALL.into_iter().zip(gpu.counts);
    let kinds = kinds.filter(|(stand, count)| !is_rare(*stand) || *count > 0);
    let kinds = kinds.map(|(stand, count)| (stand.letter(), gpu.name_of(stand), role(stand), count));
    // What comes next stands above the map, which may be larger than the pane.
    let mut y = driver(frame, canvas, y + 1, gpu);
    y = selected(frame, canvas, y, gpu);
    y = page_grid::legend(canvas, y, kinds);
    y = page_grid::draw(canvas, y, &gpu.cells, cell);
    y = fault::faults(frame, canvas, y, &gpu.faults);
    y
}

/// Which page is selected, and where it is.
fn selected(frame: &Frame, canvas: &mut Canvas, y: u16, gpu: &PagesView) -> u16 {
    let holds = |cell: &&PageCell, block: Address| {
        (cell.first.0..cell.first.0.saturating_add(cell.len)).contains(&block.0)
    };
    let found = frame.selection.block.and_then(|block| gpu.cells.iter().find(|cell| holds(cell, block)));
    let Some(cell) = found else { return y };
    let pages = match cell.len / u64::from(gpu.page.max(1)) {
        0 | 1 => format!("page {:#x} ({})", cell.first.0 / u64::from(gpu.page.max(1)), cell.first),
        count => format!("{count} pages from {}", cell.first),
    };
    let text = format!("selected: {pages}: {}", gpu.name_of(cell.stand));
    canvas.field(1, y, canvas.width().saturating_sub(1), &text, Role::Text);
    y + 1
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
        PageStand::Evicted | PageStand::Host | PageStand::Away => Role::Dim,
    }
}

fn cell(pages: &PageCell) -> Cell {
    let PageCell { first, len, stand, heat } = *pages;
    Cell { first, len, letter: stand.letter(), role: role(stand), heat }
}

/// What the driver gathers, and what it did last.
fn driver(frame: &Frame, canvas: &mut Canvas, y: u16, gpu: &PagesView) -> u16 {
    let cycle = |tick| frame.time.cycle(tick);
    if let Mover::Copies { under_way, .. } = gpu.mover {
        let told = |copy| format!("copies {}", hardware::copying(copy, frame.time));
        let text = under_way.map_or_else(|| "no copy is under way".to_owned(), told);
        canvas.field(1, y, canvas.width().saturating_sub(1), &text, Role::Dim);
        return y + 1;
    }
    let room = canvas.width().saturating_sub(1);
    let faults = plural(gpu.queued, "far-fault");
    let texts = match gpu.due.map(|due| (cycle(due).saturating_sub(frame.position.cycle), cycle(due))) {
        None => [format!("driver: {faults} queued"), format!("{faults} queued"), gpu.queued.to_string()],
        Some((left, due)) => [
            format!(
                "driver: {faults} queued; the next set is due in {}, at {}",
                counted(left, "cycle"),
                grouped(due)
            ),
            format!("driver: {} queued, next set in {}", gpu.queued, counted(left, "cycle")),
            format!("{} queued, set at {}", gpu.queued, grouped(due)),
        ],
    };
    let role = if gpu.queued > 0 { Role::Waiting } else { Role::Dim };
    canvas.field(1, y, room, widest(&texts, room), role);
    let set = gpu.last_set;
    if set.set == 0 {
        return y + 1;
    }
    let texts = transferred(gpu, cycle(set.at));
    canvas.field(1, y + 1, room, widest(&texts, room), Role::Text);
    y + 2
}

/// What the last transfer set was, in less and less room.
fn transferred(gpu: &PagesView, cycle: u64) -> [String; 3] {
    let set = gpu.last_set;
    let (number, demanded, prefetched, evicted, free) =
        (set.set, set.demanded, set.prefetched, set.evicted, set.free);
    let long = format!("set {number} at {}: {demanded} demanded + {prefetched} prefetched", grouped(cycle));
    let short = format!("set {number}: {demanded} + {prefetched} prefetched");
    if gpu.frames.is_none() {
        return [long, short.clone(), short];
    }
    [
        format!("{long}, {evicted} evicted; free frames before: {free}"),
        format!("{short}, {evicted} evicted, {free} free before"),
        format!("{short}, {evicted} evicted, {free} free"),
    ]
}
