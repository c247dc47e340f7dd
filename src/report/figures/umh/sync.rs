//! Section 6.2 and Fig. 14: how soon the CPU can use what GPUs have computed.

use super::baseline::{Network, System, on, run, runs};
use super::system::{Scaled, bars, compared, outcomes, ratios, scale_text, sentences};
use crate::model::access::AccessKind;
use crate::model::operation::Operation;
use crate::report::figures::effort::Effort;
use crate::report::figures::experiment::{Experiment, Results};
use crate::report::figures::figure::{Figure, Finding, geometric_mean};
use crate::workload::TaskKind;

const PAPER: [f64; 3] = [13.0, 20.0, 24.0];

pub const FIGURE: Figure = Figure {
    id: "umh-sync",
    claim: "start of the CPU's use of GPU results, over zero-copy, memcpy, software UM: at least",
    paper: &PAPER,
    unit: "x",
    place: "UMH 6.2, Fig 14",
    experiments,
    finding,
};

const GPUS: u32 = 4;
const NETWORK: Network = Network::Nvlink;

/// In the order of the claim.
const OTHERS: [System; 3] = [System::ZeroCopy, System::Memcpy, System::Managed];

/// The workloads that end with a launch: the results of the others are with the host when they end.
fn left_on_gpus(effort: Effort) -> Vec<Scaled> {
    compared(effort).into_iter().filter(|scaled| result_of(*scaled).is_some()).collect()
}

/// A word that GPUs have written last: the first that the last launch stores to, if nothing follows it.
fn result_of((workload, scale): Scaled) -> Option<u64> {
    let steps = workload.build(scale).ok()?;
    let TaskKind::Kernel(last) = steps.last()? else { return None };
    let mut operations = (0..).map_while(|index| last.operation(0, 0, index));
    operations.find_map(|operation| match operation {
        Operation::Access(access) if access.kind != AccessKind::Load => {
            access.lanes.iter().next().map(|(_, address)| address.0)
        }
        _ => None,
    })
}

/// The workload under UMH, after which a core asks for a word with an exclusive access and loads it (section 4.2.1).
fn dynamic(scaled: Scaled) -> Option<Experiment> {
    let address = result_of(scaled)?;
    let mut experiment = run(scaled, (System::Umh, GPUS, NETWORK));
    experiment.scenario.push_str(&format!(
        "[[program]]\nid = \"use\"\nafter = \"run\"\nby = \"host.cpu0\"\ndo = [\"exclusive {address:#x}\", \"load word {address:#x} 4\"]\n"
    ));
    Some(experiment)
}

fn experiments(effort: Effort) -> Vec<Experiment> {
    let workloads = left_on_gpus(effort);
    let others = runs(&workloads, &OTHERS.map(|system| (system, GPUS, NETWORK)));
    workloads.into_iter().filter_map(dynamic).chain(others).collect()
}

/// Cycles from the end of the work until the CPU can use a result.
fn waits(workloads: &[Scaled], results: &Results, system: System) -> Result<Vec<f64>, String> {
    if system != System::Umh {
        // All of it is there when flushes and copies have ended.
        let outcomes = outcomes(workloads, results, on((system, GPUS, NETWORK)))?;
        return outcomes.iter().map(|outcome| outcome.after("run")).collect();
    }
    let wait = |&scaled: &Scaled| {
        let experiment = dynamic(scaled).ok_or_else(|| format!("{} stores nothing", scaled.0.name))?;
        results.of(&experiment)?.span("use")
    };
    workloads.iter().map(wait).collect()
}

fn finding(effort: Effort, results: &Results) -> Result<Finding, String> {
    let workloads = left_on_gpus(effort);
    let umh = waits(&workloads, results, System::Umh)?;
    let mut series = Vec::new();
    for system in OTHERS {
        let times = waits(&workloads, results, system)?;
        series.push((system.name(), ratios(&times, &umh)));
    }
    let least: Vec<f64> =
        series.iter().map(|(_, ratios)| ratios.iter().copied().fold(f64::INFINITY, f64::min)).collect();
    let least_of = |ratios: &[f64]| {
        let all = workloads.iter().zip(ratios);
        all.min_by(|one, other| one.1.total_cmp(other.1)).map_or("", |((workload, _), _)| workload.name)
    };
    let means: Vec<_> = series
        .iter()
        .map(|(name, ratios)| format!("{name} {:.1}, least for {}", geometric_mean(ratios), least_of(ratios)))
        .collect();
    Ok(Finding {
        holds: least.iter().zip(PAPER).all(|(ours, paper)| *ours >= paper),
        ours: least.into_iter().map(Some).collect(),
        scale: scale_text(&workloads),
        note: sentences(&[
            &format!("geometric means: {}", means.join("; ")),
            "what is flushed and copied shrinks with the data, a dynamic synchronisation does not",
            "4 GPUs, NVLink",
        ]),
        charts: vec![(
            "",
            bars(
                "Wait for results over that of UMH (UMH, 6.2)",
                "wait over that of UMH",
                &workloads,
                &series,
            ),
        )],
    })
}
