//! What `set` changes.

use super::timeline::Budget;

/// Events a second at which a screen may run: one in four seconds, or more than can be seen.
pub const SLOWEST: f64 = 0.25;
pub const FASTEST: f64 = 1_048_576.0;

/// Settings of a session.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// Events a second while the screen runs; `None` for as fast as it can.
    pub speed: Option<f64>,
    /// Whether a failed check stops a run.
    pub stop_at_violations: bool,
    /// Whether a run stops where the lesson says something.
    pub stop_at_narration: bool,
    /// Most lines of a list.
    pub lines: usize,
    /// What checkpoints may cost.
    pub budget: Budget,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            speed: None,
            stop_at_violations: true,
            stop_at_narration: false,
            lines: 20,
            budget: Budget::default(),
        }
    }
}
