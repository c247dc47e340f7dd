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
    /// With the tick at which each came.
    waiting: VecDeque<(LaneKey, Tick)>,
    /// Messages taken so far.
    taken: u64,
    /// Ticks that heads have waited for it, summed over them.
    waited: Tick,
    /// Since when there are so many ports, and what others offered before.
    since: Tick,
    offered: Tick,
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

    /// A message is taken now: that port takes the next one a period later at the earliest.
    pub fn take(&mut self, now: Tick) {
        self.taken += 1;
        self.free_at = now + self.period;
        if let Some(first) = self.others.pop_front() {
            self.others.push_back(std::mem::replace(&mut self.free_at, first));
        }
    }

    /// Puts a lane, whose head has come now, behind those that wait. Returns whether it is the only one.
    pub fn join(&mut self, lane: LaneKey, now: Tick) -> bool {
        self.waiting.push_back((lane, now));
        self.waiting.len() == 1
    }

    /// The lane that has waited longest stops waiting.
    pub fn call(&mut self, now: Tick) -> Option<LaneKey> {
        let (lane, since) = self.waiting.pop_front()?;
        self.waited += now.saturating_sub(since);
        Some(lane)
    }

    /// There are as many from now on as in `other`. Those that come are free; those that go are free first.
    pub fn adopt(&mut self, other: &Self, now: Tick) {
        (self.offered, self.since) = (self.offered_until(now), now);
        let count = other.others.len() + 1;
        self.others.push_front(self.free_at);
        while self.others.len() > count {
            self.others.pop_front();
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
        let waiting = self.waiting.iter().map(|(_, since)| now.saturating_sub(*since));
        let ahead = self.others.iter().chain([&self.free_at]).map(|free_at| free_at.saturating_sub(now));
        PortCounters {
            taken: self.taken,
            busy: self.taken.saturating_mul(self.period).saturating_sub(ahead.sum()),
            offered: self.offered_until(now),
            waited: self.waited + waiting.sum::<Tick>(),
        }
    }

    /// Whether a lane waits.
    #[must_use]
    pub fn is_awaited(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// What waits. When it is free follows from the events to come.
    pub fn digest(&self, hasher: &mut impl Hasher) {
        if self.is_awaited() {
            self.waiting.len().hash(hasher);
            self.waiting.iter().for_each(|(lane, _)| lane.hash(hasher));
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
        assert!(port.join(first, 7));
        assert!(!port.join(second, 9));
        // Free again, but others came before.
        assert!(port.is_busy(10));
        assert_eq!(port.counters(10).waited, 3 + 1, "those that wait still, too");
        assert_eq!([port.call(10), port.call(14), port.call(18)], [Some(first), Some(second), None]);
        let counters = port.counters(18);
        assert_eq!((counters.taken, counters.busy, counters.waited), (1, 4, 3 + 5));
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
