//! Section 6.1.2: how much faster four GPUs are than one. The rows of the baselines are not measured yet.

use super::system::{self, MACHINE, cycles, gpus, names, ratios, run, series, unless};
use crate::report::chart::{Bars, Chart, Lines, Series};
use crate::report::figures::experiment::{Experiment, Results};
use crate::report::figures::figure::{Figure, Finding, How, geometric_mean, near};
use crate::report::figures::workload::{Effort, left_out, scale_text, workloads};

pub const FIGURE: Figure = Figure {
    id: "umh-scaling",
    claim: "speedup from 1 to 4 GPUs: UMH, memcpy, zero-copy",
    paper: &[2.3, 1.76, 1.5],
    unit: "x",
    place: "UMH 6.1.2",
    how: How::Measured { experiments, finding },
};

const COUNTS: [u32; 3] = [1, 2, 4];

/// Why it is missed where it is: 3 GPUs, which share no factor with the stacks, run `BSch` and RD faster than 4; links
/// carry about twice the data to 4 GPUs as to one for DCT, MM, MT and SLA.
const REASON: &str = "workgroups are dealt to GPUs in turn: those that share a block of 4 KiB fetch it on every GPU (DCT, \
                      MM, MT, SLA), those that fill blocks (BSch, RD) have them in one stack of four; DH waits for \
                      the host between launches, and RS has few workgroups at this scale";

fn experiments(effort: Effort) -> Vec<Experiment> {
    let of = |workload| COUNTS.map(|count| run(workload, &gpus(count)));
    workloads(effort).into_iter().flat_map(of).collect()
}

fn finding(effort: Effort, results: &Results) -> Result<Finding, String> {
    let workloads = workloads(effort);
    let times = |count| cycles(&workloads, results, |workload| run(workload, &gpus(count)));
    let alone = times(1)?;
    let (two, four) = (ratios(&alone, &times(2)?), ratios(&alone, &times(4)?));
    let means = [geometric_mean(&two), geometric_mean(&four)];
    let two_gpus = format!("geometric means; with 2 GPUs {:.2}", means[0]);
    let machine = format!("{MACHINE} with gpu.count 1, 2 and 4");
    let missing = "memcpy and zero-copy are not measured: those systems are not there yet";
    let bars = Bars {
        title: "Speedup of UMH over one GPU (UMH, 6.1.2)".to_owned(),
        axis: "speedup".to_owned(),
        groups: names(&workloads, "GM"),
        series: vec![series("2 GPUs", &two, means[0]), series("4 GPUs", &four, means[1])],
        stacked: false,
    };
    let line = |name: &str, values: Vec<f64>| Series { name: name.to_owned(), values };
    let lines = Lines {
        title: "Speedup of UMH over one GPU, mean (UMH, 6.1.2)".to_owned(),
        axis: "speedup".to_owned(),
        points: COUNTS.map(|count| format!("{count} GPU{}", if count == 1 { "" } else { "s" })).into(),
        series: vec![line("UMH, GM", vec![1.0, means[0], means[1]]), line("ideal", vec![1.0, 2.0, 4.0])],
    };
    let holds = near(means[1], 2.3);
    Ok(Finding {
        ours: vec![Some(means[1]), None, None],
        holds,
        scale: scale_text(&workloads),
        note: system::sentences(&[missing, &two_gpus, unless(holds, REASON), &machine, &left_out(effort)]),
        charts: vec![("", Chart::Bars(bars)), ("-mean", Chart::Lines(lines))],
    })
}
