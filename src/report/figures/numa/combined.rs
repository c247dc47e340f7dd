//! Section 6: lanes and ways together, and the power of the links.

use super::system::{
    AWARE, Change, DYNAMIC, PART, Scaled, gain, improvable, on_each, scale_text, sentences, sockets,
    time_ratios, workloads,
};
use crate::report::chart::Chart;
use crate::report::figures::effort::Effort;
use crate::report::figures::experiment::{Experiment, Results};
use crate::report::figures::figure::{Figure, Finding, geometric_mean, near};
use crate::report::figures::suite::{bars, bars_and};

pub const COMBINED: Figure = Figure {
    id: "numa-combined",
    claim: "4 sockets: over 1 GPU; over the locality-optimised baseline (80 % faster)",
    paper: &[2.1, 1.8],
    unit: "x",
    place: "NUMA-aware GPUs 6, Fig 10",
    experiments,
    finding,
};

pub const POWER: Figure = Figure {
    id: "numa-power",
    claim: "link power at 10 pJ/bit, before and after",
    paper: &[30.0, 14.0],
    unit: "W",
    place: "NUMA-aware GPUs 6",
    experiments: powers,
    finding: found_power,
};

const BOTH: [Change; 2] = [AWARE, DYNAMIC];

fn experiments(effort: Effort) -> Vec<Experiment> {
    let mut all = on_each(effort, &[&[], &[AWARE], &[DYNAMIC], &BOTH]);
    all.extend(workloads(effort).into_iter().map(|one| sockets(1, one, &[])));
    all
}

fn finding(effort: Effort, results: &Results) -> Result<Finding, String> {
    let (workloads, others) = improvable(effort, results)?;
    let both = |one: Scaled| sockets(4, one, &BOTH);
    let over_one = time_ratios(&workloads, results, |one| sockets(1, one, &[]), both)?;
    let base = |one: Scaled| sockets(4, one, &[]);
    let over_base = time_ratios(&workloads, results, base, both)?;
    let ways = time_ratios(&workloads, results, base, |one| sockets(4, one, &[AWARE]))?;
    let lanes = time_ratios(&workloads, results, base, |one| sockets(4, one, &[DYNAMIC]))?;
    let ours = [geometric_mean(&over_one), geometric_mean(&over_base)];
    let chart = bars(
        "NUMA-aware, 4 sockets (NUMA-aware GPUs, Fig. 10)",
        "speedup",
        &workloads,
        &[("over 1 GPU", &over_one), ("over the baseline", &over_base)],
    );
    Ok(Finding {
        ours: ours.map(Some).into(),
        holds: near(ours[0], 2.1) && near(ours[1], 1.8),
        scale: scale_text(&workloads),
        note: sentences(&[
            &format!("geometric means; ways alone {:.1} %, lanes alone {:.1} %", gain(&ways), gain(&lanes)),
            &others,
        ]),
        charts: vec![("", chart)],
    })
}

fn powers(effort: Effort) -> Vec<Experiment> {
    workloads(effort).into_iter().flat_map(|one| [sockets(4, one, &[]), sockets(4, one, &BOTH)]).collect()
}

fn found_power(effort: Effort, results: &Results) -> Result<Finding, String> {
    let workloads = workloads(effort);
    let watts = |changes: &[Change]| -> Result<Vec<f64>, String> {
        let power = |&one: &Scaled| {
            let power = results.of(&sockets(4, one, changes))?.link_power;
            power.map(|watts| watts * PART as f64).ok_or_else(|| "no link was used".to_owned())
        };
        workloads.iter().map(power).collect()
    };
    // What nothing goes over needs no power, and has no logarithm.
    let mean =
        |watts: &[f64]| geometric_mean(&watts.iter().copied().filter(|one| *one > 0.0).collect::<Vec<_>>());
    let (base, aware) = (watts(&[])?, watts(&BOTH)?);
    let (before, after) = (mean(&base), mean(&aware));
    let chart = Chart::Bars(bars_and(
        ("GM", mean),
        "Power of the links at 10 pJ/bit, 4 sockets (NUMA-aware GPUs, section 6)",
        "W",
        &workloads,
        &[("locality-optimised", &base), ("NUMA-aware", &aware)],
    ));
    Ok(Finding {
        ours: vec![Some(before), Some(after)],
        holds: near(before, 30.0) && near(after, 14.0),
        scale: scale_text(&workloads),
        note: "geometric means, of links as wide as the paper's, over what uses them; 20.5 W at most: a byte that leaves one of four \
               sockets at 64 GB/s and comes to another counts once"
            .to_owned(),
        charts: vec![("", chart)],
    })
}
