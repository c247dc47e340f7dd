//! Mutants: a protocol with one cell of its table changed, or a machine with one rule of the engine off, on shapes that are
//! explored completely. A mutant is caught if that breaks a rule.
//!
//! One that is not is looked at once more. If no node does anything else with any input that it ever gets, the mutant is the
//! same protocol on that shape: all its effects are compared, which needs no exploration. Otherwise it was explored completely
//! without breaking anything: it is another protocol that is correct on all shapes, and differs in cost.

use super::effect::Input;
use super::hash::wide;
use super::outcome::{Outcome, explore};
use super::search::{Counts, Limits};
use super::system::System;
use super::tables::Shared;
use crate::model::fault::Fault;
use crate::model::state::{Action, State};
use crate::protocol::mutation::{Change, REQUESTS};
use crate::protocol::node::Timeless;
use crate::protocol::table::{Cell, DirectoryRule, Next, Probe, Step, Table, When};
use std::collections::BTreeSet;
use std::sync::Arc;

/// What is different about a mutant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Mutant {
    Table(Change),
    Rule(Fault),
}

impl std::fmt::Display for Mutant {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Table(change) => change.fmt(f),
            Self::Rule(fault) => write!(f, "fault {fault}"),
        }
    }
}

impl Mutant {
    /// Whether it leaves dirty bytes behind by the table: whoever has some writes them back when evicted all the same.
    #[must_use]
    pub fn is_overruled(&self, table: &Table) -> bool {
        let (state, cell, is_inner) = match self {
            Self::Table(Change::Cache(state, Action::Evict, Some(cell))) => (state, cell, false),
            Self::Table(Change::Inner(state, Action::Evict, Some(cell))) => (state, cell, true),
            _ => return false,
        };
        let own = table.cell(*state, Action::Evict, is_inner).map(|cell| cell.step);
        own == Some(Step::Writeback) && cell.step != Step::Writeback
    }
}

/// All mutants of a table: each cell, directory rule and merge changed in one way, and each rule of the engine off.
#[must_use]
pub fn all(table: &Table) -> Vec<Mutant> {
    let mut changes = Vec::new();
    for row in table.rows.iter() {
        for action in Action::ALL {
            let of = |cells: &[Option<Cell>]| cells.get(action.index()).copied().flatten();
            let (leaf, inner) = (of(&row.leaf), of(&row.inner));
            changes.extend(cells(table, action, leaf).map(|cell| Change::Cache(row.state, action, cell)));
            if inner != leaf {
                changes
                    .extend(cells(table, action, inner).map(|cell| Change::Inner(row.state, action, cell)));
            }
        }
    }
    for request in REQUESTS {
        let rules = table.directory(request);
        for (index, &rule) in rules.iter().enumerate() {
            let others = self::rules(table, rule, index + 1 < rules.len());
            changes.extend(others.into_iter().map(|rule| Change::Directory(request, index, rule)));
        }
    }
    changes.extend(table.merge.iter().map(|(child, own, _)| Change::Merge(*child, *own, None)));
    if table.answer_merge != table.merge {
        let answers = table.answer_merge.iter();
        changes.extend(answers.map(|(child, own, _)| Change::MergeAnswer(*child, *own, None)));
    }
    let rules = Fault::all_plain()
        .filter(|fault| !fault.is_of_pages() && !fault.is_of_selective_caching() && !fault.is_of_tags())
        .map(Mutant::Rule);
    changes.into_iter().map(Mutant::Table).chain(rules).collect()
}

/// What else a cell could be: another state, another step, or impossible.
fn cells(table: &Table, action: Action, cell: Option<Cell>) -> impl Iterator<Item = Option<Cell>> {
    let mut all = Vec::new();
    if let Some(cell) = cell {
        let states = table.rows.iter().map(|row| Next::To(row.state));
        let granted = (cell.next == Next::Granted).then_some(Next::Granted);
        let nexts: Vec<Next> = states.chain([Next::Same]).chain(granted).collect();
        all.extend(nexts.into_iter().map(|next| Cell { next, ..cell }));
        let steps: &[Step] = match action {
            Action::Load | Action::Store | Action::NStore => &[
                Step::Hit,
                Step::Ask(crate::model::message::MessageKind::Read),
                Step::Ask(crate::model::message::MessageKind::ReadNc),
                Step::Ask(crate::model::message::MessageKind::Write),
            ],
            Action::Read | Action::Write => &[Step::Data, Step::Ack],
            _ => &[Step::Writeback, Step::Notify, Step::Silent],
        };
        let asks = |step: Step| matches!(step, Step::Ask(request) if table.directory(request).is_empty());
        let fits = |step: &&Step| !asks(**step);
        all.extend(steps.iter().filter(fits).map(|&step| Cell { step, ..cell }));
    }
    let mut all: Vec<Option<Cell>> = all.into_iter().filter(|&other| Some(other) != cell).map(Some).collect();
    if cell.is_some() {
        all.push(None);
    }
    all.into_iter()
}

