//! The lesson up to here.

use crate::debug::command::Arguments;
use crate::debug::frame::session::Question;
use crate::debug::question::numbered;
use crate::debug::session::Session;
use crate::diagnostic::Result;

pub(super) fn lesson(session: &mut Session, arguments: &Arguments) -> Result<Vec<String>> {
    arguments.none()?;
    let Some(view) = session.lesson_view() else { return Ok(vec!["this is no lesson".to_owned()]) };
    let mut lines = Vec::new();
    for say in &view.said {
        if !say.text.is_empty() {
            lines.push(format!("event {}: {}", say.event, say.text));
        }
        lines.extend(say.question.iter().flat_map(question));
    }
    lines.extend(view.question.iter().flat_map(question));
    for expectation in &view.expectations {
        let verdict = match expectation.holds {
            None if view.hides => continue,
            None => "open  ",
            Some(true) => "holds ",
            Some(false) => "FAILED",
        };
        lines.push(format!("{verdict} {}", expectation.text));
        let failed = expectation.failed.iter();
        lines.extend(failed.map(|(event, message)| format!("  event {event}: {message}")));
    }
    if lines.is_empty() {
        lines.push("nothing has been said or asked so far".to_owned());
    }
    Ok(lines)
}

fn question(question: &Question) -> Vec<String> {
    let mut lines = vec![format!("question: {}", question.text)];
    if question.revealed.is_none() {
        lines.extend(numbered(&question.choices));
    }
    lines.extend(question.predicted.iter().map(|predicted| format!("  You said: {predicted}")));
    if let Some(reveal) = &question.revealed {
        let verdict = reveal.right.map_or("Not answered", |right| if right { "Right" } else { "No" });
        lines.push(format!("  {verdict}: {}", reveal.answer));
        if !reveal.because.is_empty() {
            lines.push(format!("  because {}", reveal.because));
        }
    }
    lines
}
