//! `umscope test`: many scenarios, and whether their expectations hold.

use std::ops::ControlFlow;
use std::time::Instant;

use clap::{Args, ValueEnum};
use serde_json::{Value, json};

use super::arguments::{Changes, jobs};
use super::diagnosis;
use super::exit::{Ended, Status, complain, say};
use super::interrupt::Interrupt;
use super::output::Output;
use super::pool;
use super::suite::{self, Found};
use super::work::{self, Work};
use crate::debug::diagnosis::Diagnosis;
use crate::diagnostic::{Diagnostic, Result};
use crate::machine::Machine;
use crate::model::record::Record;
use crate::model::text::digits;
use crate::query::Possible;
use crate::report;
use crate::report::json::failures;
use crate::report::junit::{self, Case};
use crate::scenario::{self, Checker, Failure, Report, Runner, When};

/// Run scenarios and check their expectations
///
/// Folders are searched for scenario files at any depth. Without PATH, every bundled scenario is run.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  umscope test
  umscope test umh
  umscope test scenarios/ mine.toml --jobs 4
  umscope test scenarios/ --format junit > results.xml

JSON: passed, failed, scenarios[{name, path, passed, ended (as of `umscope run`), expectations, cycles, events, digest, \
left_out (the first of what speaks of states that --protocol does not have), unsaid[] (the lines of [[say]] whose moment never came), unsettled[] (of those whose question's `until` never came), vacuous[{line, why}] (what it says never happens cannot happen there), failures[{message, cycle, event, line, expectation}], diagnosis, blame (as of `umscope run`)}]; null for what a scenario that cannot be read does not have; \
its failure has column, expected and suggestion too.

Exit status: 0 all held; 1 an expectation or a check failed, or a scenario ended otherwise than it says; \
2 a scenario cannot be read (the others are run); 130 interrupted.")]
pub struct Test {
    /// Scenario files, folders, names of bundled scenarios or their folders
    #[arg(value_name = "PATH")]
    paths: Vec<String>,

    #[command(flatten)]
    changes: Changes,

    /// How to write the results
    #[arg(long, value_enum, default_value_t)]
    format: Format,

    /// Scenarios to run at a time [default: as many as there are processors]
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
    /// For build servers
    Junit,
}

/// A scenario that was run.
#[derive(Debug)]
struct Tested {
    path: String,
    name: String,
    seconds: f64,
    result: Result<Report>,
    /// Why it could not go on, where it was meant to.
    diagnosis: Option<Diagnosis>,
    blame: Option<Vec<String>>,
    notes: Notes,
}

/// What whoever wrote a scenario should know, though it may have passed.
#[derive(Debug, Default)]
struct Notes {
    /// Why something of it was left out, under a protocol without its states.
    left_out: Option<Box<Diagnostic>>,
    /// The lines of what it never said.
    unsaid: Vec<usize>,
    /// The lines of what asks, and was never settled.
    unsettled: Vec<usize>,
    /// The lines of what it says never happens, and why that cannot happen on its machine.
    vacuous: Vec<(usize, String)>,
}

impl Test {
    pub fn carry_out(&self) -> Ended {
        let interrupt = Interrupt::install()?;
        let paths = suite::find(&self.paths);
        interrupt.heed();
        let tested = all(&paths, &self.changes, self.jobs, &interrupt);
        let mut output = Output::standard();
        match self.format {
            Format::Text => output.put(&text(&tested))?,
            Format::Json => output.json(&document(&tested))?,
            Format::Junit => output.put(&junit::suite(&cases(&tested)))?,
        }
        for one in tested.iter().filter(|one| one.notes.left_out.is_some()) {
            say(format_args!("{}:", one.path));
            work::tell_left_out(one.notes.left_out.as_deref());
        }
        for error in tested.iter().filter_map(|tested| tested.result.as_ref().err()) {
            complain(error);
        }
        Ok(if interrupt.is_raised() { Status::Interrupted } else { status(&tested) })
    }
}

/// Runs all of them, `jobs` at a time; the results are in the order of the paths. After an interrupt, those that were
/// not begun, or whose traces were not read, are left out.
fn all(paths: &[Found], changes: &Changes, jobs: Option<usize>, interrupt: &Interrupt) -> Vec<Tested> {
    let told = |count| format!("{count} of {} scenarios", paths.len());
    pool::gather(paths.len(), jobs, interrupt, told, |index| {
        ControlFlow::Continue(paths.get(index).and_then(|path| match &path.trouble {
            Some(trouble) => Some(absent(&path.path, trouble.clone())),
            None => one(&path.path, changes, interrupt),
        }))
    })
}

/// One that is not there.
fn absent(path: &str, trouble: Box<Diagnostic>) -> Tested {
    Tested {
        path: path.to_owned(),
        name: path.to_owned(),
        seconds: 0.0,
        result: Err(trouble),
        diagnosis: None,
        blame: None,
        notes: Notes::default(),
    }
}

/// Why a run could not go on, and what broke a rule.
type Why = (Option<Diagnosis>, Option<Vec<String>>);

/// Runs one scenario; `None` if an interrupt came before that.
fn one(path: &str, changes: &Changes, interrupt: &Interrupt) -> Option<Tested> {
    let start = Instant::now();
    let mut notes = Notes::default();
    let (name, result) = match Work::load(path, None, changes, interrupt) {
        Err(_) if interrupt.is_raised() => return None,
        Ok(work) => (work.scenario.title().to_owned(), run(&work, &mut notes, interrupt)),
        Err(error) => (path.to_owned(), Err(error)),
    };
    let seconds = start.elapsed().as_secs_f64();
    let (result, (diagnosis, blame)) = match result {
        Ok((report, why)) => (Ok(report), why),
        Err(error) => (Err(error), (None, None)),
    };
    Some(Tested { path: path.to_owned(), name, seconds, result, diagnosis, blame, notes })
}

fn run(work: &Work, notes: &mut Notes, interrupt: &Interrupt) -> Result<(Report, Why)> {
    let prepared = work.prepare()?;
    work::known_commands(&work.scenario)?;
    notes.left_out.clone_from(&prepared.left_out);
    notes.vacuous = vacuous(&prepared.checker, &prepared.machine);
    let (begun, workload) = (prepared.machine.clone(), prepared.blueprint.workload.clone());
    let narrator = prepared.narrator.clone();
    let mut told = narrator.begin();
    let waits = !narrator.unsaid(&told).is_empty() || !narrator.unsettled(&told).is_empty();
    let listens = waits || prepared.blueprint.checks;
    let mut runner = Runner::new(prepared.machine, prepared.checker, listens);
    let hear = |machine: &Machine, records: &[Record]| {
        narrator.observe(&mut told, machine, records);
        ControlFlow::Continue(())
    };
    let ended = if waits {
        runner.finish_seen(hear, |_| interrupt.control())
    } else {
        runner.finish(|_| interrupt.control())
    };
    let report = match ended {
        Some(ended) => runner.report(ended),
        None => runner.so_far(scenario::Ended::Interrupted),
    };
    work::trusted(&workload)?;
    if report.ended != scenario::Ended::Interrupted {
        (notes.unsaid, notes.unsettled) = (narrator.unsaid(&told), narrator.unsettled(&told));
    }
    if report.passed {
        return Ok((report, (None, None)));
    }
    let diagnosis = diagnosis::of(&report, runner.machine(), &begun, interrupt);
    let blame = diagnosis::blame(work, runner.machine(), &begun, diagnosis.as_ref());
    Ok((report, (diagnosis, blame)))
}

/// What holds on this machine whatever happens.
fn vacuous(checker: &Checker, machine: &Machine) -> Vec<(usize, String)> {
    let possible = Possible::on(machine);
    let never = checker.expectations().iter().filter_map(|expectation| match &expectation.when {
        When::Never(query) | When::Count(query, _, 0) => {
            Some((expectation.line, possible.lacks(&query.filter)?))
        }
        _ => None,
    });
    never.collect()
}

fn status(tested: &[Tested]) -> Status {
    let one = |tested: &Tested| match &tested.result {
        Err(_) => Status::Wrong,
        Ok(report) if report.passed => Status::Held,
        Ok(_) => Status::Failed,
    };
    tested.iter().map(one).max().unwrap_or(Status::Held)
}

fn count(tested: &[Tested]) -> (usize, usize) {
    let passed = tested.iter().filter(|tested| tested.passed()).count();
    (passed, tested.len() - passed)
}

impl Tested {
    fn passed(&self) -> bool {
        self.result.as_ref().is_ok_and(|report| report.passed) && !self.is_cut()
    }

    /// What is known of why it failed: the records that broke a rule, and why it could not go on.
    fn reasons(&self) -> impl Iterator<Item = String> {
        let diagnosis = self.diagnosis.iter().flat_map(Diagnosis::lines);
        self.blame.iter().flatten().cloned().chain(diagnosis)
    }

    fn note(&self) -> Option<String> {
        let left_out = self.notes.left_out.as_ref().map(|why| format!("{}: {why}", work::LEFT_OUT));
        let lines: Vec<String> = left_out.into_iter().chain(self.unsaid()).collect();
        (!lines.is_empty()).then(|| lines.join("\n"))
    }

    /// What it never said, never came to, and cannot find out, a line each.
    fn unsaid(&self) -> impl Iterator<Item = String> {
        let vacuous = self.notes.vacuous.iter();
        let vacuous = vacuous.map(|(line, why)| format!("line {line}: this [[expect]] cannot fail: {why}"));
        let unsaid = self.notes.unsaid.iter();
        let unsaid = unsaid.map(|line| format!("line {line}: the moment of this [[say]] never came"));
        let unsettled = self.notes.unsettled.iter();
        unsaid
            .chain(unsettled.map(|line| {
                format!("line {line}: what the question of this [[say]] stays open for (until) never came")
            }))
            .chain(vacuous)
    }

    fn is_cut(&self) -> bool {
        self.result.as_ref().is_ok_and(|report| report.ended == scenario::Ended::Interrupted)
    }

    fn case(&self) -> Case<'_> {
        Case {
            name: &self.name,
            path: &self.path,
            seconds: self.seconds,
            failures: self.result.iter().flat_map(|report| &report.failures).map(sentence).collect(),
            reasons: self.reasons().collect(),
            error: self.result.as_ref().err().map(ToString::to_string),
            note: self.note(),
            is_cut: self.is_cut(),
        }
    }

    fn json(&self) -> Value {
        let report = self.result.as_ref().ok();
        let failed = match &self.result {
            Ok(report) => failures(&report.failures),
            Err(error) => std::iter::once(&**error).chain(&error.others).map(unread).collect(),
        };
        json!({
            "name": self.name,
            "path": self.path,
            "passed": self.passed(),
            "ended": report.map(|report| report::ended(&report.ended)),
            "expectations": report.map(|report| report.expectations),
            "cycles": report.map(|report| report.cycles),
            "events": report.map(|report| report.events),
            "digest": report.map(|report| digits(report.digest)),
            "left_out": self.notes.left_out.as_ref().map(|why| why.message.as_str()),
            "unsaid": self.notes.unsaid,
            "unsettled": self.notes.unsettled,
            "vacuous": self.notes.vacuous.iter().map(|(line, why)| json!({ "line": line, "why": why })).collect::<Vec<_>>(),
            "failures": failed,
            "diagnosis": self.diagnosis.as_ref().map(report::diagnosis::json),
            "blame": self.blame,
        })
    }
}

fn document(tested: &[Tested]) -> Value {
    let (passed, failed) = count(tested);
    let scenarios: Vec<_> = tested.iter().map(Tested::json).collect();
    json!({ "passed": passed, "failed": failed, "scenarios": scenarios })
}

fn text(tested: &[Tested]) -> String {
    let mut lines = Vec::new();
    for one in tested {
        let word = match &one.result {
            Err(_) => "error ",
            Ok(report) if report.ended == scenario::Ended::Interrupted => "cut   ",
            Ok(report) if report.passed => "ok    ",
            Ok(_) => "FAILED",
        };
        let name = if one.name == one.path { String::new() } else { format!("  {}", one.name) };
        lines.push(format!("{word} {}{name}", one.path));
        let failures = one.result.iter().flat_map(|report| &report.failures);
        lines.extend(failures.map(|failure| format!("       {}", sentence(failure))));
        lines.extend(one.reasons().map(|line| format!("       {line}")));
        let idle = one.result.iter().flat_map(|report| &report.idle_faults);
        lines.extend(idle.map(|fault| format!("       note: {}", report::summary::idle(*fault))));
        lines.extend(one.unsaid().map(|line| format!("       note: {line}")));
    }
    let (passed, failed) = count(tested);
    lines.push(format!("\n{passed} passed, {failed} failed\n"));
    lines.join("\n")
}

fn sentence(failure: &Failure) -> String {
    let line = failure.line.map_or_else(String::new, |line| format!("line {line}: "));
    format!("{line}{} (event {}, cycle {})", failure.message, failure.event, failure.cycle)
}

fn cases(tested: &[Tested]) -> Vec<Case<'_>> {
    tested.iter().map(Tested::case).collect()
}

/// What is wrong with a scenario that cannot be read.
fn unread(error: &Diagnostic) -> Value {
    json!({
        "message": error.message,
        "cycle": null,
        "event": null,
        "line": error.position().map(|(line, _)| line),
        "expectation": null,
        "column": error.position().map(|(_, column)| column),
        "expected": error.expected,
        "suggestion": error.suggestion,
    })
}
