//! Whether every request ends though new ones keep coming.
//!
//! Accesses are issued and blocks evicted for ever, in any order; each lane is only taken to be fair: what can be delivered again
//! and again is delivered (strong fairness). A request that can then wait for ever stands in a strongly connected part of the
//! graph of all states in which it waits, and in which every lane that can deliver anything delivers (Streett's condition; the
//! states of lanes that cannot keep it are taken away until nothing is left, or what is left keeps it).

use rustc_hash::FxHashMap;

use super::search::{Bound, Counts};
use super::system::System;
use super::tables::Shared;
use super::visited::{ROOT, Visited, shard_of};
use super::way;
use super::way::Violation;
use super::worker::{Move, Worker};

/// Lanes at most: a bit each.
pub const LANES: usize = 128;
/// The lane of a step that is no delivery.
const NONE: u8 = u8::MAX;

/// What came of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fairness {
    Kept,
    /// Some request can wait for ever: the way to there, and once round.
    Broken(Violation),
    /// It was not looked at to the end.
    Unknown(Bound),
}

/// One step from a state.
#[derive(Clone, Copy, Debug)]
struct Step {
    to: u32,
    /// The lane that it delivers from.
    lane: u8,
    /// The node at which an access ends with it.
    ends: u8,
}

/// What is known of a state.
#[derive(Clone, Copy, Debug, Default)]
struct Facts {
    /// Lanes whose oldest message can be taken.
    able: u128,
    /// L1s that have an access under way.
    waits: u64,
    first: u32,
    count: u16,
    depth: u32,
}

/// States that are as many steps away.
#[derive(Debug, Default)]
struct Level {
    numbers: Vec<u32>,
    states: Vec<u32>,
}

/// All states, and all that leads from one to another.
#[derive(Debug, Default)]
struct Graph {
    visited: Visited,
    facts: Vec<Facts>,
    steps: Vec<Step>,
    /// Of the states that were looked at last.
    depth: u32,
}

/// Looks whether every request ends. Equal parts are not exchanged meanwhile: it matters whose request waits.
pub fn judge(system: &System, memory: u64, mut go_on: impl FnMut(Counts) -> bool) -> Fairness {
    let system = &system.without_symmetry();
    if system.lanes.len() > LANES {
        return Fairness::Unknown(Bound::Lanes);
    }
    let shared = Shared::new(system);
    let graph = match Graph::new(system, &shared, memory, &mut go_on) {
        Ok(graph) => graph,
        Err(bound) => return Fairness::Unknown(bound),
    };
    let leaves =
        (0..system.nodes.len()).filter(|&node| graph.facts.iter().any(|facts| facts.is_waiting(node)));
    for leaf in leaves {
        if !go_on(graph.counts()) {
            return Fairness::Unknown(Bound::Interrupt);
        }
        if let Some(round) = graph.starving(leaf) {
            return Fairness::Broken(graph.violation(system, &shared, leaf, &round));
        }
    }
    Fairness::Kept
}

impl Facts {
    fn is_waiting(&self, node: usize) -> bool {
        self.waits >> node & 1 == 1
    }
}

impl Graph {
    fn new(
        system: &System,
        shared: &Shared,
        memory: u64,
        go_on: &mut impl FnMut(Counts) -> bool,
    ) -> Result<Self, Bound> {
        let mut graph = Self::default();
        let mut worker = Worker::new(system, shared);
        let (state, hash) = worker.initial();
        let (number, _) = graph.visited.shards[shard_of(hash)].insert(hash, ROOT);
        let mut level = Level { numbers: vec![number], states: state };
        while !level.numbers.is_empty() {
            let mut next = Level::default();
            for (&number, state) in level.numbers.iter().zip(level.states.chunks_exact(system.width())) {
                graph.expand(&mut worker, number, state, &mut next);
            }
            let states = next.states.capacity() + level.states.capacity();
            let held = states * size_of::<u32>() + shared.lock().footprint(1);
            if !go_on(graph.counts()) {
                return Err(Bound::Interrupt);
            }
            // Steps are found by numbers of 32 bits.
            if (graph.footprint() + held) as u64 > memory || u32::try_from(graph.steps.len()).is_err() {
                return Err(Bound::Memory);
            }
            level = next;
            graph.depth += 1;
        }
        graph.facts.resize(graph.visited.numbers(), Facts::default());
        Ok(graph)
    }

