//! Sections 5.1 and 5.2, Fig. 9: which page leaves a GPU memory that holds half of them, and whether prefetching goes on.

use super::system::{self, LOCALITY, Scaled, bars, oversubscribed, ratios, runs};
use crate::report::figures::effort::Effort;
use crate::report::figures::experiment::{Experiment, Results};
use crate::report::figures::figure::{Figure, Finding};

pub const FIGURE: Figure = Figure {
    id: "page-evict",
    claim: "50 % fits: random close to LRU but for xsbench (about 7x); xsbench and nw hurt by prefetch with random",
    paper: &[],
    unit: "order",
    place: "Paged memory 5.1, 5.2, Fig 9",
    experiments,
    finding,
};

/// Half of the pages fit; until memory is full the oracle prefetches (section 5).
pub const RANDOM: &[&str] = &["gpu.paging.share=50", "gpu.paging.precondition=true"];
pub const LRU: &[&str] = &["gpu.paging.share=50", "gpu.paging.precondition=true", "gpu.paging.evict=lru"];
pub const RANDOM_PREFETCH: &[&str] = &[
    "gpu.paging.share=50",
    "gpu.paging.precondition=true",
    "gpu.paging.prefetch=locality",
    "gpu.paging.prefetch_when_full=true",
];
pub const LRU_PREFETCH: &[&str] = &[
    "gpu.paging.share=50",
    "gpu.paging.precondition=true",
    "gpu.paging.prefetch=locality",
    "gpu.paging.prefetch_when_full=true",
    "gpu.paging.evict=lru",
];
const ALL: [(&str, &[&str]); 4] = [
    ("random", RANDOM),
    ("LRU", LRU),
    ("random, prefetch", RANDOM_PREFETCH),
    ("LRU, prefetch", LRU_PREFETCH),
];

/// What "surprisingly competitive" lets pass.
const CLOSE: f64 = 2.0;

/// What "hurts performance substantially" asks for (section 5.2).
const HURT: f64 = 1.1;

fn experiments(effort: Effort) -> Vec<Experiment> {
    let mut settings = vec![LOCALITY];
    settings.extend(ALL.map(|(_, set)| set));
    runs(oversubscribed(effort), &settings)
}

fn finding(effort: Effort, results: &Results) -> Result<Finding, String> {
    let workloads = oversubscribed(effort);
    let of = |(name, set): (&'static str, &[&str])| Ok((name, ratios(&workloads, results, set, LOCALITY)?));
    let all = ALL.into_iter().map(of).collect::<Result<Vec<_>, String>>()?;
    let over = ratios(&workloads, results, RANDOM, LRU)?;
    let gain = ratios(&workloads, results, RANDOM_PREFETCH, RANDOM)?;
    let is =
        |name: &str, of: &[f64], test: fn(f64) -> bool| system::of(&workloads, of, name).is_some_and(test);
    let close = others(&workloads, &over).all(|ratio| ratio < CLOSE);
    let outlier = is("xsbench", &over, |ratio| ratio >= CLOSE);
    let hurt = is("xsbench", &gain, |ratio| ratio > HURT) && is("nw", &gain, |ratio| ratio > HURT);
    let show = |name: &str, of: &[f64]| {
        system::of(&workloads, of, name).map_or("-".to_owned(), |value| format!("{value:.2}"))
    };
    Ok(Finding {
        ours: Vec::new(),
        holds: close && outlier && hurt,
        scale: system::scale_text(&workloads),
        note: system::sentences(&[
            &format!(
                "random within {CLOSE}x of LRU but for xsbench: {}, {}; prefetch with random hurts xsbench and nw by more than a tenth: {}",
                system::word(close),
                system::word(outlier),
                system::word(hurt)
            ),
            &format!(
                "random over LRU: xsbench {}, {}",
                show("xsbench", &over),
                system::extremes(&workloads, &over)
            ),
            &format!("prefetch over none: xsbench {}, nw {}", show("xsbench", &gain), show("nw", &gain)),
            &system::about(&workloads),
        ]),
        charts: vec![(
            "",
            bars("Half of the pages fit (Fig. 9)", "time over that with all in memory", &workloads, &all),
        )],
    })
}

/// The values of all workloads but the paper's outlier.
fn others<'a>(workloads: &'a [Scaled], values: &'a [f64]) -> impl Iterator<Item = f64> + 'a {
    workloads
        .iter()
        .zip(values)
        .filter(|((workload, _), _)| workload.name != "xsbench")
        .map(|(_, value)| *value)
}
