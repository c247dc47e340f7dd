//! `umscope sweep`: a matrix of settings, each combination a run.

mod idle;
mod plan;
mod table;

use std::collections::BTreeSet;
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use serde_json::{Map, Value, json};

use super::arguments::jobs;
use super::destination;
use super::exit::{Ended, Status, Trouble, say};
use super::interrupt::Interrupt;
use super::journal::{self, Journal};
use super::output::Output;
use super::shard::{Shard, shard};
use super::work;
use crate::diagnostic::Diagnostic;
use crate::model::inspect::Inspect;
use crate::model::text::digits;
use crate::report::{self, json as shown};
use crate::scenario::Runner;
pub use plan::Plan;
use plan::Point;

/// Run a matrix of settings, each combination of them a run
///
/// FILE names a scenario (or several, or a trace and a machine) and the values of keys of the machine. Everything is
/// read, and the machine of every point is built, before the first run.
#[derive(Debug, Args)]
#[command(
    override_usage = "umscope sweep [OPTIONS] <FILE>\n       umscope sweep [OPTIONS] --merge <FILE>...",
    after_long_help = "\
Examples:
  umscope sweep gpus-and-caches
  umscope sweep mine.toml --to results.jsonl --format csv > results.csv
  umscope sweep mine.toml --columns levels.l2.hit_rate,'link.*.utilisation'
  umscope sweep mine.toml --to shard3.jsonl --shard 3/8       (the same with 1/8 ... 8/8 elsewhere)
  umscope sweep --merge shard*.jsonl --to results.jsonl

