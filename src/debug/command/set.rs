//! `set`: settings of the session.

use super::{Arguments, Command, Completes, Effect, Group, Takes};
use crate::debug::session::Session;
use crate::debug::settings::{FASTEST, SLOWEST};
use crate::debug::timeline::Budget;
use crate::diagnostic::Result;
use crate::model::units::Size;

/// Most lines of a list.
const MOST_LINES: u64 = 100_000;

const NAMES: &[&str] =
    &["speed", "lines", "stop-at-violations", "stop-at-narration", "quiz", "checkpoint-memory"];

const SWITCH: Takes = Takes::Words(&["on", "off"]);
const SETTINGS: [(&str, Takes); NAMES.len()] = [
    ("speed", Takes::Words(&["max"])),
    ("lines", Takes::Nothing),
    ("stop-at-violations", SWITCH),
    ("stop-at-narration", SWITCH),
    ("quiz", SWITCH),
    ("checkpoint-memory", Takes::Nothing),
];

pub const SET: Command = Command {
    name: "set",
    aliases: &[],
    usage: "set [NAME VALUE]",
    group: Group::Session,
    about: "change a setting, or show all",
    details:
        "    set speed 20                  events a second while the screen runs; max for as fast as it can
    set lines 50                  most lines of a list
    set stop-at-violations off    whether a failed check or expectation stops a run
    set stop-at-narration on      whether continue stops where the lesson says something
    set quiz on                   stop before a table decides the next state and ask which (predict, reveal)
    set checkpoint-memory 1 GiB   what checkpoints may hold",
    completes: Completes::Subject(&SETTINGS),
    run: set,
};

fn set(session: &mut Session, arguments: &Arguments) -> Result<Effect> {
    if arguments.is_empty() {
        return Ok(Effect::Said(show(session)));
    }
    let (name, value) = arguments.split_first();
    if name != "checkpoint-memory" {
        value.only(1)?;
    }
    match name {
        "speed" => session.settings.speed = speed(&value)?,
        "lines" => {
            let words = value.words();
            let Some(word) = words.first() else { return Err(value.missing("how many lines, 1 to 100000")) };
            let lines = value.number(word, "how many lines, 1 to 100000")?;
            if !(1..=MOST_LINES).contains(&lines) {
                return Err(Box::new(value.complaint("no list has so many lines").expected("1 to 100000")));
            }
            session.settings.lines = lines as usize;
        }
        "stop-at-violations" => {
            session.settings.stop_at_violations = on_or_off(&value)?;
            session.breakpoints.violations = session.settings.stop_at_violations;
        }
        "stop-at-narration" => session.stop_at_narration(on_or_off(&value)?),
        "quiz" => session.breakpoints.quiz = on_or_off(&value)?,
        "checkpoint-memory" => {
            let size = Size::parse(value.text()).map_err(|why| {
                Box::new(value.complaint("this is not an amount of memory").expected(Size::expected(why)))
            })?;
            let bytes = usize::try_from(size.0).unwrap_or(usize::MAX);
            session.settings.budget = Budget { bytes, ..session.settings.budget };
            session.timeline.set_budget(session.settings.budget);
        }
        _ => {
            let span = arguments.words().first().map_or(0..0, |word| word.span.clone());
            let error = arguments.error(span, format!("there is no setting \"{name}\""));
            return Err(Box::new(error.nearest(name, NAMES.iter().copied()).expected(NAMES.join(", "))));
        }
    }
    let said = show(session).into_iter().find(|line| line.split(' ').next() == Some(name));
    Ok(said.map_or_else(Effect::nothing, Effect::line))
}

fn speed(value: &Arguments) -> Result<Option<f64>> {
    if value.text() == "max" {
        return Ok(None);
    }
    match value.text().parse::<f64>() {
        Ok(speed) if (SLOWEST..=FASTEST).contains(&speed) => Ok(Some(speed)),
        _ => {
            let expected = format!("{SLOWEST} to {FASTEST} events a second, or max");
            Err(Box::new(value.complaint("this is not a speed").expected(expected)))
        }
    }
}

fn on_or_off(value: &Arguments) -> Result<bool> {
    match value.text() {
        "on" => Ok(true),
        "off" => Ok(false),
        _ => Err(Box::new(value.complaint("this is neither").expected("on or off"))),
    }
}

fn show(session: &Session) -> Vec<String> {
    let settings = &session.settings;
    let switch = |on| if on { "on" } else { "off" };
    let speed = settings.speed.map_or_else(|| "max".to_owned(), |speed| speed.to_string());
    vec![
        format!("speed               {speed}"),
        format!("lines               {}", settings.lines),
        format!("stop-at-violations  {}", switch(settings.stop_at_violations)),
        format!("stop-at-narration   {}", switch(settings.stop_at_narration)),
        format!("quiz                {}", switch(session.breakpoints.quiz)),
        format!("checkpoint-memory   {}", Size(settings.budget.bytes as u64)),
    ]
}
