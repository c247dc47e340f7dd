//! How long something is busy in samples of one length, from a beginning on. What is promised for samples to come is counted in
//! those.

use std::collections::VecDeque;

use crate::model::time::Tick;

/// Samples that are busy for as long as each other.
#[derive(Clone, Copy, Debug, Hash)]
struct Run {
    /// The numbers of the first and the last.
    first: u64,
    last: u64,
    /// Ticks for which each is busy.
    ticks: Tick,
}

/// Busy time by sample.
#[derive(Clone, Debug, Hash)]
pub struct Meter {
    /// When the first sample began.
    begin: Tick,
    /// Ticks in a sample.
    sample: Tick,
    /// Ascending; samples that are not busy at all are left out, and those that are busy all the time are taken together.
    busy: VecDeque<Run>,
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
            let since = at.saturating_sub(self.begin);
            let first = since / self.sample;
            let whole = (end - at) / self.sample;
            let (samples, ticks) = if since.is_multiple_of(self.sample) && whole > 0 {
                (whole, self.sample)
            } else {
                let stop = self.begin.saturating_add((first + 1).saturating_mul(self.sample));
                (1, end.min(stop) - at)
            };
            self.promise(first, samples, ticks);
            at += samples.saturating_mul(ticks);
        }
    }

    /// So many samples from the `first` on are busy for so long, each.
    fn promise(&mut self, first: u64, samples: u64, ticks: Tick) {
        let last = first + (samples - 1);
        match self.busy.back_mut() {
            Some(run) if run.last == first => run.ticks += ticks,
            Some(run) if run.last + 1 == first && run.ticks == self.sample && ticks == self.sample => {
                run.last = last;
            }
            _ => self.busy.push_back(Run { first, last, ticks }),
        }
    }

    /// Closes the sample that ends at `end`, and those before it: the percentage of it that was busy, rounded down.
    pub fn close(&mut self, end: Tick) -> u32 {
        let number = (end.saturating_sub(self.begin) / self.sample).saturating_sub(1);
        let mut ticks = 0;
        while let Some(run) = self.busy.front_mut().filter(|run| run.first <= number) {
            if run.last >= number {
                ticks = run.ticks;
            }
            if run.last > number {
                run.first = number + 1;
                break;
            }
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
    fn a_long_message_takes_as_much_room_as_a_short_one() {
        let mut meter = Meter::new(1);
        meter.add(3, 1 << 40);
        meter.add(3 + (1 << 40), 1 << 20);
        assert_eq!(meter.busy.len(), 1);
        assert_eq!(
            [3, 4, 1 << 30, (1 << 40) + 3, (1 << 41)].map(|end| meter.close(end)),
            [0, 100, 100, 100, 0]
        );
        assert!(meter.is_idle());
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
