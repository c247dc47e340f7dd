//! Section 4, Fig. 6: how much of the link demand paging uses.

use super::system::{self, REPLAY, outcomes, runs, workloads};
use crate::report::chart::Chart;
use crate::report::figures::effort::Effort;
use crate::report::figures::experiment::{Experiment, Results};
use crate::report::figures::figure::{Figure, Finding, mean, near};
use crate::report::figures::suite::bars_and;

pub const FIGURE: Figure = Figure {
    id: "page-bus",
    claim: "link use under demand paging, average",
    paper: &[25.0],
    unit: "%",
    place: "Paged memory 4, Fig 6",
    experiments,
    finding,
};

fn experiments(effort: Effort) -> Vec<Experiment> {
    runs(workloads(effort), &[REPLAY])
}

fn finding(effort: Effort, results: &Results) -> Result<Finding, String> {
    let workloads = workloads(effort);
    let shares: Vec<f64> = outcomes(&workloads, results, REPLAY)?
        .iter()
        .map(|outcome| outcome.link_use.unwrap_or(f64::NAN) * 100.0)
        .collect();
    let average = mean(&shares);
    Ok(Finding {
        ours: vec![Some(average)],
        holds: near(average, 25.0),
        scale: system::scale_text(&workloads),
        note: system::sentences(&[
            "busy time of the link from the host over the whole run, 16 far-faults a CU, arithmetic mean",
            &system::extremes(&workloads, &shares),
            &system::about(&workloads),
        ]),
        charts: vec![(
            "",
            Chart::Bars(bars_and(
                ("mean", mean),
                "Use of the link under demand paging (Fig. 6)",
                "% of the time",
                &workloads,
                &[("use", &shares)],
            )),
        )],
    })
}
