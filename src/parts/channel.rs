//! The way of messages from one node to another: a queue per virtual network at each end, and credits for the
//! receiver's buffers. First in, first out per channel and network.

use std::collections::VecDeque;
use std::hash::{Hash, Hasher};

use crate::model::message::{Message, Network};
use crate::model::time::Tick;

/// Queues of one virtual network of a channel.
#[derive(Clone, Debug, Default)]
pub struct Lane {
    /// Waiting to be sent, with the tick from which each may leave.
    pub outgoing: VecDeque<(Tick, Message)>,
    /// Sent and not yet taken, with the tick at which each can be taken.
    pub incoming: VecDeque<(Tick, Message)>,
    /// The receiver could not take the head; it is tried again when the receiver has changed.
    pub blocked: bool,
    /// The sender has been told that it has no credit (one record, not one per try).
    pub starved: bool,
    /// That the head is blocked has been told (one record, not one per try).
    pub told: bool,
}

/// A directed channel between two nodes.
#[derive(Clone, Debug)]
pub struct Channel {
    /// Indices of nodes.
    pub from: usize,
    pub to: usize,
    /// Index of the link that carries it.
    pub link: usize,
    /// Lookup of the receiver: a message can be taken so long after it arrived.
    pub lookup: Tick,
    /// Messages that the receiver can buffer per virtual network.
    pub buffers: u32,
    /// One per virtual network: three, or one if all are folded together.
    pub lanes: Vec<Lane>,
}

impl Channel {
    /// The lane that carries a virtual network.
    #[must_use]
    pub fn lane_of(&self, network: Network) -> usize {
        if self.lanes.len() == 1 { 0 } else { network as usize }
    }

    /// Whether the receiver has a free buffer.
    #[must_use]
    pub fn has_credit(&self, lane: usize) -> bool {
        self.lanes.get(lane).is_some_and(|lane| (lane.incoming.len() as u32) < self.buffers)
    }

    /// Whether a message waits to be sent.
    #[must_use]
    pub fn is_waiting(&self, lane: usize) -> bool {
        self.lanes.get(lane).is_some_and(|lane| !lane.outgoing.is_empty())
    }

    /// Whether a message can be sent at once.
    #[must_use]
    pub fn is_clear(&self, lane: usize) -> bool {
        self.lanes
            .get(lane)
            .is_some_and(|lane| lane.outgoing.is_empty() && (lane.incoming.len() as u32) < self.buffers)
    }

    /// Puts a message behind what waits to be sent; `true` if no more may be put there.
    pub fn put(&mut self, lane: usize, ready: Tick, message: Message) -> bool {
        let Some(lane) = self.lanes.get_mut(lane) else { return false };
        lane.outgoing.push_back((ready, message));
        lane.outgoing.len() as u32 == self.buffers
    }

    /// Whether nothing is in it.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.lanes.iter().all(|lane| lane.outgoing.is_empty() && lane.incoming.is_empty())
    }

    pub fn digest(&self, hasher: &mut impl Hasher) {
        for lane in &self.lanes {
            (&lane.outgoing, &lane.incoming, lane.blocked).hash(hasher);
        }
    }
}
