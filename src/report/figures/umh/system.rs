//! The machines of UMH, Table III, and the runs that its figures share.

use crate::report::figures::effort::Effort;
use crate::report::figures::experiment::Experiment;
use crate::report::figures::suite::{self, Plan, plan};
pub use crate::report::figures::suite::{
    Scaled, bars, outcomes, ratios, scale_text, sentences, time_ratios, times, word,
};
use crate::workload::suites::{UMH, Workload};

/// Point-to-point links: where the paper names its network, it is this one (Fig. 9, section 6.1).
pub const MACHINE: &str = "umh-4gpu-nvlink";

/// In the order of the table. Only the data shrink, to what is still tens of blocks of 4 KiB.
static PLANS: [Plan; 14] = [
    plan("BSch", 1, Some(32)),
    plan("DCT", 1, None),
    plan("DH", 1, Some(128)),
    plan("FW", 1, Some(64)),
    plan("FWT", 1, Some(32)),
    plan("Hist", 1, None),
    plan("MM", 1, Some(64)),
    plan("MT", 1, Some(16)),
    plan("MTw", 1, None),
    plan("RD", 1, Some(16)),
    plan("RS", 8, None),
    plan("SC", 1, None),
    plan("SF", 1, None),
    plan("SLA", 1, None),
];

/// The workloads to run, each with its scale.
#[must_use]
pub fn workloads(effort: Effort) -> Vec<Scaled> {
    suite::planned(UMH, &PLANS, effort)
}

/// The workloads to compare systems on: for a quick look a few of each kind, since there are many systems.
#[must_use]
pub fn compared(effort: Effort) -> Vec<Scaled> {
    const QUICK: [&str; 6] = ["BSch", "DH", "FW", "MM", "MT", "RD"];
    let is_wanted = |workload: &Workload| effort == Effort::Whole || QUICK.contains(&workload.name);
    workloads(effort).into_iter().filter(|(workload, _)| is_wanted(workload)).collect()
}

/// The workloads that are left out, in words; empty if none is.
#[must_use]
pub fn left_out(effort: Effort) -> String {
    suite::left_out(&PLANS, effort)
}

/// Those that are left out where systems are compared, in words.
#[must_use]
pub fn not_compared(effort: Effort) -> String {
    let compared = compared(effort);
    let is_out = |name: &&str| compared.iter().all(|(workload, _)| workload.name != *name);
    let names: Vec<_> = UMH.iter().map(|workload| workload.name).filter(is_out).collect();
    if names.is_empty() { String::new() } else { format!("without {}", names.join(", ")) }
}

/// A run of a workload of Table I with changes to the machine.
#[must_use]
pub fn run(scaled: Scaled, set: &[String]) -> Experiment {
    suite::run(MACHINE, scaled, set)
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

/// Why a figure is missed, unless it `holds`: that is known of all workloads at their scale, not of a quick look.
#[must_use]
pub fn unless(holds: bool, effort: Effort, reason: &str) -> &str {
    if holds || effort == Effort::Quick { "" } else { reason }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::kernels;

    #[test]
    fn every_workload_of_the_suite_is_planned_and_takes_a_scale() {
        let all = workloads(Effort::Whole);
        let names: Vec<_> = all.iter().map(|(workload, _)| workload.name).collect();
        assert_eq!(names, UMH.iter().map(|workload| workload.name).collect::<Vec<_>>());
        for (workload, _) in all {
            let kernel = kernels::find(workload.kernel).unwrap();
            assert!(kernel.parameters().any(|parameter| parameter.name == "scale"), "{}", workload.kernel);
        }
        assert_eq!((compared(Effort::Whole).len(), compared(Effort::Quick).len()), (14, 6));
    }
}
