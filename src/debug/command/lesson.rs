//! `predict` and `reveal`: a lesson's questions.

use super::{Arguments, Command, Completes, Effect, Group, Takes};
use crate::debug::question::Asked;
use crate::debug::session::Session;
use crate::diagnostic::Result;

pub const PREDICT: Command = Command {
    name: "predict",
    aliases: &[],
    usage: "predict ANSWER",
    group: Group::Lesson,
    about: "answer the lesson's question before the machine does",
    details: "\
ANSWER is one of the choices, its number, or a part that no other has. The answer is shown when you go on, or with \
reveal.",
    completes: Completes::Slots(&[Takes::Answer]),
    run: predict,
};

pub const REVEAL: Command = Command {
    name: "reveal",
    aliases: &[],
    usage: "reveal",
    group: Group::Lesson,
    about: "show the answer to the lesson's question",
    details: "",
    completes: Completes::Nothing,
    run: reveal,
};

/// The question that is asked here, if its answer is not known yet.
fn open(session: &mut Session) -> Result<&mut Asked> {
    let event = session.event();
    let asked = session.timeline.lesson_mut().and_then(|lesson| lesson.question_mut(event));
    match asked {
        None => Err(Session::complaint("no question is open here")),
        Some(asked) if asked.revealed => {
            Err(Session::complaint("the answer to this question is known already"))
        }
        Some(asked) => Ok(asked),
    }
}

/// How the answer is seen; the screen names the keys instead.
pub const GO_ON: &str = "go on to see, or reveal";

fn predict(session: &mut Session, arguments: &Arguments) -> Result<Effect> {
    if arguments.is_empty() {
        return Err(arguments.missing("an answer"));
    }
    let is_over = session.timeline.at_end().is_some();
    let asked = open(session)?;
    if asked.seen {
        return Err(Session::complaint("its answer has been seen: this question is not asked any more"));
    }
    let answer = asked.meant(arguments.text()).map_err(|(expected, near)| {
        let error = arguments.complaint("this is none of the answers").expected(expected);
        Box::new(near.iter().fold(error, |error, near| error.nearest(near, [near.as_str()])))
    })?;
    let said = format!("you say: {answer}; {GO_ON}");
    asked.predicted = Some(answer);
    if is_over {
        // Nothing is left that would show it.
        return Ok(Effect::line(told(asked)));
    }
    // What is said next is about another one, if that is open still.
    let lesson = session.timeline.lesson();
    let open = lesson.and_then(|lesson| lesson.open_at(session.event())).map(|(_, asked)| asked);
    let other = open.filter(|asked| asked.predicted.is_none());
    let other = other.map_or_else(String::new, |asked| format!("; still open: {}", asked.ask.text));
    Ok(Effect::line(said + &other))
}

fn reveal(session: &mut Session, arguments: &Arguments) -> Result<Effect> {
    arguments.none()?;
    Ok(Effect::line(told(open(session)?)))
}

/// Tells the answer to a question, and whether the prediction was right.
fn told(asked: &mut Asked) -> String {
    (asked.revealed, asked.told) = (true, true);
    asked.verdict()
}
