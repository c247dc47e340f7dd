//! Miss status holding registers: how many are in use, the most there ever were, and what each entry waits for.

use crate::debug::frame::Frame;
use crate::model::inspect::MshrView;

use super::{age, tags, tlbs};
use crate::tui::target::Target;
use crate::tui::theme::Role;
use crate::tui::view::canvas::Canvas;

/// Nodes beyond which those without entries are summed up.
const MOST: usize = 16;

pub fn draw(frame: &Frame, canvas: &mut Canvas) {
    // Files in use come first: they are what one looks for.
    let (used, idle): (Vec<_>, Vec<_>) = frame.mshrs.iter().partition(|file| file.used > 0);
    let mut y = 0;
    let others = if frame.mshrs.len() > MOST { idle.len() } else { 0 };
    let idle = idle.into_iter().take(if others > 0 { 0 } else { MOST });
    for file in used.into_iter().chain(idle) {
        summary(frame, canvas, y, file);
        y += 1;
        for entry in &file.entries {
            let txn = entry.txn.map_or(String::new(), |txn| format!("txn {} ", txn.0));
            let merged =
                if entry.merged > 1 { format!("  +{} joined", entry.merged - 1) } else { String::new() };
            let without = if entry.has_mshr { "" } else { ", no MSHR" };
            let text = format!(
                "{:<8} {txn} {}, {} cycles{without}{merged}",
                entry.range.start.to_string(),
                entry.waits_for,
                age(frame, entry.since)
            );
            let text = text.replace("  waits for ", "  ");
            let room = canvas.width().saturating_sub(4);
            canvas.field(3, y, room, &text, Role::Waiting);
            let target = match entry.txn {
                Some(txn) => Target::Txn { txn, block: entry.range.start },
                None => Target::Block(entry.range.start),
            };
            canvas.item(3, y, room, target);
            y += 1;
        }
        let more = file.under_way.saturating_sub(file.entries.len());
        if more > 0 {
            canvas.text(3, y, &format!("and {more} more"), Role::Dim);
            y += 1;
        }
    }
    if others > 0 {
        canvas.text(1, y, &format!("{others} others have nothing under way"), Role::Dim);
        y += 1;
    }
    y = tags::queues(frame, canvas, y);
    y = tlbs::draw(frame, canvas, y);
    if frame.mshrs.is_empty() {
        canvas.text(1, 0, "This machine has no MSHRs", Role::Dim);
    } else if canvas.height() > y + 1 {
        canvas.paragraph(
            1,
            y + 1,
            "# in use, + was in use, - never; +3 joined: others wait for it, too",
            Role::Dim,
        );
    }
}

fn summary(frame: &Frame, canvas: &mut Canvas, y: u16, file: &MshrView) {
    let path = frame.info.components.path(file.node);
    canvas.field(1, y, 16, path, Role::Text);
    canvas.item(1, y, 16, Target::Component(file.node));
    let full = file.capacity.is_some_and(|capacity| file.used >= capacity);
    let role = if full {
        Role::Bad
    } else if file.used > 0 {
        Role::Strong
    } else {
        Role::Dim
    };
    let capacity = file.capacity.map_or("no limit".to_owned(), |capacity| capacity.to_string());
    let mut x = 18;
    if let Some(capacity) = file.capacity.filter(|capacity| (1..=16).contains(capacity)) {
        let bar: String = (0..capacity)
            .map(|nth| {
                if nth < file.used {
                    '#'
                } else if nth < file.high_water {
                    '+'
                } else {
                    '-'
                }
            })
            .collect();
        x = canvas.text(x, y, &bar, role) + 1;
    }
    let most = if file.high_water > 0 { format!(", most {}", file.high_water) } else { String::new() };
    canvas.text(
        x,
        y,
        &format!("{} of {capacity}{most}{}", file.used, if full { "  FULL" } else { "" }),
        role,
    );
}
