//! Table 3: how much of a line that is not kept somebody waits for when it comes.

use super::system::{self, L1_L2, rates, runs, statistics, workloads};
use crate::report::figures::effort::Effort;
use crate::report::figures::experiment::Results;
use crate::report::figures::figure::{Figure, Finding, mean, near};

pub const FIGURE: Figure = Figure {
    id: "sel-lineuse",
    claim: "128 B line use when unmatched data is dropped, average",
    paper: &[60.6],
    unit: "%",
    place: "Selective caching Table 3",
    experiments: |effort| runs(effort, &[L1_L2]),
    finding,
};

fn finding(effort: Effort, results: &Results) -> Result<Finding, String> {
    let workloads = workloads(effort);
    let shares = statistics(&workloads, results, L1_L2, "coalescing.line_use")?;
    let used: Vec<f64> = shares.into_iter().map(|share| share * 100.0).collect();
    let ours = mean(&used);
    let told = system::published(&workloads, |rates| rates.line_use);
    Ok(Finding {
        ours: vec![Some(ours)],
        holds: near(ours, 60.6),
        scale: system::scale_text(&workloads),
        note: system::sentences(&[
            &system::extremes(&workloads, &used),
            &system::apart(&used, &told),
            &system::about(&workloads),
        ]),
        charts: vec![(
            "",
            rates(
                "Use of lines (Table 3)",
                "% of a line",
                &workloads,
                &[("used", &used), ("Table 3", &told)],
            ),
        )],
    })
}
