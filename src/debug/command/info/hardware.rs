//! MSHRs, links, warps, caches, transactions and the list of components.

use super::cut;
use crate::debug::command::Arguments;
use crate::debug::frame::crowd::{Crowd, Unit};
use crate::debug::frame::{hardware, text};
use crate::debug::session::Session;
use crate::diagnostic::Result;
use crate::model::component::{ComponentId, ComponentKind};
use crate::model::inspect::BufferView;
use crate::model::message::Network;
use crate::model::resource::ResourceView;
use crate::model::text::plural;
use crate::model::warp::WarpState;
use crate::model::warp::by_warp;
use crate::query::Pattern;

/// The component that is named, those beneath it or of a pattern, or all.
fn chosen(session: &Session, arguments: &Arguments) -> Result<Vec<ComponentId>> {
    let components = session.machine().components();
    let words = arguments.words();
    let Some(word) = words.first() else {
        return Ok(components.iter().map(|(id, _)| id).collect());
    };
    if let Some(second) = words.get(1) {
        return Err(arguments.error(second.span.clone(), "one component or pattern is enough"));
    }
    let meant = Pattern::parse(word.text).map(|pattern| pattern.resolve(components));
    let found = |id: &ComponentId| meant.as_ref().is_some_and(|meant| meant.get(id.0));
    let list: Vec<_> = components.iter().map(|(id, _)| id).filter(found).collect();
    if list.is_empty() { Ok(vec![session.component(arguments, word)?]) } else { Ok(list) }
}

pub(super) fn mshrs(session: &mut Session, arguments: &Arguments) -> Result<Vec<String>> {
    let machine = session.machine();
    let time = machine.time_base();
    let named = !arguments.is_empty();
    let mut lines = Vec::new();
    let mut views: Vec<_> =
        chosen(session, arguments)?.into_iter().filter_map(|id| machine.mshrs(id, usize::MAX)).collect();
    // Of many, those in use are what one looks for.
    views.sort_by_key(|view| view.used == 0);
    for view in views {
        if !named && view.high_water == 0 {
            continue;
        }
        let used = view.capacity.map_or_else(
            || format!("{} used, no limit", view.used),
            |count| format!("{} of {count} used", view.used),
        );
        let path = machine.components().path(view.node);
        lines.push(format!("{path}  {used}, most so far {}", view.high_water));
        for entry in &view.entries {
            let txn = entry.txn.map_or_else(String::new, |txn| format!(" txn {}", txn.0));
            let joined =
                if entry.merged > 1 { format!(", {} joined", entry.merged - 1) } else { String::new() };
            let without = if entry.has_mshr { "" } else { ", without an MSHR" };
            lines.push(format!(
                "    {}{txn} since cycle {}{joined}{without}: {}",
                entry.range,
                time.cycle(entry.since),
                entry.waits_for
            ));
        }
    }
    Ok(cut(session, lines, "MSHRs in use so far"))
}

/// What accesses compete for.
pub(super) fn resources(session: &mut Session, arguments: &Arguments) -> Result<Vec<String>> {
    arguments.none()?;
    let line = |view: &ResourceView| {
        let (name, busy, busiest) = (view.name(), view.mean * 100.0, view.busiest * 100.0);
        let wait = view.wait.map_or_else(String::new, |cycles| format!(", wait {cycles:.1} cycles"));
        let of = if view.is_one() {
            format!("{busy:.1} % busy  {}", view.at)
        } else {
            format!("{busy:.1} % busy  {}, busiest {} {busiest:.1} %", view.count, view.at)
        };
        format!("{name:<22} {of}{wait}")
    };
    let lines: Vec<String> = session.machine().resources().iter().map(line).collect();
    Ok(if lines.is_empty() { vec!["nothing has been used yet".to_owned()] } else { lines })
}

pub(super) fn links(session: &mut Session, arguments: &Arguments) -> Result<Vec<String>> {
    let lines: Vec<String> =
        chosen(session, arguments)?.into_iter().flat_map(|id| link_lines(session, id)).collect();
    if let (true, Some(word)) = (lines.is_empty(), arguments.words().first()) {
        let links = session.machine().components().iter();
        let links = links.filter(|(_, part)| part.kind == ComponentKind::Link);
        let known: Vec<&str> = links.map(|(_, part)| part.path.as_str()).collect();
        let error = arguments.error(word.span.clone(), format!("{} is no link", word.text));
        let expected = if known.is_empty() { "a machine with links".to_owned() } else { known.join(", ") };
        return Err(error.expected(expected).into());
    }
    Ok(cut(session, lines, "lines about links"))
}

