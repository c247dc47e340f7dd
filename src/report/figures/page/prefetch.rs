//! Section 4.3, Fig. 7: prefetchers beside replayable far-faults, and one without them.

use super::system::{self, AXIS, COPIES, LOCALITY, bars, ratios, runs, workloads};
use crate::report::figures::effort::Effort;
use crate::report::figures::experiment::{Experiment, Results};
use crate::report::figures::figure::{Figure, Finding, geometric_mean, near};

const PAPER: [f64; 4] = [12.0, 3.0, 11.0, 5.0];

pub const FIGURE: Figure = Figure {
    id: "page-prefetch",
    claim: "locality prefetcher, faster; its gap to the oracle; best to worst prefetcher; prefetch without replay, slower",
    paper: &PAPER,
    unit: "%",
    place: "Paged memory 4.3, Fig 7",
    experiments,
    finding,
};

const RANDOM: &[&str] = &["gpu.paging.prefetch=random"];
const SEQUENTIAL: &[&str] = &["gpu.paging.prefetch=sequential"];
const ORACLE: &[&str] = &["gpu.paging.prefetch=oracle"];
const BLOCKING: &[&str] = &["gpu.paging.faults=block", "gpu.paging.prefetch=locality"];
const ALL: [(&str, &[&str]); 5] = [
    ("random", RANDOM),
    ("sequential", SEQUENTIAL),
    ("locality", LOCALITY),
    ("oracle", ORACLE),
    ("locality, blocking", BLOCKING),
];

fn experiments(effort: Effort) -> Vec<Experiment> {
    let mut settings = vec![COPIES];
    settings.extend(ALL.map(|(_, set)| set));
    runs(workloads(effort), &settings)
}

fn finding(effort: Effort, results: &Results) -> Result<Finding, String> {
    let workloads = workloads(effort);
    let of = |(name, set): (&'static str, &[&str])| Ok((name, ratios(&workloads, results, set, COPIES)?));
    let all = ALL.into_iter().map(of).collect::<Result<Vec<_>, String>>()?;
    let means: Vec<f64> = all.iter().map(|(_, values)| geometric_mean(values)).collect();
    let [random, sequential, locality, oracle, blocking] = means[..] else {
        return Err("a prefetcher is missing".to_owned());
    };
    let ways = [random, sequential, locality, oracle];
    let best = ways.iter().copied().fold(f64::INFINITY, f64::min);
    let worst = ways.iter().copied().fold(0.0, f64::max);
    let per_cent = |ratio: f64| (ratio - 1.0) * 100.0;
    let ours = [-per_cent(locality), per_cent(locality / oracle), per_cent(worst / best), per_cent(blocking)];
    // "Oracular prefetching is the best ... the locality based prefetcher is the next best."
    let order = oracle <= locality && locality <= sequential && locality <= random;
    let beats = ways.iter().all(|mean| *mean < 1.0) && blocking > locality;
    let list: Vec<String> =
        all.iter().zip(&means).map(|((name, _), mean)| format!("{name} {mean:.3}")).collect();
    Ok(Finding {
        holds: order && beats && ours.iter().zip(PAPER).all(|(ours, paper)| near(*ours, paper)),
        ours: ours.map(Some).into(),
        scale: system::scale_text(&workloads),
        note: system::sentences(&[
            &format!(
                "oracle best, locality next: {}; all beat copies, and locality with replay that without: {}",
                system::word(order),
                system::word(beats)
            ),
            &format!("time over copies, geometric mean: {}", list.join(", ")),
            &system::about(&workloads),
        ]),
        charts: vec![("", bars("Prefetchers (Fig. 7)", AXIS, &workloads, &all))],
    })
}
