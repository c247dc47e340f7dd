//! Where the cycles of an access went.

use crate::debug::command::Arguments;
use crate::debug::command::select::Absent;
use crate::debug::latency::{Awaited, Latency, Leg, Sort, Spent, Trail, Turn};
use crate::debug::session::Session;
use crate::diagnostic::Result;
use crate::model::address::Range;
use crate::model::component::Components;
use crate::model::message::TxnNumber;
use crate::model::page::Page;
use crate::model::record::{Record, What};
use crate::model::text::plural;
use crate::model::warp::WarpState;
use crate::model::warp::by_warp;

/// Events that are looked through for an access, first and at most.
const SEARCHED: [u64; 2] = [1 << 12, 1 << 17];

/// Places that are named of what accesses waited for.
const PLACES: usize = 3;

/// Of the access that is named or selected, or else of the last one that has ended.
pub(super) fn latency(session: &mut Session, arguments: &Arguments) -> Result<Vec<String>> {
    let words = arguments.words();
    let number = match words.as_slice() {
        [] => None,
        [all] if all.text == "all" => return Ok(of_all(session)),
        [slowest_of] if slowest_of.text == "slowest" => {
            let found = slowest(session).and_then(|txn| find(session, Some(txn)));
            let none = || vec!["no access has ended lately".to_owned()];
            return Ok(found.map_or_else(none, |latency| told(&latency, session.machine().components())));
        }
        [one] => Some(one),
        [kind, one] if kind.text == "txn" => Some(one),
        [_, second, ..] => return Err(arguments.error(second.span.clone(), "txn N is enough")),
    };
    let named = number.map(|word| arguments.number(word, "the number of a transaction")).transpose()?;
    let wanted = match named.map(TxnNumber) {
        Some(txn) => Some(ended(session, arguments, txn)?),
        None => session.spoken_selection().txn.filter(|txn| ended(session, arguments, *txn).is_ok()),
    };
    let Some(latency) = find(session, wanted) else {
        let text = match wanted {
            None => "no access has ended lately".to_owned(),
            Some(txn) => {
                format!(
                    "transaction {} began before this run does here, or ended too long ago: go to its end",
                    txn.0
                )
            }
        };
        return Ok(vec![text]);
    };
    Ok(told(&latency, session.machine().components()))
}

/// The same of a transaction that has ended, as far as it is found.
pub(in crate::debug::command) fn of_ended(session: &Session, txn: TxnNumber) -> Option<Vec<String>> {
    let latency = find(session, Some(txn))?;
    Some(told(&latency, session.machine().components()))
}

/// A transaction, if it has ended.
fn ended(session: &Session, arguments: &Arguments, txn: TxnNumber) -> Result<TxnNumber> {
    let is_here = session.machine().transaction(txn).is_some();
    let stands = match session.over_or_ahead(txn) {
        _ if is_here => "has not ended".to_owned(),
        Absent::Ended => return Ok(txn),
        absent => absent.to_string(),
    };
    let error = arguments.complaint(format!("transaction {} {stands}", txn.0));
    Err(Box::new(error.expected("one that has; why txn N tells of one in flight")))
}

/// The latency of an access, out of the records up to here: of one, or of the last that ended of those that are there whole.
fn find(session: &Session, wanted: Option<TxnNumber>) -> Option<Latency> {
    let (here, start) = (session.event(), session.timeline.start());
    let (machine, mut searched) = (session.machine(), SEARCHED[0]);
    loop {
        let after = here.saturating_sub(searched).max(start);
        let records = session.timeline.records(after, here);
        let mut trail = Trail::new(machine.time_base()).counting_others().only(wanted);
        let ended = records.iter().filter_map(|record| trail.note(record, machine.components()));
        let found = ended.last();
        if found.is_some() || after == start || searched >= SEARCHED[1] {
            return found;
        }
        searched = (searched * 8).min(SEARCHED[1]);
    }
}

/// The records of the last events.
fn lately(session: &Session) -> Vec<Record> {
    let (here, start) = (session.event(), session.timeline.start());
    session.timeline.records(here.saturating_sub(SEARCHED[1]).max(start), here)
}

/// The access that took longest of those that have ended lately, what it waited for before its issue included.
fn slowest(session: &Session) -> Option<TxnNumber> {
    let machine = session.machine();
    let (mut trail, records) = (Trail::new(machine.time_base()), lately(session));
    let ended = records.iter().filter_map(|record| trail.note(record, machine.components()));
    let ranked =
        ended.filter_map(|latency| Some((latency.cycles(), std::cmp::Reverse(latency.issue.txn?.0))));
    ranked.max().map(|(_, number)| TxnNumber(number.0))
}

