//! A lesson at the cursor, as the screen and the console show it.

use super::frame::session::{Expectation, Lesson as View, Question, Reveal, Say};
use super::lesson::{Lesson, expected, is_right};
use super::session::Session;
use crate::model::time::EventNumber;

impl Session {
    /// What the lesson has said and asked up to the cursor, and how its expectations stand.
    #[must_use]
    pub fn lesson_view(&self) -> Option<View> {
        let lesson = self.timeline.lesson()?;
        let event = self.event();
        let said: Vec<_> = lesson
            .said_until(event)
            .map(|(event, say)| Say { event, text: lesson.text(say).to_owned() })
            .collect();
        let expectations = lesson.expectations().iter().enumerate();
        Some(View {
            step: (said.len(), lesson.says()),
            said,
            question: question(lesson, event),
            score: lesson.score(),
            expectations: expectations
                .map(|(index, expectation)| Expectation {
                    text: expected(expectation),
                    holds: lesson.verdict(index, event),
                })
                .collect(),
        })
    }
}

fn question(lesson: &Lesson, event: EventNumber) -> Option<Question> {
    let (asked, say, ask) = lesson.question(event)?;
    let answered = lesson.answered(say);
    let known = answered.revealed || (answered.predicted.is_some() && event > asked);
    let because = ask.because.as_ref().map_or_else(String::new, |(cell, says)| format!("{cell}: {says}"));
    let right = answered.predicted.as_ref().map(|predicted| is_right(ask, predicted));
    Some(Question {
        text: ask.text.clone(),
        choices: ask.choices.clone(),
        predicted: answered.predicted,
        revealed: known.then(|| Reveal { answer: ask.answer.clone(), because, right }),
    })
}
