//! What a broken rule goes back to: what the protocol's tables decided about the block, and where that stands in their files.

use rustc_hash::FxHashSet;

use super::describe;
use super::diagnosis::{Diagnosis, Verdict, diagnose};
use super::frame::focus;
use super::session::Session;
use super::stop::Reason;
use super::subject::Subject;
use crate::config::protocol::{Place, Places};
use crate::diagnostic::Source;
use crate::machine::{Machine, StepOutcome};
use crate::model::address::Range;
use crate::model::component::ComponentId;
use crate::model::inspect::Inspect;
use crate::model::message::{Message, MessageKind};
use crate::model::record::{Record, Records, What};
use crate::model::state::{Action, State};
use crate::model::time::EventNumber;
use crate::protocol::mutation::{cell_text, rule_text};
use crate::protocol::node::Role;
use crate::protocol::table::{DirectoryRule, Step, Table};

/// Events that are looked back, at most, and decisions that are told.
const BACK: EventNumber = 20_000;
const TOLD: usize = 12;

/// Rules that no table breaks: something takes too long, or a choice is none.
const OTHERS: [&str; 3] = ["overdue", "livelock", "choice"];

/// What an exploration finds that goes round, and breaks no rule of a state.
const ENDLESS: [&str; 2] = ["livelock", "starvation"];

/// What the tables decided of the block of which a rule is broken at the cursor, the latest first; `None` where none is.
pub fn blame(session: &mut Session) -> Option<Vec<String>> {
    let event = session.event();
    let broken = session.last_records().iter().find(|record| is_broken(record)).cloned();
    let told =
        broken.map(|record| (describe::record(&record, session.machine().components()), record.range, false));
    let (head, range, goes_round) = told.or_else(|| found(session)).or_else(|| late(session))?;
    let start = session.timeline().start().max(event.saturating_sub(BACK));
    let records = session.records(start, event).to_vec();
    let tables = session.maker.as_ref().and_then(|maker| maker.scenario.all_tables(&maker.options).ok());
    let decided = decided(session.machine(), (range?, goes_round), &records, &tables.unwrap_or_default())?;
    Some(std::iter::once(head).chain(decided).collect())
}

/// What an exploration has found where the cursor stands, what that is about, and whether it goes round for ever. Its way there is the
/// shortest, so that the last step of it is about that block.
fn found(session: &mut Session) -> Option<(String, Option<Range>, bool)> {
    let Some(Reason::Found { text, is_violation: true }) = session.recorded_here() else { return None };
    let goes_round = ENDLESS.iter().any(|rule| text.starts_with(rule));
    Some((text, session.last_records().iter().rev().find_map(|record| record.range), goes_round))
}

/// A transaction that has taken too long where the cursor stands, since it goes round for ever, and what that is about.
fn late(session: &mut Session) -> Option<(String, Option<Range>, bool)> {
    let is_late =
        |record: &&Record| matches!(&record.what, What::Violation { rule, .. } if OTHERS.contains(rule));
    let late = session.last_records().iter().find(is_late).cloned()?;
    let machine = session.machine().machine()?;
    let range = livelocked(machine, &diagnose(machine)?)?;
    Some((describe::record(&late, machine.components()), Some(range), true))
}

/// What the oldest transaction of a livelock is about.
fn livelocked(machine: &Machine, diagnosis: &Diagnosis) -> Option<Range> {
    let txn = diagnosis.transactions.first().filter(|_| diagnosis.verdict == Verdict::Livelock)?;
    machine.transaction_range(*txn)
}

/// The same of a run that has ended in a livelock.
#[must_use]
pub fn blame_livelock(
    start: &Machine,
    ended: &Machine,
    diagnosis: &Diagnosis,
    tables: &[Source],
) -> Option<Vec<String>> {
    let range = livelocked(ended, diagnosis)?;
    let (mut machine, mut heard, mut records) = (start.clone(), Records::listening(), Vec::new());
    machine.run_until(ended.event().saturating_sub(BACK));
    while machine.event() < ended.event() && machine.step(&mut heard) == StepOutcome::Ran {
        records.append(&mut heard.list);
    }
    decided(&machine, (range, true), &records, tables)
}

/// The same of a rule of which an exploration has found that it is broken, at the end of so many steps of a run from its `start`. Its way
/// there is the shortest, so that the last step of it is about that block.
#[must_use]
pub fn blame_found(start: &Machine, steps: usize, rule: &str, tables: &[Source]) -> Option<Vec<String>> {
    let (mut machine, mut heard, mut records) = (start.clone(), Records::listening(), Vec::new());
    for _ in 0..steps {
        machine.step(&mut heard);
        records.append(&mut heard.list);
    }
    let range = records.iter().rev().find_map(|record| record.range)?;
    decided(&machine, (range, ENDLESS.contains(&rule)), &records, tables)
}

