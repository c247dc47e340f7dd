//! The lesson: what is told now, the question to predict, its answer; then what was told before, and what the
//! scenario expects.

use crate::debug::frame::Frame;
use crate::debug::frame::session::{Expectation, Hunt, Lesson, Question, Reveal, RunState, Say, Tone};

use super::reflow;
use crate::scenario::UPCOMING;
use crate::tui::canvas::{Canvas, wrap};
use crate::tui::seen::Heard;
use crate::tui::theme::Role;

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
    let end = if is_over(frame, lesson) { " · the end" } else { "" };
    if steps > 0 {
        let first = step + 1 - told_last(lesson).min(step);
        let told = if first < step { format!("{first}-{step}") } else { step.to_string() };
        format!("{told} of {steps}{score}{end}")
    } else {
        score.trim_start_matches(" · ").to_owned()
    }
}

/// How many things were told together last; one if nothing was.
fn told_last(lesson: &Lesson) -> usize {
    let mut told = lesson.said.iter().rev().filter(|say| !say.text.is_empty());
    let last = told.next().map(|say| say.event);
    1 + told.take_while(|say| Some(say.event) == last).count()
}

/// Whether all of the story has been told, and the run has ended well.
fn is_over(frame: &Frame, lesson: &Lesson) -> bool {
    let (step, steps) = lesson.step;
    steps > 0 && step == steps && lesson.hunt.is_none() && frame.run == RunState::Finished
}

/// What becomes of expectations of a whole run in another one.
const NOT_LOOKED_AT: &str = "are not looked at since the fork";

/// That nothing more will be told, and what can be done now.
fn end(canvas: &mut Canvas, y: u16, frame: &Frame, lesson: &Lesson) -> u16 {
    let expectations = &lesson.expectations;
    let open = expectations.iter().filter(|expectation| expectation.holds.is_none()).count();
    let held = stand(expectations).map_or_else(String::new, |stand| format!(": {stand}"));
    let open =
        if frame.branch.is_some() && open > 0 { format!(", {open} {NOT_LOOKED_AT}") } else { String::new() };
    let next = frame.info.next.as_ref().map_or_else(String::new, |next| format!("; next is {next}"));
    let text = format!("The end{held}{open}. C goes back to where the story stopped before, q leaves{next}.");
    canvas.paragraph(1, y, &text, Role::Strong)
}

/// How what was expected stands at the end of a run, if anything was.
#[must_use]
pub fn outcome(frame: &Frame) -> Option<String> {
    let expectations = &frame.lesson.as_ref()?.expectations;
    // Those of another run may not have been looked at.
    let is_open = frame.branch.is_some() && expectations.iter().any(|one| one.holds.is_none());
    stand(expectations).filter(|_| !is_open)
}

/// How many of the expectations hold, if there are any.
fn stand(expectations: &[Expectation]) -> Option<String> {
    let held = expectations.iter().filter(|expectation| expectation.holds == Some(true)).count();
    Some(match expectations.len() {
        0 => return None,
        1 if held == 1 => "what was expected holds".to_owned(),
        all if all == held => format!("all {all} expectations hold"),
        all => format!("{held} of {all} expectations hold"),
    })
}

