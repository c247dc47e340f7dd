//! A changed part of a protocol's table: one cell, one rule of a directory, or one merge.

use std::fmt;
use std::sync::Arc;

use super::table::{Cell, DirectoryRule, Probe, Table, When};
use crate::model::message::MessageKind;
use crate::model::state::{Action, State};
use crate::model::text::plural;

/// What is changed in a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Change {
    /// A cell of `[cache]`. A node with children takes it over if its own cell is the same, as it does from the file.
    /// `None`: impossible.
    Cache(State, Action, Option<Cell>),
    /// A cell of a node with children only.
    Inner(State, Action, Option<Cell>),
    /// The rule at this position (from 0) for a request; at the end, one more. `None`: it is taken out.
    Directory(MessageKind, usize, Option<DirectoryRule>),
    /// The state that a node in the second state has after dirty bytes came from a child in the first. `None`: the same
    /// as before. Of answers to probes, too, unless the table has merges of their own for these.
    Merge(State, State, Option<State>),
    /// The same of answers to probes only.
    MergeAnswer(State, State, Option<State>),
}

/// A change of the table of this name.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Mutation {
    pub table: Arc<str>,
    pub change: Change,
}

/// Requests that a directory has rules for.
pub const REQUESTS: [MessageKind; 3] = [MessageKind::Read, MessageKind::ReadNc, MessageKind::Write];

impl Mutation {
    /// Changes the table of its name among `tables`.
    ///
    /// # Errors
    /// If none has that name, or it has no such row or rule.
    pub fn apply_to(&self, tables: &mut [Arc<Table>]) -> Result<(), String> {
        let found = tables.iter_mut().find(|table| *table.name == *self.table);
        let table = found.ok_or_else(|| format!("the machine has no protocol {}", self.table))?;
        *table = Arc::new(self.change.apply(table)?);
        Ok(())
    }
}

impl Change {
    /// The table with this change; everything else, its name too, stays.
    ///
    /// # Errors
    /// If the table has no such row, or no such rule.
    pub fn apply(&self, table: &Table) -> Result<Table, String> {
        let mut changed = table.clone();
        match *self {
            Self::Cache(state, action, cell) => {
                let row = changed.rows.iter_mut().find(|row| row.state == state);
                let row = row.ok_or_else(|| no_state(table, state))?;
                let at = action.index();
                if row.inner.get(at) == row.leaf.get(at) {
                    put(&mut row.inner, at, cell);
                }
                put(&mut row.leaf, at, cell);
            }
            Self::Inner(state, action, cell) => {
                let row = changed.rows.iter_mut().find(|row| row.state == state);
                put(&mut row.ok_or_else(|| no_state(table, state))?.inner, action.index(), cell);
            }
            Self::Directory(request, index, rule) => {
                let rules = match request {
                    MessageKind::ReadNc => &mut changed.read_nc,
                    MessageKind::Write => &mut changed.write,
                    _ => &mut changed.read,
                };
                let count = rules.len();
                match rule {
                    Some(rule) if index == count => rules.push(rule),
                    _ if index >= count => {
                        let rules = plural(count as u64, "rule");
                        return Err(format!("{} has {rules} for {}", table.name, request.name()));
                    }
                    Some(rule) => drop(rules.splice(index..=index, [rule])),
                    None => drop(rules.remove(index)),
                }
            }
            Self::Merge(child, own, after) => {
                replace_merge(table, &mut changed.merge, (child, own, after))?;
                if table.answer_merge == table.merge {
                    changed.answer_merge.clone_from(&changed.merge);
                }
            }
            Self::MergeAnswer(child, own, after) => {
                replace_merge(table, &mut changed.answer_merge, (child, own, after))?;
            }
        }
        Ok(changed)
    }
}

fn replace_merge(
    table: &Table,
    merges: &mut Vec<(State, State, State)>,
    (child, own, after): (State, State, Option<State>),
) -> Result<(), String> {
    for state in [Some(child), Some(own), after].into_iter().flatten() {
        table.row(state).ok_or_else(|| no_state(table, state))?;
    }
    merges.retain(|(from, before, _)| (*from, *before) != (child, own));
    merges.extend(after.map(|after| (child, own, after)));
    Ok(())
}

fn put(cells: &mut [Option<Cell>; Action::ALL.len()], at: usize, cell: Option<Cell>) {
    if let Some(slot) = cells.get_mut(at) {
        *slot = cell;
    }
}

fn no_state(table: &Table, state: State) -> String {
    format!("{} has no state {state}", table.name)
}

/// As it is written: `cache N read = ack > I`.
impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Cache(state, action, cell) => {
                write!(f, "cache {state} {} = {}", action.name(), cell_text(cell))
            }
            Self::Inner(state, action, cell) => {
                write!(f, "inner {state} {} = {}", action.name(), cell_text(cell))
            }
            Self::Directory(request, index, rule) => {
                let rule = rule.map_or_else(|| "none".to_owned(), rule_text);
                write!(f, "directory {} {} = {rule}", request.name(), index + 1)
            }
            Self::Merge(child, own, after) | Self::MergeAnswer(child, own, after) => {
                let word = if matches!(self, Self::Merge(..)) { "merge" } else { "merge-answer" };
                let after = after.map_or_else(|| "none".to_owned(), |after| after.to_string());
                write!(f, "{word} {child} {own} = {after}")
            }
        }
    }
}

impl fmt::Display for Mutation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.table, self.change)
    }
}

/// A cell as a protocol file writes it.
#[must_use]
pub fn cell_text(cell: Option<Cell>) -> String {
    cell.map_or_else(|| "impossible".to_owned(), |cell| cell.to_string())
}

/// A rule of a directory as a protocol file writes it.
#[must_use]
pub fn rule_text(rule: DirectoryRule) -> String {
    let when = match rule.when {
        When::Always => "",
        When::OwnedByAnother => "when = \"owned by another\", ",
        When::NoOtherSharers => "when = \"no sharers\", ",
    };
    let probe = match rule.probe {
        Probe::Nobody => "",
        Probe::ReadOwner => "probe = \"read owner\", ",
        Probe::WriteOthers => "probe = \"write others\", ",
    };
    format!("{{ {when}{probe}grant = \"{}\" }}", rule.grant)
}
