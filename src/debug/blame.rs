//! What a broken rule goes back to: what the protocol's tables decided about the block, and where that stands in their files.

use super::describe;
use super::frame::focus;
use super::session::Session;
use crate::config::protocol::{Place, Places};
use crate::model::address::Range;
use crate::model::component::ComponentId;
use crate::model::message::{Message, MessageKind};
use crate::model::record::{Record, What};
use crate::model::state::Action;
use crate::model::time::EventNumber;
use crate::protocol::mutation::{cell_text, rule_text};
use crate::protocol::node::Role;
use crate::protocol::table::Table;

/// Events that are looked back, at most, and decisions that are told.
const BACK: EventNumber = 20_000;
const TOLD: usize = 12;

/// Rules that no table breaks: something takes too long, or a choice is none.
const OTHERS: [&str; 3] = ["overdue", "livelock", "choice"];

/// What the tables decided of the block of which a rule is broken at the cursor, the latest first; `None` where none is.
pub fn blame(session: &mut Session) -> Option<Vec<String>> {
    let event = session.event();
    let is_broken =
        |record: &Record| matches!(&record.what, What::Violation { rule, .. } if !OTHERS.contains(rule));
    let broken = session.last_records().iter().find(|record| is_broken(record)).cloned()?;
    let mut lines = vec![describe::record(&broken, session.machine().components())];
    let range = broken.range?;
    let line = focus::line(session.machine(), range.start);
    let start = session.timeline().start().max(event.saturating_sub(BACK));
    let records = session.records(start, event).to_vec();
    let files = files(session);
    let decided = |(at, record)| Some((record, places(session, &files, &records[..at], record)?));
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
    lines.push(format!("decided of {} by the tables, the latest first:", line.start));
    for (record, places) in decisions {
        let what = describe::with_kind(record, session.machine().components());
        lines.push(format!("{:>6}  {what}", record.id.event));
        lines.extend(places.into_iter().map(|place| format!("{:>8}{place}", "")));
    }
    Some(lines)
}

/// The files of the machine's tables.
fn files(session: &Session) -> Vec<Places> {
    let sources = session.maker.as_ref().and_then(|maker| maker.scenario.all_tables(&maker.options).ok());
    sources.unwrap_or_default().iter().filter_map(|source| Places::of(source).ok()).collect()
}

/// The file of a table: the one that says the same, whatever it is called here; or else the one of its name, which was changed.
fn file<'a>(files: &'a [Places], table: &Table) -> Option<&'a Places> {
    let is_same = |file: &&Places| Table { name: table.name.clone(), ..file.table().clone() } == *table;
    files.iter().find(is_same).or_else(|| files.iter().find(|file| file.table().name == table.name))
}

/// Where in its file stands what decided a record; `None` of what no table decides.
fn places(session: &Session, files: &[Places], before: &[Record], record: &Record) -> Option<Vec<String>> {
    let table = session.machine().table(record.at)?;
    let file = file(files, table)?;
    let inner = session.machine().role(record.at) != Some(Role::Leaf);
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
            let (request, granted) = (request(before, record.at, grant)?, grant.granted?);
            let changed = table.directory(request) != file.table().directory(request);
            let rule = table.directory(request).iter().find(|rule| rule.grant == granted);
            (file.rules(request, granted), rule.filter(|_| changed).map(|rule| rule_text(*rule)))
        }
        _ => return None,
    };
    let changed = changed.map_or_else(String::new, |now| format!(" (changed: {now})"));
    let path = file.path();
    let told = places.into_iter().map(|place| format!("{path}:{} {}{changed}", place.line, place.text));
    Some(told.collect())
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
