//! The points of a sweep: every combination of its settings.

use std::fmt;
use std::hash::Hasher;
use std::ops::{ControlFlow, Range};
use std::path::{Path, PathBuf};

use rustc_hash::{FxHashMap, FxHasher};
use serde_json::{Map, Value, json};

use super::table::no_statistic;
use crate::cli::arguments::{Changes, Switch, Target};
use crate::cli::interrupt::Interrupt;
use crate::cli::journal::{Header, name_of};
use crate::cli::pool;
use crate::cli::work::Work;
use crate::config::document::At;
use crate::config::settings::{SetValue, Setting};
use crate::config::sweep_file::SweepFile;
use crate::config::{self, Document, Kind};
use crate::diagnostic::{Diagnostic, Result, Source};
use crate::model::inspect::Inspect;
use crate::model::text::digits;
use crate::query::glob;
use crate::scenario::{Prepared, max_cycles};

/// Points that a sweep may have.
const MOST_POINTS: usize = 100_000;

/// What a sweep runs, read and checked.
#[derive(Debug)]
pub struct Plan {
    /// Its title, or the name of its file.
    pub title: String,
    works: Vec<Work>,
    /// The machine of each, where a sweep names several.
    machines: Vec<Option<String>>,
    settings: Vec<Setting>,
    seeds: Vec<Option<u64>>,
    source: Source,
    pub points: Vec<Point>,
    /// Points of which something is left out, under a protocol without its states, and the first of it. Of those that say the same, one.
    pub left_out: Vec<(Name, Box<Diagnostic>)>,
}

/// A run of a sweep.
#[derive(Clone, Debug)]
pub struct Point {
    /// Which of the works.
    work: usize,
    /// Which value of each setting.
    values: Vec<usize>,
    seed: Option<u64>,
    /// Tells its results from those of any other run: a digest of what the machine is built from.
    pub key: String,
    /// How people and results tell it from the others.
    pub name: Name,
}

/// What is known of a point that can be run.
#[derive(Debug, Default)]
struct Checked {
    /// Tells its results from those of others.
    key: String,
    left_out: Option<Box<Diagnostic>>,
    /// Of each pattern of columns, whether it fits a statistic of its machine.
    has: Vec<bool>,
}

/// What a point is called: its scenario, settings and seed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Name {
    pub scenario: String,
    /// Where there are several.
    pub machine: Option<String>,
    pub set: Vec<(String, SetValue)>,
    pub seed: Option<u64>,
}

impl Name {
    pub fn json(&self) -> Map<String, Value> {
        let set = self.set.iter().map(|(key, value)| (key.clone(), value.json.clone()));
        let mut map = Map::new();
        map.insert("scenario".into(), json!(self.scenario));
        if let Some(machine) = &self.machine {
            map.insert("machine".into(), json!(machine));
        }
        map.insert("set".into(), Value::Object(set.collect()));
        map.insert("seed".into(), json!(self.seed));
        map
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&name_of(&self.json()))
    }
}

impl Plan {
    /// Reads the sweep that `name` is a path to or the bundled name of, builds the machine of every point, and tells
    /// what is wrong with any.
    ///
    /// # Errors
    /// If the file cannot be read, or a point cannot be run.
    pub fn load(name: &str, columns: &[String], jobs: Option<usize>, interrupt: &Interrupt) -> Result<Self> {
        let mut plan = Self::read(name, interrupt)?;
        let known = plan.check(columns, jobs, interrupt)?;
        if let Some((wrong, _)) = columns.iter().zip(known).find(|(_, is_known)| !is_known)
            && !interrupt.is_raised()
        {
            return Err(plan.complain_of_column(wrong));
        }
        Ok(plan)
    }

    /// That a pattern fits no statistic of any point.
    fn complain_of_column(&self, pattern: &str) -> Box<Diagnostic> {
        let none = no_statistic(pattern);
        let first = self.points.first().and_then(|point| self.work(point).ok().flatten());
        let names = first.and_then(|work| work.prepare().ok()).map(|prepared| prepared.machine.statistics());
        let names: Vec<String> = names.into_iter().flatten().map(|(name, _)| name).collect();
        let expected = "a name that `umscope run --stats` shows, with * for any part of it";
        none.expected(expected).nearest(pattern, names.iter().map(String::as_str)).into()
    }

    fn read(name: &str, interrupt: &Interrupt) -> Result<Self> {
        let found = config::find(Kind::Sweep, name, None)?;
        let document = Document::new(found.source);
        let file: SweepFile = document.read_file()?;
        let settings = file.settings(&document)?;
        let (mut works, machines) = works(&file, &document, found.folder.as_deref(), interrupt)?;
        // A trace that runs on several machines.
        if let Some((first, others)) = works.split_first_mut() {
            for work in others {
                work.share_trace(first);
            }
        }
        let seeds = seeds(&file, &document)?;
        let stem = Path::new(name).file_stem().map_or(name.into(), |stem| stem.to_string_lossy());
        let title = file.title.clone().unwrap_or_else(|| stem.into_owned());
        let source = document.source().clone();
        let mut plan = Self {
            title,
            works,
            machines,
            settings,
            seeds,
            source,
            points: Vec::new(),
            left_out: Vec::new(),
        };
        plan.points = plan.combinations()?;
        Ok(plan)
    }

