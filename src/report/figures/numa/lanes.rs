//! Section 4: lanes that turn.

use super::system::{
    Change, DOUBLED, DYNAMIC, Scaled, best, gain, improvable, on_each, plain_gain, scale_text, sentences,
    sockets, time_ratios, workloads,
};
use crate::report::chart::{Chart, Course, Series};
use crate::report::figures::effort::Effort;
use crate::report::figures::experiment::{Experiment, Results};
use crate::report::figures::figure::{Figure, Finding, near};
use crate::report::figures::suite::bars;

pub const GAIN: Figure = Figure {
    id: "numa-lanes",
    claim: "lane reversal, 5K-cycle samples, 100-cycle turn: average, best gain",
    paper: &[14.0, 80.0],
    unit: "%",
    place: "NUMA-aware GPUs 4.1, Fig 6",
    experiments: gains,
    finding: found_gain,
};

pub const TURN: Figure = Figure {
    id: "numa-turn",
    claim: "loss when the turn takes 500 cycles, below; 10 cycles gains little",
    paper: &[2.0],
    unit: "%",
    place: "NUMA-aware GPUs 4.1",
    experiments: turns,
    finding: found_turn,
};

pub const SAMPLE: Figure = Figure {
    id: "numa-sample",
    claim: "too rare sampling misses phases, too frequent loses bandwidth",
    paper: &[],
    unit: "order",
    place: "NUMA-aware GPUs 4.1, Fig 6",
    experiments: samples,
    finding: found_sample,
};

const SLOW_TURN: Change = ("network.balancer.turn", "500");
const FAST_TURN: Change = ("network.balancer.turn", "10");
const RARE: Change = ("network.balancer.sample", "50000");
const FREQUENT: Change = ("network.balancer.sample", "200");

/// The workload whose links Fig. 5 shows.
const PHASED: &str = "HPC-HPGMG";

fn gains(effort: Effort) -> Vec<Experiment> {
    let mut all = on_each(effort, &[&[], &[DYNAMIC], &[DOUBLED]]);
    all.extend(phases(effort));
    all
}

/// Its run on the sockets as they are, looked at all the time.
fn phases(effort: Effort) -> Option<Experiment> {
    let one = workloads(effort).into_iter().find(|(workload, _)| workload.name == PHASED)?;
    Some(Experiment { watched: true, ..sockets(4, one, &[]) })
}

/// How busy the links of the sockets are in one direction, in the manner of Fig. 5.
fn profile(run: &Experiment, results: &Results, (end, direction): (&str, &str)) -> Result<Chart, String> {
    let outcome = results.of(run)?;
    let course = outcome.course.as_ref().ok_or("its links were not looked at")?;
    let is_shown = |name: &str| name.starts_with("link.gpu") && name.ends_with(end);
    let links = course.links.iter().filter(|(name, _)| is_shown(name));
    let series = links.map(|(name, shares)| {
        let gpu = name.trim_start_matches("link.").trim_end_matches(end);
        Series { name: gpu.to_owned(), values: shares.iter().map(|share| 100.0 * share).collect() }
    });
    Ok(Chart::Course(Course {
        title: format!(
            "{PHASED}: links {direction} of 4 sockets over time, in cycles (NUMA-aware GPUs, Fig. 5)"
        ),
        axis: "busy, %".to_owned(),
        window: course.cycles,
        end: (outcome.cycles as f64).max(1.0),
        series: series.collect(),
        marks: outcome.starts().collect(),
    }))
}

/// Speedups over the sockets as they are.
fn over_static(workloads: &[Scaled], results: &Results, changes: &[Change]) -> Result<Vec<f64>, String> {
    time_ratios(workloads, results, |one| sockets(4, one, &[]), |one| sockets(4, one, changes))
}

