//! Accesses end, and yet nothing goes on: all that is left of the work spins, and nobody is there who could store what it
//! waits for.

use super::{Diagnosis, Verdict};
use crate::machine::{Machine, StepOutcome};
use crate::model::inspect::Inspect;
use crate::model::record::Records;

/// Events that a fork is run on: what was stored before may still be on its way.
const EVENTS: u64 = 20_000;

/// Warps that are told one by one.
const TOLD: usize = 8;

/// Tells such warps; whether there are any.
pub fn judge(machine: &Machine, diagnosis: &mut Diagnosis) -> bool {
    let spinners = machine.lone_spinners();
    if spinners.is_empty() || !for_ever(machine) {
        return false;
    }
    diagnosis.verdict = Verdict::Livelock;
    (diagnosis.warps, diagnosis.is_stored) = (spinners.len() as u64, true);
    for (unit, slot, since) in spinners.iter().take(TOLD) {
        let warp = machine.agent(*unit).and_then(|view| view.warps.get(*slot as usize).cloned());
        let does = warp.and_then(|warp| warp.instruction).unwrap_or_default();
        let (path, cycle) = (machine.components().path(*unit), machine.time_base().cycle(*since));
        let elsewhere = machine.has_what_spins(*unit, *slot).map(|node| machine.components().path(node));
        diagnosis.is_stored &= elsewhere.is_some();
        let elsewhere = elsewhere
            .map_or_else(String::new, |node| format!("; {node} has it, and the L1 of this warp is not told"));
        diagnosis.notes.push(format!("{path} warp {slot}: {does}, since cycle {cycle}{elsewhere}"));
    }
    if spinners.len() > TOLD {
        diagnosis.notes.push(format!("and {} more", spinners.len() - TOLD));
    }
    true
}

/// Whether all of them spin still after a while.
fn for_ever(machine: &Machine) -> bool {
    let mut fork = machine.clone();
    fork.lift_limit();
    let mut silent = Records::silent();
    let goes_on = (0..EVENTS).all(|_| fork.step(&mut silent) == StepOutcome::Ran);
    goes_on && fork.lone_spinners() == machine.lone_spinners()
}
