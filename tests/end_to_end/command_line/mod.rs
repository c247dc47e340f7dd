//! The command line as scripts rely on it.

mod bandwidth;
mod broken_input;
mod explore;
mod diagnosis;
mod export;
mod figures;
mod help;
mod indexing;
mod json;
mod lanes;
mod mutants;
mod picture;
mod recording;
mod sizes;
mod status;
mod stream;
mod sweep;
mod trace;

use crate::common::binary::{Outcome, run};
use crate::common::umscope;

/// Runs the program with these arguments and no input.
fn call(arguments: &[&str]) -> Outcome {
    run(umscope(), arguments, "")
}

/// The one JSON document on the standard output.
fn document(arguments: &[&str]) -> serde_json::Value {
    let outcome = call(arguments);
    serde_json::from_str(&outcome.stdout).unwrap_or_else(|error| panic!("{error}: {outcome:?}"))
}
