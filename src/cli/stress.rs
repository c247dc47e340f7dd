//! `umscope stress`: random accesses on contended blocks, with values checked.

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::time::Instant;

use clap::Args;
use serde_json::{Value, json};

use super::arguments::{Format, Tries, jobs, number, positive};
use super::counterexample;
use super::exit::{Ended, Status, Trouble, say};
use super::interrupt::Interrupt;
use super::output::Output;
use super::outputs::{Outputs, Replaces};
use super::pool;
use super::progress::Progress;
use crate::config;
use crate::config::machine::MachineSpec;
use crate::debug::diagnosis::{Diagnosis, diagnose, trace};
use crate::diagnostic::{Diagnostic, Result, Source, in_toml, write_whole};
use crate::explore::shown::elsewhere;
use crate::explore::stress::{self, Coverage, Failure, Plan, Round, shrink};
use crate::model::inspect::Inspect;
use crate::report;
use crate::report::number::{counted, grouped};
use crate::scenario::{Draft, Options, Scenario};

/// Test a machine with random accesses on contended blocks
///
/// Loads, stores, n-stores, atomics and exclusive accesses of every compute unit and core to a few lines that fight for
/// the same sets, with values and every rule of the protocol checked. It ends at the first violation or deadlock, tells
/// why, and writes a scenario that shows it, as small as it could be made, and a recording of its run.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  umscope stress tiny/umh-2gpu
  umscope stress umh-4gpu-nvlink --accesses 10000000 --seed 3
  umscope stress tiny/cpu-2core --protocol mine.toml
  umscope stress tiny/umh-2gpu --fault no-grant-ack      (to see what it finds)

Caches of full-size machines (an L2 above 64 KiB) are made as small as they can be: one set each; --full-size keeps \
them. The accesses are dealt into rounds with seeds of their own, so the result is the same whatever --jobs.

JSON: machine, protocol, seed, accesses, events, rounds, seconds, complete (false if interrupted), coverage[{table, \
reached, total, missing[], pairs}], pairs_watched_accesses, violation{rule, message, event, round, scenario, recording, accesses, \
least (whether none can be left out), diagnosis, blame (as of `umscope run`)} or null.

The scenario of a failure says in its first lines which --set it needs.

Ctrl-c while a failure is made small writes what is left, without a recording.

Exit status: 0 nothing broke; 1 a rule broke or nothing could move; 2 wrong input; 130 interrupted.")]
pub struct Stress {
    /// A machine file, or the name of a bundled machine
    #[arg(value_name = "MACHINE")]
    machine: String,

    /// Accesses in all
    #[arg(long, value_name = "NUMBER", default_value = "1000000", value_parser = positive, allow_negative_numbers = true)]
    accesses: u64,

    /// Seed of the accesses
    #[arg(long, value_name = "NUMBER", default_value = "1", value_parser = number, allow_negative_numbers = true)]
    seed: u64,

    /// Set a key of the machine file; may be given several times
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,

    #[command(flatten)]
    tries: Tries,

    /// Keep the sizes of a full-size machine's caches
    #[arg(long)]
    full_size: bool,

    /// Where to write the scenario of a failure; a file that is there is replaced. The recording of its run goes beside it
    #[arg(long, value_name = "FILE", default_value = "stress-failure.toml")]
    failure: PathBuf,

    /// Rounds to run at a time [default: as many as there are processors]
    #[arg(long, value_name = "NUMBER", value_parser = jobs, allow_negative_numbers = true)]
    jobs: Option<usize>,

