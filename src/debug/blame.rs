//! What a broken rule goes back to: what the protocol's tables decided about the block, and where that stands in their files.

use super::describe;
use super::frame::focus;
use super::session::Session;
use crate::config::protocol::{Place, Places};
use crate::config::{self, Kind};
use crate::model::address::Range;
use crate::model::component::ComponentId;
use crate::model::message::{Message, MessageKind};
use crate::model::record::{Record, What};
use crate::model::state::Action;
use crate::model::time::EventNumber;
use crate::protocol::node::Role;

/// Events that are looked back, at most, and decisions that are told.
const BACK: EventNumber = 20_000;
const TOLD: usize = 12;

/// What the tables decided of the block of which a rule is broken at the cursor, the latest first; `None` where none is.
pub fn blame(session: &mut Session) -> Option<Vec<String>> {
    let event = session.event();
    let is_broken = |record: &Record| matches!(record.what, What::Violation { .. });
    let broken = session.last_records().iter().find(|record| is_broken(record)).cloned()?;
    let mut lines = vec![describe::log_line(&broken, session.machine().components()).trim_start().to_owned()];
    let Some(range) = broken.range else { return Some(lines) };
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
        return Some(lines);
    }
    lines.push(format!("decided of {} by the tables, the latest first:", line.start));
    for (record, places) in decisions {
        lines.push(describe::log_line(record, session.machine().components()));
        lines.extend(places.into_iter().map(|place| format!("{:>10} {place}", "")));
    }
    Some(lines)
}

/// The files of the machine's tables: those on disk, or that the scenario brings along, before those that are bundled.
fn files(session: &Session) -> Vec<Places> {
    let own = session.maker.as_ref().and_then(|maker| maker.scenario.own_tables(&maker.options).ok());
    let own = own.unwrap_or_default().into_iter();
    let tables = session.tables();
    let names = tables.iter().map(|ruled| ruled.table.name.as_str());
    let bundled = names.filter_map(|name| Some(config::find(Kind::Protocol, name, None).ok()?.source));
    own.chain(bundled).filter_map(|source| Places::of(&source).ok()).collect()
}

/// Where in its file stands what decided a record; `None` of what no table decides.
fn places(session: &Session, files: &[Places], before: &[Record], record: &Record) -> Option<Vec<String>> {
    let table = session.machine().table(record.at)?;
    let file = files.iter().find(|file| file.name() == table.name)?;
    let inner = session.machine().role(record.at) != Some(Role::Leaf);
    let places: Vec<Place> = match &record.what {
        What::Transition { from, to, action: Action::Merge } => file.merges(*from, *to),
        What::Transition { from, action, .. } => file.cell(*from, *action, inner).into_iter().collect(),
        What::Hit { state, action, .. } => file.cell(*state, *action, inner).into_iter().collect(),
        What::Message(grant) => file.rules(request(before, record.at, grant)?, grant.granted?),
        _ => return None,
    };
    let path = file.path();
    Some(places.into_iter().map(|place| format!("{path}:{} {}", place.line, place.text)).collect())
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
