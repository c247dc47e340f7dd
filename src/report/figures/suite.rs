//! Runs of a paper's workloads, each with its scale, and how what came of them is told.

use super::effort::Effort;
use super::experiment::{Experiment, Outcome, Results};
use super::figure::{geometric_mean, scales};
use crate::report::chart::{Bars, Chart, Series};
use crate::workload::suites::Workload;

/// A workload and by what it shrinks, a power of two.
pub type Scaled = (&'static Workload, u64);

/// How a workload is run: its name, its scale when all of them run, and its scale for a quick look.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    name: &'static str,
    whole: u64,
    quick: Option<u64>,
}

#[must_use]
pub const fn plan(name: &'static str, whole: u64, quick: Option<u64>) -> Plan {
    Plan { name, whole, quick }
}

impl Plan {
    fn scale(&self, effort: Effort) -> Option<u64> {
        match effort {
            Effort::Quick => self.quick,
            Effort::Whole => Some(self.whole),
        }
    }
}

/// The workloads of a suite that are planned, each with its scale.
#[must_use]
pub fn planned(suite: &'static [Workload], plans: &[Plan], effort: Effort) -> Vec<Scaled> {
    let of =
        |plan: &Plan| Some((suite.iter().find(|workload| workload.name == plan.name)?, plan.scale(effort)?));
    plans.iter().filter_map(of).collect()
}

/// The planned workloads that are left out, in words; empty if none is.
#[must_use]
pub fn left_out(plans: &[Plan], effort: Effort) -> String {
    let names: Vec<_> =
        plans.iter().filter(|plan| plan.scale(effort).is_none()).map(|plan| plan.name).collect();
    if names.is_empty() { String::new() } else { format!("without {}", names.join(", ")) }
}

/// What each workload's run gave.
///
/// # Errors
/// If one is not there, in words.
pub fn outcomes<'a>(
    workloads: &[Scaled],
    results: &'a Results,
    run: impl Fn(Scaled) -> Experiment,
) -> Result<Vec<&'a Outcome>, String> {
    let outcome =
        |scaled: &Scaled| results.of(&run(*scaled)).map_err(|why| format!("{}: {why}", scaled.0.name));
    workloads.iter().map(outcome).collect()
}

/// How long each workload's run took, in cycles.
///
/// # Errors
/// As [`outcomes`].
pub fn times(
    workloads: &[Scaled],
    results: &Results,
    run: impl Fn(Scaled) -> Experiment,
) -> Result<Vec<f64>, String> {
    Ok(outcomes(workloads, results, run)?.iter().map(|outcome| outcome.cycles as f64).collect())
}

/// Each of `times` over its partner.
#[must_use]
pub fn ratios(times: &[f64], to: &[f64]) -> Vec<f64> {
    times.iter().zip(to).map(|(time, to)| time / to).collect()
}

/// Of each workload, the time of one run over that of another.
///
/// # Errors
/// As [`outcomes`].
pub fn time_ratios(
    workloads: &[Scaled],
    results: &Results,
    run: impl Fn(Scaled) -> Experiment,
    to: impl Fn(Scaled) -> Experiment,
) -> Result<Vec<f64>, String> {
    Ok(ratios(&times(workloads, results, run)?, &times(workloads, results, to)?))
}

/// The names of workloads, in a row.
#[must_use]
pub fn names(workloads: &[Scaled]) -> String {
    workloads.iter().map(|(workload, _)| workload.name).collect::<Vec<_>>().join(", ")
}

/// A run of a workload on a machine with changes. Only the data shrink: to what is still more than the caches of the machine hold.
#[must_use]
pub fn run(machine: &str, (workload, scale): Scaled, set: &[impl AsRef<str>]) -> Experiment {
    experiment(machine, workload, &[format!("scale = {scale}")], owned(set))
}

fn owned(set: &[impl AsRef<str>]) -> Vec<String> {
    set.iter().map(|change| change.as_ref().to_owned()).collect()
}

/// A run of a workload with parameters of its kernel beside its own, on a machine with changes, all at its size.
#[must_use]
pub fn experiment(machine: &str, workload: &Workload, with: &[String], set: Vec<String>) -> Experiment {
    Experiment { scenario: workload.scenario("", machine, with), set, scale: 1, ..Experiment::default() }
}

/// The scale of `workloads` in words: where they shrink, that is their data, and the machine stays whole.
#[must_use]
pub fn scale_text(workloads: &[Scaled]) -> String {
    let whole = workloads.iter().all(|(_, scale)| *scale == 1);
    if whole { data_scale(workloads) } else { format!("data {}", data_scale(workloads)) }
}

