//! Section 5.3: what it costs a GPU to deal addresses over its L2 slices in pieces of 4 KiB instead of lines.

use super::system::{
    self, MACHINE, Scaled, bars, left_out, outcomes, ratios, repeated, scale_text, unless, workloads,
};
use crate::report::figures::effort::Effort;
use crate::report::figures::experiment::{Experiment, Results};
use crate::report::figures::figure::{Figure, Finding, geometric_mean, near};

pub const FIGURE: Figure = Figure {
    id: "umh-interleave",
    claim: "cost of 64 B to 4 KiB interleave, 1 GPU",
    paper: &[5.4],
    unit: "%",
    place: "UMH 5.3",
    experiments,
    finding,
};

/// Blocks of a line each fit both interleaves.
fn set(interleave: &str) -> Vec<String> {
    ["gpu.count=1", "gpu.memory.secondary_block=64 B", "host.block=64 B", "host.llc.line=64 B"]
        .map(str::to_owned)
        .into_iter()
        .chain([format!("gpu.l2.interleave={interleave}")])
        .collect()
}

/// The paper compares GPUs, not their ways to the host: the second run finds its data in the GPU's memory.
fn experiment(scaled: Scaled, interleave: &str) -> Experiment {
    repeated(scaled, 2, &set(interleave))
}

/// Seen at full size.
const REASON: &str = "MT and MTw gain: where lines are dealt over all stacks, their strides of a power of two fall to few banks \
                      of each; the others lose 4.0 % at full size";

const BOTH: [&str; 2] = ["64 B", "4 KiB"];

fn experiments(effort: Effort) -> Vec<Experiment> {
    let of = |scaled| BOTH.map(|interleave| experiment(scaled, interleave));
    workloads(effort).into_iter().flat_map(of).collect()
}

fn finding(effort: Effort, results: &Results) -> Result<Finding, String> {
    let workloads = workloads(effort);
    let times = |interleave| {
        let second = outcomes(&workloads, results, |scaled| experiment(scaled, interleave))?;
        second.iter().map(|outcome| outcome.span("run-2")).collect::<Result<Vec<_>, String>>()
    };
    let slowdowns = ratios(&times(BOTH[1])?, &times(BOTH[0])?);
    let mean = geometric_mean(&slowdowns);
    let cost = (mean - 1.0) * 100.0;
    let extreme = |better: fn(f64, f64) -> f64| slowdowns.iter().copied().reduce(better).unwrap_or(f64::NAN);
    let range = format!(
        "{:.1} % to {:.1} % by workload",
        (extreme(f64::min) - 1.0) * 100.0,
        (extreme(f64::max) - 1.0) * 100.0
    );
    let how = "the second of two runs, which finds its data in the GPU's memory; blocks of 64 B";
    let holds = near(cost, 5.4);
    let machine = format!("{MACHINE} with one GPU");
    Ok(Finding {
        ours: vec![Some(cost)],
        holds,
        scale: scale_text(&workloads),
        note: system::sentences(&[&range, how, unless(holds, REASON), &machine, &left_out(effort)]),
        charts: vec![(
            "",
            bars(
                "Interleave of 4 KiB instead of 64 B, 1 GPU (UMH, 5.3)",
                "time over that with 64 B",
                &workloads,
                &[("4 KiB", &slowdowns)],
            ),
        )],
    })
}
