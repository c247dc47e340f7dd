//! Section 5.1.2, Fig. 6: the size of the cache that the CPU keeps for the GPU.

use super::system::{self, CLIENT, COHERENT, Change, L1_L2, Machine, runs, throughput, workloads};
use crate::report::chart::{Chart, Lines, Series};
use crate::report::figures::effort::Effort;
use crate::report::figures::experiment::{Experiment, Results};
use crate::report::figures::figure::{Figure, Finding, geometric_mean};

pub const FIGURE: Figure = Figure {
    id: "sel-client",
    claim: "gain levels off at this client cache size",
    paper: &[512.0],
    unit: "KiB",
    place: "Selective caching Fig 6",
    experiments,
    finding,
};

/// Sizes in KiB, ascending.
const SIZES: [(f64, Machine); 5] = [
    (64.0, CLIENT.with(&[Change::ClientCache(64)])),
    (128.0, CLIENT.with(&[Change::ClientCache(128)])),
    (256.0, CLIENT.with(&[Change::ClientCache(256)])),
    (512.0, CLIENT),
    (1024.0, CLIENT.with(&[Change::ClientCache(1024)])),
];

/// Percent that twice the size must gain, or it has levelled off.
const WORTH: f64 = 1.0;

fn experiments(effort: Effort) -> Vec<Experiment> {
    let machines: Vec<_> = [COHERENT, L1_L2].into_iter().chain(SIZES.map(|(_, machine)| machine)).collect();
    runs(effort, &machines)
}

fn finding(effort: Effort, results: &Results) -> Result<Finding, String> {
    let workloads = workloads(effort);
    let mean =
        |machine| Ok::<_, String>(geometric_mean(&throughput(&workloads, results, machine, COHERENT)?));
    let without = mean(L1_L2)?;
    let means = SIZES.iter().map(|(_, machine)| mean(*machine)).collect::<Result<Vec<_>, _>>()?;
    let levels =
        means.windows(2).rposition(|pair| (pair[1] / pair[0] - 1.0) * 100.0 >= WORTH).map_or(0, |at| at + 1);
    let ours = SIZES.get(levels).map(|(size, _)| *size);
    let told: Vec<_> = SIZES
        .iter()
        .zip(&means)
        .map(|((size, _), mean)| format!("{size} KiB {:.1} %", mean * 100.0))
        .collect();
    Ok(Finding {
        ours: vec![ours],
        holds: ours == Some(512.0),
        scale: system::scale_text(&workloads),
        note: system::sentences(&[
            &format!("the smallest size of which twice as much gains less than {WORTH} %"),
            &format!("without {:.1} %, {}", without * 100.0, told.join(", ")),
            &system::about(&workloads),
        ]),
        charts: vec![(
            "",
            Chart::Lines(Lines {
                title: "Client caches (Fig. 6)".to_owned(),
                axis: "throughput over that of the hardware-coherent GPU".to_owned(),
                points: ["none".to_owned()]
                    .into_iter()
                    .chain(SIZES.map(|(size, _)| format!("{size} KiB")))
                    .collect(),
                series: vec![Series {
                    name: "L1+L2 coalescing and a client cache".to_owned(),
                    values: [without].into_iter().chain(means).collect(),
                }],
            }),
        )],
    })
}
