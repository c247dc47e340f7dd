//! `commands`: what to do when a breakpoint stops.

use super::{Arguments, Command, Completes, Effect, Group, Takes};
use crate::debug::session::Session;
use crate::diagnostic::Result;

pub const COMMANDS: Command = Command {
    name: "commands",
    aliases: &[],
    usage: "commands [NUMBER [COMMAND; COMMAND ...]]",
    group: Group::Breakpoints,
    about: "carry out commands when a breakpoint stops",
    details: "\
Either on one line, separated by semicolons, or on the lines that follow, up to a line end (or the end of the file).
Without a number, those of the breakpoint that was set last. No commands at all takes them away.
    commands 1 info block 0x1000; continue",
    completes: Completes::Slots(&[Takes::Breakpoint, Takes::Commands]),
    run: commands,
};

fn commands(session: &mut Session, arguments: &Arguments) -> Result<Effect> {
    let id = if arguments.is_empty() {
        session.breakpoints.newest().ok_or_else(|| Session::complaint("no breakpoint has been set"))?
    } else {
        session.breakpoint_named(arguments)?
    };
    let (_, rest) = arguments.split_first();
    if rest.is_empty() {
        let depth = session.depth;
        session.queue.collect(id, depth);
        return Ok(Effect::nothing());
    }
    session.give_commands(id, &rest)?;
    Ok(Effect::nothing())
}
