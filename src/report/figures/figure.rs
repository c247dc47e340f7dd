//! What a figure of a paper is: the claim with its numbers, and how ours come about.

use super::effort::Effort;
use super::experiment::{Experiment, Results};
use crate::report::chart::Chart;

/// How far a number may lie from the paper's and still count as the same: a quarter of it. Orders and exact numbers
/// have no such room.
const NEAR: f64 = 0.25;

/// A number of a paper that we want to see again.
#[derive(Clone, Copy, Debug)]
pub struct Figure {
    pub id: &'static str,
    pub claim: &'static str,
    /// The paper's numbers; none if only an order is claimed.
    pub paper: &'static [f64],
    pub unit: &'static str,
    /// Where it stands in the paper.
    pub place: &'static str,
    /// The runs that are needed. What several figures need is run once.
    pub experiments: fn(Effort) -> Vec<Experiment>,
    /// What the runs show; an error says why they show nothing.
    pub finding: fn(Effort, &Results) -> Result<Finding, String>,
}

/// What we have found.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// In the order of the paper's numbers; `None` for what is not measured.
    pub ours: Vec<Option<f64>>,
    pub holds: bool,
    /// By what data and capacities are smaller than the paper's.
    pub scale: String,
    pub note: String,
    /// Charts, each with what its file is called after the id.
    pub charts: Vec<(&'static str, Chart)>,
}

/// A figure with what was found.
#[derive(Clone, Debug)]
pub struct Row {
    pub figure: &'static Figure,
    /// Or why there is nothing.
    pub found: Result<Finding, String>,
}

impl Figure {
    /// What `results` show of it.
    #[must_use]
    pub fn row(&'static self, effort: Effort, results: &Results) -> Row {
        Row { figure: self, found: (self.finding)(effort, results) }
    }
}

/// Whether `ours` lies within a quarter of the paper's number.
#[must_use]
pub fn near(ours: f64, paper: f64) -> bool {
    (ours / paper - 1.0).abs() <= NEAR
}

/// Whether `ours` is the paper's number to the `decimals` that the paper prints.
#[must_use]
pub fn exact(ours: f64, paper: f64, decimals: i32) -> bool {
    // Half a unit of the last place, rounded either way, and what binary fractions lose.
    (ours - paper).abs() <= 0.5 * 10f64.powi(-decimals) + 1e-9
}

/// The sum of numbers over how many they are; `NaN` of nothing.
#[must_use]
pub fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// The geometric mean; `NaN` of nothing.
#[must_use]
pub fn geometric_mean(values: &[f64]) -> f64 {
    (values.iter().map(|value| value.ln()).sum::<f64>() / values.len() as f64).exp()
}

/// The scales of workloads in words: the usual one, then those that differ, by name.
#[must_use]
pub fn scales(workloads: &[(&str, u64)]) -> String {
    let times = |scale: u64| workloads.iter().filter(|(_, other)| *other == scale).count();
    let Some((_, usual)) = workloads.iter().max_by_key(|(_, scale)| times(*scale)) else {
        return String::new();
    };
    let others = workloads.iter().filter(|(_, scale)| scale != usual);
    let others: Vec<_> = others.map(|(name, scale)| format!("{name} 1/{scale}")).collect();
    if others.is_empty() { format!("1/{usual}") } else { format!("1/{usual}, {}", others.join(", ")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_is_within_a_quarter_and_exact_within_the_last_place() {
        assert!(near(5.0, 4.0) && near(3.0, 4.0) && !near(5.1, 4.0) && !near(f64::NAN, 4.0));
        assert!(exact(3.125, 3.12, 2) && !exact(3.13, 3.12, 2) && exact(512.0, 512.0, 0));
        assert!(!exact(513.0, 512.0, 0) && !exact(f64::NAN, 512.0, 0));
    }

    #[test]
    fn the_geometric_mean_is_that_of_ratios() {
        assert!((geometric_mean(&[2.0, 8.0]) - 4.0).abs() < 1e-12);
        assert!(geometric_mean(&[]).is_nan());
    }
}
