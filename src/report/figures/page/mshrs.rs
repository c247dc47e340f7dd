//! Section 3.2, Fig. 5: how many far-faults of a compute unit the GMMU should track.

use super::system::{self, COPIES, ratios, runs, workloads};
use crate::report::chart::{Chart, Lines, Series};
use crate::report::figures::effort::Effort;
use crate::report::figures::experiment::{Experiment, Results};
use crate::report::figures::figure::{Figure, Finding, geometric_mean};

const PAPER: [f64; 2] = [4.0, 16.0];

pub const FIGURE: Figure = Figure {
    id: "page-mshrs",
    claim: "in-flight far-faults per CU that suffice; no use beyond",
    paper: &PAPER,
    unit: "faults",
    place: "Paged memory 3.2",
    experiments,
    finding,
};

const COUNTS: [u32; 6] = [1, 2, 4, 8, 16, 32];

/// What "is sufficient to sustain good performance": within a tenth of the most that can be had; and what "there is
/// little reason to go beyond": within a hundredth.
const SUFFICES: f64 = 1.10;
const NO_USE: f64 = 1.01;

/// The machine as it is has 16.
fn with(count: u32) -> Vec<String> {
    if count == 16 { Vec::new() } else { vec![format!("gpu.paging.far_faults={count}")] }
}

fn experiments(effort: Effort) -> Vec<Experiment> {
    let settings = COUNTS.map(with);
    let settings: Vec<Vec<&str>> =
        settings.iter().map(|set| set.iter().map(String::as_str).collect()).collect();
    let mut all: Vec<&[&str]> = settings.iter().map(Vec::as_slice).collect();
    all.push(COPIES);
    runs(workloads(effort), &all)
}

fn finding(effort: Effort, results: &Results) -> Result<Finding, String> {
    let workloads = workloads(effort);
    let mean = |count: u32| {
        let set = with(count);
        let set: Vec<&str> = set.iter().map(String::as_str).collect();
        Ok::<_, String>(geometric_mean(&ratios(&workloads, results, &set, COPIES)?))
    };
    let means = COUNTS.into_iter().map(mean).collect::<Result<Vec<_>, _>>()?;
    let most = means.last().copied().unwrap_or(f64::NAN);
    let first = |within: f64| {
        let found = COUNTS.iter().zip(&means).find(|(_, mean)| **mean <= within * most);
        found.map(|(count, _)| f64::from(*count))
    };
    let ours = [first(SUFFICES), first(NO_USE)];
    let list: Vec<String> =
        COUNTS.iter().zip(&means).map(|(count, mean)| format!("{count}: {mean:.2}")).collect();
    Ok(Finding {
        holds: ours == PAPER.map(Some),
        ours: ours.into(),
        scale: system::scale_text(&workloads),
        note: system::sentences(&[
            &format!("slowdown by far-faults a CU, geometric mean: {}", list.join(", ")),
            "suffices: within 10 % of 32; no use: within 1 %",
            &system::about(&workloads),
        ]),
        charts: vec![(
            "",
            Chart::Lines(Lines {
                title: "Far-faults tracked for each compute unit (Fig. 5)".to_owned(),
                axis: system::AXIS.to_owned(),
                points: COUNTS.map(|count| count.to_string()).into(),
                series: vec![Series { name: "GM".to_owned(), values: means }],
            }),
        )],
    })
}
