//! The lesson: what was told, the question to predict, its answer, and what the scenario expects.

use crate::debug::frame::Frame;
use crate::debug::frame::session::{Expectation, Question};

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
    let mut y = 0;
    for (nth, said) in lesson.said.iter().enumerate() {
        let role = if nth + 1 == lesson.said.len() { Role::Text } else { Role::Dim };
        y = canvas.paragraph(1, y, &said.text, role);
    }
    if lesson.said.is_empty() && lesson.question.is_none() {
        let text = if frame.info.title.is_empty() { "The lesson has not begun" } else { &frame.info.title };
        y = canvas.paragraph(1, y, text, Role::Strong);
        y = canvas.paragraph(
            1,
            y,
            "Press t to go to the first change of a state; the story is told here.",
            Role::Dim,
        );
    }
    if let Some(question) = &lesson.question {
        y = ask(canvas, y, question);
    }
    for expectation in lesson.expectations.iter().filter(|expectation| expectation.holds == Some(false)) {
        y = expected(canvas, y, expectation);
    }
    let others = lesson.expectations.iter().filter(|expectation| expectation.holds != Some(false));
    let roomy = canvas.height() > y + 3;
    // Only those that fit below: the pane follows its end, and what was told must not scroll away for them.
    for expectation in others.filter(|_| roomy) {
        let rows = wrap(&expectation.text, canvas.width().saturating_sub(4)).len() as u16;
        if y.saturating_add(rows) > canvas.height() {
            break;
        }
        y = expected(canvas, y, expectation);
    }
}

fn ask(canvas: &mut Canvas, y: u16, question: &Question) -> u16 {
    let mut y = canvas.paragraph(1, y, &format!("? {}", question.text), Role::Key);
    if let Some(predicted) = &question.predicted {
        y = canvas.paragraph(1, y, &format!("You said: {predicted}"), Role::Text);
    }
    let Some(reveal) = &question.revealed else {
        let text = if question.predicted.is_some() {
            "Step on to see.".to_owned()
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
        y = canvas.paragraph(3, y, &format!("because {}", reveal.because), Role::Text);
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