pub fn draw(frame: &Frame, heard: Heard, canvas: &mut Canvas) {
    let Some(lesson) = &frame.lesson else {
        canvas.paragraph(
            1,
            0,
            "This scenario has no narration. Open a lesson from the picker: umscope",
            Role::Dim,
        );
        return;
    };
    let first = set_otherwise(canvas, frame, lesson);
    // Once all that is asked has been answered, and the run gone on, what is to be found comes first.
    let sought = lesson.hunt.as_ref().filter(|found| is_sought(frame, lesson, found));
    let top = sought.map_or(first, |found| hunt(canvas, first, found) + 1);
    let mut y = urgent(frame, heard, (canvas, top), lesson);
    let told = y;
    if frame.branch.is_some() {
        y = canvas.paragraph(
            1,
            y,
            "This is another run since the fork: the story is not told in it. :branch 1 goes back to it.",
            Role::Strong,
        );
    }
    if let Some(found) = lesson.hunt.as_ref().filter(|_| sought.is_none()) {
        y = hunt(canvas, y, found);
    }
    let hunted = if sought.is_some() { top } else { y };
    y = before(canvas, y, lesson, told_now(frame, heard, lesson));
    // It may tell what is asked.
    let is_asked = lesson.question.as_ref().is_some_and(|question| question.predicted.is_none());
    if !frame.info.about.is_empty() && !is_asked {
        canvas.text(1, y + 1, "What it is about:", Role::Dim);
        y = canvas.paragraph(1, y + 2, &frame.info.about, Role::Dim);
    }
    let others = lesson.expectations.iter().filter(|expectation| expectation.holds != Some(false));
    let (hidden, shown): (Vec<_>, Vec<_>) =
        others.partition(|expectation| lesson.hides && expectation.holds.is_none());
    if !shown.is_empty() || !hidden.is_empty() {
        canvas.text(1, y + 1, "What this scenario expects:", Role::Dim);
        y = y.saturating_add(2);
    }
    for expectation in shown {
        y = expected(canvas, y, expectation);
    }
    if !hidden.is_empty() {
        let more = if y > 0 && hidden.len() < lesson.expectations.len() { " more" } else { "" };
        let when = if frame.branch.is_some() { NOT_LOOKED_AT } else { "to be checked further on" };
        canvas.text(1, y, &format!("· {}{more} {when}", hidden.len()), Role::Dim);
    }
    keep_offer(canvas, lesson, told, hunted);
}

/// Says that the story is about other settings than these; the row below.
fn set_otherwise(canvas: &mut Canvas, frame: &Frame, lesson: &Lesson) -> u16 {
    let set = frame.info.set_by_hand.join(", ");
    if set.is_empty() || lesson.step.1 == 0 {
        return 0;
    }
    let text = format!("The story is told of the scenario as it is, not with {set}.");
    canvas.paragraph(1, 0, &text, Role::Strong)
}

/// The last row in view tells of what does not fit: that something is asked or told, which ends before row `told`, or else what the
/// bug may be, which ends before row `hunted`.
fn keep_offer(canvas: &mut Canvas, lesson: &Lesson, told: u16, hunted: u16) {
    let is_asked = lesson.question.as_ref().is_some_and(|question| question.predicted.is_none());
    let is_hunted = lesson.hunt.as_ref().is_some_and(|hunt| hunt.because.is_none());
    let below = canvas.hidden().saturating_add(canvas.height());
    let offer = if is_asked && told > below {
        "▼ [p] predict"
    } else if is_hunted && hunted > below {
        "▼ :bug tells what it may be"
    } else if told > below {
        "▼ more: page down, or all: f9"
    } else {
        return;
    };
    if canvas.height() > 1 {
        let width = usize::from(canvas.width().saturating_sub(1));
        canvas.text(1, below - 1, &format!("{offer:<width$}"), Role::Strong);
    }
}

/// The bug to be found: the symptom, what it may be, and the hints so far.
fn hunt(canvas: &mut Canvas, y: u16, hunt: &Hunt) -> u16 {
    let mut y = canvas.paragraph(1, y, &format!("Find the bug: {}", reflow(&hunt.symptom)), Role::Key);
    for (nth, (choice, said)) in hunt.choices.iter().enumerate() {
        let (mark, role) = match said {
            Some(true) => ("✓", Role::Good),
            Some(false) => ("✗", Role::Warning),
            None => (" ", Role::Text),
        };
        canvas.text(1, y, &format!("{mark} {}", nth + 1), role);
        y = canvas.paragraph(5, y, choice, role);
    }
    for (nth, hint) in hunt.hints.iter().enumerate() {
        y = canvas.paragraph(3, y, &format!("Hint {}: {}", nth + 1, reflow(hint)), Role::Text);
    }
    if let Some(because) = &hunt.because {
        return canvas.paragraph(1, y, &format!("✓ {}", reflow(because)), Role::Good);
    }
    let hints = if hunt.left > 0 { format!("  [.] a hint, {} left", hunt.left) } else { String::new() };
    canvas.paragraph(3, y, &format!(":bug N to say what it is{hints}"), Role::Strong)
}

