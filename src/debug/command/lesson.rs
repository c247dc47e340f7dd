//! `predict` and `reveal`: a lesson's questions.

use super::{Arguments, Command, Completes, Effect, Group};
use crate::debug::lesson::{Answered, is_right};
use crate::debug::session::Session;
use crate::diagnostic::Result;

pub const PREDICT: Command = Command {
    name: "predict",
    aliases: &[],
    usage: "predict ANSWER",
    group: Group::Lesson,
    about: "answer the lesson's question before the machine does",
    details: "The answer is shown when you go on, or with reveal.",
    completes: Completes::Nothing,
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

/// The saying whose question is open here.
fn open(session: &Session) -> Result<usize> {
    let question = session.timeline.lesson().and_then(|lesson| lesson.question(session.event()));
    question.map(|(_, say, _)| say).ok_or_else(|| Session::complaint("no question is open here"))
}

fn predict(session: &mut Session, arguments: &Arguments) -> Result<Effect> {
    if arguments.is_empty() {
        return Err(arguments.missing("an answer"));
    }
    let say = open(session)?;
    let Some(lesson) = session.timeline.lesson_mut() else { return Ok(Effect::nothing()) };
    if lesson.answered(say).revealed {
        return Err(Session::complaint("the answer to this question is known already"));
    }
    let predicted: String = arguments.text().chars().take(200).collect();
    lesson.answer(say, Answered { predicted: Some(predicted), revealed: false });
    Ok(Effect::line("go on to see, or reveal"))
}

fn reveal(session: &mut Session, arguments: &Arguments) -> Result<Effect> {
    arguments.none()?;
    let say = open(session)?;
    let event = session.event();
    let Some(lesson) = session.timeline.lesson_mut() else { return Ok(Effect::nothing()) };
    let answered = Answered { revealed: true, ..lesson.answered(say) };
    let predicted = answered.predicted.clone();
    lesson.answer(say, answered);
    let Some((_, _, ask)) = lesson.question(event) else { return Ok(Effect::nothing()) };
    let verdict =
        predicted.map_or("", |predicted| if is_right(ask, &predicted) { "right: " } else { "no: " });
    let because =
        ask.because.as_ref().map_or_else(String::new, |(cell, says)| format!(", because {cell}: {says}"));
    Ok(Effect::line(format!("{verdict}{}{because}", ask.answer)))
}
