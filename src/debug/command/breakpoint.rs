//! `break` and `tbreak`.

use super::{Arguments, Command, Completes, Effect, Group};
use crate::debug::session::Session;
use crate::diagnostic::Result;

const DETAILS: &str = "\
QUERY is a filter over records; the run stops after the event of a matching record.
    break transition at gpu*.l1 to N block 0x1000
    break message type read if occupancy of gpu0.l2.0.mshr >= 8
    break if state of gpu0.l2.0 block 0x1000 is M
    break if state of any gpu*.l1 block 0x1000 is M
    break message not type probe and not block 0x1000
Tests that stand side by side, or are joined by and, must all hold; or joins looser. not denies the kind that
follows with its fields, or the field that follows; parentheses group.
With if, it stops only where the predicate holds after the event; with if alone, where it becomes true.
A pattern of a QUERY means any of the components that it names; one of a predicate each of them, or
with any before it one.
Breakpoints stop a run in both directions.";

pub const BREAK: Command = Command {
    name: "break",
    aliases: &["b", "br"],
    usage: "break QUERY [if PREDICATE]",
    group: Group::Breakpoints,
    about: "stop at a record, or where a predicate becomes true",
    details: DETAILS,
    completes: Completes::Stop,
    run: |session, arguments| set(session, arguments, false),
};

pub const TBREAK: Command = Command {
    name: "tbreak",
    aliases: &["tb"],
    usage: "tbreak QUERY [if PREDICATE]",
    group: Group::Breakpoints,
    about: "stop there once",
    details: "As break, but the breakpoint is deleted when it stops.",
    completes: Completes::Stop,
    run: |session, arguments| set(session, arguments, true),
};

fn set(session: &mut Session, arguments: &Arguments, temporary: bool) -> Result<Effect> {
    if arguments.is_empty() {
        return Err(arguments.missing("a query over records, or if and a predicate"));
    }
    let id = session.add_breakpoint(&arguments.query(), temporary)?;
    if let Some(twin) = session.breakpoints.take_back(id) {
        return Ok(Effect::line(format!("breakpoint {twin} is that already")));
    }
    let text =
        session.breakpoints.get(id).map_or_else(String::new, crate::debug::breakpoint::Breakpoint::what);
    let kind = if temporary { "temporary breakpoint" } else { "breakpoint" };
    let holds = session.breakpoints.get(id).is_some_and(|breakpoint| breakpoint.holds(session.machine()));
    let note = if holds { " (it holds here already, and stops when it becomes true again)" } else { "" };
    Ok(Effect::line(format!("{kind} {id}: {text}{note}")))
}
