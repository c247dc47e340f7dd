//! Deliveries in any order, without new accesses: what a deadlock is judged by.

use std::hash::{Hash, Hasher};

use rustc_hash::FxHasher;

use super::Machine;
use super::queue::Event;
use super::step::Handled;
use crate::model::message::TxnNumber;
use crate::model::record::Records;
use crate::model::warp::NO_WARP;
use crate::parts::channel::WAITS;
use crate::parts::dram::Dram;
use crate::parts::port::{LaneKey, Port};
use crate::protocol::node::{Node, message_without_time};

/// Blocks in nodes and memories, at most, that are compared after each delivery.
const COMPARED: usize = 1024;

impl Machine {
    /// The lanes whose head could be taken now: channel and lane.
    #[must_use]
    pub fn deliverable(&self) -> Vec<(usize, usize)> {
        let mut all = Vec::new();
        for (index, channel) in self.channels.iter().enumerate() {
            for (lane, queue) in channel.lanes.iter().enumerate() {
                if queue.incoming.front().is_some_and(|(_, head)| self.can_take(channel.to, head)) {
                    all.push((index, lane));
                }
            }
        }
        all
    }

    /// The head of a lane is taken at once, however long it would still be on its way. Warps that go on issue nothing.
    pub fn deliver_now(&mut self, channel: usize, lane: usize) {
        let Some(target) = self.channels.get(channel) else { return };
        let ready = target.lanes.get(lane).and_then(|lane| lane.incoming.front()).map(|(at, _)| *at);
        let ready = ready.filter(|at| *at != WAITS).unwrap_or(0);
        let port = self.ports.get(target.to).map_or(0, Port::free_at);
        self.now = self.now.max(ready).max(port);
        self.event += 1;
        let mut records = Records::silent();
        let mut out = self.outbox(&mut records);
        self.deliver(LaneKey::new(channel, lane), &mut out);
        self.close(out);
    }

    /// What nodes hold and what is under way, without time; what comes back with the same goes round. `None` while a
    /// memory works, or if there is too much to compare after each delivery.
    #[must_use]
    pub fn untimed(&self) -> Option<u64> {
        let blocks: usize = self.nodes.iter().map(Node::blocks_at_most).sum();
        if blocks > COMPARED || !self.drams.iter().all(Dram::is_idle) {
            return None;
        }
        let mut hasher = FxHasher::default();
        self.nodes.iter().for_each(|node| node.timeless().hash(&mut hasher));
        for channel in &self.channels {
            for lane in &channel.lanes {
                let outgoing = lane.outgoing.iter().map(|(_, message)| message);
                let incoming = lane.incoming.iter().map(|(_, message)| message);
                for message in incoming.chain(outgoing) {
                    message_without_time(message).hash(&mut hasher);
                }
                lane.incoming.len().hash(&mut hasher);
            }
        }
        self.permissions.digest(&mut hasher);
        self.awaited.hash(&mut hasher);
        Some(hasher.finish())
    }

    /// Lets the memories read what messages wait for, and software get on with those that it sends. Returns whether one did anything.
    pub fn advance_memories(&mut self) -> bool {
        while let Some((tick, event)) = self.queue.pop() {
            if !matches!(event, Event::Memory(_) | Event::Leave(_)) {
                continue;
            }
            self.now = self.now.max(tick);
            let mut records = Records::silent();
            let mut out = self.outbox(&mut records);
            match event {
                Event::Memory(node) => self.run_memory(node as usize, &mut out),
                Event::Leave(key) => self.run_leave(key, &mut out),
                _ => Handled::No,
            };
            self.close(out);
            return true;
        }
        false
    }

    /// Whether a transaction has begun, and may have ended since.
    #[must_use]
    pub fn has_begun(&self, number: TxnNumber) -> bool {
        (1..=self.txns_made).contains(&number.0)
    }

    /// Whether a transaction is in flight.
    #[must_use]
    pub fn is_in_flight(&self, number: TxnNumber) -> bool {
        self.txns.find(number).is_some()
    }

    /// The same, of an access that was made by hand and that no warp waits for.
    #[must_use]
    pub fn is_in_flight_by_hand(&self, number: TxnNumber) -> bool {
        self.txns.find(number).is_some_and(|txn| txn.warp == NO_WARP)
    }

    /// Whether what comes next is chosen: what is planned in the timed queue does not matter then.
    #[must_use]
    pub fn goes_by_choice(&self) -> bool {
        self.plan.is_ordered
    }
}
