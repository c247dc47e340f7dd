//! Questions that a lesson or a quiz asks at a position of the run, and what the user makes of them.

use crate::diagnostic::nearest;
use crate::model::address::Address;
use crate::model::component::ComponentId;
use crate::model::time::EventNumber;
use crate::scenario::{Ask, meant, plain};

/// A question, asked once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asked {
    /// The position at which it is asked: nothing that answers it has happened yet.
    pub event: EventNumber,
    /// The one that settles it, as far as that is known.
    pub settles: Option<EventNumber>,
    /// The saying that it belongs to; `None` if a quiz asks it.
    pub say: Option<usize>,
    pub ask: Ask,
    /// The node and the block that a quiz asks about.
    pub about: Option<(ComponentId, Address)>,
    pub predicted: Option<String>,
    /// The answer was asked for.
    pub revealed: bool,
    /// Whether it was right has been told on the console.
    pub told: bool,
    /// The cursor has been at rest behind it: its answer can have been seen, and is not answered any more.
    pub seen: bool,
}

/// Choices with their numbers, a line each.
pub fn numbered(choices: &[String]) -> impl Iterator<Item = String> + '_ {
    choices.iter().enumerate().map(|(nth, choice)| format!("  {} {choice}", nth + 1))
}

impl Asked {
    /// One that the next event settles.
    #[must_use]
    pub fn new(event: EventNumber, say: Option<usize>, ask: Ask) -> Self {
        Self {
            event,
            settles: Some(event + 1),
            say,
            ask,
            about: None,
            predicted: None,
            revealed: false,
            told: false,
            seen: false,
        }
    }

    /// What may be answered.
    pub fn choices(&self) -> impl Iterator<Item = String> + '_ {
        numbered(&self.ask.choices)
    }

    /// Whether the answer is known at `event`: it was asked for, or the run has come to where it is seen.
    #[must_use]
    pub fn is_settled(&self, event: EventNumber) -> bool {
        self.revealed || self.settles.is_some_and(|settles| settles <= event)
    }

    /// Whether it can be answered at `event`.
    #[must_use]
    pub fn is_open(&self, event: EventNumber) -> bool {
        self.event <= event && !self.is_settled(event)
    }

    /// Whether the prediction is right; `None` without one.
    #[must_use]
    pub fn right(&self) -> Option<bool> {
        self.predicted.as_ref().map(|predicted| plain(predicted) == plain(&self.ask.answer))
    }

    /// The answer and why, after whether the prediction was right.
    #[must_use]
    pub fn verdict(&self) -> String {
        let verdict = self.right().map_or("", |right| if right { "right: " } else { "no: " });
        let because = match self.because() {
            because if because.is_empty() => because,
            because => format!(", because {because}"),
        };
        let why = match self.ask.why.as_str() {
            "" => String::new(),
            why => format!(". {why}"),
        };
        format!("{verdict}{}{because}{why}", self.ask.answer)
    }

    /// The cell that decides, and what it says unless that is the answer; empty without one.
    #[must_use]
    pub fn because(&self) -> String {
        match &self.ask.because {
            Some((cell, says)) if *says == self.ask.answer => cell.to_string(),
            Some((cell, says)) => format!("{cell}: {says}"),
            None => String::new(),
        }
    }

    /// The answer that a text means: a choice, its number from 1, or a part that only one choice has. Any text where
    /// there are no choices.
    ///
    /// # Errors
    /// What was expected, and the choice that is nearest, if it means none.
    pub fn meant(&self, text: &str) -> Result<String, (String, Option<String>)> {
        let choices = &self.ask.choices;
        if choices.is_empty() {
            return Ok(text.chars().take(LONGEST).collect());
        }
        let near = || nearest(text, choices.iter().map(String::as_str)).map(str::to_owned);
        meant(choices, text).map(str::to_owned).ok_or_else(|| (choices.join(" / "), near()))
    }
}

/// Longest answer kept where any text may be one, in characters.
const LONGEST: usize = 200;

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(choices: &[&str]) -> Asked {
        let ask = Ask {
            text: "What does it do?".into(),
            answer: "gives its data, stays O".into(),
            choices: choices.iter().map(|choice| (*choice).to_owned()).collect(),
            because: None,
            why: String::new(),
        };
        Asked::new(7, None, ask)
    }

    #[test]
    fn a_choice_is_meant_by_its_text_its_number_or_a_part() {
        let asked =
            asked(&["answers without data, stays S", "gives its data, becomes I", "gives its data, stays O"]);
        for text in ["Gives its  data, stays O.", "3", "stays o"] {
            assert_eq!(asked.meant(text).unwrap(), "gives its data, stays O", "{text}");
        }
        for text in ["gives its data", "0", "4", "banana", ""] {
            assert!(asked.meant(text).unwrap_err().0.contains("answers without data"), "{text}");
        }
        assert_eq!(asked.meant("gives its data, stay O").unwrap_err().1.unwrap(), "gives its data, stays O");
    }

    #[test]
    fn without_choices_any_text_is_an_answer_and_compared_kindly() {
        let mut asked = asked(&[]);
        assert_eq!(asked.right(), None);
        for (text, right) in [("Gives its data,  stays o", true), ("stays O", false)] {
            asked.predicted = Some(asked.meant(text).unwrap());
            assert_eq!(asked.right(), Some(right), "{text}");
        }
    }

    #[test]
    fn going_on_settles_it() {
        let mut asked = asked(&[]);
        assert!(!asked.is_settled(7) && asked.is_settled(8));
        asked.revealed = true;
        assert!(asked.is_settled(7));
    }
}
