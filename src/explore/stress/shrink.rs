//! Making a failing run small: instructions are left out as long as the same rule breaks, first all behind the failure, of an
//! agent or about a line, then fewer and fewer of those that are left.

use std::collections::BTreeSet;

use super::Plan;
use super::program::{Deed, Stream};

/// Instructions that all runs of shrinking may have together.
const WORK: usize = 2_000_000;

/// What counts as one line.
const LINE: u64 = 64;

/// Fewer instructions that break the same rule, until none can be left out, or the work is done that may be spent on it.
#[must_use]
pub fn shrink(plan: &Plan, streams: &[Stream], rule: &str) -> Vec<Stream> {
    let mut shrinking = Shrinking { plan, rule, best: streams.to_vec(), left: WORK };
    shrinking.cut_behind();
    loop {
        let before = count(&shrinking.best);
        shrinking.drop_agents();
        shrinking.drop_lines();
        shrinking.drop_parts();
        if count(&shrinking.best) == before || shrinking.left == 0 {
            break;
        }
    }
    shrinking.best.retain(|stream| !stream.deeds.is_empty());
    shrinking.best
}

fn count(streams: &[Stream]) -> usize {
    streams.iter().map(|stream| stream.deeds.len()).sum()
}

/// The smallest so far.
struct Shrinking<'a> {
    plan: &'a Plan,
    rule: &'a str,
    best: Vec<Stream>,
    /// Instructions that may still be run.
    left: usize,
}

impl Shrinking<'_> {
    /// Takes these instead, if they fail in the same way.
    fn take(&mut self, streams: Vec<Stream>) -> bool {
        let work = count(&streams).max(1);
        if work > self.left {
            self.left = 0;
            return false;
        }
        self.left -= work;
        let fails = self.plan.breaks(&streams).is_some_and(|(broken, _)| broken == self.rule);
        if fails {
            self.best = streams;
        }
        fails
    }

    /// Leaves out the instructions for which something is so; they are told by stream and place.
    fn drop_those(&mut self, is_left_out: impl Fn(usize, usize, &Deed) -> bool) -> bool {
        let keep = |(number, stream): (usize, &Stream)| {
            let deeds = stream.deeds.iter().enumerate();
            let kept = deeds.filter(|(place, deed)| !is_left_out(number, *place, deed));
            Stream { agent: stream.agent.clone(), deeds: kept.map(|(_, deed)| deed.clone()).collect() }
        };
        let fewer: Vec<Stream> = self.best.iter().enumerate().map(keep).collect();
        count(&fewer) < count(&self.best) && self.take(fewer)
    }

    /// Most of it comes after the failure.
    fn cut_behind(&mut self) {
        let longest = |streams: &[Stream]| streams.iter().map(|stream| stream.deeds.len()).max().unwrap_or(0);
        let mut length = longest(&self.best) / 2;
        while length > 0 && self.left > 0 {
            let end = longest(&self.best).saturating_sub(length);
            if !self.drop_those(|_, place, _| place >= end) {
                length /= 2;
            }
        }
    }

    fn drop_agents(&mut self) {
        for number in 0..self.best.len() {
            self.drop_those(|stream, _, _| stream == number);
        }
    }

    /// All that is about a line at once.
    fn drop_lines(&mut self) {
        let line = |deed: &Deed| deed.address().map(|address| address.0 / LINE);
        let lines: BTreeSet<u64> =
            self.best.iter().flat_map(|stream| &stream.deeds).filter_map(line).collect();
        for number in lines {
            self.drop_those(|_, _, deed| line(deed) == Some(number));
        }
    }

    /// Half of all that is left, then a quarter, down to each instruction.
    fn drop_parts(&mut self) {
        let mut part = count(&self.best) / 2;
        while part > 0 && self.left > 0 {
            let mut start = 0;
            while start < count(&self.best) && self.left > 0 {
                let starts: Vec<usize> = self
                    .best
                    .iter()
                    .scan(0, |sum, stream| {
                        let before = *sum;
                        *sum += stream.deeds.len();
                        Some(before)
                    })
                    .collect();
                let at =
                    |stream: usize, place: usize| starts.get(stream).map_or(place, |first| first + place);
                if !self.drop_those(|stream, place, _| (start..start + part).contains(&at(stream, place))) {
                    start += part;
                }
            }
            part /= 2;
        }
    }
}
