//! `umscope diff`: where two runs part.

use clap::Args;
use serde_json::{Value, json};

use super::arguments::{Changes, Format, Target};
use super::exit::{Ended, Status, Trouble};
use super::interrupt::Interrupt;
use super::output::Output;
use super::progress::Progress;
use super::replay;
use super::work::{self, Work};
use crate::debug::compare::{Comparison, Course, Verdict};
use crate::debug::subject::Subject;
use crate::debug::timeline::{Budget, Timeline};
use crate::diagnostic::Diagnostic;
use crate::machine::Machine;
use crate::model::record::Record;
use crate::report;
use crate::report::number::grouped;

/// The first record at which two runs part, and what led to it
///
/// A run is a scenario (a path or a bundled name), a workload, a recording, or a trace (with --machine). Records are
/// compared by cycle, place and what they say; what --set, --seed and the other options change is changed in both.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  umscope diff umh/fig5-a umh/fig5-b1
  umscope diff before.rec mine.toml
  umscope diff fast.toml slow.toml --ignore-time
  umscope diff a.txt b.txt --machine tiny/cpu-2core
  umscope diff trace/ trace/ --machine umh-4gpu-pcie --machine ./mine.toml

JSON: a, b (as named), equal, deadlock (they are equal, and both end in one), alike (records that both have), before[] (the last of them) and parts: null if they are \
equal, else a and b, each with event, cycle, ended (null, or finished, deadlock or limit: there is no further \
record), inputs[] (what was done to its machine until then), records[] (the first that the other does not have, and those after it) and causes[] (what led to the first of \
them, nearest first); other_bytes (address, a and b, where the first messages differ in nothing but what they carry; else null); records as `umscope log` prints them.

Exit status: 0 they are the same to the end; 1 they part; 2 wrong input; 130 interrupted.")]
pub struct Diff {
    /// A scenario, a recording, or a trace or workload (with --machine)
    #[arg(value_name = "RUN")]
    a: String,

    /// Another one
    #[arg(value_name = "RUN")]
    b: String,

    /// The machine of a trace or workload; given twice, that of the first run and that of the second
    #[arg(long, value_name = "NAME|PATH")]
    machine: Vec<String>,

    /// The traces' format, if it cannot be told from their files (see `umscope list trace-formats`)
    #[arg(long, value_name = "FORMAT")]
    trace_format: Option<String>,

    /// The same records at other times are the same
    #[arg(long)]
    ignore_time: bool,

    /// How to write the result
    #[arg(long, value_enum, default_value_t)]
    format: Format,

    #[command(flatten)]
    changes: Changes,
}

const MACHINES: &str = "one --machine, or one for each run";

/// Events between two looks at ctrl-c and the clock.
const SLICE: u64 = 2048;

impl Diff {
    pub fn carry_out(&self) -> Ended {
        let interrupt = Interrupt::install()?;
        let [a, b] = self.targets()?;
        let timeline = |target: &Target| -> Result<Timeline, Trouble> {
            let work = Work::open(target, &interrupt)?;
            let prepared = work.prepare()?;
            work::tell_left_out(prepared.left_out.as_deref());
            let machine = prepared.machine;
            replay::is_as_recorded(&work, &machine, &interrupt)?;
            Ok(Timeline::new(Box::new(machine), Budget::default()))
        };
        let mut comparison = Comparison::new(timeline(&a)?, timeline(&b)?, self.ignore_time);
        let mut progress = Progress::start();
        interrupt.heed();
        while !comparison.advance(SLICE) {
            if interrupt.is_raised() {
                return Ok(Status::Interrupted);
            }
            progress.tell(|| format!("the same up to event {}", grouped(comparison.event())));
        }
        progress.clear();
        let machines = comparison.machines().map(Subject::fork);
        for machine in &machines {
            work::void(machine.complaint())?;
        }
        let machines = [&*machines[0], &*machines[1]];
        let verdict = comparison.verdict();
        let mut output = Output::standard();
        match self.format {
            Format::Text => {
                let names = [&a, &b].map(|target| self.told(target));
                let lines = verdict.lines([names[0].as_str(), names[1].as_str()], machines);
                output.put(&(lines.join("\n") + "\n"))?;
            }
            Format::Json => output.json(&self.document(&verdict, machines))?,
        }
        Ok(if verdict.parts.is_none() { Status::Held } else { Status::Failed })
    }

    /// What the two arguments name. A scenario or recording beside a trace has a machine of its own.
    fn targets(&self) -> Result<[Target; 2], Trouble> {
        let machines = match self.machine.as_slice() {
            [] => [None, None],
            [both] => [Some(both), Some(both)],
            [a, b] => [Some(a), Some(b)],
            _ => return Err(Diagnostic::new("there are more machines than runs").expected(MACHINES).into()),
        };
        let runs = [&self.a, &self.b];
        let moved = runs.map(|run| work::is_moved(run));
        // Where none is moved, both are told what they do not take.
        let takes = |place: usize| moved[place] || !moved[1 - place];
        let target = |place: usize| Target {
            scenario: runs[place].clone(),
            machine: machines[place].filter(|_| takes(place)).cloned(),
            trace_format: self.trace_format.clone().filter(|_| takes(place)),
            changes: self.changes.clone(),
        };
        Ok([target(0), target(1)])
    }

    /// What a run is called: with its machine, if that is how the two differ.
    fn told(&self, target: &Target) -> String {
        match &target.machine {
            Some(machine) if self.machine.len() > 1 => format!("{} on {machine}", target.scenario),
            _ => target.scenario.clone(),
        }
    }

    fn document(&self, verdict: &Verdict, machines: [&dyn Subject; 2]) -> Value {
        let parts = verdict
            .parts
            .as_ref()
            .map(|[a, b]| json!({ "a": course(a, machines[0]), "b": course(b, machines[1]) }));
        json!({
            "a": self.a,
            "b": self.b,
            "equal": verdict.parts.is_none(),
            "deadlock": verdict.parts.is_none() && machines[0].machine().is_some_and(Machine::is_stuck),
            "alike": verdict.alike,
            "before": records(&verdict.before, machines[0]),
            "parts": parts,
            "other_bytes": verdict.other_bytes().map(|(address, [a, b])| json!({ "address": address.to_string(), "a": a, "b": b })),
        })
    }
}

fn course(course: &Course, machine: &dyn Subject) -> Value {
    use crate::machine::StepOutcome;
    let ended = course.end.map(|end| match end {
        StepOutcome::Stuck => "deadlock",
        StepOutcome::Limit(_) => "limit",
        StepOutcome::Finished | StepOutcome::Ran => "finished",
    });
    json!({
        "event": course.event,
        "cycle": course.cycle,
        "ended": ended,
        "inputs": records(&course.inputs, machine),
        "records": records(&course.records, machine),
        "causes": records(&course.causes, machine),
    })
}

fn records(list: &[Record], machine: &dyn Subject) -> Vec<Value> {
    let (components, time) = (machine.components(), machine.time_base());
    list.iter().map(|record| report::json::record(record, components, time)).collect()
}
