//! `umscope explore`: every order in which things can happen on a small machine.

use std::num::NonZeroUsize;
use std::thread;
use std::time::Instant;

use clap::Args;
use serde_json::{Value, json};

use super::arguments::{Format, number, positive};
use super::exit::{Ended, Status, Trouble};
use super::interrupt::Interrupt;
use super::output::Output;
use super::progress::Progress;
use crate::diagnostic::Diagnostic;
use crate::explore::coverage::CellId;
use crate::explore::outcome::{Outcome, explore};
use crate::explore::search::{Bound, Limits};
use crate::explore::system::System;
use crate::explore::way;
use crate::model::fault::Fault;
use crate::model::units::Size;
use crate::report::number::grouped;
use crate::scenario::{Options, Scenario};

/// Go through every order in which things can happen on a small machine
#[derive(Debug, Args)]
pub struct Explore {
    /// A scenario file with an [explore] part, or the name of a bundled one
    #[arg(value_name = "SCENARIO")]
    scenario: String,

    /// Another protocol than the scenario's: a bundled name or a path
    #[arg(long, value_name = "NAME|PATH")]
    protocol: Option<String>,

    /// Set a key of the machine file, such as network.buffers=1, or of the scenario's [explore], such as
    /// explore.outstanding=2; may be given several times
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,

    /// Inject a fault, as [[fault]] of a scenario does; may be given several times
    #[arg(long, value_name = "NAME")]
    fault: Vec<String>,

    /// Look at so many states at most
    #[arg(long, value_name = "NUMBER", value_parser = positive, allow_negative_numbers = true)]
    max_states: Option<u64>,

    /// Look at what is so many steps away at most
    #[arg(long, value_name = "STEPS", value_parser = number, allow_negative_numbers = true)]
    depth: Option<u64>,

    /// Memory to use at most
    #[arg(long, value_name = "SIZE", value_parser = size, default_value = "8 GiB")]
    memory: Size,

    /// Threads [default: as many as there are processors]
    #[arg(long, value_name = "NUMBER", value_parser = positive, allow_negative_numbers = true)]
    jobs: Option<u64>,

    /// How to write the result
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

fn size(text: &str) -> Result<Size, String> {
    Size::parse(text).ok_or_else(|| format!("expected {}", Size::EXPECTED))
}

/// A fault that needs no more than its name.
fn fault(name: &str) -> Result<Fault, Trouble> {
    let known = [
        Fault::AnswerWithoutData,
        Fault::SkipInvalidation,
        Fault::ProbesMayNotPass,
        Fault::NoGrantAck,
        Fault::MergeWholeBlocks,
        Fault::KeepMaskOnRead,
    ];
    known.into_iter().find(|fault| fault.name() == name).ok_or_else(|| {
        Diagnostic::new(format!("{name} is no fault that a node can have"))
            .nearest(name, known.into_iter().map(Fault::name))
            .into()
    })
}

impl Explore {
    pub fn carry_out(&self) -> Ended {
        let interrupt = Interrupt::install()?;
        let mut scenario_keys: Vec<String> =
            self.protocol.iter().map(|name| format!("protocol={name:?}")).collect();
        let (own, machine): (Vec<_>, Vec<_>) =
            self.set.iter().cloned().partition(|text| text.trim_start().starts_with("explore."));
        scenario_keys.extend(own);
        let scenario = Scenario::load(&self.scenario)?.with(&scenario_keys)?;
        let mut blueprint = scenario.blueprint(&Options { set: machine, ..Options::default() })?;
        for name in &self.fault {
            blueprint.faults.push(fault(name)?);
        }
        let machine = crate::machine::Machine::build(&blueprint)?;
        let system = System::new(&machine, &scenario.alphabet(&machine)?)?;
        let threads = self.jobs.and_then(|jobs| usize::try_from(jobs).ok());
        let limits = Limits {
            states: self.max_states.unwrap_or(u64::MAX),
            depth: self.depth.unwrap_or(u64::MAX),
            memory: self.memory.0,
            threads: threads.unwrap_or_else(|| thread::available_parallelism().map_or(1, NonZeroUsize::get)),
        };
        interrupt.heed();
        let mut progress = Progress::start();
        let start = Instant::now();
        let outcome = explore(&system, limits, |counts| {
            progress.tell(|| {
                let rate = counts.states as f64 / start.elapsed().as_secs_f64();
                format!(
                    "{}: {} states, depth {}, {} a second",
                    self.scenario,
                    grouped(counts.states),
                    counts.depth,
                    grouped(rate as u64)
                )
            });
            !interrupt.is_raised()
        });
        progress.clear();
        let seconds = start.elapsed().as_secs_f64();
        self.print(&system, &outcome, seconds)?;
        Ok(if !outcome.violations.is_empty() {
            Status::Failed
        } else if outcome.bound == Some(Bound::Interrupt) {
            Status::Interrupted
        } else {
            Status::Held
        })
    }

