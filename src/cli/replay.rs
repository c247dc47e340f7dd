//! `umscope replay`: makes a recorded run again without a screen, and checks that it is the same.

use std::path::{Path, PathBuf};

use clap::Args;
use serde_json::json;

use super::arguments::Format;
use super::exit::{Ended, Status, Trouble, say};
use super::interrupt::Interrupt;
use super::output::Output;
use super::progress::Progress;
use super::work::{self, Work};
use crate::diagnostic::Diagnostic;
use crate::machine::{Machine, StepOutcome};
use crate::model::inspect::Inspect;
use crate::model::record::Records;
use crate::model::text::digits;
use crate::recording::{self, Differs, Mark, Recording, TraceFile, Verifier};
use crate::report::number::grouped;

/// Make a recorded run again, and check that it is the same
///
/// A recording holds the scenario, its machine and protocol files, what was set, and what was done by hand; a trace is
/// named with its size and digest. So it replays in any folder and after the files have changed. Its digests are
/// compared with those of the run made now.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  umscope run umh/fig5-b1 --record b1.rec
  umscope replay b1.rec
  umscope debug b1.rec                      open it: at its end, if it ended badly or was kept there

A recording that was cut off (its run was killed) is good up to there, and replays so far.

JSON: recording, scenario, made_by, complete (it was not cut off), ended (finished, deadlock, violation, failed, \
limit, interrupted or moment; null if it was cut off), event and cycle (up to which it was replayed), digests \
(that agree), differs (null, or from_event, from_cycle, to_event, to_cycle, expected, found).

Exit status: 0 it is the same; 1 code or data no longer agree: the first interval that differs is named; 2 it is no \
recording, or broken; 130 interrupted.")]
pub struct Replay {
    /// A recording
    #[arg(value_name = "RECORDING")]
    recording: PathBuf,

    /// How to write the result
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

impl Replay {
    pub fn carry_out(&self) -> Ended {
        let interrupt = Interrupt::install()?;
        let name = self.recording.display().to_string();
        let recording = recording::read(Path::new(&self.recording))?;
        if let Some(changed) = recording.origin.trace.as_ref().map(TraceFile::changed).transpose()?.flatten()
        {
            say(format_args!("{name} cannot be replayed: {changed}"));
            return Ok(Status::Failed);
        }
        let work = Work::of_recording(&name, recording.clone(), &interrupt)?;
        let mut machine = work.prepare()?.machine;
        let replayed = replay(&mut machine, &recording, &name, &interrupt);
        work::trusted(machine.workload())?;
        let replayed = match replayed {
            Ok(Some(agreed)) => Ok(agreed),
            Ok(None) => return Ok(Status::Interrupted),
            Err(differs) => Err(differs),
        };
        self.tell(&name, &recording, &machine, &replayed)?;
        Ok(if replayed.is_ok() { Status::Held } else { Status::Failed })
    }

    fn tell(
        &self,
        name: &str,
        recording: &Recording,
        machine: &Machine,
        replayed: &Result<u64, Differs>,
    ) -> Result<(), Trouble> {
        let mut output = Output::standard();
        match self.format {
            Format::Text => output.put(&text(name, recording, machine, replayed)),
            Format::Json => output.json(&document(name, recording, machine, replayed)),
        }
    }
}

/// That a recording, if `work` is one, is made again as it was recorded.
///
/// # Errors
/// If it is not.
pub fn is_as_recorded(work: &Work, machine: &Machine, interrupt: &Interrupt) -> Result<(), Trouble> {
    let Some(recording) = &work.recording else { return Ok(()) };
    match replay(&mut machine.clone(), recording, &work.name, interrupt) {
        Ok(_) => Ok(()),
        Err(Differs { after, expected, .. }) => {
            let (from, to) = (after.event, expected.event);
            let text = format!(
                "{} is not made again as it was recorded: it differs between events {from} and {to}",
                work.name
            );
            Err(Diagnostic::new(text).expected("the build and files that it was recorded with").into())
        }
    }
}

/// Events between two looks at ctrl-c and the clock.
const SLICE: u32 = 2048;

/// Makes the run again. How many digests agree; nothing if somebody interrupted it.
fn replay(
    machine: &mut Machine,
    recording: &Recording,
    name: &str,
    interrupt: &Interrupt,
) -> Result<Option<u64>, Differs> {
    let mut verifier = Verifier::new(machine, recording.digests());
    let mut progress = Progress::start();
    let mut silent = Records::silent();
    interrupt.heed();
    verifier.look(machine)?;
    while verifier.next().is_some() {
        for _ in 0..SLICE {
            if machine.step(&mut silent) != StepOutcome::Ran {
                return verifier.finish(machine).map(Some);
            }
            verifier.look(machine)?;
            if verifier.next().is_none() {
                break;
            }
        }
        if interrupt.is_raised() {
            return Ok(None);
        }
        progress.tell(|| format!("{name}: event {}", grouped(machine.event())));
    }
    verifier.finish(machine).map(Some)
}

fn at(mark: &Mark) -> String {
    format!("event {} (cycle {})", mark.event, mark.cycle)
}

fn text(name: &str, recording: &Recording, machine: &Machine, replayed: &Result<u64, Differs>) -> String {
    let origin = &recording.origin;
    let mut text = format!("{name}: {}, recorded by umscope {}\n", origin.name, origin.made_by);
    match replayed {
        Ok(agreed) => {
            let here = Mark::of(machine);
            text.push_str(&format!(
                "the same up to {}: {agreed} digest{} agree{}\n",
                at(&here),
                if *agreed == 1 { "" } else { "s" },
                if *agreed == 1 { "s" } else { "" },
            ));
            text.push_str(&match &recording.end {
                Some(end) => format!("ended there: {}\n", end.how.name()),
                None => "the recording was cut off: what came then is not known\n".to_owned(),
            });
        }
        Err(Differs { after, expected, found }) => {
            let how = match found {
                Some(found) if found.event == expected.event => {
                    format!("the digest is {}, not {}", digits(found.digest), digits(expected.digest))
                }
                _ => format!("the run ends at {} already", at(&Mark::of(machine))),
            };
            text.push_str(&format!("differs between {} and {}: {how}\n", at(after), at(expected)));
            if origin.made_by != env!("CARGO_PKG_VERSION") {
                text.push_str(&format!("this is umscope {}\n", env!("CARGO_PKG_VERSION")));
            }
        }
    }
    text
}

fn document(
    name: &str,
    recording: &Recording,
    machine: &Machine,
    replayed: &Result<u64, Differs>,
) -> serde_json::Value {
    let differs = replayed.as_ref().err().map(|Differs { after, expected, found }| {
        json!({
            "from_event": after.event,
            "from_cycle": after.cycle,
            "to_event": expected.event,
            "to_cycle": expected.cycle,
            "expected": digits(expected.digest),
            "found": found.map(|found| digits(found.digest)),
        })
    });
    json!({
        "recording": name,
        "scenario": recording.origin.name,
        "made_by": recording.origin.made_by,
        "complete": recording.end.is_some(),
        "ended": recording.end.as_ref().map(|end| end.how.name()),
        "event": machine.event(),
        "cycle": machine.time_base().cycle(machine.tick()),
        "digests": replayed.as_ref().ok(),
        "differs": differs,
    })
}