    /// How to write the result
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

/// What all rounds up to the first failure came to.
struct Total {
    rounds: u64,
    accesses: u64,
    events: u64,
    seconds: f64,
    complete: bool,
    coverage: Coverage,
    failure: Option<Failure>,
}

/// A failure made small.
struct Small {
    /// Where its recording is; nothing if ctrl-c came before it was made.
    recording: Option<PathBuf>,
    /// What is wrong in it.
    found: String,
    /// It is of a shorter run that breaks the same rule.
    is_of_another: bool,
    /// None of its instructions can be left out.
    is_least: bool,
    /// Instructions left.
    accesses: usize,
    diagnosis: Option<Diagnosis>,
    /// What the tables decided in the small run of the block of which a rule is broken.
    blame: Option<Vec<String>>,
}

impl Stress {
    pub fn carry_out(&self) -> Ended {
        let interrupt = Interrupt::install()?;
        let spec = config::load_machine_with(&self.machine, None, &self.set)?;
        let mut set = [self.set.clone(), if self.full_size { Vec::new() } else { small(&spec) }].concat();
        // Values are what is looked at: full-size machines keep none unless they are told to.
        if !spec.values && !self.set.iter().any(|one| one.starts_with("values")) {
            set.push("values=true".to_owned());
        }
        let options = Options { set, ..Options::default() };
        self.may_fail(&options)?;
        self.scenario("", "")?.table_doubts(&options).iter().for_each(say);
        let plan = self.plan(&options)?;
        if !plan.blueprint.spec.values {
            let error = Diagnostic::new("this machine keeps no values, which is what is looked at");
            return Err(error.expected("values = true").into());
        }
        interrupt.heed();
        let total = self.all(&plan, &interrupt)?;
        let small = match &total.failure {
            Some(failure) => Some(self.keep(&plan, &options, failure, &interrupt)?),
            None => None,
        };
        let mut output = Output::standard();
        let protocol = &plan.blueprint.spec.protocol;
        match self.format {
            Format::Json => output.json(&self.document(protocol, &total, small.as_ref()))?,
            Format::Text => output.put(&self.text(protocol, &total, small.as_ref()))?,
        }
        Ok(match (&total.failure, total.complete) {
            (Some(_), _) => Status::Failed,
            (None, true) => Status::Held,
            (None, false) => Status::Interrupted,
        })
    }

    /// That the scenario of a failure and the recording beside it can be written.
    fn may_fail(&self, options: &Options) -> Result<()> {
        let recording = self.failure.with_extension("rec");
        if recording == self.failure || self.failure.as_os_str() == "-" {
            let error = Diagnostic::new(format!("{} is no file for a scenario", self.failure.display()));
            return Err(error
                .expected("a file such as failure.toml: its recording goes to failure.rec")
                .into());
        }
        Outputs::default()
            .with("--failure", Some(&self.failure), Replaces::Anything)
            .with("--failure", Some(&recording), Replaces::Recordings)
            .check(|| self.scenario("", "")?.reads(options))
    }

    /// A scenario of this machine and what it is tested with, and more text of the file.
    fn scenario(&self, title: &str, more: &str) -> Result<Scenario> {
        let text = format!("title = {}\nmachine = {}\n{more}", in_toml(title), in_toml(&self.machine));
        let name = Source::new(self.failure.display().to_string(), text);
        let scenario = Scenario::parse(name, None)?;
        scenario.with(&self.tries.keys(&self.set)?)
    }

    fn plan(&self, options: &Options) -> Result<Plan> {
        let mut blueprint = self.scenario("", "")?.blueprint(options)?;
        blueprint.max_cycles = u64::MAX;
        Ok(Plan { blueprint, accesses: self.accesses, seed: self.seed })
    }

    /// Runs the rounds, and adds up those until the first that fails.
    fn all(&self, plan: &Plan, interrupt: &Interrupt) -> Result<Total> {
        let start = Instant::now();
        let count = plan.rounds();
        let told = |rounds| format!("{rounds} of {count} rounds");
        let numbers = usize::try_from(count).unwrap_or(usize::MAX);
        let done: Vec<Result<Round>> = pool::gather(numbers, self.jobs, interrupt, told, |index| {
            let round = plan.round(index as u64, &|| interrupt.is_raised());
            let failed = !round.as_ref().is_ok_and(|round| round.failure.is_none() && !round.cut);
            if failed { ControlFlow::Break(round) } else { ControlFlow::Continue(Some(round)) }
        });
        let mut total = Total {
            rounds: 0,
            accesses: 0,
            events: 0,
            seconds: 0.0,
            complete: done.len() as u64 == count,
            coverage: Coverage::default(),
            failure: None,
        };
        for round in done {
            let round = round?;
            total.rounds += 1;
            total.accesses += round.accesses;
            total.events += round.events;
            total.coverage.add(&round.coverage);
            total.complete &= !round.cut;
            if round.failure.is_some() {
                total.failure = round.failure;
                break;
            }
        }
        total.seconds = start.elapsed().as_secs_f64();
        Ok(total)
    }

