//! Random orders, on machines that are too large to go through all of them. Walks are independent of each other: each has its
//! own seed, so that the result does not depend on threads. At the end of a walk everything is delivered, and what must hold
//! when nothing is under way is checked.

use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use super::coverage;
use super::hash::wide;
use super::outcome::{Outcome, Violation};
use super::search::{Bound, Counts};
use super::system::System;
use super::tables::Shared;
use super::worker::{Broken, Move, Worker};
use crate::model::choice::Choice;

/// Steps of a walk, before it is brought to an end.
const WALK: u64 = 4096;
/// Deliveries to its end at most: many more than can be under way.
const END: u64 = 100_000;

/// How far to walk.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    pub steps: u64,
    pub seed: u64,
    /// Bytes of tables, which are begun anew when they are full.
    pub memory: u64,
    pub threads: usize,
}

/// A generator of its own for each walk (`xorshift64*`).
struct Dice(u64);

impl Dice {
    fn new(seed: u64, walk: u64) -> Self {
        Self(wide(&(seed, walk)) as u64 | 1)
    }

    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        let number = self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 32;
        (number as usize * bound) >> 32
    }
}

/// A walk that went wrong: its number, what was wrong, and its moves.
type Failed = (u64, Broken, Vec<Choice>);

/// What the threads share.
struct Run<'a> {
    system: &'a System,
    limits: Limits,
    walks: u64,
    next: AtomicU64,
    steps: AtomicU64,
    stop: AtomicBool,
    /// The failed walk of the smallest number.
    failed: Mutex<Option<Failed>>,
}

/// Walks at random. `go_on` is asked now and then.
pub fn walk(system: &System, limits: Limits, mut go_on: impl FnMut(Counts) -> bool) -> Outcome {
    let run = Run {
        system,
        limits,
        walks: limits.steps.div_ceil(WALK),
        next: AtomicU64::new(0),
        steps: AtomicU64::new(0),
        stop: AtomicBool::new(false),
        failed: Mutex::new(None),
    };
    let mut cells = coverage::cells(system, &Shared::new(system));
    let (mut node_states, mut messages) = (0, 0);
    while run.next.load(Ordering::Relaxed) < run.walks && !run.stop.load(Ordering::Relaxed) {
        let shared = Shared::new(system);
        std::thread::scope(|scope| {
            let threads: Vec<_> =
                (0..limits.threads.max(1)).map(|_| scope.spawn(|| run.thread(&shared))).collect();
            while threads.iter().any(|thread| !thread.is_finished()) {
                std::thread::sleep(std::time::Duration::from_millis(20));
                if !go_on(run.counts()) {
                    run.stop.store(true, Ordering::Relaxed);
                }
            }
        });
        for (cell, used) in coverage::cells(system, &shared) {
            *cells.entry(cell).or_default() |= used;
        }
        let tables = shared.lock();
        node_states += tables.nodes.len() as u64;
        messages += tables.messages.len() as u64;
    }
    let counts = run.counts();
    let failed = run.failed.into_inner().unwrap_or_else(PoisonError::into_inner);
    let interrupted = failed.is_none() && run.stop.into_inner();
    let violation =
        |(_, broken, choices): Failed| Violation { rule: broken.rule, text: broken.text, choices };
    Outcome {
        counts,
        bound: Some(match failed {
            _ if interrupted => Bound::Interrupt,
            Some(_) => Bound::Violation,
            None => Bound::Random,
        }),
        violations: failed.map(violation).into_iter().collect(),
        cells: cells.into_iter().collect(),
        node_states,
        messages,
        symmetry: 1,
    }
}

impl Run<'_> {
    fn counts(&self) -> Counts {
        let steps = self.steps.load(Ordering::Relaxed);
        Counts { states: steps, transitions: steps, depth: WALK }
    }

    /// Walks until the tables are full, a walk has failed, or there is nothing left to walk.
    fn thread(&self, shared: &Shared) {
        let mut worker = Worker::new(self.system, shared);
        while !self.stop.load(Ordering::Relaxed) {
            let full = shared.lock().footprint() * (1 + self.limits.threads);
            if full as u64 > self.limits.memory {
                return;
            }
            let number = self.next.fetch_add(1, Ordering::Relaxed);
            if number >= self.walks {
                return;
            }
            let steps = WALK.min(self.limits.steps - number * WALK);
            let Some((broken, moves)) = self.one(&mut worker, number, steps) else { continue };
            let choices = replayed(&mut worker, &moves);
            let mut failed = self.failed.lock().unwrap_or_else(PoisonError::into_inner);
            if failed.as_ref().is_none_or(|(other, ..)| number < *other) {
                *failed = Some((number, broken, choices));
            }
            drop(failed);
            // Walks of smaller numbers are under way already and go on to their end.
            self.next.store(self.walks, Ordering::Relaxed);
        }
    }

    /// One walk; what was wrong, and the moves up to there.
    fn one(&self, worker: &mut Worker<'_>, number: u64, steps: u64) -> Option<(Broken, Vec<Move>)> {
        let mut dice = Dice::new(self.limits.seed, number);
        let (mut state, mut hash) = worker.initial();
        let mut moves = Vec::new();
        for step in 0..steps + END {
            let deliveries = worker.look(&state);
            let is_ending = step >= steps;
            if deliveries == 0 && (is_ending || worker.moves.is_empty()) {
                self.steps.fetch_add(step, Ordering::Relaxed);
                let quiet = worker.is_quiet(&state);
                let broken = if quiet { worker.check_quiet(&state) } else { Some(worker.deadlock(&state)) };
                return broken.map(|broken| (broken, moves));
            }
            let deliver = deliveries > 0 && (is_ending || dice.below(4) > 0);
            let count = if deliver { deliveries } else { worker.moves.len() };
            let &one = worker.moves.get(dice.below(count))?;
            moves.push(one);
            let (after, broken) = worker.make(&state, hash, one);
            if let Some(broken) = broken.or_else(|| worker.check(&worker.next)) {
                self.steps.fetch_add(step, Ordering::Relaxed);
                return Some((broken, moves));
            }
            std::mem::swap(&mut state, &mut worker.next);
            hash = after;
        }
        let text = format!("{END} deliveries brought the walk to no end");
        Some((Broken { rule: "livelock", text }, moves))
    }
}

/// Moves as choices.
fn replayed(worker: &mut Worker<'_>, moves: &[Move]) -> Vec<Choice> {
    let (mut state, mut hash) = worker.initial();
    let mut choices = Vec::new();
    for (position, &one) in moves.iter().enumerate() {
        choices.extend(worker.choice(&state, one, position));
        hash = worker.make(&state, hash, one).0;
        std::mem::swap(&mut state, &mut worker.next);
    }
    choices
}
