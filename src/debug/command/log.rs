//! `log`: the records up to the cursor, and what the log shows of them.

use super::{Arguments, Command, Completes, Effect, Group};
use crate::debug::describe;
use crate::debug::session::Session;
use crate::diagnostic::Result;
use crate::model::record::Record;
use crate::model::time::EventNumber;
use crate::query::{Filter, Text};

/// Events looked back at for matching records, at most.
const FARTHEST: u64 = 1 << 17;

pub const LOG: Command = Command {
    name: "log",
    aliases: &["filter"],
    usage: "log [QUERY | all]",
    group: Group::Looking,
    about: "show the last records up to here, and set what the log shows",
    details: "\
QUERY filters them from now on, here and on the screen; all shows every record again.
    log transition or message type probe
How many lines: set lines N. It looks at the last 131,072 events; reverse-until looks further back.",
    completes: Completes::Filter,
    run: log,
};

fn log(session: &mut Session, arguments: &Arguments) -> Result<Effect> {
    match arguments.text() {
        "" => {}
        "all" => session.filter = None,
        _ => session.set_filter(&arguments.query())?,
    }
    let lines = session.settings.lines;
    let records = session.log(lines);
    let components = session.machine().components();
    let mut said: Vec<_> = records.iter().map(|record| describe::log_line(record, components)).collect();
    let from = session.log_reaches();
    let is_cut = said.len() < lines && from > session.timeline.start();
    if said.is_empty() {
        said.push("no matching record up to here".to_owned());
    }
    if is_cut {
        said.insert(
            0,
            format!("(up to event {from} was not looked at: reverse-until QUERY goes further back)"),
        );
    }
    Ok(Effect::Said(said))
}

impl Session {
    /// What the log shows from now on; everything if `query` is empty.
    ///
    /// # Errors
    /// If it cannot be understood.
    pub fn set_filter(&mut self, query: &Text) -> Result<()> {
        let text = query.as_str().trim();
        let filter = if text.is_empty() { None } else { Some(Filter::compile(query, self.context())?) };
        self.filter = filter.map(|filter| (filter, text.to_owned()));
        Ok(())
    }

    /// The event after which [`Self::log`] looks for records.
    #[must_use]
    pub fn log_reaches(&self) -> EventNumber {
        self.timeline.start().max(self.event().saturating_sub(FARTHEST))
    }

    /// The last `count` records up to the cursor that pass the log's filter, oldest first. Looks back a bounded
    /// number of events.
    pub fn log(&mut self, count: usize) -> Vec<Record> {
        let (first, until) = (self.log_reaches(), self.event());
        let filter = self.filter.as_ref().map(|(filter, _)| filter.clone());
        let mut found = Vec::new();
        let mut back = 64;
        loop {
            let after = until.saturating_sub(back).max(first);
            let window = self.recall.window(&self.timeline, after, until);
            let components = self.timeline.machine().components();
            let matching = window
                .iter()
                .filter(|record| filter.as_ref().is_none_or(|filter| filter.matches(record, components)));
            found.clear();
            found.extend(matching.rev().take(count).cloned());
            if found.len() >= count || after <= first {
                break;
            }
            back *= 4;
        }
        found.reverse();
        found
    }
}
