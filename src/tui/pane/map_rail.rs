//! The links of the map: a rail between the two devices that each joins, with the packets on it.

use unicode_width::UnicodeWidthStr;

use crate::debug::frame::Frame;
use crate::debug::frame::map::Map;
use crate::model::inspect::{LinkView, PacketView};
use crate::model::message::Network;

use super::per_cent;
use crate::tui::target::Target;
use crate::tui::theme::Role;
use crate::tui::view::canvas::{Canvas, fit};

/// Rows that the rails take.
#[must_use]
pub fn rows(map: &Map) -> u16 {
    map.links.len() as u16
}

/// Draws the rails from row `y` on and returns the row after them.
pub fn draw(frame: &Frame, canvas: &mut Canvas, y: u16, centres: &[(&str, u16)]) -> u16 {
    let mut row = y;
    // Links with something on them come first, so that a small pane shows them.
    let (busy, idle): (Vec<_>, Vec<_>) = frame.map.links.iter().partition(|link| !link.in_flight.is_empty());
    for link in busy.into_iter().chain(idle) {
        rail(frame, canvas, row, link, centres);
        row = row.saturating_add(1);
    }
    row
}

fn centre(end: &str, centres: &[(&str, u16)]) -> Option<u16> {
    let device = end.split('.').next().unwrap_or(end);
    centres.iter().find(|(name, _)| *name == device).map(|(_, x)| *x)
}

fn rail(frame: &Frame, canvas: &mut Canvas, y: u16, link: &LinkView, centres: &[(&str, u16)]) {
    let busy = !link.in_flight.is_empty();
    let label = label(frame, link);
    let target = Target::Component(link.link);
    let ends = centre(&link.ends.0, centres).zip(centre(&link.ends.1, centres)).filter(|(a, b)| a != b);
    let Some((from, to)) = ends else {
        let text = format!("{} → {} {label}", link.ends.0, link.ends.1);
        let end = canvas.field(1, y, canvas.width().saturating_sub(2), &text, role(link));
        canvas.item(1, y, end - 1, target);
        return;
    };
    let (left, right) = (from.min(to), from.max(to));
    let room = right - left + 1;
    let dash = if busy { "═" } else { "─" };
    let line: String = dash.repeat(usize::from(room));
    canvas.text(left, y, &line, if busy { role(link) } else { Role::Border });
    let label = fit(&label, room.saturating_sub(4));
    let at = left + (room - label.width() as u16) / 2;
    canvas.text(at, y, &label, if busy { role(link) } else { Role::Dim });
    let (end, arrow) = if to > from { (right, "▶") } else { (left, "◀") };
    canvas.text(end, y, arrow, if busy { role(link) } else { Role::Border });
    canvas.item(left, y, room, target);
}

fn role(link: &LinkView) -> Role {
    match link.in_flight.first().map(|packet| packet.kind.network()) {
        Some(Network::Request) => Role::Request,
        Some(Network::Probe) => Role::Probe,
        Some(Network::Reply) => Role::Reply,
        None => Role::Dim,
    }
}

/// What is on the link, or how busy it is.
fn label(frame: &Frame, link: &LinkView) -> String {
    let selected = frame.selection.txn;
    let packet = link.in_flight.iter().find(|packet| packet.txn.is_some() && packet.txn == selected);
    match packet.or(link.in_flight.first()) {
        Some(packet) => {
            let more = link.in_flight.len() - 1;
            let more = if more > 0 { format!(" +{more}") } else { String::new() };
            format!(" {}{more} ", name(packet))
        }
        None => format!(" {} ", per_cent(link.utilisation)),
    }
}

/// A packet in few words.
#[must_use]
pub fn name(packet: &PacketView) -> String {
    let data = if packet.has_data { "+data" } else { "" };
    format!("{}{data}", packet.kind.name())
}
