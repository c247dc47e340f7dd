//! `bug` and `hint`: finding the bug of a scenario.

use super::{Arguments, Command, Completes, Effect, Group, Takes};
use crate::debug::hunt::Hunt;
use crate::debug::session::Session;
use crate::diagnostic::Result;
use crate::scenario::meant;

pub const BUG: Command = Command {
    name: "bug",
    aliases: &[],
    usage: "bug [ANSWER]",
    group: Group::Lesson,
    about: "what is to be found here, or what you say it is",
    details: "\
Without an answer: the symptom, what it may be, and the hints so far. ANSWER is one of the choices, its number, or a part \
that no other has. Every command helps to find it: break, why, deadlock, cause, info, log.",
    completes: Completes::Slots(&[Takes::Choice]),
    run: bug,
};

pub const HINT: Command = Command {
    name: "hint",
    aliases: &[],
    usage: "hint",
    group: Group::Lesson,
    about: "one more hint at the bug of this scenario",
    details: "",
    completes: Completes::Nothing,
    run: hint,
};

fn hunt(session: &mut Session) -> Result<&mut Hunt> {
    session
        .hunt
        .as_mut()
        .ok_or_else(|| Session::complaint("there is no bug to be found here: no [bug] in the scenario"))
}

fn hint(session: &mut Session, arguments: &Arguments) -> Result<Effect> {
    arguments.none()?;
    let hunt = hunt(session)?;
    let total = hunt.bug.hints.len();
    let number = hunt.hints + 1;
    Ok(Effect::line(match hunt.hint() {
        Some(hint) => format!("hint {number} of {total}: {hint}"),
        None => "there are no more hints".to_owned(),
    }))
}

fn bug(session: &mut Session, arguments: &Arguments) -> Result<Effect> {
    let hunt = hunt(session)?;
    if arguments.is_empty() {
        return Ok(Effect::Said(lines(hunt)));
    }
    let Some(said) = meant(&hunt.bug.choices, arguments.text()).map(str::to_owned) else {
        let error = arguments.complaint("this is none of the answers");
        let choices = hunt.bug.choices.iter().map(String::as_str);
        let error = error.nearest(arguments.text(), choices);
        return Err(Box::new(error.expected(hunt.bug.choices.join("; "))));
    };
    Ok(Effect::line(if hunt.answer(&said) {
        format!("Right: {said}. {}", hunt.bug.because)
    } else {
        format!("No, it is not: {said}")
    }))
}

fn lines(hunt: &Hunt) -> Vec<String> {
    let mut lines = vec![hunt.bug.symptom.clone()];
    for (index, choice) in hunt.bug.choices.iter().enumerate() {
        let mark = match () {
            () if hunt.found && *choice == hunt.bug.answer => "  (right)",
            () if hunt.wrong.contains(choice) => "  (no)",
            () => "",
        };
        lines.push(format!("  {} {choice}{mark}", index + 1));
    }
    lines.extend(hunt.given().map(|hint| format!("hint: {hint}")));
    if hunt.found {
        lines.push(hunt.bug.because.clone());
    } else {
        lines.push(format!("to say that it is number {0}: bug {0}", hunt.bug.choices.len().min(2)));
    }
    lines
}
