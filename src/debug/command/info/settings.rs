//! What the session knows: position, breakpoints, bookmarks, displays; and what the machine counts.

use super::cut;
use crate::config::machine_keys;
use crate::config::names::sets_the_same;
use crate::debug::bookmark::Bookmark;
use crate::debug::command::Arguments;
use crate::debug::session::Session;
use crate::diagnostic::Result;
use crate::machine::{Machine, StepOutcome};
use crate::model::inspect::Inspect;
use crate::model::text::{digits, plural};

/// Exactly `event E cycle C digest D`: scripts rely on it.
pub(super) fn position(session: &mut Session, arguments: &Arguments) -> Result<Vec<String>> {
    arguments.none()?;
    let digest = session.machine().digest();
    Ok(vec![format!("event {} cycle {} digest {}", session.event(), session.cycle(), digits(digest))])
}

pub(super) fn stop(session: &mut Session, arguments: &Arguments) -> Result<Vec<String>> {
    arguments.none()?;
    let mut lines = match session.last_stop() {
        None => vec!["nothing has happened yet".to_owned()],
        Some(stop) => session.stop_lines(stop),
    };
    let idle = session.machine().machine().filter(|_| session.timeline.at_end().is_some());
    let idle = idle.map(Machine::idle_faults).unwrap_or_default();
    lines.extend(idle.into_iter().map(|fault| format!("the fault {fault} has struck nothing")));
    Ok(lines)
}

pub(super) fn breakpoints(session: &mut Session, arguments: &Arguments) -> Result<Vec<String>> {
    arguments.none()?;
    let mut lines = Vec::new();
    for breakpoint in session.breakpoints.list() {
        let state = if breakpoint.enabled { "enabled " } else { "disabled" };
        let ignore = match breakpoint.ignore {
            0 => String::new(),
            1 => ", passes the next time".to_owned(),
            count => format!(", passes the next {count} times"),
        };
        let (id, hits) = (breakpoint.id, breakpoint.hits);
        let line = breakpoint.line() + &session.in_vain(id);
        let line = std::iter::once(line).chain(breakpoint.commands.clone());
        let line = line.collect::<Vec<_>>().join("\n        ");
        lines.push(format!("{id:>3} {state} hits {hits}{ignore}  {line}"));
    }
    let lines = cut(session, lines, "breakpoints");
    Ok(lines.iter().flat_map(|entry| entry.lines()).map(str::to_owned).collect())
}

pub(super) fn bookmarks(session: &mut Session, arguments: &Arguments) -> Result<Vec<String>> {
    arguments.none()?;
    let line =
        |(name, bookmark): (&String, &Bookmark)| format!("{name}  {}", bookmark.place(&session.branches));
    let lines = session.bookmarks.iter().map(line).collect();
    Ok(cut(session, lines, "bookmarks"))
}

pub(super) fn displays(session: &mut Session, arguments: &Arguments) -> Result<Vec<String>> {
    arguments.none()?;
    let lines = session.displays.iter().map(|display| display.line(session.machine())).collect();
    Ok(cut(session, lines, "displays"))
}

/// All statistics; of a run that its limit has ended as `umscope run` has them: whoever waits for an event then has waited until the limit.
fn counted(session: &Session) -> Vec<(String, f64)> {
    match (session.timeline().at_end(), session.machine().machine()) {
        (Some(StepOutcome::Limit(cycle)), Some(machine)) => {
            let mut machine = machine.clone();
            machine.wait_until(machine.time_base().tick_of_cycle(cycle));
            machine.statistics()
        }
        _ => session.machine().statistics(),
    }
}

pub(super) fn statistics(session: &mut Session, arguments: &Arguments) -> Result<Vec<String>> {
    let words = arguments.words();
    if let Some(second) = words.get(1) {
        return Err(arguments.error(second.span.clone(), "one prefix is enough"));
    }
    let prefix = arguments.text();
    let all = counted(session);
    let meant = all.iter().filter(|(key, _)| key.starts_with(prefix));
    let list: Vec<_> = meant.map(|(key, value)| format!("{key} = {}", known(*value))).collect();
    if list.is_empty() {
        let mut heads: Vec<_> = all.iter().filter_map(|(key, _)| key.split('.').next()).collect();
        heads.sort_unstable();
        heads.dedup();
        let error = arguments.complaint(format!("no statistic begins with {prefix}"));
        return Err(Box::new(error.nearest(prefix, heads.iter().copied()).expected(heads.join(", "))));
    }
    Ok(cut(session, list, "statistics"))
}

/// Every key of the machine, as it is here.
pub(super) fn machine(session: &mut Session, arguments: &Arguments) -> Result<Vec<String>> {
    let words = arguments.words();
    if let Some(second) = words.get(1) {
        return Err(arguments.error(second.span.clone(), "one key, or a part of one, is enough"));
    }
    let (spec, set) = session.machine_here()?;
    let part = arguments.text();
    let all = machine_keys::keys(&spec);
    let is_set = |key: &str| set.iter().any(|text| sets_the_same(text, key));
    let told = |(key, value): &(String, toml::Value)| {
        format!("{key} = {value}{}", if is_set(key) { "  # set here" } else { "" })
    };
    // What somebody has set comes first.
    let (set, rest): (Vec<_>, Vec<_>) =
        all.iter().filter(|(key, _)| key.contains(part)).partition(|(key, _)| is_set(key));
    let list: Vec<_> = set.into_iter().chain(rest).map(told).collect();
    if list.is_empty() {
        let error = arguments.complaint(format!("this machine has no key with \"{part}\" in it"));
        let names = all.iter().flat_map(|(key, _)| key.split('.').chain([key.as_str()]));
        return Err(Box::new(error.nearest(part, names).expected("a part of a key such as l1.mshrs")));
    }
    Ok(cut(session, list, "keys"))
}

/// A rate of nothing is not known.
fn known(value: f64) -> String {
    if value.is_nan() { "unknown".to_owned() } else { value.to_string() }
}

pub(super) fn tasks(session: &mut Session, arguments: &Arguments) -> Result<Vec<String>> {
    arguments.none()?;
    let time = session.machine().time_base();
    let lines = session.machine().tasks().into_iter().map(|task| {
        let when = match (task.started, task.ended) {
            (None, _) if task.flushing > 0 => {
                let caches = plural(task.flushing as u64, "cache");
                format!("waits for {caches} to write back what was stored before")
            }
            (None, _) => "not started".to_owned(),
            (Some(start), None) => format!("started at cycle {}", time.cycle(start)),
            (Some(start), Some(end)) => format!("cycle {} to {}", time.cycle(start), time.cycle(end)),
        };
        let result = task.result.filter(|bytes| !bytes.is_empty());
        let result = result
            .map_or_else(String::new, |bytes| format!(" = {}", crate::debug::frame::text::bytes(&bytes)));
        format!("{}  {}  {when}{result}", task.id, task.work)
    });
    let lines = lines.collect();
    Ok(cut(session, lines, "tasks"))
}

pub(super) fn checkpoints(session: &mut Session, arguments: &Arguments) -> Result<Vec<String>> {
    arguments.none()?;
    let timeline = session.timeline();
    let events: Vec<_> = timeline.checkpoints().map(|event| event.to_string()).collect();
    let held = timeline.checkpoint_bytes() as f64 / f64::from(1 << 20);
    Ok(vec![
        format!(
            "{}, about {held:.1} MiB, to go back from",
            if events.len() == 1 {
                "1 copy of the machine".to_owned()
            } else {
                format!("{} copies of the machine", events.len())
            }
        ),
        format!("at events {}", events.join(" ")),
    ])
}
