//! Section 4.2: workloads that touch their data once.

use super::system::{
    BASELINE, SHARES, Scaled, System, faster, run, runtimes, scale_text, scaled, setting, time,
};
use crate::report::figures::effort::Effort;
use crate::report::figures::experiment::{Experiment, Results};
use crate::report::figures::figure::{Figure, Finding, mean, near};

pub const FIGURE: Figure = Figure {
    id: "scale-split",
    claim: "vectorAdd, histogram: ScaleGPU, zero-copy, faster by",
    paper: &[8.0, 58.0],
    unit: "%",
    place: "ScaleGPU 4.2",
    experiments,
    finding,
};

fn workloads(effort: Effort) -> Vec<Scaled> {
    ["vectorAdd", "histogram"].iter().filter_map(|name| scaled(name, effort)).collect()
}

fn experiments(effort: Effort) -> Vec<Experiment> {
    let of = |scaled: Scaled| {
        let mut all = vec![run(scaled, BASELINE), run(scaled, setting(System::ZeroCopy, 100.0))];
        all.extend(SHARES.map(|share| run(scaled, setting(System::ScaleGpu, share))));
        if effort == Effort::Whole {
            all.extend(SHARES.map(|share| run(scaled, setting(System::Copy, share))));
        }
        all
    };
    workloads(effort).into_iter().flat_map(of).collect()
}

fn finding(effort: Effort, results: &Results) -> Result<Finding, String> {
    let workloads = workloads(effort);
    let (mut scale_gpu, mut zero_copy) = (Vec::new(), Vec::new());
    for &workload in &workloads {
        let base = time(results, workload, BASELINE)?;
        for share in SHARES {
            scale_gpu.push(faster(base, time(results, workload, setting(System::ScaleGpu, share))?));
        }
        zero_copy.push(faster(base, time(results, workload, setting(System::ZeroCopy, 100.0))?));
    }
    let ours = [mean(&scale_gpu), mean(&zero_copy)];
    let each: Vec<String> = workloads
        .iter()
        .zip(scale_gpu.chunks(SHARES.len()).zip(&zero_copy))
        .map(|(scaled, (scale, zero))| {
            let first = scale.first().copied().unwrap_or(f64::NAN);
            format!("{}: ScaleGPU {first:.0} % with all memory, zero-copy {zero:.0} %", scaled.workload.name)
        })
        .collect();
    Ok(Finding {
        ours: ours.map(Some).to_vec(),
        holds: ours.iter().zip(FIGURE.paper).all(|(ours, paper)| near(*ours, *paper)),
        scale: scale_text(&workloads),
        note: format!("mean over both and all memory sizes; {}", each.join("; ")),
        charts: workloads
            .iter()
            .zip(["-vectoradd", "-histogram"])
            .map(|(&workload, suffix)| (suffix, runtimes(results, workload)))
            .collect(),
    })
}