/// Whether a bug is still to be found, and what was told last has been read.
fn is_sought(frame: &Frame, lesson: &Lesson, hunt: &Hunt) -> bool {
    let is_read = lesson.said.last().is_none_or(|said| said.event < frame.position.event);
    hunt.because.is_none() && lesson.question.is_none() && is_read && frame.position.event > 0
}

/// What must be seen without scrolling, from a row on: what is told, what is asked, what went wrong.
pub fn urgent(frame: &Frame, heard: Heard, (canvas, first): (&mut Canvas, u16), lesson: &Lesson) -> u16 {
    // What was told before the end has been read: then the end comes first.
    let is_over = is_over(frame, lesson);
    let is_read = lesson.said.last().is_some_and(|said| said.event < frame.position.event);
    let top = if is_over && is_read { end(canvas, first, frame, lesson) } else { first };
    // What has stopped the run comes before what is told.
    let is_first = frame.stop.as_ref().is_some_and(|stop| stop.tone == Tone::Bad);
    let failed = |canvas: &mut Canvas, y: u16, is_here: bool| {
        let failed = lesson.expectations.iter().filter(|one| is_here && one.holds == Some(false));
        failed.fold(y, |y, expectation| expected(canvas, y, expectation))
    };
    let mut y = failed(canvas, top, is_first);
    y = now(frame, heard, (canvas, y), lesson);
    if let Some(question) = &lesson.question {
        y = ask(canvas, y, question);
    }
    y = failed(canvas, y, !is_first);
    if is_over && top == first { end(canvas, y, frame, lesson) } else { y }
}

/// Where the pieces begin that are told here: those of the last event at which something was told, which belong together, unless
/// a question has come after them, or some of them were told at the stop before.
fn told_now(frame: &Frame, heard: Heard, lesson: &Lesson) -> usize {
    let event = lesson.said.last().map(|said| said.event);
    if lesson.question.is_some() && event.is_some_and(|event| event < frame.position.event) {
        return lesson.said.len();
    }
    let first = lesson.said.iter().position(|said| Some(said.event) == event).unwrap_or(0);
    if heard.pieces < lesson.said.len() { first.max(heard.pieces) } else { first }
}

/// What is told at this point of the story.
fn now(frame: &Frame, heard: Heard, (canvas, top): (&mut Canvas, u16), lesson: &Lesson) -> u16 {
    if lesson.said.is_empty() && lesson.question.is_some() {
        return top;
    }
    if lesson.said.is_empty() {
        let title = if frame.info.title.is_empty() { "The lesson has not begun" } else { &frame.info.title };
        let y = canvas.paragraph(1, top, title, Role::Strong);
        let next = match (lesson.step.1, frame.info.has_story) {
            (1.., _) => "Press c: it stops where the story goes on.",
            (0, true) => {
                "Its story is left out: it speaks of states or cells that this protocol does not have. Press s for the next event, c to go on."
            }
            (0, false) => "It has no story to tell. Press s for the next event, c to go on.",
        };
        return canvas.paragraph(1, y, next, Role::Dim);
    }
    // What came of the last question must not be out of sight when the story goes on.
    let newest = told_now(frame, heard, lesson);
    let earlier = lesson.said.get(..newest).unwrap_or_default();
    // They have been shown with what was told last by then, or are news.
    let event = earlier.last().map(|said| said.event);
    let questions = earlier.iter().filter_map(|said| said.question.as_ref().map(|question| (said, question)));
    let mut y = top;
    for (said, question) in questions {
        match &question.revealed {
            // A quiz asks one thing after the other, and tells no story that they belong to.
            Some(reveal) if said.text.is_empty() && reveal.at > Some(heard.since) => {
                y = ask(canvas, y, question);
            }
            Some(reveal) if !said.text.is_empty() && reveal.at > event => y = verdict(canvas, y, reveal),
            _ => {}
        }
    }
    for said in lesson.said.iter().skip(newest) {
        y = told(canvas, y, said, Role::Text);
    }
    y
}

