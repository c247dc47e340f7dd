//! Sections 5.1 and 5.2, Fig. 5 to 8: what each enhancement wins back.

use super::system::{self, AXIS, COHERENT, STEPS, bars, runs, throughput, workloads};
use crate::report::figures::effort::Effort;
use crate::report::figures::experiment::{Experiment, Results};
use crate::report::figures::figure::{Figure, Finding, geometric_mean, near};

const PAPER: [f64; 6] = [42.0, 74.0, 79.0, 90.0, 93.0, 89.0];

pub const FIGURE: Figure = Figure {
    id: "sel-steps",
    claim: "naive; + L1 coalescing; + L1+L2 coalescing; + 512 KiB client cache; + variable transfers; + read-only \
            caching at 20 us",
    paper: &PAPER,
    unit: "%",
    place: "Selective caching 5.1, 5.2, Fig 5-8",
    experiments,
    finding,
};

fn experiments(effort: Effort) -> Vec<Experiment> {
    let machines: Vec<_> = [COHERENT].into_iter().chain(STEPS.map(|(_, machine)| machine)).collect();
    runs(effort, &machines)
}

fn finding(effort: Effort, results: &Results) -> Result<Finding, String> {
    let workloads = workloads(effort);
    let all =
        STEPS.iter().map(|(name, machine)| Ok((*name, throughput(&workloads, results, *machine, COHERENT)?)));
    let all = all.collect::<Result<Vec<_>, String>>()?;
    let means: Vec<f64> = all.iter().map(|(_, values)| geometric_mean(values) * 100.0).collect();
    // Read-only caching at this price costs more than it gains.
    let is_ordered = means.windows(2).take(4).all(|pair| pair[0] < pair[1]);
    let told: Vec<_> =
        all.iter().map(|(name, values)| format!("{name} {}", system::extremes(&workloads, values))).collect();
    Ok(Finding {
        holds: is_ordered && means.iter().zip(PAPER).all(|(ours, paper)| near(*ours, paper)),
        ours: means.into_iter().map(Some).collect(),
        scale: system::scale_text(&workloads),
        note: system::sentences(&[
            &format!(
                "each of the first five steps is better than the one before: {}",
                system::word(is_ordered)
            ),
            &told.join(", "),
            &system::about_faults(&workloads, results)?,
            &system::about(&workloads),
        ]),
        charts: vec![("", bars("The steps of selective caching (Fig. 5 to 8)", AXIS, &workloads, &all))],
    })
}
