//! `enable` and `disable` breakpoints.

use super::{Arguments, Command, Completes, Effect, Group, Takes};
use crate::debug::session::Session;
use crate::diagnostic::Result;

pub const ENABLE: Command = Command {
    name: "enable",
    aliases: &["en"],
    usage: "enable [NUMBER ...]",
    group: Group::Breakpoints,
    about: "enable breakpoints, all without a number",
    details: "",
    completes: Completes::Each(Takes::Breakpoint),
    run: |session, arguments| switch(session, arguments, true),
};

pub const DISABLE: Command = Command {
    name: "disable",
    aliases: &["dis"],
    usage: "disable [NUMBER ...]",
    group: Group::Breakpoints,
    about: "disable breakpoints, all without a number",
    details: "A disabled breakpoint stays, but does not stop and costs nothing.",
    completes: Completes::Each(Takes::Breakpoint),
    run: |session, arguments| switch(session, arguments, false),
};

fn switch(session: &mut Session, arguments: &Arguments, on: bool) -> Result<Effect> {
    let words = arguments.words();
    let ids = if words.is_empty() {
        session.breakpoints.list().iter().map(|breakpoint| breakpoint.id).collect()
    } else {
        words.iter().map(|word| session.breakpoint_at(arguments, word)).collect::<Result<Vec<_>>>()?
    };
    for id in ids {
        if let Some(breakpoint) = session.breakpoints.get_mut(id) {
            breakpoint.enabled = on;
        }
    }
    Ok(Effect::nothing())
}
