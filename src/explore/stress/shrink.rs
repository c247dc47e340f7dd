//! Making a failing run small: instructions are left out, many at a time and then fewer, as long as the same rule breaks.

use super::Plan;
use super::program::Stream;

/// Runs that shrinking may take.
const RUNS: u32 = 600;

/// Fewer instructions that break the same rule, in about as few runs as it takes.
#[must_use]
pub fn shrink(plan: &Plan, streams: &[Stream], rule: &str) -> Vec<Stream> {
    let mut left = RUNS;
    let mut best = streams.to_vec();
    let fails = |streams: &[Stream], left: &mut u32| {
        *left = left.saturating_sub(1);
        plan.breaks(streams).is_some_and(|(broken, _)| broken == rule)
    };
    // Most of it comes after the failure, or long before.
    let longest = |streams: &[Stream]| streams.iter().map(|stream| stream.deeds.len()).max().unwrap_or(0);
    let mut length = longest(&best) / 2;
    while length > 0 && left > 0 {
        let cut = prefix(&best, longest(&best).saturating_sub(length));
        if fails(&cut, &mut left) {
            best = cut;
        } else {
            length /= 2;
        }
    }
    let all = |streams: &[Stream]| streams.iter().map(|stream| stream.deeds.len()).sum::<usize>();
    let mut chunk = all(&best) / 2;
    while chunk > 0 && left > 0 {
        let mut start = 0;
        while start < all(&best) && left > 0 {
            let without = without(&best, start, chunk);
            if fails(&without, &mut left) {
                best = without;
            } else {
                start += chunk;
            }
        }
        chunk /= 2;
    }
    best.retain(|stream| !stream.deeds.is_empty());
    best
}

/// The first instructions of each stream.
fn prefix(streams: &[Stream], length: usize) -> Vec<Stream> {
    let cut = |stream: &Stream| Stream {
        agent: stream.agent.clone(),
        deeds: stream.deeds.iter().take(length).cloned().collect(),
    };
    streams.iter().map(cut).collect()
}

/// All instructions but `count` from `start`, counted through the streams one after the other.
fn without(streams: &[Stream], start: usize, count: usize) -> Vec<Stream> {
    let mut at = 0;
    let mut rest = Vec::new();
    for stream in streams {
        let kept = stream
            .deeds
            .iter()
            .enumerate()
            .filter(|(index, _)| !(start..start + count).contains(&(at + index)));
        rest.push(Stream {
            agent: stream.agent.clone(),
            deeds: kept.map(|(_, deed)| deed.clone()).collect(),
        });
        at += stream.deeds.len();
    }
    rest
}
