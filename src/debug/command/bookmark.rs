//! `bookmark`, which gdb calls `checkpoint`: names a position.

use super::{Arguments, Command, Completes, Effect, Group};
use crate::debug::session::Session;
use crate::diagnostic::Result;

/// Most bookmarks.
const MOST: usize = 1000;

/// Letters of a name.
const LONGEST: usize = 64;

pub const BOOKMARK: Command = Command {
    name: "bookmark",
    aliases: &["m", "mark", "checkpoint"],
    usage: "bookmark [NAME]",
    group: Group::Moving,
    about: "name this position, so that goto NAME comes back to it",
    details: "Without a name, the next free letter. A name that is taken moves here. delete bookmark NAME removes it.",
    completes: Completes::Nothing,
    run: bookmark,
};

fn bookmark(session: &mut Session, arguments: &Arguments) -> Result<Effect> {
    let words = arguments.words();
    let name = match words.as_slice() {
        [] => {
            let free = ('a'..='z').map(String::from).find(|name| !session.bookmarks.contains_key(name));
            free.ok_or_else(|| arguments.missing("a name: all letters are taken"))?
        }
        [word] => {
            let starts_well = word.text.starts_with(|c: char| c.is_alphabetic() || c == '_');
            if !starts_well || matches!(word.text, "start" | "end" | "cycle" | "event") {
                let error =
                    arguments.error(word.span.clone(), format!("\"{}\" cannot name a bookmark", word.text));
                return Err(Box::new(
                    error.expected("a word that starts with a letter, not start, end, cycle or event"),
                ));
            }
            if word.text.chars().count() > LONGEST {
                let error = arguments.error(word.span.clone(), "this name is too long");
                return Err(Box::new(error.expected(format!("{LONGEST} letters at most"))));
            }
            word.text.to_owned()
        }
        [_, second, ..] => return Err(arguments.error(second.span.clone(), "a bookmark's name is one word")),
    };
    if session.bookmarks.len() >= MOST && !session.bookmarks.contains_key(&name) {
        return Err(arguments.complaint(format!("there are {MOST} bookmarks already")));
    }
    let event = session.event();
    let line = format!("bookmark {name} at event {event} cycle {}", session.cycle());
    session.mark(name);
    Ok(Effect::line(line))
}
