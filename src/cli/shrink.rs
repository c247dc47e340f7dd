//! `umscope shrink`: the smallest scenario that fails in the same way.

use std::io::Write;
use std::path::PathBuf;

use clap::Args;

use super::arguments::Target;
use super::clock::{self, Clock};
use super::destination::{self, Destination};
use super::exit::{Ended, Status, Trouble, say};
use super::interrupt::Interrupt;
use super::outputs::{Outputs, Replaces};
use super::work::Work;
use crate::diagnostic::{Diagnostic, Result};
use crate::report::number::grouped;
use crate::scenario::shrink::{Extent, Shrinker};

/// Leave out of a failing scenario all that it does not need to fail
///
/// Accesses, instructions, GPUs, compute units, cores, slices and blocks go, one after the other, while the same check or
/// expectation fails or it still ends in a deadlock. Kernels and traces are written out as programs where they are
/// small enough.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  umscope shrink mine.toml --output small.toml
  umscope shrink counterexample.rec > small.toml

What comes of it is the same every time, whatever the number of cores. ctrl-c ends it with the smallest found so far.

Exit status: 0 it was shrunk; 2 wrong input, or a scenario that does not fail; 130 interrupted (the smallest so far was \
written).")]
pub struct Shrink {
    #[command(flatten)]
    target: Target,

    /// Where to write the scenario; standard output without it. A file that is there is replaced at the end
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
}

impl Shrink {
    pub fn carry_out(&self) -> Ended {
        let interrupt = Interrupt::install()?;
        let mut work = Work::open(&self.target, &interrupt)?;
        // What is expected is what fails.
        work.options.may_leave_out = false;
        let output = destination::file(self.output.as_deref());
        Outputs::default().with("--output", output, Replaces::Anything).check(|| work.reads())?;
        let mut output = Destination::open(self.output.as_deref())?;
        interrupt.heed();
        let shrunk = clock::beside(&work.name, |clock| shrink(&work, clock, &interrupt))?;
        let Some((shrinker, before)) = shrunk else {
            if interrupt.is_raised() {
                return Ok(Status::Interrupted);
            }
            return Err(does_not_fail(&work).into());
        };
        let mut best = shrinker.best(&work.name);
        if let Some(path) = &self.output {
            best.put_at(path);
        }
        let text = best.text();
        output.write_all(text.as_bytes()).map_err(|error| Trouble::Io("write the scenario", error))?;
        output.finish()?;
        let notes = shrinker.notes().iter();
        notes.for_each(|note| say(format_args!("{}: {note}", work.name)));
        say(format_args!(
            "{}: {}; {} left, after {} tries",
            work.name,
            shrinker.target(),
            shrinker.extent().of(before),
            grouped(shrinker.tried())
        ));
        Ok(if interrupt.is_raised() { Status::Interrupted } else { Status::Held })
    }
}

/// Leaves out what can be left out, until an interrupt; and how large it was. Nothing if it does not fail.
fn shrink(work: &Work, clock: &Clock, interrupt: &Interrupt) -> Result<Option<(Shrinker, Extent)>> {
    let stop = interrupt.flag();
    clock.say("first run");
    let Some(mut shrinker) = Shrinker::new(&work.scenario, &work.options, stop)? else { return Ok(None) };
    let before = shrinker.extent();
    while !interrupt.is_raised() && !shrinker.advance(stop) {
        clock.say(format!("{} tried, {} left", grouped(shrinker.tried()), shrinker.extent()));
    }
    Ok(Some((shrinker, before)))
}

fn does_not_fail(work: &Work) -> Diagnostic {
    let end = work.recording.as_ref().and_then(|recording| recording.end.as_ref());
    let error = Diagnostic::new(match end.and_then(|end| end.found.as_ref()) {
        // Of what never ends there is no run that fails.
        Some(found) => {
            format!("{} does not fail by itself: what was found is how it may go on ({found})", work.name)
        }
        None => format!("{} does not fail: there is nothing to shrink", work.name),
    });
    error.expected("a failed check or expectation, or a deadlock")
}
