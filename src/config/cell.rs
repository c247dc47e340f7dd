//! The text of a cell: `step`, `step > next` or `impossible`.

use std::ops::Range;

use crate::diagnostic::Diagnostic;
use crate::model::message::MessageKind;
use crate::model::state::{Action, State};
use crate::protocol::table::{Cell, Next, Step};

/// The steps, each with the actions whose columns it may stand in.
const STEPS: [(Step, &[Action]); 15] = {
    use Action::{Acquire, Evict, Load, NStore, Read, Store, Write};
    [
        (Step::Hit, &[Load, Store, NStore]),
        (Step::Ask(MessageKind::Read), &[Load, Store, NStore]),
        (Step::Ask(MessageKind::ReadNc), &[Load, NStore]),
        (Step::Ask(MessageKind::Write), &[Load, Store, NStore]),
        (Step::Fetch, &[Load, Store, NStore]),
        (Step::Forward, &[Load, Store, NStore]),
        (Step::Allocate, &[Store, NStore]),
        (Step::Flush, &[Store, NStore]),
        (Step::Relay, &[Store, NStore]),
        (Step::Both, &[Store, NStore]),
        (Step::Data, &[Read, Write]),
        (Step::Ack, &[Read, Write]),
        (Step::Writeback, &[Evict, Acquire]),
        (Step::Notify, &[Evict]),
        (Step::Silent, &[Evict, Acquire]),
    ]
};

/// What is wrong with a cell, and where in its text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct CellError {
    pub span: Range<usize>,
    pub message: String,
    pub expected: Option<String>,
    /// The wrong word and what could stand in its place, for a suggestion.
    pub word: Option<(String, Vec<&'static str>)>,
}

impl CellError {
    /// What is wrong, at a place that is told as `at` says.
    pub fn told(self, at: impl FnOnce(String) -> Diagnostic) -> Box<Diagnostic> {
        let complaint = Diagnostic { expected: self.expected, ..at(self.message) };
        Box::new(match self.word {
            Some((word, candidates)) => complaint.nearest(&word, candidates),
            None => complaint,
        })
    }

    fn new(span: Range<usize>, message: impl Into<String>, expected: Option<String>) -> Self {
        Self { span, message: message.into(), expected, word: None }
    }
}

/// Reads a cell in the column of `action`; `None` if it is impossible.
pub(super) fn parse(text: &str, action: Action, states: &[State]) -> Result<Option<Cell>, CellError> {
    let (step_text, next_text) = match text.split_once('>') {
        Some((step, next)) => (step, Some(next)),
        None => (text, None),
    };
    let (word, span) = trimmed(step_text, 0);
    if word == "impossible" {
        return match next_text {
            None => Ok(None),
            Some(_) => Err(CellError::new(span, "what is impossible has no next state", None)),
        };
    }
    let step = parse_step(word, span.clone(), action)?;
    let next = match next_text {
        Some(next) => parse_next(next, step_text.len() + 1, states)?,
        None => (Next::Same, span),
    };
    let cell = Cell { step, next: next.0 };
    sensible(cell, action, next.1)?;
    Ok(Some(cell))
}

fn parse_step(word: &str, span: Range<usize>, action: Action) -> Result<Step, CellError> {
    let possible: Vec<&'static str> = STEPS
        .iter()
        .filter(|(_, actions)| actions.contains(&action))
        .map(|(step, _)| step.name())
        .chain(["impossible"])
        .collect();
    let expected = Some(possible.join(", "));
    let name = action.name();
    match STEPS.iter().find(|(step, _)| step.name() == word) {
        Some((step, actions)) if actions.contains(&action) => Ok(*step),
        Some(_) => {
            Err(CellError::new(span, format!("`{word}` makes no sense in the column {name}"), expected))
        }
        None => {
            let message = if word.is_empty() {
                "a step is missing".to_owned()
            } else {
                format!("unknown step `{word}`")
            };
            let word = Some((word.to_owned(), possible));
            Err(CellError { span, message, expected, word })
        }
    }
}

