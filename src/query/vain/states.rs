//! Blocks never have a state that no table has, nor get one that nothing leads to; and memories have none.

use std::sync::Arc;

use super::{Possible, Scope, is_of_states};
use crate::model::component::{ComponentId, ComponentKind};
use crate::model::state::State;
use crate::protocol::node::Role;
use crate::protocol::table::{Cell, Next, Row, Table};
use crate::query::operand::Named;

impl<'a> Possible<'a> {
    /// That what is meant keeps no states: memories, or what holds no blocks at all.
    pub(super) fn stateless(&self, named: &Named) -> Option<String> {
        let mut meant =
            self.components.iter().filter(|(id, _)| named.contains(*id, self.components)).peekable();
        let (_, first) = meant.peek()?;
        let path = first.path.clone();
        let keeps = |id: ComponentId| matches!(self.machine.role(id), Some(Role::Leaf | Role::Inner));
        (!meant.any(|(id, _)| keeps(id))).then(|| format!("{path} keeps no state"))
    }

    /// The tables of what keeps states and may be meant, each once for caches without children and once for others; whether it is
    /// for the former.
    fn tables(&self, scope: &Scope<'_>) -> Vec<(&'a Arc<Table>, bool)> {
        let mut tables: Vec<(&'a Arc<Table>, bool)> = Vec::new();
        for (id, _) in self.components.iter().filter(|(id, _)| scope.admits(*id, self.components)) {
            let (Some(table), Some(role @ (Role::Leaf | Role::Inner))) =
                (self.machine.table(id), self.machine.role(id))
            else {
                continue;
            };
            let is_leaf = role == Role::Leaf;
            if !tables.iter().any(|(known, leaf)| known.name == table.name && *leaf == is_leaf) {
                tables.push((table, is_leaf));
            }
        }
        tables
    }

    /// Why no block that may be meant has a state, or none gets it.
    pub(super) fn state(
        &self,
        (kind, field): (&str, &str),
        state: State,
        scope: &Scope<'_>,
    ) -> Option<String> {
        let mut tables = self.tables(scope);
        if !is_of_states(kind) || tables.is_empty() {
            return None;
        }
        let all = names(&tables);
        tables.retain(|(table, _)| table.row(state).is_some());
        if tables.is_empty() {
            return Some(format!("{state} is no state of {all}"));
        }
        // Cells may be changed under way, and one can go back behind that; which states there are stays.
        let may_change = self.machine.adopts();
        let may_come = tables.iter().any(|(table, is_leaf)| leads(table, *is_leaf, state));
        if field != "to" || may_change || may_come {
            return None;
        }
        let there = if scope.is_placed() { " there" } else { "" };
        Some(format!("nothing in {} leads a block to {state}{there}", names(&tables)))
    }

    /// That what is meant has its misses in a tag miss handler, which tells of them otherwise.
    pub(super) fn tag_entries(&self, named: &Named) -> Option<String> {
        self.spec.gpu.as_ref()?.tags.as_ref()?;
        let mut meant =
            self.components.iter().filter(|(id, _)| named.contains(*id, self.components)).peekable();
        let (_, first) = meant.peek()?;
        let path = first.path.clone();
        let is_memory = meant.all(|(_, part)| part.kind == ComponentKind::Memory);
        is_memory.then(|| format!("tag records tell of the entries of {path} and its like"))
    }
}

fn names(tables: &[(&Arc<Table>, bool)]) -> String {
    let mut names: Vec<&str> = Vec::new();
    for (table, _) in tables {
        if !names.contains(&table.name.as_str()) {
            names.push(&table.name);
        }
    }
    names.join(" or ")
}

/// Whether anything in a table may lead a block of a cache, without children or with some, to one of its states.
pub(super) fn leads(table: &Table, is_leaf: bool, to: State) -> bool {
    // What a child hands on is performed as in a cache without children.
    let cells = |row: &Row| [row.leaf, if is_leaf { row.leaf } else { row.inner }];
    let is_next = |cell: Cell| match cell.next {
        Next::Same => false,
        Next::To(next) => next == to,
        // What is granted is for others to say.
        Next::Granted => true,
    };
    let mut merges = table.merge.iter().chain(&table.answer_merge);
    to == State::I
        || table.rows.iter().flat_map(cells).flatten().flatten().any(is_next)
        || merges.any(|(_, _, after)| *after == to)
        || table.rows.iter().any(|row| table.cleaned(row.state) == Some(to))
}
