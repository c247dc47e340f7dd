//! Every order, breadth first: all states that are so many steps away, then all that are one more.
//!
//! The states of a level are dealt over the threads in chunks. Threads only read what has been visited while they look for
//! successors; then each puts the new ones of some parts of the table in, in the order of the chunks. So the result does not
//! depend on how many threads there are or which is faster, but where memory ends it: each thread has a part of its own.

use std::sync::atomic::{AtomicUsize, Ordering};

use rustc_hash::FxHashSet;

use super::system::System;
use super::tables::Shared;
use super::visited::{ROOT, SHARDS, Visited, shard_of};
use super::worker::{Broken, Move, Worker};
use crate::model::threads;

/// States that a thread takes at a time, and of which it takes in one round at most.
const CHUNK: usize = 1024;
const ROUND: usize = 64 * CHUNK;

/// How far to go.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    pub states: u64,
    pub depth: u64,
    /// Bytes.
    pub memory: u64,
    pub threads: usize,
}

/// Why an exploration is not complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bound {
    States,
    Depth,
    Memory,
    /// There are more lanes than fairness can be looked at with.
    Lanes,
    /// It was interrupted.
    Interrupt,
    /// Orders were tried at random.
    Random,
    /// A violation was found, and what lies beyond was not looked at.
    Violation,
}

/// How far a search is.
#[derive(Clone, Copy, Debug, Default)]
pub struct Counts {
    pub states: u64,
    pub transitions: u64,
    pub depth: u64,
}

/// What is wrong, and where: after a move from a state, or in it.
#[derive(Clone, Debug)]
pub struct Wrong {
    pub state: u32,
    pub last: Option<Move>,
    pub broken: Broken,
}

/// A delivery from one state to another, by their numbers.
pub type Edge = (u32, u32);

/// What a search has found.
#[derive(Debug)]
pub struct Search {
    pub visited: Visited,
    pub counts: Counts,
    /// All at the same depth, the least.
    pub wrong: Vec<Wrong>,
    pub bound: Option<Bound>,
    /// Every delivery, so that it can be seen whether all of them come to an end.
    pub edges: Vec<Vec<Edge>>,
}

/// A successor that may be new.
struct Candidate {
    hash: u128,
    parent: u32,
    /// Which of the chunk's states.
    place: u32,
    is_delivery: bool,
}

/// What a thread made of a chunk.
#[derive(Default)]
struct Found {
    candidates: Vec<Vec<Candidate>>,
    states: Vec<u32>,
    /// Numbers of a state.
    width: usize,
    edges: Vec<Edge>,
    wrong: Vec<Wrong>,
    transitions: u64,
}

impl Found {
    /// Bytes that it takes, roughly.
    fn footprint(&self) -> usize {
        let candidates: usize = self.candidates.iter().map(Vec::capacity).sum();
        candidates * size_of::<Candidate>()
            + self.states.capacity() * size_of::<u32>()
            + self.edges.capacity() * size_of::<Edge>()
    }
}

/// States to look at, one part of them per shard.
#[derive(Debug, Default)]
struct Frontier {
    states: Vec<u32>,
    numbers: Vec<u32>,
}

impl Search {
    /// Explores until there is nothing new, something is wrong, or a limit is reached. `go_on` is asked now and then.
    pub fn run(
        system: &System,
        shared: &Shared,
        limits: Limits,
        mut go_on: impl FnMut(Counts) -> bool,
    ) -> Self {
        // More have nothing to do in any round.
        let threads = limits.threads.clamp(1, ROUND / CHUNK);
        let mut workers: Vec<Worker<'_>> = (0..threads).map(|_| Worker::new(system, shared)).collect();
        let mut search = Self {
            visited: Visited::default(),
            counts: Counts::default(),
            wrong: Vec::new(),
            bound: None,
            edges: Vec::new(),
        };
        let mut frontier = search.begin(&mut workers);
        while search.bound.is_none()
            && !shared.is_asymmetric()
            && frontier.iter().any(|part| !part.numbers.is_empty())
        {
            if search.counts.depth >= limits.depth {
                search.bound = Some(Bound::Depth);
                break;
            }
            frontier = search.level(&mut workers, &frontier, shared, limits, &mut go_on);
            if search.bound.is_none() && !search.wrong.is_empty() {
                search.bound = Some(Bound::Violation);
            }
        }
        search
    }

