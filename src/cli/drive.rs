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

/// Runs to the end, to the first ctrl-c, or until `each`, which sees every event's records, has seen enough.
pub fn drive(
    runner: &mut Runner,
    name: &str,
    interrupt: &Interrupt,
    mut each: impl FnMut(&Machine, &[Record]) -> Result<ControlFlow<()>, Trouble>,
) -> Result<Report, Trouble> {
    let mut progress = Progress::start();
    interrupt.heed();
    let mut trouble = None;
    let each = |machine: &Machine, records: &[Record]| {
        each(machine, records).unwrap_or_else(|found| {
            trouble = Some(found);
            ControlFlow::Break(())
        })
    };
    let ended = runner.finish_seen(each, |machine| go_on(&mut progress, name, machine, interrupt));
    trouble.map_or_else(|| Ok(report(runner, ended)), Err)
}

/// The same where nobody wants to see every event.
pub fn drive_unseen(runner: &mut Runner, name: &str, interrupt: &Interrupt) -> Report {
    let mut progress = Progress::start();
    interrupt.heed();
    let ended = runner.finish(|machine| go_on(&mut progress, name, machine, interrupt));
    report(runner, ended)
}

/// Tells how far a run is; a break at ctrl-c.
fn go_on(progress: &mut Progress, name: &str, machine: &Machine, interrupt: &Interrupt) -> ControlFlow<()> {
    progress.tell_share(|| at(name, machine));
    interrupt.control()
}

fn report(runner: &mut Runner, ended: Option<Ended>) -> Report {
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