/// Of all accesses that were issued and have ended lately.
fn of_all(session: &Session) -> Vec<String> {
    let machine = session.machine();
    let (components, mut trail) = (machine.components(), Trail::new(machine.time_base()).taking_apart());
    let (mut spent, mut at_once) = (Spent::default(), 0);
    for latency in lately(session).iter().filter_map(|record| trail.note(record, components)) {
        at_once += u64::from(latency.is_hit());
        spent.add(&latency, components);
    }
    let waits = spent.waits(components);
    let (count, cycles) = (waits.accesses, waits.cycles);
    let searched = session.event().saturating_sub(session.timeline.start());
    let of = if searched > SEARCHED[1] { " of the last 131,072 events" } else { "" };
    if count == 0 {
        return vec![format!("no access{of} has ended that had to wait")];
    }
    let rounded = |cycles: u64| (cycles + count / 2) / count;
    let mean = rounded(cycles);
    let mut lines = vec![format!(
        "{}{of} that {} ended took {mean} cycles each, {} at most; {at_once} ended at once",
        plural(count, "access"),
        if count == 1 { "has" } else { "have" },
        waits.longest
    )];
    lines.extend(waits.sums.iter().map(|sum| {
        let at = sum.places.iter().take(PLACES);
        let at: Vec<_> = at.map(|place| format!("{} {}", place.at, percent(place.cycles, cycles))).collect();
        let name = sum.sort.name();
        format!("{:>7} {} {name:<21} {}", rounded(sum.cycles), percent(sum.cycles, cycles), at.join(", "))
    }));
    lines
}

fn told(latency: &Latency, components: &Components) -> Vec<String> {
    let (issue, ended) = (&latency.issue, latency.ended());
    let (kind, warp) = match issue.what {
        What::Issue { kind, warp, .. } => (issue.name_of(kind), by_warp(warp)),
        _ => ("", String::new()),
    };
    let (began, start) =
        (latency.began(), issue.range.map_or_else(String::new, |range| range.start.to_string()));
    let (number, all) = (issue.txn.map_or(0, |txn| txn.0), latency.cycles());
    let issued = if began < issue.cycle { format!(", issued at {}", issue.cycle) } else { String::new() };
    let who = components.path(issue.at);
    let what = format!("transaction {number}: {who}{warp} {kind} {start}");
    // A hit is told as it is issued.
    if let (true, What::Complete { latency, .. }) = (latency.is_hit(), &latency.complete.what) {
        return vec![format!("{what}, a hit at {ended} that takes {}", plural(*latency, "cycle"))];
    }
    let mut lines = vec![format!("{what}, {} from {began} to {ended}{issued}", plural(all, "cycle"))];
    lines.extend(latency.legs.iter().map(|leg| {
        let share = percent(leg.cycles, all);
        format!("{:>9} {:>7} {share}  {}", leg.since, leg.cycles, text(leg, components))
    }));
    let sums = Sort::ALL.map(|sort| {
        let own = latency.legs.iter().filter(|leg| leg.sort(components) == sort);
        (sort.name(), own.map(|leg| leg.cycles).sum::<u64>())
    });
    // What would be rounded to nothing is left out.
    let sums = sums.into_iter().filter(|(_, cycles)| *cycles * 200 >= all.max(1));
    let sums: Vec<_> = sums.map(|(name, cycles)| format!("{name} {}", percent(cycles, all).trim())).collect();
    if !sums.is_empty() {
        lines.push(format!("in all: {}", sums.join(", ")));
    }
    lines
}

fn percent(cycles: u64, of: u64) -> String {
    format!("{:>3.0} %", cycles as f64 / of.max(1) as f64 * 100.0)
}

/// A page by its number and its address.
fn numbered(page: Range) -> String {
    format!("page {} ({})", Page::of(page.start, page.len), page.start)
}

