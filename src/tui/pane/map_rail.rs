//! The links of the map: a rail between the two devices that each joins, with the packets on it.

use unicode_width::UnicodeWidthStr;

use crate::debug::frame::Frame;
use crate::debug::frame::map::Map;
use crate::model::component::device;
use crate::model::link_view::{LinkView, PacketView};
use crate::model::message::Network;

use super::per_cent;
use crate::tui::canvas::{Canvas, fit};
use crate::tui::target::Target;
use crate::tui::theme::Role;

/// The columns that a link spans, if both its ends are in the picture.
fn span(link: &LinkView, centres: &[(&str, u16)]) -> Option<(u16, u16)> {
    centre(&link.ends.0, centres).zip(centre(&link.ends.1, centres)).filter(|(from, to)| from != to)
}

/// Rows of rails beyond which only links with something on them are drawn.
const MOST: u16 = 4;

/// The links to draw and their rows.
fn placed<'a>(map: &'a Map, centres: &[(&str, u16)]) -> Vec<(&'a LinkView, u16)> {
    let all: Vec<&LinkView> = map.links.iter().filter(|link| port(link).is_none()).collect();
    let of_all = rows(&all, centres);
    if of_all.iter().all(|row| *row < MOST) {
        return all.into_iter().zip(of_all).collect();
    }
    let busy: Vec<&LinkView> = all.into_iter().filter(|link| !link.in_flight.is_empty()).collect();
    let rows = rows(&busy, centres);
    busy.into_iter().zip(rows).collect()
}

/// The row of each link: the first where it crosses no other, so that both sides of the host share rows.
fn rows(links: &[&LinkView], centres: &[(&str, u16)]) -> Vec<u16> {
    let mut taken: Vec<Vec<(u16, u16)>> = Vec::new();
    let mut rows = Vec::new();
    for link in links {
        let (from, to) = span(link, centres).unwrap_or((0, u16::MAX));
        let (left, right) = (from.min(to), from.max(to));
        let free = |row: &Vec<(u16, u16)>| row.iter().all(|(l, r)| right <= *l || left >= *r);
        let row = taken.iter().position(free).unwrap_or(taken.len());
        if row == taken.len() {
            taken.push(Vec::new());
        }
        if let Some(spans) = taken.get_mut(row) {
            spans.push((left, right));
        }
        rows.push(row as u16);
    }
    rows
}

/// Rows that the rails take.
#[must_use]
pub fn height(map: &Map, centres: &[(&str, u16)]) -> u16 {
    placed(map, centres).into_iter().map(|(_, row)| row + 1).max().unwrap_or(0)
}

/// Draws the rails from row `y` on and returns the row after them.
pub fn draw(frame: &Frame, canvas: &mut Canvas, y: u16, centres: &[(&str, u16)]) -> u16 {
    for (link, row) in placed(&frame.map, centres) {
        rail(frame, canvas, y.saturating_add(row), link, centres);
    }
    y.saturating_add(height(&frame.map, centres))
}

fn centre(end: &str, centres: &[(&str, u16)]) -> Option<u16> {
    centres.iter().find(|(name, _)| *name == device(end)).map(|(_, x)| *x)
}

/// The columns to draw: of a medium that several devices share, those that its packet joins.
fn drawn(frame: &Frame, link: &LinkView, centres: &[(&str, u16)]) -> Option<(u16, u16)> {
    let names = &frame.info.components;
    let of_packet = |packet: &PacketView| {
        let ends = centre(names.path(packet.from), centres).zip(centre(names.path(packet.to), centres));
        ends.filter(|(from, to)| from != to)
    };
    let all = || {
        let left = centres.iter().map(|(_, x)| *x).min()?;
        let right = centres.iter().map(|(_, x)| *x).max()?;
        (left < right).then_some((left, right))
    };
    span(link, centres).or_else(|| shown(frame, link).and_then(of_packet)).or_else(all)
}

