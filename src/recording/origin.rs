//! What a run began with: all texts, so that it can begin again in any folder and after the files have changed.

use super::trace::TraceFile;
use crate::config::Kept;
use crate::diagnostic::Source;

/// Everything that a machine at event 0 was made of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    /// The version of umscope that ran it.
    pub made_by: String,
    /// How the scenario was named.
    pub name: String,
    pub scenario: Source,
    /// The scenario's folder, if it was on disk.
    pub folder: Option<String>,
    /// Keys of the scenario file that were set, each `KEY=VALUE`.
    pub with: Vec<String>,
    /// The machine and protocol files that it used.
    pub files: Vec<Kept>,
    /// Keys of the machine file that were set, each `KEY=VALUE`.
    pub set: Vec<String>,
    /// What the command line said instead of the scenario.
    pub seed: Option<u64>,
    pub max_cycles: Option<u64>,
    pub checks: Option<bool>,
    pub trace: Option<TraceFile>,
}
