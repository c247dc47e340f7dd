//! Survey propagation: clauses and literals of a random formula send each other messages.
//!
//! A stand-in for Lonestar's `sp` (`nsp`), after its kernels `update_eta` and `update_bias`. A formula of c clauses of k literals each, drawn from the seed. In each iteration
//! - `update_eta`, a thread for each clause: for each of its literals loads `literals[k c + j]`, the literal's `pi`, and its own message `eta`, then stores
//!   k messages, and an atomic maximum of `change`, which the host loads;
//! - `update_pi`, a thread for each literal: loads the bounds of its occurrences, for each the `occurrences` entry and the message there; stores `pi`.
//!
//! Decimation, which fixes literals once the messages have converged, is left out; how many iterations that takes is a parameter.
//!
//! Instructions are counted in `LonestarGPU` 2.0, `apps/sp/newsp.cu`: `update_eta`, where a thread has an edge instead of a clause, so that
//! here the quotient of a literal is found once for all messages of the clause, and `calc_pi_values` with the loop of `update_bias`.
//! What is only there for decimation takes none, nor does an absolute value.

use std::sync::Arc;

use super::Definition;
use super::array::Layout;
use super::common::{self, Scale, Settings};
use super::launch::{At, HostLoop, Launch, Script, Step};
use super::parameter::Values;
use crate::diagnostic::Result;
use crate::model::access::AtomicOp;
use crate::workload::TaskKind;

/// Instructions for an occurrence of a literal: two addresses, a difference, two products, a comparison and a branch for its sign, and
/// three of the loop.
const STEP: u64 = 10;
/// A thread of a literal begins: its number, an address, the difference of the bounds, two comparisons and branches.
const LITERAL: u64 = 7;
/// It ends: two differences, two products and an address.
const PI: u64 = 5;
/// A thread of a clause begins: its number, its first place, two comparisons and branches.
const CLAUSE: u64 = 6;
/// A place of a clause: three addresses, two additions, a comparison and a branch, a division, and three of the loop.
const PLACE: u64 = 18;
/// A message, without its factors: a difference, a maximum, an address, and three of the loop.
const MESSAGE: u64 = 6;
/// Each place as a factor of a message: a comparison and a branch that leave out its own, a product, and three of the loop.
const FACTOR: u64 = 6;
/// Whether any message has changed: a comparison and a branch.
const CHANGE: u64 = 2;

pub const DEFINITION: Definition = Definition {
    name: "survey-propagation",
    title: "Survey propagation: messages gathered and scattered between clauses and literals",
    source: "a stand-in for Lonestar, sp: its kernels, without decimation; 42,000 clauses of 3 of 10,000 literals",
    own: &[
        common::count("clauses", "clauses", 42_000, 1 << 20),
        common::count("literals", "literals", 10_000, 1 << 20),
        common::count("size", "literals of a clause", 3, 16),
        common::iterations("iterations", 2),
        common::SCALE,
        common::workgroup(256),
        common::WARP,
        common::first("clause_literals", "the literals of each clause, words"),
        common::next("eta", "the message to each of them, floats"),
        common::next("pi", "of each literal, floats"),
        common::next("offsets", "the first occurrence of each literal, words"),
        common::next("occurrences", "in which place of which clause it is, words"),
        common::next("change", "by how much a message changed, a word"),
        common::SYNC,
    ],
    shared: &common::computing_cuda(STEP),
    build,
};

/// Where the literals of a random formula occur: 4 bytes for each place of a clause.
#[derive(Debug)]
struct Formula {
    size: u64,
    places: u64,
    literals: u64,
    seed: u64,
    starts: Vec<u32>,
    occurrences: Vec<u32>,
}

impl Formula {
    fn of(clauses: u64, size: u64, literals: u64, seed: u64) -> Self {
        let places = clauses * size;
        let mut formula = Self {
            size,
            places,
            literals,
            seed,
            starts: Vec::new(),
            occurrences: (0..places as u32).collect(),
        };
        let mut occurrences = std::mem::take(&mut formula.occurrences);
        occurrences.sort_by_key(|place| formula.literal(u64::from(*place)));
        let before =
            |literal| occurrences.partition_point(|place| formula.literal(u64::from(*place)) < literal);
        formula.starts = (0..=literals).map(|literal| before(literal) as u32).collect();
        formula.occurrences = occurrences;
        formula
    }

    /// The literal at a place of all clauses.
    fn literal(&self, place: u64) -> u64 {
        common::scramble(self.seed, place) % self.literals
    }

    fn start(&self, literal: u64) -> u64 {
        self.starts.get(literal as usize).copied().map_or(self.places, u64::from)
    }

    fn times(&self, literal: u64) -> u64 {
        self.start(literal + 1) - self.start(literal)
    }

    fn occurrence(&self, nth: u64) -> Option<u64> {
        self.occurrences.get(nth as usize).copied().map(u64::from)
    }
}

