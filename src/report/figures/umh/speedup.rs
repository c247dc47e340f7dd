//! Section 6.1.1 and 8: how much faster UMH is than memcpy and zero-copy.

use super::baseline::{COUNTS, Network, Setting, System, bars, below_one, runs, speedups};
use super::system::sentences;
use crate::report::figures::experiment::{Experiment, Results};
use crate::report::figures::figure::{Figure, Finding, How, geometric_mean, near};
use crate::report::figures::workload::{Effort, compared, scale_text};

const PAPER: [f64; 3] = [1.54, 2.12, 1.92];
const OVER_ZERO_COPY: f64 = 5.38;

pub const OVER_MEMCPY: Figure = Figure {
    id: "umh-memcpy",
    claim: "speedup of UMH over memcpy on 1, 2, 4 GPUs, average",
    paper: &PAPER,
    unit: "x",
    place: "UMH 6.1.1",
    how: How::Measured { experiments: memcpy_experiments, finding: memcpy },
};

pub const OVER_ZEROCOPY: Figure = Figure {
    id: "umh-zerocopy",
    claim: "speedup of UMH over zero-copy, 4 GPUs",
    paper: &[OVER_ZERO_COPY],
    unit: "x",
    place: "UMH 8",
    how: How::Measured { experiments: zerocopy_experiments, finding: zerocopy },
};

/// The paper does not name the network of its averages; where it names one, it is this (Fig. 9, section 6.1).
const NETWORK: Network = Network::Nvlink;

const NETWORK_NOTE: &str = "NVLink; the paper does not say which network its averages are of";

fn pair(system: System, gpus: u32) -> [Setting; 2] {
    [(System::Umh, gpus, NETWORK), (system, gpus, NETWORK)]
}

fn memcpy_experiments(effort: Effort) -> Vec<Experiment> {
    let settings: Vec<_> = COUNTS.into_iter().flat_map(|gpus| pair(System::Memcpy, gpus)).collect();
    runs(&compared(effort), &settings)
}

fn zerocopy_experiments(effort: Effort) -> Vec<Experiment> {
    runs(&compared(effort), &pair(System::ZeroCopy, 4))
}

fn memcpy(effort: Effort, results: &Results) -> Result<Finding, String> {
    let workloads = compared(effort);
    let mut all = Vec::new();
    for gpus in COUNTS {
        let [fast, slow] = pair(System::Memcpy, gpus);
        all.push((
            format!("{gpus} GPU{}", if gpus == 1 { "" } else { "s" }),
            speedups(&workloads, results, fast, slow)?,
        ));
    }
    let means: Vec<f64> = all.iter().map(|(_, values)| geometric_mean(values)).collect();
    let slower: Vec<_> = all.iter().map(|(name, values)| (name, below_one(&workloads, values))).collect();
    let slower: Vec<_> = slower
        .iter()
        .filter(|(_, lost)| !lost.is_empty())
        .map(|(name, lost)| format!("{name}: {lost}"))
        .collect();
    let slower =
        if slower.is_empty() { String::new() } else { format!("UMH is slower on {}", slower.join("; ")) };
    Ok(Finding {
        holds: means.iter().zip(PAPER).all(|(ours, paper)| near(*ours, paper)),
        ours: means.into_iter().map(Some).collect(),
        scale: scale_text(&workloads),
        note: sentences(&["geometric means", &slower, NETWORK_NOTE]),
        charts: vec![("", bars("Speedup of UMH over memcpy (UMH, 6.1.1)", "speedup", &workloads, &all))],
    })
}

fn zerocopy(effort: Effort, results: &Results) -> Result<Finding, String> {
    let workloads = compared(effort);
    let [fast, slow] = pair(System::ZeroCopy, 4);
    let all = speedups(&workloads, results, fast, slow)?;
    let mean = geometric_mean(&all);
    let lost = below_one(&workloads, &all);
    let lost = if lost.is_empty() { String::new() } else { format!("UMH is slower on {lost}") };
    Ok(Finding {
        holds: near(mean, OVER_ZERO_COPY),
        ours: vec![Some(mean)],
        scale: scale_text(&workloads),
        note: sentences(&["geometric mean", &lost, NETWORK_NOTE]),
        charts: vec![(
            "",
            bars(
                "Speedup of UMH over zero-copy, 4 GPUs (UMH, 8)",
                "speedup",
                &workloads,
                &[("4 GPUs".to_owned(), all)],
            ),
        )],
    })
}
