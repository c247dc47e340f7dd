//! The input port of a node: it takes one message in its period. Heads of lanes that have come meanwhile queue before it, in
//! the order in which they came.

use std::collections::VecDeque;
use std::hash::{Hash, Hasher};

use crate::model::time::Tick;

/// A lane of a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LaneKey {
    /// Index of the channel.
    pub channel: u32,
    /// Index of the lane in it.
    pub lane: u8,
}

impl LaneKey {
    #[must_use]
    pub fn new(channel: usize, lane: usize) -> Self {
        Self { channel: channel as u32, lane: lane as u8 }
    }
}

/// When a node can take its next message, and which lanes wait for that.
#[derive(Clone, Debug)]
pub struct Port {
    period: Tick,
    free_at: Tick,
    waiting: VecDeque<LaneKey>,
}

impl Port {
    /// One that takes a message in so many ticks.
    #[must_use]
    pub fn new(period: Tick) -> Self {
        Self { period, free_at: 0, waiting: VecDeque::new() }
    }

    #[must_use]
    pub fn period(&self) -> Tick {
        self.period
    }

    /// The tick from which on it can take a message.
    #[must_use]
    pub fn free_at(&self) -> Tick {
        self.free_at
    }

    /// Whether a head that comes now has to queue.
    #[must_use]
    pub fn is_busy(&self, now: Tick) -> bool {
        self.free_at > now || !self.waiting.is_empty()
    }

    /// A message is taken now: the next one a period later at the earliest.
    pub fn take(&mut self, now: Tick) {
        self.free_at = now + self.period;
    }

    /// Puts a lane behind those that wait. Returns whether it is the only one.
    pub fn join(&mut self, lane: LaneKey) -> bool {
        self.waiting.push_back(lane);
        self.waiting.len() == 1
    }

    /// The lane that has waited longest stops waiting.
    pub fn call(&mut self) -> Option<LaneKey> {
        self.waiting.pop_front()
    }

    /// Whether a lane waits.
    #[must_use]
    pub fn is_awaited(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// What waits. When it is free follows from the events to come.
    pub fn digest(&self, hasher: &mut impl Hasher) {
        if self.is_awaited() {
            self.waiting.hash(hasher);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lanes_are_called_in_the_order_in_which_they_came() {
        let mut port = Port::new(4);
        assert!(!port.is_busy(0));
        port.take(6);
        assert!(port.is_busy(9) && !port.is_busy(10));
        let (first, second) = (LaneKey::new(7, 2), LaneKey::new(3, 0));
        assert!(port.join(first));
        assert!(!port.join(second));
        // Free again, but others came before.
        assert!(port.is_busy(10));
        assert_eq!([port.call(), port.call(), port.call()], [Some(first), Some(second), None]);
        assert!(!port.is_busy(10));
    }
}
