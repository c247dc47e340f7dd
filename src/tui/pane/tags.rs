//! The pending queues of tag miss handlers, and what each request in them waits for.

use crate::debug::frame::Frame;
use crate::model::tags::{TagRequest, TagView};
use crate::model::text::plural;

use super::age;
use crate::report::number::counted;
use crate::tui::canvas::Canvas;
use crate::tui::target::Target;
use crate::tui::theme::Role;

/// Draws the pending queues in which something waits, or the others, from row `y` on; returns the row after them.
pub fn queues(frame: &Frame, canvas: &mut Canvas, y: u16, are_used: bool) -> u16 {
    let mut y = y;
    for tags in frame.tags.iter().filter(|tags| tags.queue.is_empty() != are_used) {
        y = queue(frame, canvas, y, tags);
    }
    y
}

fn queue(frame: &Frame, canvas: &mut Canvas, y: u16, tags: &TagView) -> u16 {
    let name = format!("{} queue", frame.info.components.path(tags.node));
    let (used, capacity) = (tags.queue.len() as u32, tags.queue_capacity);
    let most = tags.counters.pending_high_water;
    let relayed = if tags.relayed > 0 {
        format!(", {} on the way to the host", plural(u64::from(tags.relayed), "write"))
    } else {
        String::new()
    };
    let full = if used >= capacity { "  FULL" } else { "" };
    canvas.field(1, y, 20, &name, Role::Text);
    canvas.item(1, y, 20, Target::Component(tags.node));
    let role = match used {
        0 => Role::Dim,
        _ if used >= capacity => Role::Bad,
        _ => Role::Strong,
    };
    let text = format!("{used} of {capacity}, most {most}{relayed}{full}");
    canvas.field(22, y, canvas.width().saturating_sub(22), &text, role);
    let mut y = y + 1;
    for (place, request) in tags.queue.iter().enumerate() {
        y = line(frame, canvas, y, place, request);
    }
    y
}

fn line(frame: &Frame, canvas: &mut Canvas, y: u16, place: usize, request: &TagRequest) -> u16 {
    let txn = request.txn.map_or(String::new(), |txn| format!("txn {} ", txn.0));
    let what = if request.writes { "write" } else { "read" };
    let waits = match (request.arrived, place) {
        (false, _) => "data coming",
        (true, 0) => "data here",
        (true, _) => "data here, behind the head",
    };
    let text = format!(
        "{:<8} {txn}{what}, {waits}, {}",
        request.range.start.to_string(),
        counted(age(frame, request.since), "cycle")
    );
    let room = canvas.width().saturating_sub(4);
    canvas.field(3, y, room, &text, if request.arrived { Role::Reply } else { Role::Waiting });
    let target = match request.txn {
        Some(txn) => Target::Txn { txn, block: request.range.start },
        None => Target::Block(request.range.start),
    };
    canvas.item(3, y, room, target);
    y + 1
}