    /// Makes a failure small and writes it as a scenario, with its machine as it was set.
    fn keep(
        &self,
        plan: &Plan,
        options: &Options,
        failure: &Failure,
        interrupt: &Interrupt,
    ) -> std::result::Result<Small, Trouble> {
        let mut progress = Progress::start();
        let mut told = |left: usize, all: usize| {
            progress.tell(|| format!("{} fails: {left} of {all} instructions left", failure.rule));
        };
        let stress::Small { streams, text, is_least, is_of_another } =
            shrink(plan, &failure.streams, &failure.rule, &|| interrupt.is_raised(), &mut told);
        progress.clear();
        let found = text.unwrap_or_else(|| failure.text.clone());
        // Where a transaction may take its time, the usual limit of a run comes first.
        let last = failure.machine.time_base().cycle(failure.machine.tick());
        let limit = format!("max-cycles = {}\n", last.saturating_mul(4).max(stress::LIMIT * 10));
        let work: String = streams.iter().enumerate().map(|(index, stream)| stream.text(index)).collect();
        let mut draft = Draft::of(&self.scenario(&found, &(limit + &work))?, options)?;
        draft.comment.push(format!(
            "Found by umscope stress {} --seed {}, round {}: {}.",
            self.machine, self.seed, failure.round, failure.rule
        ));
        if is_of_another {
            draft.comment.push("These are the accesses of a shorter run that breaks the same rule.".into());
        }
        draft.put_at(&self.failure);
        let name = self.failure.display().to_string();
        if let Err(error) = write_whole(&self.failure, draft.text().as_bytes()) {
            say(format_args!("found: {}: {}", failure.rule, failure.text));
            return Err(error.into());
        }
        let mut diagnosis = diagnose(&failure.machine);
        let recording = self.failure.with_extension("rec");
        let mut blame = None;
        // What has not been made small may run for long.
        let is_recorded = !interrupt.is_raised();
        if is_recorded {
            let small = Scenario::load(&name)?;
            let (told, made) = counterexample::of_run(&small, (&name, &Options::default()), None)?;
            made.write(&recording)?;
            blame = told.blame;
            if let Some(found) = &mut diagnosis {
                trace(found, failure.begun.clone(), &|| true);
            }
        } else if recording.is_file() {
            // It is of another failure.
            std::fs::remove_file(&recording)
                .map_err(|error| Trouble::Io("remove the recording of an earlier failure", error))?;
        }
        Ok(Small {
            recording: is_recorded.then_some(recording),
            found,
            is_of_another,
            is_least,
            accesses: streams.iter().map(|stream| stream.deeds.len()).sum(),
            diagnosis,
            blame,
        })
    }

    fn document(&self, protocol: &str, total: &Total, small: Option<&Small>) -> Value {
        let violation = total.failure.as_ref().map(|failure| {
            json!({
                "rule": failure.rule,
                "message": failure.text,
                "event": failure.event,
                "round": failure.round,
                "scenario": self.failure.display().to_string(),
                "recording": small.and_then(|small| Some(small.recording.as_ref()?.display().to_string())),
                "accesses": small.map(|small| small.accesses),
                "least": small.map(|small| small.is_least),
                "diagnosis": small.and_then(|small| small.diagnosis.as_ref()).map(report::diagnosis::json),
                "blame": small.and_then(|small| small.blame.as_ref()),
            })
        });
        let tables = total.coverage.tables();
        let tables = tables.iter().map(|table| {
            json!({
                "table": table.table,
                "reached": table.reached,
                "total": table.total,
                "missing": table.missing,
                "pairs": table.pairs,
            })
        });
        json!({
            "machine": self.machine,
            "protocol": protocol,
            "seed": self.seed,
            "accesses": total.accesses,
            "events": total.events,
            "rounds": total.rounds,
            "seconds": total.seconds,
            "complete": total.complete || total.failure.is_some(),
            "coverage": tables.collect::<Vec<_>>(),
            "pairs_watched_accesses": total.coverage.watched(),
            "violation": violation,
        })
    }