/// What is in the buffers into each node, one virtual network of a sender a line.
pub(super) fn buffers(session: &mut Session, arguments: &Arguments) -> Result<Vec<String>> {
    let machine = session.machine();
    let components = machine.components();
    let line = |to: ComponentId, view: &BufferView| {
        let network = view.network.map_or("all networks", Network::name);
        let waiting =
            if view.waiting > 0 { format!(", {} wait to be sent", view.waiting) } else { String::new() };
        let oldest = view.oldest.map_or_else(String::new, |(kind, block)| {
            let cannot = if view.blocked { ", which cannot be taken" } else { "" };
            format!("; the oldest is {} of {block}{cannot}", kind.name())
        });
        let (from, to) = (components.path(view.from), components.path(to));
        format!("{from} > {to}  {network}  {} of {} taken{waiting}{oldest}", view.held, view.room)
    };
    let nodes = chosen(session, arguments)?.into_iter();
    let lines = nodes.flat_map(|node| machine.buffers(node).into_iter().map(move |view| (node, view)));
    let lines: Vec<String> = lines.map(|(node, view)| line(node, &view)).collect();
    Ok(cut(session, lines, "buffers with something in them"))
}

/// One direction of a link in words; nothing if it is none.
pub(in crate::debug::command) fn link_lines(session: &Session, link: ComponentId) -> Vec<String> {
    let machine = session.machine();
    let Some(view) = machine.link(link, usize::MAX) else { return Vec::new() };
    let components = machine.components();
    let queued: Vec<_> = match view.queued.as_slice() {
        [(_, count)] => vec![format!("{count}, in the one lane that all networks share")],
        several => several.iter().map(|(net, count)| format!("{} {count}", net.name())).collect(),
    };
    let mut lines = vec![format!(
        "{}  {} > {}  {} lanes  {:.1} % busy  {} bytes  queued: {}",
        components.path(link),
        view.ends.0,
        view.ends.1,
        view.lanes,
        view.utilisation * 100.0,
        view.bytes,
        if queued.is_empty() { "none".to_owned() } else { queued.join(", ") }
    )];
    let on_it = hardware::pages_on(link, &machine.pages(1), machine.time_base());
    lines.extend(on_it.into_iter().map(|(told, _)| format!("    pages: {told}")));
    lines.extend(hardware::efficiency(&view).map(|told| format!("    {told}")));
    if let Some(balance) = &view.balance {
        let time = machine.time_base();
        lines.push(format!(
            "    {} gained in all (what it lost is not taken off); sampled every {} cycles, saturated at {} %",
            plural(balance.gained, "lane"),
            balance.sample_cycles,
            balance.threshold
        ));
        if let Some(sample) = balance.samples.last() {
            lines.push(format!("    cycle {}: {}", time.cycle(sample.end), text::lane_decision(sample)));
        }
        lines.extend(balance.turning.map(|turning| format!("    {}", text::lanes_turning(&turning, time))));
    }
    for packet in &view.in_flight {
        let txn = packet.txn.map_or_else(String::new, |txn| format!(" txn {}", txn.0));
        lines.push(format!(
            "    {} {} > {} {}{txn}",
            packet.kind.name(),
            components.path(packet.from),
            components.path(packet.to),
            packet.range
        ));
    }
    lines
}

pub(super) fn warps(session: &mut Session, arguments: &Arguments) -> Result<Vec<String>> {
    let machine = session.machine();
    let time = machine.time_base();
    let units = chosen(session, arguments)?;
    let counted = units.iter().filter_map(|id| Unit::of(machine, *id));
    let crowds = Crowd::of(machine.components(), counted);
    let count: usize = crowds.iter().map(|crowd| crowd.units.len()).sum();
    let mut lines = if count > FEW { totals(&crowds) } else { Vec::new() };
    for view in units.into_iter().filter_map(|id| machine.agent(id)) {
        let letters: String = view.warps.iter().map(|warp| warp.state.letter()).collect();
        lines.push(format!("{}  {letters}", machine.components().path(view.agent)));
        for (number, warp) in view.warps.iter().enumerate().filter(|(_, warp)| warp.instruction.is_some()) {
            let txns: Vec<_> = warp.waits.iter().map(|txn| format!(" txn {}", txn.0)).collect();
            let is_beside = warp.page.is_some() || !warp.state.waits_for_accesses();
            let besides = if is_beside && !txns.is_empty() { ", besides" } else { "" };
            let earlier = warp.earlier.as_ref();
            let earlier =
                earlier.map_or_else(String::new, |first| format!(", and waits for {first} before it"));
            lines.push(format!(
                "    warp {number} {} since cycle {}: {}{besides}{}{earlier}",
                warp.state.name(),
                time.cycle(warp.since),
                warp.instruction.as_deref().unwrap_or_default(),
                txns.concat()
            ));
        }
    }
    Ok(cut(session, lines, "warps"))
}