/// The same of the first rule that a run has broken, which is made again from its `start`, without what says which rule that is.
#[must_use]
pub fn blame_run(start: &Machine, ended: &Machine, tables: &[Source]) -> Option<Vec<String>> {
    let event = ended.violations().iter().find(|violation| !OTHERS.contains(&violation.rule))?.event;
    let (mut machine, mut heard, mut records) = (start.clone(), Records::listening(), Vec::new());
    machine.run_until(event.saturating_sub(BACK));
    let mut broken = None;
    while broken.is_none() {
        // Behind its last event only the end of a run is looked at.
        let is_over = machine.event() >= event;
        let outcome = machine.step(&mut heard);
        if is_over && outcome == StepOutcome::Ran {
            return None;
        }
        broken = heard.list.iter().find(|record| is_broken(record)).cloned();
        records.append(&mut heard.list);
        if outcome != StepOutcome::Ran {
            break;
        }
    }
    decided(&machine, (broken?.range?, false), &records, tables)
}

fn is_broken(record: &Record) -> bool {
    matches!(&record.what, What::Violation { rule, .. } if !OTHERS.contains(rule))
}

/// What `tables` decided in `records` of the block in which a rule is broken, or which goes round for ever: then it is what is asked
/// that matters, too.
fn decided(
    machine: &dyn Subject,
    (range, goes_round): (Range, bool),
    records: &[Record],
    tables: &[Source],
) -> Option<Vec<String>> {
    let line = focus::line(machine, range.start);
    // Of a secondary block any line may be the one.
    let line = if range.len > line.len { range } else { line };
    let files: Vec<Places> = tables.iter().filter_map(|table| Places::of(table).ok()).collect();
    let decided = |(at, record)| {
        let asked = || asked(machine, &files, &records[..at], record).filter(|_| goes_round);
        Some((record, places(machine, &files, &records[..at], record).or_else(asked)?))
    };
    let about = |record: &Record| record.range.is_some_and(|range| range.overlaps(line));
    // What goes round is told once.
    let mut seen = FxHashSet::default();
    let decisions: Vec<_> = records
        .iter()
        .enumerate()
        .rev()
        .filter(|(_, record)| about(record))
        .filter_map(decided)
        .filter(|(_, places)| !goes_round || seen.insert(places.clone()))
        .take(TOLD)
        .collect();
    if decisions.is_empty() {
        return None;
    }
    let mut lines = vec![format!("decided of {} by the tables, the latest first:", line.start)];
    for (record, places) in decisions {
        let what = describe::with_kind(record, machine.components());
        lines.push(format!("{:>6}  {what}", record.id.event));
        lines.extend(places.into_iter().map(|place| format!("{:>8}{place}", "")));
    }
    Some(lines)
}

/// The file of a table: the one that says the same, whatever it is called here; or else the one of its name, which was changed.
fn file<'a>(files: &'a [Places], table: &Table) -> Option<&'a Places> {
    let is_same = |file: &&Places| Table { name: table.name.clone(), ..file.table().clone() } == *table;
    files.iter().find(is_same).or_else(|| files.iter().find(|file| file.table().name == table.name))
}

/// Where in its file stands what decided a record; `None` of what no table decides.
fn places(
    machine: &dyn Subject,
    files: &[Places],
    before: &[Record],
    record: &Record,
) -> Option<Vec<String>> {
    let table = machine.table(record.at)?;
    let file = file(files, table)?;
    let inner = machine.role(record.at) != Some(Role::Leaf);
    match &record.what {
        What::Transition { from, to, action: Action::Merge } => {
            let merges = file.merges(*from, *to);
            let added = || vec![format!("[merge] ... {from} = {to} (added)")];
            Some(if merges.is_empty() { added() } else { told(file, merges, None) })
        }
        What::Transition { from, action, .. } => Some(cell(file, table, (*from, *action), inner)),
        What::Hit { state, action, .. } => Some(cell(file, table, (*state, *action), inner)),
        What::Message(grant) => {
            let request = request(before, record.at, grant)?;
            let number = rule(before, record, grant)?;
            let (own, theirs) = (table.directory(request), file.table().directory(request));
            let rule = own.get(number)?;
            let (there, is_same) = origin(own, theirs, number);
            let Some(place) = there.and_then(|there| file.rule(request, there)) else {
                let name = request.name();
                let added = format!("[directory] {name} {} (added: {})", number + 1, rule_text(*rule));
                return Some(vec![added]);
            };
            Some(told(file, vec![place], (!is_same).then(|| rule_text(*rule))))
        }
        _ => None,
    }
}

