//! `umscope explore`: every order in which things can happen on a small machine.

mod holds;

use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::Args;
use serde_json::{Value, json};

use super::arguments::{Format, Tries, jobs, number, positive};
use super::counterexample::{self, Told};
use super::exit::{Ended, Status, Trouble, conclude, say};
use super::interrupt::Interrupt;
use super::output::Output;
use super::outputs::{Outputs, Replaces};
use super::progress::Progress;
use crate::explore::coverage::CellId;
use crate::explore::fairness::{self, Fairness};
use crate::explore::outcome::{Outcome, explore};
use crate::explore::random;
use crate::explore::search::{Bound, Counts, Limits};
use crate::explore::shown::elsewhere;
use crate::explore::system::System;
use crate::explore::way::{self, Violation};
use crate::machine::Machine;
use crate::model::text::plural;
use crate::model::threads;
use crate::model::units::Size;
use crate::recording::Recording;
use crate::report::number::{counted, grouped};
use crate::scenario::{Options, Scenario};

/// Go through every order in which things can happen on a small machine
///
/// Messages are delivered, accesses issued and blocks evicted in every order that the machine allows, by the same protocol
/// nodes as in a run, until every state has been looked at. After each step the rules of the protocol are checked, and at the
/// end that all that begins also ends. What to do is in the [explore] part of the scenario.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  umscope explore explore/two-l1
  umscope explore explore/two-gpu --protocol mesi --format json
  umscope explore explore/two-l1 --fault no-grant-ack
  umscope debug two-l1-no-grant-ack-inclusion.rec           (what that has found)
  umscope explore explore/two-l1 --mutate 'cache S store = hit > M'
  umscope explore explore/three-l1 --fair --fault unfair-arbiter
  umscope explore explore/large --random 100_000_000 --seed 1
  umscope explore explore/pages --hold 1                   (pages, copies and the like, which have no protocol table)

Rules: single-writer, single-owner, inclusion, directory (it misses a holder, or disagrees when nothing is under way), stale-read, \
lost-store, impossible-cell, deadlock, livelock (no order of delivery ends), starvation (some order need not end).

A state leaves out time, and has of each byte only whether it was stored last: a protocol moves bytes and never looks at \
them. Equal parts that may do the same, such as two GPUs, can be exchanged: one state stands for all that differ only in \
which of them is which. Each step of a part is run on the others too, and if one ever does otherwise, the search begins \
again without. A violation is found with the fewest steps, and becomes a recording that opens at the bad event.

