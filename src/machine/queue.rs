//! The timed queue: events in the order of their tick, and at one tick in the order in which they were made.
//!
//! Nearly all that is made is due soon. So the next ticks have lists in a wheel that turns with time, a list for a few ticks,
//! and what lies beyond waits in a heap until the wheel comes near it: putting in and taking out cost the same however much is to come.

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
    /// Messages of a lane may leave whose sender is done with them.
    Leave(LaneKey),
    /// A link that messages wait for is free.
    Wire(u32),
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

/// Slots of the wheel.
const SLOTS: u64 = 4096;
/// Words of a bit a slot.
const WORDS: usize = SLOTS as usize / 64;
/// No place.
const NONE: u32 = u32::MAX;

/// Events to come.
#[derive(Clone, Debug)]
pub struct Queue {
    wheel: Wheel,
    /// What lies beyond the wheel, or before it.
    rest: BinaryHeap<Reverse<(Tick, u64, Event)>>,
    /// Events that were put there.
    made: u64,
    /// How many of what is there lie before the wheel.
    past: usize,
    len: usize,
}

/// The events of the next slots: each a few ticks, with a list in order.
#[derive(Clone, Debug)]
struct Wheel {
    /// A slot has `1 << shift` ticks.
    shift: u32,
    /// The first slot, counted from the beginning of time.
    base: u64,
    /// A bit for each slot that has an event, and one for each word of them that has a bit.
    words: [u64; WORDS],
    summary: u64,
    /// By slot, the last place of its list, which names the first one.
    last: Vec<u32>,
    places: Vec<Place>,
    /// The first of the places without an event, in a list. There is always one.
    free: u32,
}

/// An event, and the place of the next one in its slot.
#[derive(Clone, Copy, Debug)]
struct Place {
    tick: Tick,
    event: Event,
    next: u32,
}

/// The last place without an event.
const FREE: Place = Place { tick: 0, event: Event::Task(0), next: NONE };

impl Queue {
    /// For a machine with so many ticks in a cycle.
    #[must_use]
    pub fn new(cycle: Tick) -> Self {
        // Few events of a slot are at different ticks, and the wheel reaches some hundred cycles ahead.
        let shift = (cycle.max(1) / 8).checked_ilog2().unwrap_or(0);
        Self { wheel: Wheel::new(shift), rest: BinaryHeap::new(), made: 0, past: 0, len: 0 }
    }

    pub fn push(&mut self, tick: Tick, event: Event) {
        self.len += 1;
        if self.wheel.reaches(tick) {
            self.wheel.push(tick, event);
        } else {
            self.made += 1;
            self.past += usize::from(self.wheel.is_past(tick));
            self.rest.push(Reverse((tick, self.made, event)));
        }
    }

    pub fn pop(&mut self) -> Option<(Tick, Event)> {
        self.pop_until(Tick::MAX)
    }

    /// The next event, if it is due at `last` or before.
    pub fn pop_until(&mut self, last: Tick) -> Option<(Tick, Event)> {
        if self.past > 0 {
            return self.pop_past(last);
        }
        if self.wheel.is_empty() {
            self.turn_to(self.first_of_rest().filter(|tick| *tick <= last)?);
        }
        let (tick, event) = self.wheel.take_until(last)?;
        self.len -= 1;
        if self.wheel.is_ahead(tick) {
            self.turn_to(tick);
        }
        Some((tick, event))
    }

    #[cold]
    fn pop_past(&mut self, last: Tick) -> Option<(Tick, Event)> {
        self.first_of_rest().filter(|tick| *tick <= last)?;
        self.len -= 1;
        self.past -= 1;
        self.rest.pop().map(|Reverse((tick, _, event))| (tick, event))
    }

    fn first_of_rest(&self) -> Option<Tick> {
        self.rest.peek().map(|Reverse((tick, _, _))| *tick)
    }

    /// The wheel begins at the slot of a tick, before which it has nothing: what it reaches from there comes onto it.
    fn turn_to(&mut self, tick: Tick) {
        self.wheel.base = tick >> self.wheel.shift;
        if self.first_of_rest().is_some_and(|tick| self.wheel.reaches(tick)) {
            self.bring_near();
        }
    }