/// Where in its file stand the cells that may have asked for what a record sends.
fn asked(machine: &dyn Subject, files: &[Places], before: &[Record], record: &Record) -> Option<Vec<String>> {
    let What::Message(request) = &record.what else { return None };
    let table = machine.table(record.at)?;
    let inner = machine.role(record.at) != Some(Role::Leaf);
    let overlaps = |other: &&Record| {
        other.at == record.at && other.range.is_some_and(|range| range.overlaps(request.range))
    };
    let state = before.iter().rev().filter(overlaps).find_map(|other| match other.what {
        What::Transition { to, .. } => Some(to),
        What::Hit { state, .. } => Some(state),
        _ => None,
    });
    let state = state.unwrap_or(State::I);
    let asks = |action: &Action| {
        table.cell(state, *action, inner).is_some_and(|cell| cell.step == Step::Ask(request.kind))
    };
    let columns = [Action::Load, Action::Store, Action::NStore].into_iter().filter(asks);
    let file = file(files, table)?;
    let places: Vec<String> = columns.flat_map(|action| cell(file, table, (state, action), inner)).collect();
    (!places.is_empty()).then_some(places)
}

/// Where in its file stands a cell of a table, which may have been changed since, or added for nodes with children only.
fn cell(file: &Places, table: &Table, (state, action): (State, Action), inner: bool) -> Vec<String> {
    let changed = |inner| {
        let [own, other] = [table, file.table()].map(|table| table.cell(state, action, inner));
        (own != other).then(|| cell_text(own))
    };
    let (place, now) = (file.cell(state, action, inner), changed(inner));
    let is_inner = place.as_ref().is_some_and(|place| place.text.starts_with("[inner]"));
    match now {
        Some(now) if inner && !is_inner && changed(false).is_none() => {
            vec![format!("[inner] {state}: {} (added: {now})", action.name())]
        }
        now => told(file, place.into_iter().collect(), now),
    }
}

fn told(file: &Places, places: Vec<Place>, changed: Option<String>) -> Vec<String> {
    let changed = changed.map_or_else(String::new, |now| format!(" (changed: {now})"));
    let path = file.path();
    places.into_iter().map(|place| format!("{path}:{} {}{changed}", place.line, place.text)).collect()
}

/// Which of the file's rules one of the machine's is, and whether it is as it was there: rules may have been taken out, changed and added.
fn origin(own: &[DirectoryRule], theirs: &[DirectoryRule], number: usize) -> (Option<usize>, bool) {
    let mut next = 0;
    let same: Vec<Option<usize>> = own
        .iter()
        .map(|rule| {
            let there = next + theirs.iter().skip(next).position(|other| other == rule)?;
            next = there + 1;
            Some(there)
        })
        .collect();
    if let Some(Some(there)) = same.get(number) {
        return (Some(*there), true);
    }
    let before = same.iter().enumerate().take(number).rev().find_map(|(own, there)| Some((own, (*there)?)));
    let there = before.map_or(number, |(own, there)| there + number - own);
    let after = same.iter().skip(number + 1).flatten().next().copied().unwrap_or(theirs.len());
    ((there < after).then_some(there), false)
}

/// The number of the rule, from 0, by which a grant was given: what the directory has become by it stands before it, in the same event.
fn rule(before: &[Record], record: &Record, grant: &Message) -> Option<usize> {
    let here = before.iter().rev().take_while(|other| other.id.event == record.id.event);
    let mut entries = here.filter(|other| {
        other.at == record.at && other.range.is_some_and(|range| range.overlaps(grant.range))
    });
    let number = entries.find_map(|other| match other.what {
        What::Directory { rule, .. } => rule,
        _ => None,
    });
    Some(usize::from(number?.checked_sub(1)?))
}

/// What was asked for by the receiver of a grant.
fn request(before: &[Record], at: ComponentId, grant: &Message) -> Option<MessageKind> {
    if grant.kind != MessageKind::Grant {
        return None;
    }
    let overlaps = |range: Range| range.overlaps(grant.range);
    before.iter().rev().find_map(|record| match &record.what {
        What::Delivery(taken) if record.at == at && taken.from == grant.to && overlaps(taken.range) => {
            let is_request =
                [MessageKind::Read, MessageKind::ReadNc, MessageKind::Write].contains(&taken.kind);
            is_request.then_some(taken.kind)
        }
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::table::{Probe, When};

    #[test]
    fn a_rule_is_found_though_others_were_taken_out_changed_and_added() {
        let rule = |letter: char| DirectoryRule {
            when: When::Always,
            probe: Probe::Nobody,
            grant: State::parse(&letter.to_string()).unwrap(),
        };
        let rules = |letters: &str| letters.chars().map(rule).collect::<Vec<_>>();
        let origins = |own: &str, theirs: &str| {
            let (own, theirs) = (rules(own), rules(theirs));
            (0..own.len()).map(|number| origin(&own, &theirs, number)).collect::<Vec<_>>()
        };
        assert_eq!(origins("AXC", "ABC"), [(Some(0), true), (Some(1), false), (Some(2), true)]);
        assert_eq!(origins("BC", "ABC"), [(Some(1), true), (Some(2), true)]);
        assert_eq!(origins("BCX", "ABC"), [(Some(1), true), (Some(2), true), (None, false)]);
        assert_eq!(origins("AX", "ABC"), [(Some(0), true), (Some(1), false)]);
        assert_eq!(origins("ABCX", "ABC")[3], (None, false));
    }
}
