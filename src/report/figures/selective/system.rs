//! The machines of Table 4, one for each step, the workloads of Tables 1 to 3, and the runs that the figures share.
//!
//! A whole machine with the paper's data takes too long, and smaller data on it find caches that hold them and runs that are over
//! before a fault is. So an eighth of the machine runs: two fifths of the SMs, each with a third of the warps and of the
//! L1, one of the eight channels with its slice of the L2, and an eighth of the CPU's memory, of the link and of the client cache.

use crate::report::figures::effort::Effort;
use crate::report::figures::experiment::{Experiment, Outcome, Results};
use crate::report::figures::suite::{self, Plan, plan};
pub use crate::report::figures::suite::{Scaled, bars, extremes, of, sentences, word};
use crate::report::number::grouped;
use crate::workload::suites::SELECTIVE;

/// By what the machine is smaller.
const PART: u32 = 8;

/// What is set of every machine, and of one with a client cache.
const SMALLER: [&str; 10] = [
    "gpu.sm.count=6",
    "gpu.sm.warps=16",
    "gpu.l1.size=5 KiB",
    "gpu.l1.ways=5",
    "gpu.l1.mshrs=21",
    "gpu.l2.slices=1",
    "host.hmds=1",
    "host.dram.bandwidth=10 GB/s",
    "host.llc.size=1 MiB",
    "network.bandwidth=11.25 GB/s",
];
const SMALLER_CLIENT: [&str; 2] = ["host.client.size=64 KiB", "host.client.mshrs=64"];

/// A machine with changes to it.
pub type Machine = (&'static str, &'static [&'static str]);

/// What all others are compared with.
pub const COHERENT: Machine = ("selective-coherent", &[]);
pub const NAIVE: Machine = ("selective-naive", &[]);
pub const L1: Machine = ("selective-l1", &[]);
pub const L1_L2: Machine = ("selective-l1-l2", &[]);
pub const CLIENT: Machine = ("selective-client", &[]);
pub const VARIABLE: Machine = ("selective-variable", &[]);
pub const READ_ONLY: Machine = ("selective-readonly", &[]);

/// The first of all with a client cache and variable-size transfers.
pub const COHERENT_VARIABLE: Machine = ("selective-coherent-variable", &[]);

/// Those with a client cache.
const CLIENTS: [&str; 4] = [CLIENT.0, VARIABLE.0, READ_ONLY.0, COHERENT_VARIABLE.0];

/// The steps of Fig. 5 to 8, each on top of the ones before.
pub const STEPS: [(&str, Machine); 6] = [
    ("naive", NAIVE),
    ("L1 coalescing", L1),
    ("L1+L2 coalescing", L1_L2),
    ("client cache", CLIENT),
    ("variable transfers", VARIABLE),
    ("read-only", READ_ONLY),
];

/// In the order of the suite. Data are as small as they can be with all compute units at work: a GPU that is not full waits for
/// latencies, not for the memory of the CPU.
static PLANS: [Plan; 12] = [
    plan("backprop", 16, Some(64)),
    plan("bfs", 32, None),
    plan("btree", 4, Some(16)),
    plan("cns", 16, None),
    plan("comd", 16, None),
    plan("kmeans", 8, None),
    plan("minife", 4, None),
    plan("mummer", 8, Some(16)),
    plan("needle", 4, None),
    plan("pathfinder", 4, None),
    plan("srad_v1", 2, Some(8)),
    plan("xsbench", 32, Some(128)),
];

/// The workloads to run, each with its scale.
#[must_use]
pub fn workloads(effort: Effort) -> Vec<Scaled> {
    suite::planned(SELECTIVE, &PLANS, effort)
}

/// The run of a workload on a machine.
fn on((name, set): Machine) -> impl Fn(Scaled) -> Experiment {
    let client: &[&str] = if CLIENTS.contains(&name) { &SMALLER_CLIENT } else { &[] };
    let set: Vec<&str> = [&SMALLER[..], client, set].concat();
    move |scaled| suite::run_less(name, scaled, &set)
}

/// The runs of all workloads on each of the machines.
#[must_use]
pub fn runs(effort: Effort, machines: &[Machine]) -> Vec<Experiment> {
    let of = |scaled| machines.iter().map(move |machine| on(*machine)(scaled));
    workloads(effort).into_iter().flat_map(of).collect()
}

/// What each workload's run on a machine gave.
///
/// # Errors
/// If one is not there, in words.
pub fn outcomes<'a>(
    workloads: &[Scaled],
    results: &'a Results,
    machine: Machine,
) -> Result<Vec<&'a Outcome>, String> {
    suite::outcomes(workloads, results, on(machine))
}

/// A statistic of each workload's run on a machine.
///
/// # Errors
/// As [`outcomes`], or if there is no such statistic.
pub fn statistics(
    workloads: &[Scaled],
    results: &Results,
    machine: Machine,
    key: &str,
) -> Result<Vec<f64>, String> {
    outcomes(workloads, results, machine)?.into_iter().map(|outcome| outcome.statistic(key)).collect()
}

/// Of each workload, the throughput on a machine over that on another.
///
/// # Errors
/// As [`outcomes`].
pub fn throughput(
    workloads: &[Scaled],
    results: &Results,
    machine: Machine,
    over: Machine,
) -> Result<Vec<f64>, String> {
    suite::time_ratios(workloads, results, on(over), on(machine))
}

/// Why read-only pages look worse in short runs, with how short ours are.
///
/// # Errors
/// As [`outcomes`].
pub fn about_faults(workloads: &[Scaled], results: &Results) -> Result<String, String> {
    let cycles =
        || Ok::<_, String>(outcomes(workloads, results, VARIABLE)?.into_iter().map(|outcome| outcome.cycles));
    let (least, most) = (cycles()?.min().unwrap_or(0), cycles()?.max().unwrap_or(0));
    Ok(format!(
        "a fault takes 28,000 cycles however few the data are, and each page has one at most; the paper's runs are long enough for \
         that, ours take {} to {} cycles without it",
        grouped(least),
        grouped(most)
    ))
}

/// What every note says at its end.
#[must_use]
pub fn about(workloads: &[Scaled]) -> String {
    suite::names(workloads)
}

/// The scale in words.
#[must_use]
pub fn scale_text(workloads: &[Scaled]) -> String {
    format!("machine 1/{PART}, data {}", suite::scale_text(workloads))
}

/// The axis of most charts.
pub const AXIS: &str = "throughput over that of the hardware-coherent GPU";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_workload_of_the_suite_is_planned() {
        let names: Vec<_> = workloads(Effort::Whole).iter().map(|(workload, _)| workload.name).collect();
        assert_eq!(names, SELECTIVE.iter().map(|workload| workload.name).collect::<Vec<_>>());
        assert!(!workloads(Effort::Quick).is_empty());
    }
}
