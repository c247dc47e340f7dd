//! A run in a screenful.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::Run;
use super::json::digest;
use super::number::{bytes, grouped, percent, time};
use crate::model::component::{Component, ComponentKind};
use crate::model::inspect::Inspect;
use crate::model::message::MessageKind;

/// Links that are shown; the busiest.
const LINKS: usize = 8;

/// Failures that are shown.
const FAILURES: usize = 20;

/// What is told beside the run itself.
#[derive(Clone, Copy, Debug)]
pub struct Heading<'a> {
    pub title: &'a str,
    pub source: Option<&'a str>,
    /// The scenario file, for the places of failures.
    pub file: &'a str,
    /// What the machine calls itself, unless that is its name here, and its protocol.
    pub about_machine: &'a str,
}

/// The summary, a few lines with a word in front of each.
#[must_use]
pub fn text(run: &Run, machine: &dyn Inspect, heading: Heading<'_>) -> String {
    let mut text = String::new();
    let _ = writeln!(text, "{}", heading.title);
    if let Some(source) = heading.source {
        let _ = writeln!(text, "{source}");
    }
    text.push('\n');
    let report = &run.report;
    let statistics: BTreeMap<&str, f64> =
        run.statistics.iter().map(|(key, value)| (key.as_str(), *value)).collect();
    let spent = time(machine.time_base().nanoseconds(machine.tick()));
    line(&mut text, "machine", &format!("{} ({})", run.machine, heading.about_machine));
    line(&mut text, "time", &format!("{} cycles, {spent}", grouped(report.cycles)));
    let work = format!("{} accesses, {} events", grouped(report.accesses), grouped(report.events));
    line(&mut text, "work", &work);
    lines(&mut text, "hit rates", &hit_rates(machine, &statistics));
    lines(&mut text, "links", &links(machine, &statistics));
    lines(&mut text, "messages", &messages(&statistics));
    line(&mut text, "digest", &digest(report.digest));
    line(&mut text, "took", &took(run));
    text.push('\n');
    verdict(&mut text, run, heading.file);
    text
}

fn line(text: &mut String, word: &str, rest: &str) {
    let _ = writeln!(text, "{word:<10}{rest}");
}

/// Several lines under one word.
fn lines(text: &mut String, word: &str, rest: &[String]) {
    for (index, rest) in rest.iter().enumerate() {
        line(text, if index == 0 { word } else { "" }, rest);
    }
}

/// The level of the hierarchy that a node belongs to.
fn level(component: &Component) -> Option<&'static str> {
    let gpu = component.path.starts_with("gpu");
    match component.kind {
        ComponentKind::L1 if gpu => Some("GPU L1"),
        ComponentKind::L2 => Some("GPU L2"),
        ComponentKind::Smd => Some("SMD"),
        ComponentKind::L1 => Some("CPU L1"),
        ComponentKind::Llc => Some("LLC"),
        // Memory is behind it: nothing misses there.
        ComponentKind::Hmd | ComponentKind::Cu | ComponentKind::Core | ComponentKind::Link => None,
    }
}

fn hit_rates(machine: &dyn Inspect, statistics: &BTreeMap<&str, f64>) -> Vec<String> {
    let mut sums: Vec<(&str, f64, f64)> = Vec::new();
    for (_, component) in machine.components().iter() {
        let Some(level) = level(component) else { continue };
        let value = |name: &str| statistics.get(format!("{}.{name}", component.path).as_str()).copied();
        let (hits, misses) = (value("hits").unwrap_or(0.0), value("misses").unwrap_or(0.0));
        match sums.iter_mut().find(|(name, _, _)| *name == level) {
            Some(sum) => (sum.1, sum.2) = (sum.1 + hits, sum.2 + misses),
            None => sums.push((level, hits, misses)),
        }
    }
    let used = sums.into_iter().filter(|(_, hits, misses)| hits + misses > 0.0);
    used.map(|(name, hits, misses)| {
        let all = hits + misses;
        format!("{name:<8}{:>8}  {} of {}", percent(hits / all), grouped(hits as u64), grouped(all as u64))
    })
    .collect()
}

fn links(machine: &dyn Inspect, statistics: &BTreeMap<&str, f64>) -> Vec<String> {
    let value = |path: &str, name: &str| statistics.get(format!("{path}.{name}").as_str()).copied();
    let mut used: Vec<_> = machine
        .components()
        .iter()
        .filter(|(_, component)| component.kind == ComponentKind::Link)
        .map(|(_, link)| {
            let path = link.path.as_str();
            let share = value(path, "utilisation").unwrap_or(0.0);
            (path, share, value(path, "bytes").unwrap_or(0.0))
        })
        .filter(|(_, _, carried)| *carried > 0.0)
        .collect();
    used.sort_by(|one, other| other.1.total_cmp(&one.1));
    let more = used.len().saturating_sub(LINKS);
    let width = used.iter().map(|(path, _, _)| path.len()).max().unwrap_or(0);
    let mut shown: Vec<_> = used
        .iter()
        .take(LINKS)
        .map(|(path, share, carried)| {
            format!("{path:<width$} {:>8} busy  {}", percent(*share), bytes(*carried))
        })
        .collect();
    if more > 0 {
        shown.push(format!("and {more} more"));
    }
    shown
}

fn messages(statistics: &BTreeMap<&str, f64>) -> Vec<String> {
    let counts = MessageKind::ALL.into_iter().filter_map(|kind| {
        let count = statistics.get(format!("messages.{}.count", kind.name().replace('-', "_")).as_str())?;
        (*count > 0.0).then(|| format!("{} {}", grouped(*count as u64), kind.name()))
    });
    let counts: Vec<_> = counts.collect();
    counts.chunks(6).map(|chunk| chunk.join(", ")).collect()
}

fn took(run: &Run) -> String {
    let mut took = format!("{:.3} s", run.wall_seconds);
    if let Some(speed) = run.events_per_second() {
        let _ = write!(took, ", {} events a second", grouped(speed as u64));
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
        let _ = writeln!(text, "stopped at event {}, cycle {}:", report.events, grouped(report.cycles));
        let _ = writeln!(text, "{}", stopped.text.trim());
    } else if run.ended() == "interrupted" {
        let _ = writeln!(text, "interrupted at event {}, cycle {}", report.events, grouped(report.cycles));
    } else if report.passed && report.expectations > 0 {
        let _ = writeln!(text, "passed: {} held", expectations(report.expectations));
    } else if report.passed {
        let _ = writeln!(text, "{}", run.ended());
    }
    for failure in report.failures.iter().take(FAILURES) {
        let line = failure.line.map_or_else(String::new, |line| format!("{file}:{line}: "));
        let place = format!("at event {}, cycle {}", failure.event, grouped(failure.cycle));
        let _ = writeln!(text, "FAILED: {line}{} ({place})", failure.message);
    }
    if let Some(more) = report.failures.len().checked_sub(FAILURES).filter(|more| *more > 0) {
        let _ = writeln!(text, "and {more} more failures");
    }
}

fn expectations(count: usize) -> String {
    if count == 1 { "1 expectation".to_owned() } else { format!("all {count} expectations") }
}
