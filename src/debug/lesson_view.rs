//! A lesson at the cursor, as the screen and the console show it.

use super::frame::session::{Expectation, Hunt as HuntView, Lesson as View, Question, Reveal, Say};
use super::hunt::Hunt;
use super::lesson::{Lesson, expected};
use super::question::Asked;
use super::session::Session;
use crate::model::time::EventNumber;

impl Session {
    /// What the lesson has said and asked up to the cursor, and how its expectations stand.
    #[must_use]
    pub fn lesson_view(&self) -> Option<View> {
        let lesson = self.timeline.lesson()?;
        let event = self.event();
        let expectations = lesson.expectations().iter().enumerate();
        let expectations: Vec<_> = expectations
            .map(|(index, expectation)| Expectation {
                text: expected(expectation),
                failed: lesson.failed(index, event).map(|failed| (failed.event, failed.message.clone())),
                holds: lesson.verdict(index, event),
            })
            .collect();
        Some(View {
            step: (lesson.said_until(event).count(), lesson.says()),
            said: story(lesson, event),
            remarked: lesson.remarked(event).collect(),
            question: question(lesson, event),
            score: lesson.score(event),
            // What is still to be decided would give the answers away.
            hides: lesson.asks() > 0,
            expectations,
            hunt: self.hunt.as_ref().map(hunt),
        })
    }
}

/// A hunt, as far as it has come.
fn hunt(hunt: &Hunt) -> HuntView {
    let said = |choice: &String| match () {
        () if hunt.found && *choice == hunt.bug.answer => Some(true),
        () if hunt.wrong.contains(choice) => Some(false),
        () => None,
    };
    HuntView {
        symptom: hunt.bug.symptom.clone(),
        hints: hunt.given().cloned().collect(),
        left: hunt.bug.hints.len() - hunt.hints.min(hunt.bug.hints.len()),
        choices: hunt.bug.choices.iter().map(|choice| (choice.clone(), said(choice))).collect(),
        because: hunt.found.then(|| hunt.bug.because.clone()),
    }
}

/// What was said and asked up to `event`, oldest first; the question that is shown by itself is left out.
fn story(lesson: &Lesson, event: EventNumber) -> Vec<Say> {
    let asked = lesson.asked_until(event);
    let shown = lesson.open_at(event).map(|(_, asked)| asked);
    let question =
        |asked: &Asked| (!shown.is_some_and(|shown| std::ptr::eq(shown, asked))).then(|| view(asked, event));
    let told = lesson.said_until(event).map(|(at, say)| {
        let belongs = asked.iter().find(|asked| asked.say == Some(say) && asked.event == at);
        Say { event: at, text: lesson.text(say).to_owned(), question: belongs.and_then(question) }
    });
    let mut story: Vec<_> = told.collect();
    let quiz = asked.iter().filter(|asked| asked.say.is_none());
    let quiz = quiz.filter_map(|asked| {
        let question = question(asked)?;
        Some(Say { event: asked.event, text: String::new(), question: Some(question) })
    });
    story.extend(quiz);
    story.sort_by_key(|say| say.event);
    story
}

/// The question that is open here: of several the first that is not answered.
fn question(lesson: &Lesson, event: EventNumber) -> Option<Question> {
    lesson.open_at(event).map(|(_, asked)| view(asked, event))
}

fn view(asked: &Asked, event: EventNumber) -> Question {
    let ask = &asked.ask;
    Question {
        text: ask.text.clone(),
        choices: ask.choices.clone(),
        predicted: asked.predicted.clone(),
        revealed: asked.is_settled(event).then(|| Reveal {
            answer: ask.answer.clone(),
            because: asked.because(),
            why: ask.why.clone(),
            right: asked.right(),
            at: asked.settles.filter(|settles| *settles <= event),
        }),
    }
}
