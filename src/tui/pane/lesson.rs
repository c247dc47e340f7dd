//! The lesson: what is told now, the question to predict, its answer; then what was told before, and what the
//! scenario expects.

use crate::debug::frame::Frame;
use crate::debug::frame::session::{Expectation, Lesson, Question};

use crate::tui::theme::Role;
use crate::tui::view::canvas::{Canvas, wrap};

#[must_use]
pub fn title(frame: &Frame) -> String {
    let Some(lesson) = &frame.lesson else {
        return String::new();
    };
    let (step, steps) = lesson.step;
    let score = match lesson.score {
        (_, 0) => String::new(),
        (right, asked) => format!(" · {right} of {asked} right"),
    };
    if steps > 0 { format!("{step} of {steps}{score}") } else { score.trim_start_matches(" · ").to_owned() }
}

pub fn draw(frame: &Frame, canvas: &mut Canvas) {
    let Some(lesson) = &frame.lesson else {
        canvas.paragraph(
            1,
            0,
            "This scenario has no narration. Open a lesson from the picker: umscope",
            Role::Dim,
        );
        return;
    };
    let mut y = urgent(frame, canvas, lesson);
    y = before(canvas, y, lesson);
    let others = lesson.expectations.iter().filter(|expectation| expectation.holds != Some(false));
    for (nth, expectation) in others.enumerate() {
        if nth == 0 {
            canvas.text(1, y + 1, "What this scenario expects:", Role::Dim);
            y = y.saturating_add(2);
        }
        y = expected(canvas, y, expectation);
    }
}

/// What must be seen without scrolling: what is told, what is asked, what went wrong.
pub fn urgent(frame: &Frame, canvas: &mut Canvas, lesson: &Lesson) -> u16 {
    let mut y = now(frame, canvas, lesson);
    if let Some(question) = &lesson.question {
        y = ask(canvas, y, question);
    }
    for expectation in lesson.expectations.iter().filter(|expectation| expectation.holds == Some(false)) {
        y = expected(canvas, y, expectation);
    }
    y
}

/// Where the pieces that were told last begin: those of the same event belong together.
fn newest(lesson: &Lesson) -> usize {
    let event = lesson.said.last().map(|said| said.event);
    lesson.said.iter().position(|said| Some(said.event) == event).unwrap_or(0)
}

/// What is told at this point of the story.
fn now(frame: &Frame, canvas: &mut Canvas, lesson: &Lesson) -> u16 {
    if lesson.said.is_empty() {
        let title = if frame.info.title.is_empty() { "The lesson has not begun" } else { &frame.info.title };
        let y = canvas.paragraph(1, 0, title, Role::Strong);
        return canvas.paragraph(1, y, "Press c: it stops where the story goes on.", Role::Dim);
    }
    let mut y = 0;
    for said in lesson.said.iter().skip(newest(lesson)) {
        y = canvas.paragraph(1, y, &reflow(&said.text), Role::Text);
    }
    y
}

/// What was told before, the last first.
fn before(canvas: &mut Canvas, y: u16, lesson: &Lesson) -> u16 {
    let mut y = y;
    for (nth, said) in lesson.said.iter().take(newest(lesson)).rev().enumerate() {
        if nth == 0 {
            canvas.text(1, y + 1, "Before:", Role::Dim);
            y = y.saturating_add(2);
        }
        y = canvas.paragraph(1, y, &reflow(&said.text), Role::Dim);
    }
    y
}

/// A file breaks its lines anywhere; only an empty line ends a paragraph.
fn reflow(text: &str) -> String {
    let paragraphs = text.trim().split("\n\n");
    paragraphs
        .map(|part| part.split_whitespace().collect::<Vec<_>>().join(" "))
        .collect::<Vec<_>>()
        .join("\n")
}

fn ask(canvas: &mut Canvas, y: u16, question: &Question) -> u16 {
    let mut y = canvas.paragraph(1, y, &format!("? {}", reflow(&question.text)), Role::Key);
    if let Some(predicted) = &question.predicted {
        y = canvas.paragraph(1, y, &format!("You said: {predicted}"), Role::Text);
    }
    let Some(reveal) = &question.revealed else {
        let text = if question.predicted.is_some() {
            "Go on to see, or [p] to be told.".to_owned()
        } else if question.choices.is_empty() {
            "[p] predict".to_owned()
        } else {
            format!("[p] predict: {}", question.choices.join(" / "))
        };
        return canvas.paragraph(3, y, &text, Role::Strong);
    };
    let (mark, role) = match reveal.right {
        Some(true) => ("✓ Right: ", Role::Good),
        Some(false) => ("✗ No: ", Role::Warning),
        None => ("Answer: ", Role::Strong),
    };
    y = canvas.paragraph(1, y, &format!("{mark}{}", reveal.answer), role);
    if !reveal.because.is_empty() {
        y = canvas.paragraph(3, y, &format!("because {}", reflow(&reveal.because)), Role::Text);
    }
    y
}

fn expected(canvas: &mut Canvas, y: u16, expectation: &Expectation) -> u16 {
    let (mark, role) = match expectation.holds {
        Some(true) => ("✓", Role::Good),
        Some(false) => ("✗", Role::Bad),
        None => ("·", Role::Dim),
    };
    canvas.text(1, y, mark, role);
    let mut row = y;
    for line in wrap(&expectation.text, canvas.width().saturating_sub(4)) {
        canvas.text(3, row, &line, if expectation.holds == Some(false) { Role::Bad } else { Role::Dim });
        row = row.saturating_add(1);
    }
    row
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_empty_line_ends_a_paragraph() {
        assert_eq!(reflow("one\n  two\n\nthree\n"), "one two\nthree");
    }
}
