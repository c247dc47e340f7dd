//! A violation that an exploration has found, as a recording that opens in the debugger at the bad event.

use std::path::{Path, PathBuf};

use super::exit::Trouble;
use crate::explore::way::Violation;
use crate::machine::StepOutcome;
use crate::model::component::Components;
use crate::model::record::Records;
use crate::model::time::EventNumber;
use crate::recording::{End, Ending, Input, Mark};
use crate::scenario::{Options, Scenario};

/// Writes the recording of a violation of `scenario`, which was named so.
///
/// # Errors
/// If it cannot be written, or something that is no recording is there.
pub fn write(
    path: &Path,
    (scenario, name, options): (&Scenario, &str, &Options),
    names: &Components,
    violation: &Violation,
) -> Result<(), Trouble> {
    let lines = violation.choices.iter().map(|choice| choice.text(names).to_string());
    let inputs: Vec<(EventNumber, Input)> = (0..).zip(lines.map(Input::Choose)).collect();
    let steps = inputs.len();
    let options = Options { inputs, ..options.clone() };
    let mut recording = scenario.recording(name, &options)?;
    let mut machine = scenario.prepare(&options)?.machine;
    for _ in 0..steps {
        machine.step(&mut Records::silent());
    }
    let how = if violation.rule == "deadlock" { Ending::Deadlock } else { Ending::Violation };
    let found = Some(format!("{}: {}", violation.rule, violation.text));
    recording.end = Some(End { mark: Mark::of(&machine), how, found });
    Ok(recording.write(path)?)
}

/// Writes the recording of a scenario, which was named so, run until a rule breaks or nothing can move. `failed` is what it comes to if
/// no rule breaks: an expectation that does not hold.
///
/// # Errors
/// If it cannot be written, or something that is no recording is there.
pub fn write_run(
    path: &Path,
    scenario: &Scenario,
    (name, options): (&str, &Options),
    failed: Option<&str>,
) -> Result<(), Trouble> {
    let mut recording = scenario.recording(name, options)?;
    let mut machine = scenario.prepare(options)?.machine;
    let mut silent = Records::silent();
    let how = loop {
        let outcome = machine.step(&mut silent);
        match outcome {
            _ if !machine.violations().is_empty() => break Ending::Violation,
            StepOutcome::Ran => {}
            StepOutcome::Finished if failed.is_some() => break Ending::Failed,
            StepOutcome::Finished => break Ending::Finished,
            StepOutcome::Stuck => break Ending::Deadlock,
            StepOutcome::Limit(_) => break Ending::Limit,
        }
    };
    recording.end = Some(End { mark: Mark::of(&machine), how, found: failed.map(str::to_owned) });
    Ok(recording.write(path)?)
}

/// The file for a violation of a scenario if the user names none: in the current folder, by scenario, the protocol that was asked for,
/// and rule.
#[must_use]
pub fn usual_path(scenario: &str, protocol: Option<&str>, rule: &str) -> PathBuf {
    let stem = |name: &str| Path::new(name).file_stem().map(|stem| stem.to_string_lossy().into_owned());
    let scenario = stem(scenario).unwrap_or_else(|| "explore".to_owned());
    let protocol = protocol.and_then(stem).map_or_else(String::new, |stem| format!("-{stem}"));
    PathBuf::from(format!("{scenario}{protocol}-{rule}.rec"))
}

/// The file for a further violation, beside the one that the user has named for the first.
#[must_use]
pub fn another_path(first: &Path, rule: &str) -> PathBuf {
    let stem = first.file_stem().unwrap_or_default().to_string_lossy();
    first.with_file_name(format!("{stem}-{rule}.rec"))
}