    /// All steps from a state; those that are new are to be looked at next.
    fn expand(&mut self, worker: &mut Worker<'_>, number: u32, state: &[u32], next: &mut Level) {
        let hash = self.visited.state(number).map_or(0, |(hash, _)| hash);
        let deliveries = worker.look(state);
        let mut facts = Facts { depth: self.depth, first: self.steps.len() as u32, ..Facts::default() };
        for node in 0..worker.system.nodes.len() {
            facts.waits |= u64::from(worker.node(state, node).waits) << node;
        }
        let moves = std::mem::take(&mut worker.moves);
        for &one in &moves {
            let ends = worker.ends(state, one).map_or(NONE, |node| node as u8);
            let lane = if let Move::Deliver(lane) = one { lane as u8 } else { NONE };
            let (hash, _) = worker.make(state, hash, one);
            let (to, is_new) = self.visited.shards[shard_of(hash)].insert(hash, number);
            if is_new {
                next.numbers.push(to);
                next.states.extend_from_slice(&worker.next);
            }
            self.steps.push(Step { to, lane, ends });
        }
        for one in moves.iter().take(deliveries) {
            if let Move::Deliver(lane) = one {
                facts.able |= 1 << lane;
            }
        }
        facts.count = moves.len() as u16;
        worker.moves = moves;
        let place = number as usize;
        if self.facts.len() <= place {
            self.facts.resize((place + 1).next_power_of_two(), Facts::default());
        }
        self.facts[place] = facts;
    }

    fn footprint(&self) -> usize {
        self.visited.footprint()
            + self.facts.capacity() * size_of::<Facts>()
            + self.steps.capacity() * size_of::<Step>()
    }

    fn counts(&self) -> Counts {
        let states = self.facts.iter().filter(|facts| facts.count > 0).count() as u64;
        Counts { states, transitions: self.steps.len() as u64, depth: u64::from(self.depth) }
    }

    fn steps(&self, state: u32) -> &[Step] {
        let facts = &self.facts[state as usize];
        let first = facts.first as usize;
        &self.steps[first..first + facts.count as usize]
    }

    /// States that lead round for ever, every lane fair, while an L1 waits and nothing of it ends.
    fn starving(&self, leaf: usize) -> Option<Vec<u32>> {
        let waiting = |state: &u32| self.facts[*state as usize].is_waiting(leaf);
        let mut parts = Parts { graph: self, leaf: leaf as u8, part: vec![0; self.facts.len()], last: 0 };
        let mut open = vec![(0..self.facts.len() as u32).filter(waiting).collect::<Vec<u32>>()];
        while let Some(states) = open.pop() {
            for component in parts.components(&states) {
                let unfair = parts.unfair(&component);
                if unfair == 0 {
                    return Some(parts.round(&component));
                }
                let fair = |state: &u32| self.facts[*state as usize].able & unfair == 0;
                open.push(component.into_iter().filter(fair).collect());
            }
        }
        None
    }

    fn violation(&self, system: &System, shared: &Shared, leaf: usize, round: &[u32]) -> Violation {
        let first = round.first().copied().unwrap_or_default();
        let mut hashes = self.visited.way(first);
        hashes.extend(round.iter().skip(1).filter_map(|&state| Some(self.visited.state(state)?.0)));
        let name = system.nodes.get(leaf).map_or("?", |shape| system.names.path(shape.id));
        let steps = round.len().saturating_sub(1);
        let text = format!(
            "an access of {name} waits for ever while others are served: the last {steps} steps lead back to where they began, and \
             every message that can be delivered is"
        );
        Violation { rule: "starvation", text, choices: way::choices(system, shared, &hashes) }
    }
}

/// Sets of states in which an L1 waits.
struct Parts<'a> {
    graph: &'a Graph,
    leaf: u8,
    /// The set that each state is in: a number of its own each time.
    part: Vec<u32>,
    last: u32,
}

