//! `save`: writes what is set as a file for `source`, or what was answered.

use std::io::ErrorKind;
use std::path::Path;

use super::{Arguments, Command, Completes, Effect, Group, Takes};
use crate::debug::lesson::Lesson;
use crate::debug::question::Asked;
use crate::debug::session::Session;
use crate::diagnostic::{Result, write_new};
use crate::model::text::plural;
use crate::model::time::EventNumber;

pub const SAVE: Command = Command {
    name: "save",
    aliases: &[],
    usage: "save breakpoints|answers|moment|scenario FILE",
    group: Group::Breakpoints,
    about: "write what is set, what was answered, or this moment to a file",
    details: "\
breakpoints    the breakpoints and watchpoints with conditions, ignore counts and commands; source reads them
answers        a lesson's or quiz's questions, of all branches: branch,event,question,answer,predicted,right
moment         a recording that ends here: `umscope debug FILE` opens it here, whatever has changed since
scenario       a scenario that begins here, requests in flight included, to be read and changed

A file that is there is not overwritten.",
    completes: Completes::Subject(&SAVED),
    run: save,
};

const KINDS: &[&str] = &["breakpoints", "answers", "moment", "scenario"];
const SAVED: [(&str, Takes); KINDS.len()] = [
    ("breakpoints", Takes::Path),
    ("answers", Takes::Path),
    ("moment", Takes::Path),
    ("scenario", Takes::Path),
];

fn save(session: &mut Session, arguments: &Arguments) -> Result<Effect> {
    let (what, rest) = arguments.split_first();
    let (lines, saved) = match what {
        "breakpoints" => (lines(session), count(session)),
        "answers" => answers(session)?,
        "moment" => (Vec::new(), format!("event {}", session.event())),
        "scenario" => scenario(session, rest.path())?,
        _ => {
            let error = arguments
                .complaint("what shall be saved where?")
                .expected("breakpoints, answers, moment or scenario, and a FILE");
            return Err(Box::new(error.nearest(what, KINDS.iter().copied())));
        }
    };
    if rest.is_empty() {
        return Err(rest.missing("the file to write"));
    }
    let path = rest.path();
    let bytes =
        if what == "moment" { session.moment()?.bytes() } else { (lines.join("\n") + "\n").into_bytes() };
    match write_new(path, &bytes) {
        Ok(()) => Ok(Effect::line(format!("saved {saved} to {}", path.display()))),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            Err(rest.complaint("cannot write this file: it is there already"))
        }
        Err(error) => Err(rest.complaint(format!("cannot write this file: {error}"))),
    }
}

/// A scenario that begins here, to be written to `path`.
fn scenario(session: &Session, path: &Path) -> Result<(Vec<String>, String)> {
    let (mut draft, left_out) = session.scenario_from_here()?;
    draft.put_at(path);
    let text = draft.text();
    let mut saved = format!("event {}", session.event());
    if !left_out.is_empty() {
        saved.push_str(&format!(", without {},", left_out.join(", ")));
    }
    Ok((text.lines().map(str::to_owned).collect(), saved))
}

/// What was asked so far, with what was predicted, as CSV: on a branch what differs from the one that it left, too.
fn answers(session: &Session) -> Result<(Vec<String>, String)> {
    let mut lines = vec!["branch,event,question,answer,predicted,right".to_owned()];
    let mut known: Vec<(u32, EventNumber, String)> = Vec::new();
    for (branch, timeline) in session.timelines() {
        for asked in timeline.lesson().map_or(&[][..], Lesson::asked) {
            let row = row(asked, timeline.event());
            let is_inherited = branch.from.is_some_and(|(from, left)| {
                asked.event <= left && known.contains(&(from, asked.event, row.clone()))
            });
            if !is_inherited {
                lines.push(format!("{},{row}", branch.number));
            }
            known.push((branch.number, asked.event, row));
        }
    }
    match lines.len() - 1 {
        0 => Err(Session::complaint("nothing has been asked yet")),
        count => Ok((lines, plural(count as u64, "question"))),
    }
}

/// A question and its answer, as far as it is told with the cursor at `event`.
fn row(asked: &Asked, event: EventNumber) -> String {
    let quoted = |text: &str| format!("\"{}\"", text.replace('"', "\"\""));
    let ask = &asked.ask;
    // Of what is still open neither the answer nor whether it is right.
    let is_settled = asked.is_settled(event) || asked.seen;
    let answer = if is_settled { &*ask.answer } else { "" };
    let right = asked.right().filter(|_| is_settled);
    let right = right.map_or("", |right| if right { "yes" } else { "no" });
    let predicted = asked.predicted.as_deref().unwrap_or_default();
    format!("{},{},{},{},{right}", asked.event, quoted(&ask.text), quoted(answer), quoted(predicted))
}

fn count(session: &Session) -> String {
    plural(session.breakpoints.list().len() as u64, "breakpoint")
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
