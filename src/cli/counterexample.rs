//! A violation that an exploration has found, as a recording that opens in the debugger at the bad event.

use std::path::{Path, PathBuf};

use super::arguments::Tries;
use super::exit::Trouble;
use crate::debug::blame::{blame_found, blame_livelock, blame_run};
use crate::debug::diagnosis::{Diagnosis, diagnose};
use crate::explore::way::Violation;
use crate::machine::Machine;
use crate::model::component::Components;
use crate::model::record::Records;
use crate::model::time::EventNumber;
use crate::recording::{End, Ending, Input, Mark, Recording};
use crate::scenario::{Ended, Options, Scenario};

/// What the machine says where an exploration has found something: it knows more of it than a state that was looked at.
#[derive(Clone, Debug, Default)]
pub struct Told {
    pub text: Option<String>,
    /// Who waits for whom, where nothing can move.
    pub chain: Vec<String>,
    /// What the tables decided of the block of which a rule is broken.
    pub blame: Option<Vec<String>>,
}

impl Told {
    /// What there is to tell beside the text.
    pub fn lines(&self) -> impl Iterator<Item = &str> {
        self.chain.iter().chain(self.blame.iter().flatten()).map(String::as_str)
    }

    fn of(machine: &Machine, violation: &Violation, blame: Option<Vec<String>>) -> Self {
        let own = machine.violations().iter().find(|own| own.rule == violation.rule);
        let is_stuck = violation.rule == "deadlock";
        let chain = diagnose(machine).filter(|_| is_stuck).map(|diagnosis| diagnosis.chain());
        Self { text: own.map(|own| own.text.to_string()), chain: chain.unwrap_or_default(), blame }
    }
}

/// The recording of a violation of `scenario`, which was named so, and what there is to tell of it.
///
/// # Errors
/// If it cannot be made.
pub fn of(
    (scenario, name, options): (&Scenario, &str, &Options),
    names: &Components,
    violation: &Violation,
) -> Result<(Told, Recording), Trouble> {
    let lines = violation.choices.iter().map(|choice| choice.text(names).to_string());
    let inputs: Vec<(EventNumber, Input)> = (0..).zip(lines.map(Input::Choose)).collect();
    let steps = inputs.len();
    let options = Options { inputs, ..options.clone() };
    let mut recording = scenario.recording(name, &options)?;
    let begun = scenario.prepare(&options)?.machine;
    let mut machine = begun.clone();
    for _ in 0..steps {
        machine.step(&mut Records::silent());
    }
    let mark = Mark::of(&machine);
    // What is found at the end of a run is found behind its last event.
    let mut after = machine.clone();
    if after.violations().is_empty() {
        after.step(&mut Records::silent());
    }
    let is_found = after.violations().iter().any(|own| own.rule == violation.rule);
    let machine = if is_found { after } else { machine };
    let tables = scenario.all_tables(&options).unwrap_or_default();
    let is_stuck = violation.rule == "deadlock";
    let found = || if is_stuck { None } else { blame_found(&begun, steps, violation.rule, &tables) };
    let blame = blame_run(&begun, &machine, &tables).or_else(found);
    let told = Told::of(&machine, violation, blame);
    let how = if is_stuck { Ending::Deadlock } else { Ending::Violation };
    let found = Some(format!("{}: {}", violation.rule, told.text.as_ref().unwrap_or(&violation.text)));
    recording.end = Some(End { mark, how, found });
    Ok((told, recording))
}

/// The recording of a scenario, which was named so, run until a rule breaks or nothing can move, and what there is to tell of it.
/// `failed` is what it comes to if no rule breaks: an expectation that does not hold, at which it ends.
///
/// # Errors
/// If it cannot be made.
pub fn of_run(
    scenario: &Scenario,
    (name, options): (&str, &Options),
    failed: Option<&str>,
) -> Result<(Told, Recording), Trouble> {
    let mut recording = scenario.recording(name, options)?;
    let prepared = scenario.prepare(options)?;
    let begun = prepared.machine.clone();
    let mut runner = prepared.runner();
    let how = loop {
        let ended = runner.step().cloned();
        let is_failed = failed.is_some() && !runner.failures().is_empty();
        match ended {
            Some(Ended::Violation) => break Ending::Violation,
            _ if is_failed => break Ending::Failed,
            None => {}
            Some(Ended::Finished) if failed.is_some() => break Ending::Failed,
            Some(Ended::Stuck(_)) => break Ending::Deadlock,
            Some(Ended::Limit(..)) => break Ending::Limit,
            Some(_) => break Ending::Finished,
        }
    };
    recording.end = Some(End { mark: Mark::of(runner.machine()), how, found: failed.map(str::to_owned) });
    let machine = runner.machine();
    let diagnosis = diagnose(machine);
    let tables = scenario.all_tables(options).unwrap_or_default();
    let livelock = || blame_livelock(&begun, machine, diagnosis.as_ref()?, &tables);
    let blame = blame_run(&begun, machine, &tables).or_else(livelock);
    let chain = diagnosis.as_ref().filter(|_| how == Ending::Deadlock).map(Diagnosis::chain);
    Ok((Told { text: None, chain: chain.unwrap_or_default(), blame }, recording))
}

/// The file for a violation of a scenario if the user names none: in the current folder, by scenario, what was tried with it, and rule.
#[must_use]
pub fn usual_path(scenario: &str, tries: &Tries, rule: &str) -> PathBuf {
    let stem = |name: &str| Path::new(name).file_stem().map(|stem| stem.to_string_lossy().into_owned());
    let scenario = stem(scenario).unwrap_or_else(|| "explore".to_owned());
    let protocol = tries.protocol.as_deref().and_then(stem);
    let tried = protocol.iter().chain(&tries.fault).chain(&tries.mutate).map(|one| in_a_name(one));
    let parts: Vec<String> = [scenario].into_iter().chain(tried).chain([rule.to_owned()]).collect();
    PathBuf::from(format!("{}.rec", parts.join("-")))
}

/// Words as a part of the name of a file: `cache S store = hit > M` is `cache-S-store-hit-M`.
fn in_a_name(words: &str) -> String {
    let is_between = |letter: char| !letter.is_alphanumeric() && !"._-".contains(letter);
    let words: Vec<&str> = words.split(is_between).filter(|word| !word.is_empty()).collect();
    words.join("-")
}

/// The file for a further violation, beside the one that the user has named for the first.
#[must_use]
pub fn another_path(first: &Path, rule: &str) -> PathBuf {
    let stem = first.file_stem().unwrap_or_default().to_string_lossy();
    first.with_file_name(format!("{stem}-{rule}.rec"))
}
