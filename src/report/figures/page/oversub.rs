//! Section 5.2: what it costs that half of the pages fit, with random eviction.

use super::evict::{RANDOM, RANDOM_PREFETCH};
use super::system::{self, LOCALITY, bars, oversubscribed, ratios, runs};
use crate::report::figures::effort::Effort;
use crate::report::figures::experiment::{Experiment, Results};
use crate::report::figures::figure::{Figure, Finding, geometric_mean, near};

const PAPER: [f64; 2] = [3.9, 2.5];

pub const FIGURE: Figure = Figure {
    id: "page-oversub",
    claim: "slowdown where 50 % fits, random: on demand; with prefetch",
    paper: &PAPER,
    unit: "x",
    place: "Paged memory 5.2",
    experiments,
    finding,
};

fn experiments(effort: Effort) -> Vec<Experiment> {
    runs(oversubscribed(effort), &[LOCALITY, RANDOM, RANDOM_PREFETCH])
}

fn finding(effort: Effort, results: &Results) -> Result<Finding, String> {
    let workloads = oversubscribed(effort);
    let demand = ratios(&workloads, results, RANDOM, LOCALITY)?;
    let prefetch = ratios(&workloads, results, RANDOM_PREFETCH, LOCALITY)?;
    let ours = [geometric_mean(&demand), geometric_mean(&prefetch)];
    let order = ours[0] > ours[1] && ours[1] > 1.0;
    Ok(Finding {
        holds: order && ours.iter().zip(PAPER).all(|(ours, paper)| near(*ours, paper)),
        ours: ours.map(Some).into(),
        scale: system::scale_text(&workloads),
        note: system::sentences(&[
            &format!("prefetch helps, and does not make up for it: {}", system::word(order)),
            "over the same machine with memory for all and the locality prefetcher, geometric mean",
            &format!("on demand {}", system::extremes(&workloads, &demand)),
            &system::about(&workloads),
        ]),
        charts: vec![(
            "",
            bars(
                "Half of the pages fit (5.2)",
                "time over that with all in memory",
                &workloads,
                &[("on demand", &demand), ("with prefetch", &prefetch)],
            ),
        )],
    })
}
