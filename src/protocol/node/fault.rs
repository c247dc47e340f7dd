//! What injected faults change about a node. Without any, each of these says what the rule says.

use std::collections::VecDeque;

use super::Node;
use super::pending::{Pending, Want, Who};
use crate::model::address::Address;
use crate::model::fault::Fault;
use crate::model::message::{Message, MessageKind};
use crate::model::state::State;

impl Node {
    /// Whether the parent's probe can be answered: not while children are being asked (rule 2).
    pub(super) fn may_answer(&self, pending: &Pending) -> bool {
        pending.is_quiet() || self.config.has_fault(Fault::AnswerWhileAsking)
    }

    /// Whether requests for a block wait for the acknowledgement of its writeback (rule 3).
    pub(super) fn waits_for_evict_ack(&self, pending: &Pending) -> bool {
        pending.writeback && !self.config.has_fault(Fault::NoEvictAck)
    }

    /// Where a want goes in the queue of its block: last, unless the arbiter is unfair.
    pub(super) fn place_in(&self, queue: &VecDeque<Want>, want: &Want) -> usize {
        if !self.config.has_fault(Fault::UnfairArbiter) {
            return queue.len();
        }
        let rank = |want: &Want| match want.who {
            Who::Child(child) => u32::from(child),
            Who::Local(_) => 0,
        };
        queue.iter().position(|other| rank(other) > rank(want)).unwrap_or(queue.len())
    }

    /// Whether a grant for this want must carry data: always (rule 6).
    pub(super) fn needs_data(&self, block: Address, unit: u32, child: u16, want: &Want) -> bool {
        let listed = || self.store.get(block).and_then(|entry| entry.units.get(unit as usize)).copied();
        want.request != MessageKind::Write
            || !self.config.has_fault(Fault::GrantWithoutData)
            || listed().is_none_or(|unit| unit.sharers & crate::protocol::store::bit(child) == 0)
    }

    /// The state that a rule of the directory grants; what a peer serves is never exclusive.
    pub(super) fn granted_state(&self, grant: State, from_peer: bool) -> State {
        if from_peer && self.config.has_fault(Fault::PeerGrantsExclusive) {
            return self.first_exclusive().unwrap_or(grant);
        }
        grant
    }

    /// Whether a grant is acknowledged before its data are here.
    pub(super) fn acknowledges_early(&self, message: &Message) -> bool {
        message.kind == MessageKind::Grant && self.config.has_fault(Fault::AckBeforeData)
    }

    /// Whether a message can be taken whatever the block is busy with: all that are no requests (rule 8).
    #[must_use]
    pub fn sinks(&self, message: &Message) -> bool {
        if self.is_tagged() {
            return self.lack(message).is_none();
        }
        let is_eviction = matches!(message.kind, MessageKind::Writeback | MessageKind::Notify);
        !is_eviction
            || !self.config.has_fault(Fault::WritebacksWait)
            || self.pending.get(self.block_of(message.range.start)).is_none_or(Pending::is_quiet)
    }

    /// Whether what a child writes back is dropped because it is not listed any more (rule 9).
    pub(super) fn drops_writeback(&self, child: u16, message: &Message) -> bool {
        let is_listed = || {
            let id = self.config.children.get(child as usize).copied();
            id.and_then(|id| self.listed(message.range.start, id)).is_some_and(|(listed, _)| listed)
        };
        self.config.has_fault(Fault::LeaveEarly) && !is_listed()
    }

    /// Takes children out of the directory that have not said that they are gone.
    pub(super) fn forget_children(&mut self, block: Address, unit: u32, children: u64) {
        let entry = self.store.get_mut(block);
        let Some(slot) = entry.and_then(|entry| entry.units.get_mut(unit as usize)) else { return };
        slot.sharers &= !children;
        slot.owner = slot.owner.filter(|owner| children & crate::protocol::store::bit(*owner) == 0);
    }
}
