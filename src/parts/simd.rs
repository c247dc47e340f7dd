//! The SIMD units of a compute unit: each computes for one warp at a time, first come first served.

use std::collections::VecDeque;
use std::hash::{Hash, Hasher};

use crate::model::time::Tick;

/// When units are free, who waits for one, and what they have done.
#[derive(Clone, Debug)]
pub struct Simds {
    /// From when on each is free, the first one first.
    free_at: VecDeque<Tick>,
    /// First come first served.
    waiting: VecDeque<Waiting>,
    /// Ticks that they compute, some of them still to come.
    taken: Tick,
    /// Times that a warp took one, and ticks that those waited for it, summed over them.
    times: u64,
    waited: Tick,
    /// Since when there are so many, and what others offered before.
    since: Tick,
    offered: Tick,
}

/// A warp that waits, for how many ticks it will compute, and since when it waits.
#[derive(Clone, Copy, Debug, Hash)]
struct Waiting {
    warp: u32,
    ticks: Tick,
    since: Tick,
}

impl Simds {
    #[must_use]
    pub fn new(count: u32, now: Tick) -> Self {
        Self {
            free_at: (0..count.max(1)).map(|_| now).collect(),
            waiting: VecDeque::new(),
            taken: 0,
            times: 0,
            waited: 0,
            since: now,
            offered: 0,
        }
    }

    /// A warp computes for so many ticks, on the unit that is free first. Returns when it ends; nothing if it has to wait.
    pub fn take(&mut self, warp: u32, now: Tick, ticks: Tick) -> Option<Tick> {
        let end = if self.waiting.is_empty() { self.begin(now, ticks) } else { None };
        if end.is_none() {
            self.waiting.push_back(Waiting { warp, ticks, since: now });
        }
        end
    }

    /// Takes a unit that is free now, if there is one, for so many ticks. Returns when they end.
    fn begin(&mut self, now: Tick, ticks: Tick) -> Option<Tick> {
        self.free_at.front().filter(|free_at| **free_at <= now)?;
        self.free_at.pop_front();
        let end = now + ticks;
        let place = self.free_at.partition_point(|free_at| *free_at <= end);
        self.free_at.insert(place, end);
        self.taken = self.taken.saturating_add(ticks);
        self.times += 1;
        Some(end)
    }

    /// When the next of those that wait begins.
    #[must_use]
    pub fn next_begin(&self) -> Option<Tick> {
        self.waiting.front().and(self.free_at.front().copied())
    }

    /// The next of those that wait, if it begins now, and when it ends.
    pub fn call(&mut self, now: Tick) -> Option<(u32, Tick)> {
        let Waiting { warp, ticks, since } = *self.waiting.front()?;
        let end = self.begin(now, ticks)?;
        self.waiting.pop_front();
        self.waited += now.saturating_sub(since);
        Some((warp, end))
    }

    /// All that wait, and when they end if they begin now: there are as many units as warps.
    pub fn release(self, now: Tick) -> impl Iterator<Item = (u32, Tick)> {
        self.waiting.into_iter().map(move |waiting| (waiting.warp, now + waiting.ticks))
    }

    /// There are so many from now on. Those that come are free; those that go are free first.
    pub fn set_count(&mut self, count: u32, now: Tick) {
        (self.offered, self.since) = (self.offered_until(now), now);
        let count = count.max(1) as usize;
        while self.free_at.len() > count {
            let gone = self.free_at.pop_front().unwrap_or(now);
            self.taken -= gone.saturating_sub(now).min(self.taken);
        }
        while self.free_at.len() < count {
            self.free_at.push_front(now);
        }
        self.free_at.make_contiguous().sort_unstable();
    }

    fn offered_until(&self, now: Tick) -> Tick {
        self.offered + now.saturating_sub(self.since).saturating_mul(self.free_at.len() as u64)
    }

    /// Share of the time until now in which they computed, from 0 to 1.
    #[must_use]
    pub fn utilisation(&self, now: Tick) -> f64 {
        let ahead: Tick = self.free_at.iter().map(|free_at| free_at.saturating_sub(now)).sum();
        self.taken.saturating_sub(ahead) as f64 / self.offered_until(now).max(1) as f64
    }

    /// Ticks that warps waited for one until now, and how many did or took one at once.
    #[must_use]
    pub fn waits(&self, now: Tick) -> (Tick, u64) {
        let still = self.waiting.iter().map(|waiting| now.saturating_sub(waiting.since));
        (self.waited + still.sum::<Tick>(), self.times + self.waiting.len() as u64)
    }

    pub fn digest(&self, hasher: &mut impl Hasher) {
        (&self.free_at, &self.waiting).hash(hasher);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_warp_computes_on_the_unit_that_is_free_first() {
        let mut simds = Simds::new(2, 0);
        let took = [simds.take(7, 0, 10), simds.take(8, 0, 4), simds.take(9, 1, 5)];
        assert_eq!((took, simds.waits(2)), ([Some(10), Some(4), None], (1, 3)));
        assert_eq!((simds.call(4), simds.waits(4)), (Some((9, 9)), (3, 3)));
        // Until 10 one has computed for 10 ticks, the other for 9 of them; nothing of what is to come is counted.
        assert!((simds.utilisation(10) - 19.0 / 20.0).abs() < 1e-9);
        assert!((simds.utilisation(5) - 1.0).abs() < 1e-9);
        assert_eq!(
            simds.take(7, 9, 1),
            Some(10),
            "the one that took less is free before the one that came first"
        );
    }

    #[test]
    fn warps_that_wait_are_called_when_they_begin() {
        let mut simds = Simds::new(1, 0);
        (1..=3).for_each(|warp| _ = simds.take(warp, 0, 10));
        assert_eq!((simds.next_begin(), simds.call(9)), (Some(10), None));
        assert_eq!((simds.call(10), simds.call(10), simds.next_begin()), (Some((2, 20)), None, Some(20)));
        assert_eq!(simds.take(4, 20, 1), None, "who has waited comes first");
        assert_eq!((simds.call(20), simds.next_begin()), (Some((3, 30)), Some(30)));
    }

    #[test]
    fn units_that_come_are_free_and_those_that_go_are_free_first() {
        let mut simds = Simds::new(1, 0);
        assert_eq!((simds.take(0, 0, 10), simds.take(1, 0, 2)), (Some(10), None));
        simds.set_count(2, 4);
        assert_eq!(simds.call(4), Some((1, 6)), "who waits has it at once");
        simds.set_count(1, 5);
        assert_eq!((simds.take(2, 5, 1), simds.call(10)), (None, Some((2, 11))));
        // 10 + 1 of the one, one tick of the other: of 4 + 2 + 6.
        assert!((simds.utilisation(11) - 12.0 / 12.0).abs() < 1e-9, "{}", simds.utilisation(11));
        simds.take(3, 10, 7);
        assert!(simds.release(10).eq([(3, 17)]));
    }
}
