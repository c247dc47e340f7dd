//! How spans of time spread: a count for each sixteenth of an octave, so that a percentile is told within 6 %.

use crate::model::time::Tick;

/// Parts of an octave, and their logarithm.
const PARTS: u64 = 1 << LOG;
const LOG: u32 = 4;

/// Spans, counted by their length.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Spread(Vec<u64>);

impl Spread {
    pub fn add(&mut self, ticks: Tick) {
        let place = place(ticks);
        if place >= self.0.len() {
            self.0.resize(place + 1, 0);
        }
        if let Some(count) = self.0.get_mut(place) {
            *count += 1;
        }
    }

    /// The length that `percent` of a hundred spans have at most; none without spans. What is counted together is taken to be
    /// spread evenly.
    #[must_use]
    pub fn percentile(&self, percent: u32) -> Option<f64> {
        let all: u64 = self.0.iter().sum();
        let wanted = all as f64 * f64::from(percent.min(100)) / 100.0;
        let mut before = 0.0;
        for (place, &count) in self.0.iter().enumerate().filter(|(_, count)| **count > 0) {
            let count = count as f64;
            if before + count >= wanted {
                // Behind the last place there is the end of time, which is 0.
                let (first, last) = (start(place), start(place + 1).wrapping_sub(1));
                let share = (wanted - before) / count;
                return Some(first as f64 + share * (last - first) as f64);
            }
            before += count;
        }
        None
    }
}

/// Where a length is counted: short ones each by itself.
fn place(ticks: Tick) -> usize {
    let Some(above) = ticks.checked_ilog2().and_then(|octave| octave.checked_sub(LOG)) else {
        return ticks as usize;
    };
    (u64::from(above) * PARTS + (ticks >> above)) as usize
}

/// The shortest length that is counted at a place.
fn start(place: usize) -> Tick {
    let place = place as u64;
    let above = (place / PARTS).saturating_sub(1);
    (place - above * PARTS) << above
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_follow_each_other_without_a_gap() {
        for ticks in (0..5000).chain([1 << 20, (1 << 20) + 1, (1 << 30) - 1, Tick::MAX]) {
            let own = place(ticks);
            assert!(start(own) <= ticks && ticks <= start(own + 1).wrapping_sub(1), "{ticks} at {own}");
        }
        let mut spread = Spread::default();
        spread.add(Tick::MAX);
        assert!(spread.percentile(99).is_some_and(|told| told > 1e19));
    }

    #[test]
    fn a_percentile_is_within_a_sixteenth() {
        let mut spread = Spread::default();
        assert_eq!(spread.percentile(50), None);
        (1..=10_000).for_each(|ticks| spread.add(ticks));
        for percent in [1, 50, 90, 99, 100] {
            let (told, exact) = (spread.percentile(percent).unwrap_or(0.0), f64::from(percent) * 100.0);
            assert!((told - exact).abs() <= exact / 16.0, "{percent}: {told}");
        }
    }

    #[test]
    fn lengths_that_are_all_the_same_have_them_as_every_percentile() {
        let mut spread = Spread::default();
        (0..100).for_each(|_| spread.add(12));
        assert_eq!([1, 50, 99].map(|percent| spread.percentile(percent)), [Some(12.0); 3]);
    }
}