/// Units of which totals are not told first.
const FEW: usize = 8;

/// What the warps of each device do, in numbers.
fn totals(crowds: &[Crowd]) -> Vec<String> {
    let told = |crowd: &Crowd| {
        let counts = crowd.counts();
        let all: u32 = counts.iter().sum();
        let known = WarpState::ALL.into_iter().zip(counts).filter(|(_, count)| *count > 0);
        let states: Vec<_> = known.map(|(state, count)| format!("{count} {}", state.name())).collect();
        format!("{}  {}: {}", crowd.device, plural(u64::from(all), "warp"), states.join(", "))
    };
    crowds.iter().map(told).collect()
}

pub(super) fn caches(session: &mut Session, arguments: &Arguments) -> Result<Vec<String>> {
    let machine = session.machine();
    let mut lines = Vec::new();
    for view in chosen(session, arguments)?.into_iter().filter_map(|id| machine.cache(id, u32::MAX)) {
        let held = view.lines.iter().flatten().count();
        lines.push(format!(
            "{}  {} of {}, {} B blocks  {held} held  {} hits {} misses {} evictions {} writebacks",
            machine.components().path(view.node),
            plural(u64::from(view.sets), "set"),
            plural(u64::from(view.ways), "way"),
            view.block,
            view.hits,
            view.misses,
            view.evictions,
            view.writebacks
        ));
        lines.extend(
            hardware::of_cache(&view, machine.time_base()).into_iter().map(|told| format!("    {told}")),
        );
    }
    Ok(cut(session, lines, "caches"))
}

pub(super) fn memory(session: &mut Session, arguments: &Arguments) -> Result<Vec<String>> {
    let machine = session.machine();
    let named = !arguments.is_empty();
    let mut lines = Vec::new();
    for (id, view) in chosen(session, arguments)?.into_iter().filter_map(|id| Some((id, machine.memory(id)?)))
    {
        lines.push(format!(
            "{}  {} reads and {} writes wait{}, at most {}",
            machine.components().path(id),
            view.reads,
            view.writes,
            if view.draining { ", writes drain" } else { "" },
            view.high_water
        ));
        for bank in view.banks.iter().filter(|bank| named || bank.waiting > 0) {
            let open = bank.open.map_or_else(|| "no row open".to_owned(), |row| format!("row {row:#x} open"));
            lines.push(format!(
                "    channel {} bank {}: {open}, {} wait",
                bank.channel, bank.bank, bank.waiting
            ));
        }
    }
    Ok(cut(session, lines, "memory controllers with a queue"))
}

pub(super) fn transactions(session: &mut Session, arguments: &Arguments) -> Result<Vec<String>> {
    arguments.none()?;
    let machine = session.machine();
    let lines = machine.transactions(usize::MAX, usize::MAX).into_iter().map(|view| {
        let last = text::waits_at(&view, machine.components());
        let last = last.map_or_else(String::new, |last| format!("  {last}"));
        format!(
            "txn {}  {}{} {} {} since event {}{last}",
            view.number.0,
            machine.components().path(view.agent),
            by_warp(view.warp),
            view.name(),
            view.range,
            view.issued_at
        )
    });
    let lines = lines.collect();
    Ok(cut(session, lines, "transactions in flight"))
}

pub(super) fn components(session: &mut Session, arguments: &Arguments) -> Result<Vec<String>> {
    let names = session.machine().components();
    let list = chosen(session, arguments)?.into_iter().filter_map(|id| names.get(id));
    let lines = list.map(|component| format!("{:<20} {}", component.path, component.kind.name())).collect();
    Ok(cut(session, lines, "components"))
}
