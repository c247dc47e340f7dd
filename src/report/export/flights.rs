//! Messages that were sent and have not been taken yet, with what is kept of each.

use std::collections::{BTreeMap, VecDeque};

use crate::model::component::ComponentId;
use crate::model::message::Message;
use crate::model::time::EventNumber;

/// Which message: the event that sent it, from, to, and the start of its range.
type Flight = (EventNumber, ComponentId, ComponentId, u64);

/// What is kept of messages on their way.
#[derive(Clone, Debug)]
pub struct Flights<T>(BTreeMap<Flight, VecDeque<T>>);

impl<T> Default for Flights<T> {
    fn default() -> Self {
        Self(BTreeMap::new())
    }
}

impl<T> Flights<T> {
    /// A message is sent by an event.
    pub fn send(&mut self, event: EventNumber, message: &Message, kept: T) {
        let flight = (event, message.from, message.to, message.range.start.0);
        self.0.entry(flight).or_default().push_back(kept);
    }

    /// A message is taken: what was kept of it, if its sending was seen.
    pub fn take(&mut self, message: &Message) -> Option<T> {
        let flight = (message.cause, message.from, message.to, message.range.start.0);
        let waiting = self.0.get_mut(&flight)?;
        let kept = waiting.pop_front();
        if waiting.is_empty() {
            self.0.remove(&flight);
        }
        kept
    }

    /// What is kept of those that are still on their way, by the event that sent them.
    pub fn left(&self) -> impl Iterator<Item = &T> {
        self.0.values().flatten()
    }
}