/// A piece of the story, with its question if the answer is known.
fn told(canvas: &mut Canvas, y: u16, said: &Say, role: Role) -> u16 {
    let y = if said.text.is_empty() { y } else { canvas.paragraph(1, y, &reflow(&said.text), role) };
    said.question.as_ref().map_or(y, |question| ask(canvas, y, question))
}

/// The first pieces of what was told, the last of them first.
fn before(canvas: &mut Canvas, y: u16, lesson: &Lesson, pieces: usize) -> u16 {
    let mut y = y;
    for (nth, said) in lesson.said.iter().take(pieces).rev().enumerate() {
        if nth == 0 {
            canvas.text(1, y + 1, "Before:", Role::Dim);
            y = y.saturating_add(2);
        }
        // What came next then has happened.
        let text = said.text.strip_prefix(UPCOMING).unwrap_or(&said.text).to_owned();
        y = told(canvas, y, &Say { text, ..said.clone() }, Role::Dim);
    }
    y
}

fn ask(canvas: &mut Canvas, y: u16, question: &Question) -> u16 {
    let mut y = canvas.paragraph(1, y, &format!("? {}", reflow(&question.text)), Role::Key);
    if let Some(predicted) = question.predicted.as_ref().filter(|_| !right(question)) {
        y = canvas.paragraph(1, y, &format!("You said: {predicted}"), Role::Text);
    }
    let Some(reveal) = &question.revealed else {
        return offer(canvas, y, question);
    };
    verdict(canvas, y, reveal)
}

/// The answer, and whether the prediction was right.
fn verdict(canvas: &mut Canvas, y: u16, reveal: &Reveal) -> u16 {
    let (mark, role) = match reveal.right {
        Some(true) => ("✓ Right: ", Role::Good),
        Some(false) => ("✗ No, it is: ", Role::Warning),
        None => ("Not answered. It was: ", Role::Dim),
    };
    let y = canvas.paragraph(1, y, &format!("{mark}{}", reveal.answer), role);
    let y = match reveal.because.as_str() {
        "" => y,
        because => canvas.paragraph(3, y, &format!("because {}", reflow(because)), Role::Text),
    };
    if reveal.why.is_empty() { y } else { canvas.paragraph(3, y, &reflow(&reveal.why), Role::Text) }
}

/// What to do about a question that is open.
fn offer(canvas: &mut Canvas, y: u16, question: &Question) -> u16 {
    if question.predicted.is_some() {
        return canvas.paragraph(3, y, "Go on to see, or [p] to be told.", Role::Strong);
    }
    let choices = question.choices.join(" / ");
    if choices.is_empty() {
        return canvas.paragraph(3, y, "[p] predict", Role::Strong);
    }
    let line = format!("[p] predict: {choices}");
    if line.chars().count() <= usize::from(canvas.width().saturating_sub(4)) {
        return canvas.paragraph(3, y, &line, Role::Strong);
    }
    let mut y = canvas.paragraph(3, y, "[p] predict:", Role::Strong);
    for (nth, choice) in question.choices.iter().enumerate() {
        y = canvas.paragraph(3, y, &format!("{} {choice}", nth + 1), Role::Text);
    }
    y
}

fn right(question: &Question) -> bool {
    question.revealed.as_ref().is_some_and(|reveal| reveal.right == Some(true))
}

fn expected(canvas: &mut Canvas, y: u16, expectation: &Expectation) -> u16 {
    let (mark, role) = match expectation.holds {
        Some(true) => ("✓", Role::Good),
        Some(false) => ("✗", Role::Bad),
        None => ("·", Role::Dim),
    };
    canvas.text(1, y, mark, role);
    let mut row = y;
    // What was so instead says what was expected, too.
    let text = expectation.failed.as_ref().map_or(&expectation.text, |(_, message)| message);
    for line in wrap(text, canvas.width().saturating_sub(4)) {
        canvas.text(3, row, &line, if expectation.holds == Some(false) { Role::Bad } else { Role::Dim });
        row = row.saturating_add(1);
    }
    row
}