/// What else a rule of a directory could be; the last one of a request stays.
fn rules(table: &Table, rule: DirectoryRule, may_go: bool) -> Vec<Option<DirectoryRule>> {
    let mut all: BTreeSet<usize> = BTreeSet::new();
    let mut list = Vec::new();
    let grants: Vec<State> =
        table.rows.iter().map(|row| row.state).filter(|&state| state != State::I).collect();
    list.extend(grants.into_iter().map(|grant| DirectoryRule { grant, ..rule }));
    list.extend(
        [Probe::Nobody, Probe::ReadOwner, Probe::WriteOthers].map(|probe| DirectoryRule { probe, ..rule }),
    );
    if may_go {
        list.extend(
            [When::Always, When::OwnedByAnother, When::NoOtherSharers]
                .map(|when| DirectoryRule { when, ..rule }),
        );
    }
    for (index, other) in list.iter().enumerate() {
        if *other != rule && list.iter().position(|known| known == other) == Some(index) {
            all.insert(index);
        }
    }
    let some = all.into_iter().filter_map(|index| list.get(index).copied()).map(Some);
    some.chain(may_go.then_some(None)).collect()
}

/// What a shape does without a mutation: every input that any node ever gets, and what it makes of it.
#[derive(Debug)]
pub struct Base {
    pub outcome: Outcome,
    effects: Vec<(usize, Arc<Timeless>, Input, u128)>,
}

impl Base {
    /// Explores a system, and keeps all its effects: those of every part, also where parts are alike.
    pub fn new(system: &System, limits: Limits, go_on: impl FnMut(Counts) -> bool) -> Self {
        let system = &system.without_symmetry();
        let shared = Shared::new(system);
        let outcome = super::outcome::explore_with(system, &shared, limits, go_on);
        let mut effects = shared.lock().inputs();
        effects.sort_unstable_by_key(|(key, ..)| *key);
        let effects = effects
            .into_iter()
            .map(|(_, index, timeless, input)| {
                let made = wide(&system.run(index, &timeless, &input));
                (index, timeless, input, made)
            })
            .collect();
        Self { outcome, effects }
    }

    /// Whether every node of a mutant does with every input that one ever gets here what it does here.
    #[must_use]
    pub fn is_same(&self, mutant: &System) -> bool {
        self.effects
            .iter()
            .all(|(index, timeless, input, made)| wide(&mutant.run(*index, timeless, input)) == *made)
    }
}

/// What became of a mutant on one shape.
#[derive(Clone, Debug)]
pub enum Verdict {
    /// It does the same.
    Same,
    /// All its states are fine.
    Correct(Counts),
    Caught(Outcome),
    /// Not all of its states were looked at, and those that were are fine.
    Open(Outcome),
}

/// Looks at a mutant on one shape.
pub fn judge(base: &Base, mutant: &System, limits: Limits, go_on: impl FnMut(Counts) -> bool) -> Verdict {
    if base.is_same(mutant) {
        return Verdict::Same;
    }
    let outcome = explore(mutant, limits, go_on);
    if !outcome.violations.is_empty() {
        Verdict::Caught(outcome)
    } else if outcome.bound.is_none() {
        Verdict::Correct(outcome.counts)
    } else {
        Verdict::Open(outcome)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config;

    #[test]
    fn every_cell_rule_and_merge_has_mutants_and_none_twice() {
        let table = config::load_protocol("nmoesi", None).unwrap();
        let mutants = all(&table);
        let names: BTreeSet<String> = mutants.iter().map(ToString::to_string).collect();
        assert_eq!(names.len(), mutants.len());
        for name in [
            "cache S store = hit > M",
            "inner I n-store = read > N",
            "cache N read = impossible",
            "merge N E = none",
            "directory read 1 = none",
            "fault no-grant-ack",
        ] {
            assert!(names.contains(name), "{name}");
        }
        let unchanged = mutants.iter().find(|mutant| match mutant {
            Mutant::Table(change) => change.apply(&table).unwrap() == table,
            Mutant::Rule(_) => false,
        });
        assert_eq!(unchanged, None);
        let overruled = mutants.iter().filter(|mutant| mutant.is_overruled(&table));
        let overruled: Vec<String> = overruled.map(ToString::to_string).collect();
        assert!(overruled.contains(&"cache M evict = silent > I".to_owned()), "{overruled:?}");
        assert!(overruled.iter().all(|name| name.contains(" evict = ") && !name.contains("cache S")));
    }
}
