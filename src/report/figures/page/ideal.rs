//! Section 7: how far paging is from copies that overlap with the work perfectly.

use super::system::{self, COPIES, LOCALITY, OVERLAPPED, bars, ratios, runs, workloads};
use crate::report::figures::effort::Effort;
use crate::report::figures::experiment::{Experiment, Results};
use crate::report::figures::figure::{Figure, Finding, geometric_mean, near};

pub const FIGURE: Figure = Figure {
    id: "page-ideal",
    claim: "distance to perfect overlap of copy and execution",
    paper: &[15.0],
    unit: "%",
    place: "Paged memory 7",
    experiments,
    finding,
};

fn experiments(effort: Effort) -> Vec<Experiment> {
    runs(workloads(effort), &[COPIES, LOCALITY, OVERLAPPED])
}

fn finding(effort: Effort, results: &Results) -> Result<Finding, String> {
    let workloads = workloads(effort);
    let paged = ratios(&workloads, results, LOCALITY, OVERLAPPED)?;
    let copied = ratios(&workloads, results, COPIES, OVERLAPPED)?;
    let distance = (geometric_mean(&paged) - 1.0) * 100.0;
    // Nothing is faster than the bound, but for what another order of thread blocks makes.
    let bounds = paged.iter().chain(&copied).all(|ratio| *ratio >= 0.95);
    Ok(Finding {
        ours: vec![Some(distance)],
        holds: bounds && near(distance, 15.0),
        scale: system::scale_text(&workloads),
        note: system::sentences(&[
            &format!("it bounds all within 5 %: {}", system::word(bounds)),
            &format!("copies are {:.0} % from it", (geometric_mean(&copied) - 1.0) * 100.0),
            &system::about(&workloads),
        ]),
        charts: vec![(
            "",
            bars(
                "Distance to perfect overlap (Fig. 2, 7)",
                "time over that with perfect overlap",
                &workloads,
                &[("copies", &copied), ("locality prefetcher", &paged)],
            ),
        )],
    })
}
