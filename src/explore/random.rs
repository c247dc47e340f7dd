//! Random orders, on machines that are too large to go through all of them. Walks are independent of each other: each has its
//! own seed, so that what is found does not depend on threads, though how many steps were made before all stopped does. At the
//! end of a walk everything is delivered, and what must hold when nothing is under way is checked.

use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use super::coverage;
use super::outcome::Outcome;
use super::search::{Bound, Counts};
use super::shorten::Walk;
use super::system::System;
use super::tables::Shared;
use super::worker::{Broken, Move, Worker};
use crate::model::random::{Random, seed_of};
use crate::model::threads::attend;

/// Steps of a walk, before it is brought to an end: enough that the small caches are full, few enough to be read.
const WALK: u64 = 256;
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

/// One of the moves that can be made, three times of four a delivery if there is one. What a move does is found out only when
/// it is drawn, which is most of the work.
fn pick(random: &mut Random, worker: &mut Worker<'_>, state: &[u32], only_deliveries: bool) -> Option<Move> {
    let deliveries = worker.list(state);
    let (mut first, mut rest) = (0..deliveries, deliveries..worker.moves.len());
    if only_deliveries {
        rest = 0..0;
    } else if random.below(4) == 0 {
        first = 0..worker.moves.len();
        rest = 0..0;
    }
    for part in [first, rest] {
        for place in part.clone() {
            let drawn = place + random.below((part.end - place) as u64) as usize;
            worker.moves.swap(place, drawn);
            let one = worker.moves[place];
            if worker.can(state, one) {
                return Some(one);
            }
        }
    }
    None
}

/// What the threads share.
struct Run<'a> {
    system: &'a System,
    limits: Limits,
    walks: u64,
    next: AtomicU64,
    steps: AtomicU64,
    stop: AtomicBool,
    /// The walk of the smallest number that went wrong, with that.
    failed: Mutex<Option<(u64, Walk)>>,
}

/// Walks at random. `go_on` is asked now and then.
pub fn walk(system: &System, limits: Limits, mut go_on: impl FnMut(Counts) -> bool) -> Outcome {
    // Walks stand for nothing but themselves.
    let system = &system.without_symmetry();
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
    while run.next.load(Ordering::Relaxed) < run.walks && !run.stop.load(Ordering::Relaxed) {
        let shared = Shared::new(system);
        attend(
            limits.threads,
            || run.thread(&shared),
            || {
                if !go_on(run.counts()) {
                    run.stop.store(true, Ordering::Relaxed);
                }
            },
        );
        for (cell, used) in coverage::cells(system, &shared) {
            *cells.entry(cell).or_default() |= used;
        }
    }
    let counts = run.counts();
    let failed = run.failed.into_inner().unwrap_or_else(PoisonError::into_inner);
    let interrupted = failed.is_none() && run.stop.into_inner();
    let found = failed.map(|(_, mut walk)| {
        walk.shorten(system, limits.memory, || go_on(counts));
        walk.violation(&mut Worker::new(system, &Shared::new(system)))
    });
    Outcome {
        counts,
        bound: Some(match found {
            _ if interrupted => Bound::Interrupt,
            Some(_) => Bound::Violation,
            None => Bound::Random,
        }),
        violations: found.into_iter().collect(),
        cells: cells.into_iter().collect(),
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
        let mut walked = false;
        while !self.stop.load(Ordering::Relaxed) {
            let full = shared.lock().footprint(self.limits.threads);
            // However little may be kept, something is walked before all is forgotten.
            if walked && full as u64 > self.limits.memory {
                return;
            }
            walked = true;
            let number = self.next.fetch_add(1, Ordering::Relaxed);
            if number >= self.walks {
                return;
            }
            let steps = WALK.min(self.limits.steps - number * WALK);
            let (made, walk) = self.one(&mut worker, number, steps);
            self.steps.fetch_add(made, Ordering::Relaxed);
            let Some(walk) = walk else { continue };
            let mut failed = self.failed.lock().unwrap_or_else(PoisonError::into_inner);
            if failed.as_ref().is_none_or(|(other, _)| number < *other) {
                *failed = Some((number, walk));
            }
            drop(failed);
            // Walks of smaller numbers are under way already and go on to their end.
            self.next.store(self.walks, Ordering::Relaxed);
        }
    }

    /// The steps of one walk, and itself if it went wrong.
    fn one(&self, worker: &mut Worker<'_>, number: u64, steps: u64) -> (u64, Option<Walk>) {
        let mut random = Random::new(seed_of(self.limits.seed, number));
        let (mut state, mut hash) = worker.initial();
        let mut moves = Vec::new();
        for step in 0..steps + END {
            let is_ending = step >= steps;
            let Some(one) = pick(&mut random, worker, &state, is_ending) else {
                let quiet = worker.is_quiet(&state);
                let broken = if quiet { worker.check_quiet(&state) } else { Some(worker.deadlock(&state)) };
                return (step, broken.map(|broken| Walk { moves, broken }));
            };
            moves.push(one);
            let (after, broken) = worker.make(&state, hash, one);
            if let Some(broken) = broken.or_else(|| worker.check(&worker.next)) {
                return (step, Some(Walk { moves, broken }));
            }
            std::mem::swap(&mut state, &mut worker.next);
            hash = after;
        }
        let text = format!("{END} deliveries brought the walk to no end");
        (steps + END, Some(Walk { moves, broken: Broken { rule: "livelock", text } }))
    }
}
