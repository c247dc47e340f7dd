//! Work of a command that takes its time: it is done in slices, so that it can be interrupted.

use std::fmt::Debug;

use crate::diagnostic::Result;

/// A command's work.
pub trait Job: Debug + Send {
    /// Goes on for about `fuel` events; what it says once it is done, or why it cannot be done.
    fn advance(&mut self, fuel: u64) -> Option<Result<Vec<String>>>;
    /// What it says when it is broken off.
    fn interrupt(&mut self) -> Vec<String>;
}
