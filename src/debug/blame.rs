//! What a broken rule goes back to: what the protocol's tables decided about the block, and where that stands in their files.

use super::describe;
use super::frame::focus;
use super::session::Session;
use super::subject::Subject;
use crate::config::protocol::{Place, Places};
use crate::diagnostic::Source;
use crate::machine::{Machine, StepOutcome};
use crate::model::address::Range;
use crate::model::component::ComponentId;
use crate::model::inspect::Inspect;
use crate::model::message::{Message, MessageKind};
use crate::model::record::{Record, Records, What};
use crate::model::state::Action;
use crate::model::time::EventNumber;
use crate::protocol::mutation::{cell_text, rule_text};
use crate::protocol::node::Role;
use crate::protocol::table::{DirectoryRule, Table};

/// Events that are looked back, at most, and decisions that are told.
const BACK: EventNumber = 20_000;
const TOLD: usize = 12;

/// Rules that no table breaks: something takes too long, or a choice is none.
const OTHERS: [&str; 3] = ["overdue", "livelock", "choice"];

/// What the tables decided of the block of which a rule is broken at the cursor, the latest first; `None` where none is.
pub fn blame(session: &mut Session) -> Option<Vec<String>> {
    let event = session.event();
    let broken = session.last_records().iter().find(|record| is_broken(record)).cloned()?;
    let start = session.timeline().start().max(event.saturating_sub(BACK));
    let records = session.records(start, event).to_vec();
    let tables = session.maker.as_ref().and_then(|maker| maker.scenario.all_tables(&maker.options).ok());
    let decided = decided(session.machine(), &broken, &records, &tables.unwrap_or_default())?;
    let mut lines = vec![describe::record(&broken, session.machine().components())];
    lines.extend(decided);
    Some(lines)
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
    decided(&machine, &broken?, &records, tables)
}

fn is_broken(record: &Record) -> bool {
    matches!(&record.what, What::Violation { rule, .. } if !OTHERS.contains(rule))
}

/// What `tables` decided in `records` of the block of which a rule is `broken`.
fn decided(
    machine: &dyn Subject,
    broken: &Record,
    records: &[Record],
    tables: &[Source],
) -> Option<Vec<String>> {
    let line = focus::line(machine, broken.range?.start);
    let files: Vec<Places> = tables.iter().filter_map(|table| Places::of(table).ok()).collect();
    let decided = |(at, record)| Some((record, places(machine, &files, &records[..at], record)?));
    let about = |record: &Record| record.range.is_some_and(|range| range.overlaps(line));
    let decisions: Vec<_> = records
        .iter()
        .enumerate()
        .filter(|(_, record)| about(record))
        .filter_map(decided)
        .rev()
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
    let cell = |state, action| {
        let [own, other] = [table, file.table()].map(|table| table.cell(state, action, inner));
        let changed = (own != other).then(|| cell_text(own));
        (file.cell(state, action, inner).into_iter().collect(), changed)
    };
    let (places, changed): (Vec<Place>, Option<String>) = match &record.what {
        What::Transition { from, to, action: Action::Merge } => (file.merges(*from, *to), None),
        What::Transition { from, action, .. } => cell(*from, *action),
        What::Hit { state, action, .. } => cell(*state, *action),
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
            (vec![place], (!is_same).then(|| rule_text(*rule)))
        }
        _ => return None,
    };
    let changed = changed.map_or_else(String::new, |now| format!(" (changed: {now})"));
    let path = file.path();
    let told = places.into_iter().map(|place| format!("{path}:{} {}{changed}", place.line, place.text));
    Some(told.collect())
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
    use crate::model::state::State;
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
