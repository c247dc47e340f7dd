//! The runs behind figures: each once, on all processors, kept in a file from which they can go on.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::{Map, Value, json};

use crate::cli::exit::{Trouble, say};
use crate::cli::interrupt::Interrupt;
use crate::cli::journal::{self, Header, Journal};
use crate::cli::pool;
use crate::cli::shard::Shard;
use crate::diagnostic::{Diagnostic, Result};
use crate::report::figures::effort::Effort;
use crate::report::figures::experiment::{Experiment, Outcome, Results, Stop};
use crate::report::figures::figure::Figure;

/// What is to be run, and where results are.
#[derive(Debug)]
pub struct Runs<'a> {
    pub effort: Effort,
    /// Where results are kept.
    pub to: Option<&'a Path>,
    /// Only this part of them.
    pub shard: Option<Shard>,
    /// Files with results of other machines.
    pub merge: &'a [PathBuf],
    pub jobs: Option<usize>,
}

/// What the runs gave, and how many are not done.
#[derive(Debug, Default)]
pub struct Found {
    pub results: Results,
    pub missing: usize,
}

/// A run with its key.
struct Point {
    key: String,
    experiment: Experiment,
    /// Others that are built from the same, written otherwise.
    same: Vec<Experiment>,
}

/// Which of the points are done; a file may have results of others, too.
fn done(journal: &Journal, points: &[Point]) -> BTreeSet<usize> {
    journal.done().into_iter().filter(|number| *number < points.len()).collect()
}

impl Runs<'_> {
    /// What all runs gave that `figures` need; after an interrupt, or of a shard, some are missing.
    ///
    /// # Errors
    /// If results cannot be kept, or are those of something else.
    pub fn carry_out(
        &self,
        figures: &[&'static Figure],
        interrupt: &Interrupt,
    ) -> std::result::Result<Found, Trouble> {
        let others: Vec<Journal> =
            self.merge.iter().map(|path| Journal::read(path)).collect::<std::result::Result<_, _>>()?;
        let needed: BTreeSet<Experiment> =
            figures.iter().flat_map(|figure| (figure.experiments)(self.effort)).collect();
        let Some(points) = self.points(needed, interrupt)? else { return Ok(Found::default()) };
        let header = Header::of(
            journal::FIGURES,
            points.iter().map(|point| (point.key.clone(), name(&point.experiment))),
        );
        let mut journal = Journal::resume_among_others(self.to, header)?;
        take_others(others, &points, &mut journal)?;
        let before = done(&journal, &points);
        let mine = |number: &usize| self.shard.is_none_or(|shard| shard.has(*number));
        let mut left: Vec<usize> = if self.takes_only() {
            Vec::new()
        } else {
            (0..points.len()).filter(|number| !before.contains(number)).filter(mine).collect()
        };
        // Keys have no order: the runs of one workload, which take as long as each other, do not come all together, so that what those
        // that are done took tells how long the others will take.
        left.sort_by_key(|number| points.get(*number).map(|point| &point.key));
        if !before.is_empty() {
            say(format_args!("{} of {} runs were done already", before.len(), points.len()));
        }
        let mut journal = self.run(&points, &left, journal, interrupt)?;
        if !interrupt.is_raised() {
            journal.finish()?;
        }
        let ended = done(&journal, &points).len();
        if ended < points.len() {
            let hint =
                if self.takes_only() { "; with --to FILE the others are run, and kept there" } else { "" };
            say(format_args!("{ended} of {} runs are done{hint}", points.len()));
        }
        Ok(Found { results: collect(&points, &mut journal)?, missing: points.len() - ended })
    }

    /// Results are put together, and nothing is run: what that gave would be kept nowhere.
    pub fn takes_only(&self) -> bool {
        self.to.is_none() && !self.merge.is_empty()
    }

    /// Each run once; nothing after an interrupt. What a run is known by takes reading its scenario, which may be large.
    fn points(&self, needed: BTreeSet<Experiment>, interrupt: &Interrupt) -> Result<Option<Vec<Point>>> {
        let needed: Vec<Experiment> = needed.into_iter().collect();
        let told = |done| format!("reading {done} of {} runs", needed.len());
        let keys = pool::gather(needed.len(), self.jobs, interrupt, told, |number| {
            ControlFlow::Continue(needed.get(number).map(Experiment::key))
        });
        if interrupt.is_raised() {
            return Ok(None);
        }
        Ok(Some(merged(needed, keys.into_iter().collect::<Result<_>>()?)))
    }

    fn run(
        &self,
        points: &[Point],
        left: &[usize],
        journal: Journal,
        interrupt: &Interrupt,
    ) -> std::result::Result<Journal, Trouble> {
        let told = |done| format!("{done} of {} runs", left.len());
        journal::fill(journal, left, (self.jobs, interrupt), told, |number| {
            let Some(point) = points.get(number) else { return Ok(None) };
            let raised = interrupt.clone();
            let stop: Stop = Arc::new(move || raised.is_raised());
            Ok(point.experiment.run(&stop).transpose().map(|outcome| row(point, &outcome)))
        })
    }
}

