//! `watch`: stops where a value, state or predicate changes.

use super::{Arguments, Command, Completes, Effect, Group};
use crate::debug::breakpoint::Breakpoint;
use crate::debug::session::Session;
use crate::diagnostic::Result;

pub const WATCH: Command = Command {
    name: "watch",
    aliases: &["w"],
    usage: "watch EXPRESSION [if PREDICATE]",
    group: Group::Breakpoints,
    about: "stop where a value, a state or the truth of a predicate changes",
    details: "    watch state of gpu0.l2.0 block 0x1000
    watch value at 0x1000 in gpu0.cu0.l1
    watch occupancy of gpu0.l2.0.mshr >= 8
Watchpoints stop a run in both directions, after the event that makes the change.",
    completes: Completes::Watch,
    run: watch,
};

fn watch(session: &mut Session, arguments: &Arguments) -> Result<Effect> {
    let (what, condition) = arguments.split_at("if");
    if what.is_empty() {
        return Err(arguments.missing("an expression such as state of gpu0.l2.0 block 0x1000"));
    }
    let id = session.add_watchpoint(&what.query(), condition.map(|part| part.query()).as_ref())?;
    if let Some(twin) = session.breakpoints.take_back(id) {
        return Ok(Effect::line(format!("watchpoint {twin} is that already")));
    }
    let set = session.breakpoints.get(id).map_or_else(String::new, Breakpoint::what);
    Ok(Effect::line(format!("watchpoint {id}: {set}")))
}
