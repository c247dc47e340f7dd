//! `source`: carries out the commands of a file.

use super::{Arguments, Command, Completes, Effect, Group, Takes};
use crate::debug::session::Session;
use crate::diagnostic::{Result, read_text};

/// Most bytes of a command file.
const LARGEST: u64 = 1 << 20;

pub const SOURCE: Command = Command {
    name: "source",
    aliases: &[],
    usage: "source FILE",
    group: Group::Session,
    about: "carry out the commands of a file",
    details: "A line each; empty lines and lines that start with # are passed over. The first mistake ends it.",
    completes: Completes::Slots(&[Takes::Path]),
    run: source,
};

fn source(session: &mut Session, arguments: &Arguments) -> Result<Effect> {
    if arguments.is_empty() {
        return Err(arguments.missing("a file"));
    }
    let text = read_text(arguments.path(), LARGEST)?;
    let depth = session.depth;
    session.queue.insert(&text, depth)?;
    Ok(Effect::nothing())
}
