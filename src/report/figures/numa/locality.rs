//! Section 3: what single-GPU policies do to four sockets, and what locality saves.

use super::system::{PAGES, Scaled, TRADITIONAL, larger, scale_text, sockets, time_ratios, workloads};
use crate::report::figures::effort::Effort;
use crate::report::figures::experiment::{Experiment, Results};
use crate::report::figures::figure::{Figure, Finding, geometric_mean, mean, near};
use crate::report::figures::suite::bars;

pub const REMOTE: Figure = Figure {
    id: "numa-remote",
    claim: "remote share of accesses with fine or page interleave, 4 sockets",
    paper: &[75.0],
    unit: "%",
    place: "NUMA-aware GPUs 3",
    experiments: interleaved,
    finding: remote,
};

pub const ORDER: Figure = Figure {
    id: "numa-locality",
    claim: "4 sockets with single-GPU policies do not match 1 GPU; locality-optimised almost always better",
    paper: &[],
    unit: "order",
    place: "NUMA-aware GPUs 3.1, Fig 3",
    experiments,
    finding,
};

fn interleaved(effort: Effort) -> Vec<Experiment> {
    workloads(effort)
        .into_iter()
        .flat_map(|one| [sockets(4, one, &TRADITIONAL), sockets(4, one, &PAGES)])
        .collect()
}

fn remote(effort: Effort, results: &Results) -> Result<Finding, String> {
    let workloads = workloads(effort);
    let share = |experiment: &Experiment| -> Result<f64, String> {
        let share = results.of(experiment)?.remote_share;
        share.ok_or_else(|| "nothing left the compute units".to_owned())
    };
    let of = |changes: &[super::system::Change]| -> Result<Vec<f64>, String> {
        workloads.iter().map(|&one| share(&sockets(4, one, changes)).map(|share| 100.0 * share)).collect()
    };
    let (fine, page) = (of(&TRADITIONAL)?, of(&PAGES)?);
    let (by_fine, by_page) = (mean(&fine), mean(&page));
    let chart = bars(
        "Remote share of what leaves the SMs, 4 sockets (NUMA-aware GPUs, 3)",
        "%",
        &workloads,
        &[("fine", &fine), ("page", &page)],
    );
    Ok(Finding {
        ours: vec![Some(by_fine)],
        holds: near(by_fine, 75.0) && near(by_page, 75.0),
        scale: scale_text(&workloads),
        note: format!(
            "fine-grained; page interleave {by_page:.1} %; of loads that miss in an L1, and all stores"
        ),
        charts: vec![("", chart)],
    })
}

fn experiments(effort: Effort) -> Vec<Experiment> {
    let of = |one: Scaled| {
        [sockets(1, one, &[]), sockets(4, one, &TRADITIONAL), sockets(4, one, &[]), larger(4, one)]
    };
    workloads(effort).into_iter().flat_map(of).collect()
}

fn finding(effort: Effort, results: &Results) -> Result<Finding, String> {
    let workloads = workloads(effort);
    let one = |one: Scaled| sockets(1, one, &[]);
    let traditional = time_ratios(&workloads, results, one, |one| sockets(4, one, &TRADITIONAL))?;
    let local = time_ratios(&workloads, results, one, |one| sockets(4, one, &[]))?;
    let ideal = time_ratios(&workloads, results, one, |one| larger(4, one))?;
    let better = traditional.iter().zip(&local).filter(|(old, new)| new >= old).count();
    let (mean, with) = (geometric_mean(&traditional), geometric_mean(&local));
    let chart = bars(
        "4 sockets over 1 GPU (NUMA-aware GPUs, Fig. 3)",
        "speedup",
        &workloads,
        &[("traditional", &traditional), ("locality-optimised", &local), ("4x larger GPU", &ideal)],
    );
    let all = workloads.len();
    Ok(Finding {
        ours: Vec::new(),
        holds: mean < 1.0 && better * 10 >= all * 8,
        scale: scale_text(&workloads),
        note: format!(
            "over 1 GPU: single-GPU policies {mean:.2}x, locality-optimised {with:.2}x, better for {better} of {all}; \
             a GPU 4 times as large {:.2}x",
            geometric_mean(&ideal)
        ),
        charts: vec![("", chart)],
    })
}