/// Results that other machines have come to.
fn take_others(
    others: Vec<Journal>,
    points: &[Point],
    journal: &mut Journal,
) -> std::result::Result<(), Trouble> {
    let numbers: BTreeMap<&str, usize> =
        points.iter().enumerate().map(|(number, point)| (point.key.as_str(), number)).collect();
    for mut other in others {
        if other.header.title() != journal.header.title() {
            let message = format!("{} has results of a sweep", other.name);
            return Err(Diagnostic::new(message)
                .expected("files that umscope figures --to has written")
                .into());
        }
        let theirs = other.done();
        let is_needed = |number: &&usize| {
            other.header.keys.get(**number).is_some_and(|key| numbers.contains_key(key.as_str()))
        };
        let left_out = theirs.len() - theirs.iter().filter(is_needed).count();
        if left_out > 0 {
            say(format_args!(
                "{}: {left_out} of {} results are of no run that is needed now: other figures, with or without \
                 --quick, or another version",
                other.name,
                theirs.len()
            ));
        }
        for theirs in theirs {
            let ours = other.header.keys.get(theirs).and_then(|key| numbers.get(key.as_str()));
            let Some(&ours) = ours.filter(|ours| !journal.done().contains(ours)) else { continue };
            let line = other.line(theirs)?.unwrap_or_default();
            let row: Value = serde_json::from_str(&line).unwrap_or(Value::Null);
            journal.add(ours, &row)?;
        }
    }
    Ok(())
}

/// Runs of the same key are one.
fn merged(needed: Vec<Experiment>, keys: Vec<String>) -> Vec<Point> {
    let mut points: Vec<Point> = Vec::new();
    let mut known: BTreeMap<String, usize> = BTreeMap::new();
    for (experiment, key) in needed.into_iter().zip(keys) {
        if let Some(point) = known.get(&key).and_then(|at| points.get_mut(*at)) {
            point.same.push(experiment);
        } else {
            known.insert(key.clone(), points.len());
            points.push(Point { key, experiment, same: Vec::new() });
        }
    }
    points
}

/// What a run is called.
fn name(experiment: &Experiment) -> Map<String, Value> {
    let value = |key: &str| {
        let line = experiment.scenario.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(" = "));
        line.unwrap_or("").trim_matches('"').to_owned()
    };
    let set = experiment.set.iter().filter_map(|change| change.split_once('='));
    let set: Map<String, Value> = set.map(|(key, value)| (key.to_owned(), json!(value))).collect();
    let mut name = Map::new();
    name.insert("scenario".to_owned(), json!(format!("{} on {}", value("title"), value("machine"))));
    name.insert("set".to_owned(), Value::Object(set));
    name.insert("scale".to_owned(), json!(experiment.scale));
    if experiment.watched {
        name.insert("watched".to_owned(), json!(true));
    }
    name
}

/// A line of the file of results.
fn row(point: &Point, outcome: &Result<Outcome>) -> Value {
    match outcome {
        Ok(outcome) => json!({ "key": point.key, "outcome": outcome }),
        Err(error) => json!({ "key": point.key, "error": error.to_string() }),
    }
}

/// What all lines say.
fn collect(points: &[Point], journal: &mut Journal) -> std::result::Result<Results, Trouble> {
    let mut results = Results::default();
    for (number, point) in points.iter().enumerate() {
        let Some(line) = journal.line(number)? else { continue };
        let mut row: Value = serde_json::from_str(&line).unwrap_or(Value::Null);
        let outcome = match row.get("error").and_then(Value::as_str) {
            Some(error) => Err(Box::new(Diagnostic::new(error))),
            None => serde_json::from_value(row["outcome"].take())
                .map_err(|error| Box::new(Diagnostic::new(format!("its result cannot be read: {error}")))),
        };
        for experiment in point.same.iter().chain([&point.experiment]) {
            results.0.insert(experiment.clone(), outcome.clone());
        }
    }
    Ok(results)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_built_from_the_same_is_run_once() {
        let run = |set: [&str; 2]| Experiment {
            scenario: "machine = \"tiny/umh-1gpu\"\n".to_owned(),
            set: set.map(str::to_owned).into(),
            scale: 1,
            ..Experiment::default()
        };
        let (one, other) = (["gpu.count=2", "gpu.clock=1 GHz"], ["gpu.clock=1 GHz", "gpu.count=2"]);
        let needed = BTreeSet::from([run(one), run(other), run(["gpu.count=1", "gpu.clock=1 GHz"])]);
        let runs = Runs { effort: Effort::Quick, to: None, shard: None, merge: &[], jobs: Some(2) };
        let found = runs.points(needed.clone(), &Interrupt::default()).unwrap().unwrap();
        assert_eq!(found.len(), 2);
        assert_eq!(found.iter().map(|point| point.same.len()).sum::<usize>(), 1);
        let interrupt = Interrupt::default();
        interrupt.flag().store(true, std::sync::atomic::Ordering::Relaxed);
        assert!(runs.points(needed, &interrupt).unwrap().is_none(), "ctrl-c is heeded before the first run");
    }

    #[test]
    fn what_is_kept_of_a_run_is_what_it_gave() {
        let scenario = "title = \"a\"\nmachine = \"tiny/memcpy-1gpu\"\n[[kernel]]\nid = \"run-1\"\nname = \"vector-add\"\n";
        let experiment = Experiment {
            scenario: scenario.to_owned(),
            set: vec!["gpu.clock=1 GHz".to_owned()],
            scale: 1 << 12,
            ..Experiment::default()
        };
        let outcome = experiment.run(&(Arc::new(|| false) as Stop)).unwrap().unwrap();
        let point = Point { key: experiment.key().unwrap(), experiment, same: Vec::new() };
        assert_eq!(name(&point.experiment)["scenario"], "a on tiny/memcpy-1gpu");
        assert_eq!(name(&point.experiment)["set"]["gpu.clock"], "1 GHz");
        let mut row = row(&point, &Ok(outcome.clone()));
        let text = row.to_string();
        let back: Outcome = serde_json::from_value(row["outcome"].take()).unwrap();
        assert_eq!(back, outcome, "{text}");
        assert!(outcome.copying[0] > 0.0);
    }
}
