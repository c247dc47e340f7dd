//! Section 4.1.1: what peer transfers gain.

use super::system::{self, MACHINE, bars, left_out, run, scale_text, time_ratios, unless, workloads};
use crate::report::figures::effort::Effort;
use crate::report::figures::experiment::{Experiment, Results};
use crate::report::figures::figure::{Figure, Finding, geometric_mean, near};

pub const FIGURE: Figure = Figure {
    id: "umh-peer",
    claim: "gain from peer transfer, 4 GPUs, average",
    paper: &[5.0],
    unit: "%",
    place: "UMH 4.1.1",
    experiments,
    finding,
};

/// The machine as it is has peer transfers.
fn set(peer: bool) -> Vec<String> {
    if peer { Vec::new() } else { vec!["host.peer_transfer=false".to_owned()] }
}

/// Why it is missed where it is.
const REASON: &str = "only what several GPUs read while one owns it can be handed over: DCT, MM, MT and SLA gain, \
                      streams have nothing to gain";

fn experiments(effort: Effort) -> Vec<Experiment> {
    let of = |scaled| [true, false].map(|peer| run(scaled, &set(peer)));
    workloads(effort).into_iter().flat_map(of).collect()
}

fn finding(effort: Effort, results: &Results) -> Result<Finding, String> {
    let workloads = workloads(effort);
    let with = |peer| move |scaled| run(scaled, &set(peer));
    let speedups = time_ratios(&workloads, results, with(false), with(true))?;
    let mean = geometric_mean(&speedups);
    let gain = (mean - 1.0) * 100.0;
    let gains: Vec<_> = speedups.iter().map(|speedup| (speedup - 1.0) * 100.0).collect();
    let extreme = |better: fn(f64, f64) -> f64| gains.iter().copied().reduce(better).unwrap_or(f64::NAN);
    let range = format!("{:.1} % to {:.1} % by workload", extreme(f64::min), extreme(f64::max));
    let order = if gain > 0.0 { "peer transfer gains: yes" } else { "peer transfer gains: no" };
    let holds = near(gain, 5.0);
    Ok(Finding {
        ours: vec![Some(gain)],
        holds,
        scale: scale_text(&workloads),
        note: system::sentences(&[order, &range, unless(holds, effort, REASON), MACHINE, &left_out(effort)]),
        charts: vec![(
            "",
            bars(
                "Speedup by peer transfer, 4 GPUs (UMH, 4.1.1)",
                "time without over time with peer transfer",
                &workloads,
                &[("UMH", &speedups)],
            ),
        )],
    })
}