    /// Apart, since it happens once in many turns.
    #[cold]
    fn bring_near(&mut self) {
        while self.first_of_rest().is_some_and(|tick| self.wheel.reaches(tick))
            && let Some(Reverse((tick, _, event))) = self.rest.pop()
        {
            self.wheel.push(tick, event);
        }
    }

    /// The tick of the next event.
    #[must_use]
    pub fn next_tick(&self) -> Option<Tick> {
        [self.wheel.next(), self.first_of_rest()].into_iter().flatten().min()
    }

    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// All events, in their order.
    fn all(&self) -> Vec<(Tick, Event)> {
        let mut rest: Vec<_> = self.rest.iter().map(|Reverse(entry)| *entry).collect();
        rest.sort_unstable();
        let rest: Vec<_> = rest.into_iter().map(|(tick, _, event)| (tick, event)).collect();
        let past = rest.partition_point(|(tick, _)| self.wheel.is_past(*tick));
        let (past, beyond) = rest.split_at(past);
        past.iter().copied().chain(self.wheel.all()).chain(beyond.iter().copied()).collect()
    }

    pub fn digest(&self, hasher: &mut impl Hasher) {
        self.all().into_iter().for_each(|entry| entry.hash(hasher));
    }
}

impl Wheel {
    fn new(shift: u32) -> Self {
        Self {
            shift,
            base: 0,
            words: [0; WORDS],
            summary: 0,
            last: vec![NONE; SLOTS as usize],
            places: vec![FREE],
            free: 0,
        }
    }

    fn reaches(&self, tick: Tick) -> bool {
        (tick >> self.shift).wrapping_sub(self.base) < SLOTS
    }

    /// Whether a tick lies before its first slot, or behind that.
    fn is_past(&self, tick: Tick) -> bool {
        tick >> self.shift < self.base
    }

    fn is_ahead(&self, tick: Tick) -> bool {
        tick >> self.shift > self.base
    }

    fn is_empty(&self) -> bool {
        self.summary == 0
    }

    fn slot(&self, tick: Tick) -> usize {
        ((tick >> self.shift) % SLOTS) as usize
    }

    /// A place for an event, which follows itself.
    fn place(&mut self, tick: Tick, event: Event) -> u32 {
        let own = self.free;
        if let Some(place) = self.places.get_mut(own as usize) {
            self.free = std::mem::replace(place, Place { tick, event, next: own }).next;
        }
        own
    }

    #[cold]
    fn add_place(&mut self) {
        self.free = self.places.len() as u32;
        self.places.push(FREE);
    }

    fn link(&mut self, from: u32, to: u32) {
        if let Some(place) = self.places.get_mut(from as usize) {
            place.next = to;
        }
    }

    /// Puts an event behind those of its tick, which the wheel must reach.
    fn push(&mut self, tick: Tick, event: Event) {
        let (slot, own) = (self.slot(tick), self.place(tick, event));
        self.enter(slot, own, tick);
        if self.free == NONE {
            self.add_place();
        }
    }

    /// Enters a place into the list of its slot.
    fn enter(&mut self, slot: usize, own: u32, tick: Tick) {
        let Some(last) = self.last.get_mut(slot) else { return };
        let Some(end) = self.places.get(*last as usize) else {
            *last = own;
            self.words[slot / 64] |= 1 << (slot % 64);
            self.summary |= 1 << (slot / 64);
            return;
        };
        let (mut before, mut after) = (*last, end.next);
        if end.tick <= tick {
            *last = own;
        } else {
            while let Some(place) = self.places.get(after as usize).filter(|place| place.tick <= tick) {
                (before, after) = (after, place.next);
            }
        }
        self.link(before, own);
        self.link(own, after);
    }

    /// The first of a slot.
    fn first(&self, slot: usize) -> Option<&Place> {
        let last = self.places.get(*self.last.get(slot)? as usize)?;
        self.places.get(last.next as usize)
    }