fn found_gain(effort: Effort, results: &Results) -> Result<Finding, String> {
    let (workloads, others) = improvable(effort, results)?;
    let turned = over_static(&workloads, results, &[DYNAMIC])?;
    let doubled = over_static(&workloads, results, &[DOUBLED])?;
    let (mean, most) = (gain(&turned), 100.0 * (best(&turned) - 1.0));
    let chart = bars(
        "Speedup over static links, 4 sockets (NUMA-aware GPUs, Fig. 6)",
        "speedup",
        &workloads,
        &[("lanes turn", &turned), ("doubled links", &doubled)],
    );
    let mut charts = vec![("", chart)];
    if let Some(run) = phases(effort) {
        charts.push(("-egress", profile(&run, results, (".out", "out"))?));
        charts.push(("-ingress", profile(&run, results, (".in", "in"))?));
    }
    Ok(Finding {
        ours: vec![Some(mean), Some(most)],
        holds: near(mean, 14.0) && near(most, 80.0),
        scale: scale_text(&workloads),
        note: sentences(&[
            &format!(
                "geometric mean (arithmetic {:.1}), and the best workload; with doubled links {:.1} %",
                plain_gain(&turned),
                gain(&doubled)
            ),
            &others,
        ]),
        charts,
    })
}

fn turns(effort: Effort) -> Vec<Experiment> {
    on_each(effort, &[&[], &[DYNAMIC], &[DYNAMIC, SLOW_TURN], &[DYNAMIC, FAST_TURN]])
}

/// What dynamic lanes gain with each of these changes, and the bars of it.
fn told_gains(
    title: &str,
    workloads: &[Scaled],
    results: &Results,
    settings: [(&str, &[Change]); 3],
) -> Result<([f64; 3], Chart), String> {
    let [one, two, three] = settings.map(|(_, changes)| over_static(workloads, results, changes));
    let all = [one?, two?, three?];
    let named: Vec<_> = settings.iter().map(|(name, _)| *name).zip(&all).collect();
    let chart = bars(title, "speedup", workloads, &named);
    Ok((all.map(|speedups| gain(&speedups)), chart))
}

fn found_turn(effort: Effort, results: &Results) -> Result<Finding, String> {
    let (workloads, others) = improvable(effort, results)?;
    let ([fast, usual, slow], chart) = told_gains(
        "Speedup over static links by what a turn takes, 4 sockets (NUMA-aware GPUs, section 4.1)",
        &workloads,
        results,
        [
            ("10 cycles", &[DYNAMIC, FAST_TURN][..]),
            ("100 cycles", &[DYNAMIC][..]),
            ("500 cycles", &[DYNAMIC, SLOW_TURN][..]),
        ],
    )?;
    Ok(Finding {
        ours: vec![Some(usual - slow)],
        holds: usual - slow < 2.0 && (fast - usual).abs() < 2.0,
        scale: scale_text(&workloads),
        note: sentences(&[
            &format!("gain with turns of 10, 100, 500 cycles: {fast:.1}, {usual:.1}, {slow:.1} %"),
            &others,
        ]),
        charts: vec![("", chart)],
    })
}

fn samples(effort: Effort) -> Vec<Experiment> {
    on_each(effort, &[&[], &[DYNAMIC], &[DYNAMIC, RARE], &[DYNAMIC, FREQUENT]])
}

fn found_sample(effort: Effort, results: &Results) -> Result<Finding, String> {
    let (workloads, others) = improvable(effort, results)?;
    let ([frequent, usual, rare], chart) = told_gains(
        "Speedup over static links by how often they are sampled, 4 sockets (NUMA-aware GPUs, Fig. 6)",
        &workloads,
        results,
        [
            ("200 cycles", &[DYNAMIC, FREQUENT][..]),
            ("5K cycles", &[DYNAMIC][..]),
            ("50K cycles", &[DYNAMIC, RARE]),
        ],
    )?;
    Ok(Finding {
        ours: Vec::new(),
        holds: usual > rare && usual > frequent,
        scale: scale_text(&workloads),
        note: sentences(&[
            &format!(
                "gain with samples of 200, 5K, 50K cycles (as much shorter as launches are): {frequent:.1}, {usual:.1}, {rare:.1} %; lanes \
                 begin anew at each launch"
            ),
            &others,
        ]),
        charts: vec![("", chart)],
    })
}
