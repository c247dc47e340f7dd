//! Which cells of the protocol tables an exploration has used.

use std::collections::BTreeMap;

use super::system::System;
use super::tables::Shared;
use crate::model::state::{Action, State};
use crate::protocol::node::Role;

/// A cell of a table, at nodes without children (an L1) or with.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct CellId {
    pub table: String,
    /// Of a node with children.
    pub inner: bool,
    /// Position of the row in the file, and of the column.
    pub row: usize,
    pub state: State,
    pub action: Action,
}

impl CellId {
    /// As the questions of a lesson name it: `cache S read`, `inner E store`.
    #[must_use]
    pub fn name(&self) -> String {
        let part = if self.inner { "inner" } else { "cache" };
        format!("{part} {} {}", self.state, self.action.name())
    }
}

/// Every cell that the file gives to nodes that the machine has, and whether it was used.
#[must_use]
pub fn cells(system: &System, shared: &Shared) -> BTreeMap<CellId, bool> {
    let used = shared.lock().cells.clone();
    let mut all = BTreeMap::new();
    for (shape, used) in system.nodes.iter().zip(used) {
        if shape.role == Role::Root {
            continue;
        }
        let table = &shape.template.config.table;
        let inner = shape.role == Role::Inner;
        for (row, of) in table.rows.iter().enumerate() {
            let cells = if inner { &of.inner } else { &of.leaf };
            for action in Action::ALL {
                if cells.get(action.index()).is_none_or(Option::is_none) {
                    continue;
                }
                let id = CellId { table: table.name.clone(), inner, row, state: of.state, action };
                let bit = row * Action::ALL.len() + action.index();
                *all.entry(id).or_default() |= used >> bit & 1 == 1;
            }
        }
    }
    all
}
