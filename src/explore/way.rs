//! The way to a state, as choices that can be made on the machine itself.

use super::search::Wrong;
use super::shape::Deed;
use super::system::System;
use super::tables::Shared;
use super::worker::{Broken, Move, Worker};
use crate::model::choice::Choice;

/// A rule that does not hold, and the shortest way to where it does not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    pub rule: &'static str,
    pub text: String,
    pub choices: Vec<Choice>,
}

impl Worker<'_> {
    /// The moves that lead through states that those of these hashes stand for.
    fn follow(&mut self, hashes: &[u128]) -> (Vec<Choice>, Vec<u32>, u128) {
        let (mut state, mut hash) = self.initial();
        let mut choices = Vec::new();
        for &wanted in hashes.get(1..).unwrap_or_default() {
            self.look(&state);
            for one in self.moves.clone() {
                let (made, _) = self.make(&state, hash, one);
                let next = self.next.clone();
                if self.represent() == wanted {
                    choices.extend(self.choice(&state, one, choices.len()));
                    (state, hash) = (next, made);
                    break;
                }
            }
        }
        (choices, state, hash)
    }

    /// What breaks a rule in a state, or the first move from it that does, with that move.
    fn breach(
        &mut self,
        state: &[u32],
        hash: u128,
        rule: &str,
        moves: bool,
    ) -> Option<(Broken, Option<Move>)> {
        self.look(state);
        if !moves {
            let broken =
                if self.is_quiet(state) { self.check_quiet(state) } else { Some(self.deadlock(state)) };
            return broken.filter(|broken| broken.rule == rule).map(|broken| (broken, None));
        }
        self.moves.clone().into_iter().find_map(|one| {
            let (_, broken) = self.make(state, hash, one);
            let broken = broken.or_else(|| self.check(&self.next)).filter(|broken| broken.rule == rule)?;
            Some((broken, Some(one)))
        })
    }

    /// A move in a state as a choice. What it stores is told apart from all else by the position of the choice.
    #[must_use]
    pub fn choice(&self, state: &[u32], one: Move, position: usize) -> Option<Choice> {
        match one {
            Move::Deliver(lane) => {
                let shape = self.system.lanes.get(lane as usize)?;
                // A fault may have put a message into another lane than its own.
                let network = shape.network.or_else(|| Some(self.head(state, lane as usize)?.network))?;
                let id = |node: u8| Some(self.system.nodes.get(node as usize)?.id);
                Some(Choice::Deliver { from: id(shape.from)?, to: id(shape.to)?, network })
            }
            Move::Deed { node, deed } => {
                let shape = self.system.nodes.get(node as usize)?;
                Some(match shape.deeds.get(deed as usize)? {
                    Deed::Access { by, access } => {
                        let mut access = access.clone();
                        access.bytes.iter_mut().for_each(|byte| *byte = value(position));
                        Choice::Access { by: *by, access }
                    }
                    Deed::Evict(block) => Choice::Evict { at: shape.id, block: *block },
                    Deed::Acquire { by } => Choice::Acquire { by: *by },
                })
            }
        }
    }
}

/// What the store at a position of a list of choices writes: never 0, which is what memory and empty places hold.
#[must_use]
pub fn value(position: usize) -> u8 {
    (position % 255) as u8 + 1
}

/// Choices as lines of text.
#[must_use]
pub fn lines(system: &System, choices: &[Choice]) -> Vec<String> {
    choices.iter().map(|choice| choice.text(&system.names).to_string()).collect()
}

/// The choices that lead through states of these hashes.
#[must_use]
pub fn choices(system: &System, shared: &Shared, hashes: &[u128]) -> Vec<Choice> {
    Worker::new(system, shared).follow(hashes).0
}

/// The choices that lead through states of these hashes to what is wrong there, and what that is. The states that were looked at
/// stand for others too: with parts exchanged, another part is what the sentence is about.
#[must_use]
pub fn violation(system: &System, shared: &Shared, hashes: &[u128], wrong: &Wrong) -> Violation {
    let mut worker = Worker::new(system, shared);
    let (mut choices, state, hash) = worker.follow(hashes);
    let rule = wrong.broken.rule;
    let mut text = wrong.broken.text.clone();
    if let Some((broken, last)) = worker.breach(&state, hash, rule, wrong.last.is_some()) {
        choices.extend(last.and_then(|last| worker.choice(&state, last, choices.len())));
        text = broken.text;
    }
    Violation { rule, text, choices }
}
