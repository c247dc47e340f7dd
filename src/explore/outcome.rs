//! What an exploration came to.

use super::coverage::{self, CellId};
use super::search::{Bound, Counts, Limits, Search};
use super::system::System;
use super::tables::Shared;
use super::termination;
use super::way;
use super::way::Violation;

/// What was found, and how far it was looked.
#[derive(Clone, Debug)]
pub struct Outcome {
    pub counts: Counts,
    /// Nothing if all states were looked at.
    pub bound: Option<Bound>,
    pub violations: Vec<Violation>,
    /// Cells of the tables, and whether they were used.
    pub cells: Vec<(CellId, bool)>,
    /// Ways of naming equal parts by which states stand for each other; 1 if each stands for itself.
    pub symmetry: usize,
}

/// Explores a system as far as the limits allow.
pub fn explore(system: &System, limits: Limits, go_on: impl FnMut(Counts) -> bool) -> Outcome {
    explore_with(system, &Shared::new(system), limits, go_on)
}

/// The same with tables that the caller keeps.
pub fn explore_with(
    system: &System,
    shared: &Shared,
    limits: Limits,
    mut go_on: impl FnMut(Counts) -> bool,
) -> Outcome {
    let search = Search::run(system, shared, limits, &mut go_on);
    // What was found is not sound: begin again, each part for itself.
    if shared.is_asymmetric() {
        let plain = system.without_symmetry();
        return explore_with(&plain, &Shared::new(&plain), limits, go_on);
    }
    let mut wrong: Vec<_> =
        search.wrong.iter().map(|wrong| (search.visited.way(wrong.state), wrong)).collect();
    // One of each rule. Which one must not depend on the order in which threads met them.
    wrong.sort_by(|(way, a), (other, b)| (&a.broken, way).cmp(&(&b.broken, other)));
    wrong.dedup_by_key(|(_, wrong)| wrong.broken.rule);
    let mut violations: Vec<Violation> =
        wrong.iter().map(|(hashes, wrong)| way::violation(system, shared, hashes, wrong)).collect();
    if violations.is_empty() {
        violations.extend(unending(system, shared, &search));
    }
    let cells = coverage::cells(system, shared).into_iter().collect();
    Outcome {
        counts: search.counts,
        bound: search.bound,
        violations,
        cells,
        symmetry: 1 + system.symmetries.len(),
    }
}

/// Deliveries that go round for ever: the way to the cycle, and once round it.
fn unending(system: &System, shared: &Shared, search: &Search) -> Option<Violation> {
    let cycle = termination::cycle(search.visited.numbers(), &search.edges)?;
    let first = *cycle.states.first()?;
    let mut hashes = search.visited.way(first);
    let round = cycle.states.iter().skip(1).chain([&first]);
    hashes.extend(round.filter_map(|&state| Some(search.visited.state(state)?.0)));
    let steps = cycle.states.len();
    let (rule, rest) = if cycle.is_escapable {
        ("starvation", "another order ends, this one need not")
    } else {
        ("livelock", "no order ends")
    };
    let text = format!("the last {steps} deliveries lead back to where they began: {rest}");
    Some(Violation { rule, text, choices: way::choices(system, shared, &hashes) })
}
