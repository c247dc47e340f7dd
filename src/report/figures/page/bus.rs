//! Section 4, Fig. 6: how much of the link demand paging uses.

use super::system::{self, REPLAY, outcomes, runs, workloads};
use crate::report::chart::{Bars, Chart, Series};
use crate::report::figures::experiment::{Experiment, Results};
use crate::report::figures::figure::{Figure, Finding, near};
use crate::report::figures::workload::Effort;

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
    let mean = shares.iter().sum::<f64>() / shares.len() as f64;
    Ok(Finding {
        ours: vec![Some(mean)],
        holds: near(mean, 25.0),
        scale: system::scale_text(&workloads),
        note: system::sentences(&[
            "busy time of the link from the host over the whole run, 16 far-faults a CU, arithmetic mean",
            &system::extremes(&workloads, &shares),
            &system::about(&workloads),
        ]),
        charts: vec![(
            "",
            Chart::Bars(Bars {
                title: "Use of the link under demand paging (Fig. 6)".to_owned(),
                axis: "% of the time".to_owned(),
                groups: workloads
                    .iter()
                    .map(|(workload, _)| workload.name)
                    .chain(["mean"])
                    .map(str::to_owned)
                    .collect(),
                series: vec![Series {
                    name: "use".to_owned(),
                    values: shares.iter().copied().chain([mean]).collect(),
                }],
                stacked: false,
            }),
        )],
    })
}
