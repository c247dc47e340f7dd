//! Scenarios: what a machine does, what shall be seen, and what a lesson says about it.
//!
//! A scenario file ([`file::ScenarioFile`]) is read into a [`Scenario`]; [`Scenario::prepare`] builds its machine and
//! compiles its queries; a [`Runner`] runs it without a screen. The [`Checker`] (expectations) and the [`Narrator`]
//! look at one event at a time and are plain values, so that the debugger can go back with them.

mod access;
mod bug;
mod cell;
mod checker;
mod choice;
pub mod curriculum;
mod draft;
mod expectation;
mod exploration;
pub mod file;
mod inputs;
mod instruction;
mod layout;
mod narration;
mod place;
mod prepare;
mod prose;
mod read;
mod recorded;
mod runner;
mod setup;
pub mod shrink;
mod values;
mod work;

pub use bug::Bug;
pub use cell::CellName;
pub use checker::{Checker, Ended, Failure};
pub use choice::{meant, plain};
pub use draft::Draft;
pub use expectation::{Condition, Expectation, Matching, When};
pub use exploration::Alphabet;
pub use narration::{Ask, Due, Moment, Narrator, Say, Told, UPCOMING};
pub use prepare::{Break, CYCLES, FARTHEST, Options, Prepared, max_cycles};
pub use prose::flow;
pub use read::Scenario;
pub use runner::{Report, Runner};
pub use setup::fault_table;

/// The JSON schema of scenario files.
#[must_use]
pub fn schema() -> serde_json::Value {
    crate::config::schema::ranged(schemars::schema_for!(file::ScenarioFile).to_value())
}

impl crate::config::document::Described for file::ScenarioFile {
    fn schema() -> &'static serde_json::Value {
        static SCHEMA: std::sync::LazyLock<serde_json::Value> = std::sync::LazyLock::new(schema);
        &SCHEMA
    }
}

#[cfg(test)]
mod tests;
