//! The machine of Table 1, the workloads of the paper's figures, and the runs that its figures share. Data shrink, and with them the memory
//! where a share of them fits; caches and TLBs stay, for as many warps as ever use them.

use crate::report::figures::effort::Effort;
use crate::report::figures::experiment::{Experiment, Outcome, Results};
use crate::report::figures::suite::{self, Plan, plan};
pub use crate::report::figures::suite::{Scaled, bars, extremes, of, scale_text, sentences, word};
use crate::workload::suites::PAGED;

pub const MACHINE: &str = "paged-gtx480";

/// In the order of the suite. What takes many instructions for its data shrinks more.
static PLANS: [Plan; 16] = [
    plan("backprop", 1, Some(32)),
    plan("bfs", 4, None),
    plan("btree", 1, None),
    plan("comd", 2, None),
    plan("gaussian", 4, None),
    plan("histogram", 1, None),
    plan("hotspot", 1, Some(16)),
    plan("kmeans", 8, None),
    plan("minife", 2, Some(64)),
    plan("nw", 1, Some(16)),
    plan("pathfinder", 1, None),
    plan("sad", 1, None),
    plan("sgemm", 4, None),
    plan("srad", 1, None),
    plan("stencil", 4, None),
    plan("xsbench", 8, Some(256)),
];

/// Workloads that are oversubscribed: those "which have application footprints exceeding 32MB" (section 5), at full size. The paper has
/// eleven, and does not tell which they are but for those that its text names.
const OVERSUBSCRIBED: [&str; 10] =
    ["backprop", "bfs", "histogram", "hotspot", "kmeans", "minife", "nw", "pathfinder", "stencil", "xsbench"];

/// The workloads to run, each with its scale.
#[must_use]
pub fn workloads(effort: Effort) -> Vec<Scaled> {
    suite::planned(PAGED, &PLANS, effort)
}

/// Those of them that the paper oversubscribes.
#[must_use]
pub fn oversubscribed(effort: Effort) -> Vec<Scaled> {
    workloads(effort).into_iter().filter(|(workload, _)| OVERSUBSCRIBED.contains(&workload.name)).collect()
}

/// A run of a workload with changes to the machine.
#[must_use]
pub fn run(scaled: Scaled, set: &[&str]) -> Experiment {
    suite::run(MACHINE, scaled, set)
}

/// Programmer-directed copies: all data go to the GPU, then the work runs.
pub const COPIES: &[&str] = &["gpu.paging.copy=up-front"];
/// Copies and work overlap perfectly (Fig. 2).
pub const OVERLAPPED: &[&str] = &["gpu.paging.copy=overlapped"];
/// The machine as it is: replayable far-faults, 16 a compute unit, no prefetch.
pub const REPLAY: &[&str] = &[];
pub const LOCALITY: &[&str] = &["gpu.paging.prefetch=locality"];

/// What each workload's run gave.
///
/// # Errors
/// If one is not there, in words.
pub fn outcomes<'a>(
    workloads: &[Scaled],
    results: &'a Results,
    set: &[&str],
) -> Result<Vec<&'a Outcome>, String> {
    suite::outcomes(workloads, results, |scaled| run(scaled, set))
}

/// The time of each workload over that of its partner with other settings.
///
/// # Errors
/// As [`outcomes`].
pub fn ratios(
    workloads: &[Scaled],
    results: &Results,
    set: &[&str],
    to: &[&str],
) -> Result<Vec<f64>, String> {
    suite::time_ratios(workloads, results, |scaled| run(scaled, set), |scaled| run(scaled, to))
}

/// What every note says at its end.
#[must_use]
pub fn about(workloads: &[Scaled]) -> String {
    format!(
        "{MACHINE}; {}; copies bring what is only written, too; the way back of results is counted for none, nor is the host \
         between launches",
        suite::names(workloads)
    )
}

/// The axis of nearly all charts.
pub const AXIS: &str = "time over that with programmer-directed copies";

/// The runs of `workloads` with each of the settings.
#[must_use]
pub fn runs(workloads: Vec<Scaled>, settings: &[&[&str]]) -> Vec<Experiment> {
    let of = |scaled| settings.iter().map(move |set| run(scaled, set));
    workloads.into_iter().flat_map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_workload_of_the_suite_is_planned() {
        let names: Vec<_> = workloads(Effort::Whole).iter().map(|(workload, _)| workload.name).collect();
        assert_eq!(names, PAGED.iter().map(|workload| workload.name).collect::<Vec<_>>());
        assert!(OVERSUBSCRIBED.iter().all(|name| names.contains(name)));
        assert!(!oversubscribed(Effort::Quick).is_empty());
    }
}
