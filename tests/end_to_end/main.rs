//! End to end: the program as a user runs it, in a pipe and in a terminal. One crate, a module per subject, so that
//! the helpers in `common` are built once.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

mod binary;
mod command_line;
mod common;
mod screen;
mod terminal;
