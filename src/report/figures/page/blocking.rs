//! Section 2.1, Fig. 3: compute units that block on far-faults, by the time that one takes.

use super::system::{self, AXIS, COPIES, bars, ratios, runs, workloads};
use crate::report::figures::effort::Effort;
use crate::report::figures::experiment::{Experiment, Results};
use crate::report::figures::figure::{Figure, Finding, geometric_mean, near};

const PAPER: [f64; 3] = [6.0, 15.0, 2.0];

pub const FIGURE: Figure = Figure {
    id: "page-blocking",
    claim: "CUs that block on faults, slowdown at 20 us: average, worst; at 5 us average",
    paper: &PAPER,
    unit: "x",
    place: "Paged memory 2.1, Fig 3",
    experiments,
    finding,
};

/// At 20 us.
pub const BLOCKING: &[&str] = &["gpu.paging.faults=block"];
const AT_FIVE: &[&str] = &["gpu.paging.faults=block", "gpu.paging.service=5 us"];

fn experiments(effort: Effort) -> Vec<Experiment> {
    runs(workloads(effort), &[COPIES, BLOCKING, AT_FIVE])
}

fn finding(effort: Effort, results: &Results) -> Result<Finding, String> {
    let workloads = workloads(effort);
    let twenty = ratios(&workloads, results, BLOCKING, COPIES)?;
    let five = ratios(&workloads, results, AT_FIVE, COPIES)?;
    let worst = twenty.iter().copied().fold(0.0, f64::max);
    let ours = [geometric_mean(&twenty), worst, geometric_mean(&five)];
    let order = twenty.iter().zip(&five).all(|(twenty, five)| twenty >= five) && ours[0] > 1.0;
    Ok(Finding {
        holds: order && ours.iter().zip(PAPER).all(|(ours, paper)| near(*ours, paper)),
        ours: ours.map(Some).into(),
        scale: system::scale_text(&workloads),
        note: system::sentences(&[
            &format!("slower than copies, and more so with slower faults: {}", system::word(order)),
            &format!("at 20 us {}", system::extremes(&workloads, &twenty)),
            &system::about(&workloads),
        ]),
        charts: vec![(
            "",
            bars(
                "Compute units that block on far-faults (Fig. 3)",
                AXIS,
                &workloads,
                &[("20 us", &twenty), ("5 us", &five)],
            ),
        )],
    })
}