impl Parts<'_> {
    /// The steps that stay in the set of a state, and end nothing of what waits.
    fn inside(&self, state: u32) -> impl Iterator<Item = &Step> {
        self.graph.steps(state).iter().filter(move |step| self.stays(state, **step))
    }

    fn stays(&self, state: u32, step: Step) -> bool {
        step.ends != self.leaf && self.part[step.to as usize] == self.part[state as usize]
    }

    /// Makes a set of these states.
    fn mark(&mut self, states: &[u32]) {
        self.last += 1;
        for &state in states {
            self.part[state as usize] = self.last;
        }
    }

    /// The strongly connected components of a set that have a step inside (Tarjan's algorithm, without recursion).
    fn components(&mut self, states: &[u32]) -> Vec<Vec<u32>> {
        self.mark(states);
        let mut found = Vec::new();
        let mut walk = Tarjan::default();
        for &root in states {
            walk.go_from(root, self, &mut found);
        }
        found.retain(|component| {
            component.len() > 1 || component.iter().any(|&one| self.inside(one).any(|step| step.to == one))
        });
        for component in &found {
            self.mark(component);
        }
        found
    }

    /// Lanes that can deliver in some state of a component, and never do so within.
    fn unfair(&self, component: &[u32]) -> u128 {
        let (mut able, mut done) = (0u128, 0u128);
        for &state in component {
            able |= self.graph.facts[state as usize].able;
            let lanes = self.inside(state).filter(|step| step.lane != NONE);
            done |= lanes.fold(0, |lanes, step| lanes | 1 << step.lane);
        }
        able & !done
    }

    /// A way round through a component, from one of the states that are reached first, on which every lane delivers.
    fn round(&self, component: &[u32]) -> Vec<u32> {
        let depth = |state: &u32| (self.graph.facts[*state as usize].depth, *state);
        let Some(&start) = component.iter().min_by_key(|state| depth(state)) else { return Vec::new() };
        let able = component.iter().fold(0, |able, &state| able | self.graph.facts[state as usize].able);
        let mut round = vec![start];
        for lane in (0..LANES as u8).filter(|lane| able >> lane & 1 == 1) {
            let at = round.last().copied().unwrap_or(start);
            round.extend(self.path(at, |step| step.lane == lane));
        }
        let at = round.last().copied().unwrap_or(start);
        if at != start || round.len() == 1 {
            round.extend(self.path(at, |step| step.to == start));
        }
        round
    }

    /// The states after this one on the shortest way, within its set, whose last step is such.
    fn path(&self, from: u32, is_last: impl Fn(&Step) -> bool) -> Vec<u32> {
        let mut before = FxHashMap::default();
        let mut open = std::collections::VecDeque::from([from]);
        while let Some(at) = open.pop_front() {
            for step in self.inside(at) {
                if is_last(step) {
                    let mut way = vec![step.to];
                    let mut back = at;
                    while back != from {
                        way.push(back);
                        back = before[&back];
                    }
                    way.reverse();
                    return way;
                }
                if step.to != from && !before.contains_key(&step.to) {
                    before.insert(step.to, at);
                    open.push_back(step.to);
                }
            }
        }
        Vec::new()
    }
}

/// Tarjan's algorithm, while it goes on.
#[derive(Default)]
struct Tarjan {
    /// When each state was met, and the first state that is not yet in a component that it leads to; of one that is in a
    /// component, `MAX`.
    met: FxHashMap<u32, (u32, u32)>,
    stack: Vec<u32>,
}

impl Tarjan {
    /// Finds the components that a state leads to, and its own.
    fn go_from(&mut self, root: u32, parts: &Parts<'_>, found: &mut Vec<Vec<u32>>) {
        if self.met.contains_key(&root) {
            return;
        }
        self.meet(root);
        let mut calls = vec![(root, 0)];
        while let Some((state, next)) = calls.last_mut() {
            let state = *state;
            if let Some(to) = self.unmet(state, next, parts) {
                self.meet(to);
                calls.push((to, 0));
                continue;
            }
            calls.pop();
            let Some(&(index, least)) = self.met.get(&state) else { continue };
            if let Some((caller, _)) = calls.last() {
                self.lower(*caller, least);
            }
            if index == least {
                let place = self.stack.iter().rposition(|&one| one == state).unwrap_or(0);
                let component = self.stack.split_off(place);
                for one in &component {
                    self.met.insert(*one, (index, u32::MAX));
                }
                found.push(component);
            }
        }
    }

    fn meet(&mut self, state: u32) {
        let index = self.met.len() as u32;
        self.met.insert(state, (index, index));
        self.stack.push(state);
    }

    fn lower(&mut self, state: u32, to: u32) {
        if let Some((_, least)) = self.met.get_mut(&state) {
            *least = (*least).min(to);
        }
    }

    /// The next state after this one that was not met before, by its steps from `next` on.
    fn unmet(&mut self, state: u32, next: &mut usize, parts: &Parts<'_>) -> Option<u32> {
        while let Some(&step) = parts.graph.steps(state).get(*next) {
            *next += 1;
            if !parts.stays(state, step) {
                continue;
            }
            match self.met.get(&step.to) {
                None => return Some(step.to),
                Some(&(_, u32::MAX)) => {}
                Some(&(index, _)) => self.lower(state, index),
            }
        }
        None
    }
}
