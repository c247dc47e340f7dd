//! `umscope mutants`: every part of a protocol changed, one at a time, to see that the checks notice.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use clap::Args;
use serde_json::{Value, json};

use super::arguments::{Format, jobs, positive};
use super::counterexample;
use super::exit::{Ended, Status, Trouble, say};
use super::interrupt::Interrupt;
use super::output::Output;
use super::pool;
use super::progress::Progress;
use crate::config::{self, Kind};
use crate::diagnostic::{self, Diagnostic, Source, cannot, in_toml, try_out};
use crate::explore::fairness::{self, Fairness};
use crate::explore::mutants::{self, Base, Mutant, Verdict};
use crate::explore::random;
use crate::explore::search::{Counts, Limits};
use crate::explore::stress;
use crate::explore::system::System;
use crate::explore::way::Violation;
use crate::machine::{Blueprint, Machine};
use crate::protocol::table::Table;
use crate::report::number::grouped;
use crate::scenario::{Alphabet, Options, Scenario};

/// The shapes on which mutants are explored, cheapest first, and the accesses there.
const SHAPES: [(&str, &str); 5] = [
    ("explore/two-l1", r#"["load 0x1000 2", "store 0x1000", "n-store 0x1000", "n-store 0x1001"]"#),
    ("explore/gpu-and-core", r#"["load 0x1000 2", "store 0x1000", "n-store 0x1001", "exclusive 0x1000"]"#),
    ("explore/two-gpu", r#"["load 0x1000", "store 0x1000", "n-store 0x1000"]"#),
    ("explore/two-gpu-peer", r#"["load 0x1000", "store 0x1000", "n-store 0x1000"]"#),
    (CROWD, r#"["load 0x1000", "store 0x1000"]"#),
];

/// The shape on which it is also seen whether anybody can wait for ever.
const CROWD: &str = "explore/three-l1";

/// Where random orders are tried of a mutant that is not caught on any shape: it is larger than what can be explored completely.
const LARGE: &str = "explore/large";

/// The machine of a random test, which looks at values under every protocol.
const TESTED: &str = "tiny/umh-2gpu";

/// Steps and accesses that are tried there, and their seed.
const STEPS: u64 = 500_000;
const ACCESSES: u64 = 50_000;
const SEED: u64 = 1;

/// Memory of one exploration.
const MEMORY: u64 = 3 << 30;

/// Change every part of a protocol, one at a time, and see that it is noticed
///
/// Each cell of the table, each rule of its directory and each merge is changed, and each rule of the engine switched off. What
/// that breaks is looked for by the checks of the table, and by exploring small machines (`umscope explore`) completely.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  umscope mutants msi
  umscope mutants mine.toml --only 'cache S' --record caught/

A mutant is caught if a rule breaks. It is equivalent if on every shape no node does anything else with any input that it \
ever gets, or if it was explored completely on every shape without breaking a rule, and nobody can wait for ever on \
explore/three-l1 (`umscope explore --fair`): then it is a protocol that is correct there and differs in cost. Besides that, \
half a million random steps on explore/large and a random test (`umscope stress`) of tiny/umh-2gpu must break nothing, since more blocks and \
children can need a rule that few do not. `by` says which; what the random test catches has no recording.

JSON: protocol, complete (false if it was interrupted), mutants[{name, caught, equivalent, by, recording}]; recording is null \
without --record.

Exit status: 0 all are caught or equivalent; 1 one is neither, or the protocol itself breaks a rule; 2 wrong input; 130 \
interrupted by ctrl-c (what is known so far is printed, and that it is partial).")]
pub struct Mutants {
    /// A protocol file, or the name of a bundled one
    #[arg(value_name = "PROTOCOL")]
    protocol: String,

    /// Only mutants whose name contains this
    #[arg(long, value_name = "TEXT")]
    only: Option<String>,

    /// Look at so many states of a mutant on a shape at most
    #[arg(long, value_name = "NUMBER", value_parser = positive, allow_negative_numbers = true, default_value_t = 20_000_000)]
    max_states: u64,

    /// Mutants at a time [default: as many as there are processors]
    #[arg(long, value_name = "NUMBER", value_parser = jobs, allow_negative_numbers = true)]
    jobs: Option<usize>,

    /// A folder for the recordings of what was caught
    #[arg(long, value_name = "FOLDER")]
    record: Option<PathBuf>,

    /// How to write the result
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

/// Where mutants are looked at.
struct Place {
    name: &'static str,
    scenario: Scenario,
    blueprint: Blueprint,
    alphabet: Alphabet,
}

impl Place {
    /// A bundled exploration with the protocol as it is, and more changes.
    fn load(name: &'static str, with: &[String]) -> Result<Self, Trouble> {
        let scenario = Scenario::load(name)?.with(with)?;
        let blueprint = scenario.blueprint(&Options::default())?;
        let alphabet = scenario.alphabet(&Machine::build(&blueprint)?)?;
        Ok(Self { name, scenario, blueprint, alphabet })
    }

    fn system(&self) -> Result<System, Trouble> {
        Ok(System::new(&Machine::build(&self.blueprint)?, &self.alphabet)?)
    }
}

/// A place that can be explored completely, with what nodes do there.
struct Shape {
    place: Place,
    base: Base,
}

/// All places.
struct Places {
    shapes: Vec<Shape>,
    large: Place,
    tested: Blueprint,
}

/// What a protocol is changed into.
struct Changed<'a> {
    mutant: Mutant,
    /// The table as it is, and as it is changed.
    own: &'a Table,
    table: Arc<Table>,
}

impl Changed<'_> {
    fn on(&self, place: &Place) -> Result<System, Trouble> {
        Ok(System::new(&Machine::build(&self.blueprint(&place.blueprint))?, &place.alphabet)?)
    }

    fn blueprint(&self, own: &Blueprint) -> Blueprint {
        let mut blueprint = own.clone();
        match self.mutant {
            Mutant::Rule(fault) => blueprint.faults.push(fault),
            Mutant::Table(_) => {
                for own in blueprint.tables.iter_mut().filter(|own| own.name == self.own.name) {
                    *own = self.table.clone();
                }
            }
        }
        blueprint
    }
}

/// Whether to go on, and how many states have been looked at for all mutants.
struct Watch<'a> {
    interrupt: &'a Interrupt,
    states: AtomicU64,
}

impl Watch<'_> {
    /// For one search, which tells how far it is from time to time.
    fn go_on(&self) -> impl FnMut(Counts) -> bool + '_ {
        let mut before = 0;
        move |counts| {
            self.states.fetch_add(counts.states.saturating_sub(before), Ordering::Relaxed);
            before = counts.states;
            !self.interrupt.is_raised()
        }
    }
}

/// What is known of a mutant that is not caught on the shapes.
#[derive(Default)]
struct Known {
    /// Shapes of which all states are fine, and their number.
    correct: Vec<(&'static str, u64)>,
    /// A shape of which not all states were looked at.
    open: Option<(&'static str, u64)>,
}

/// What became of a mutant.
struct Judged {
    name: String,
    caught: bool,
    equivalent: bool,
    by: String,
    recording: Option<PathBuf>,
}

impl Known {
    fn text(&self) -> String {
        let walked = format!(
            "{} random steps on {LARGE} and {} accesses on {TESTED}",
            grouped(STEPS),
            grouped(ACCESSES)
        );
        match self.open {
            Some((shape, states)) => {
                format!("{} states of {shape} are fine, and there are more", grouped(states))
            }
            None if self.correct.is_empty() => {
                format!("the same: no node does anything else on any shape; {walked} break nothing")
            }
            None => {
                let all =
                    self.correct.iter().map(|(shape, states)| format!("{shape} ({})", grouped(*states)));
                let all: Vec<String> = all.collect();
                format!(
                    "correct: differs in cost only, all states of {}; {walked} break nothing",
                    all.join(", ")
                )
            }
        }
    }
}

/// Makes the folder of the recordings, where any can be written.
fn make_folder(folder: &Path) -> diagnostic::Result<()> {
    std::fs::create_dir_all(folder).map_err(|error| cannot(folder, &error))?;
    try_out(&folder.join("new.rec"))
}

impl Mutants {
    pub fn carry_out(&self) -> Ended {
        let interrupt = Interrupt::install()?;
        let found = config::find(Kind::Protocol, &self.protocol, None)?;
        let table = config::protocol::from_toml(&found.source)?;
        interrupt.heed();
        let fits = |mutant: &Mutant| self.only.as_ref().is_none_or(|only| mutant.to_string().contains(only));
        let mutants: Vec<Mutant> = mutants::all(&table).into_iter().filter(fits).collect();
        if let (Some(only), true) = (&self.only, mutants.is_empty()) {
            let message = format!("no mutant of {} has {only:?} in its name", self.protocol);
            return Err(Diagnostic::new(message).expected("such as 'cache S' or 'fault no-'").into());
        }
        self.record.as_deref().map_or(Ok(()), make_folder)?;
        let judged = match self.places(&interrupt)? {
            Ok(places) => self.judge_all(&mutants, &table, &found.source, &places, &interrupt)?,
            // Of no mutant anything is known yet.
            Err(Status::Interrupted) => Vec::new(),
            Err(status) => return Ok(status),
        };
        self.print(&table, &judged, mutants.len())?;
        Ok(if judged.len() < mutants.len() {
            Status::Interrupted
        } else if judged.iter().all(|one| one.caught || one.equivalent) {
            Status::Held
        } else {
            Status::Failed
        })
    }

    fn limits(&self, threads: usize) -> Limits {
        Limits { states: self.max_states, depth: u64::MAX, memory: MEMORY, threads }
    }

    /// The places with the protocol as it is; a status if it breaks a rule itself, or was interrupted.
    fn places(&self, interrupt: &Interrupt) -> Result<Result<Places, Status>, Trouble> {
        let protocol = format!("protocol={}", in_toml(&self.protocol));
        let mut progress = Progress::start();
        let mut shapes = Vec::new();
        for (name, accesses) in SHAPES {
            let with = [protocol.clone(), format!("explore.accesses={accesses}")];
            let place = Place::load(name, &with)?;
            let system = place.system()?;
            let threads = std::thread::available_parallelism().map_or(1, std::num::NonZeroUsize::get);
            let base = Base::new(&system, self.limits(threads), |counts| {
                progress.tell(|| format!("{name}: {} states", grouped(counts.states)));
                !interrupt.is_raised()
            });
            if let Some(violation) = base.outcome.violations.first() {
                progress.clear();
                say(format_args!(
                    "{} breaks a rule as it is, and `umscope explore {name} --protocol {}` shows how: {}: {}",
                    self.protocol, self.protocol, violation.rule, violation.text
                ));
                return Ok(Err(Status::Failed));
            }
            if interrupt.is_raised() {
                return Ok(Err(Status::Interrupted));
            }
            if base.outcome.bound.is_some() {
                let message = format!("{} has too many states on {name} to look at all", self.protocol);
                return Err(Diagnostic::new(message).expected("a higher --max-states").into());
            }
            shapes.push(Shape { place, base });
        }
        let text = format!("machine = {}\n{protocol}\n", in_toml(TESTED));
        let tested =
            Scenario::parse(Source::new("the machine under test", text), std::env::current_dir().ok())?;
        let tested = Blueprint { max_cycles: u64::MAX, ..tested.blueprint(&Options::default())? };
        Ok(Ok(Places { shapes, large: Place::load(LARGE, &[protocol])?, tested }))
    }

    fn judge_all(
        &self,
        mutants: &[Mutant],
        table: &Table,
        source: &Source,
        places: &Places,
        interrupt: &Interrupt,
    ) -> Result<Vec<Judged>, Trouble> {
        let results: Vec<Option<Judged>> = mutants.iter().map(|_| None).collect();
        let shared = Mutex::new((results, None::<Trouble>));
        let watch = Watch { interrupt, states: AtomicU64::new(0) };
        let told = |done| {
            let states = grouped(watch.states.load(Ordering::Relaxed));
            format!("{}: {done} of {} mutants, {states} states", self.protocol, mutants.len())
        };
        pool::each(mutants.len(), self.jobs, interrupt, told, |index| {
            let Some(mutant) = mutants.get(index) else { return ControlFlow::Continue(()) };
            let judged = self.judge(*mutant, table, source, places, &watch);
            let mut shared = shared.lock().unwrap_or_else(PoisonError::into_inner);
            match judged {
                Ok(judged) => {
                    if let Some(place) = shared.0.get_mut(index).filter(|_| !interrupt.is_raised()) {
                        *place = Some(judged);
                    }
                    ControlFlow::Continue(())
                }
                Err(trouble) => {
                    shared.1.get_or_insert(trouble);
                    ControlFlow::Break(())
                }
            }
        });
        match shared.into_inner().unwrap_or_else(PoisonError::into_inner) {
            (_, Some(trouble)) => Err(trouble),
            (results, None) => Ok(results.into_iter().flatten().collect()),
        }
    }

    fn judge(
        &self,
        mutant: Mutant,
        table: &Table,
        source: &Source,
        places: &Places,
        watch: &Watch<'_>,
    ) -> Result<Judged, Trouble> {
        let name = mutant.to_string();
        let is = |caught, equivalent, by: String| Judged {
            name: name.clone(),
            caught,
            equivalent,
            by,
            recording: None,
        };
        if let Mutant::Table(change) = &mutant
            && let Some(why) = config::mutation::refused(change)
        {
            return Ok(is(true, false, format!("table: {why}")));
        }
        let changed = match mutant {
            Mutant::Rule(_) => table.clone(),
            Mutant::Table(change) => change.apply(table).map_err(Diagnostic::new)?,
        };
        let faults = config::protocol::examine_changed(source, &changed)?;
        if let Some(error) = faults.errors.first() {
            return Ok(is(true, false, format!("table: {}", error.message)));
        }
        let changed = Changed { mutant, own: table, table: Arc::new(changed) };
        let mut known = Known::default();
        if let Some((place, violation)) = self.find(places, &changed, &mut known, watch)? {
            let by = format!("{} on {} in {} steps", violation.rule, place.name, violation.choices.len());
            let recording = self.record(&changed, place, &violation)?;
            return Ok(Judged { recording, ..is(true, false, by) });
        }
        let blueprint = changed.blueprint(&places.tested);
        let round = stress::Plan { blueprint, accesses: ACCESSES, seed: SEED }.round(0)?;
        if let Some(failure) = round.failure {
            let (rule, event) = (failure.rule, grouped(failure.event));
            return Ok(is(true, false, format!("{rule} after {event} events of umscope stress {TESTED}")));
        }
        let overruled = if mutant.is_overruled(table) {
            "; dirty bytes are written back whatever this cell says"
        } else {
            ""
        };
        let text = known.text() + overruled;
        Ok(is(false, known.open.is_none(), text))
    }

    /// Looks for what is wrong with a mutant: on all shapes, then at random on a larger machine.
    fn find<'a>(
        &self,
        places: &'a Places,
        changed: &Changed<'_>,
        known: &mut Known,
        watch: &Watch<'_>,
    ) -> Result<Option<(&'a Place, Violation)>, Trouble> {
        for shape in &places.shapes {
            if let Some(violation) = self.look(shape, changed, known, watch)? {
                return Ok(Some((&shape.place, violation)));
            }
        }
        let system = changed.on(&places.large)?;
        let limits = random::Limits { steps: STEPS, seed: SEED, memory: MEMORY, threads: 1 };
        let outcome = random::walk(&system, limits, |_| !watch.interrupt.is_raised());
        Ok(outcome.violations.into_iter().next().map(|violation| (&places.large, violation)))
    }

    /// Looks at a mutant on a shape: what is wrong with it there, or what is known of it now.
    fn look(
        &self,
        shape: &Shape,
        changed: &Changed<'_>,
        known: &mut Known,
        watch: &Watch<'_>,
    ) -> Result<Option<Violation>, Trouble> {
        let name = shape.place.name;
        let system = changed.on(&shape.place)?;
        let counts = match mutants::judge(&shape.base, &system, self.limits(1), watch.go_on()) {
            Verdict::Same => return Ok(None),
            Verdict::Caught(outcome) => return Ok(outcome.violations.into_iter().next()),
            Verdict::Open(outcome) => {
                known.open.get_or_insert((name, outcome.counts.states));
                return Ok(None);
            }
            Verdict::Correct(counts) => counts,
        };
        match (name == CROWD).then(|| fairness::judge(&system, MEMORY, watch.go_on())) {
            Some(Fairness::Broken(violation)) => return Ok(Some(violation)),
            Some(Fairness::Unknown(_)) => {
                known.open.get_or_insert((name, counts.states));
            }
            _ => known.correct.push((name, counts.states)),
        }
        Ok(None)
    }

    /// The recording of how a mutant was caught, if the user wants it.
    fn record(
        &self,
        changed: &Changed<'_>,
        place: &Place,
        violation: &Violation,
    ) -> Result<Option<PathBuf>, Trouble> {
        let Some(folder) = &self.record else { return Ok(None) };
        let with = match changed.mutant {
            Mutant::Rule(fault) => format!("fault=[{{ name = {} }}]", in_toml(fault.name())),
            Mutant::Table(change) => format!("mutate=[{}]", in_toml(&change.to_string())),
        };
        let scenario = place.scenario.clone().with(&[with])?;
        let path = folder.join(file_name(&changed.mutant.to_string()));
        let names = changed.on(place)?.names;
        counterexample::write(&path, (&scenario, place.name, &Options::default()), &names, violation)?;
        Ok(Some(path))
    }

    /// What is known of the mutants, of which there are `all`.
    fn print(&self, table: &Table, judged: &[Judged], all: usize) -> Result<(), Trouble> {
        let complete = judged.len() == all;
        let mut output = Output::standard();
        if self.format == Format::Json {
            let mutant = |one: &Judged| {
                json!({
                    "name": one.name,
                    "caught": one.caught,
                    "equivalent": one.equivalent,
                    "by": one.by,
                    "recording": one.recording,
                })
            };
            let mutants: Vec<Value> = judged.iter().map(mutant).collect();
            return output.json(&json!({ "protocol": table.name, "complete": complete, "mutants": mutants }));
        }
        let width = judged.iter().map(|one| one.name.len()).max().unwrap_or(0);
        for one in judged {
            let word = match (one.caught, one.equivalent) {
                (true, _) => "caught",
                (_, true) => "equivalent",
                _ => "SURVIVED",
            };
            output.line(&format!("{word:<10}  {:width$}  {}", one.name, one.by))?;
        }
        let count = |which: fn(&Judged) -> bool| judged.iter().filter(|one| which(one)).count();
        let (caught, equivalent) = (count(|one| one.caught), count(|one| one.equivalent));
        let survived = judged.len() - caught - equivalent;
        output.line(&format!(
            "\n{} mutants: {caught} caught, {equivalent} equivalent, {survived} survived",
            judged.len()
        ))?;
        if !complete {
            output.line(&format!("partial: interrupted after {} of {all} mutants", judged.len()))?;
        }
        output.done()
    }
}

/// A name of a mutant as that of a file.
fn file_name(name: &str) -> PathBuf {
    let plain: String =
        name.chars().map(|letter| if letter.is_ascii_alphanumeric() { letter } else { '-' }).collect();
    let words: Vec<&str> = plain.split('-').filter(|word| !word.is_empty()).collect();
    Path::new(&words.join("-")).with_extension("rec")
}