--hold: the work of the scenario is done as its timing has it, then once for each event of that run and each of several \
durations (1 cycle, 4, 16 ... up to as long as the run takes) with what comes next there so much later: a message with those \
behind it, an issue, a walk, a page on the link, a transfer set. With 2, then for each pair of them. It looks at whole \
machines, at all that the rules of a run look at, and that all work ends; with --expect at [[expect]], too, where an invariant \
of your own may stand (never = \"transition to F\"). Without --hold there is no work and no run: [[do]], [[state]], [[expect]] \
and the like are not looked at.

--fair: accesses and evictions go on for ever, in any order, and what can be delivered again and again is delivered \
(strong fairness of every lane of every channel). An access that need not end even then is a starvation.

JSON: states, transitions, depth, complete, symmetry (states that one stands for at most), fair (null unless asked and known), seconds, coverage{reached, reachable (null unless complete), total, \
not_reached[]}, violations[{kind, message, chain[], blame[] (as of `umscope run`), steps, recording}]; states and depth are null with --random; with --hold there are runs and \
durations too, transitions are events, depth is NUMBER, states, symmetry and reachable are null, and steps are what was held back.

Exit status: 0 nothing was found, also if a limit ended it; 1 a rule does not hold; 2 wrong input; 130 interrupted by \
ctrl-c (what is known so far is printed).")]
pub struct Explore {
    /// A scenario file with an [explore] part, or the name of a bundled one
    #[arg(value_name = "SCENARIO")]
    scenario: String,

    /// Set a key of the machine file, such as network.buffers=1, or of the scenario's [explore], such as
    /// explore.outstanding=2; may be given several times
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,

    #[command(flatten)]
    tries: Tries,

    /// Try orders at random, so many steps in all (with --hold, so many runs), instead of going through all of them
    #[arg(long, value_name = "STEPS", value_parser = positive, allow_negative_numbers = true)]
    random: Option<u64>,

    /// Seed of --random
    #[arg(long, value_name = "NUMBER", value_parser = number, allow_negative_numbers = true, default_value_t = 0)]
    #[arg(requires = "random")]
    seed: u64,

    /// Instead of what [explore] says, do the work of the scenario again and again, each time with up to so many other
    /// events of it held back
    #[arg(long, value_name = "NUMBER", value_parser = few, allow_negative_numbers = true,
        conflicts_with_all = ["depth", "no_symmetry", "memory"])]
    hold: Option<u64>,

    /// With --hold, also look at what the scenario expects: it must hold whatever is held back
    #[arg(long, requires = "hold")]
    expect: bool,

    /// Also look whether every request ends though new accesses and evictions keep coming, where every state was looked at
    #[arg(long, conflicts_with_all = ["random", "hold"])]
    fair: bool,

    /// Let no state stand for those that differ from it only in which of several equal parts is which
    #[arg(long)]
    no_symmetry: bool,

    /// Stop once so many states were found (with --hold, after the first so many runs, which are made one after another)
    #[arg(long, value_name = "NUMBER", value_parser = positive, allow_negative_numbers = true)]
    max_states: Option<u64>,

    /// Look at what is so many steps away at most
    #[arg(long, value_name = "STEPS", value_parser = number, allow_negative_numbers = true)]
    depth: Option<u64>,

    /// Memory to use at most
    #[arg(long, value_name = "SIZE", value_parser = size, default_value = "8 GiB")]
    memory: Size,

    /// Threads [default: as many as there are processors; one with --hold and --max-states]
    #[arg(long, value_name = "NUMBER", value_parser = jobs, allow_negative_numbers = true)]
    jobs: Option<usize>,

    /// Where to write the recording of the first violation; others go beside it as NAME-RULE.rec [default: SCENARIO-RULE.rec in the current folder, with the words of --protocol, --fault and --mutate before RULE]
    #[arg(long, value_name = "FILE")]
    record: Option<PathBuf>,

    /// How to write the result
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

fn size(text: &str) -> Result<Size, String> {
    let size = Size::parse(text).map_err(|why| format!("expected {}", Size::expected(why)))?;
    if size.0 == 0 { Err("expected a size above 0, such as 2 GiB".to_owned()) } else { Ok(size) }
}

/// Events to hold back: more are more runs than anyone can wait for.
fn few(text: &str) -> Result<u64, String> {
    text.parse().ok().filter(|number| (1..=8).contains(number)).ok_or_else(|| "expected 1 to 8".to_owned())
}

/// Something to explore, read and built.
struct Subject {
    scenario: Scenario,
    options: Options,
    system: System,
}

impl Explore {
    pub fn carry_out(&self) -> Ended {
        let interrupt = Interrupt::install()?;
        Outputs::default()
            .with("--record", self.record.as_deref(), Replaces::Recordings)
            .check(|| Ok(Vec::new()))?;
        if let Some(most) = self.hold {
            return self.hold_back(most, &interrupt);
        }
        let subject = self.open()?;
        interrupt.heed();
        let start = Instant::now();
        let plain = self.no_symmetry.then(|| subject.system.without_symmetry());
        let system = plain.as_ref().unwrap_or(&subject.system);
        let mut outcome = self.run(system, &interrupt, start);
        let fair = self.judge(system, &mut outcome, &interrupt, start);
        let seconds = start.elapsed().as_secs_f64();
        let recordings = self.record(&subject, &outcome);
        let is_random = self.random.is_some();
        let done = Done { outcome: &outcome, fair, recordings: &recordings, seconds, is_random };
        let mut output = Output::standard();
        match self.format {
            Format::Json => output.json(&document(&done))?,
            Format::Text => output.put(&self.text(&subject.system, &done))?,
        }
        Ok(if !outcome.violations.is_empty() {
            Status::Failed
        } else if outcome.bound == Some(Bound::Interrupt) || fair == Some(Err(Bound::Interrupt)) {
            Status::Interrupted
        } else {
            Status::Held
        })
    }