    /// All combinations: the scenario changes slowest, then the settings in the order of the file, the seed fastest.
    fn combinations(&self) -> Result<Vec<Point>> {
        let lengths = self.settings.iter().map(|setting| setting.values.len());
        let lengths: Vec<usize> =
            [self.works.len()].into_iter().chain(lengths).chain([self.seeds.len()]).collect();
        let count = lengths.iter().try_fold(1_usize, |count, length| count.checked_mul(*length));
        let Some(count) = count.filter(|count| *count <= MOST_POINTS) else {
            let lengths: Vec<_> = lengths.iter().map(usize::to_string).collect();
            let message = format!("this sweep has too many points: {}", lengths.join(" x "));
            let many = Diagnostic::new(message).of(&self.source);
            return Err(many.expected(format!("at most {MOST_POINTS}")).into());
        };
        Ok((0..count).map(|number| self.point(number, &lengths)).collect())
    }

    fn point(&self, number: usize, lengths: &[usize]) -> Point {
        let mut rest = number;
        let mut digits: Vec<usize> = lengths
            .iter()
            .rev()
            .map(|length| {
                let digit = rest % length;
                rest /= length;
                digit
            })
            .collect();
        digits.reverse();
        let work = digits.first().copied().unwrap_or(0);
        let seed = digits.last().and_then(|seed| self.seeds.get(*seed).copied()).flatten();
        let values: Vec<usize> = digits.iter().skip(1).take(self.settings.len()).copied().collect();
        let chosen = self.settings.iter().zip(&values);
        let set = chosen.filter_map(|(setting, value)| {
            let value = setting.values.get(*value)?;
            Some((setting.key(), value.clone()))
        });
        let scenario = self.works.get(work).map_or_else(String::new, |work| work.name.clone());
        let machine = self.machines.get(work).cloned().flatten();
        let name = Name { scenario, machine, set: set.collect(), seed };
        Point { work, values, seed, key: String::new(), name }
    }

    /// What a point runs; none of a point of another sweep.
    ///
    /// # Errors
    /// If its scenario does not take what is set of it.
    pub fn work(&self, point: &Point) -> Result<Option<Work>> {
        let Some(mut work) = self.works.get(point.work).cloned() else { return Ok(None) };
        work.options.seed = point.seed.or(work.options.seed);
        let (scenario, machine) = self.split(point, point.seed)?;
        work.scenario = work.scenario.with(&scenario).map_err(|mut error| {
            if self.works.len() > 1 {
                error.message = format!("{}, in {}", error.message, work.name);
            }
            error
        })?;
        // What is set of a trace needs one.
        work.scenario.trace()?;
        work.options.set = machine;
        Ok(Some(work))
    }

    /// What a point sets of the scenario file, with this seed, and what of the machine file.
    fn split(&self, point: &Point, seed: Option<u64>) -> Result<(Vec<String>, Vec<String>)> {
        let set = self.overrides(point).into_iter().map(|(text, ..)| text).collect();
        Changes { set, seed, ..Changes::default() }.split()
    }

    /// What a point sets: as `--set` takes it, with the places of key and value.
    fn overrides(&self, point: &Point) -> Vec<(String, &Setting, &SetValue)> {
        let chosen = self.settings.iter().zip(&point.values);
        let text = |setting: &Setting, value: &SetValue| format!("{}={}", setting.key(), value.text);
        chosen
            .filter_map(|(setting, value)| {
                let value = setting.values.get(*value)?;
                Some((text(setting, value), setting, value))
            })
            .collect()
    }

    /// What its file of results begins with.
    pub fn header(&self) -> Header {
        Header::of(&self.title, self.points.iter().map(|point| (point.key.clone(), point.name.json())))
    }

