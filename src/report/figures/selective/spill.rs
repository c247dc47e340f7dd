//! Section 5.3, Fig. 9: a tenth of the data in GPU memory instead of four fifths.

use super::system::{self, Change, Machine, bars, runs, throughput, workloads};
use crate::report::figures::effort::Effort;
use crate::report::figures::experiment::{Experiment, Results};
use crate::report::figures::figure::{Figure, Finding, geometric_mean};

pub const FIGURE: Figure = Figure {
    id: "sel-spill",
    claim: "10 % of the data in GPU memory instead of 80 %: same order of the enhancements",
    paper: &[],
    unit: "order",
    place: "Selective caching 5.3, Fig 9",
    experiments,
    finding,
};

const SPILLED: &[Change] = &[Change::Set("gpu.unified.host_share=90")];

const COHERENT: Machine = system::COHERENT.with(SPILLED);

/// "We added the same client cache and variable transfers to the hardware cache-coherent baseline configuration and saw an average
/// speedup of 4.5%".
const COHERENT_VARIABLE: Machine = system::COHERENT_VARIABLE.with(SPILLED);

/// The steps, each on top of the ones before.
const STEPS: [(&str, Machine); 5] = [
    ("naive", system::NAIVE.with(SPILLED)),
    ("L1 coalescing", system::L1.with(SPILLED)),
    ("L1+L2 coalescing", system::L1_L2.with(SPILLED)),
    ("client cache", system::CLIENT.with(SPILLED)),
    ("variable transfers", system::VARIABLE.with(SPILLED)),
];

/// A step may be as good as the one before it to within so much.
const SAME: f64 = 0.99;

fn experiments(effort: Effort) -> Vec<Experiment> {
    let machines: Vec<_> =
        [COHERENT, COHERENT_VARIABLE].into_iter().chain(STEPS.map(|(_, machine)| machine)).collect();
    runs(effort, &machines)
}

fn finding(effort: Effort, results: &Results) -> Result<Finding, String> {
    let workloads = workloads(effort);
    let all =
        STEPS.iter().map(|(name, machine)| Ok((*name, throughput(&workloads, results, *machine, COHERENT)?)));
    let all = all.collect::<Result<Vec<_>, String>>()?;
    let means: Vec<f64> = all.iter().map(|(_, values)| geometric_mean(values)).collect();
    let is_ordered = means.windows(2).all(|pair| pair[1] > pair[0] * SAME);
    let told: Vec<_> =
        all.iter().zip(&means).map(|((name, _), mean)| format!("{name} {:.0} %", mean * 100.0)).collect();
    let helped = geometric_mean(&throughput(&workloads, results, COHERENT_VARIABLE, COHERENT)?);
    let percent = (helped - 1.0).abs() * 100.0;
    let how = if helped < 1.0 { "slower" } else { "faster" };
    let helped = format!("that GPU is {percent:.1} % {how} with both last steps (paper: 4.5 % faster)");
    Ok(Finding {
        ours: Vec::new(),
        holds: is_ordered,
        scale: system::scale_text(&workloads),
        note: system::sentences(&[
            &told.join(", "),
            "of the hardware-coherent GPU with as much in host memory",
            &helped,
            &system::about(&workloads),
        ]),
        charts: vec![(
            "",
            bars(
                "Nine tenths of the data in host memory (Fig. 9)",
                "throughput over that of the hardware-coherent GPU",
                &workloads,
                &all,
            ),
        )],
    })
}
