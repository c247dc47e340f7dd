//! `condition` and `ignore`: when a breakpoint counts.

use super::{Arguments, Command, Completes, Effect, Group, Takes};
use crate::debug::session::Session;
use crate::diagnostic::Result;
use crate::query::Predicate;

pub const CONDITION: Command = Command {
    name: "condition",
    aliases: &[],
    usage: "condition NUMBER [PREDICATE]",
    group: Group::Breakpoints,
    about: "give a breakpoint a condition, or take it away",
    details: "It then stops only where the predicate holds after the event.",
    completes: Completes::Slots(&[Takes::Breakpoint, Takes::Predicate]),
    run: condition,
};

pub const IGNORE: Command = Command {
    name: "ignore",
    aliases: &[],
    usage: "ignore NUMBER COUNT",
    group: Group::Breakpoints,
    about: "let a breakpoint pass the next COUNT times",
    details: "In either direction. 0 takes it back.",
    completes: Completes::Slots(&[Takes::Breakpoint]),
    run: ignore,
};

fn condition(session: &mut Session, arguments: &Arguments) -> Result<Effect> {
    let id = session.breakpoint_named(arguments)?;
    let (_, rest) = arguments.split_first();
    let predicate =
        if rest.is_empty() { None } else { Some(Predicate::compile(&rest.query(), session.context())?) };
    let line = match &predicate {
        Some(predicate) => format!("breakpoint {id} stops only if {predicate}"),
        None => format!("breakpoint {id} is unconditional now"),
    };
    if let Some(breakpoint) = session.breakpoints.get_mut(id) {
        breakpoint.condition = predicate;
    }
    Ok(Effect::line(line))
}

fn ignore(session: &mut Session, arguments: &Arguments) -> Result<Effect> {
    let id = session.breakpoint_named(arguments)?;
    let words = arguments.words();
    let Some(word) = words.get(1) else { return Err(arguments.missing("how many times")) };
    let count = arguments.number(word, "how many times")?;
    arguments.only(2)?;
    if let Some(breakpoint) = session.breakpoints.get_mut(id) {
        breakpoint.ignore = count;
    }
    Ok(Effect::line(match count {
        0 => format!("breakpoint {id} stops the next time"),
        1 => format!("breakpoint {id} will pass the next time"),
        _ => format!("breakpoint {id} will pass the next {count} times"),
    }))
}
