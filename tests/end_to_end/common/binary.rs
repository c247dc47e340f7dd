//! Runs a program to its end, its output in pipes.

use std::path::Path;
use std::time::Duration;

use super::ENVIRONMENT;

/// How long a program may take.
const DEADLINE: Duration = Duration::from_secs(240);

/// What a program left behind.
#[derive(Debug)]
pub struct Outcome {
    /// `None` if a signal (or the deadline) ended it.
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

/// Runs `program` with these arguments and this standard input.
pub fn run(program: &Path, arguments: &[&str], input: &str) -> Outcome {
    let mut command = assert_cmd::Command::new(program);
    command.args(arguments).write_stdin(input).timeout(DEADLINE);
    for (name, value) in ENVIRONMENT {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    let output = command.output().expect("the program starts");
    Outcome {
        code: output.status.code(),
        stdout: String::from_utf8(output.stdout).expect("text on stdout"),
        stderr: String::from_utf8(output.stderr).expect("text on stderr"),
    }
}
