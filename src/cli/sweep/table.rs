//! The results of a sweep as a table, for people and for programs.

use serde_json::{Value, json};

use crate::cli::exit::{Trouble, say};
use crate::cli::journal::Journal;
use crate::cli::output::Output;
use crate::diagnostic::Diagnostic;
use crate::query::glob;
use crate::report::csv;

/// Columns that every point has.
const COLUMNS: [&str; 9] =
    ["scenario", "machine", "seed", "passed", "ended", "cycles", "events", "accesses", "digest"];

/// A point's result.
fn row(journal: &mut Journal, point: usize) -> Result<Value, Trouble> {
    let line = journal.line(point)?.unwrap_or_default();
    Ok(serde_json::from_str(&line).unwrap_or(Value::Null))
}

/// A value in one word; empty for what is unknown.
fn word(value: Option<&Value>) -> String {
    match value {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(text)) => text.clone(),
        Some(value) => value.to_string(),
    }
}

/// The names of an object's values, added to those that are known.
fn names(object: Option<&Value>, known: &mut Vec<String>) {
    for name in object.and_then(Value::as_object).into_iter().flat_map(|object| object.keys()) {
        if let Err(place) = known.binary_search(name) {
            known.insert(place, name.clone());
        }
    }
}

/// That a pattern of `--columns` fits no statistic.
pub fn no_statistic(pattern: &str) -> Diagnostic {
    Diagnostic::new(format!("--columns {pattern} is no statistic of these points"))
}

/// Of the statistics that any point has those that are chosen, and the settings.
fn chosen(journal: &mut Journal, columns: &[String]) -> Result<(Vec<String>, Vec<String>), Trouble> {
    let (mut settings, mut statistics) = (Vec::new(), Vec::new());
    for point in journal.done() {
        let row = row(journal, point)?;
        names(row.get("set"), &mut settings);
        names(row.get("stats"), &mut statistics);
    }
    for idle in columns.iter().filter(|pattern| !statistics.iter().any(|name| glob(pattern, name))) {
        say(no_statistic(idle).nearest(idle, statistics.iter().map(String::as_str)));
    }
    statistics.retain(|name| columns.iter().any(|pattern| glob(pattern, name)));
    Ok((settings, statistics))
}

/// A statistic as people read it.
fn figure(value: Option<&Value>) -> String {
    match value.and_then(Value::as_f64) {
        Some(number) if number.fract() != 0.0 => format!("{number:.4}"),
        _ => word(value),
    }
}

/// A row for each point: its scenario, settings and results, and the statistics that are chosen, or every one that any point has.
pub fn csv(journal: &mut Journal, columns: &[String], output: &mut Output) -> Result<(), Trouble> {
    let all = ["*".to_owned()];
    let (settings, statistics) = chosen(journal, if columns.is_empty() { &all } else { columns })?;
    let point = ["point".to_owned()].into_iter();
    let header = point.chain(COLUMNS.iter().map(|&name| name.to_owned()));
    let header = header.chain(settings.iter().map(|name| format!("set.{name}")));
    output.line(&csv::row(header.chain(statistics.iter().map(|name| format!("stats.{name}")))))?;
    for point in journal.done() {
        let row = row(journal, point)?;
        let shared = COLUMNS.iter().map(|&name| word(row.get(name)));
        let inner = |object: &str, name: &String| word(row.get(object).and_then(|inner| inner.get(name)));
        let settings = settings.iter().map(|name| inner("set", name));
        let statistics = statistics.iter().map(|name| inner("stats", name));
        output.line(&csv::row(
            [point.to_string()].into_iter().chain(shared).chain(settings).chain(statistics),
        ))?;
    }
    output.done()
}

/// One document.
pub fn json(journal: &mut Journal, output: &mut Output) -> Result<(), Trouble> {
    let missing: Vec<_> = journal.missing();
    output.line(&format!(
        "{{\"sweep\":{},\"count\":{},\"missing\":{},\"points\":[",
        json!(journal.header.title()),
        journal.header.keys.len(),
        json!(missing)
    ))?;
    let mut points = journal.done().into_iter().peekable();
    while let Some(point) = points.next() {
        let comma = if points.peek().is_some() { "," } else { "" };
        let mut row = row(journal, point)?;
        if let Value::Object(row) = &mut row {
            row.insert("point".into(), json!(point));
        }
        output.line(&format!("{row}{comma}"))?;
    }
    output.line("]}")?;
    output.done()
}

/// A line for each point, with the statistics that are chosen.
pub fn text(journal: &mut Journal, columns: &[String], output: &mut Output) -> Result<(), Trouble> {
    let (_, statistics) = chosen(journal, columns)?;
    let done = journal.done();
    let count = journal.header.keys.len();
    output.line(&format!("{}: {} of {count} points\n", journal.header.title(), done.len()))?;
    let width = done.iter().map(|point| journal.header.name(*point).chars().count()).max().unwrap_or(0);
    let more = statistics.iter().map(|name| format!(" {name:>12}")).collect::<Vec<_>>().concat();
    output
        .line(&format!("point  {:width$}  {:>12} {:>12} {:>12}{more}", "", "cycles", "events", "accesses"))?;
    for point in done {
        let (name, row) = (journal.header.name(point), row(journal, point)?);
        let [cycles, events, accesses, ended] =
            ["cycles", "events", "accesses", "ended"].map(|name| word(row.get(name)));
        let held = if row.get("passed") == Some(&Value::Bool(true)) {
            String::new()
        } else {
            let failed = row.get("failures").and_then(|all| all.get(0));
            let line = failed.and_then(|failed| failed.get("line")).and_then(Value::as_u64);
            let place = line.map(|line| format!("{}:{line}", word(row.get("scenario"))));
            format!("  FAILED: {}", place.unwrap_or(ended))
        };
        let told = |name: &String| {
            let value = figure(row.get("stats").and_then(|all| all.get(name)));
            format!(" {value:>width$}", width = name.len().max(12))
        };
        let more = statistics.iter().map(told).collect::<Vec<_>>().concat();
        output.line(&format!(
            "{point:>5}  {name:width$}  {cycles:>12} {events:>12} {accesses:>12}{more}{held}"
        ))?;
    }
    output.done()
}
