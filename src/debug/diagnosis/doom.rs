//! Since when it could not be avoided: the first event after which no order of delivery, without new accesses, lets the
//! transactions end that never will.
//!
//! What is doomed stays doomed, so the first such event is found by halving the run. Whether a state is doomed is found
//! by trying orders, the oldest message first, up to a bound; a state in which somebody is dead already is doomed
//! without trying.

use super::graph::Graph;
use super::{Diagnosis, Verdict};
use crate::machine::Machine;
use crate::model::inspect::Inspect;
use crate::model::message::TxnNumber;
use crate::model::time::EventNumber;

/// Deliveries that are tried from one state.
const DELIVERIES: u32 = 4000;

/// Since when it could not be avoided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Doom {
    pub event: EventNumber,
    pub cycle: u64,
    /// The event before was seen to leave a way out; otherwise it only was not proved to leave none.
    pub is_first: bool,
}

/// What became of trying.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    Out,
    None,
    /// Too many orders.
    Unknown,
}

/// Finds the first event after which the diagnosis could not be avoided. `at` gives the machine at a position.
pub fn doom(diagnosis: &mut Diagnosis, mut at: impl FnMut(EventNumber) -> Option<Machine>) {
    if !matches!(diagnosis.verdict, Verdict::Deadlock | Verdict::LostMessage) || diagnosis.dead.is_empty() {
        return;
    }
    let stuck = &diagnosis.transactions;
    // An access that is not translated cannot be followed.
    if stuck.is_empty() {
        return;
    }
    // There is a way out at `free`, as far as that is `known`, and none at `doomed`.
    let (mut free, mut known, mut doomed) = (0, true, diagnosis.event);
    let mut cycle = diagnosis.cycle;
    while doomed - free > 1 {
        let middle = free + (doomed - free) / 2;
        let Some(machine) = at(middle) else { return };
        match way_out(&machine, stuck) {
            Way::None => {
                doomed = middle;
                cycle = machine.time_base().cycle(machine.tick());
            }
            way => (free, known) = (middle, way == Way::Out),
        }
    }
    diagnosis.doom = Some(Doom { event: doomed, cycle, is_first: known });
}

/// Whether some order of delivery lets those of `stuck` end that are in flight.
fn way_out(machine: &Machine, stuck: &[TxnNumber]) -> Way {
    if !Graph::new(&machine.wait_for_graph()).dead().is_empty() {
        return Way::None;
    }
    let mut left = DELIVERIES;
    search(machine, stuck, &mut left)
}

fn search(machine: &Machine, stuck: &[TxnNumber], left: &mut u32) -> Way {
    if !stuck.iter().any(|number| machine.is_in_flight(*number)) {
        return Way::Out;
    }
    let mut lanes = machine.deliverable();
    if lanes.is_empty() {
        let mut fork = machine.clone();
        while fork.deliverable().is_empty() {
            if !fork.advance_memories() {
                return Way::None;
            }
        }
        lanes = fork.deliverable();
        return branch(&fork, &lanes, stuck, left);
    }
    branch(machine, &lanes, stuck, left)
}

fn branch(machine: &Machine, lanes: &[(usize, usize)], stuck: &[TxnNumber], left: &mut u32) -> Way {
    let mut all = Way::None;
    for (channel, lane) in lanes {
        if *left == 0 {
            return Way::Unknown;
        }
        *left -= 1;
        let mut fork = machine.clone();
        fork.deliver_now(*channel, *lane);
        match search(&fork, stuck, left) {
            Way::Out => return Way::Out,
            Way::Unknown => all = Way::Unknown,
            Way::None => {}
        }
    }
    all
}
