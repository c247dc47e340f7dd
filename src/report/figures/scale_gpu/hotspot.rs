//! Section 4.2 and the abstract: hotspot, whose iterations use each other's results.

use super::system::{BASELINE, SHARES, System, faster, run, runtimes, scale_text, scaled, setting, time};
use crate::report::figures::effort::Effort;
use crate::report::figures::experiment::{Experiment, Results};
use crate::report::figures::figure::{Figure, Finding, mean, near};

pub const FIGURE: Figure = Figure {
    id: "scale-hotspot",
    claim: "hotspot: average; at the same memory; memory that keeps the baseline's speed",
    paper: &[32.0, 48.0, 25.0],
    unit: "%",
    place: "ScaleGPU 4.2, abstract",
    experiments,
    finding,
};

fn experiments(effort: Effort) -> Vec<Experiment> {
    let Some(hotspot) = scaled("hotspot", effort) else { return Vec::new() };
    let both = |share| [System::Copy, System::ScaleGpu].map(|system| run(hotspot, setting(system, share)));
    let mut all: Vec<Experiment> = SHARES.into_iter().flat_map(both).collect();
    all.push(run(hotspot, setting(System::ZeroCopy, 100.0)));
    all
}

fn finding(effort: Effort, results: &Results) -> Result<Finding, String> {
    let hotspot = scaled("hotspot", effort).ok_or("there is no hotspot")?;
    let base = time(results, hotspot, BASELINE)?;
    let mut gains = Vec::new();
    let mut enough = f64::NAN;
    let mut each = Vec::new();
    for share in SHARES {
        let copy = time(results, hotspot, setting(System::Copy, share))?;
        let ours = time(results, hotspot, setting(System::ScaleGpu, share))?;
        gains.push(faster(copy, ours));
        each.push(format!("{share} %: baseline {:.2}, ScaleGPU {:.2}", copy / base, ours / base));
        if ours <= base {
            enough = share;
        }
    }
    let zero = time(results, hotspot, setting(System::ZeroCopy, 100.0))?;
    let ours = [mean(&gains), gains.first().copied().unwrap_or(f64::NAN), enough];
    Ok(Finding {
        ours: ours.iter().map(|value| value.is_finite().then_some(*value)).collect(),
        holds: ours.iter().zip(FIGURE.paper).all(|(ours, paper)| near(*ours, *paper)),
        scale: scale_text(&[hotspot]),
        note: format!(
            "8 time steps in launches of 2 (the paper does not say how many); the average is over all sizes: with less than all memory, for which \
             codes are modified, it is {:.1} %; runtimes over the baseline's with all memory: {}; zero-copy {:.2}{}",
            mean(gains.get(1..).unwrap_or_default()),
            each.join(", "),
            zero / base,
            if enough.is_nan() {
                "; ScaleGPU is at none of these as fast as the baseline with all memory"
            } else {
                ""
            }
        ),
        charts: vec![("", runtimes(results, hotspot))],
    })
}
