//! Bundled machines for tests, with changes and with or without work.

use std::sync::Arc;

use super::{Blueprint, Machine};
use crate::config::{load_machine_with, load_protocol};
use crate::model::access::AccessKind;
use crate::model::address::{Address, Range};
use crate::model::fault::Fault;
use crate::model::operation::{Lanes, Operation, StoreValue, WarpAccess};
use crate::workload::{HOST, Operations, Program, Task, TaskKind, Workload};

/// A bundled machine without work.
pub(crate) fn bundled(name: &str, changes: &[&str]) -> Machine {
    working(name, changes, &[])
}

/// A bundled machine; each of some agents loads or stores at addresses, one after the other.
pub(crate) fn working(name: &str, changes: &[&str], work: &[(&str, AccessKind, Vec<u64>)]) -> Machine {
    let tasks = work.iter().map(|(agent, kind, addresses)| program(agent, *kind, addresses));
    performing(name, changes, tasks.collect())
}

/// Loads or stores of an agent, one after the other.
pub(crate) fn program(agent: &str, kind: AccessKind, addresses: &[u64]) -> Task {
    let accesses = addresses.iter().map(|&address| {
        Operation::Access(WarpAccess {
            kind,
            width: 4,
            lanes: Lanes::one(Address(address)),
            value: StoreValue::Bytes([1; 4].into_iter().collect()),
            label: None,
        })
    });
    let operations = Operations::Listed(accesses.collect());
    let what = TaskKind::Program { agent: agent.to_owned(), warp: None, operations };
    Task { id: agent.into(), after: Vec::new(), delay: 0, launch: None, what }
}

/// All that a trace can name: what 65,537 scattered accesses seem to touch.
pub(crate) fn everything() -> Vec<Range> {
    (0..1 << 18).map(|piece| Range::new(Address(piece << 31), 1 << 31)).collect()
}

#[derive(Debug)]
struct Everything;

impl Program for Everything {
    fn operation(&self, _: u64) -> Option<Operation> {
        None
    }
    fn footprint(&self) -> Vec<Range> {
        everything()
    }
}

/// What the host does that touches everything.
pub(crate) fn touching_everything() -> TaskKind {
    let operations = Operations::Computed(Arc::new(Everything));
    TaskKind::Program { agent: HOST.to_owned(), warp: None, operations }
}

/// A bundled machine with these tasks.
pub(crate) fn performing(name: &str, changes: &[&str], tasks: Vec<Task>) -> Machine {
    faulty(name, changes, tasks, Vec::new())
}

/// The same with injected faults.
pub(crate) fn faulty(name: &str, changes: &[&str], tasks: Vec<Task>, faults: Vec<Fault>) -> Machine {
    let changes: Vec<String> = changes.iter().map(|&change| change.to_owned()).collect();
    let mut spec = load_machine_with(name, None, &changes).unwrap();
    let mut names: Vec<String> = spec.protocols().into_iter().map(|name| (*name).clone()).collect();
    names.dedup();
    let blueprint = Blueprint {
        first_pass: super::FirstPass::default(),
        tables: names.iter().map(|name| Arc::new(load_protocol(name, None).unwrap())).collect(),
        workload: Arc::new(Workload { tasks, ..Workload::default() }),
        seed: 0,
        max_cycles: u64::MAX,
        checks: true,
        faults,
        initial: Vec::new(),
        memory: Vec::new(),
        allocated: Vec::new(),
        spec,
    };
    Machine::build(&blueprint).unwrap()
}
