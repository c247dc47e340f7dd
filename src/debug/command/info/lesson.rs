//! The lesson up to here.

use crate::debug::command::Arguments;
use crate::debug::session::Session;
use crate::diagnostic::Result;

pub(super) fn lesson(session: &mut Session, arguments: &Arguments) -> Result<Vec<String>> {
    arguments.none()?;
    let Some(view) = session.lesson_view() else { return Ok(vec!["this is no lesson".to_owned()]) };
    let mut lines = Vec::new();
    for say in &view.said {
        lines.push(format!("event {}: {}", say.event, say.text));
    }
    if let Some(question) = &view.question {
        lines.push(format!("question: {}", question.text));
        if !question.choices.is_empty() {
            lines.push(format!("  {}", question.choices.join(" / ")));
        }
        lines.extend(question.predicted.iter().map(|predicted| format!("  You said: {predicted}")));
        if let Some(reveal) = &question.revealed {
            let verdict = reveal.right.map_or("Answer", |right| if right { "Right" } else { "No" });
            lines.push(format!("  {verdict}: {}", reveal.answer));
            if !reveal.because.is_empty() {
                lines.push(format!("  because {}", reveal.because));
            }
        }
    }
    for expectation in &view.expectations {
        let verdict = match expectation.holds {
            None => "open  ",
            Some(true) => "holds ",
            Some(false) => "FAILED",
        };
        lines.push(format!("{verdict} {}", expectation.text));
    }
    Ok(lines)
}