    fn open(&self) -> Result<Subject, Trouble> {
        let (scenario, options) = self.read()?;
        tell_ignored(&scenario);
        let machine = Machine::build(&scenario.blueprint(&options)?)?;
        let system = System::new(&machine, &scenario.alphabet(&machine)?)?;
        Ok(Subject { scenario, options, system })
    }

    /// The scenario with all that the command line changes.
    fn read(&self) -> Result<(Scenario, Options), Trouble> {
        let is_own = |set: &&String| set.trim_start().starts_with("explore.");
        let mut with: Vec<String> = self.set.iter().filter(is_own).cloned().collect();
        with.extend(self.tries.keys(&self.set)?);
        let scenario = Scenario::load(&self.scenario)?.with(&with)?;
        let set = self.set.iter().filter(|set| !is_own(set)).cloned().collect();
        let options = Options { set, ..Options::default() };
        scenario.table_doubts(&options).iter().for_each(say);
        Ok((scenario, options))
    }

    fn threads(&self) -> usize {
        threads::jobs(self.jobs)
    }

    fn run(&self, system: &System, interrupt: &Interrupt, start: Instant) -> Outcome {
        let threads = self.threads();
        let go_on = watch(interrupt, start, |counts, seconds| self.looked(counts, seconds));
        let memory = self.memory.0;
        if let Some(steps) = self.random {
            return random::walk(system, random::Limits { steps, seed: self.seed, memory, threads }, go_on);
        }
        let (states, depth) = (self.max_states.unwrap_or(u64::MAX), self.depth.unwrap_or(u64::MAX));
        explore(system, Limits { states, depth, memory, threads }, go_on)
    }

    /// How far it is.
    fn looked(&self, counts: Counts, seconds: f64) -> String {
        let (states, rate) = (grouped(counts.states), grouped((counts.states as f64 / seconds) as u64));
        let what = if self.random.is_some() { "steps" } else { "states" };
        format!("{}: {states} {what}, depth {}, {rate} a second", self.scenario, counts.depth)
    }

    /// With `--fair`, whether every request ends, if that can be said: all states are there, and nothing is wrong with them.
    fn judge(
        &self,
        system: &System,
        outcome: &mut Outcome,
        interrupt: &Interrupt,
        start: Instant,
    ) -> Option<Result<bool, Bound>> {
        if !self.fair {
            return None;
        }
        if let Some(bound) = outcome.bound.or((!outcome.violations.is_empty()).then_some(Bound::Violation)) {
            return Some(Err(bound));
        }
        Some(
            match fairness::judge(
                system,
                self.memory.0,
                watch(interrupt, start, |counts, seconds| self.looked(counts, seconds)),
            ) {
                Fairness::Kept => Ok(true),
                Fairness::Unknown(bound) => Err(bound),
                Fairness::Broken(violation) => {
                    outcome.violations.push(violation);
                    Ok(false)
                }
            },
        )
    }

    /// Writes the recordings of the violations: the first to where the user says, if anywhere, the others beside it.
    fn record(&self, subject: &Subject, outcome: &Outcome) -> Vec<Recorded> {
        let what = (&subject.scenario, self.scenario.as_str(), &subject.options);
        let path = |(index, violation): (usize, &Violation)| {
            let path = match &self.record {
                Some(given) if index == 0 => given.clone(),
                Some(given) => counterexample::another_path(given, violation.rule),
                None => counterexample::usual_path(&self.scenario, &self.tries, violation.rule),
            };
            Recorded::of(path, counterexample::of(what, &subject.system.names, violation))
        };
        outcome.violations.iter().enumerate().map(path).collect()
    }