/// The state after the `>`, and where it stands.
fn parse_next(text: &str, offset: usize, states: &[State]) -> Result<(Next, Range<usize>), CellError> {
    let (word, span) = trimmed(text, offset);
    if word == "granted" {
        return Ok((Next::Granted, span));
    }
    if let Some(state) = State::parse(word).filter(|state| states.contains(state)) {
        return Ok((Next::To(state), span));
    }
    let message =
        if word.is_empty() { "a state is missing".to_owned() } else { format!("unknown state `{word}`") };
    let expected = Some(format!("{} or granted", letters(states)));
    let letters = states.iter().map(|state| state.word());
    let word = Some((word.to_owned(), letters.chain(["granted"]).collect()));
    Err(CellError { span, message, expected, word })
}

/// That step and next state go together.
pub(super) fn sensible(cell: Cell, action: Action, place: Range<usize>) -> Result<(), CellError> {
    let asks = matches!(cell.step, Step::Ask(_));
    if cell.next == Next::Granted && !asks {
        let expected = Some("a state: only `read`, `read-nc` and `write` are granted one".to_owned());
        return Err(CellError::new(place, "nothing is asked here that could be granted", expected));
    }
    if cell.next == Next::Same && asks {
        let expected = Some("`> granted`, or `>` and a state".to_owned());
        return Err(CellError::new(place, "a request needs the state that it leads to", expected));
    }
    if asks && cell.next == Next::To(State::I) {
        return Err(CellError::new(place, "a request cannot lead to I", None));
    }
    if matches!(cell.step, Step::Allocate | Step::Both)
        && matches!(cell.next, Next::Same | Next::To(State::I))
    {
        let expected = Some("`>` and a state".to_owned());
        return Err(CellError::new(
            place,
            "a place that is taken needs the state that it is in then",
            expected,
        ));
    }
    if action == Action::Acquire && cell.step == Step::Writeback && cell.next != Next::To(State::I) {
        let expected = Some("`> I`".to_owned());
        return Err(CellError::new(place, "what an acquire writes back is gone", expected));
    }
    if action == Action::Evict && cell.next != Next::To(State::I) {
        let expected = Some("`> I`".to_owned());
        return Err(CellError::new(place, "an evicted block is gone", expected));
    }
    Ok(())
}

/// `text` without the blanks round it, and its place when `text` begins at `offset`.
fn trimmed(text: &str, offset: usize) -> (&str, Range<usize>) {
    let start = offset + text.len() - text.trim_start().len();
    let word = text.trim();
    (word, start..start + word.len())
}

/// The letters of `states` for an expectation.
pub(super) fn letters(states: &[State]) -> String {
    states.iter().map(State::to_string).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    const STATES: [State; 2] = [State(b'M'), State::I];

    #[test]
    fn cells_are_read() {
        let cell = |text, action| parse(text, action, &STATES).unwrap();
        let hit = Cell { step: Step::Hit, next: Next::Same };
        assert_eq!(cell("hit", Action::Load), Some(hit));
        let write = Cell { step: Step::Ask(MessageKind::Write), next: Next::To(State(b'M')) };
        assert_eq!(cell(" write>M ", Action::Store), Some(write));
        let read = Cell { step: Step::Ask(MessageKind::Read), next: Next::Granted };
        assert_eq!(cell("read > granted", Action::Load), Some(read));
        assert_eq!(cell("impossible", Action::Read), None);
    }

    #[test]
    fn what_is_wrong_is_shown_in_the_cell() {
        for (text, action, span, message) in [
            ("hti", Action::Load, 0..3, "unknown step `hti`"),
            ("hit > X", Action::Load, 6..7, "unknown state `X`"),
            ("hit >", Action::Load, 5..5, "a state is missing"),
            ("", Action::Load, 0..0, "a step is missing"),
            ("data > I", Action::Load, 0..4, "`data` makes no sense in the column load"),
            ("hit > granted", Action::Load, 6..13, "nothing is asked here that could be granted"),
            ("  read", Action::Load, 2..6, "a request needs the state that it leads to"),
            ("write > I", Action::Store, 8..9, "a request cannot lead to I"),
            ("notify", Action::Evict, 0..6, "an evicted block is gone"),
            ("impossible > I", Action::Evict, 0..10, "what is impossible has no next state"),
        ] {
            let error = parse(text, action, &STATES).unwrap_err();
            assert_eq!((error.span, error.message.as_str()), (span, message), "{text}");
        }
    }
}
