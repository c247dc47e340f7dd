//! The machines of Table 4, one for each step, the workloads of Tables 1 to 3, and the runs that the figures share.

use crate::report::figures::experiment::{Experiment, Outcome, Results};
use crate::report::figures::suite;
pub use crate::report::figures::suite::{Scaled, bars, extremes, of, scale_text, sentences, word};
use crate::report::figures::workload::Effort;
use crate::workload::suites::SELECTIVE;

/// A machine with changes to it.
pub type Machine = (&'static str, &'static [&'static str]);

/// What all others are compared with. Its L1s are those of the GPUs that the paper simulates, write-through and tracked by
/// nobody: an L1 that a directory keeps coherent would make the baseline slower than what it is the bound of.
pub const COHERENT: Machine = ("selective-coherent", &["gpu.l1.protocol=vi"]);
pub const NAIVE: Machine = ("selective-naive", &[]);
pub const L1: Machine = ("selective-l1", &[]);
pub const L1_L2: Machine = ("selective-l1-l2", &[]);
pub const CLIENT: Machine = ("selective-client", &[]);
pub const VARIABLE: Machine = ("selective-variable", &[]);
pub const READ_ONLY: Machine = ("selective-readonly", &[]);

/// The steps of Fig. 5 to 8, each on top of the ones before.
pub const STEPS: [(&str, Machine); 6] = [
    ("naive", NAIVE),
    ("L1 coalescing", L1),
    ("L1+L2 coalescing", L1_L2),
    ("client cache", CLIENT),
    ("variable transfers", VARIABLE),
    ("read-only", READ_ONLY),
];

/// How a workload is run: its name, its scale when all of them run, and its scale for a quick look.
struct Plan {
    name: &'static str,
    whole: u64,
    quick: Option<u64>,
}

const fn plan(name: &'static str, whole: u64, quick: Option<u64>) -> Plan {
    Plan { name, whole, quick }
}

/// In the order of the suite. Caches keep their sizes, since the warps that share them do.
static PLANS: [Plan; 12] = [
    plan("backprop", 16, Some(64)),
    plan("bfs", 64, None),
    plan("btree", 4, Some(16)),
    plan("cns", 64, None),
    plan("comd", 16, Some(64)),
    plan("kmeans", 16, None),
    plan("minife", 4, None),
    plan("mummer", 16, None),
    plan("needle", 16, None),
    plan("pathfinder", 4, Some(16)),
    plan("srad_v1", 4, None),
    plan("xsbench", 64, Some(256)),
];

/// The workloads to run, each with its scale.
#[must_use]
pub fn workloads(effort: Effort) -> Vec<Scaled> {
    let scale = |plan: &Plan| match effort {
        Effort::Quick => plan.quick,
        Effort::Whole => Some(plan.whole),
    };
    let of =
        |plan: &Plan| Some((SELECTIVE.iter().find(|workload| workload.name == plan.name)?, scale(plan)?));
    PLANS.iter().filter_map(of).collect()
}

/// The runs of all workloads on each of the machines.
#[must_use]
pub fn runs(effort: Effort, machines: &[Machine]) -> Vec<Experiment> {
    let of = |scaled| machines.iter().map(move |(name, set)| suite::run_less(name, scaled, set));
    workloads(effort).into_iter().flat_map(of).collect()
}

/// What each workload's run on a machine gave.
///
/// # Errors
/// If one is not there, in words.
pub fn outcomes<'a>(
    workloads: &[Scaled],
    results: &'a Results,
    (name, set): Machine,
) -> Result<Vec<&'a Outcome>, String> {
    let outcome = |scaled: &Scaled| {
        results
            .of(&suite::run_less(name, *scaled, set))
            .map_err(|why| format!("{} on {name}: {why}", scaled.0.name))
    };
    workloads.iter().map(outcome).collect()
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
    let cycles = |machine| {
        let all = outcomes(workloads, results, machine)?;
        Ok::<_, String>(all.iter().map(|outcome| outcome.cycles as f64).collect::<Vec<_>>())
    };
    Ok(cycles(over)?.iter().zip(cycles(machine)?).map(|(over, own)| over / own).collect())
}

/// The sum of numbers over how many they are.
#[must_use]
pub fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// What every note says at its end.
#[must_use]
pub fn about(workloads: &[Scaled]) -> String {
    let names: Vec<_> = workloads.iter().map(|(workload, _)| workload.name).collect();
    format!("caches as in Table 4, only data are smaller; {}", names.join(", "))
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