    fn begin(&mut self, workers: &mut [Worker<'_>]) -> Vec<Frontier> {
        let mut frontier: Vec<Frontier> = (0..SHARDS).map(|_| Frontier::default()).collect();
        let Some(worker) = workers.first_mut() else { return frontier };
        let (state, hash) = worker.initial();
        let shard = shard_of(hash);
        let (number, _) = self.visited.shards[shard].insert(hash, ROOT);
        frontier[shard] = Frontier { states: state, numbers: vec![number] };
        self.counts.states = 1;
        frontier
    }

    /// Looks at all states of a level; returns those of the next.
    fn level(
        &mut self,
        workers: &mut [Worker<'_>],
        frontier: &[Frontier],
        shared: &Shared,
        limits: Limits,
        go_on: &mut impl FnMut(Counts) -> bool,
    ) -> Vec<Frontier> {
        let mut next: Vec<Frontier> = (0..SHARDS).map(|_| Frontier::default()).collect();
        let chunks: Vec<(usize, usize)> = frontier
            .iter()
            .enumerate()
            .flat_map(|(part, states)| (0..states.numbers.len()).step_by(CHUNK).map(move |at| (part, at)))
            .collect();
        let held: usize = frontier.iter().map(|part| part.states.capacity() * 4).sum();
        let mut rest = chunks.as_slice();
        while !rest.is_empty() {
            // Close to the limit, no more are looked at than can lead to something new.
            let left = limits.states.saturating_sub(self.counts.states);
            let most = left.div_ceil(CHUNK as u64).clamp(1, (ROUND / CHUNK) as u64) as usize;
            let (chosen, later) = rest.split_at(most.min(rest.len()));
            rest = later;
            workers.iter_mut().for_each(Worker::catch_up);
            let mut found = expand(workers, &self.visited, frontier, chosen);
            let enough = Self::keep_within(left, &mut found);
            // The next round will need as much beside all that is kept.
            let round: usize = found.iter().map(Found::footprint).sum();
            self.take(found, &mut next, workers.len());
            let states: usize = next.iter().map(|part| part.states.capacity() * 4).sum();
            let edges: usize = self.edges.iter().map(|edges| edges.capacity() * size_of::<Edge>()).sum();
            let tables = shared.lock().footprint(workers.len());
            let bytes = self.visited.footprint() + held + states + edges + tables + round;
            self.bound = if !go_on(self.counts) {
                Some(Bound::Interrupt)
            } else if enough || self.counts.states >= limits.states {
                Some(Bound::States)
            } else if bytes as u64 > limits.memory {
                Some(Bound::Memory)
            } else {
                None
            };
            if self.bound.is_some() {
                return next;
            }
        }
        if next.iter().any(|part| !part.numbers.is_empty()) {
            self.counts.depth += 1;
        }
        next
    }

    /// Leaves out what is found beyond the first so many new states; whether anything is.
    fn keep_within(left: u64, found: &mut [Found]) -> bool {
        let all: usize = found.iter().flat_map(|one| &one.candidates).map(Vec::len).sum();
        if all as u64 <= left {
            return false;
        }
        let mut new: FxHashSet<u128> = FxHashSet::default();
        let mut is_over = false;
        for candidates in found.iter_mut().flat_map(|one| &mut one.candidates) {
            candidates.retain(|candidate| {
                if (new.len() as u64) < left {
                    new.insert(candidate.hash);
                }
                let fits = new.contains(&candidate.hash);
                is_over |= !fits;
                fits
            });
        }
        is_over
    }

    /// Puts what the threads have found into the table, in the order of the chunks.
    fn take(&mut self, mut found: Vec<Found>, next: &mut [Frontier], threads: usize) {
        for one in &mut found {
            self.counts.transitions += one.transitions;
            self.wrong.append(&mut one.wrong);
            self.edges.push(std::mem::take(&mut one.edges));
        }
        let share = SHARDS.div_ceil(threads.max(1));
        let found = &found;
        let parts = self.visited.shards.chunks_mut(share).zip(next.chunks_mut(share)).enumerate();
        let put = |(number, (shards, next)): (usize, (&mut [super::visited::Shard], &mut [Frontier]))| {
            let mut edges = Vec::new();
            let mut new = 0;
            for (offset, (shard, next)) in shards.iter_mut().zip(next).enumerate() {
                let number = number * share + offset;
                for one in found {
                    for candidate in &one.candidates[number] {
                        let (state, is_new) = shard.insert(candidate.hash, candidate.parent);
                        if is_new {
                            new += 1;
                            let at = candidate.place as usize * one.width;
                            next.states.extend_from_slice(&one.states[at..at + one.width]);
                            next.numbers.push(state);
                        }
                        if candidate.is_delivery {
                            edges.push((candidate.parent, state));
                        }
                    }
                }
            }
            (edges, new)
        };
        for (edges, new) in threads::each(parts, put) {
            self.edges.push(edges);
            self.counts.states += new;
        }
    }
}

/// Looks for the successors of the states of some chunks.
fn expand(
    workers: &mut [Worker<'_>],
    visited: &Visited,
    frontier: &[Frontier],
    chunks: &[(usize, usize)],
) -> Vec<Found> {
    let taken = AtomicUsize::new(0);
    let run = |worker: &mut Worker<'_>| {
        let mut all = Vec::new();
        loop {
            let number = taken.fetch_add(1, Ordering::Relaxed);
            let Some(&(part, at)) = chunks.get(number) else { return all };
            let part = &frontier[part];
            let end = (at + CHUNK).min(part.numbers.len());
            let width = part.states.len() / part.numbers.len();
            let mut found =
                Found { candidates: (0..SHARDS).map(|_| Vec::new()).collect(), width, ..Found::default() };
            for (index, &state) in part.numbers[at..end].iter().enumerate() {
                let from = (at + index) * width;
                step(worker, visited, &part.states[from..from + width], state, &mut found);
            }
            all.push((number, found));
        }
    };
    let mut all: Vec<(usize, Found)> = if chunks.len() == 1 {
        workers.first_mut().map(run).unwrap_or_default()
    } else {
        threads::each(workers.iter_mut(), run).into_iter().flatten().collect()
    };
    all.sort_unstable_by_key(|(number, _)| *number);
    all.into_iter().map(|(_, found)| found).collect()
}

/// All successors of one state.
fn step(worker: &mut Worker<'_>, visited: &Visited, state: &[u32], number: u32, found: &mut Found) {
    let Some((hash, _)) = visited.state(number) else { return };
    let deliveries = worker.look(state);
    if deliveries == 0 {
        let wrong =
            if worker.is_quiet(state) { worker.check_quiet(state) } else { Some(worker.deadlock(state)) };
        found.wrong.extend(wrong.map(|broken| Wrong { state: number, last: None, broken }));
    }
    let moves = std::mem::take(&mut worker.moves);
    found.transitions += moves.len() as u64;
    for (index, &one) in moves.iter().enumerate() {
        let is_delivery = index < deliveries;
        let (_, broken) = worker.make(state, hash, one);
        let hash = worker.represent();
        let known = visited.get(hash);
        let broken = broken.or_else(|| if known.is_none() { worker.check(&worker.next) } else { None });
        if let Some(broken) = broken {
            found.wrong.push(Wrong { state: number, last: Some(one), broken });
            continue;
        }
        match known {
            Some(known) if is_delivery => found.edges.push((number, known)),
            Some(_) => {}
            None => {
                let width = worker.next.len();
                let place = (found.states.len() / width) as u32;
                found.states.extend_from_slice(&worker.next);
                found.candidates[shard_of(hash)].push(Candidate { hash, parent: number, place, is_delivery });
            }
        }
    }
    worker.moves = moves;
}