    fn print(&self, system: &System, outcome: &Outcome, seconds: f64) -> Result<(), Trouble> {
        let mut output = Output::standard();
        match self.format {
            Format::Json => output.json(&document(outcome, seconds)),
            Format::Text => output.put(&self.text(system, outcome, seconds)),
        }
    }

    fn text(&self, system: &System, outcome: &Outcome, seconds: f64) -> String {
        let counts = outcome.counts;
        let mut text = format!(
            "{} states, {} transitions, depth {}, {:.1} s, {} states a second\n",
            grouped(counts.states),
            grouped(counts.transitions),
            counts.depth,
            seconds,
            grouped((counts.states as f64 / seconds.max(1e-9)) as u64)
        );
        text.push_str(&match outcome.bound {
            None => "complete: every state was looked at\n".to_owned(),
            Some(bound) => format!("not complete: {}\n", self.reason(bound)),
        });
        let used = outcome.cells.iter().filter(|(_, used)| *used).count();
        text.push_str(&format!("{used} of {} cells of the tables were used\n", outcome.cells.len()));
        let unused: Vec<String> =
            outcome.cells.iter().filter(|(_, used)| !used).map(|(cell, _)| cell.name()).collect();
        if !unused.is_empty() {
            let what = if outcome.bound.is_none() { "never reached" } else { "not reached" };
            text.push_str(&format!("{what}: {}\n", unused.join(", ")));
        }
        for violation in &outcome.violations {
            let steps = violation.choices.len();
            text.push_str(&format!("\n{}: {} ({steps} steps)\n", violation.rule, violation.text));
            for line in way::lines(system, &violation.choices) {
                text.push_str(&format!("    {line}\n"));
            }
        }
        text
    }

    fn reason(&self, bound: Bound) -> String {
        match bound {
            Bound::States => "--max-states was reached".to_owned(),
            Bound::Depth => "--depth was reached".to_owned(),
            Bound::Memory => format!("--memory of {} was used up", self.memory),
            Bound::Interrupt => "it was interrupted".to_owned(),
            Bound::Random => "orders were tried at random".to_owned(),
            Bound::Violation => "what lies beyond the violation was not looked at".to_owned(),
        }
    }
}

/// The result as a JSON document.
fn document(outcome: &Outcome, seconds: f64) -> Value {
    let reached = outcome.cells.iter().filter(|(_, used)| *used).count();
    let complete = outcome.bound.is_none();
    let named = |wanted: bool| -> Vec<Value> {
        let all = outcome.cells.iter().filter(|(_, used)| *used == wanted);
        all.map(|(cell, _)| cell_json(cell)).collect()
    };
    let violations: Vec<Value> = outcome
        .violations
        .iter()
        .map(|violation| {
            json!({
                "kind": violation.rule,
                "message": violation.text,
                "steps": violation.choices.len(),
                "recording": Value::Null,
            })
        })
        .collect();
    json!({
        "states": outcome.counts.states,
        "transitions": outcome.counts.transitions,
        "depth": outcome.counts.depth,
        "complete": complete,
        "seconds": seconds,
        "coverage": {
            "reached": reached,
            "reachable": complete.then_some(reached),
            "total": outcome.cells.len(),
            "not_reached": named(false),
        },
        "violations": violations,
    })
}

fn cell_json(cell: &CellId) -> Value {
    json!({ "table": cell.table, "cell": cell.name() })
}