fn build(values: &Values<'_>) -> Result<Vec<TaskKind>> {
    let settings = Settings::with_host(values)?;
    let scale = Scale::read(values)?;
    let count = |name| common::multiple(values, name, scale.of(values.integer(name)?), 1);
    let (clauses, literals, size) = (count("clauses")?, count("literals")?, values.integer("size")?);
    let formula = Arc::new(Formula::of(clauses, size, literals, settings.seed));
    let mut layout = Layout::new(values);
    let clause_literals = layout.array("clause_literals", clauses * size, 4)?;
    let eta = layout.array("eta", clauses * size, 4)?;
    let pi = layout.array("pi", literals, 4)?;
    let offsets = layout.array("offsets", literals + 1, 4)?;
    let occurrences = layout.array("occurrences", clauses * size, 4)?;
    let change = layout.array("change", 1, 4)?;
    let workgroup = values.integer("workgroup")?;
    let computing = |instructions| Step::Compute(settings.share(instructions, STEP));
    let (of, trips) = (formula.clone(), formula.clone());
    let to_literals = Launch {
        name: "update_eta",
        groups: clauses.div_ceil(workgroup),
        workgroup,
        arrays: vec![clause_literals, pi, eta, change],
        script: Script::default()
            .then(1, [computing(CLAUSE)])
            .then(size, [Step::Load(0, 0), Step::Load(1, 0), Step::Load(2, 0), computing(PLACE)])
            .then(size, [computing(MESSAGE + FACTOR * size), Step::Store(2, 0)])
            .then(1, [computing(CHANGE), Step::Atomic(AtomicOp::Max, 3, 0)]),
        map: Arc::new(move |at: At| {
            let place = at.below(workgroup, clauses)? * of.size + at.round;
            Some(match at.array {
                1 => of.literal(place),
                3 => 0,
                _ => place,
            })
        }),
        settings,
    };
    let to_clauses = Launch {
        name: "update_pi",
        groups: literals.div_ceil(workgroup),
        workgroup,
        arrays: vec![offsets, occurrences, eta, pi],
        script: Script::default()
            .then(1, [computing(LITERAL), Step::Load(0, 0), Step::Load(0, 1)])
            .then_each(
                move |group, local| {
                    let literal = group * workgroup + local;
                    if literal < literals { trips.times(literal) } else { 0 }
                },
                [Step::Load(1, 0), Step::Load(2, 0), computing(STEP)],
            )
            .then(1, [computing(PI), Step::Store(3, 0)]),
        map: Arc::new(move |at: At| {
            let literal = at.below(workgroup, literals)?;
            match at.array {
                0 => Some(literal + at.nth),
                1 => Some(formula.start(literal) + at.round),
                2 => formula.occurrence(formula.start(literal) + at.round),
                _ => Some(literal),
            }
        }),
        settings,
    };
    let mut steps = Vec::new();
    for _ in 0..values.integer("iterations")? {
        steps.push(to_literals.clone().step());
        steps.push(to_clauses.clone().step());
        let script = Script::default().then(1, [Step::Load(0, 0), Step::Store(0, 0)]);
        HostLoop { arrays: vec![change], script }.add(&mut steps, settings, &[0], |_| Some(0));
    }
    Ok(steps)
}

#[cfg(test)]
mod tests {
    use super::super::common::scramble;
    use super::super::testing::{Plain, bases, did, steps};
    use crate::model::access::{AccessKind::Atomic, AtomicOp::Max};

    #[test]
    fn messages_go_to_literals_and_back() {
        let given = [
            ("clauses", 60),
            ("literals", 20),
            ("scale", 2),
            ("size", 3),
            ("workgroup", 8),
            ("wavefront", 4),
            ("seed", 3),
            ("iterations", 1),
        ];
        let literal = |place: u64| scramble(3, place) % 10;
        let [clauses, eta, pi, offsets, occurrences, change] = bases([360, 360, 40, 44, 360, 4]);
        let [mut to_literals, mut to_clauses, mut host] = [(); 3].map(|()| Plain::default());
        for c in 0..30 {
            for place in 3 * c..3 * c + 3 {
                to_literals.load(clauses, place, 4);
                to_literals.load(pi, literal(place), 4);
                to_literals.load(eta, place, 4);
                to_literals.store(eta, place, 4);
            }
            to_literals.touch(Atomic(Max), change, 0, 4);
        }
        let mut nth = 0;
        for l in 0..10 {
            to_clauses.load(offsets, l, 4);
            to_clauses.load(offsets, l + 1, 4);
            for place in (0..90).filter(|place| literal(*place) == l) {
                to_clauses.load(occurrences, nth, 4);
                to_clauses.load(eta, place, 4);
                nth += 1;
            }
            to_clauses.store(pi, l, 4);
        }
        host.host_load(change, 0, 4);
        host.host_store(change, 0, 4);
        assert_eq!(
            steps("survey-propagation", &given).iter().map(did).collect::<Vec<_>>(),
            [to_literals.launch(), to_clauses.launch(), host.host()]
        );
    }
}
