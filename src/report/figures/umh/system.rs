//! The machines of UMH, Table III, and the runs that its figures share.

use crate::report::chart::Series;
use crate::report::figures::experiment::{Experiment, Results};
use crate::report::figures::workload::Workload;

/// Point-to-point links: where the paper names its network, it is this one (Fig. 9, section 6.1).
pub const MACHINE: &str = "umh-4gpu-nvlink";

/// A scenario that runs a workload `times` times on one machine, each run after the one before: `run-1`, `run-2`.
#[must_use]
pub fn scenario(workload: &Workload, machine: &str, times: u32) -> String {
    let mut text = format!("title = \"{}\"\nmachine = \"{machine}\"\nchecks = false\n", workload.name);
    for number in 1..=times {
        text.push_str(&format!("[[kernel]]\nid = \"run-{number}\"\nname = \"{}\"\n", workload.kernel));
        if number > 1 {
            text.push_str(&format!("after = \"run-{}\"\n", number - 1));
        }
    }
    text
}

/// A run of a workload of Table I with changes to the machine.
#[must_use]
pub fn run((workload, scale): (&Workload, u64), set: &[String]) -> Experiment {
    repeated((workload, scale), 1, set)
}

/// The same, several times on one machine.
#[must_use]
pub fn repeated((workload, scale): (&Workload, u64), times: u32, set: &[String]) -> Experiment {
    Experiment {
        scenario: scenario(workload, MACHINE, times),
        set: set.to_vec(),
        scale,
        ..Experiment::default()
    }
}

/// Blocks of this size everywhere, and interleaves that hold all of one together (section 5.3). The machine as it is
/// needs no change.
#[must_use]
pub fn blocks(kib: u64) -> Vec<String> {
    if kib == 4 {
        return Vec::new();
    }
    let keys =
        ["gpu.memory.secondary_block", "gpu.l2.interleave", "host.block", "host.interleave", "host.llc.line"];
    keys.map(|key| format!("{key}={kib} KiB")).into()
}

/// The time of each workload in cycles, as `experiment` runs it.
///
/// # Errors
/// If one of them is not there, in words.
pub fn cycles(
    workloads: &[(&'static Workload, u64)],
    results: &Results,
    experiment: impl Fn((&Workload, u64)) -> Experiment,
) -> Result<Vec<f64>, String> {
    let cycles = |&(workload, scale): &(&'static Workload, u64)| {
        let outcome = results.of(&experiment((workload, scale)));
        outcome.map(|outcome| outcome.cycles as f64).map_err(|why| format!("{}: {why}", workload.name))
    };
    workloads.iter().map(cycles).collect()
}

/// Each of `times` over its partner.
#[must_use]
pub fn ratios(times: &[f64], to: &[f64]) -> Vec<f64> {
    times.iter().zip(to).map(|(time, to)| time / to).collect()
}

/// The names below the bars of a chart: the workloads, and their mean.
#[must_use]
pub fn names(workloads: &[(&Workload, u64)], mean: &str) -> Vec<String> {
    workloads.iter().map(|(workload, _)| workload.name).chain([mean]).map(str::to_owned).collect()
}

/// A series of a value for each workload, and `mean`.
#[must_use]
pub fn series(name: impl Into<String>, values: &[f64], mean: f64) -> Series {
    Series { name: name.into(), values: values.iter().copied().chain([mean]).collect() }
}

/// Why a figure is missed, unless it `holds`.
#[must_use]
pub fn unless(holds: bool, reason: &str) -> &str {
    if holds { "" } else { reason }
}

/// Sentences in a row; empty ones are left out.
#[must_use]
pub fn sentences(parts: &[&str]) -> String {
    parts.iter().filter(|part| !part.is_empty()).copied().collect::<Vec<_>>().join("; ")
}
