//! Links: lanes, utilisation now and over time, queues, and what is on the wire.

use crate::debug::frame::{Frame, hardware};
use crate::model::component::ComponentId;
use crate::model::link_view::{LinkView, PacketView};
use crate::model::message::Network;
use crate::model::resource::{Resource, ResourceView};

use super::{link_lanes, link_pages, map_rail, per_cent};
use crate::tui::canvas::{Canvas, fit};
use crate::tui::glyphs;
use crate::tui::target::Target;
use crate::tui::theme::Role;

/// Other resources that are shown, of those that serve and of MSHRs; from which share of time on.
const OTHERS: usize = 4;
const WORTH: f64 = 0.05;

/// Messages on their way that are shown of a link.
const PACKETS: usize = 4;
/// Messages on their way that are shown though not all links fit.
const FEW: usize = 3;

pub fn draw(frame: &Frame, canvas: &mut Canvas) {
    if frame.links.is_empty() {
        canvas.text(1, 0, "This machine has no links", Role::Dim);
        return;
    }
    let columns = Columns::new(frame, canvas.width());
    let detailed = link_lanes::detailed(frame, canvas.height());
    let wordy = rows(frame, &detailed, PACKETS, true) <= usize::from(canvas.height());
    // Messages on their way give way to links, but for a few.
    let fits = |most: &usize| rows(frame, &detailed, *most, false) <= usize::from(canvas.height());
    let are_few = || rows(frame, &detailed, 1, false) <= rows(frame, &detailed, 0, false) + FEW;
    let packets = (0..=PACKETS).rev().find(fits).unwrap_or_else(|| usize::from(are_few()));
    let mut y = 0;
    for link in &frame.links {
        one(frame, canvas, y, link, &columns);
        y += 1;
        if wordy && let Some(told) = hardware::efficiency(link) {
            canvas.field(
                columns.names + 2,
                y,
                canvas.width().saturating_sub(columns.names + 3),
                &told,
                Role::Dim,
            );
            y += 1;
        }
        for packet in link.in_flight.iter().take(packets) {
            in_flight(frame, canvas, y, packet, columns.names + 2);
            y += 1;
        }
        y = link_pages::draw(frame, canvas, (columns.names + 2, y), link.link);
        if detailed.contains(&link.link) {
            y = link_lanes::draw(frame, canvas, y, link);
        }
    }
    y = resources(frame, canvas, y);
    if canvas.height() > y + 1 {
        canvas.paragraph(
            1,
            y + 1,
            "▶ a lane; % busy in the last sample, ▁▄█ over time; q queued request/probe/reply; b waiting in the receivers' buffers, or all that is queued and the fullest buffer",
            Role::Dim,
        );
    }
}

/// Columns that what is said of one part takes at least.
const LEAST: u16 = 10;

/// What else accesses compete for, the busiest first. Returns the row after it.
fn resources(frame: &Frame, canvas: &mut Canvas, y: u16) -> u16 {
    let is_other = |view: &&ResourceView| view.kind != Resource::Link && view.busiest >= WORTH;
    let (holds, serves): (Vec<_>, Vec<_>) =
        frame.resources.iter().filter(is_other).partition(|view| view.kind == Resource::Mshrs);
    let shown: Vec<_> = serves.into_iter().take(OTHERS).chain(holds.into_iter().take(OTHERS)).collect();
    if shown.is_empty() {
        return y;
    }
    canvas.text(1, y + 1, "also busy, of all the time so far", Role::Dim);
    let mut row = y + 2;
    for view in shown {
        canvas.field(2, row, 22, &view.name(), Role::Text);
        canvas.text_right(32, row, &per_cent(view.mean), Role::Strong);
        let of = if view.is_one() {
            view.at.clone()
        } else {
            format!("most {} {}", per_cent(view.busiest), view.at)
        };
        let wait = view.wait.filter(|cycles| *cycles >= 0.1);
        let wait = wait.map_or_else(String::new, |cycles| format!("wait {cycles:.1} cycles, "));
        let room = canvas.width().saturating_sub(35);
        // A few letters of a name tell nothing.
        if room >= LEAST {
            canvas.field(34, row, room, &format!("{wait}{of}"), Role::Dim);
        }
        row += 1;
    }
    row
}

/// Rows of all links with so many messages that are on their way on each, and perhaps a line more of each.
fn rows(frame: &Frame, detailed: &[ComponentId], packets: usize, wordy: bool) -> usize {
    let rows = |link: &LinkView| {
        let pages = hardware::pages_on(link.link, &frame.pages.gpus, frame.time).len();
        let lanes = if detailed.contains(&link.link) { link_lanes::ROWS } else { 0 };
        let words = usize::from(wordy && hardware::efficiency(link).is_some());
        1 + link.in_flight.len().min(packets) + pages + lanes + words
    };
    frame.links.iter().map(rows).sum()
}

/// Widths of the columns: lanes give way to numbers.
struct Columns {
    names: u16,
    /// Signs for the lanes, then their number.
    lanes: u16,
    count: u16,
    bars: u16,
}

