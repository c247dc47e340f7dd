//! The way to a state, as choices that can be made on the machine itself.

use super::system::{Deed, System};
use super::tables::Shared;
use super::worker::{Move, Worker};
use crate::model::choice::Choice;

impl Worker<'_> {
    /// The moves that lead through states of these hashes, and then the last one.
    #[must_use]
    pub fn follow(&mut self, hashes: &[u128], last: Option<Move>) -> Vec<Choice> {
        let (mut state, mut hash) = self.initial();
        let mut choices = Vec::new();
        for &wanted in hashes.get(1..).unwrap_or_default() {
            self.look(&state);
            let moves = self.moves.clone();
            let found = moves.into_iter().find(|&one| self.make(&state, hash, one).0 == wanted);
            let Some(found) = found else { return choices };
            choices.extend(self.choice(&state, found, choices.len()));
            std::mem::swap(&mut state, &mut self.next);
            hash = wanted;
        }
        choices.extend(last.and_then(|last| self.choice(&state, last, choices.len())));
        choices
    }

    /// A move in a state as a choice. What it stores is told apart from all else by the position of the choice.
    #[must_use]
    pub fn choice(&self, state: &[u32], one: Move, position: usize) -> Option<Choice> {
        match one {
            Move::Deliver(lane) => {
                let shape = self.system.lanes.get(lane as usize)?;
                let network = self.head(state, lane as usize)?.network;
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
pub fn choices(system: &System, shared: &Shared, hashes: &[u128], last: Option<Move>) -> Vec<Choice> {
    Worker::new(system, shared).follow(hashes, last)
}
