//! What came of a run, for people and for programs.

pub mod behind;
pub mod chart;
pub mod csv;
pub mod diagnosis;
pub mod export;
pub mod figures;
pub mod json;
pub mod junit;
pub mod load;
pub mod number;
pub mod picture;
pub mod series;
pub mod sizes;
pub mod summary;
pub mod xml;

use std::sync::Arc;

use crate::debug::diagnosis::Diagnosis;
use crate::debug::latency::Waits;
use crate::machine::{Machine, TaskWork};
use crate::model::resource::ResourceView;
use crate::scenario::{Ended, Report};

/// A run that is over, with what its report does not know.
#[derive(Clone, Debug)]
pub struct Run {
    /// As the user named it.
    pub scenario: String,
    /// Name or path of the machine.
    pub machine: String,
    /// What was other than its machine alone says: keys with dots, and their values.
    pub set: Vec<(String, toml::Value)>,
    /// Of that what was other than its scenario says, too.
    pub set_by_hand: Vec<(String, toml::Value)>,
    pub seed: u64,
    pub report: Report,
    /// Why it could not go on, if it could not.
    pub diagnosis: Option<Diagnosis>,
    /// What the tables decided of the block of which a rule is broken, if one is; a line each.
    pub blame: Option<Vec<String>>,
    /// The record at which it was stopped, if it was.
    pub stopped_at: Option<Stopped>,
    /// Who did each of its tasks.
    pub tasks: Vec<(Arc<str>, TaskWork)>,
    /// Flat dotted keys.
    pub statistics: Vec<(String, f64)>,
    /// What accesses competed for, the busiest first.
    pub resources: Vec<ResourceView>,
    /// What its accesses waited for, if that was asked.
    pub waits: Option<Waits>,
    /// What the run itself took, without reading and building.
    pub wall_seconds: f64,
    /// What came before: reading files, indexing traces, and building the machine.
    pub prepare_seconds: f64,
    /// Most memory that the process ever had, where the system tells.
    pub peak_memory_bytes: Option<u64>,
}

/// Who does each task of a machine.
#[must_use]
pub fn tasks(machine: &Machine) -> Vec<(Arc<str>, TaskWork)> {
    machine.tasks().into_iter().map(|task| (task.id, task.work)).collect()
}

/// How a run ended, in a word.
#[must_use]
pub fn ended(ended: &Ended) -> &'static str {
    match ended {
        Ended::Finished => "finished",
        Ended::Stuck(_) => "deadlock",
        Ended::Violation => "violation",
        Ended::Limit(..) => "limit",
        Ended::Interrupted => "interrupted",
    }
}

/// What a run was stopped at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stopped {
    /// Its record, if one was made.
    pub json: Option<serde_json::Value>,
    /// The line of the log that tells it, or what became true.
    pub text: String,
}

impl Run {
    /// How it ended, in a word.
    #[must_use]
    pub fn ended(&self) -> &'static str {
        if self.stopped_at.is_some() {
            return "break";
        }
        ended(&self.report.ended)
    }

    /// Events executed in a second of real time; `None` if it took none.
    #[must_use]
    pub fn events_per_second(&self) -> Option<f64> {
        (self.wall_seconds > 0.0).then(|| self.report.events as f64 / self.wall_seconds)
    }
}
