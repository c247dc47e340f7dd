//! TLBs: how full they are, and the translations that they wait for.

use crate::debug::frame::Frame;
use crate::model::page_view::TlbView;

use super::age;
use crate::model::text::plural;
use crate::report::number::counted;
use crate::tui::canvas::{Canvas, widest};
use crate::tui::target::Target;
use crate::tui::theme::Role;

/// TLBs beyond which those without misses are summed up.
const MOST: usize = 8;

/// Draws them from row `y` on, those that miss first; returns the row after them.
pub fn draw(frame: &Frame, canvas: &mut Canvas, y: u16) -> u16 {
    let tlbs = &frame.pages.tlbs;
    let (missing, calm): (Vec<_>, Vec<_>) = tlbs.iter().partition(|tlb| !tlb.misses.is_empty());
    let others = if tlbs.len() > MOST { calm.len() } else { 0 };
    let mut y = y;
    for tlb in missing.into_iter().chain(calm.into_iter().take(if others > 0 { 0 } else { MOST })) {
        y = one(frame, canvas, y, tlb);
    }
    if others > 0 {
        canvas.text(1, y, &format!("{others} TLBs miss nothing"), Role::Dim);
        y += 1;
    }
    y
}

fn one(frame: &Frame, canvas: &mut Canvas, y: u16, tlb: &TlbView) -> u16 {
    let name = format!("{}.tlb", frame.info.components.path(tlb.agent));
    canvas.field(1, y, 16, &name, Role::Text);
    canvas.item(1, y, 16, Target::Component(tlb.agent));
    let over = if tlb.nacks > tlb.tracked { ", OVER" } else { "" };
    let joined = if tlb.joined > 0 { format!(", {} joined", tlb.joined) } else { String::new() };
    let tracked = format!("tracked {} of {}{over}{joined}", tlb.nacks, tlb.tracked);
    let entries =
        tlb.capacity.map_or_else(|| "all pages".to_owned(), |most| format!("{}/{most} entries", tlb.used));
    let hits = format!("hits {} of {}", tlb.hits, tlb.hits + tlb.missed);
    let texts = [format!("{tracked}, {entries}, {hits}"), format!("{tracked}, {hits}"), tracked];
    let role = if tlb.misses.is_empty() { Role::Dim } else { Role::Strong };
    let room = canvas.width().saturating_sub(18);
    canvas.field(18, y, room, widest(&texts, room), role);
    let mut y = y + 1;
    for miss in &tlb.misses {
        let warps = plural(u64::from(miss.warps), "warp");
        let since = counted(age(frame, miss.since), "cycle");
        let text = format!("{warps}: {}, missed {since} ago", miss.waits_for);
        let x = canvas.text(3, y, &format!("{:<8}", miss.range.start.to_string()), Role::Waiting) + 1;
        let end = canvas.paragraph(x, y, &text, Role::Waiting);
        let room = canvas.width().saturating_sub(4);
        canvas.item(3, y, room, Target::Pages { first: miss.range.start, len: u64::from(miss.range.len) });
        y = end;
    }
    y
}
