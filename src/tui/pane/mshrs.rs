//! Miss status holding registers: how many are in use, the most there ever were, and what each entry waits for.

use unicode_width::UnicodeWidthStr;

use crate::debug::frame::Frame;
use crate::model::component::{ComponentId, ComponentKind};
use crate::model::inspect::{MshrEntryView, MshrView};
use crate::model::tags::TagScore;

use super::{age, tags, tlbs};
use crate::report::number::counted;
use crate::tui::canvas::Canvas;
use crate::tui::target::Target;
use crate::tui::theme::Role;

/// Nodes beyond which those without entries are summed up.
const MOST: usize = 16;

pub fn draw(frame: &Frame, canvas: &mut Canvas) {
    // Files in use come first, then those that were: they are what one looks for. Tag miss handlers and GMMUs are few, and come
    // before all.
    let (mut used, idle): (Vec<_>, Vec<_>) = frame.mshrs.iter().partition(|file| file.used > 0);
    used.sort_by_key(|file| !is_scoreboard(frame, file) && !is_gmmu(frame, file));
    let is_told =
        |file: &&MshrView| frame.mshrs.len() <= MOST || frame.selection.component == Some(file.node);
    let (idle, hidden): (Vec<_>, Vec<_>) = idle.into_iter().partition(is_told);
    let others = hidden.len();
    let (before, never): (Vec<_>, Vec<_>) = idle.into_iter().partition(|file| file.high_water > 0);
    let mut y = tags::queues(frame, canvas, 0, true);
    for file in used.into_iter().chain(before) {
        y = one(frame, canvas, y, file);
    }
    y = tags::queues(frame, canvas, y, false);
    y = tlbs::draw(frame, canvas, y);
    for file in never {
        y = one(frame, canvas, y, file);
    }
    if others > 0 {
        let who =
            if others == frame.mshrs.len() { format!("all {others}") } else { format!("{others} others") };
        canvas.text(1, y, &format!("{who} have nothing under way"), Role::Dim);
        y += 1;
    }
    if frame.mshrs.is_empty() {
        canvas.text(1, 0, "This machine has no MSHRs", Role::Dim);
    } else if canvas.height() > y + 1 {
        let signs = "# in use, + was in use, - never; +3 joined: others wait for it, too";
        let end = canvas.paragraph(1, y + 1, signs, Role::Dim);
        if frame.pages.tlbs.iter().any(|tlb| !tlb.misses.is_empty()) {
            let ages = "missed: since the TLB's miss; faulted: since the walk after it found that the access may not be done";
            canvas.paragraph(1, end, ages, Role::Dim);
        }
    }
}

/// Whether the entries of a file are those of a tag miss handler.
fn is_scoreboard(frame: &Frame, file: &MshrView) -> bool {
    frame.tags.iter().any(|tags| tags.node == file.node)
}

/// Whether the entries of a file are far-faults.
fn is_gmmu(frame: &Frame, file: &MshrView) -> bool {
    frame.info.components.get(file.node).is_some_and(|part| part.kind == ComponentKind::Gmmu)
}

/// A file and the oldest of what is under way there; returns the row after them.
fn one(frame: &Frame, canvas: &mut Canvas, y: u16, file: &MshrView) -> u16 {
    summary(frame, canvas, y, file);
    let mut y = y + 1;
    for entry in &file.entries {
        y = row(frame, canvas, y, file.node, entry);
    }
    let more = file.under_way.saturating_sub(file.entries.len());
    if more > 0 {
        if canvas.shows(y) {
            canvas.text(3, y, &format!("and {more} more"), Role::Dim);
        }
        canvas.reserve(y);
        y += 1;
    }
    y
}

/// How old an entry is. That of a page's fault is younger than the misses of TLBs before it: it says what it counts from.
fn since(frame: &Frame, node: ComponentId, entry: &MshrEntryView) -> String {
    let cycles = counted(age(frame, entry.since), "cycle");
    let part = frame.info.components.get(node);
    if part.is_some_and(|part| part.kind == ComponentKind::Gmmu) {
        format!("faulted {cycles} ago")
    } else {
        cycles
    }
}