fn data_scale(workloads: &[Scaled]) -> String {
    let named: Vec<_> = workloads.iter().map(|(workload, scale)| (workload.name, *scale)).collect();
    scales(&named)
}

/// The scale in words, where `1/part` of a machine runs.
#[must_use]
pub fn scale_text_on(part: u64, workloads: &[Scaled]) -> String {
    if part == 1 {
        scale_text(workloads)
    } else {
        format!("machine 1/{part}, data {}", data_scale(workloads))
    }
}

/// A value for each workload, in words: the worst first.
#[must_use]
pub fn extremes(workloads: &[Scaled], values: &[f64]) -> String {
    let mut all: Vec<_> = workloads.iter().map(|(workload, _)| workload.name).zip(values).collect();
    all.sort_by(|one, other| other.1.total_cmp(one.1));
    let text = |(name, value): &(&str, &f64)| format!("{name} {value:.2}");
    match (all.first(), all.last()) {
        (Some(most), Some(least)) => format!("from {} to {}", text(least), text(most)),
        _ => String::new(),
    }
}

/// The value of the workload called `name`.
#[must_use]
pub fn of(workloads: &[Scaled], values: &[f64], name: &str) -> Option<f64> {
    values.get(workloads.iter().position(|(workload, _)| workload.name == name)?).copied()
}

/// Bars for each workload and the geometric mean.
#[must_use]
pub fn bars(
    title: &str,
    axis: &str,
    workloads: &[Scaled],
    series: &[(impl AsRef<str>, impl AsRef<[f64]>)],
) -> Chart {
    Chart::Bars(bars_and(("GM", geometric_mean), title, axis, workloads, series))
}

/// Bars for each workload and a mean of all, with its name.
#[must_use]
pub fn bars_and(
    (name, mean): (&str, fn(&[f64]) -> f64),
    title: &str,
    axis: &str,
    workloads: &[Scaled],
    series: &[(impl AsRef<str>, impl AsRef<[f64]>)],
) -> Bars {
    let values = |values: &[f64]| values.iter().copied().chain([mean(values)]).collect();
    Bars {
        title: title.to_owned(),
        axis: axis.to_owned(),
        groups: workloads
            .iter()
            .map(|(workload, _)| workload.name)
            .chain([name])
            .map(str::to_owned)
            .collect(),
        series: series
            .iter()
            .map(|(name, own)| Series { name: name.as_ref().to_owned(), values: values(own.as_ref()) })
            .collect(),
        clusters: Vec::new(),
        stacked: false,
    }
}

/// Sentences in a row; empty ones are left out.
#[must_use]
pub fn sentences(parts: &[&str]) -> String {
    parts.iter().filter(|part| !part.is_empty()).copied().collect::<Vec<_>>().join("; ")
}

/// `yes` or `no`.
#[must_use]
pub fn word(holds: bool) -> &'static str {
    if holds { "yes" } else { "no" }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::suites::UMH;

    const PLANS: [Plan; 3] = [plan("FW", 1, Some(8)), plan("DCT", 1, None), plan("RS", 4, Some(64))];

    #[test]
    fn what_is_shrunk_otherwise_and_what_is_left_out_is_said() {
        let (one, two) = (&UMH[0], &UMH[1]);
        assert_eq!(scale_text(&[(one, 1), (two, 1)]), "1/1");
        assert_eq!(scale_text(&[(one, 4), (two, 4)]), "data 1/4");
        assert_eq!(scale_text(&[(one, 8), (two, 4), (two, 4)]), "data 1/4, BSch 1/8");
        assert_eq!(scale_text_on(2, &[(one, 4), (two, 4)]), "machine 1/2, data 1/4");
        assert_eq!(scale_text(&[]), "");
        assert_eq!(left_out(&PLANS, Effort::Whole), "");
        assert_eq!(left_out(&PLANS, Effort::Quick), "without DCT");
    }

    #[test]
    fn workloads_are_found_by_name_in_the_order_of_the_plans() {
        let named = |effort| {
            let all = planned(UMH, &PLANS, effort);
            all.iter().map(|(workload, scale)| (workload.name, *scale)).collect::<Vec<_>>()
        };
        assert_eq!(named(Effort::Whole), [("FW", 1), ("DCT", 1), ("RS", 4)]);
        assert_eq!(named(Effort::Quick), [("FW", 8), ("RS", 64)]);
    }
}