A sweep file:
  scenario = \"kernels/reduction\"             # or scenarios, or trace and machine
  seeds = [1, 2]                             # also max-cycles and checks
  [set]                                      # what --set takes
  gpu.count = [1, 2, 4]
  gpu.l1.size = [\"512 B\", \"1 KiB\"]

The workloads of `umscope list workloads`, and a trace, take machine = NAME or machines = [...]:
  scenarios = [\"workloads/umh/mt\", \"workloads/umh/fwt\"]
  machines = [\"umh-2gpu-nvlink\", \"baseline-memcpy-2gpu-nvlink\"]
  set.scale = [64, 32]

--to: a line of JSON that tells the points, then a line for each that is done, added as soon as it is. Started again \
with the same file, a sweep goes on where it was; a torn last line is run again. At the end the lines are in the order \
of the points, whatever the order of the runs: merged shards are the same file, byte by byte. Give every shard a file \
of its own. A file with results of something else is not touched, and --merge adds to what --to has.

A point is known by its settings and by what it is built from: the scenario, the machine, the protocols, and of a \
trace what it holds. If any of them has changed, --to must be another file; more values of a key are no change.

A key (or the seed) whose values make no difference to any run is told of at the end, on standard error.

A line: key, scenario, machine, set{}, seed, cycles, events, accesses, digest, passed, ended, expectations, \
failures[], stats{} as in `umscope run --format json`, left_out (null, or under another protocol the first of what speaks of states that it lacks), and a check of the line; numbers and booleans of set are such. --format json: sweep, count, missing[], points[] with these \
and point; csv: point, scenario, machine, seed, passed, ended, cycles, events, accesses, digest, set.KEY, stats.KEY.

Exit status: 0 all held in all points; 1 an expectation or a check failed in a point (the others are run), or a \
merge lacks points; 2 wrong input, before the first run; 130 interrupted by ctrl-c: what is done stays in --to."
)]
pub struct Sweep {
    /// A sweep file, or the name of a bundled one
    #[arg(value_name = "FILE", required_unless_present = "merge")]
    file: Option<String>,

    /// Where results are kept, and from where a sweep goes on; without it (or with -) nowhere
    #[arg(long, value_name = "FILE")]
    to: Option<PathBuf>,

    /// Only this part of the points, such as 3/8: of eight, the third
    #[arg(long, value_name = "PART", value_parser = shard)]
    shard: Option<Shard>,

    /// Run nothing: put these files of results together, such as those of all shards, and tell what is missing
    #[arg(long, value_name = "FILE", num_args = 1.., conflicts_with_all = ["file", "shard", "jobs"])]
    merge: Vec<PathBuf>,

    /// How to write the results on standard output
    #[arg(long, value_enum, default_value_t)]
    format: Format,

    /// These statistics beside cycles, events and accesses, with * for any part of a name; of --format csv only these
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    columns: Vec<String>,

    /// Runs at a time [default: as many as there are processors]
    #[arg(long, value_name = "NUMBER", value_parser = jobs, allow_negative_numbers = true)]
    jobs: Option<usize>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum Format {
    /// For people
    #[default]
    Text,
    /// For programs
    Json,
    /// For spreadsheets
    Csv,
}

impl Sweep {
    pub fn carry_out(&self) -> Ended {
        if self.format == Format::Json && !self.columns.is_empty() {
            let error = Diagnostic::new("--columns chooses columns of a table, and --format json is none");
            return Err(error.expected("--format text or csv").into());
        }
        match &self.file {
            Some(file) => self.run(file),
            None => self.put_together(),
        }
    }

    fn put_together(&self) -> Ended {
        let inputs: Result<Vec<_>, _> = self.merge.iter().map(|path| Journal::read(path)).collect();
        let mut inputs = inputs?;
        if let Some(other) = inputs.iter().find(|input| input.header.is_of_figures()) {
            let error = Diagnostic::new(format!("{} has results of figures", other.name));
            return Err(error.expected("files that umscope sweep --to has written").into());
        }
        let mut merged = journal::merge(destination::file(self.to.as_deref()), &mut inputs)?;
        let missing = merged.missing();
        for &point in &missing {
            say(format_args!("missing: point {point}, {}", merged.header.name(point)));
        }
        self.print(&mut merged)?;
        Ok(if missing.is_empty() { failed(&mut merged)? } else { Status::Failed })
    }

    fn run(&self, file: &str) -> Ended {
        let interrupt = Interrupt::install()?;
        interrupt.heed();
        let plan = Plan::load(file, &self.columns, self.jobs, &interrupt)?;
        if interrupt.is_raised() {
            return Ok(Status::Interrupted);
        }
        for (point, why) in &plan.left_out {
            say(format_args!("in the point {point}:"));
            work::tell_left_out(Some(why));
        }
        let kept = destination::file(self.to.as_deref());
        let journal = Journal::resume(kept, plan.header())?;
        let mine = |point: &usize| self.shard.is_none_or(|shard| shard.has(*point));
        let before = journal.done();
        let left: Vec<usize> =
            (0..plan.points.len()).filter(mine).filter(|point| !before.contains(point)).collect();
        if !before.is_empty() {
            say(format_args!("{} of {} points were done already", before.len(), plan.points.len()));
        }
        let mut journal = self.points(&plan, &left, journal, &interrupt)?;
        if interrupt.is_raised() {
            let done = journal.done().len();
            say(format_args!("interrupted: {done} of {} points are done", plan.points.len()));
            return Ok(Status::Interrupted);
        }
        journal.finish()?;
        self.print(&mut journal)?;
        failed(&mut journal)
    }

    /// Runs the points that are left, and adds each to the journal.
    fn points(
        &self,
        plan: &Plan,
        left: &[usize],
        journal: Journal,
        interrupt: &Interrupt,
    ) -> Result<Journal, Trouble> {
        let told = |done| format!("{}: {done} of {} points", plan.title, left.len());
        journal::fill(journal, left, (self.jobs, interrupt), told, |number| match plan.points.get(number) {
            Some(point) => one(plan, point, interrupt),
            None => Ok(None),
        })
    }

    fn print(&self, journal: &mut Journal) -> Result<(), Trouble> {
        let mut output = Output::standard();
        match self.format {
            Format::Text => table::text(journal, &self.columns, &mut output),
            Format::Json => table::json(journal, &mut output),
            Format::Csv => table::csv(journal, &self.columns, &mut output),
        }?;
        // A part of the points does not tell.
        let idle = if journal.missing().is_empty() { idle::idle(journal)? } else { Vec::new() };
        for key in idle {
            say(format_args!("note: {key} changes nothing: runs that differ in it alone are the same"));
        }
        Ok(())
    }
}

/// Runs a point; nothing if it was interrupted.
fn one(plan: &Plan, point: &Point, interrupt: &Interrupt) -> Result<Option<Value>, Trouble> {
    let Some(work) = plan.work(point)? else { return Ok(None) };
    let prepared = work.prepare()?;
    let left_out = prepared.left_out.as_ref().map(|why| why.message.clone());
    let (machine, workload) = (work.machine_name(&prepared), prepared.blueprint.workload.clone());
    let mut runner: Runner = prepared.runner();
    let Some(ended) = runner.finish(|_| interrupt.control()) else { return Ok(None) };
    let report = runner.report(ended);
    work::trusted(&workload)?;
    let mut row: Map<String, Value> = point.name.json();
    row.extend([
        ("key".to_owned(), json!(point.key)),
        ("machine".to_owned(), json!(machine)),
        ("cycles".to_owned(), json!(report.cycles)),
        ("events".to_owned(), json!(report.events)),
        ("accesses".to_owned(), json!(report.accesses)),
        ("digest".to_owned(), json!(digits(report.digest))),
        ("passed".to_owned(), json!(report.passed)),
        ("ended".to_owned(), json!(report::ended(&report.ended))),
        ("expectations".to_owned(), json!(report.expectations)),
        ("failures".to_owned(), shown::failures(&report.failures)),
        ("left_out".to_owned(), json!(left_out)),
        ("stats".to_owned(), shown::statistics(&runner.machine().statistics())),
    ]);
    Ok(Some(Value::Object(row)))
}

/// Whether something failed in a point.
fn failed(journal: &mut Journal) -> Result<Status, Trouble> {
    let points: BTreeSet<usize> = journal.done();
    for point in points {
        let line = journal.line(point)?.unwrap_or_default();
        let row: Value = serde_json::from_str(&line).unwrap_or(Value::Null);
        if row.get("passed") != Some(&Value::Bool(true)) {
            return Ok(Status::Failed);
        }
    }
    Ok(Status::Held)
}
