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
mod kernels;
mod lanes;
mod mutants;
mod paging;
mod picture;
mod posted;
mod progress;
mod recording;
mod sizes;
mod status;
mod stream;
mod sweep;
mod tables;
mod trace;
mod tries;

use std::process::{Command, Output, Stdio};
use std::time::Duration;

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

/// What the program says that is interrupted after a while.
fn interrupted(arguments: &[&str], after: Duration) -> Output {
    let mut command = Command::new(umscope());
    let child = command.args(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    std::thread::sleep(after);
    let kill = Command::new("sh").args(["-c", &format!("kill -INT {}", child.id())]).status().unwrap();
    assert!(kill.success(), "it ended before it was interrupted");
    child.wait_with_output().unwrap()
}
