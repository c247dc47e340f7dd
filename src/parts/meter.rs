//! How long something is busy in samples of one length, from a beginning on. What is promised for samples to come is counted in
//! those.

use std::collections::VecDeque;

use crate::model::time::Tick;

/// Busy time by sample.
#[derive(Clone, Debug, Hash)]
pub struct Meter {
    /// When the first sample began.
    begin: Tick,
    /// Ticks in a sample.
    sample: Tick,
    /// Numbers of samples with the ticks busy in each, ascending; those without any are left out.
    busy: VecDeque<(u64, Tick)>,
}

impl Meter {
    #[must_use]
    pub fn new(sample: Tick) -> Self {
        Self { begin: 0, sample: sample.max(1), busy: VecDeque::new() }
    }

    /// Samples begin anew. What was in the one under way counts in none; what is promised from here on is to be added again.
    pub fn restart(&mut self, now: Tick) {
        self.busy.clear();
        self.begin = now;
    }

    /// Busy for `span` ticks from `start` on, which is not before the end of the span before.
    pub fn add(&mut self, start: Tick, span: Tick) {
        let (mut at, end) = (start, start.saturating_add(span));
        while at < end {
            let number = at.saturating_sub(self.begin) / self.sample;
            let stop = end.min(self.begin.saturating_add((number + 1).saturating_mul(self.sample)));
            match self.busy.back_mut() {
                Some((last, ticks)) if *last == number => *ticks += stop - at,
                _ => self.busy.push_back((number, stop - at)),
            }
            at = stop;
        }
    }

    /// Closes the sample that ends at `end`, and those before it: the percentage of it that was busy, rounded down.
    pub fn close(&mut self, end: Tick) -> u32 {
        let number = (end.saturating_sub(self.begin) / self.sample).saturating_sub(1);
        let mut ticks = 0;
        while let Some((first, busy)) = self.busy.front().copied().filter(|(first, _)| *first <= number) {
            ticks = if first == number { busy } else { 0 };
            self.busy.pop_front();
        }
        (u128::from(ticks) * 100 / u128::from(self.sample)) as u32
    }

    /// Whether nothing is promised for samples to come.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        self.busy.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_goes_past_a_sample_counts_in_the_next() {
        let mut meter = Meter::new(100);
        meter.add(10, 20);
        meter.add(90, 230);
        assert_eq!([100, 200, 300, 400].map(|end| meter.close(end)), [30, 100, 100, 20]);
        assert!(meter.is_idle());
        meter.add(1_000_090, 5);
        assert_eq!([meter.close(1_000_100), meter.close(1_000_200)], [5, 0]);
    }

    #[test]
    fn samples_that_nobody_asked_for_are_passed_over() {
        let mut meter = Meter::new(100);
        meter.add(0, 50);
        meter.add(100, 100);
        assert_eq!(meter.close(200), 100);
    }

    #[test]
    fn samples_that_begin_anew_know_only_what_is_still_to_come() {
        let mut meter = Meter::new(100);
        meter.add(0, 130);
        meter.restart(120);
        meter.add(120, 10);
        meter.add(210, 40);
        assert_eq!([220, 320].map(|end| meter.close(end)), [20, 30]);
        meter.restart(400);
        assert!(meter.is_idle());
    }
}
