//! Since when it could not be avoided: the first event after which no order of delivery, without new accesses, lets the
//! transactions end that never will.
//!
//! What is doomed stays doomed, so the first such event is found by halving the run. Whether a state is doomed is found
//! by trying orders, the oldest message first, up to a bound; a state in which somebody is dead already is doomed
//! without trying.

use std::collections::BTreeSet;

use super::graph::Graph;
use super::{Diagnosis, Verdict};
use crate::machine::Machine;
use crate::model::inspect::Inspect;
use crate::model::message::TxnNumber;
use crate::model::time::EventNumber;

/// Deliveries that are tried from one state.
const DELIVERIES: u32 = 4000;

/// Each of them may keep a machine: of a large one fewer are tried, so many bytes of them, and so many deliveries at least.
const BYTES: usize = 256 << 20;
const FEWEST: u32 = 100;

fn deliveries(machine: &Machine) -> u32 {
    let fits = BYTES / machine.footprint().max(1);
    u32::try_from(fits).unwrap_or(DELIVERIES).clamp(FEWEST, DELIVERIES)
}

/// What is known of since when it could not be avoided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Doom {
    Since {
        event: EventNumber,
        cycle: u64,
        /// The event before was seen to leave a way out; otherwise it only was not proved to leave none.
        is_first: bool,
    },
    /// It can be avoided even now: some order of delivery, without new accesses, ends it.
    Avoidable,
    /// Not even for the last position was it decided within so many deliveries.
    Open(u32),
}

/// What became of trying.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    Out,
    None,
    /// Too many orders, or what would have to come is no message.
    Unknown,
}

/// Finds the first event after which the diagnosis could not be avoided. `at` gives the machine at a
/// position, of which `first` is the first; it is not found if that gives none, or somebody has enough.
pub fn doom(
    diagnosis: &mut Diagnosis,
    first: EventNumber,
    mut at: impl FnMut(EventNumber) -> Option<Machine>,
    goes_on: &dyn Fn() -> bool,
) {
    let stuck = &diagnosis.transactions;
    match diagnosis.verdict {
        // Who spins makes new accesses: orders of delivery do not matter.
        Verdict::Livelock if stuck.is_empty() => return,
        Verdict::Deadlock | Verdict::LostMessage | Verdict::LostWakeUp => {}
        Verdict::Livelock | Verdict::Starvation | Verdict::Slow => {
            let Some(machine) = at(diagnosis.event) else { return };
            let found = match way_out(&machine, stuck, goes_on) {
                Way::None => None,
                Way::Out => Some(Doom::Avoidable),
                Way::Unknown => Some(Doom::Open(deliveries(&machine))),
            };
            if !goes_on() {
                return;
            }
            if found.is_some() {
                diagnosis.doom = found;
                return;
            }
        }
        Verdict::Unknown => return,
    }
    // There is a way out at `free`, as far as that is `known`, and none at `doomed`.
    let (mut free, mut known, mut doomed) = (first, !stuck.is_empty(), diagnosis.event);
    let mut cycle = diagnosis.cycle;
    // A run may begin where it is too late.
    if first > 0
        && let Some(machine) = at(first).filter(|machine| way_out(machine, stuck, goes_on) == Way::None)
    {
        (doomed, known, cycle) = (first, false, machine.time_base().cycle(machine.tick()));
    }
    while doomed.saturating_sub(free) > 1 {
        let middle = free + (doomed - free) / 2;
        let Some(machine) = at(middle) else { return };
        let way = way_out(&machine, stuck, goes_on);
        if !goes_on() {
            return;
        }
        match way {
            Way::None => {
                doomed = middle;
                cycle = machine.time_base().cycle(machine.tick());
            }
            way => (free, known) = (middle, way == Way::Out),
        }
    }
    diagnosis.doom = Some(Doom::Since { event: doomed, cycle, is_first: known });
}

/// Whether some order of delivery lets those of `stuck` end that are in flight. Without any, as of an access that is not
/// translated, only that somebody is dead already is seen.
fn way_out(machine: &Machine, stuck: &[TxnNumber], goes_on: &dyn Fn() -> bool) -> Way {
    if is_dead(machine) {
        return Way::None;
    }
    if stuck.is_empty() {
        return Way::Unknown;
    }
    search(machine, stuck, goes_on)
}

fn is_dead(machine: &Machine) -> bool {
    !Graph::new(&machine.wait_for_graph()).dead().is_empty()
}

/// Depth first, the oldest message first; what comes back to where it was before leads nowhere new.
fn search(machine: &Machine, stuck: &[TxnNumber], goes_on: &dyn Fn() -> bool) -> Way {
    let mut seen = BTreeSet::new();
    let mut ways: Vec<(Machine, Vec<(usize, usize)>)> = Vec::new();
    let mut next = Some(machine.clone());
    for _ in 0..=deliveries(machine) {
        if !goes_on() {
            break;
        }
        if let Some(mut machine) = next.take() {
            let left: Vec<_> = stuck.iter().filter(|number| machine.is_in_flight(**number)).collect();
            // An access may end and its warp not be told.
            if left.is_empty() && !is_dead(&machine) {
                return Way::Out;
            }
            let is_new = machine.untimed().is_none_or(|state| seen.insert((state, left.len())));
            if is_new && !left.is_empty() && stir(&mut machine) {
                let mut lanes = machine.deliverable();
                lanes.reverse();
                ways.push((machine, lanes));
            }
        }
        while ways.last().is_some_and(|(_, lanes)| lanes.is_empty()) {
            ways.pop();
        }
        let Some((machine, lanes)) = ways.last_mut() else { return Way::None };
        if let Some((channel, lane)) = lanes.pop() {
            let mut fork = machine.clone();
            fork.deliver_now(channel, lane);
            next = Some(fork);
        }
    }
    Way::Unknown
}

/// Lets memories work until something can be delivered; whether it can.
fn stir(machine: &mut Machine) -> bool {
    while machine.deliverable().is_empty() {
        if !machine.advance_memories() {
            return false;
        }
    }
    true
}
