//! `commands`: what to do when a breakpoint stops.

use super::{Arguments, Command, Completes, Effect, Group};
use crate::debug::session::Session;
use crate::diagnostic::Result;

pub const COMMANDS: Command = Command {
    name: "commands",
    aliases: &[],
    usage: "commands [NUMBER [COMMAND; COMMAND ...]]",
    group: Group::Breakpoints,
    about: "carry out commands when a breakpoint stops",
    details: "\
Either on one line, separated by semicolons, or on the lines that follow, up to a line end.
Without a number, those of the newest breakpoint. No commands at all takes them away.
    commands 1 info block 0x1000; continue",
    completes: Completes::Breakpoint,
    run: commands,
};

fn commands(session: &mut Session, arguments: &Arguments) -> Result<Effect> {
    let id = if arguments.is_empty() {
        let newest = session.breakpoints.list().last().map(|breakpoint| breakpoint.id);
        newest.ok_or_else(|| Session::complaint("there is no breakpoint"))?
    } else {
        session.breakpoint_named(arguments)?
    };
    let (_, rest) = arguments.split_first();
    if rest.is_empty() {
        session.queue.collect(id);
        return Ok(Effect::nothing());
    }
    session.give_commands(id, &rest)?;
    Ok(Effect::nothing())
}
