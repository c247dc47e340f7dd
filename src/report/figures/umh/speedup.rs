//! Section 6.1.1 and 8: how much faster UMH is than memcpy and zero-copy.

use super::baseline::{COUNTS, NETWORKS, Network, Setting, System, below_one, on, runs};
use super::system::{Scaled, bars, compared, not_compared, scale_text, sentences, time_ratios, unless};
use crate::model::text::plural;
use crate::report::figures::effort::Effort;
use crate::report::figures::experiment::{Experiment, Results};
use crate::report::figures::figure::{Figure, Finding, geometric_mean, near};

const PAPER: [f64; 3] = [1.54, 2.12, 1.92];
const OVER_ZERO_COPY: f64 = 5.38;

pub const OVER_MEMCPY: Figure = Figure {
    id: "umh-memcpy",
    claim: "speedup of UMH over memcpy on 1, 2, 4 GPUs, average",
    paper: &PAPER,
    unit: "x",
    place: "UMH 6.1.1",
    experiments: memcpy_experiments,
    finding: memcpy,
};

pub const OVER_ZEROCOPY: Figure = Figure {
    id: "umh-zerocopy",
    claim: "speedup of UMH over zero-copy, 4 GPUs",
    paper: &[OVER_ZERO_COPY],
    unit: "x",
    place: "UMH 8",
    experiments: zerocopy_experiments,
    finding: zerocopy,
};

/// Why it is missed where it is: for streams host memory and links carry the same bytes under both.
const REASON: &str = "what is used once crosses the same link from the same memory under both; only what the L2s lose and \
                      want again makes a difference";

/// Why UMH gains less over memcpy than in the paper.
const OVER_MEMCPY_REASON: &str = "blocks of 4 KiB that all GPUs store to launch after launch (FW, FWT) go home and come again, and those \
                                  that they share are fetched by each (DCT, MM, MT, SF, SLA); the host's own loops between \
                                  launches (DH, RS) take as long under both";

const NETWORK_NOTE: &str = "of PCIe and NVLink together: the paper does not say of which its averages are";

/// UMH and another system on both networks.
fn pairs(system: System, gpus: u32) -> Vec<Setting> {
    NETWORKS.iter().flat_map(|network| [System::Umh, system].map(|system| (system, gpus, *network))).collect()
}

/// How much faster UMH is than another system: by workload, on both networks.
fn over(
    workloads: &[Scaled],
    results: &Results,
    system: System,
    gpus: u32,
) -> Result<Vec<(Network, Vec<f64>)>, String> {
    let of = |network| {
        let [slow, fast] = [system, System::Umh].map(|system| on((system, gpus, network)));
        Ok((network, time_ratios(workloads, results, slow, fast)?))
    };
    NETWORKS.into_iter().map(of).collect()
}

fn mean(all: &[(Network, Vec<f64>)]) -> f64 {
    geometric_mean(&all.iter().flat_map(|(_, values)| values).copied().collect::<Vec<_>>())
}

/// The workloads on which UMH is slower, by network.
fn slower(workloads: &[Scaled], all: &[(Network, Vec<f64>)]) -> String {
    let lost = all.iter().map(|(network, values)| (network, below_one(workloads, values)));
    let lost = lost
        .filter(|(_, lost)| !lost.is_empty())
        .map(|(network, lost)| format!("{}: {lost}", network.name()));
    lost.collect::<Vec<_>>().join(", ")
}

/// The mean on each network.
fn means(all: &[(Network, Vec<f64>)]) -> String {
    let each =
        all.iter().map(|(network, values)| format!("{} {:.2}", network.name(), geometric_mean(values)));
    each.collect::<Vec<_>>().join(", ")
}

/// A series for each network.
fn series(gpus: u32, all: Vec<(Network, Vec<f64>)>) -> impl Iterator<Item = (String, Vec<f64>)> {
    let gpus = plural(u64::from(gpus), "GPU");
    all.into_iter().map(move |(network, values)| (format!("{gpus}, {}", network.name()), values))
}

fn memcpy_experiments(effort: Effort) -> Vec<Experiment> {
    let settings: Vec<_> = COUNTS.into_iter().flat_map(|gpus| pairs(System::Memcpy, gpus)).collect();
    runs(&compared(effort), &settings)
}

fn zerocopy_experiments(effort: Effort) -> Vec<Experiment> {
    runs(&compared(effort), &pairs(System::ZeroCopy, 4))
}

fn memcpy(effort: Effort, results: &Results) -> Result<Finding, String> {
    let workloads = compared(effort);
    let (mut ours, mut told, mut chart) = (Vec::new(), Vec::new(), Vec::new());
    for gpus in COUNTS {
        let all = over(&workloads, results, System::Memcpy, gpus)?;
        ours.push(mean(&all));
        let lost = slower(&workloads, &all);
        let lost = if lost.is_empty() { String::new() } else { format!(" (slower on {lost})") };
        told.push(format!("{gpus}: {}{lost}", means(&all)));
        chart.extend(series(gpus, all));
    }
    let holds = ours.iter().zip(PAPER).all(|(ours, paper)| near(*ours, paper));
    Ok(Finding {
        holds,
        ours: ours.into_iter().map(Some).collect(),
        scale: scale_text(&workloads),
        note: sentences(&[
            "geometric means",
            NETWORK_NOTE,
            &told.join("; "),
            unless(holds, effort, OVER_MEMCPY_REASON),
            &not_compared(effort),
        ]),
        charts: vec![("", bars("Speedup of UMH over memcpy (UMH, 6.1.1)", "speedup", &workloads, &chart))],
    })
}

fn zerocopy(effort: Effort, results: &Results) -> Result<Finding, String> {
    let workloads = compared(effort);
    let all = over(&workloads, results, System::ZeroCopy, 4)?;
    let ours = mean(&all);
    let lost = slower(&workloads, &all);
    let lost = if lost.is_empty() { String::new() } else { format!("slower on {lost}") };
    let told = means(&all);
    let holds = near(ours, OVER_ZERO_COPY);
    let chart: Vec<_> = series(4, all).collect();
    Ok(Finding {
        holds,
        ours: vec![Some(ours)],
        scale: scale_text(&workloads),
        note: sentences(&[
            "geometric mean",
            NETWORK_NOTE,
            &told,
            &lost,
            unless(holds, effort, REASON),
            &not_compared(effort),
        ]),
        charts: vec![(
            "",
            bars("Speedup of UMH over zero-copy, 4 GPUs (UMH, 8)", "speedup", &workloads, &chart),
        )],
    })
}
