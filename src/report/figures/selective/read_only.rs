//! Section 5.2, Fig. 8: read-only pages, at several prices of a protection fault.

use super::system::{
    self, AXIS, COHERENT, Change, Machine, READ_ONLY, VARIABLE, bars, runs, throughput, workloads,
};
use crate::report::figures::effort::Effort;
use crate::report::figures::experiment::{Experiment, Results};
use crate::report::figures::figure::{Figure, Finding, geometric_mean};

pub const FIGURE: Figure = Figure {
    id: "sel-readonly",
    claim: "with 20 us faults 7 of 12 gain; btree gains 35 %; backprop, cns, needle lose",
    paper: &[],
    unit: "order",
    place: "Selective caching 5.2",
    experiments,
    finding,
};

const FREE: Machine = READ_ONLY
    .with(&[Change::Set("gpu.read_only.gpu_fault=0 us"), Change::Set("gpu.read_only.host_fault=0 us")]);
const SLOW: Machine = READ_ONLY.with(&[Change::Set("gpu.read_only.gpu_fault=40 us")]);

/// Workloads for which the paper advises against it.
const LOSERS: [&str; 3] = ["backprop", "cns", "needle"];

fn experiments(effort: Effort) -> Vec<Experiment> {
    runs(effort, &[COHERENT, VARIABLE, FREE, READ_ONLY, SLOW])
}

fn finding(effort: Effort, results: &Results) -> Result<Finding, String> {
    let workloads = workloads(effort);
    let gains = throughput(&workloads, results, READ_ONLY, VARIABLE)?;
    let winners = gains.iter().filter(|gain| **gain > 1.0).count();
    let of = |name| system::of(&workloads, &gains, name);
    // Of a selection, those that are in it.
    let losers: Vec<(&str, f64)> = LOSERS.iter().filter_map(|name| Some((*name, of(name)?))).collect();
    let lose = losers.iter().all(|(_, gain)| *gain < 1.0);
    let names: Vec<&str> = losers.iter().map(|(name, _)| *name).collect();
    let btree = of("btree").is_none_or(|gain| gain > 1.0);
    // Of a selection, as many as seven of twelve.
    let enough = winners * 12 >= 7 * workloads.len();
    let bar = |machine| throughput(&workloads, results, machine, COHERENT);
    let (variable, free, at_20, at_40) = (bar(VARIABLE)?, bar(FREE)?, bar(READ_ONLY)?, bar(SLOW)?);
    let told: Vec<_> = workloads
        .iter()
        .zip(&gains)
        .map(|((workload, _), gain)| format!("{} {:+.0} %", workload.name, (gain - 1.0) * 100.0))
        .collect();
    // As the paper's geo-mean*.
    let without: Vec<f64> = workloads
        .iter()
        .zip(&at_20)
        .filter(|((workload, _), _)| !LOSERS.contains(&workload.name))
        .map(|(_, share)| *share)
        .collect();
    let advised = format!(
        "{:.1} % of the coherent GPU on average, {:.1} % without these",
        100.0 * geometric_mean(&at_20),
        100.0 * geometric_mean(&without)
    );
    Ok(Finding {
        ours: Vec::new(),
        holds: enough && btree && lose,
        scale: system::scale_text(&workloads),
        note: system::sentences(&[
            &format!("{winners} of {} gain", workloads.len()),
            &format!("btree gains: {}", system::word(btree)),
            &format!("of those that the paper has lose {}: {}", names.join(", "), system::word(lose)),
            &advised,
            &told.join(", "),
            &system::about_faults(&workloads, results)?,
        ]),
        charts: vec![(
            "",
            bars(
                "Read-only pages (Fig. 8)",
                AXIS,
                &workloads,
                &[
                    ("no read-only pages", &variable),
                    ("faults cost nothing", &free),
                    ("20 us", &at_20),
                    ("40 us", &at_40),
                ],
            ),
        )],
    })
}
