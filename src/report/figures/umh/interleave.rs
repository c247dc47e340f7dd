//! Section 5.3: what it costs a GPU to deal addresses over its L2 slices in pieces of 4 KiB instead of lines.

use super::baseline::{Network, System, run};
use super::system::{self, Scaled, bars, left_out, outcomes, ratios, scale_text, unless, workloads};
use crate::report::figures::effort::Effort;
use crate::report::figures::experiment::{Experiment, Outcome, Results};
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

/// The paper compares GPUs, not their ways to the host: the data are in the GPU's memory when the work begins.
fn experiment(scaled: Scaled, interleave: &str) -> Experiment {
    let setting = (System::Memcpy, 1, Network::Nvlink);
    Experiment { set: vec![format!("gpu.l2.interleave={interleave}")], ..run(scaled, setting) }
}

/// Cycles without those of copies.
fn work(outcome: &Outcome) -> f64 {
    outcome.cycles as f64 - outcome.copying.iter().sum::<f64>()
}

const MACHINE: &str = "baseline-memcpy-1gpu-nvlink";

/// At full size 16 % of the accesses of `Hist` to the stacks hit an open row with 64 B, and 49 % with 4 KiB. Without it the others cost 3.5 %.
const REASON: &str = "Hist gains: with 64 B many streams share the rows of a stack, and each closes those of others; with 4 KiB \
                      a row holds what one workgroup reads";

const BOTH: [&str; 2] = ["64 B", "4 KiB"];

fn experiments(effort: Effort) -> Vec<Experiment> {
    let of = |scaled| BOTH.map(|interleave| experiment(scaled, interleave));
    workloads(effort).into_iter().flat_map(of).collect()
}

fn finding(effort: Effort, results: &Results) -> Result<Finding, String> {
    let workloads = workloads(effort);
    let times = |interleave| {
        let outcomes = outcomes(&workloads, results, |scaled| experiment(scaled, interleave))?;
        Ok::<_, String>(outcomes.into_iter().map(work).collect::<Vec<_>>())
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
    let how = "memcpy without its copies: the data are in the GPU's memory";
    let holds = near(cost, 5.4);
    Ok(Finding {
        ours: vec![Some(cost)],
        holds,
        scale: scale_text(&workloads),
        note: system::sentences(&[&range, unless(holds, effort, REASON), how, MACHINE, &left_out(effort)]),
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
