//! Section 4.2: workloads whose indirect accesses cannot be divided.

use super::system::{
    BASELINE, SHARES, Scaled, System, faster, run, runtimes, scale_text, scaled, setting, time,
};
use crate::report::figures::effort::Effort;
use crate::report::figures::experiment::{Experiment, Results};
use crate::report::figures::figure::{Figure, Finding, mean, near};

pub const FIGURE: Figure = Figure {
    id: "scale-irregular",
    claim: "Shortest Path and Bank Account: average; Shortest Path with 12.5 % of the memory; the baseline cannot run them smaller",
    paper: &[42.0, 21.0],
    unit: "%",
    place: "ScaleGPU 4.2",
    experiments,
    finding,
};

fn workloads(effort: Effort) -> Vec<Scaled> {
    ["Shortest Path", "Bank Account"].iter().filter_map(|name| scaled(name, effort)).collect()
}

fn experiments(effort: Effort) -> Vec<Experiment> {
    let of = |scaled: Scaled| {
        let mut all = vec![run(scaled, BASELINE), run(scaled, setting(System::Copy, 50.0))];
        all.push(run(scaled, setting(System::ZeroCopy, 100.0)));
        all.extend(SHARES.map(|share| run(scaled, setting(System::ScaleGpu, share))));
        all
    };
    workloads(effort).into_iter().flat_map(of).collect()
}

fn finding(effort: Effort, results: &Results) -> Result<Finding, String> {
    let workloads = workloads(effort);
    let (mut gains, mut sizes, mut least, mut each) = (Vec::new(), Vec::new(), f64::NAN, Vec::new());
    let mut cannot = true;
    for &scaled in &workloads {
        let base = time(results, scaled, BASELINE)?;
        let times: Result<Vec<f64>, String> =
            SHARES.iter().map(|share| time(results, scaled, setting(System::ScaleGpu, *share))).collect();
        let times = times?;
        let zero = time(results, scaled, setting(System::ZeroCopy, 100.0))?;
        let (first, last) = (times.first().copied().unwrap_or(0.0), times.last().copied().unwrap_or(0.0));
        gains.push(faster(base, first));
        sizes.extend(times.iter().map(|time| faster(base, *time)));
        if scaled.workload.name == "Shortest Path" {
            least = faster(base, last);
        }
        cannot &= results.is_refused(&run(scaled, setting(System::Copy, 50.0)));
        let parts: Vec<String> = times.iter().map(|time| format!("{:.2}", time / base)).collect();
        each.push(format!("{}: {}, zero-copy {:.2}", scaled.workload.name, parts.join(" "), zero / base));
    }
    // As of the other programs of section 4.2: over all sizes of memory.
    let ours = [mean(&sizes), least];
    let all = format!("{:.0} % with all the memory", mean(&gains));
    let fits = if cannot {
        "the baseline refuses half of the memory"
    } else {
        "the baseline runs with half of the memory, which the paper says it cannot"
    };
    Ok(Finding {
        ours: ours.map(Some).to_vec(),
        holds: cannot && ours.iter().zip(FIGURE.paper).all(|(ours, paper)| near(*ours, *paper)),
        scale: scale_text(&workloads),
        note: format!(
            "{fits}; means of both over all sizes of memory, {all}; runtimes with 100, 50, 25 and 12.5 % over the baseline's: {}",
            each.join("; ")
        ),
        charts: workloads
            .iter()
            .zip(["-shortest-path", "-bank-account"])
            .map(|(&workload, suffix)| (suffix, runtimes(results, workload)))
            .collect(),
    })
}
