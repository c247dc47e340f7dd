//! The timed queue: events in the order of their tick, and at one tick in the order in which they were made.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::hash::{Hash, Hasher};

use crate::model::time::Tick;
use crate::parts::port::LaneKey;

/// What happens at a tick.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Event {
    /// The message at the head of a lane has come to its receiver.
    Deliver(LaneKey),
    /// The port of a node can take the next of the messages that have come.
    Port(u32),
    /// The first message of a lane before the switch passes it.
    Cross(LaneKey),
    /// A compute unit or core issues.
    Agent(u32),
    /// A task starts.
    Task(u32),
    /// The memory controller behind a node goes on.
    Memory(u32),
    /// The paging of a GPU goes on.
    Paging(u32),
    /// Copies between the host and the memory of a GPU go on.
    Copies(u32),
}

/// Events to come.
#[derive(Clone, Debug, Default)]
pub struct Queue {
    heap: BinaryHeap<Reverse<(Tick, u64, Event)>>,
    made: u64,
}

impl Queue {
    pub fn push(&mut self, tick: Tick, event: Event) {
        self.made += 1;
        self.heap.push(Reverse((tick, self.made, event)));
    }

    pub fn pop(&mut self) -> Option<(Tick, Event)> {
        self.heap.pop().map(|Reverse((tick, _, event))| (tick, event))
    }

    /// The tick of the next event.
    #[must_use]
    pub fn next_tick(&self) -> Option<Tick> {
        self.heap.peek().map(|Reverse((tick, _, _))| *tick)
    }

    #[must_use]
    pub fn len(&self) -> usize {
        self.heap.len()
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.heap.is_empty()
    }

    pub fn digest(&self, hasher: &mut impl Hasher) {
        let mut all: Vec<_> = self.heap.iter().map(|Reverse(entry)| *entry).collect();
        all.sort_unstable();
        for (tick, _, event) in all {
            (tick, event).hash(hasher);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_of_one_tick_keep_their_order() {
        let mut queue = Queue::default();
        queue.push(5, Event::Agent(2));
        queue.push(5, Event::Agent(1));
        queue.push(3, Event::Task(0));
        let order: Vec<_> = std::iter::from_fn(|| queue.pop()).map(|(_, event)| event).collect();
        assert_eq!(order, [Event::Task(0), Event::Agent(2), Event::Agent(1)]);
    }
}