    fn text(&self, system: &System, done: &Done<'_>) -> String {
        let Done { outcome, seconds, .. } = *done;
        let counts = outcome.counts;
        let rate = grouped((counts.states as f64 / seconds.max(1e-9)) as u64);
        let mut text = if done.is_random {
            format!("{}, {seconds:.1} s, {rate} steps a second\n", counted(counts.transitions, "step"))
        } else {
            format!(
                "{}, {}, depth {}, {seconds:.1} s, {rate} states a second\n",
                counted(counts.states, "state"),
                counted(counts.transitions, "transition"),
                counts.depth,
            )
        };
        text.push_str(&match outcome.bound {
            None => "complete: every state was looked at\n".to_owned(),
            Some(bound) => format!("not complete: {}\n", self.reason(bound)),
        });
        text.push_str(&unbroken(&self.tries.fault, outcome.violations.is_empty()));
        if outcome.violations.is_empty() && self.tries.fault.is_empty() {
            text.push_str(&format!("no rule was broken{}{}\n", kept_by(system), self.tries.told()));
        }
        if outcome.symmetry > 1 {
            text.push_str(&format!(
                "symmetry: each stands for up to {} that differ only in which of equal parts is which\n",
                outcome.symmetry
            ));
        }
        match done.fair {
            Some(Ok(true)) => text.push_str(
                "fair: every access ends though others keep coming, if what can be delivered again and again is\n",
            ),
            Some(Err(bound)) => {
                text.push_str(&format!("whether every access ends was not looked at: {}\n", self.reason(bound)));
            }
            Some(Ok(false)) | None => {}
        }
        let used = outcome.cells.iter().filter(|(_, used)| *used).count();
        text.push_str(&format!("{used} of {} cells of the tables were used\n", outcome.cells.len()));
        let unused = unused(outcome);
        // Where a violation ended the search, most of what was not reached only was not looked for.
        if !unused.is_empty() && outcome.violations.is_empty() {
            let what = if outcome.bound.is_none() { "never reached" } else { "not reached" };
            text.push_str(&format!("{what}: {}\n", unused.join(", ")));
        }
        for (violation, Recorded { path, told }) in outcome.violations.iter().zip(done.recordings) {
            let steps = plural(violation.choices.len() as u64, "step");
            let message = told.text.as_ref().unwrap_or(&violation.text);
            text.push_str(&format!("\n{}: {message} ({steps})\n", violation.rule));
            told.lines().for_each(|line| text.push_str(&format!("  {line}\n")));
            text.push_str(&opens(path.as_deref()));
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
            Bound::Lanes => format!("the channels have more than {} lanes", fairness::LANES),
            Bound::Interrupt => "it was interrupted".to_owned(),
            Bound::Random => "orders were tried at random".to_owned(),
            Bound::Violation => "what lies beyond the violation was not looked at".to_owned(),
        }
    }
}

/// What a scenario has that is of a run, where all orders are gone through instead.
fn tell_ignored(scenario: &Scenario) {
    let file = scenario.file();
    let work = file.accesses.len() + file.programs.len() + file.kernels.len() + file.flushes.len();
    let all = [
        (work, "[[do]] and other work"),
        (file.states.len(), "[[state]]"),
        (file.expectations.len(), "[[expect]]"),
    ];
    let ignored: Vec<_> = all.into_iter().filter(|(count, _)| *count > 0).map(|(_, what)| what).collect();
    if !ignored.is_empty() {
        let ignored = ignored.join(", ");
        say(format_args!(
            "not looked at, as parts of a run: {ignored} (--hold 1 --expect makes runs and looks at them)"
        ));
    }
}

/// The protocols of what is explored.
fn kept_by(system: &System) -> String {
    let mut tables: Vec<&str> =
        system.nodes.iter().map(|node| node.template.config.table.name.as_str()).collect();
    tables.sort_unstable();
    tables.dedup();
    format!(" by {}", tables.join(", "))
}

