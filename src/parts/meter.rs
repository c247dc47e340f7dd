//! How long something is busy in samples of one length. What is promised for samples to come is counted in those.

use std::collections::VecDeque;

use crate::model::time::Tick;

/// Busy time by sample.
#[derive(Clone, Debug, Hash)]
pub struct Meter {
    /// Ticks in a sample.
    sample: Tick,
    /// Numbers of samples with the ticks busy in each, ascending; those without any are left out.
    busy: VecDeque<(u64, Tick)>,
}

impl Meter {
    #[must_use]
    pub fn new(sample: Tick) -> Self {
        Self { sample: sample.max(1), busy: VecDeque::new() }
    }

    /// Busy for `span` ticks from `start` on, which is not before the end of the span before.
    pub fn add(&mut self, start: Tick, span: Tick) {
        let (mut at, end) = (start, start.saturating_add(span));
        while at < end {
            let number = at / self.sample;
            let stop = end.min((number + 1).saturating_mul(self.sample));
            match self.busy.back_mut() {
                Some((last, ticks)) if *last == number => *ticks += stop - at,
                _ => self.busy.push_back((number, stop - at)),
            }
            at = stop;
        }
    }

    /// Ends the sample of this number, and those before it: the percentage of it that was busy, rounded down.
    pub fn close(&mut self, number: u64) -> u32 {
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
        assert_eq!([0, 1, 2, 3].map(|number| meter.close(number)), [30, 100, 100, 20]);
        assert!(meter.is_idle());
        meter.add(1_000_090, 5);
        assert_eq!([meter.close(10_000), meter.close(10_001)], [5, 0]);
    }

    #[test]
    fn samples_that_nobody_asked_for_are_passed_over() {
        let mut meter = Meter::new(100);
        meter.add(0, 50);
        meter.add(100, 100);
        assert_eq!(meter.close(1), 100);
    }
}
