//! The log: records up to here that match the filter, the newest at the bottom, each with what caused it.

use std::fmt::Write as _;

use crate::debug::frame::Frame;
use crate::debug::frame::log::LogLine;

use crate::tui::canvas::Canvas;
use crate::tui::target::Target;
use crate::tui::theme::Role;

#[must_use]
pub fn title(frame: &Frame) -> String {
    let log = &frame.log;
    let later = if log.after > 0 { format!("{} later below", log.after) } else { String::new() };
    match (log.filter.is_empty(), later.is_empty()) {
        (true, true) => String::new(),
        (true, false) => later,
        (false, true) => format!("/{}", log.filter),
        (false, false) => format!("/{} · {later}", log.filter),
    }
}

pub fn draw(frame: &Frame, canvas: &mut Canvas) {
    let log = &frame.log;
    if log.lines.is_empty() {
        let text =
            if log.filter.is_empty() { "Nothing has happened yet" } else { "No record matches the filter" };
        canvas.text(1, 0, text, Role::Dim);
        return;
    }
    let names = &frame.info.components;
    let places = log.lines.iter().filter_map(|line| Some(names.path(line.at?).len()));
    let place = places.max().unwrap_or(8).clamp(4, 16) as u16;
    let skip = log.lines.len().saturating_sub(usize::from(canvas.height()));
    // A name that is cut is none to break at; where there is no room the text counts more.
    let longest = log.lines.iter().map(|line| line.kind.len()).max().unwrap_or(0) as u16;
    let kind = if canvas.width() >= 90 { longest.max(10) } else { 10 };
    for (nth, line) in log.lines.iter().skip(skip).enumerate() {
        one(frame, canvas, nth as u16, line, (kind, place));
    }
}

fn role(line: &LogLine) -> Role {
    match line.kind {
        "violation" | "fault" => Role::Bad,
        "stall" | "no-credit" => Role::Warning,
        "transition" | "lane-reversal" | "saturation" => Role::Strong,
        "issue" | "complete" => Role::Good,
        "message" | "hop" | "delivery" if line.text.starts_with("probe") => Role::Probe,
        "message" | "hop" | "delivery" => Role::Text,
        _ => Role::Dim,
    }
}

fn one(frame: &Frame, canvas: &mut Canvas, y: u16, line: &LogLine, (kind, place): (u16, u16)) {
    let now = frame.now.first().is_some_and(|now| now.id.event == line.id.event);
    canvas.text(0, y, if now { "▸" } else { " " }, Role::Changed);
    let mut x = canvas.text_right(7, y, &line.id.event.to_string(), Role::Dim) + 1;
    if canvas.width() >= 90 {
        x = canvas.text_right(x + 7, y, &line.cycle.to_string(), Role::Dim) + 1;
    }
    x += 1;
    x = canvas.field(x, y, kind, line.kind, role(line)) + 1;
    let path = line.at.map_or("", |at| frame.info.components.path(at));
    x = canvas.field(x, y, place, path, Role::Text) + 2;
    let width = canvas.width();
    let mut text = line.text.clone();
    if let Some(range) = line.range
        && !matches!(line.kind, "issue" | "complete")
    {
        let _ = write!(text, "  block {}", range.start);
    }
    if let Some(txn) = line.txn {
        let _ = write!(text, "  txn {}", txn.0);
    }
    let word = if width >= 90 { "because" } else { "←" };
    let because = line.because.map_or(String::new(), |event| format!("{word} {event}"));
    let room = width.saturating_sub(x + because.chars().count() as u16 + 2);
    canvas.field(x, y, room, &text, role(line));
    canvas.text_right(width.saturating_sub(1), y, &because, Role::Dim);
    let target = Target::Record {
        id: line.id,
        at: line.at,
        block: line.range.map(|range| range.start),
        txn: line.txn,
    };
    canvas.item(1, y, width.saturating_sub(2), target);
}