    fn text(&self, protocol: &str, total: &Total, small: Option<&Small>) -> String {
        let mut lines = vec![format!(
            "{} with {protocol}: {}, {} in {:.1} s",
            self.machine,
            counted(total.accesses, "access"),
            counted(total.events, "event"),
            total.seconds
        )];
        for table in total.coverage.tables() {
            lines.push(format!(
                "{}: {} of {} cells used, {} pairs of cells in {} accesses watched",
                table.table,
                table.reached,
                table.total,
                table.pairs,
                grouped(total.coverage.watched())
            ));
            if !table.missing.is_empty() {
                lines.push(format!("  not used: {}", table.missing.join(", ")));
            }
        }
        match (&total.failure, small) {
            (Some(failure), Some(small)) => {
                let (event, round) = (failure.event, failure.round);
                lines.push(format!(
                    "FAILED in round {round} at event {event}: {}: {}",
                    failure.rule, failure.text
                ));
                lines.extend(small.diagnosis.iter().flat_map(Diagnosis::lines));
                let file = self.failure.display();
                let of = if small.is_of_another { " of a shorter run" } else { "" };
                let shows = if small.accesses == 1 { "that shows it is" } else { "that show it are" };
                lines.push(format!(
                    "{}{of} {shows} in {file}: {}",
                    counted(small.accesses as u64, "instruction"),
                    small.found
                ));
                lines.extend(small.blame.iter().flatten().cloned());
                lines.push(match &small.recording {
                    Some(recording) if small.is_least => {
                        format!("umscope debug {} opens their run", recording.display())
                    }
                    Some(recording) => format!(
                        "fewer may do; umscope debug {} opens their run, umscope shrink {file} goes on",
                        recording.display()
                    ),
                    None => format!(
                        "interrupted: fewer may do; umscope debug {file} runs them, umscope shrink {file} goes on"
                    ),
                });
            }
            _ if total.complete && self.tries.fault.is_empty() => lines.push("nothing broke".into()),
            _ if total.complete => lines.push(format!(
                "with {} nothing broke: {}",
                self.tries.fault.join(" and "),
                elsewhere(&self.tries.fault, "other machines or more accesses")
            )),
            _ => lines.push("interrupted; nothing broke so far".into()),
        }
        lines.join("\n") + "\n"
    }
}

/// What makes the caches of a full-size machine as small as they can be: one set each.
fn small(spec: &MachineSpec) -> Vec<String> {
    let Some(gpu) = spec.gpu.as_ref().filter(|gpu| gpu.l2.cache.size.0 > BIG) else { return Vec::new() };
    let cache =
        |key: &str, ways: u32, line: u32| format!("{key}.size={} B", u64::from(ways) * u64::from(line));
    let mut set = vec![
        cache("gpu.l1", gpu.l1.ways, gpu.l1.line),
        cache("gpu.l2", gpu.l2.cache.ways, gpu.l2.cache.line),
        cache("gpu.memory", gpu.memory.ways, gpu.memory.secondary_block),
        cache("host.l1", spec.host.l1.ways, spec.host.l1.line),
    ];
    set.extend(spec.host.llc.as_ref().map(|llc| cache("host.llc", llc.ways, llc.line)));
    set
}

/// Caches of a machine whose L2 has more bytes than this are made small.
const BIG: u64 = 64 << 10;
