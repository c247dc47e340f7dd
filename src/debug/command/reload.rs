//! `reload`: reads the scenario again after a file changed.

use super::{Command, Completes, Effect, Group};
use crate::debug::session::Session;
use crate::debug::travel::Travel;

pub const RELOAD: Command = Command {
    name: "reload",
    aliases: &[],
    usage: "reload",
    group: Group::Session,
    about: "read the scenario again after a file changed",
    details: "Goes to the same event of the new run. Breakpoints, displays and bookmarks stay; if one of them\n\
              no longer fits the machine, nothing is changed. Branches are gone.",
    completes: Completes::Nothing,
    run: |session, arguments| {
        arguments.none()?;
        let event = session.event();
        let Some(reload) = session.reload.as_mut() else {
            return Err(Session::complaint("there is no file to read again"));
        };
        let origin = reload()?;
        session.restart(origin)?;
        Ok(Effect::Go(Travel::to(event)))
    },
};
