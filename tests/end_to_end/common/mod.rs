//! Helpers of the end-to-end tests.

pub mod binary;
pub mod terminal;

use std::path::Path;

/// The program under test.
pub fn umscope() -> &'static Path {
    Path::new(env!("CARGO_BIN_EXE_umscope"))
}

/// Variables that a test must not inherit, and those that it must have: a user's own settings stay out of it.
pub const ENVIRONMENT: [(&str, Option<&str>); 7] = [
    ("NO_COLOR", None),
    ("CLICOLOR_FORCE", None),
    ("RUST_BACKTRACE", None),
    ("XDG_CONFIG_HOME", Some("/nonexistent")),
    ("LANG", Some("C.UTF-8")),
    ("TERM", Some("xterm-256color")),
    ("COLUMNS", None),
];
