//! "Find the bug": a symptom, hints to ask for, and the answer.

use crate::config::Document;
use crate::config::document::At;
use crate::diagnostic::Result;

use super::choice;
use super::file::BugFile;
use super::prose::flow;

/// What is to be found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bug {
    /// All that the learner is told.
    pub symptom: String,
    /// From a faint one to a plain one.
    pub hints: Vec<String>,
    /// Answers to choose from, the right one among them.
    pub choices: Vec<String>,
    pub answer: String,
    /// Why it is that.
    pub because: String,
}

/// The bug that a `[bug]` describes.
///
/// # Errors
/// If the answer is none of the choices.
pub fn bug(file: &At<BugFile>, document: &Document) -> Result<Bug> {
    let BugFile { symptom, hints, choices, answer, because } = &file.value;
    if !choices.contains(&answer.value) {
        let error = document.complain(Some(&answer.span), "the answer is none of the choices");
        let error = error.nearest(&answer.value, choices.iter().map(String::as_str));
        return Err(error.expected(format!("one of {}", choices.join("; "))).into());
    }
    if let Some(choice) = choice::repeated(choices) {
        let error = document.complain(Some(&file.span), format!("the choice \"{choice}\" is given twice"));
        return Err(error.expected("choices that differ").into());
    }
    Ok(Bug {
        symptom: flow(symptom),
        hints: hints.iter().map(|hint| flow(hint)).collect(),
        choices: choices.clone(),
        answer: answer.value.clone(),
        because: flow(because),
    })
}
