//! The input ports of a node: each takes one message in a period. Heads of lanes that have come meanwhile queue before them, in
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

/// What ports have done, of a node or of several.
#[derive(Clone, Copy, Debug, Default)]
pub struct PortCounters {
    /// Messages taken.
    pub taken: u64,
    /// Ticks that a port was busy with one, summed over the ports.
    pub busy: Tick,
    /// Ticks that there were ports, summed over them.
    pub offered: Tick,
    /// Ticks that messages waited for a port, summed over the messages.
    pub waited: Tick,
}

impl PortCounters {
    /// Share of the time in which they were busy, from 0 to 1.
    #[must_use]
    pub fn utilisation(&self) -> f64 {
        if self.offered == 0 { 0.0 } else { self.busy as f64 / self.offered as f64 }
    }

    pub fn add(&mut self, other: &Self) {
        self.taken += other.taken;
        self.busy = self.busy.saturating_add(other.busy);
        self.offered = self.offered.saturating_add(other.offered);
        self.waited = self.waited.saturating_add(other.waited);
    }
}

/// When a node can take its next message, and which lanes wait for that.
#[derive(Clone, Debug)]
pub struct Port {
    period: Tick,
    /// Of the port that is free first.
    free_at: Tick,
    /// Of the others, in order.
    others: VecDeque<Tick>,
    waiting: VecDeque<LaneKey>,
    /// Messages taken so far.
    taken: u64,
    /// Ticks that what was taken has waited for it, summed over the messages.
    waited: Tick,
    /// Since when there are so many ports, and what others offered before.
    since: Tick,
    offered: Tick,
    /// Ticks that ports which are gone would have been busy.
    gone: Tick,
}

impl Port {
    /// So many ports, one at least, each of which takes a message in so many ticks.
    #[must_use]
    pub fn new(period: Tick, count: u32) -> Self {
        let others = (1..count).map(|_| 0).collect();
        Self {
            period,
            free_at: 0,
            others,
            waiting: VecDeque::new(),
            taken: 0,
            waited: 0,
            since: 0,
            offered: 0,
            gone: 0,
        }
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

    /// From when on it could take another message, if it takes one now.
    #[must_use]
    pub fn following(&self, now: Tick) -> Tick {
        self.others.front().map_or(now + self.period, |other| now.max(*other))
    }

    /// What is taken next has waited for so long for others to be taken.
    pub fn note_wait(&mut self, waited: Tick) {
        self.waited += waited;
    }

    /// A message is taken now: that port takes the next one a period later at the earliest.
    pub fn take(&mut self, now: Tick) {
        self.taken += 1;
        self.free_at = now + self.period;
        if let Some(first) = self.others.pop_front() {
            self.others.push_back(std::mem::replace(&mut self.free_at, first));
        }
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

    /// There are as many from now on as in `other`. Those that come are free; those that go are free first.
    pub fn adopt(&mut self, other: &Self, now: Tick) {
        (self.offered, self.since) = (self.offered_until(now), now);
        let count = other.others.len() + 1;
        self.others.push_front(self.free_at);
        while self.others.len() > count {
            let gone = self.others.pop_front().unwrap_or(now);
            self.gone += gone.saturating_sub(now);
        }
        while self.others.len() < count {
            self.others.push_front(now);
        }
        self.free_at = self.others.pop_front().unwrap_or(now);
    }

    fn offered_until(&self, now: Tick) -> Tick {
        let count = self.others.len() as u64 + 1;
        self.offered + now.saturating_sub(self.since).saturating_mul(count)
    }

    /// What it has done until now.
    #[must_use]
    pub fn counters(&self, now: Tick) -> PortCounters {
        let ahead = self.others.iter().chain([&self.free_at]).map(|free_at| free_at.saturating_sub(now));
        PortCounters {
            taken: self.taken,
            busy: self.taken.saturating_mul(self.period).saturating_sub(ahead.sum::<Tick>() + self.gone),
            offered: self.offered_until(now),
            waited: self.waited,
        }
    }

    /// Whether a lane waits.
    #[must_use]
    pub fn is_awaited(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// What waits, and when more than one port is free. When the first one is follows from the events to come.
    pub fn digest(&self, hasher: &mut impl Hasher) {
        if self.is_awaited() {
            self.waiting.hash(hasher);
            self.others.iter().for_each(|free_at| free_at.hash(hasher));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lanes_are_called_in_the_order_in_which_they_came() {
        let mut port = Port::new(4, 1);
        assert!(!port.is_busy(0));
        port.take(6);
        assert!(port.is_busy(9) && !port.is_busy(10));
        let (first, second) = (LaneKey::new(7, 2), LaneKey::new(3, 0));
        assert!(port.join(first));
        assert!(!port.join(second));
        // Free again, but others came before.
        assert!(port.is_busy(10));
        assert_eq!([port.call(), port.call(), port.call()], [Some(first), Some(second), None]);
        let counters = port.counters(18);
        assert_eq!((counters.taken, counters.busy), (1, 4));
        assert!(!port.is_busy(10));
        port.take(18);
        assert_eq!(port.counters(19).busy, 4 + 1, "what is to come is not counted");
    }

    #[test]
    fn each_of_several_ports_takes_a_message_in_a_period() {
        let mut ports = Port::new(4, 2);
        ports.take(6);
        assert!(!ports.is_busy(6));
        assert_eq!(ports.following(7), 10, "the first one is free before the second");
        ports.take(7);
        assert_eq!((ports.is_busy(9), ports.free_at()), (true, 10));
        ports.take(10);
        assert_eq!((ports.free_at(), ports.following(12)), (11, 14));
        assert_eq!(Port::new(4, 1).following(7), 11);
    }

    #[test]
    fn ports_that_come_are_free_and_those_that_go_are_free_first() {
        let mut ports = Port::new(4, 1);
        ports.take(6);
        ports.adopt(&Port::new(4, 3), 8);
        assert!(!ports.is_busy(8));
        ports.take(8);
        ports.take(8);
        assert_eq!(ports.free_at(), 10, "three are busy");
        assert_eq!(ports.counters(20).offered, 8 + 3 * 12);
        ports.adopt(&Port::new(4, 1), 9);
        assert_eq!((ports.free_at(), ports.following(12)), (12, 16));
        assert_eq!(ports.counters(20).offered, 8 + 3 + 11);
    }
}