/// What shows how far a search is, after so many seconds, and says whether to go on.
fn watch(
    interrupt: &Interrupt,
    start: Instant,
    told: impl Fn(Counts, f64) -> String,
) -> impl FnMut(Counts) -> bool {
    let mut progress = Progress::start();
    move |counts| {
        progress.tell(|| told(counts, start.elapsed().as_secs_f64().max(1e-9)));
        !interrupt.is_raised()
    }
}

/// The recording of a violation, unless it could not be written, and what is said where it ends.
#[derive(Default)]
struct Recorded {
    path: Option<PathBuf>,
    told: Told,
}

impl Recorded {
    /// Writes it.
    fn of(path: PathBuf, made: Result<(Told, Recording), Trouble>) -> Self {
        let Some((told, recording)) = written(made) else { return Self::default() };
        let is_there = written(recording.write(&path).map_err(Trouble::from)).is_some();
        Self { path: is_there.then_some(path), told }
    }
}

/// What there is to tell.
struct Done<'a> {
    outcome: &'a Outcome,
    /// Whether every request ends, or why that is not known; nothing if nobody asked.
    fair: Option<Result<bool, Bound>>,
    /// Of each violation.
    recordings: &'a [Recorded],
    seconds: f64,
    is_random: bool,
}

/// The cells that were not used, each with its table where there are several.
fn unused(outcome: &Outcome) -> Vec<String> {
    let first = outcome.cells.first().map(|(cell, _)| &cell.table);
    let is_one = outcome.cells.iter().all(|(cell, _)| Some(&cell.table) == first);
    let unused = outcome.cells.iter().filter(|(_, used)| !used).map(|(cell, _)| cell);
    let named =
        |cell: &CellId| if is_one { cell.name() } else { format!("{} of {}", cell.name(), cell.table) };
    unused.map(named).collect()
}

/// The result as a JSON document.
fn document(done: &Done<'_>) -> Value {
    let Done { outcome, recordings, seconds, is_random, fair } = *done;
    let reached = outcome.cells.iter().filter(|(_, used)| *used).count();
    let complete = outcome.bound.is_none();
    let unused = unused(outcome);
    let violation = |(violation, recorded): (&Violation, &Recorded)| {
        json!({
            "kind": violation.rule,
            "message": recorded.told.text.as_ref().unwrap_or(&violation.text),
            "chain": recorded.told.chain,
            "blame": recorded.told.blame,
            "steps": violation.choices.len(),
            "recording": recorded.path,
        })
    };
    let violations: Vec<Value> = outcome.violations.iter().zip(recordings).map(violation).collect();
    json!({
        "states": (!is_random).then_some(outcome.counts.states),
        "transitions": outcome.counts.transitions,
        "depth": (!is_random).then_some(outcome.counts.depth),
        "complete": complete,
        "symmetry": outcome.symmetry,
        "fair": fair.and_then(Result::ok),
        "seconds": seconds,
        "coverage": {
            "reached": reached,
            "reachable": complete.then_some(reached),
            "total": outcome.cells.len(),
            "not_reached": unused,
        },
        "violations": violations,
    })
}

/// What was written, if it was. That it could not be is told, and no reason to keep back what was found.
fn written<T>(outcome: Result<T, Trouble>) -> Option<T> {
    match outcome {
        Ok(written) => Some(written),
        Err(trouble) => {
            let _: Status = conclude(Err(trouble));
            None
        }
    }
}

/// How to see what was found.
fn opens(recording: Option<&Path>) -> String {
    let none = || "its recording could not be written: --record FILE writes it elsewhere\n".to_owned();
    recording.map_or_else(none, |path| format!("umscope debug {} opens it\n", path.display()))
}

/// That faults were injected and nothing broke, if so.
fn unbroken(faults: &[String], is_whole: bool) -> String {
    if !is_whole || faults.is_empty() {
        return String::new();
    }
    format!(
        "with {} nothing broke: {}\n",
        faults.join(" and "),
        elsewhere(faults, "other blocks or machines")
    )
}
