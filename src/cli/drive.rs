//! Running something to its end without a screen, under the eyes of its user.

use std::ops::ControlFlow;

use super::exit::Trouble;
use super::interrupt::Interrupt;
use super::progress::Progress;
use crate::machine::Machine;
use crate::model::inspect::Inspect;
use crate::model::record::Record;
use crate::report::number::{grouped, percent};
use crate::scenario::{Ended, Report, Runner};

/// Events between two looks at ctrl-c and the clock.
const SLICE: u64 = 2048;

/// Runs to the end, to the first ctrl-c, or until `each`, which sees every event's records, has seen enough.
pub fn drive(
    runner: &mut Runner,
    name: &str,
    interrupt: &Interrupt,
    mut each: impl FnMut(&Machine, &[Record]) -> Result<ControlFlow<()>, Trouble>,
) -> Result<Report, Trouble> {
    let mut progress = Progress::start();
    interrupt.heed();
    while !interrupt.is_raised() {
        for _ in 0..SLICE {
            if let Some(ended) = runner.step().cloned() {
                // The event that ends a run with a violation has records too.
                let _ = each(runner.machine(), runner.records())?;
                return Ok(runner.report(ended));
            }
            if each(runner.machine(), runner.records())?.is_break() {
                return Ok(runner.so_far(Ended::Interrupted));
            }
        }
        progress.tell_share(|| at(name, runner.machine()));
    }
    Ok(runner.so_far(Ended::Interrupted))
}

/// The same where nobody wants to see every event.
pub fn drive_unseen(runner: &mut Runner, name: &str, interrupt: &Interrupt) -> Report {
    let mut progress = Progress::start();
    interrupt.heed();
    let ended = runner.finish(|machine| {
        progress.tell_share(|| at(name, machine));
        interrupt.is_raised()
    });
    match ended {
        Some(ended) => runner.report(ended),
        None => runner.so_far(Ended::Interrupted),
    }
}

/// Where a run is, and the share of its work that is done.
fn at(name: &str, machine: &Machine) -> (f64, String) {
    let cycle = machine.time_base().cycle(machine.tick());
    let (cycle, event) = (grouped(cycle), grouped(machine.event()));
    let share = machine.share_done();
    (share, format!("{name}: cycle {cycle}, event {event}, {} of the work done", percent(share)))
}
