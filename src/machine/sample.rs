//! Bundled machines for tests, with changes and without work.

use std::sync::Arc;

use super::{Blueprint, Machine};
use crate::config::{load_machine_with, load_protocol};
use crate::workload::Workload;

pub(crate) fn bundled(name: &str, changes: &[&str]) -> Machine {
    let changes: Vec<String> = changes.iter().map(|&change| change.to_owned()).collect();
    let spec = load_machine_with(name, None, &changes).unwrap();
    let blueprint = Blueprint {
        tables: vec![Arc::new(load_protocol(&spec.protocol, None).unwrap())],
        workload: Arc::new(Workload::default()),
        seed: 0,
        max_cycles: u64::MAX,
        checks: false,
        faults: Vec::new(),
        initial: Vec::new(),
        memory: Vec::new(),
        spec,
    };
    Machine::build(&blueprint).unwrap()
}
