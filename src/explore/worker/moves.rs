//! What can happen in a state.

use super::{DEED, Move, Worker};
use crate::explore::shape::Deed;
use crate::machine::has_room;
use crate::model::message::Network;
use crate::protocol::node::Role;

impl Worker<'_> {
    /// Finds what can happen in a state; returns how many of the moves are deliveries. They come first.
    pub fn look(&mut self, state: &[u32]) -> usize {
        let deliveries = self.list(state);
        let mut moves = std::mem::take(&mut self.moves);
        let mut taken = 0;
        let mut place = 0;
        moves.retain(|&one| {
            let can = self.can(state, one);
            taken += usize::from(can && place < deliveries);
            place += 1;
            can
        });
        self.moves = moves;
        taken
    }

    /// Finds what may happen in a state, if the node that it happens to takes it; returns how many of the moves are deliveries.
    /// They come first.
    pub fn list(&mut self, state: &[u32]) -> usize {
        let system = self.system;
        let count = system.nodes.len();
        self.note_full(state);
        self.moves.clear();
        for (number, (lane, &id)) in system.lanes.iter().zip(&state[count..]).enumerate() {
            let head = self.messages.get(self.lane(id).head as usize).filter(|_| id != 0);
            if head.is_some_and(|head| has_room(head.network, self.full[lane.to as usize], system.folded)) {
                self.moves.push(Move::Deliver(number as u16));
            }
        }
        let deliveries = self.moves.len();
        for (node, shape) in system.nodes.iter().enumerate() {
            let full = self.full[node];
            if matches!(shape.role, Role::Leaf) && full[Network::Request as usize] {
                continue;
            }
            let clear = full == [false; Network::ALL.len()];
            for (deed, what) in shape.deeds.iter().enumerate() {
                if clear || !matches!(what, Deed::Evict(_)) {
                    self.moves.push(Move::Deed { node: node as u8, deed: deed as u8 });
                }
            }
        }
        deliveries
    }

    fn note_full(&mut self, state: &[u32]) {
        let system = self.system;
        self.full.fill([false; Network::ALL.len()]);
        for (lane, &id) in system.lanes.iter().zip(&state[system.nodes.len()..]) {
            if id != 0 && self.lane(id).len >= system.capacity {
                match lane.network {
                    Some(network) => self.full[lane.from as usize][network as usize] = true,
                    None => self.full[lane.from as usize] = [true; Network::ALL.len()],
                }
            }
        }
    }

    /// Whether the node that a listed move happens to takes it.
    pub fn can(&mut self, state: &[u32], one: Move) -> bool {
        let (node, input) = self.input(state, one);
        self.effect(node, state[node], input).taken
    }

    /// The node at which an access ends with a move, if one does.
    pub fn ends(&mut self, state: &[u32], one: Move) -> Option<usize> {
        let (node, input) = self.input(state, one);
        self.effect(node, state[node], input).completes.then_some(node)
    }

    /// The node that a move happens to, and what happens to it.
    pub(super) fn input(&self, state: &[u32], one: Move) -> (usize, u64) {
        match one {
            Move::Deliver(lane) => {
                let lane = lane as usize;
                let head = self.lane(state[self.system.nodes.len() + lane]).head;
                (self.system.lanes[lane].to as usize, u64::from(head))
            }
            Move::Deed { node, deed } => (node as usize, DEED | u64::from(deed)),
        }
    }
}
