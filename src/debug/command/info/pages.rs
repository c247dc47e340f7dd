//! Pages of paged GPU memory, and what may be done with those taken for read-only.

use super::cut;
use crate::debug::command::Arguments;
use crate::debug::frame::hardware;
use crate::debug::session::Session;
use crate::diagnostic::Result;
use crate::model::address::{Address, Range};
use crate::model::page_view::{FaultView, HomesView, Mover, PageStand, PagesView, PermissionsView, TlbView};
use crate::model::paging::Permission;
use crate::model::text::plural;
use crate::model::units::Size;

/// The pages of each GPU by what is the matter with them, its driver, and its far-faults; or one page.
pub(super) fn pages(session: &mut Session, arguments: &Arguments) -> Result<Vec<String>> {
    let machine = session.machine();
    match arguments.words().as_slice() {
        [] => {}
        [word] => return Ok(of_page(session, session.page(arguments, word)?)),
        [_, second, ..] => return Err(arguments.error(second.span.clone(), "one page is enough")),
    }
    let gpus = machine.pages(1);
    let mut lines = Vec::new();
    for gpu in &gpus {
        lines.extend(of_gpu(session, gpu));
        lines.extend(gpu.faults.iter().map(|fault| under_way(session, fault)));
    }
    if let Some(all) = machine.permissions(1) {
        lines.extend(permissions(&all));
        lines.extend(machine.homes(1).map(|homes| format!("    {}", homes.headline())));
        lines.extend(all.faults.iter().map(|fault| under_way(session, fault)));
        return Ok(cut(session, lines, "pages"));
    }
    if let Some(homes) = machine.homes(LISTED).filter(|_| gpus.is_empty()) {
        return Ok(cut(session, homes_of(&homes), "pages"));
    }
    if gpus.is_empty() {
        return Ok(vec!["the memory of this machine is not paged".to_owned()]);
    }
    Ok(cut(session, lines, "pages"))
}

/// Where one page is, what may be done with it, and its faults under way.
fn of_page(session: &Session, address: Address) -> Vec<String> {
    let machine = session.machine();
    let is_in = |first: Address, len: u64| (first.0..first.0.saturating_add(len)).contains(&address.0);
    let (mut lines, mut faults) = (Vec::new(), Vec::new());
    for gpu in machine.pages(usize::MAX) {
        let cell = gpu.cells.iter().find(|cell| is_in(cell.first, cell.len));
        lines.extend(cell.map(|cell| format!("gpu{}: {}", gpu.gpu, gpu.name_of(cell.stand))));
        faults.extend(gpu.faults);
    }
    if let Some(all) = machine.permissions(usize::MAX) {
        let cell = all.cells.iter().find(|cell| is_in(cell.first, cell.len));
        lines.extend(cell.map(|cell| cell.permission.name().to_owned()));
        faults.extend(all.faults);
    }
    if let Some(homes) = machine.homes(usize::MAX) {
        let cell = homes.cells.iter().find(|cell| is_in(cell.first, cell.len));
        // Where pages come and go, one without a home may have had one.
        let none = if lines.is_empty() { "not touched yet" } else { "has no home now" };
        lines.extend(cell.map(|cell| {
            let home = homes.of_cell(cell);
            home.map_or_else(|| none.to_owned(), |home| format!("lives in {}", home.name))
        }));
    }
    let of_this = faults.iter().filter(|fault| fault.range.contains(address));
    lines.extend(of_this.map(|fault| under_way(session, fault).trim().to_owned()));
    let page = session.context().page.0.max(1);
    let name = format!("page {:#x} at {address}", address.0 / u64::from(page));
    if lines.is_empty() {
        let doubt = session.doubt_page(address.0 / u64::from(page));
        return vec![format!("{name}: nothing is known of it{doubt}")];
    }
    lines.into_iter().map(|line| format!("{name}  {line}")).collect()
}

/// Each TLB and what it misses.
pub(super) fn tlbs(session: &mut Session, arguments: &Arguments) -> Result<Vec<String>> {
    if let Some(word) = arguments.words().first() {
        return Err(arguments.error(word.span.clone(), "nothing is expected after info tlbs"));
    }
    let machine = session.machine();
    let all = machine.components().iter().filter_map(|(id, _)| machine.tlb(id));
    let lines: Vec<String> = all.flat_map(|tlb| of_tlb(session, &tlb)).collect();
    if lines.is_empty() {
        return Ok(vec!["this machine translates nothing".to_owned()]);
    }
    Ok(cut(session, lines, "lines of TLBs"))
}

