//! The switch of the map: a bar under all devices, and over it what goes out of each and in: lanes, use, and what is under
//! way.

use unicode_width::UnicodeWidthStr;

use super::map_rail;
use crate::debug::frame::Frame;
use crate::debug::frame::map::Map;
use crate::model::link_view::LinkView;
use crate::model::message::Network;
use crate::tui::canvas::{Canvas, fit};
use crate::tui::glyphs::bar;
use crate::tui::target::Target;
use crate::tui::theme::Role;

/// Rows that the switch takes.
#[must_use]
pub fn height(map: &Map) -> u16 {
    if map.links.iter().any(|link| map_rail::port(link).is_some()) { 3 } else { 0 }
}

/// Draws the switch from row `y` on, under devices with their columns and widths. Returns the row after it, and whether marks stand for
/// numbers there.
pub fn draw(frame: &Frame, canvas: &mut Canvas, y: u16, places: &[(&str, u16, u16)]) -> (u16, bool) {
    let mut is_marked = false;
    for link in &frame.map.links {
        let Some((device, out)) = map_rail::port(link) else { continue };
        let Some((_, x, width)) = places.iter().find(|(name, ..)| *name == device) else { continue };
        let room = width.saturating_sub(1);
        let text = fit(&told(link, out, room), room);
        is_marked |= text.ends_with('!');
        let left = x + room.saturating_sub(text.width() as u16) / 2;
        canvas.text(left, y + u16::from(!out), &text, role(link));
        canvas.item(left, y + u16::from(!out), text.width() as u16, Target::Component(link.link));
    }
    let rows = height(&frame.map);
    if rows > 0
        && let (Some(first), Some(last)) = (places.first(), places.last())
    {
        let width = usize::from((last.1 + last.2).saturating_sub(first.1 + 1));
        canvas.text(first.1, y + 2, &format!("{:═^width$}", " switch "), Role::Border);
    }
    (y + rows, is_marked)
}

/// Its direction and lanes, how busy it is, and what is first on it, as far as there is room; at least a bar as high as it is
/// busy, or that it is saturated (`!`).
fn told(link: &LinkView, out: bool, room: u16) -> String {
    let arrow = if out { "▼" } else { "▲" };
    let share = format!("{:.0}", link.lately() * 100.0);
    // Lanes may have turned since the sample.
    let sampled = link.sampled().map_or(link.lanes, |flow| flow.lanes);
    let lanes = if sampled == link.lanes { String::new() } else { format!("{sampled}>") };
    let plain = format!("{arrow}{lanes}{} {share}%", link.lanes);
    let brief = format!("{arrow}{} {share}", link.lanes);
    let packet = link.in_flight.first().map(|packet| {
        let more = link.flying.saturating_sub(1);
        let more = if more > 0 { format!(" +{more}") } else { String::new() };
        format!("{plain} {}{more}", map_rail::name(packet))
    });
    let fits = |text: &String| text.width() <= usize::from(room);
    let mark = if is_saturated(link) { '!' } else { bar(link.lately()) };
    let bare = format!("{arrow}{}", link.lanes);
    // That a link is saturated says more than a number that is one of few.
    let brief = if is_saturated(link) { Vec::new() } else { vec![format!("{brief}%"), brief] };
    let shorter = std::iter::once(plain).chain(brief).chain([format!("{bare}{mark}")]);
    packet.into_iter().chain(shorter).find(fits).unwrap_or(bare)
}

fn is_saturated(link: &LinkView) -> bool {
    link.balance.as_ref().is_some_and(|balance| link.lately() * 100.0 >= f64::from(balance.threshold))
}

fn role(link: &LinkView) -> Role {
    match link.in_flight.first().map(|packet| packet.kind.network()) {
        _ if is_saturated(link) => Role::Bad,
        Some(Network::Request) => Role::Request,
        Some(Network::Probe) => Role::Probe,
        Some(Network::Reply) => Role::Reply,
        None => Role::Dim,
    }
}