impl Columns {
    fn new(frame: &Frame, width: u16) -> Self {
        let widest = |of: &dyn Fn(&LinkView) -> usize| frame.links.iter().map(of).max().unwrap_or(0) as u16;
        let names = widest(&|link| name(frame, link).chars().count()).clamp(6, 18);
        let tail = widest(&|link| waiting(link, ROUNDED).len());
        let count = if width >= 70 { 9 } else { 3 };
        // Gaps, the use now, and at least four signs of its history.
        let room = width.saturating_sub(1 + names + 1 + 1 + count + 6 + 1 + tail);
        let lanes = widest(&|link| link.lanes as usize).clamp(4, 16).min(width / 6);
        let lanes = lanes.min(room.saturating_sub(4)).max(1);
        Self { names, lanes, count, bars: room.saturating_sub(lanes).clamp(4, 32) }
    }
}

/// A message on the wire, in fewer letters where they do not fit.
fn in_flight(frame: &Frame, canvas: &mut Canvas, y: u16, packet: &PacketView, x: u16) {
    let names = &frame.info.components;
    let (from, to) = (names.path(packet.from), names.path(packet.to));
    let (name, start, size) = (map_rail::name(packet), packet.range.start, packet.size);
    let txn = packet.txn.map_or(String::new(), |txn| format!("  txn {}", txn.0));
    let texts = [
        format!("{name}  {from} → {to}  {start}  {size} B{txn}"),
        format!("{name} {from} → {to} {start} {size} B"),
        format!("{name} {from}→{to} {start} {size} B"),
        format!("{name} {from}→{to} {start}"),
    ];
    let room = canvas.width().saturating_sub(x);
    let [.., shortest] = &texts;
    let fits = texts.iter().find(|text| text.chars().count() <= usize::from(room));
    let text = fit(fits.unwrap_or(shortest), room);
    canvas.text(x, y, &text, role(packet.kind.network()));
    if let Some(txn) = packet.txn {
        let target = Target::Txn { txn, block: packet.range.start };
        canvas.item(x, y, text.chars().count() as u16, target);
    }
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

fn one(frame: &Frame, canvas: &mut Canvas, y: u16, link: &LinkView, columns: &Columns) {
    let mut x = canvas.field(1, y, columns.names, name(frame, link), Role::Strong) + 1;
    canvas.item(1, y, columns.names, Target::Component(link.link));
    let inwards = frame.info.components.path(link.link).rsplit('.').next() == Some("in");
    let arrows = (if inwards { "◀" } else { "▶" }).repeat(link.lanes.min(16) as usize);
    // Room for one sign only: better an arrow than the mark of what is cut.
    let arrows = if columns.lanes == 1 { arrows.chars().take(1).collect() } else { arrows };
    x = canvas.field(x, y, columns.lanes, &arrows, Role::Request) + 1;
    let lanes = if columns.count > 3 { format!("{} lanes", link.lanes) } else { link.lanes.to_string() };
    x = canvas.field(x, y, columns.count, &lanes, Role::Text);
    let lately = link.lately();
    canvas.text_right(x + 5, y, &per_cent(lately), load(lately));
    x += 6;
    let skip = link.history.len().saturating_sub(usize::from(columns.bars));
    let bars: String = link.history.iter().skip(skip).map(|share| glyphs::bar(f64::from(*share))).collect();
    canvas.text(x, y, &bars, load(lately));
    x += columns.bars + 1;
    if canvas.shows(y) {
        let room = canvas.width().saturating_sub(x);
        let mut forms = SIZES.into_iter().map(|size| waiting(link, size));
        let text = forms.find(|text| text.len() <= usize::from(room)).unwrap_or_else(|| fullest(link));
        canvas.field(x, y, room, &text, Role::Text);
    }
}

/// The size of a buffer, as far as it is told.
type Size = fn(u32) -> String;

const ROUNDED: Size = |most| if most < 10_000 { format!("/{most}") } else { format!("/{}k", most / 1000) };

/// In full, rounded, and not at all.
const SIZES: [Size; 3] = [|most| format!("/{most}"), ROUNDED, |_| String::new()];

/// What waits for the link, and what waits in each of the buffers behind it.
fn waiting(link: &LinkView, size: Size) -> String {
    let queued = counts(&link.queued);
    if has_no_buffers(link) {
        return format!("q {queued} no buffers");
    }
    let each = link.buffered.iter().map(|(_, used, most)| format!("{used}{}", size(*most)));
    format!("q {queued} b {}", each.collect::<Vec<_>>().join(" "))
}

fn has_no_buffers(link: &LinkView) -> bool {
    link.buffered.iter().all(|(_, used, most)| (*used, *most) == (0, 0))
}

/// All that waits for the link, and the fullest of the buffers.
fn fullest(link: &LinkView) -> String {
    let all: u32 = link.queued.iter().map(|(_, count)| count).sum();
    if has_no_buffers(link) {
        return format!("q {all}");
    }
    let fill = |used: u32, most: u32| (u64::from(used) << 32) / u64::from(most.max(1));
    let fullest = link.buffered.iter().max_by_key(|(_, used, most)| fill(*used, *most));
    let fullest = fullest.map_or(String::new(), |(_, used, most)| format!(" b {used}{}", ROUNDED(*most)));
    format!("q {all}{fullest}")
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