fn of_tlb(session: &Session, tlb: &TlbView) -> Vec<String> {
    let (components, time) = (session.machine().components(), session.machine().time_base());
    let used =
        tlb.capacity.map_or_else(|| "all pages".to_owned(), |most| format!("{} of {most} entries", tlb.used));
    let mut lines = vec![format!(
        "{}.tlb  {used}  hits {} of {}  faults pending {} of {} tracked, {} joined",
        components.path(tlb.agent),
        tlb.hits,
        tlb.hits + tlb.missed,
        tlb.nacks,
        tlb.tracked,
        tlb.joined
    )];
    lines.extend(tlb.misses.iter().map(|miss| {
        let warps = plural(u64::from(miss.warps), "warp");
        format!("    {}  since cycle {}: {warps} for {}", miss.range, time.cycle(miss.since), miss.waits_for)
    }));
    lines
}

/// Groups of pages whose homes are listed, at most.
const LISTED: usize = 256;

fn homes_of(homes: &HomesView) -> Vec<String> {
    let mut lines = vec![format!("{} each  {}", Size(u64::from(homes.page)), homes.headline())];
    lines.extend(homes.cells.iter().map(|cell| {
        let home = match homes.of_cell(cell) {
            _ if cell.is_mixed => "several",
            Some(home) => &home.name,
            None => "not touched yet",
        };
        format!("    {}  {home}", Range::new(cell.first, u32::try_from(cell.len).unwrap_or(u32::MAX)))
    }));
    lines
}

fn permissions(all: &PermissionsView) -> [String; 2] {
    let counts = Permission::ALL.into_iter().zip(all.counts);
    let counts: Vec<_> = counts.map(|(permission, count)| format!("{} {count}", permission.name())).collect();
    let on = if all.is_on { "taken for read-only until written" } else { "not taken for read-only" };
    let limit = all.recent.map_or_else(String::new, |(recent, limit)| {
        let given = if all.has_given_up { ": given up" } else { "" };
        format!("; {recent} lately, {limit} at most{given}")
    });
    [
        format!("{} each  {on}  {}", Size(u64::from(all.page)), counts.join(", ")),
        format!("    faults: {} of cores, {} of GPUs{limit}", all.by_cores, all.by_gpus),
    ]
}

fn of_gpu(session: &Session, gpu: &PagesView) -> Vec<String> {
    let time = session.machine().time_base();
    let stands = PageStand::ALL.into_iter().zip(gpu.counts).filter(|(_, count)| *count > 0);
    let stands: Vec<_> = stands.map(|(stand, count)| format!("{} {count}", gpu.name_of(stand))).collect();
    let room = match gpu.frames {
        Some(frames) => format!("{} of {frames} frames free", gpu.free),
        None => gpu.room(),
    };
    let mut lines =
        vec![format!("gpu{}  {} each  {room}  {}", gpu.gpu, Size(u64::from(gpu.page)), stands.join(", "))];
    if let Mover::Copies { under_way, .. } = gpu.mover {
        let now = under_way.map_or_else(String::new, |copy| format!("; {}", hardware::copying(copy, time)));
        lines.push(format!("    {}, {}{now}", gpu.policies(), gpu.in_vain()));
        return lines;
    }
    let due = gpu.due.map_or_else(String::new, |due| {
        format!(", the next transfer set is due at cycle {}", time.cycle(due))
    });
    lines.push(format!("    {}; {} queued{due}", gpu.policies(), plural(gpu.queued, "far-fault")));
    let set = gpu.last_set;
    let last = format!(
        "set {}: {} demanded, {} prefetched, {} evicted; in all ",
        set.set, set.demanded, set.prefetched, set.evicted
    );
    lines.push(format!("    {}{}", if set.set > 0 { &last } else { "" }, gpu.in_vain()));
    lines
}

fn under_way(session: &Session, fault: &FaultView) -> String {
    let time = session.machine().time_base();
    let step =
        |step: &crate::model::page_view::FaultStep| format!("{} {}", step.step.name(), time.cycle(step.at));
    let steps: Vec<_> = fault.steps.iter().map(step).collect();
    format!("    {} {}: {}", fault.kind.name(), fault.page, steps.join(", "))
}
