//! `until` and `reverse-until`: to a cycle, an event or a record, breakpoints permitting.

use super::{Arguments, Command, Completes, Effect, Group};
use crate::debug::goal::Goal;
use crate::debug::session::Session;
use crate::debug::travel::{Direction, Travel};
use crate::diagnostic::Result;
use crate::query::Filter;

pub const UNTIL: Command = Command {
    name: "until",
    aliases: &["u"],
    usage: "until cycle N | event N | QUERY",
    group: Group::Moving,
    about: "run until a cycle, an event or a matching record",
    details: "A cycle means the first event in or after it. QUERY is a filter over records. Breakpoints stop it earlier.",
    completes: Completes::Filter,
    run: |session, arguments| until(session, arguments, Direction::Forward),
};

pub const REVERSE_UNTIL: Command = Command {
    name: "reverse-until",
    aliases: &["ru"],
    usage: "reverse-until cycle N | event N | QUERY",
    group: Group::Moving,
    about: "run backwards until a cycle, an event or a matching record",
    details: "The reverse of until.",
    completes: Completes::Filter,
    run: |session, arguments| until(session, arguments, Direction::Backward),
};

fn until(session: &mut Session, arguments: &Arguments, direction: Direction) -> Result<Effect> {
    let words = arguments.words();
    let here = session.event();
    let travel = |goal, count| Travel::new(direction, goal, count, here);
    let travel = match words.as_slice() {
        [] => return Err(arguments.missing("cycle N, event N or a query over records")),
        [kind, number] if kind.text == "cycle" => {
            let cycle = arguments.number(number, "a cycle")?;
            let gone = cycle <= session.cycle();
            in_the_way(arguments, direction, gone, "cycle")?;
            travel(Goal::Cycle(cycle), 1).until_cycle(cycle)
        }
        [kind, number] if kind.text == "event" => {
            let event = arguments.number(number, "an event")?;
            in_the_way(arguments, direction, event <= here, "event")?;
            if event == here {
                return Ok(Effect::Go(Travel::to(here)));
            }
            travel(Goal::Event, event.abs_diff(here)).until_event(event)
        }
        [kind] if ["cycle", "event"].contains(&kind.text) => {
            return Err(arguments.missing(format!("the number of the {}", kind.text)));
        }
        [number] if number.text.starts_with(|first: char| first.is_ascii_digit()) => {
            let error = arguments.error(number.span.clone(), "a cycle or an event?");
            return Err(Box::new(error.expected(format!("cycle {0} or event {0}", number.text))));
        }
        _ => travel(Goal::Record(Filter::compile(&arguments.query(), session.context())?), 1),
    };
    Ok(Effect::Go(travel))
}

/// Whether the target lies in the direction that was asked for.
fn in_the_way(arguments: &Arguments, direction: Direction, gone: bool, what: &str) -> Result<()> {
    match (direction, gone) {
        (Direction::Forward, true) => Err(Box::new(
            arguments.complaint(format!("this {what} is not ahead")).expected("reverse-until or goto"),
        )),
        (Direction::Backward, false) => Err(Box::new(
            arguments.complaint(format!("this {what} is still ahead")).expected("until or goto"),
        )),
        _ => Ok(()),
    }
}
