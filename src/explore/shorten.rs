//! Leaves out of a walk that went wrong all that it does not need to go wrong in the same way.

use super::system::System;
use super::tables::Shared;
use super::way::Violation;
use super::worker::{Broken, Move, Worker};

/// Moves that are made at most while a walk is shortened: about a minute.
const MOVES: usize = 10_000_000;

/// A walk that goes wrong, and what is wrong at its end.
#[derive(Clone, Debug)]
pub struct Walk {
    pub moves: Vec<Move>,
    pub broken: Broken,
}

/// The piece to be left out next: so many moves before `end`. From the end, since what is done last is needed most, and what is
/// before it less without what it led to.
struct Next {
    size: usize,
    end: usize,
    /// Moves when it was last at the end.
    len: usize,
}

impl Walk {
    /// Leaves out ever smaller pieces, as long as the same rule is broken without them (Zeller's delta debugging). Not always the
    /// shortest way there is. `go_on` is asked now and then; tables of more than so many bytes are begun anew.
    pub fn shorten(&mut self, system: &System, memory: u64, mut go_on: impl FnMut() -> bool) {
        let mut next = Next { size: self.moves.len() / 2, end: self.moves.len(), len: self.moves.len() };
        let mut left = MOVES;
        while next.size > 0 {
            let shared = Shared::new(system);
            let mut worker = Worker::new(system, &shared);
            let mut is_full = false;
            while next.size > 0 && !is_full {
                if left == 0 || !go_on() {
                    return;
                }
                left = left.saturating_sub(self.moves.len());
                self.leave_out(&mut next, &mut worker);
                is_full = shared.lock().footprint(1) as u64 > memory;
            }
        }
    }

    /// Leaves out the next piece, if it is not needed.
    fn leave_out(&mut self, next: &mut Next, worker: &mut Worker<'_>) {
        let start = next.end.saturating_sub(next.size);
        let kept = self.moves.iter().take(start).chain(self.moves.iter().skip(next.end));
        let most = self.moves.len().saturating_sub(1);
        if let Some(shorter) = walk(worker, kept.copied(), self.broken.rule, most) {
            *self = shorter;
        }
        next.end = start.min(self.moves.len());
        if next.end == 0 {
            if next.size > 1 || self.moves.len() == next.len {
                next.size /= 2;
            }
            (next.end, next.len) = (self.moves.len(), self.moves.len());
        }
    }

    /// The walk as choices that can be made on the machine itself.
    #[must_use]
    pub fn violation(self, worker: &mut Worker<'_>) -> Violation {
        let (mut state, mut hash) = worker.initial();
        let mut choices = Vec::new();
        for (position, &one) in self.moves.iter().enumerate() {
            choices.extend(worker.choice(&state, one, position));
            hash = worker.make(&state, hash, one).0;
            std::mem::swap(&mut state, &mut worker.next);
        }
        Violation { rule: self.broken.rule, text: self.broken.text, choices }
    }
}

/// Makes those of the moves that can be made, up to where a rule is broken, and then delivers what is under way. The walk, if it
/// is this rule, and if there are no more moves than so many.
fn walk(worker: &mut Worker<'_>, moves: impl Iterator<Item = Move>, rule: &str, most: usize) -> Option<Walk> {
    let (mut state, mut hash) = worker.initial();
    let mut made = Vec::new();
    let mut moves = moves.fuse();
    while made.len() < most {
        let next = match moves.next() {
            Some(one) => {
                worker.list(&state);
                if !worker.moves.contains(&one) || !worker.can(&state, one) {
                    continue;
                }
                Some(one)
            }
            None => delivery(worker, &state),
        };
        let Some(one) = next else { break };
        made.push(one);
        let (after, broken) = worker.make(&state, hash, one);
        if let Some(broken) = broken.or_else(|| worker.check(&worker.next)) {
            return Some(Walk { moves: made, broken }).filter(|walk| walk.broken.rule == rule);
        }
        std::mem::swap(&mut state, &mut worker.next);
        hash = after;
    }
    let broken = if worker.is_quiet(&state) {
        worker.check_quiet(&state)
    } else if worker.look(&state) == 0 {
        Some(worker.deadlock(&state))
    } else {
        None
    };
    broken.filter(|broken| broken.rule == rule).map(|broken| Walk { moves: made, broken })
}

/// The first of what is under way that can be delivered.
fn delivery(worker: &mut Worker<'_>, state: &[u32]) -> Option<Move> {
    let count = worker.list(state);
    (0..count).find_map(|place| {
        let one = *worker.moves.get(place)?;
        worker.can(state, one).then_some(one)
    })
}
