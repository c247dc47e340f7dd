//! `delete`: removes breakpoints and bookmarks.

use super::{Arguments, Command, Completes, Effect, Group, Takes};
use crate::debug::session::Session;
use crate::diagnostic::Result;

pub const DELETE: Command = Command {
    name: "delete",
    aliases: &["d"],
    usage: "delete [NUMBER ... | bookmark NAME]",
    group: Group::Breakpoints,
    about: "delete breakpoints and watchpoints, all without a number, or a bookmark",
    details: "",
    completes: Completes::Each(Takes::Deletable),
    run: delete,
};

/// The words for a bookmark.
const NAMED: [&str; 2] = ["bookmark", "checkpoint"];

fn delete(session: &mut Session, arguments: &Arguments) -> Result<Effect> {
    let words = arguments.words();
    match words.as_slice() {
        [] => {
            let none = session.breakpoints.list().is_empty();
            session.breakpoints.clear();
            return Ok(Effect::line(if none {
                "there are no breakpoints"
            } else {
                "all breakpoints deleted"
            }));
        }
        [kind, name] if NAMED.contains(&kind.text) => {
            if session.bookmarks.remove(name.text).is_none() {
                let error =
                    arguments.error(name.span.clone(), format!("there is no bookmark \"{}\"", name.text));
                return Err(Box::new(error.nearest(name.text, session.bookmarks.keys().map(String::as_str))));
            }
            return Ok(Effect::line(format!("bookmark {} deleted", name.text)));
        }
        [kind] if NAMED.contains(&kind.text) => return Err(arguments.missing("the name of a bookmark")),
        [name] if session.bookmarks.remove(name.text).is_some() => {
            return Ok(Effect::line(format!("bookmark {} deleted", name.text)));
        }
        _ => {}
    }
    let ids = words.iter().map(|word| session.breakpoint_at(arguments, word)).collect::<Result<Vec<_>>>()?;
    for id in ids {
        session.breakpoints.remove(id);
    }
    Ok(Effect::nothing())
}