    /// Takes its first event, if that is due at `until` or before.
    fn take_until(&mut self, until: Tick) -> Option<(Tick, Event)> {
        let slot = self.first_slot()?;
        let last = self.last.get_mut(slot)?;
        let first = self.places.get(*last as usize)?.next;
        let place = self.places.get_mut(first as usize).filter(|place| place.tick <= until)?;
        let taken = (place.tick, place.event);
        let next = std::mem::replace(&mut place.next, self.free);
        self.free = first;
        if first != *last {
            let last = *last;
            self.link(last, next);
            return Some(taken);
        }
        *last = NONE;
        let word = &mut self.words[slot / 64];
        *word &= !(1 << (slot % 64));
        if *word == 0 {
            self.summary &= !(1 << (slot / 64));
        }
        Some(taken)
    }

    /// The first slot that has an event.
    fn first_slot(&self) -> Option<usize> {
        let start = (self.base % SLOTS) as usize;
        let (word, bit) = (start / 64, start % 64);
        let ahead = self.words[word] >> bit;
        if ahead != 0 {
            return Some(start + ahead.trailing_zeros() as usize);
        }
        if self.summary == 0 {
            return None;
        }
        // The words behind this one, then those before it; the first bits of this one come last.
        let behind = self.summary & (u64::MAX << word << 1);
        let word = if behind == 0 { self.summary } else { behind }.trailing_zeros() as usize;
        Some(word * 64 + self.words[word % WORDS].trailing_zeros() as usize)
    }

    /// The tick of its first event.
    fn next(&self) -> Option<Tick> {
        self.first(self.first_slot()?).map(|first| first.tick)
    }

    /// All events, in their order.
    fn all(&self) -> Vec<(Tick, Event)> {
        let mut all = Vec::new();
        for ahead in 0..SLOTS {
            let slot = (self.base.wrapping_add(ahead) % SLOTS) as usize;
            let last = self.last.get(slot).copied().unwrap_or(NONE);
            let mut own = last;
            while let Some(place) =
                self.places.get(own as usize).and_then(|own| self.places.get(own.next as usize))
            {
                all.push((place.tick, place.event));
                own = self.places.get(own as usize).map_or(NONE, |own| own.next);
                if own == last {
                    break;
                }
            }
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn events_of_one_tick_keep_their_order() {
        let mut queue = Queue::new(1);
        queue.push(5, Event::Agent(2));
        queue.push(5, Event::Agent(1));
        queue.push(3, Event::Task(0));
        let order: Vec<_> = std::iter::from_fn(|| queue.pop()).map(|(_, event)| event).collect();
        assert_eq!(order, [Event::Task(0), Event::Agent(2), Event::Agent(1)]);
    }

    proptest! {
        /// Near and far, and now and then before what was taken last.
        #[test]
        fn they_come_by_tick_and_then_as_they_were_made(
            steps in prop::collection::vec((0u8..5, 0u64..3 * SLOTS, 0u64..40), 0..400),
            cycle in 1u64..100,
        ) {
            let (mut queue, mut heap, mut now) = (Queue::new(cycle), BinaryHeap::new(), 0u64);
            for (number, (what, far, near)) in steps.into_iter().enumerate() {
                let number = number as u32;
                if what == 0 {
                    let last = now + far;
                    let next = heap.peek().map(|Reverse((tick, _))| *tick);
                    prop_assert_eq!(queue.next_tick(), next);
                    let due = next.is_some_and(|tick| tick <= last);
                    let expected = due.then(|| heap.pop()).flatten().map(|Reverse(entry)| entry);
                    let taken = queue.pop_until(last);
                    prop_assert_eq!(taken, expected.map(|(tick, made)| (tick, Event::Agent(made))));
                    now = taken.map_or(now, |(tick, _)| tick);
                    continue;
                }
                let tick = match what {
                    1 => now + far,
                    2 => now.saturating_sub(near),
                    _ => now + near,
                };
                queue.push(tick, Event::Agent(number));
                heap.push(Reverse((tick, number)));
                prop_assert_eq!(queue.len(), heap.len());
            }
            let mut left: Vec<_> = heap.into_iter().map(|Reverse((tick, made))| (tick, Event::Agent(made))).collect();
            left.sort_unstable();
            prop_assert_eq!(queue.all(), left.clone());
            prop_assert_eq!(std::iter::from_fn(|| queue.pop()).collect::<Vec<_>>(), left);
        }
    }
}
