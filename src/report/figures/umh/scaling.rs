//! Section 6.1.2: how much faster four GPUs are than one.

use super::baseline::{COMPARED, COUNTS, Network, Setting, System, on, runs};
use super::system::{bars, compared, not_compared, scale_text, sentences, time_ratios, unless, word};
use crate::model::text::plural;
use crate::report::chart::{Chart, Lines, Series};
use crate::report::figures::effort::Effort;
use crate::report::figures::experiment::{Experiment, Results};
use crate::report::figures::figure::{Figure, Finding, geometric_mean, near};

const PAPER: [f64; 3] = [2.3, 1.76, 1.5];

pub const FIGURE: Figure = Figure {
    id: "umh-scaling",
    claim: "speedup from 1 to 4 GPUs: UMH, memcpy, zero-copy",
    paper: &PAPER,
    unit: "x",
    place: "UMH 6.1.2",
    experiments,
    finding,
};

/// In the order of the claim.
const SYSTEMS: [System; 3] = [System::Umh, System::Memcpy, System::ZeroCopy];
const NETWORK: Network = Network::Nvlink;

/// Why UMH misses it where it does. At full size `BSch` moves 24 MiB in 498 us with 4 GPUs and in 504 us with 2; the host's
/// memory, 51.2 GB/s, takes 492. Links carry about twice the data to 4 GPUs as to one for DCT, MM, MT and SLA.
const REASON: &str = "workgroups are dealt to GPUs in turn: those that share a block of 4 KiB fetch it on every GPU (DCT, \
                      MM, MT, SLA), and where all store to it in every launch it goes home and comes again (FW, FWT); what all fetch once (BSch) takes as long as the host's memory, of 51.2 GB/s, to read \
                      it; DH waits for the host between launches, and RS has few workgroups at this scale";

fn experiments(effort: Effort) -> Vec<Experiment> {
    let settings: Vec<Setting> =
        COMPARED.into_iter().flat_map(|system| COUNTS.map(|gpus| (system, gpus, NETWORK))).collect();
    runs(&compared(effort), &settings)
}

fn finding(effort: Effort, results: &Results) -> Result<Finding, String> {
    let workloads = compared(effort);
    let gain = |system, gpus| {
        time_ratios(&workloads, results, on((system, 1, NETWORK)), on((system, gpus, NETWORK)))
    };
    let mut four = Vec::new();
    let mut lines = Vec::new();
    for system in SYSTEMS {
        let means = COUNTS.map(|gpus| gain(system, gpus).map(|values| geometric_mean(&values)));
        let means = means.into_iter().collect::<Result<Vec<f64>, String>>()?;
        lines.push(Series { name: system.name().to_owned(), values: means });
        four.push((system.name().to_owned(), gain(system, 4)?));
    }
    let ours: Vec<f64> = four.iter().map(|(_, values)| geometric_mean(values)).collect();
    let two: Vec<_> =
        lines.iter().filter_map(|line| Some(format!("{} {:.2}", line.name, line.values.get(1)?))).collect();
    let order = ours.windows(2).all(|pair| pair[0] > pair[1]);
    let order = format!("UMH scales better than memcpy, and that better than zero-copy: {}", word(order));
    let holds = ours.iter().zip(PAPER).all(|(ours, paper)| near(*ours, paper));
    let two = format!("geometric means; with 2 GPUs {}", two.join(", "));
    let umh = ours.first().is_some_and(|ours| near(*ours, PAPER[0]));
    let ideal = Series { name: "ideal".to_owned(), values: COUNTS.map(f64::from).into() };
    let chart = Lines {
        title: "Speedup over one GPU, mean (UMH, 6.1.2)".to_owned(),
        axis: "speedup".to_owned(),
        points: COUNTS.map(|count| plural(u64::from(count), "GPU")).into(),
        series: lines.into_iter().chain([ideal]).collect(),
    };
    Ok(Finding {
        ours: ours.into_iter().map(Some).collect(),
        holds,
        scale: scale_text(&workloads),
        note: sentences(&[&order, &two, unless(umh, effort, REASON), "NVLink", &not_compared(effort)]),
        charts: vec![
            ("", bars("Speedup of 4 GPUs over one (UMH, 6.1.2)", "speedup", &workloads, &four)),
            ("-mean", Chart::Lines(chart)),
        ],
    })
}
