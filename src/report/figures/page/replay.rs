//! Sections 1 and 3.2, Fig. 5: replayable far-faults instead of one at a time.

use super::system::{self, AXIS, COPIES, REPLAY, bars, ratios, runs, workloads};
use crate::report::figures::effort::Effort;
use crate::report::figures::experiment::{Experiment, Results};
use crate::report::figures::figure::{Figure, Finding, geometric_mean, near};

const PAPER: [f64; 2] = [3.6, 2.0];

pub const FIGURE: Figure = Figure {
    id: "page-replay",
    claim: "slowdown with replayable far-faults: before and after",
    paper: &PAPER,
    unit: "x",
    place: "Paged memory 1, 3.2, Fig 5",
    experiments,
    finding,
};

/// Section 4: "compared to supporting just a single outstanding far-fault".
pub const ONE: &[&str] = &["gpu.paging.far_faults=1"];

fn experiments(effort: Effort) -> Vec<Experiment> {
    runs(workloads(effort), &[COPIES, ONE, REPLAY])
}

fn finding(effort: Effort, results: &Results) -> Result<Finding, String> {
    let workloads = workloads(effort);
    let before = ratios(&workloads, results, ONE, COPIES)?;
    let after = ratios(&workloads, results, REPLAY, COPIES)?;
    let ours = [geometric_mean(&before), geometric_mean(&after)];
    let order = ours[0] > ours[1] && ours[1] > 1.0;
    Ok(Finding {
        holds: order && ours.iter().zip(PAPER).all(|(ours, paper)| near(*ours, paper)),
        ours: ours.map(Some).into(),
        scale: system::scale_text(&workloads),
        note: system::sentences(&[
            &format!("16 far-faults a CU beat one, and copies beat both: {}", system::word(order)),
            &format!("with 16 {}", system::extremes(&workloads, &after)),
            &system::about(&workloads),
        ]),
        charts: vec![(
            "",
            bars(
                "Replayable far-faults (Fig. 5)",
                AXIS,
                &workloads,
                &[("1 a CU", &before), ("16 a CU", &after)],
            ),
        )],
    })
}