fn text(leg: &Leg, components: &Components) -> String {
    let at = components.path(leg.at);
    match &leg.what {
        Awaited::Memory => format!("{at} reads its memory"),
        Awaited::LookUp if leg.sort(components) == Sort::Memory => format!("{at} takes its latency"),
        Awaited::LookUp => format!("{at} looks it up"),
        Awaited::Queued { message } => {
            format!("{} waits until {at} takes it from its input queue", message.kind.name())
        }
        Awaited::Turn { other: Some(other), why: Turn::Joined, passed: 0 | 1 } => {
            format!("{at} fetches it already: it has joined the miss of transaction {}", other.0)
        }
        Awaited::Turn { other, why: Turn::Mshr, .. } => room(at, "MSHR", *other),
        Awaited::Turn { other, why: Turn::Way, .. } => room(at, "way", *other),
        Awaited::Turn { why: Turn::Purge, .. } => {
            format!("the remote directory of {at} is full: the CPU's caches are flushed first")
        }
        Awaited::Turn { other, passed, .. } => turn(at, *other, *passed),
        Awaited::Warp(WarpState::Translation) => format!("{at} translates its address: TLB and page walk"),
        Awaited::Warp(WarpState::Ready) => format!("{at} is to issue it"),
        Awaited::Warp(WarpState::MshrFull) => format!("{at} waits for a free MSHR of its L1 to issue it"),
        Awaited::Warp(WarpState::LinkFull) => format!("{at} waits for room below its L1 to issue it"),
        Awaited::Warp(state) => format!("{at} waits: {}", state.name()),
        Awaited::Page { page, is_moving: false } => {
            format!("the far-fault of {} waits for the driver to take it up", numbered(*page))
        }
        Awaited::Page { page, is_moving: true } => {
            format!("{} comes, and the far-fault is replayed", numbered(*page))
        }
        Awaited::Link { message, .. } => {
            let link = leg.links(components).first().map(|link| components.path(*link));
            format!("{} to {at} waits for {}", message.kind.name(), link.unwrap_or("the wire there"))
        }
        Awaited::Message { message, .. } => {
            let links: Vec<_> = leg.links(components).iter().map(|link| components.path(*link)).collect();
            let over =
                if links.is_empty() { String::new() } else { format!(", over {}", links.join(" and ")) };
            format!("{} from {} to {at}{over}", message.kind.name(), components.path(message.from))
        }
    }
}

/// What a node had no room in.
fn room(at: &str, what: &str, other: Option<TxnNumber>) -> String {
    let with =
        other.map_or_else(String::new, |other| format!(", until something of transaction {} comes", other.0));
    format!("{at} has no free {what} for it{with}")
}

/// What stood before it at a node.
fn turn(at: &str, other: Option<TxnNumber>, passed: u64) -> String {
    let before = match passed {
        0 => String::new(),
        1 => "; another one is served before it there".to_owned(),
        count => format!("; {count} others are served before it there"),
    };
    match other {
        Some(other) => {
            format!("{at} goes on with it when something of transaction {} has come{before}", other.0)
        }
        None => format!("{at} goes on with it later{before}"),
    }
}

#[cfg(test)]
mod tests {
    use crate::debug::interrupt::Interrupt;
    use crate::debug::origin::Origin;
    use crate::debug::session::Session;

    #[test]
    fn an_access_that_has_ended_is_told_and_no_other() {
        let text = "machine = 'tiny/umh-2gpu'\n[[do]]\nid = 'a'\nby = 'gpu0.cu0'\nstore = { address = 0x1000, bytes = '07' }\n\
                    [[do]]\nafter = 'a'\nby = 'gpu1.cu0'\nload = { address = 0x1000 }\n";
        let mut session = Session::open(Origin::of_text("t", text).unwrap(), None);
        let mut told = |line: &str| match session.execute(line, &Interrupt::default()) {
            Ok(answer) => answer.lines.join("\n"),
            Err(error) => error.to_string(),
        };
        assert_eq!(told("info latency"), "no access has ended lately");
        told("step 3");
        assert!(told("info latency 1").contains("transaction 1 has not ended"));
        assert!(told("info latency txn 2").contains("transaction 2 has not begun"));
        told("end");
        let last = told("info latency");
        assert!(last.starts_with("transaction 2: gpu1.cu0 warp 0 load 0x1000, "), "{last}");
        assert!(last.contains(" probe-read from host.hmd0 to gpu0.smd0, over "), "{last}");
        assert!(last.lines().last().is_some_and(|sums| sums.starts_with("in all: on links ")), "{last}");
        assert_eq!(told("info latency slowest"), last, "the second has to ask the first GPU");
        let first = told("info latency 1");
        assert!(first.starts_with("transaction 1: "));
        assert_eq!(told("why txn 1"), first, "it waits for nothing any more");
        told("select txn 1");
        assert_eq!(told("why"), first);
    }
    #[test]
    fn the_slowest_access_is_the_one_whose_page_took_longest() {
        let text = "machine = 'tiny/paged-1gpu'\n[set]\ngpu.paging.far_faults = 1\n\
                    [[do]]\nby = 'gpu0.cu0'\nload = { address = 0x1000 }\n\
                    [[do]]\nby = 'gpu0.cu0'\nload = { address = 0x2000 }\n";
        let mut session = Session::open(Origin::of_text("t", text).unwrap(), None);
        session.execute("end", &Interrupt::default()).unwrap();
        let told = session.execute("info latency slowest", &Interrupt::default()).unwrap().lines.join("\n");
        assert!(told.contains("gpu0.cu0 warp 1 load 0x2000"), "{told}");
    }
}
