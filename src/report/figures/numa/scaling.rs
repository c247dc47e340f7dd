//! Section 6: how NUMA-aware GPUs scale, beside single GPUs as large.

use super::system::{AWARE, Change, DYNAMIC, Scaled, larger, scale_text, sockets, time_ratios, workloads};
use crate::report::figures::effort::Effort;
use crate::report::figures::experiment::{Experiment, Results};
use crate::report::figures::figure::{Figure, Finding, geometric_mean, mean, near};
use crate::report::figures::suite::{bars, extremes};

pub const FIGURE: Figure = Figure {
    id: "numa-scaling",
    claim: "2, 4, 8 sockets over 1; and over the ideal larger GPU",
    paper: &[1.5, 2.3, 3.2, 0.89, 0.84, 0.76],
    unit: "x",
    place: "NUMA-aware GPUs 6, Fig 11",
    experiments,
    finding,
};

const COUNTS: [u32; 3] = [2, 4, 8];
const BOTH: [Change; 2] = [AWARE, DYNAMIC];

fn experiments(effort: Effort) -> Vec<Experiment> {
    let of = |one: Scaled| {
        let mut all = vec![sockets(1, one, &[])];
        all.extend(COUNTS.iter().flat_map(|&count| [sockets(count, one, &BOTH), larger(count, one)]));
        all
    };
    workloads(effort).into_iter().flat_map(of).collect()
}

fn finding(effort: Effort, results: &Results) -> Result<Finding, String> {
    let workloads = workloads(effort);
    let one = |one: Scaled| sockets(1, one, &[]);
    let (mut means, mut shares, mut all) = (Vec::new(), Vec::new(), Vec::new());
    let (mut told, mut plain) = (Vec::new(), Vec::new());
    for count in COUNTS {
        let ours = time_ratios(&workloads, results, one, |one| sockets(count, one, &BOTH))?;
        let ideal = time_ratios(&workloads, results, one, |one| larger(count, one))?;
        means.push(geometric_mean(&ours));
        plain.push(format!("{:.2}", mean(&ours)));
        shares.push(geometric_mean(&ours) / geometric_mean(&ideal));
        told.push(format!("{count} sockets {}", extremes(&workloads, &ours)));
        all.push((format!("{count} sockets"), ours));
        all.push((format!("{count}x larger GPU"), ideal));
    }
    let chart = bars("NUMA-aware GPUs over 1 GPU (NUMA-aware GPUs, Fig. 11)", "speedup", &workloads, &all);
    means.append(&mut shares);
    let holds = means.iter().zip(FIGURE.paper).all(|(ours, paper)| near(*ours, *paper));
    Ok(Finding {
        ours: means.into_iter().map(Some).collect(),
        holds,
        scale: scale_text(&workloads),
        note: format!("geometric means (arithmetic {} over 1); {}", plain.join(", "), told.join(", ")),
        charts: vec![("", chart)],
    })
}
