//! How much of a paper's work is run.

/// How much work a figure may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effort {
    /// All figures in about three minutes: some of the workloads, shrunk a lot.
    Quick,
    /// All workloads.
    Whole,
}
