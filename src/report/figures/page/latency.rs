//! Section 4.3, Fig. 8: a driver that takes longer, under far-faults that are replayed and a locality prefetcher.

use super::system::{self, LOCALITY, bars, ratios, runs, workloads};
use crate::report::figures::effort::Effort;
use crate::report::figures::experiment::{Experiment, Results};
use crate::report::figures::figure::{Figure, Finding, geometric_mean, near};

pub const FIGURE: Figure = Figure {
    id: "page-latency",
    claim: "cost of 40 us instead of 20 us",
    paper: &[4.0],
    unit: "%",
    place: "Paged memory 4.3, Fig 8",
    experiments,
    finding,
};

/// A set that keeps the link busy for an interval has as many pages more as the interval is longer (section 4.1: "we can
/// calculate the total number of pages that must be in flight at all times").
const SLOW: &[&str] =
    &["gpu.paging.prefetch=locality", "gpu.paging.service=40 us", "gpu.paging.transfer_set=160"];
/// The same with sets of 80 pages.
const SMALL_SETS: &[&str] = &["gpu.paging.prefetch=locality", "gpu.paging.service=40 us"];

fn experiments(effort: Effort) -> Vec<Experiment> {
    runs(workloads(effort), &[LOCALITY, SLOW, SMALL_SETS])
}

fn finding(effort: Effort, results: &Results) -> Result<Finding, String> {
    let workloads = workloads(effort);
    let slower = ratios(&workloads, results, SLOW, LOCALITY)?;
    let small = ratios(&workloads, results, SMALL_SETS, LOCALITY)?;
    let cost = (geometric_mean(&slower) - 1.0) * 100.0;
    Ok(Finding {
        ours: vec![Some(cost)],
        holds: near(cost, 4.0),
        scale: system::scale_text(&workloads),
        note: system::sentences(&[
            "transfer sets of 160 pages, which fill the link for 40 us as 80 do for 20 us",
            &format!("with 80 pages it costs {:.1} %", (geometric_mean(&small) - 1.0) * 100.0),
            &system::extremes(&workloads, &slower),
            &system::about(&workloads),
        ]),
        charts: vec![(
            "",
            bars(
                "Far-faults of 40 us (Fig. 8)",
                "time over that with 20 us",
                &workloads,
                &[("160 pages a set", &slower), ("80 pages a set", &small)],
            ),
        )],
    })
}
