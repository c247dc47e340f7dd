//! For when a bus or a bank is taken ahead: what has been counted of it, and is not over yet.

use std::collections::VecDeque;

use crate::model::time::Tick;

/// Spans that are not over, in their order. What the memory does follows from the rest: no part of a digest.
#[derive(Clone, Debug, Default)]
pub(super) struct Booked {
    spans: VecDeque<(Tick, Tick)>,
}

impl Booked {
    /// Takes a span that does not begin before the last one ends; what is over at `now` is forgotten.
    pub fn book(&mut self, from: Tick, to: Tick, now: Tick) {
        while self.spans.front().is_some_and(|(_, end)| *end <= now) {
            self.spans.pop_front();
        }
        match self.spans.back_mut() {
            Some((_, end)) if *end == from => *end = to,
            _ => self.spans.push_back((from, to)),
        }
    }

    /// Ticks after `now`.
    pub fn ahead(&self, now: Tick) -> Tick {
        self.spans.iter().map(|(from, to)| to.saturating_sub(now.max(*from))).sum()
    }
}
