//! `save breakpoints`: writes what is set as a file for `source`.

use std::io::Write;
use std::path::Path;

use super::{Arguments, Command, Completes, Effect, Group};
use crate::debug::session::Session;
use crate::diagnostic::Result;

pub const SAVE: Command = Command {
    name: "save",
    aliases: &[],
    usage: "save breakpoints FILE",
    group: Group::Breakpoints,
    about: "write the breakpoints and watchpoints to a file that source reads",
    details: "With conditions, ignore counts and commands. A file that is there is not overwritten.",
    completes: Completes::Words(&["breakpoints"]),
    run: save,
};

fn save(session: &mut Session, arguments: &Arguments) -> Result<Effect> {
    let (what, rest) = arguments.split_first();
    if what != "breakpoints" || rest.is_empty() {
        return Err(Box::new(arguments.complaint("what shall be saved where?").expected("breakpoints FILE")));
    }
    let path = Path::new(rest.text());
    let text = lines(session).join("\n") + "\n";
    let written = std::fs::File::create_new(path).and_then(|mut file| file.write_all(text.as_bytes()));
    match written {
        Ok(()) => Ok(Effect::line(format!("saved {} to {}", count(session), path.display()))),
        Err(error) => Err(rest.complaint(format!("cannot write this file: {error}"))),
    }
}

fn count(session: &Session) -> String {
    let count = session.breakpoints.list().len();
    if count == 1 { "1 breakpoint".to_owned() } else { format!("{count} breakpoints") }
}

fn lines(session: &Session) -> Vec<String> {
    let mut lines = Vec::new();
    for breakpoint in session.breakpoints.list() {
        lines.push(breakpoint.line());
        if breakpoint.ignore > 0 {
            lines.push(format!("ignore $bpnum {}", breakpoint.ignore));
        }
        if !breakpoint.commands.is_empty() {
            lines.push("commands".to_owned());
            lines.extend(breakpoint.commands.iter().map(|command| format!("  {command}")));
            lines.push("end".to_owned());
        }
        if !breakpoint.enabled {
            lines.push("disable $bpnum".to_owned());
        }
    }
    lines
}
