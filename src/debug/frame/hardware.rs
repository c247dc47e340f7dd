//! Caches and links in words: what is told of them beside their contents.

use std::collections::BTreeMap;

use crate::model::address::Range;
use crate::model::component::ComponentId;
use crate::model::inspect::{CacheView, PartitionView};
use crate::model::link_view::LinkView;
use crate::model::page_view::{CopyView, PageMove, PagesView};
use crate::model::text::plural;
use crate::model::time::TimeBase;
use crate::model::ways::{WayMove, WayStep};

/// Decisions about ways whose outcome is shown, the last ones.
const SHOWN: usize = 8;

/// A count as one sign: a digit, then letters, of which `a` is ten.
#[must_use]
pub fn digit(count: u32) -> char {
    char::from_digit(count, 36).unwrap_or('+')
}

/// From this share of time on, ports that are busy are told of.
const CROWDED: f64 = 0.5;

/// Lines about the remote ways of a cache, its ports if they are busy, lines that it may not keep, and what the memory behind it knows
/// about the CPU's caches; what it does not have is left out.
#[must_use]
pub fn of_cache(cache: &CacheView, time: TimeBase) -> Vec<String> {
    let mut lines = remote(cache, time);
    lines.extend(ports(cache));
    lines.extend(not_kept(cache));
    lines.extend(remote_directory(cache));
    lines
}

/// Hits, ways, and why there are so many.
fn remote(cache: &CacheView, time: TimeBase) -> Vec<String> {
    let mut lines = Vec::new();
    let away = cache.remote_hits + cache.remote_misses;
    if away > 0 {
        let here = cache.hits + cache.misses - away;
        let local = cache.hits - cache.remote_hits;
        let rate = |hits: u64, all: u64| {
            let share =
                if all > 0 { format!("{:.0} %", 100.0 * hits as f64 / all as f64) } else { "-".into() };
            format!("{share} ({hits}/{all})")
        };
        let (local, remote) = (rate(local, here), rate(cache.remote_hits, away));
        lines.push(format!("hits: local {local}, remote {remote}"));
    }
    let Some(partition) = &cache.partition else { return lines };
    let began = partition.decided.first().map(|first| first.from);
    let mut counts: Vec<u32> = began.into_iter().chain(partition.decided.iter().map(|one| one.to)).collect();
    counts.dedup();
    let over = match counts.len() {
        0 | 1 => String::new(),
        count => {
            let last = counts.iter().skip(count.saturating_sub(SHOWN));
            let counts: Vec<_> = last.map(u32::to_string).collect();
            format!("  remote so far {}", counts.join(" › "))
        }
    };
    let local = cache.ways - partition.remote;
    lines.push(format!("ways: {local} local, {} remote{over}", partition.remote));
    lines.extend(decided(partition, time));
    lines
}

/// What was decided last of its ways, when and why.
fn decided(partition: &PartitionView, time: TimeBase) -> Option<String> {
    let WayMove { tick, decision: last, from, to } = partition.decided.last()?;
    let stays = if from == to { last.step.unmoved() } else { "" };
    let full = match last.step {
        WayStep::Halve => String::new(),
        _ => format!(" (full from {} %)", partition.threshold),
    };
    let (cycle, step) = (time.cycle(*tick), last.step.name());
    Some(format!("cycle {cycle}: {step}{stays}: {}{full}", last.reason()))
}

/// That what it takes in a cycle holds others up.
fn ports(cache: &CacheView) -> Option<String> {
    (cache.port_utilisation >= CROWDED).then(|| {
        let busy = cache.port_utilisation * 100.0;
        format!("ports: {busy:.0} % busy, a message waits {:.1} cycles", cache.port_wait)
    })
}

/// What became of lines that it may not keep.
fn not_kept(cache: &CacheView) -> Option<String> {
    let uncached = cache.uncached.filter(|uncached| uncached.loads > 0)?;
    let dropped = if uncached.brought > 0 {
        format!(", {} of {} x 32 B dropped", uncached.dropped, uncached.brought)
    } else {
        String::new()
    };
    Some(format!(
        "not kept: {}, {}{dropped}",
        plural(uncached.loads, "load"),
        plural(uncached.requests, "request")
    ))
}

