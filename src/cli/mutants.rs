//! `umscope mutants`: every part of a protocol changed, one at a time, to see that the checks notice.

mod judge;
mod place;

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use clap::Args;
use serde_json::{Value, json};

use judge::{Judge, Judged};
use place::{MEMORY, Places};

use super::arguments::{Format, jobs, positive};
use super::exit::{Ended, Status, Trouble};
use super::interrupt::Interrupt;
use super::output::Output;
use super::pool;
use crate::config::{self, Kind};
use crate::diagnostic::{self, Diagnostic, cannot, try_out};
use crate::explore::mutants::{self, Mutant};
use crate::explore::search::Limits;
use crate::model::threads;
use crate::report::number::grouped;

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
explore/three-l1 (`umscope explore --fair`): then it is a protocol that is correct there and differs in cost. Besides that, \
half a million random steps on explore/large and a random test (`umscope stress`) of tiny/umh-2gpu must break nothing, since more blocks and \
children can need a rule that few do not. `by` says which; what the random test catches has no recording.

JSON: protocol, complete (false if it was interrupted), mutants[{name, caught, equivalent, by, recording}]; recording is null \
without --record.

Exit status: 0 all are caught or equivalent; 1 one is neither, or the protocol itself breaks a rule; 2 wrong input; 130 \
interrupted by ctrl-c (what is known so far is printed, and that it is partial).")]
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
    #[arg(long, value_name = "NUMBER", value_parser = jobs, allow_negative_numbers = true)]
    jobs: Option<usize>,

    /// A folder for the recordings of what was caught
    #[arg(long, value_name = "FOLDER")]
    record: Option<PathBuf>,

    /// How to write the result
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

/// Makes the folder of the recordings, where any can be written.
fn make_folder(folder: &Path) -> diagnostic::Result<()> {
    std::fs::create_dir_all(folder).map_err(|error| cannot(folder, &error))?;
    try_out(&folder.join("new.rec"))
}

impl Mutants {
    pub fn carry_out(&self) -> Ended {
        let interrupt = Interrupt::install()?;
        let found = config::find(Kind::Protocol, &self.protocol, None)?;
        let table = config::protocol::from_toml(&found.source)?;
        interrupt.heed();
        let fits = |mutant: &Mutant| self.only.as_ref().is_none_or(|only| mutant.to_string().contains(only));
        let mutants: Vec<Mutant> = mutants::all(&table).into_iter().filter(fits).collect();
        if let (Some(only), true) = (&self.only, mutants.is_empty()) {
            let message = format!("no mutant of {} has {only:?} in its name", self.protocol);
            return Err(Diagnostic::new(message).expected("such as 'cache S' or 'fault no-'").into());
        }
        self.record.as_deref().map_or(Ok(()), make_folder)?;
        let limits = |threads| Limits { states: self.max_states, depth: u64::MAX, memory: MEMORY, threads };
        let threads = threads::jobs(None);
        let judged = match Places::load(&self.protocol, limits(threads), &interrupt)? {
            Ok(places) => self.judge_all(
                &mutants,
                &Judge {
                    table: &table,
                    source: &found.source,
                    places: &places,
                    limits: limits(1),
                    record: self.record.as_deref(),
                    interrupt: &interrupt,
                    states: AtomicU64::new(0),
                },
            )?,
            // Of no mutant anything is known yet.
            Err(Status::Interrupted) => Vec::new(),
            Err(status) => return Ok(status),
        };
        self.print(&table.name, &judged, mutants.len())?;
        Ok(if judged.len() < mutants.len() {
            Status::Interrupted
        } else if judged.iter().all(|one| one.caught || one.equivalent) {
            Status::Held
        } else {
            Status::Failed
        })
    }

    fn judge_all(&self, mutants: &[Mutant], judge: &Judge<'_>) -> Result<Vec<Judged>, Trouble> {
        let told = |done| {
            let states = grouped(judge.states.load(Ordering::Relaxed));
            format!("{}: {done} of {} mutants, {states} states", self.protocol, mutants.len())
        };
        let judged = pool::gather(mutants.len(), self.jobs, judge.interrupt, told, |index| {
            let Some(mutant) = mutants.get(index) else { return ControlFlow::Continue(None) };
            match judge.judge(*mutant) {
                Ok(judged) => ControlFlow::Continue((!judge.interrupt.is_raised()).then_some(Ok(judged))),
                Err(trouble) => ControlFlow::Break(Err(trouble)),
            }
        });
        judged.into_iter().collect()
    }

    /// What is known of the mutants, of which there are `all`.
    fn print(&self, protocol: &str, judged: &[Judged], all: usize) -> Result<(), Trouble> {
        let complete = judged.len() == all;
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
            return output.json(&json!({ "protocol": protocol, "complete": complete, "mutants": mutants }));
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
        if !complete {
            output.line(&format!("partial: interrupted after {} of {all} mutants", judged.len()))?;
        }
        output.done()
    }
}