/// What one entry is for and waits for, in as many rows as that takes. Returns the row after it.
fn row(frame: &Frame, canvas: &mut Canvas, y: u16, node: ComponentId, entry: &MshrEntryView) -> u16 {
    if canvas.is_past(y) {
        canvas.reserve(y);
        return y + 1;
    }
    let address = format!("{:<8}", entry.range.start.to_string());
    let txn = entry.txn.map_or(String::new(), |txn| format!("txn {}  ", txn.0));
    let merged = match score(frame, node, entry) {
        Some(score) => format!(", counter {}, arrival bit {}", score.count, u8::from(score.arrived)),
        None if entry.merged > 1 => format!(", +{} joined", entry.merged - 1),
        None => String::new(),
    };
    let without = if entry.has_mshr { "" } else { ", no MSHR" };
    let waits = entry.waits_for.strip_prefix("waits for ").unwrap_or(&entry.waits_for);
    // Sectors that are wanted and those that come: short enough to stand in one row.
    let waits = waits.replace(", on the way ", " coming ");
    let text = format!("{txn}{waits}, {}{without}{merged}", since(frame, node, entry));
    let x = canvas.text(3, y, &address, Role::Waiting) + 1;
    let end = canvas.paragraph(x, y, &text, Role::Waiting);
    let target = match entry.txn {
        Some(txn) => Target::Txn { txn, block: entry.range.start },
        None => Target::Block(entry.range.start),
    };
    canvas.item(3, y, canvas.width().saturating_sub(4), target);
    end
}

/// The entry of the scoreboard of a tag miss handler that an entry is.
fn score<'a>(frame: &'a Frame, node: ComponentId, entry: &MshrEntryView) -> Option<&'a TagScore> {
    let tags = frame.tags.iter().find(|tags| tags.node == node)?;
    tags.scores.iter().find(|score| score.range.start == entry.range.start)
}

/// How many entries are in use, as many ways as there are to say it in less and less room, the longest first.
fn counts(file: &MshrView) -> [String; 3] {
    let full = file.capacity.is_some_and(|capacity| file.used >= capacity);
    let most = if file.high_water > 0 { format!(", most {}", file.high_water) } else { String::new() };
    let capacity = file.capacity.map_or(", no limit".to_owned(), |capacity| format!(" of {capacity}"));
    let long = format!("{}{capacity}{most}{}", file.used, if full { "  FULL" } else { "" });
    let of = file.capacity.map_or(String::new(), |capacity| format!("/{capacity}"));
    // Of a full file one knows how many it ever had.
    let short = format!("{}{of}{}", file.used, if full { " FULL" } else { &most });
    let bar = bar(file).map_or(String::new(), |bar| format!("{bar} "));
    [format!("{bar}{long}"), format!("{bar}{short}"), short]
}

/// A letter for each register, where they are few.
fn bar(file: &MshrView) -> Option<String> {
    let capacity = file.capacity.filter(|capacity| (1..=16).contains(capacity))?;
    let letter = |nth| match nth {
        nth if nth < file.used => '#',
        nth if nth < file.high_water => '+',
        _ => '-',
    };
    Some((0..capacity).map(letter).collect())
}

fn summary(frame: &Frame, canvas: &mut Canvas, y: u16, file: &MshrView) {
    // There may be very many: what is scrolled away needs no text.
    if !canvas.shows(y) {
        canvas.item(1, y, 16, Target::Component(file.node));
        return canvas.reserve(y);
    }
    let path = frame.info.components.path(file.node);
    canvas.field(1, y, 16, path, Role::Text);
    canvas.item(1, y, 16, Target::Component(file.node));
    let role = match file.used {
        used if file.capacity.is_some_and(|capacity| used >= capacity) => Role::Bad,
        0 => Role::Dim,
        _ => Role::Strong,
    };
    let room = canvas.width().saturating_sub(18);
    let mut texts = counts(file);
    if is_scoreboard(frame, file) {
        texts[0].insert_str(0, "scoreboard ");
        texts[1] = format!("scoreboard {} of {}", file.used, file.capacity.unwrap_or_default());
    }
    let [.., shortest] = &texts;
    let text = texts.iter().find(|text| text.width() <= usize::from(room)).unwrap_or(shortest);
    canvas.field(18, y, room, text, role);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_told_in_little_room() {
        let file = |used, high_water, capacity| MshrView {
            node: ComponentId(0),
            used,
            capacity,
            high_water,
            under_way: used as usize,
            entries: Vec::new(),
        };
        assert_eq!(counts(&file(1, 2, Some(4))), ["#+-- 1 of 4, most 2", "#+-- 1/4, most 2", "1/4, most 2"]);
        assert_eq!(counts(&file(4, 4, Some(4))), ["#### 4 of 4, most 4  FULL", "#### 4/4 FULL", "4/4 FULL"]);
        assert_eq!(counts(&file(0, 0, None)), ["0, no limit", "0", "0"]);
    }
}
