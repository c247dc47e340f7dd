//! Where the cycles of an access went.

use crate::debug::command::Arguments;
use crate::debug::latency::{Awaited, Latency, Leg};
use crate::debug::session::Session;
use crate::diagnostic::Result;
use crate::model::component::{ComponentKind, Components};
use crate::model::message::TxnNumber;
use crate::model::record::{Record, What, by_warp};

/// Events that are looked through for an access, first and at most.
const SEARCHED: [u64; 2] = [1 << 12, 1 << 18];

/// Of the access that is named or selected, or else of the last one that has ended.
pub(super) fn latency(session: &mut Session, arguments: &Arguments) -> Result<Vec<String>> {
    let words = arguments.words();
    let number = match words.as_slice() {
        [] => None,
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
        let text = wanted.map_or_else(
            || "no access has ended lately".to_owned(),
            |txn| format!("transaction {} ended too long ago: go to its end, and ask there", txn.0),
        );
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
    let stands = match session.machine().transaction(txn) {
        Some(_) => "has not ended",
        None => session.over_or_ahead(txn),
    };
    if stands == "has ended" {
        return Ok(txn);
    }
    let error = arguments.complaint(format!("transaction {} {stands}", txn.0));
    Err(Box::new(error.expected("one that has; why txn N tells of one in flight")))
}

/// The latency of an access, out of the records up to here.
fn find(session: &Session, wanted: Option<TxnNumber>) -> Option<Latency> {
    let (here, start) = (session.event(), session.timeline.start());
    let mut searched = SEARCHED[0];
    loop {
        let after = here.saturating_sub(searched).max(start);
        let records = session.timeline.records(after, here);
        let ended = |record: &&Record| matches!(record.what, What::Complete { .. });
        let txn = wanted.or_else(|| records.iter().rev().find(ended)?.txn);
        let found = txn.and_then(|txn| Latency::of(txn, &records, session.machine().components()));
        if found.is_some() || after == start || searched >= SEARCHED[1] {
            return found;
        }
        searched *= 8;
    }
}

fn told(latency: &Latency, components: &Components) -> Vec<String> {
    let issue = &latency.issue;
    let (start, all) =
        (issue.range.map_or_else(String::new, |range| range.start.to_string()), latency.cycles());
    let (kind, warp) = match issue.what {
        What::Issue { kind, warp, .. } => (kind.name(), by_warp(warp)),
        _ => ("", String::new()),
    };
    let number = issue.txn.map_or(0, |txn| txn.0);
    let mut lines = vec![format!(
        "transaction {number}: {}{warp} {kind} {start}, {} cycles from {} to {}",
        components.path(issue.at),
        all,
        issue.cycle,
        latency.complete.cycle
    )];
    let share = |cycles: u64| format!("{:>3.0} %", cycles as f64 / all.max(1) as f64 * 100.0);
    let mut before: Option<&Leg> = None;
    for leg in &latency.legs {
        let text = text(leg, before, components);
        lines.push(format!("{:>9} {:>7} {}  {text}", leg.since, leg.cycles, share(leg.cycles)));
        before = Some(leg);
    }
    let sums = SORTS.map(|(name, sort)| {
        let own = latency.legs.iter().filter(|leg| sort_of(leg, components) == sort);
        (name, own.map(|leg| leg.cycles).sum::<u64>())
    });
    let sums = sums.into_iter().filter(|(_, cycles)| *cycles > 0);
    let sums: Vec<_> = sums.map(|(name, cycles)| format!("{name} {}", share(cycles).trim())).collect();
    if !sums.is_empty() {
        lines.push(format!("in all: {}", sums.join(", ")));
    }
    lines
}

/// Sorts of time.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Sort {
    Links,
    Chip,
    Memory,
    Turns,
}

const SORTS: [(&str, Sort); 4] = [
    ("links", Sort::Links),
    ("on chip", Sort::Chip),
    ("memory", Sort::Memory),
    ("waiting for its turn", Sort::Turns),
];

fn sort_of(leg: &Leg, components: &Components) -> Sort {
    match &leg.what {
        Awaited::Memory => Sort::Memory,
        Awaited::Turn(_) => Sort::Turns,
        Awaited::Message(message) if components.links_between(message.from, message.to).is_empty() => {
            Sort::Chip
        }
        Awaited::Message(_) => Sort::Links,
    }
}

fn text(leg: &Leg, before: Option<&Leg>, components: &Components) -> String {
    let at = components.path(leg.at);
    match &leg.what {
        Awaited::Memory => format!("{at} reads its memory"),
        Awaited::Turn(Some(other)) => {
            format!("{at} is busy, until something of transaction {} comes there", other.0)
        }
        Awaited::Turn(None) => format!("{at} is busy"),
        Awaited::Message(message) => {
            let links: Vec<_> = components
                .links_between(message.from, message.to)
                .iter()
                .map(|link| components.path(*link))
                .collect();
            let over =
                if links.is_empty() { String::new() } else { format!(", over {}", links.join(" and ")) };
            let is_memory =
                |kind| matches!(kind, ComponentKind::Smd | ComponentKind::Hmd | ComponentKind::Memory);
            let from = components.get(message.from).is_some_and(|from| is_memory(from.kind));
            let was_read = before.is_some_and(|leg| leg.what == Awaited::Memory);
            let read = if from && message.has_data && !was_read { ", its data read first" } else { "" };
            format!("{} from {} to {at}{over}{read}", message.kind.name(), components.path(message.from))
        }
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
        assert!(last.lines().last().is_some_and(|sums| sums.starts_with("in all: links ")), "{last}");
        let first = told("info latency 1");
        assert!(first.starts_with("transaction 1: "));
        assert_eq!(told("why txn 1"), first, "it waits for nothing any more");
        told("select txn 1");
        assert_eq!(told("why"), first);
    }
}
