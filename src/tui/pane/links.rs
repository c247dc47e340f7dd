//! Links: lanes, utilisation now and over time, queues, and what is on the wire.

use crate::debug::frame::Frame;
use crate::model::inspect::LinkView;
use crate::model::message::Network;

use super::{map_rail, per_cent};
use crate::tui::glyphs;
use crate::tui::target::Target;
use crate::tui::theme::Role;
use crate::tui::view::canvas::Canvas;

pub fn draw(frame: &Frame, canvas: &mut Canvas) {
    if frame.links.is_empty() {
        canvas.text(1, 0, "This machine has no links", Role::Dim);
        return;
    }
    let names = frame.links.iter().map(|link| name(frame, link).chars().count()).max().unwrap_or(8) as u16;
    let mut y = 0;
    for link in &frame.links {
        one(frame, canvas, y, link, names.clamp(6, 18));
        y += 1;
        for packet in link.in_flight.iter().take(4) {
            let txn = packet.txn.map_or(String::new(), |txn| format!("  txn {}", txn.0));
            let names = &frame.info.components;
            let text = format!(
                "{}  {} → {}  {}  {} B{txn}",
                map_rail::name(packet),
                names.path(packet.from),
                names.path(packet.to),
                packet.range.start,
                packet.size
            );
            let role = role(packet.kind.network());
            canvas.text(names_column(names_width(frame)), y, &text, role);
            if let Some(txn) = packet.txn {
                let target = Target::Txn { txn, block: packet.range.start };
                canvas.item(names_column(names_width(frame)), y, text.chars().count() as u16, target);
            }
            y += 1;
        }
    }
    if canvas.height() > y + 1 {
        canvas.paragraph(
            1,
            y + 1,
            "▶ a lane; ▁▄█ use over time; q queued request/probe/reply; b waiting in the receivers' buffers",
            Role::Dim,
        );
    }
}

fn names_width(frame: &Frame) -> u16 {
    frame.links.iter().map(|link| name(frame, link).chars().count()).max().unwrap_or(8).clamp(6, 18) as u16
}

fn names_column(width: u16) -> u16 {
    width + 2
}

fn name<'a>(frame: &'a Frame, link: &LinkView) -> &'a str {
    let path = frame.info.components.path(link.link);
    path.strip_prefix("link.").unwrap_or(path)
}

fn role(network: Network) -> Role {
    match network {
        Network::Request => Role::Request,
        Network::Probe => Role::Probe,
        Network::Reply => Role::Reply,
    }
}

fn one(frame: &Frame, canvas: &mut Canvas, y: u16, link: &LinkView, names: u16) {
    let mut x = canvas.field(1, y, names, name(frame, link), Role::Strong) + 1;
    canvas.item(1, y, names, Target::Component(link.link));
    let inwards = frame.info.components.path(link.link).rsplit('.').next() == Some("in");
    let arrows = (if inwards { "◀" } else { "▶" }).repeat(link.lanes.min(16) as usize);
    let lanes = frame.links.iter().map(|link| link.lanes).max().unwrap_or(1).clamp(4, 16) as u16;
    let lanes = lanes.min(canvas.width() / 6);
    x = canvas.field(x, y, lanes, &arrows, Role::Request) + 1;
    let lanes = if canvas.width() >= 70 { format!("{} lanes", link.lanes) } else { link.lanes.to_string() };
    x = canvas.field(x, y, if canvas.width() >= 70 { 9 } else { 2 }, &lanes, Role::Text);
    canvas.text_right(x + 5, y, &per_cent(link.utilisation), load(link.utilisation));
    x += 6;
    let room = canvas.width().saturating_sub(x + 24).clamp(4, 32);
    let skip = link.history.len().saturating_sub(usize::from(room));
    let bars: String = link.history.iter().skip(skip).map(|share| glyphs::bar(f64::from(*share))).collect();
    canvas.text(x, y, &bars, load(link.utilisation));
    x += room + 1;
    x = canvas.text(x, y, &format!("q {}", counts(&link.queued)), Role::Text) + 2;
    let buffered: Vec<String> =
        link.buffered.iter().map(|(_, used, size)| format!("{used}/{size}")).collect();
    canvas.text(x, y, &format!("b {}", buffered.join(" ")), Role::Dim);
}

fn counts(queues: &[(Network, u32)]) -> String {
    let counts: Vec<String> = queues.iter().map(|(_, count)| count.to_string()).collect();
    if counts.is_empty() { "0".into() } else { counts.join("/") }
}

fn load(share: f64) -> Role {
    match share {
        share if share >= 0.95 => Role::Bad,
        share if share >= 0.6 => Role::Warning,
        share if share > 0.0 => Role::Good,
        _ => Role::Dim,
    }
}
