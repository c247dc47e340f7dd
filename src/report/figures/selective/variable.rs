//! Section 5.1.3: performance by variable-size transfers, and by a faster link instead.

use super::system::{self, CLIENT, Change, Machine, VARIABLE, bars, runs, throughput, workloads};
use crate::report::figures::effort::Effort;
use crate::report::figures::experiment::Results;
use crate::report::figures::figure::{Figure, Finding, geometric_mean};

const PAPER: [f64; 2] = [3.0, 1.0];

/// A gain counts as the same within so many points: a quarter of 1 % would be less than what other sizes of data change.
const POINTS: f64 = 1.0;

pub const FIGURE: Figure = Figure {
    id: "sel-variable",
    claim: "gain from variable-size transfers; from 1.5x link bandwidth instead",
    paper: &PAPER,
    unit: "%",
    place: "Selective caching 5.1.3",
    experiments: |effort| runs(effort, &[CLIENT, VARIABLE, FASTER]),
    finding,
};

/// Lines of 128 B over 1.5 times 90 GB/s.
const FASTER: Machine = CLIENT.with(&[Change::Link(135.0)]);

fn finding(effort: Effort, results: &Results) -> Result<Finding, String> {
    let workloads = workloads(effort);
    let variable = throughput(&workloads, results, VARIABLE, CLIENT)?;
    let faster = throughput(&workloads, results, FASTER, CLIENT)?;
    let gains = [&variable, &faster].map(|values| (geometric_mean(values) - 1.0) * 100.0);
    Ok(Finding {
        holds: gains.iter().zip(PAPER).all(|(ours, paper)| (ours - paper).abs() <= POINTS),
        ours: gains.map(Some).into(),
        scale: system::scale_text(&workloads),
        note: system::sentences(&[
            "within one point of the paper's counts as the same",
            &format!("variable {}", system::extremes(&workloads, &variable)),
            &format!("faster link {}", system::extremes(&workloads, &faster)),
            &system::about(&workloads),
        ]),
        charts: vec![(
            "",
            bars(
                "Less data or a faster link (5.1.3)",
                "throughput over that with lines of 128 B at 90 GB/s",
                &workloads,
                &[("variable size", &variable), ("135 GB/s", &faster)],
            ),
        )],
    })
}
