//! `goto`, `start`, `end` and `run`: to a named position.

use super::arguments::Word;
use super::{Arguments, Command, Completes, Effect, Group, Takes};
use crate::debug::goal::Goal;
use crate::debug::session::Session;
use crate::debug::travel::{Direction, Travel};
use crate::diagnostic::Result;
use crate::model::time::EventNumber;

pub const GOTO: Command = Command {
    name: "goto",
    aliases: &["g"],
    usage: "goto EVENT | cycle N | BOOKMARK | start | end",
    group: Group::Moving,
    about: "go to an event, a cycle, a bookmark or either end",
    details: "In either direction; breakpoints on the way do not stop it. A cycle means the first event in or after it;
20.1, as the log names a record, the event that it is in. A bookmark of another branch leads to that branch.",
    completes: Completes::Slots(&[Takes::Position]),
    run: goto,
};

pub const RUN: Command = Command {
    name: "run",
    aliases: &["r"],
    usage: "run",
    group: Group::Moving,
    about: "run from the start until a breakpoint or the end",
    details: "Breakpoints, bookmarks and displays stay.",
    completes: Completes::Nothing,
    run,
};

pub const START: Command = Command {
    name: "start",
    aliases: &[],
    usage: "start",
    group: Group::Moving,
    about: "go to the first position",
    details: "",
    completes: Completes::Nothing,
    run: |session, arguments| {
        arguments.none()?;
        Ok(Effect::Go(Travel::to(session.timeline.start())))
    },
};

pub const END: Command = Command {
    name: "end",
    aliases: &[],
    usage: "end",
    group: Group::Moving,
    about: "go to the end of the run",
    details: "Breakpoints on the way do not stop it; an interrupt does.",
    completes: Completes::Nothing,
    run: |_, arguments| {
        arguments.none()?;
        Ok(Effect::Go(Travel::to_end()))
    },
};

fn goto(session: &mut Session, arguments: &Arguments) -> Result<Effect> {
    let words = arguments.words();
    let travel = match words.as_slice() {
        [] => return Err(arguments.missing("an event, cycle N, a bookmark, start or end")),
        [kind, number] if kind.text == "cycle" => {
            Travel::to_cycle(arguments.number(number, "a cycle")?, &session.timeline)
        }
        [kind, number] if kind.text == "event" => Travel::to(arguments.number(number, "an event")?),
        [kind] if kind.text == "cycle" => return Err(arguments.missing("the number of a cycle")),
        [kind] if kind.text == "event" => return Err(arguments.missing("the number of an event")),
        [only] => match session.bookmarks.get(only.text) {
            Some(bookmark) => {
                let bookmark = *bookmark;
                session.reach(bookmark)?;
                Travel::to(bookmark.event)
            }
            None if only.text == "start" => Travel::to(session.timeline.start()),
            None if only.text == "end" => Travel::to_end(),
            None if only.text.starts_with(|c: char| c.is_ascii_digit()) => {
                Travel::to(event_of(arguments, only)?)
            }
            None => {
                let error =
                    arguments.error(only.span.clone(), format!("there is no bookmark \"{}\"", only.text));
                let names = session.bookmarks.keys().map(String::as_str);
                return Err(Box::new(
                    error.nearest(only.text, names).expected("an event, cycle N, a bookmark, start or end"),
                ));
            }
        },
        [kind, _] if !is_place(session, kind.text) => {
            let error = arguments.error(kind.span.clone(), format!("{} counts nothing here", kind.text));
            return Err(Box::new(
                error.nearest(kind.text, ["event", "cycle"]).expected("event N or cycle N"),
            ));
        }
        [_, second, ..] => return Err(arguments.error(second.span.clone(), "nothing is expected here")),
    };
    Ok(Effect::Go(travel))
}

/// The number of an event, or of that of a record as the log names it: `20.1` is in event 20.
fn event_of(arguments: &Arguments, word: &Word<'_>) -> Result<EventNumber> {
    let record = word.text.split_once('.').and_then(|(event, nth)| {
        nth.parse::<u32>().ok()?;
        event.parse().ok()
    });
    record.map_or_else(|| arguments.number(word, "an event"), Ok)
}

/// Whether a word is a position by itself.
fn is_place(session: &Session, word: &str) -> bool {
    let is_known = ["start", "end"].contains(&word) || session.bookmarks.contains_key(word);
    is_known || word.starts_with(|c: char| c.is_ascii_digit())
}

fn run(session: &mut Session, arguments: &Arguments) -> Result<Effect> {
    arguments.none()?;
    let start = session.timeline.start();
    session.timeline.goto(start);
    Ok(Effect::Go(Travel::new(Direction::Forward, Goal::Nowhere, 1, start)))
}
