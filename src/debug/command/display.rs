//! `print`, `display` and `undisplay`: values of the machine's state.

use super::{Arguments, Command, Completes, Effect, Group, Takes};
use crate::debug::session::{Display, Session};
use crate::debug::watch::Watched;
use crate::diagnostic::Result;

/// Most displays.
const MOST: usize = 200;

const WHAT: &str = "an expression such as state of gpu0.l2.0 block 0x1000";

pub const PRINT: Command = Command {
    name: "print",
    aliases: &["p"],
    usage: "print EXPRESSION",
    group: Group::Looking,
    about: "show a value, a state, or whether a predicate holds",
    details: "    print state of gpu0.l2.0 block 0x1000\n    print value at 0x1000 in gpu0.cu0.l1 is 7",
    completes: Completes::State,
    run: print,
};

pub const DISPLAY: Command = Command {
    name: "display",
    aliases: &[],
    usage: "display [EXPRESSION]",
    group: Group::Looking,
    about: "show a value now and at every stop",
    details: "Without an expression, shows all displays now.",
    completes: Completes::State,
    run: display,
};

pub const UNDISPLAY: Command = Command {
    name: "undisplay",
    aliases: &[],
    usage: "undisplay [NUMBER ...]",
    group: Group::Looking,
    about: "take displays away, all without a number",
    details: "",
    completes: Completes::Each(Takes::Display),
    run: undisplay,
};

fn print(session: &mut Session, arguments: &Arguments) -> Result<Effect> {
    if arguments.is_empty() {
        return Err(arguments.missing(WHAT));
    }
    let what = Watched::compile(&arguments.query(), session.context())?;
    Ok(Effect::line(what.show(session.machine())))
}

fn display(session: &mut Session, arguments: &Arguments) -> Result<Effect> {
    if arguments.is_empty() {
        let machine = session.machine();
        return Ok(Effect::Said(session.displays.iter().map(|display| display.line(machine)).collect()));
    }
    if session.displays.len() >= MOST {
        return Err(arguments.complaint(format!("there are {MOST} displays already")));
    }
    let what = Watched::compile(&arguments.query(), session.context())?;
    let display = Display { id: session.next_display, text: arguments.text().to_owned(), what };
    let line = display.line(session.machine());
    session.next_display += 1;
    session.displays.push(display);
    Ok(Effect::line(line))
}

fn undisplay(session: &mut Session, arguments: &Arguments) -> Result<Effect> {
    let words = arguments.words();
    if words.is_empty() {
        session.displays.clear();
        return Ok(Effect::nothing());
    }
    for word in &words {
        let id = arguments.number(word, "the number of a display")?;
        if !session.displays.iter().any(|display| u64::from(display.id) == id) {
            return Err(arguments.error(word.span.clone(), format!("there is no display {id}")));
        }
        session.displays.retain(|display| u64::from(display.id) != id);
    }
    Ok(Effect::nothing())
}
