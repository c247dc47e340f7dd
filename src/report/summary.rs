//! A run in a screenful.

mod accesses;
mod caches;
mod copies;
mod network;
mod numa;
mod paging;
mod resources;
mod selective;
mod synchronisation;
mod table;
mod tags;
mod tasks;
#[cfg(test)]
mod tests;
mod values;
mod waits;
mod warps;

use std::fmt::Write;

use super::Run;
use super::number::{bytes, counted, grouped, time};
use crate::model::fault::Fault;
use crate::model::inspect::Inspect;
use crate::model::text::digits;
use crate::scenario::Failure;
use values::Values;

/// Failures that are shown.
const FAILURES: usize = 20;

/// What is told beside the run itself.
#[derive(Clone, Copy, Debug)]
pub struct Heading<'a> {
    pub title: &'a str,
    pub source: Option<&'a str>,
    /// What stands for a paper's workload, and in what the two differ.
    pub about: Option<&'a str>,
    /// The scenario file, for the places of failures.
    pub file: &'a str,
    /// What the machine calls itself, unless that is its name here, and its protocol.
    pub about_machine: &'a str,
}

/// The summary: a few lines with a word in front of each, and a table for each question that this machine and run raise.
#[must_use]
pub fn text(run: &Run, machine: &dyn Inspect, heading: Heading<'_>) -> String {
    let mut text = String::new();
    let _ = writeln!(text, "{}", heading.title);
    if let Some(source) = heading.source {
        let _ = writeln!(text, "{source}");
    }
    if let Some(about) = heading.about {
        let _ = writeln!(text, "{about}");
    }
    text.push('\n');
    let values = Values::new(&run.statistics);
    overview(&mut text, run, machine, heading.about_machine);
    text.push('\n');
    let tables = [
        warps::table(machine, &values),
        tasks::table(&run.tasks, &values),
        accesses::by_level(&values),
        accesses::by_class(&values),
        waits::table(run.waits.as_ref()),
        caches::caches(&values),
        caches::probes(&values),
        resources::table(&run.resources),
        caches::memories(&values),
        paging::table(&values),
        selective::table(&values),
        tags::table(&values),
        copies::table(&values),
        numa::table(&values),
        network::links(machine, &values),
        network::messages(machine, &values),
        synchronisation::table(&values),
    ];
    for table in tables.into_iter().filter(|table| !table.is_empty()) {
        text.push_str(&table.text());
        text.push('\n');
    }
    line(&mut text, "digest", &digits(run.report.digest));
    line(&mut text, "took", &took(run));
    text.push('\n');
    for fault in &run.report.idle_faults {
        let _ = writeln!(text, "note: {}", idle(*fault));
    }
    verdict(&mut text, run, heading.file);
    text
}

/// Of what has run, how long it took, and how much there was to do.
fn overview(text: &mut String, run: &Run, machine: &dyn Inspect, about_machine: &str) {
    let report = &run.report;
    let values = Values::new(&run.statistics);
    let spent = time(machine.time_base().nanoseconds(machine.tick()));
    line(text, "machine", &format!("{} ({about_machine})", run.machine));
    if !run.set.is_empty() {
        let set: Vec<_> = run.set.iter().map(|(key, value)| format!("{key} = {value}")).collect();
        line(text, "set", &set.join(", "));
    }
    let worked = values.get("work_cycles") as u64;
    let rest = if worked < report.cycles {
        format!("; the work was done at cycle {}, what was under way then came later", grouped(worked))
    } else {
        String::new()
    };
    line(text, "time", &format!("{}, {spent}{rest}", counted(report.cycles, "cycle")));
    let work = format!("{}, {}", counted(report.accesses, "access"), counted(report.events, "event"));
    line(text, "work", &work);
    if values.is_some("launches.cycles") {
        line(text, "launches", &launches(&values));
    }
}

/// What launches cost.
fn launches(values: &Values<'_>) -> String {
    let (count, cycles) = (values.count("launches.count"), values.count("launches.cycles"));
    let before = format!("{count}, of {cycles} cycles in all before their first blocks");
    if !values.is_some("launches.flush_cycles") {
        return before;
    }
    let (cycles, bytes) = (values.count("launches.flush_cycles"), values.bytes("launches.flush_bytes"));
    format!("{before}; before them {bytes} written back, in {cycles} cycles")
}

/// That an injected fault has changed nothing.
#[must_use]
pub fn idle(fault: Fault) -> String {
    format!("the fault {fault} has struck nothing in this run")
}

fn line(text: &mut String, word: &str, rest: &str) {
    let _ = writeln!(text, "{word:<10}{rest}");
}

fn took(run: &Run) -> String {
    let mut took = format!("{:.3} s", run.wall_seconds);
    if let Some(speed) = run.events_per_second() {
        let _ = write!(took, ", {} events a second", grouped(speed as u64));
    }
    // What is read or built in no time is not worth a word.
    if run.prepare_seconds >= 0.1 {
        let _ = write!(took, ", {:.1} s before that to read and build", run.prepare_seconds);
    }
    if let Some(memory) = run.peak_memory_bytes {
        let _ = write!(took, ", {} of memory at most", bytes(memory as f64));
    }
    took
}

/// How it ended and what failed.
fn verdict(text: &mut String, run: &Run, file: &str) {
    let report = &run.report;
    if let Some(stopped) = &run.stopped_at {
        let _ = writeln!(text, "stopped at event {}, cycle {}:", report.events, report.cycles);
        let _ = writeln!(text, "{}", stopped.text.trim());
    } else if run.ended() == "interrupted" {
        let _ = writeln!(text, "interrupted at event {}, cycle {}", report.events, report.cycles);
    } else if report.passed && report.expectations > 0 {
        let _ = writeln!(text, "passed: {} held", expectations(report.expectations));
    } else if report.passed {
        let _ = writeln!(text, "{}", run.ended());
    }
    // What was to come after the last cycle has not failed by itself.
    let is_cut = |failure: &Failure| {
        run.ended() == "limit" && failure.line.is_some() && failure.event == report.events
    };
    for failure in report.failures.iter().take(FAILURES) {
        let word = if is_cut(failure) { "not reached" } else { "FAILED" };
        let line = failure.line.map_or_else(String::new, |line| format!("{file}:{line}: "));
        // As `goto` takes it.
        let place = format!("at event {}, cycle {}", failure.event, failure.cycle);
        let _ = writeln!(text, "{word}: {line}{} ({place})", failure.message);
    }
    if let Some(more) = report.failures.len().checked_sub(FAILURES).filter(|more| *more > 0) {
        let _ = writeln!(text, "and {more} more failures");
    }
    // A fault is injected to see something fail.
    let changes = run.set_by_hand.iter().filter(|(key, _)| !key.starts_with("fault"));
    let changes: Vec<String> = changes.map(|(key, value)| format!("{key} = {value}")).collect();
    if report.failures.iter().any(|failure| failure.line.is_some()) && !changes.is_empty() {
        let changes = changes.join(", ");
        let _ = writeln!(text, "note: the scenario expects this of itself as it is, not with {changes}");
    }
    if let Some(blame) = &run.blame {
        let _ = writeln!(text, "{}", blame.join("\n"));
    }
    if let Some(diagnosis) = &run.diagnosis {
        let _ = writeln!(text, "\n{}", diagnosis.lines().join("\n"));
    }
}

fn expectations(count: usize) -> String {
    if count == 1 { "1 expectation".to_owned() } else { format!("all {count} expectations") }
}
