//! Which cells of the tables have been used, and which followed each other on one block of one node.

use std::collections::{BTreeMap, BTreeSet};

use crate::machine::Machine;
use crate::model::address::Address;
use crate::model::component::ComponentId;
use crate::model::inspect::Inspect;
use crate::model::record::{Record, What};
use crate::model::state::{Action, State};
use crate::protocol::node::Role;

/// A cell: the table, whether it is of nodes with children, row and column.
type Cell = (String, bool, State, Action);

/// What has been used so far.
#[derive(Clone, Debug, Default)]
pub struct Coverage {
    cells: BTreeMap<Cell, u64>,
    pairs: BTreeSet<(Cell, Cell)>,
    /// Accesses in whose rounds pairs were looked for.
    watched: u64,
    /// The last cell of each block at each node.
    last: BTreeMap<(ComponentId, Address), Cell>,
}

/// What has been used of one table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableCoverage {
    pub table: String,
    /// Cells that nodes of the machine have, those used, and the names of the others.
    pub total: usize,
    pub reached: usize,
    pub missing: Vec<String>,
    /// Pairs of cells that followed each other on one block.
    pub pairs: usize,
}

impl Coverage {
    /// Looks at the records of an event for pairs.
    pub fn observe(&mut self, machine: &Machine, records: &[Record]) {
        for record in records {
            let (from, action) = match record.what {
                What::Transition { from, action, .. } => (from, action),
                What::Hit { state, action, .. } => (state, action),
                What::Issue { .. } => {
                    self.watched += 1;
                    continue;
                }
                _ => continue,
            };
            let (Some(table), Some(range), false) =
                (machine.table(record.at), record.range, action == Action::Merge)
            else {
                continue;
            };
            let cell = (table.name.clone(), is_inner(machine, record.at), from, action);
            let block = range.start.block(64);
            if let Some(before) = self.last.insert((record.at, block), cell.clone()) {
                self.pairs.insert((before, cell));
            }
        }
    }

    /// Adds the cells that a machine has used.
    pub fn count(&mut self, machine: &Machine) {
        self.last.clear();
        for (id, _) in machine.components().iter() {
            // Where memory is behind a node it has no states.
            let (Some(table), Some(Role::Leaf | Role::Inner)) = (machine.table(id), machine.role(id)) else {
                continue;
            };
            let inner = is_inner(machine, id);
            for count in machine.cells(&[id]) {
                // Those of blocks that may not be kept are no part of the table's rows.
                let Some(state) = count.state else { continue };
                if table.cell(state, count.action, inner).is_some() {
                    let cell = (table.name.clone(), inner, state, count.action);
                    *self.cells.entry(cell).or_default() += count.count;
                }
            }
        }
    }

    /// Adds another round.
    pub fn add(&mut self, other: &Self) {
        for (cell, count) in &other.cells {
            *self.cells.entry(cell.clone()).or_default() += count;
        }
        self.pairs.extend(other.pairs.iter().cloned());
        self.watched += other.watched;
    }

    /// Accesses among which pairs were looked for.
    #[must_use]
    pub fn watched(&self) -> u64 {
        self.watched
    }

    /// Table by table.
    #[must_use]
    pub fn tables(&self) -> Vec<TableCoverage> {
        let names: BTreeSet<&String> = self.cells.keys().map(|(table, ..)| table).collect();
        names
            .into_iter()
            .map(|name| {
                let cells = || self.cells.iter().filter(|((table, ..), _)| table == name);
                let missing = cells().filter(|(_, count)| **count == 0);
                TableCoverage {
                    table: name.clone(),
                    total: cells().count(),
                    reached: cells().filter(|(_, count)| **count > 0).count(),
                    missing: missing.map(|(cell, _)| cell_name(cell)).collect(),
                    pairs: self.pairs.iter().filter(|((table, ..), _)| table == name).count(),
                }
            })
            .collect()
    }
}

fn is_inner(machine: &Machine, id: ComponentId) -> bool {
    machine.role(id) == Some(Role::Inner)
}

fn cell_name((_, inner, state, action): &Cell) -> String {
    let part = if *inner { "inner" } else { "cache" };
    format!("{part} {state} {}", action.name())
}