    /// Builds every point's machine, and gives every point its key. Returns which patterns fit a statistic of any.
    fn check(&mut self, columns: &[String], jobs: Option<usize>, interrupt: &Interrupt) -> Result<Vec<bool>> {
        let (seeds, all) = (self.seeds.len(), self.points.len());
        let told = |done| format!("{}: {} of {all} points checked", self.title, done * seeds);
        let found = pool::gather(all / seeds.max(1), jobs, interrupt, told, |group| {
            // What is random does not decide what can be built.
            let Some(point) = self.points.get(group * seeds) else { return ControlFlow::Continue(None) };
            match self.checked(point, columns) {
                Ok(checked) => ControlFlow::Continue(Some(Ok((group, checked)))),
                Err(error) => ControlFlow::Break(Err(self.pointed(point, error))),
            }
        });
        // A point that says the same as another one has results of its own.
        let mut same: FxHashMap<String, usize> = FxHashMap::default();
        let mut known = vec![false; columns.len()];
        for checked in found {
            let (group, Checked { key, left_out, has }) = checked?;
            known.iter_mut().zip(has).for_each(|(known, has)| *known |= has);
            let is_said = |why: &Diagnostic| self.left_out.iter().any(|(_, said)| **said == *why);
            if let Some(why) = left_out.filter(|why| !is_said(why))
                && let Some(point) = self.points.get(group * seeds)
            {
                self.left_out.push((Name { seed: None, ..point.name.clone() }, why));
            }
            let before = same.entry(key.clone()).or_default();
            for point in self.points.iter_mut().skip(group * seeds).take(seeds) {
                point.key = digest(&[key.clone(), format!("{:?}", (point.seed, *before))]);
            }
            *before += 1;
        }
        Ok(known)
    }

    /// Builds the machine of a point.
    fn checked(&self, point: &Point, columns: &[String]) -> Result<Checked> {
        let Some(work) = self.work(point)? else { return Ok(Checked::default()) };
        // In whatever order the file has them.
        let (mut set, _) = self.split(point, None)?;
        set.sort();
        let prepared = work.prepare()?;
        let names = if columns.is_empty() { Vec::new() } else { prepared.machine.statistics() };
        let fits = |pattern: &String| names.iter().any(|(name, _)| glob(pattern, name));
        // What tasks come to is known once they have begun.
        let has = columns.iter().map(|pattern| pattern.starts_with("tasks.") || fits(pattern)).collect();
        Ok(Checked { key: key(&work, &set, &prepared)?, left_out: prepared.left_out, has })
    }

    /// A complaint about a setting gets its place in the sweep file.
    fn pointed(&self, point: &Point, mut error: Box<Diagnostic>) -> Box<Diagnostic> {
        let overrides = self.overrides(point);
        let set = error.source.as_ref().filter(|source| ["--set", "--scale"].contains(&&*source.name));
        let wrong = set.and_then(|set| overrides.iter().find(|(text, ..)| **text == *set.text));
        let Some((_, setting, value)) = wrong else {
            error.message = format!("{} (in the point {})", error.message, point.name);
            return error;
        };
        if setting.key() == "seed" {
            error.suggestion = Some("seeds = [1, 2] stands at the head of a sweep".to_owned());
        }
        let start = error.span.as_ref().map_or(0, |span| span.start);
        let within = |whole: &Range<usize>, from: usize| {
            let length = error.span.as_ref().map_or(0, ExactSizeIterator::len);
            let start = (whole.start + from).min(whole.end);
            start..(start + length).min(whole.end)
        };
        // The key may be written in several ways, the value is as it stands.
        let value_at = setting.key().len() + 1;
        let span =
            if start < value_at { setting.span.clone() } else { within(&value.span, start - value_at) };
        (error.source, error.span) = (Some(self.source.clone()), Some(span));
        error
    }
}

/// A digest of what a point runs: the scenario and what is set of it, the machine and its protocols as they are read, and this
/// version of the program.
fn key(work: &Work, set: &[String], prepared: &Prepared) -> Result<String> {
    let blueprint = &prepared.blueprint;
    Ok(digest(&[
        env!("CARGO_PKG_VERSION").to_owned(),
        work.name.clone(),
        work.own_text(),
        set.join("\n"),
        format!("{:?}", blueprint.spec),
        format!("{:?}", blueprint.tables),
        format!("{:?}", (blueprint.max_cycles, blueprint.checks, work.trace_digest()?)),
    ]))
}

fn digest(parts: &[String]) -> String {
    let mut hasher = FxHasher::default();
    for part in parts {
        hasher.write_usize(part.len());
        hasher.write(part.as_bytes());
    }
    digits(hasher.finish())
}

