//! Nothing is dead, but a transaction is too old: what happens when the machine goes on tells starvation from livelock.

use std::collections::BTreeMap;
use std::hash::{Hash, Hasher};

use rustc_hash::FxHasher;

use super::graph::Graph;
use super::{Diagnosis, Sentence, Verdict};
use crate::machine::{Machine, StepOutcome};
use crate::model::inspect::Inspect;
use crate::model::message::TxnNumber;
use crate::model::record::{Records, What};
use crate::model::text::plural;
use crate::model::wait::Party;
use crate::model::warp::WarpState;

/// Events that a fork is run on, at most.
const EVENTS: u64 = 20_000;

/// Tells what keeps `overdue` from ending.
pub fn judge(machine: &Machine, overdue: TxnNumber, graph: &Graph<'_>, diagnosis: &mut Diagnosis) {
    let mut fork = machine.clone();
    let mut records = Records::listening();
    let mut ended: BTreeMap<TxnNumber, String> = BTreeMap::new();
    let mut seen = BTreeMap::from([(shape(&fork), 0)]);
    let (mut round, mut has_passed) = (None, false);
    for after in 1..=EVENTS {
        if fork.step(&mut records) != StepOutcome::Ran {
            break;
        }
        for record in &records.list {
            if let (What::Complete { .. }, Some(txn)) = (&record.what, record.txn) {
                has_passed |= txn > overdue && !ended.contains_key(&overdue);
                ended.insert(txn, fork.components().path(record.at).to_owned());
            }
        }
        if ended.is_empty() && round.is_none() {
            let before = seen.insert(shape(&fork), after);
            round = before.map(|before| after - before);
        }
    }
    diagnosis.transactions = vec![overdue];
    let warp = waiting_warp(machine, overdue);
    let chain = warp.map(|warp| graph.chain(warp)).unwrap_or_default();
    diagnosis.sentences = chain.into_iter().map(|wait| Sentence::new(wait, machine)).collect();
    let ran = fork.event() - machine.event();
    if ended.is_empty() {
        diagnosis.verdict = Verdict::Livelock;
        diagnosis.notes.push(match round {
            Some(events) => {
                format!("the same state comes back after {events} events, and no access has ended")
            }
            None => format!("no access ends in the {ran} events that follow"),
        });
        return;
    }
    let younger = ended.iter().filter(|(txn, _)| **txn > overdue).count();
    let is_slow = !has_passed && ended.contains_key(&overdue);
    diagnosis.verdict = if is_slow { Verdict::Slow } else { Verdict::Starvation };
    let places: std::collections::BTreeSet<&String> = ended.values().collect();
    let places: Vec<&str> = places.into_iter().map(String::as_str).collect();
    diagnosis.notes.push(format!(
        "in the {ran} events that follow {} {}, {younger} of them issued later, at {}{}",
        plural(ended.len() as u64, "access"),
        if ended.len() == 1 { "ends" } else { "end" },
        places.join(" "),
        if ended.contains_key(&overdue) { "; in the end this one too" } else { "; this one does not" }
    ));
}

/// The warp that waits for a transaction.
fn waiting_warp(machine: &Machine, number: TxnNumber) -> Option<Party> {
    let view = machine.transaction(number)?;
    Some(Party::Warp(view.agent, view.warp))
}

/// What stands where, without times, so that a state that comes back is known again.
fn shape(machine: &Machine) -> u64 {
    let mut hasher = FxHasher::default();
    for wait in machine.wait_for_graph() {
        (wait.from, wait.to, wait.txn).hash(&mut hasher);
    }
    for (from, to, kind, range) in machine.messages_under_way() {
        (from, to, kind, range).hash(&mut hasher);
    }
    for (id, _) in machine.components().iter() {
        if let Some(agent) = machine.agent(id) {
            for warp in agent.warps {
                (warp.state == WarpState::Memory, warp.done).hash(&mut hasher);
            }
        }
    }
    hasher.finish()
}