/// The packet that is shown: that of the selected transaction, or the first.
fn shown<'a>(frame: &Frame, link: &'a LinkView) -> Option<&'a PacketView> {
    let selected = frame.selection.txn;
    let packet = link.in_flight.iter().find(|packet| packet.txn.is_some() && packet.txn == selected);
    packet.or(link.in_flight.first())
}

fn rail(frame: &Frame, canvas: &mut Canvas, y: u16, link: &LinkView, centres: &[(&str, u16)]) {
    let busy = !link.in_flight.is_empty();
    let label = label(frame, link);
    let target = Target::Component(link.link);
    let Some((from, to)) = drawn(frame, link, centres) else {
        let text = format!("{} → {} {label}", link.ends.0, link.ends.1);
        let end = canvas.field(1, y, canvas.width().saturating_sub(2), &text, role(link));
        canvas.item(1, y, end - 1, target);
        return;
    };
    // Rails that meet at a device leave it a column each.
    let (left, right) = (from.min(to) + 1, from.max(to) - 1);
    let room = (right + 1).saturating_sub(left);
    let data = shown(frame, link).is_some_and(|packet| packet.has_data);
    let dashes: String = (if data { "═" } else { "─" }).repeat(usize::from(room));
    canvas.text(left, y, &dashes, if busy { role(link) } else { Role::Border });
    let label = fit(&squeezed(label, room.saturating_sub(2)), room.saturating_sub(2));
    let at = left + (room - label.width() as u16) / 2;
    canvas.text(at, y, &label, if busy { role(link) } else { Role::Dim });
    let arrow_role = if busy { role(link) } else { Role::Border };
    // A shared medium at rest goes nowhere in particular.
    let directed = busy || span(link, centres).is_some();
    if directed {
        let (end, arrow) = if to > from { (right, "▶") } else { (left, "◀") };
        canvas.text(end, y, arrow, arrow_role);
    }
    canvas.item(left, y, room, target);
}

/// A label without what it can do without, if it is too long: the double line says that there are data, and the arrow sets it apart.
fn squeezed(label: String, room: u16) -> String {
    let is_long = |label: &str| label.width() > usize::from(room);
    if !is_long(&label) {
        return label;
    }
    let short = label.replace("+data", "").replace(" %", "%");
    let bare = short.trim();
    if is_long(&short) && !is_long(bare) { bare.to_owned() } else { short }
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
    if let Some(packet) = shown(frame, link) {
        let more = link.flying.saturating_sub(1);
        let more = if more > 0 { format!(" +{more}") } else { String::new() };
        return format!(" {}{more} ", name(packet));
    }
    let path = frame.info.components.path(link.link);
    let name = if path.contains("gpu") { path.rsplit('.').next() } else { path.strip_prefix("link.") };
    format!(" {} {} ", name.unwrap_or(path), per_cent(link.lately()))
}

/// The name that a switch has as the end of a link.
pub const SWITCH: &str = "switch";

/// The device whose link to the switch it is, and whether it leads there.
#[must_use]
pub fn port(link: &LinkView) -> Option<(&str, bool)> {
    match (link.ends.0.as_str(), link.ends.1.as_str()) {
        (device, SWITCH) => Some((device, true)),
        (SWITCH, device) => Some((device, false)),
        _ => None,
    }
}

/// A packet in few words.
#[must_use]
pub fn name(packet: &PacketView) -> String {
    let data = if packet.has_data { "+data" } else { "" };
    format!("{}{data}", packet.kind.name())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_label_gives_up_what_it_can_before_it_is_cut() {
        let short = |label: &str, room| squeezed(label.to_owned(), room);
        assert_eq!(short(" probe-write +1 ", 16), " probe-write +1 ");
        assert_eq!(short(" probe-write +1 ", 15), "probe-write +1");
        assert_eq!(short(" grant+data ", 10), " grant ");
        assert_eq!(short(" probe-read ", 9), " probe-read ");
        assert_eq!(short(" host.out 25 % ", 14), " host.out 25% ");
    }
}
