//! Section 4.3, Fig. 4: the amount of data per tag.

use super::system::{SHARES, Scaled, Setting, System, TAGS, all, run, scale_text, time};
use crate::report::chart::{Bars, Chart, Series};
use crate::report::figures::effort::Effort;
use crate::report::figures::experiment::{Experiment, Results};
use crate::report::figures::figure::{Figure, Finding};

pub const FIGURE: Figure = Figure {
    id: "scale-tag",
    claim: "less data per tag helps hotspot, Shortest Path, Bank Account; no effect on vectorAdd, histogram",
    paper: &[],
    unit: "order",
    place: "ScaleGPU 4.3, Fig 4",
    experiments,
    finding,
};

/// What counts as no effect, of the runtime.
const NO_EFFECT: f64 = 0.1;

fn settings(effort: Effort) -> Vec<Setting> {
    let (shares, tags) = match effort {
        Effort::Whole => (SHARES.to_vec(), TAGS.to_vec()),
        Effort::Quick => (vec![100.0, 12.5], vec![2048, 256]),
    };
    let of = |share: f64| tags.iter().map(move |&tag| Setting { system: System::ScaleGpu, share, tag });
    shares.into_iter().flat_map(of).collect()
}

fn experiments(effort: Effort) -> Vec<Experiment> {
    let of = |scaled: Scaled| settings(effort).into_iter().map(move |setting| run(scaled, setting));
    all(effort).into_iter().flat_map(of).collect()
}

fn finding(effort: Effort, results: &Results) -> Result<Finding, String> {
    let workloads = all(effort);
    let (mut holds, mut each, mut charts) = (true, Vec::new(), Vec::new());
    for (&scaled, suffix) in
        workloads.iter().zip(["-vectoradd", "-histogram", "-hotspot", "-shortest-path", "-bank-account"])
    {
        let at = |share, tag| time(results, scaled, Setting { system: System::ScaleGpu, share, tag });
        // Runtime with least data a tag over that with most, with all memory and with least.
        let ratio = |share: f64| Ok::<f64, String>(at(share, 256)? / at(share, 2048)?);
        let (large, small) = (ratio(100.0)?, ratio(12.5)?);
        let once = ["vectorAdd", "histogram"].contains(&scaled.workload.name);
        holds &= if once {
            (large - 1.0).abs() <= NO_EFFECT && (small - 1.0).abs() <= NO_EFFECT
        } else {
            small < 1.0 - NO_EFFECT
        };
        each.push(format!("{} {large:.2} and {small:.2}", scaled.workload.name));
        charts.push((suffix, chart(effort, results, scaled)?));
    }
    Ok(Finding {
        ours: Vec::new(),
        holds,
        scale: scale_text(&workloads),
        note: format!(
            "runtime with 256 B a tag over that with 2 KiB, with 100 % and 12.5 % of the memory: {}; within 10 % counts as no effect",
            each.join(", ")
        ),
        charts,
    })
}

/// Runtimes over that of 2 KiB a tag with all memory.
fn chart(effort: Effort, results: &Results, scaled: Scaled) -> Result<Chart, String> {
    let settings = settings(effort);
    let base = time(results, scaled, Setting { system: System::ScaleGpu, share: 100.0, tag: 2048 })?;
    let mut series: Vec<Series> = Vec::new();
    let mut groups: Vec<String> = Vec::new();
    for setting in settings {
        let (group, name) = (format!("{} %", setting.share), format!("{} B", setting.tag));
        if !groups.contains(&group) {
            groups.push(group);
        }
        let value = time(results, scaled, setting)? / base;
        match series.iter_mut().find(|series| series.name == name) {
            Some(series) => series.values.push(value),
            None => series.push(Series { name, values: vec![value] }),
        }
    }
    Ok(Chart::Bars(Bars {
        title: format!("{}: data a tag (ScaleGPU, Fig. 4)", scaled.workload.name),
        axis: "runtime".to_owned(),
        groups,
        series,
        clusters: Vec::new(),
        stacked: false,
    }))
}
