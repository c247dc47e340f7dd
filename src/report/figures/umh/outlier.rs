//! Section 6.1.3: the workload for which lines are better than blocks.

use super::baseline::{NETWORKS, System, on, runs};
use super::system::{Scaled, bars, scale_text, sentences, time_ratios, unless, workloads};
use crate::report::figures::effort::Effort;
use crate::report::figures::experiment::{Experiment, Results};
use crate::report::figures::figure::{Figure, Finding};

pub const FIGURE: Figure = Figure {
    id: "umh-fw",
    claim: "Floyd-Warshall on 4 GPUs: zero-copy beats UMH",
    paper: &[],
    unit: "order",
    place: "UMH 6.1.3",
    experiments,
    finding,
};

const GPUS: u32 = 4;

/// Why it is missed where it is: where the links of small data are idle under both.
const REASON: &str = "at each launch all warps wait for the same few lines; one that is missing costs a round trip under \
                      zero-copy and comes with its block under UMH, and the links have room for whole blocks";

fn floyd_warshall(effort: Effort) -> Vec<Scaled> {
    workloads(effort).into_iter().filter(|(workload, _)| workload.name == "FW").collect()
}

fn experiments(effort: Effort) -> Vec<Experiment> {
    let settings =
        NETWORKS.map(|network| [System::Umh, System::ZeroCopy].map(|system| (system, GPUS, network)));
    runs(&floyd_warshall(effort), settings.as_flattened())
}

fn finding(effort: Effort, results: &Results) -> Result<Finding, String> {
    let workload = floyd_warshall(effort);
    let mut series = Vec::new();
    for network in NETWORKS {
        let [umh, zero_copy] = [System::Umh, System::ZeroCopy].map(|system| on((system, GPUS, network)));
        let gain = time_ratios(&workload, results, umh, zero_copy)?;
        series.push((network.name().to_owned(), gain));
    }
    let all = || series.iter().flat_map(|(name, gain)| gain.iter().map(move |gain| (name, *gain)));
    let gains: Vec<_> = all().map(|(name, gain)| format!("{name} {gain:.2}")).collect();
    let holds = all().all(|(_, gain)| gain > 1.0);
    Ok(Finding {
        ours: Vec::new(),
        holds,
        scale: scale_text(&workload),
        note: sentences(&[
            &format!("time of UMH over that of zero-copy: {}", gains.join(", ")),
            unless(holds, effort, REASON),
        ]),
        charts: vec![(
            "",
            bars(
                "Floyd-Warshall, zero-copy against UMH (UMH, 6.1.3)",
                "time of UMH over that of zero-copy",
                &workload,
                &series,
            ),
        )],
    })
}
