//! `umscope explore --hold`: the work of a scenario with events of its run held back.

use std::time::Instant;

use serde_json::{Value, json};

use super::{Explore, Recorded, opens, unbroken, watch};
use crate::cli::arguments::Format;
use crate::cli::counterexample;
use crate::cli::exit::{Ended, Status, Trouble};
use crate::cli::interrupt::Interrupt;
use crate::cli::output::Output;
use crate::diagnostic::Diagnostic;
use crate::explore::holds::{EXPECTATION, Found, Limits, Outcome, Subject, explore, told};
use crate::explore::search::{Bound, Counts};
use crate::machine::Machine;
use crate::recording::Input;
use crate::report::number::{counted, grouped};
use crate::scenario::{Options, Scenario};

/// What there is to tell.
struct Done<'a> {
    outcome: &'a Outcome,
    begun: &'a Machine,
    recorded: Recorded,
    most: u64,
    seconds: f64,
    faults: &'a [String],
}

impl Explore {
    pub(super) fn hold_back(&self, most: u64, interrupt: &Interrupt) -> Ended {
        let (scenario, options) = self.read()?;
        let prepared = scenario.prepare(&Options { checks: Some(true), ..options.clone() })?;
        let begun = prepared.machine;
        let checker = self.expect.then_some(prepared.checker);
        if checker.as_ref().is_some_and(|checker| checker.expectations().is_empty()) {
            let error = Diagnostic::new(format!("{} expects nothing", self.scenario));
            return Err(Box::new(error.expected("[[expect]], or no --expect")).into());
        }
        if begun.is_finished() {
            let error =
                Diagnostic::new(format!("{} has no work whose events could be held back", self.scenario));
            return Err(Box::new(error.expected("a scenario with [[do]], [[program]] or [[kernel]]")).into());
        }
        interrupt.heed();
        let start = Instant::now();
        let go_on = watch(interrupt, start, |counts, seconds| self.held(counts, seconds));
        let outcome = explore(&Subject::new(begun.clone(), checker), self.limits(most), go_on);
        let seconds = start.elapsed().as_secs_f64();
        let found = outcome.found.as_ref();
        let recorded = found.map(|found| self.keep(found, &scenario, &options)).transpose()?;
        let recorded = recorded.unwrap_or_default();
        let done =
            Done { outcome: &outcome, begun: &begun, recorded, most, seconds, faults: &self.tries.fault };
        let mut output = Output::standard();
        match self.format {
            Format::Json => output.json(&document(&done))?,
            Format::Text => output.put(&text(&done))?,
        }
        Ok(match outcome.bound {
            Some(Bound::Violation) => Status::Failed,
            Some(Bound::Interrupt) => Status::Interrupted,
            _ => Status::Held,
        })
    }

    fn limits(&self, most: u64) -> Limits {
        Limits {
            holds: u32::try_from(most).unwrap_or(u32::MAX),
            runs: self.max_states.unwrap_or(u64::MAX),
            random: self.random.map(|runs| (runs, self.seed)),
            threads: self.threads(),
        }
    }

    /// How far it is.
    fn held(&self, counts: Counts, seconds: f64) -> String {
        let rate = grouped((counts.transitions as f64 / seconds) as u64);
        let (runs, held) = (grouped(counts.states), counts.depth);
        format!("{}: {runs} runs, {held} held back, {rate} events a second", self.scenario)
    }

    /// Writes the recording of what was found.
    fn keep(&self, found: &Found, scenario: &Scenario, options: &Options) -> Result<Recorded, Trouble> {
        let path = self.record.clone();
        let path =
            path.unwrap_or_else(|| counterexample::usual_path(&self.scenario, &self.tries, found.rule));
        let held = found.holds.iter().map(|hold| (hold.event, Input::Hold(hold.cycles.to_string())));
        let mut inputs = scenario.inputs(options)?;
        inputs.extend(held);
        inputs.sort_by_key(|(event, _)| *event);
        let options = Options { inputs, checks: Some(true), ..options.clone() };
        let failed = (found.rule == EXPECTATION).then_some(found.text.as_str());
        Ok(Recorded::of(path, counterexample::of_run(scenario, (&self.scenario, &options), failed)))
    }
}

fn text(done: &Done<'_>) -> String {
    let outcome = done.outcome;
    let rate = grouped((outcome.events as f64 / done.seconds.max(1e-9)) as u64);
    let (runs, events) = (counted(outcome.runs, "run"), counted(outcome.events, "event"));
    let mut text = format!("{runs}, {events}, {:.1} s, {rate} events a second\n", done.seconds);
    let most = match done.most {
        1 => "one event".to_owned(),
        most => format!("up to {most} events"),
    };
    let durations: Vec<String> = outcome.durations.iter().map(u64::to_string).collect();
    let (places, durations) = (outcome.length, durations.join(", "));
    text.push_str(&match outcome.bound {
        None => format!("complete: {most} of {places} held back, by {durations} cycles\n"),
        Some(Bound::Random) => {
            format!("not complete: {most} of {places} held back at random, by {durations} cycles\n")
        }
        Some(Bound::Interrupt) => "not complete: it was interrupted\n".to_owned(),
        Some(Bound::Violation) => {
            "not complete: what lies beyond the violation was not looked at\n".to_owned()
        }
        Some(_) => "not complete: --max-states was reached\n".to_owned(),
    });
    text.push_str(&unbroken(done.faults, outcome.found.is_none()));
    for table in outcome.coverage.tables() {
        text.push_str(&format!("{} of {} cells of {} were used\n", table.reached, table.total, table.table));
    }
    if let Some(found) = &outcome.found {
        let held = match found.holds.len() {
            0 => "nothing held back".to_owned(),
            1 => "one event held back".to_owned(),
            more => format!("{more} events held back"),
        };
        text.push_str(&format!("\n{}: {} ({held})\n", found.rule, found.text));
        done.recorded.told.lines().for_each(|line| text.push_str(&format!("  {line}\n")));
        text.push_str(&opens(done.recorded.path.as_deref()));
        for line in told(done.begun, &found.holds) {
            text.push_str(&format!("    {line}\n"));
        }
    }
    text
}

fn document(done: &Done<'_>) -> Value {
    let outcome = done.outcome;
    let tables = outcome.coverage.tables();
    let violation = |found: &Found| {
        json!({
            "kind": found.rule,
            "message": found.text,
            "steps": found.holds.len(),
            "chain": done.recorded.told.chain,
            "blame": done.recorded.told.blame,
            "recording": done.recorded.path,
        })
    };
    json!({
        "states": Value::Null,
        "runs": outcome.runs,
        "transitions": outcome.events,
        "depth": done.most,
        "durations": outcome.durations,
        "complete": outcome.bound.is_none(),
        "symmetry": Value::Null,
        "fair": Value::Null,
        "seconds": done.seconds,
        "coverage": {
            "reached": tables.iter().map(|table| table.reached).sum::<usize>(),
            "reachable": Value::Null,
            "total": tables.iter().map(|table| table.total).sum::<usize>(),
            "not_reached": tables.iter().flat_map(|table| table.missing.clone()).collect::<Vec<_>>(),
        },
        "violations": outcome.found.iter().map(violation).collect::<Vec<_>>(),
    })
}