/// The scenarios that a sweep names, or its trace, on each machine that it names.
fn works(
    file: &SweepFile,
    document: &Document,
    folder: Option<&Path>,
    interrupt: &Interrupt,
) -> Result<(Vec<Work>, Vec<Option<String>>)> {
    let scenarios = named("scenario", file.scenario.as_ref(), file.scenarios.as_ref(), document)?;
    let machines = named("machine", file.machine.as_ref(), file.machines.as_ref(), document)?;
    let changes = changes(file, document)?;
    let format = file.trace_format.as_ref();
    match (&file.trace, scenarios.first(), machines.first()) {
        (Some(trace), Some(_), _) => {
            let both = document.complain(Some(&trace.span), "there are a scenario and a trace");
            return Err(both.expected("one of them").into());
        }
        (Some(trace), None, None) => {
            let error = document.complain(Some(&trace.span), "there is no machine for this trace");
            return Err(error
                .expected("machine with a name that `umscope list machines` shows, or a path")
                .into());
        }
        (None, None, _) => {
            let nothing = document.complain(None, "this sweep runs nothing");
            return Err(nothing.expected("scenario, scenarios, or trace and machine").into());
        }
        (None, Some(_), _) if format.is_some() => {
            let span = format.map(|format| &format.span);
            let error = document.complain(span, "there is no trace for `trace-format`");
            return Err(error.expected("trace").into());
        }
        (None, Some(_), None) => {
            let load = |name: &&At<String>| {
                Work::load(&name.value, folder, &changes, interrupt)
                    .map_err(|error| at(name, document, error))
            };
            return scenarios.iter().map(|name| Ok((load(name)?, None))).collect();
        }
        (Some(_), None, Some(_)) | (None, Some(_), Some(_)) => {}
    }
    let mut works = Vec::new();
    for name in file.trace.iter().chain(scenarios) {
        let path = if file.trace.is_some() { trace(name, document, folder)? } else { name.value.clone() };
        for machine in &machines {
            let found = config::find(Kind::Machine, &machine.value, folder);
            let reference = found.map_err(|error| at(machine, document, error))?.reference;
            let target = Target {
                scenario: path.clone(),
                machine: Some(reference),
                trace_format: format.map(|format| format.value.clone()),
                changes: changes.clone(),
            };
            let mut work = Work::open(&target, interrupt).map_err(|error| at(name, document, error))?;
            // As the file has it, from wherever that is read.
            work.name.clone_from(&name.value);
            works.push((work, (machines.len() > 1).then(|| machine.value.clone())));
        }
    }
    Ok(works.into_iter().unzip())
}

/// What a sweep names of a kind, by the key for one or by that for several.
fn named<'a>(
    kind: &str,
    one: Option<&'a At<String>>,
    several: Option<&'a At<Vec<At<String>>>>,
    document: &Document,
) -> Result<Vec<&'a At<String>>> {
    let names: Vec<&At<String>> = match (one, several) {
        (Some(_), Some(several)) => {
            let both = document.complain(Some(&several.span), format!("there are {kind} and {kind}s"));
            return Err(both.expected("one of them").into());
        }
        (None, Some(several)) if several.value.is_empty() => {
            let none = document.complain(Some(&several.span), "this list is empty");
            return Err(none.expected(format!("at least one {kind}")).into());
        }
        (one, several) => one.into_iter().chain(several.into_iter().flat_map(|all| &all.value)).collect(),
    };
    let before = |index: usize, name: &str| names.iter().take(index).any(|before| before.value == name);
    match names.iter().enumerate().find(|(index, name)| before(*index, &name.value)) {
        Some((_, twice)) => {
            Err(document.complain(Some(&twice.span), format!("this {kind} is named twice")).into())
        }
        None => Ok(names),
    }
}

/// The path of a trace.
fn trace(trace: &At<String>, document: &Document, folder: Option<&Path>) -> Result<String> {
    let beside = folder.map(|folder| folder.join(&trace.value)).filter(|path| path.exists());
    let path = beside.unwrap_or_else(|| PathBuf::from(&trace.value));
    if !path.exists() {
        let error = document.complain(Some(&trace.span), "there is no such file or folder");
        return Err(error.expected("the path of a trace").into());
    }
    Ok(path.display().to_string())
}

/// An error about a name that has no place of its own gets the place of the name.
fn at(name: &At<String>, document: &Document, mut error: Box<Diagnostic>) -> Box<Diagnostic> {
    if error.source.is_none() {
        error.source = Some(document.source().clone());
        error.span = Some(name.span.clone());
    }
    error
}

fn changes(file: &SweepFile, document: &Document) -> Result<Changes> {
    Ok(Changes {
        max_cycles: file.max_cycles.as_ref().map(|given| max_cycles(given, document)).transpose()?,
        checks: file.checks.map(|on| if on { Switch::On } else { Switch::Off }),
        ..Changes::default()
    })
}

fn seeds(file: &SweepFile, document: &Document) -> Result<Vec<Option<u64>>> {
    let Some(seeds) = &file.seeds else { return Ok(vec![None]) };
    let wrong = |message: &str, expected: &str| {
        Err(document.complain(Some(&seeds.span), message).expected(expected).into())
    };
    if seeds.value.is_empty() {
        return wrong("there are no seeds", "at least one");
    }
    let mut sorted = seeds.value.clone();
    sorted.sort_unstable();
    if sorted.windows(2).any(|pair| pair[0] == pair[1]) {
        return wrong("a seed is given twice", "different numbers");
    }
    Ok(seeds.value.iter().copied().map(Some).collect())
}
