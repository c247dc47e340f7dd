//! `quit`.

use super::{Command, Completes, Effect, Group};

pub const QUIT: Command = Command {
    name: "quit",
    aliases: &["q", "exit"],
    usage: "quit",
    group: Group::Session,
    about: "end the session",
    details: "",
    completes: Completes::Nothing,
    run: |_, arguments| {
        arguments.none()?;
        Ok(Effect::Quit)
    },
};