/// What the filter of the memory behind it holds, and how far it could be believed.
fn remote_directory(cache: &CacheView) -> Vec<String> {
    let Some(known) = cache.remote_directory.filter(|known| known.peak > 0) else { return Vec::new() };
    let flushing = if known.is_flushing { "FLUSHING: " } else { "" };
    let flushes = if known.flushes > 0 { format!(", flushed: {}", known.flushes) } else { String::new() };
    let rate = match known.strangers() {
        0 => String::new(),
        strangers => format!(": {:.1} %", known.false_positives as f64 / strangers as f64 * 100.0),
    };
    vec![
        format!(
            "remote directory: {flushing}the CPU may have {}/{} lines{flushes}",
            known.lines, known.capacity
        ),
        format!(
            "found {}/{}, {}, {} false{rate}",
            known.found,
            known.looks,
            plural(known.nacks, "NACK"),
            known.false_positives
        ),
    ]
}

/// What share of a link's bytes were data, and how that depends on the size of transfers ("Selective GPU Caches", Table 4).
#[must_use]
pub fn efficiency(link: &LinkView) -> Option<String> {
    let share = |share: f64| format!("{:.0} %", share * 100.0);
    let all = link.efficiency.filter(|_| !link.transfers.is_empty())?;
    let sizes: Vec<String> = (link.transfers.iter())
        .map(|size| format!("{} of {} B at {}", size.count, size.data, share(size.efficiency())))
        .collect();
    Some(format!("data {} of all bytes: {}", share(all), sizes.join(", ")))
}

/// A copy that is under way, since when, and how much of it is to come.
#[must_use]
pub fn copying(copy: CopyView, time: TimeBase) -> String {
    let to = if copy.to_gpu { "the GPUs" } else { "the host" };
    format!("to {to} since cycle {}: {} to come", time.cycle(copy.began), plural(copy.left, "page"))
}

/// Pages on a link, by transfer set: what is told, and the pages by their first and their bytes.
#[must_use]
pub fn pages_on(link: ComponentId, gpus: &[PagesView], time: TimeBase) -> Vec<(String, Range)> {
    let mut told = Vec::new();
    for gpu in gpus {
        let mut sets: BTreeMap<u64, Vec<&PageMove>> = BTreeMap::new();
        for moved in gpu.moves.iter().filter(|moved| moved.link == link) {
            sets.entry(moved.set).or_default().push(moved);
        }
        for (set, moves) in sets {
            let Some(first) = moves.first() else { continue };
            told.push((of_set(set, &moves, time), first.page.range(gpu.page)));
        }
    }
    told
}

fn of_set(set: u64, moves: &[&PageMove], time: TimeBase) -> String {
    let demanded = moves.iter().filter(|moved| moved.demanded).count();
    let last = moves.iter().map(|moved| moved.due).max().unwrap_or(0);
    let next = moves.first().map_or(String::new(), |moved| moved.page.to_string());
    let due = time.cycle(last);
    if set == 0 {
        let to_gpu = moves.first().is_some_and(|moved| moved.to_gpu);
        let what = if to_gpu { "copied to the GPU" } else { "back to the host" };
        return format!("{} {what}, next {next}, until {due}", plural(moves.len() as u64, "page"));
    }
    let prefetched = moves.len() - demanded;
    format!("set {set}: next {next}, {demanded} demanded + {prefetched} prefetched to come, until {due}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::inspect::Inspect;
    use crate::scenario::{Options, Scenario};

    #[test]
    fn transfers_of_sectors_tell_the_efficiency_of_their_sizes() {
        let scenario = Scenario::load("selective/two-responses").unwrap();
        let mut machine = scenario.prepare(&Options::default()).unwrap().machine;
        machine.run_until(u64::MAX);
        let links = machine.components().iter().filter_map(|(id, _)| machine.link(id, 0));
        let told: Vec<String> = links.filter_map(|link| efficiency(&link)).collect();
        // Table 4: 32 B at 66 %, 64 B at 80 %.
        assert!(told.iter().any(|text| text.contains("of 32 B at 67 %")), "{told:?}");
        assert!(told.iter().all(|text| text.starts_with("data ")), "{told:?}");
    }

    #[test]
    fn a_remote_directory_tells_how_often_its_filter_was_wrong() {
        let scenario = Scenario::load("selective/false-positive").unwrap();
        let mut machine = scenario.prepare(&Options::default()).unwrap().machine;
        machine.run_until(u64::MAX);
        let l2 = machine.components().find("gpu0.l2.0").unwrap();
        let told = of_cache(&machine.cache(l2, 0).unwrap(), machine.time_base());
        // Two loads of lines that the CPU never had; the filter takes one of them for another.
        assert_eq!(
            told[1..],
            ["remote directory: the CPU may have 1/16 lines", "found 1/2, 1 NACK, 1 false: 50.0 %"]
        );
        let all: std::collections::BTreeMap<_, _> = machine.statistics().into_iter().collect();
        assert_eq!(all["remote_directory.false_positive_rate"].to_bits(), 0.5f64.to_bits());
    }
}
