//! `umscope mutants`: every part of a protocol changed, one at a time, to see that the checks notice.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use clap::Args;
use serde_json::{Value, json};

use super::arguments::{Format, positive};
use super::counterexample;
use super::exit::{Ended, Status, Trouble, say};
use super::interrupt::Interrupt;
use super::output::Output;
use super::pool;
use super::progress::Progress;
use crate::config::{self, Kind};
use crate::diagnostic::{Diagnostic, Source};
use crate::explore::fairness::{self, Fairness};
use crate::explore::mutants::{self, Base, Mutant, Verdict};
use crate::explore::outcome::Violation;
use crate::explore::search::Limits;
use crate::explore::system::System;
use crate::machine::{Blueprint, Machine};
use crate::protocol::table::Table;
use crate::report::number::grouped;
use crate::scenario::{Alphabet, Options, Scenario};

/// The shapes on which mutants are explored, cheapest first, and the accesses there.
const SHAPES: [(&str, &str); 5] = [
    ("explore/two-l1", r#"["load 0x1000 2", "store 0x1000", "n-store 0x1000", "n-store 0x1001"]"#),
    ("explore/gpu-and-core", r#"["load 0x1000 2", "store 0x1000", "n-store 0x1001"]"#),
    ("explore/two-gpu", r#"["load 0x1000", "store 0x1000", "n-store 0x1000"]"#),
    ("explore/two-gpu-peer", r#"["load 0x1000", "store 0x1000", "n-store 0x1000"]"#),
    (CROWD, r#"["load 0x1000", "store 0x1000"]"#),
];

/// The shape on which it is also seen whether anybody can wait for ever.
const CROWD: &str = "explore/three-l1";

/// Memory of one exploration.
const MEMORY: u64 = 3 << 30;

/// Change every part of a protocol, one at a time, and see that it is noticed
///
/// Each cell of the table, each rule of its directory and each merge is changed, and each rule of the engine switched off. What
/// that breaks is looked for by the checks of the table, and by exploring small machines (`umscope explore`) completely.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  umscope mutants msi
  umscope mutants mine.toml --only 'cache S' --record caught/

A mutant is caught if a rule breaks. It is equivalent if on every shape no node does anything else with any input that it \
ever gets, or if it was explored completely on every shape without breaking a rule, and nobody can wait for ever on \
explore/three-l1 (`umscope explore --fair`): then it is another correct protocol, which differs in cost. `by` says which.

JSON: protocol, mutants[{name, caught, equivalent, by, recording}]; recording is null without --record.

Exit status: 0 all are caught or equivalent; 1 one is neither, or the protocol itself breaks a rule; 2 wrong input; 130 \
interrupted by ctrl-c.")]
pub struct Mutants {
    /// A protocol file, or the name of a bundled one
    #[arg(value_name = "PROTOCOL")]
    protocol: String,

    /// Only mutants whose name contains this
    #[arg(long, value_name = "TEXT")]
    only: Option<String>,

    /// Look at so many states of a mutant on a shape at most
    #[arg(long, value_name = "NUMBER", value_parser = positive, allow_negative_numbers = true, default_value_t = 20_000_000)]
    max_states: u64,

    /// Mutants at a time [default: as many as there are processors]
    #[arg(long, value_name = "NUMBER", value_parser = positive, allow_negative_numbers = true)]
    jobs: Option<u64>,

    /// A folder for the recordings of what was caught
    #[arg(long, value_name = "FOLDER")]
    record: Option<PathBuf>,

    /// How to write the result
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

/// A shape with the protocol as it is.
struct Shape {
    name: &'static str,
    scenario: Scenario,
    blueprint: Blueprint,
    alphabet: Alphabet,
    base: Base,
}

/// What became of a mutant.
struct Judged {
    name: String,
    caught: bool,
    equivalent: bool,
    by: String,
    recording: Option<PathBuf>,
}

impl Mutants {
    pub fn carry_out(&self) -> Ended {
        let interrupt = Interrupt::install()?;
        let found = config::find(Kind::Protocol, &self.protocol, None)?;
        let table = config::protocol::from_toml(&found.source)?;
        interrupt.heed();
        let shapes = match self.shapes(&interrupt)? {
            Ok(shapes) => shapes,
            Err(status) => return Ok(status),
        };
        let fits = |mutant: &Mutant| self.only.as_ref().is_none_or(|only| mutant.to_string().contains(only));
        let mutants: Vec<Mutant> = mutants::all(&table).into_iter().filter(fits).collect();
        let results = self.judge_all(&mutants, &table, &found.source, &shapes, &interrupt)?;
        let judged: Vec<Judged> = results.into_iter().flatten().collect();
        self.print(&table, &judged)?;
        Ok(if judged.len() < mutants.len() {
            Status::Interrupted
        } else if judged.iter().all(|one| one.caught || one.equivalent) {
            Status::Held
        } else {
            Status::Failed
        })
    }

    fn limits(&self, threads: usize) -> Limits {
        Limits { states: self.max_states, depth: u64::MAX, memory: MEMORY, threads }
    }

    /// The shapes with the protocol as it is; a status if it breaks a rule itself, or was interrupted.
    fn shapes(&self, interrupt: &Interrupt) -> Result<Result<Vec<Shape>, Status>, Trouble> {
        let text = |text: &str| toml::Value::String(text.to_owned()).to_string();
        let mut progress = Progress::start();
        let mut shapes = Vec::new();
        for (name, accesses) in SHAPES {
            let with = [format!("protocol={}", text(&self.protocol)), format!("explore.accesses={accesses}")];
            let scenario = Scenario::load(name)?.with(&with)?;
            let blueprint = scenario.blueprint(&Options::default())?;
            let machine = Machine::build(&blueprint)?;
            let alphabet = scenario.alphabet(&machine)?;
            let system = System::new(&machine, &alphabet)?;
            let threads = std::thread::available_parallelism().map_or(1, std::num::NonZeroUsize::get);
            let base = Base::new(&system, self.limits(threads), |counts| {
                progress.tell(|| format!("{name}: {} states", grouped(counts.states)));
                !interrupt.is_raised()
            });
            if let Some(violation) = base.outcome.violations.first() {
                progress.clear();
                say(format_args!(
                    "{} breaks a rule as it is, and `umscope explore {name} --protocol {}` shows how: {}: {}",
                    self.protocol, self.protocol, violation.rule, violation.text
                ));
                return Ok(Err(Status::Failed));
            }
            if interrupt.is_raised() {
                return Ok(Err(Status::Interrupted));
            }
            if base.outcome.bound.is_some() {
                let message = format!("{} has too many states on {name} to look at all", self.protocol);
                return Err(Diagnostic::new(message).expected("a higher --max-states").into());
            }
            shapes.push(Shape { name, scenario, blueprint, alphabet, base });
        }
        Ok(Ok(shapes))
    }

    fn judge_all(
        &self,
        mutants: &[Mutant],
        table: &Table,
        source: &Source,
        shapes: &[Shape],
        interrupt: &Interrupt,
    ) -> Result<Vec<Option<Judged>>, Trouble> {
        let results: Vec<Option<Judged>> = mutants.iter().map(|_| None).collect();
        let shared = Mutex::new((results, None::<Trouble>));
        let told = |done| format!("{}: {done} of {} mutants", self.protocol, mutants.len());
        pool::each(mutants.len(), self.jobs, interrupt, told, |index| {
            let Some(mutant) = mutants.get(index) else { return ControlFlow::Continue(()) };
            let judged = self.judge(*mutant, table, source, shapes, interrupt);
            let mut shared = shared.lock().unwrap_or_else(PoisonError::into_inner);
            match judged {
                Ok(judged) => {
                    if let Some(place) = shared.0.get_mut(index).filter(|_| !interrupt.is_raised()) {
                        *place = Some(judged);
                    }
                    ControlFlow::Continue(())
                }
                Err(trouble) => {
                    shared.1.get_or_insert(trouble);
                    ControlFlow::Break(())
                }
            }
        });
        match shared.into_inner().unwrap_or_else(PoisonError::into_inner) {
            (_, Some(trouble)) => Err(trouble),
            (results, None) => Ok(results),
        }
    }

    fn judge(
        &self,
        mutant: Mutant,
        table: &Table,
        source: &Source,
        shapes: &[Shape],
        interrupt: &Interrupt,
    ) -> Result<Judged, Trouble> {
        let name = mutant.to_string();
        let is = |caught, equivalent, by: String| Judged {
            name: name.clone(),
            caught,
            equivalent,
            by,
            recording: None,
        };
        let changed = match mutant {
            Mutant::Rule(_) => table.clone(),
            Mutant::Table(change) => change.apply(table).map_err(Diagnostic::new)?,
        };
        let faults = config::protocol::examine_changed(source, &changed)?;
        if let Some(error) = faults.errors.first() {
            return Ok(is(true, false, format!("table: {}", error.message)));
        }
        let (mut correct, mut open) = (Vec::new(), None);
        for shape in shapes {
            let mut blueprint = shape.blueprint.clone();
            match mutant {
                Mutant::Rule(fault) => blueprint.faults.push(fault),
                Mutant::Table(_) => {
                    for own in blueprint.tables.iter_mut().filter(|own| own.name == table.name) {
                        *own = Arc::new(changed.clone());
                    }
                }
            }
            let system = System::new(&Machine::build(&blueprint)?, &shape.alphabet)?;
            let go_on = |_| !interrupt.is_raised();
            let found = match mutants::judge(&shape.base, &system, self.limits(1), go_on) {
                Verdict::Same => continue,
                Verdict::Caught(outcome) => outcome.violations.into_iter().next(),
                Verdict::Open(outcome) => {
                    open = open.or(Some((shape.name, outcome.counts.states)));
                    continue;
                }
                Verdict::Correct(counts) => {
                    let fairness = (shape.name == CROWD).then(|| fairness::judge(&system, MEMORY, go_on));
                    match &fairness {
                        Some(Fairness::Unknown(_)) => open = open.or(Some((shape.name, counts.states))),
                        _ => correct.push((shape.name, counts.states)),
                    }
                    match fairness {
                        Some(Fairness::Broken(violation)) => Some(violation),
                        _ => None,
                    }
                }
            };
            if let Some(violation) = found {
                let by = format!("{} on {} in {} steps", violation.rule, shape.name, violation.choices.len());
                let recording = self.record(mutant, shape, &system, &violation)?;
                return Ok(Judged { recording, ..is(true, false, by) });
            }
        }
        Ok(match open {
            Some((shape, states)) => is(
                false,
                false,
                format!("{} states of {shape} are fine, and there are more", grouped(states)),
            ),
            None if correct.is_empty() => {
                is(false, true, "the same: no node does anything else on any shape".to_owned())
            }
            None => {
                let shapes: Vec<String> =
                    correct.iter().map(|(shape, states)| format!("{shape} ({})", grouped(*states))).collect();
                is(false, true, format!("correct: differs in cost only, all states of {}", shapes.join(", ")))
            }
        })
    }

    /// The recording of how a mutant was caught, if the user wants it.
    fn record(
        &self,
        mutant: Mutant,
        shape: &Shape,
        system: &System,
        violation: &Violation,
    ) -> Result<Option<PathBuf>, Trouble> {
        let Some(folder) = &self.record else { return Ok(None) };
        std::fs::create_dir_all(folder).map_err(|error| Trouble::Io("make the folder of --record", error))?;
        let text = |text: &str| toml::Value::String(text.to_owned()).to_string();
        let with = match mutant {
            Mutant::Rule(fault) => format!("fault=[{{ name = {} }}]", text(fault.name())),
            Mutant::Table(change) => format!("mutate=[{}]", text(&change.to_string())),
        };
        let scenario = shape.scenario.clone().with(&[with])?;
        let path = folder.join(file_name(&mutant.to_string()));
        counterexample::write(&path, (&scenario, shape.name, &Options::default()), &system.names, violation)?;
        Ok(Some(path))
    }

    fn print(&self, table: &Table, judged: &[Judged]) -> Result<(), Trouble> {
        let mut output = Output::standard();
        if self.format == Format::Json {
            let mutant = |one: &Judged| {
                json!({
                    "name": one.name,
                    "caught": one.caught,
                    "equivalent": one.equivalent,
                    "by": one.by,
                    "recording": one.recording,
                })
            };
            let mutants: Vec<Value> = judged.iter().map(mutant).collect();
            return output.json(&json!({ "protocol": table.name, "mutants": mutants }));
        }
        let width = judged.iter().map(|one| one.name.len()).max().unwrap_or(0);
        for one in judged {
            let word = match (one.caught, one.equivalent) {
                (true, _) => "caught",
                (_, true) => "equivalent",
                _ => "SURVIVED",
            };
            output.line(&format!("{word:<10}  {:width$}  {}", one.name, one.by))?;
        }
        let count = |which: fn(&Judged) -> bool| judged.iter().filter(|one| which(one)).count();
        let (caught, equivalent) = (count(|one| one.caught), count(|one| one.equivalent));
        let survived = judged.len() - caught - equivalent;
        output.line(&format!(
            "\n{} mutants: {caught} caught, {equivalent} equivalent, {survived} survived",
            judged.len()
        ))?;
        output.done()
    }
}

/// A name of a mutant as that of a file.
fn file_name(name: &str) -> PathBuf {
    let plain: String =
        name.chars().map(|letter| if letter.is_ascii_alphanumeric() { letter } else { '-' }).collect();
    let words: Vec<&str> = plain.split('-').filter(|word| !word.is_empty()).collect();
    Path::new(&words.join("-")).with_extension("rec")
}
