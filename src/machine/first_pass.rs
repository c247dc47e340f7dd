//! How an oracle comes to know what the work touches ("two execution-pass approach", "Towards High Performance Paged Memory
//! for GPUs", section 4.2).

use std::fmt;
use std::sync::Arc;

use crate::model::time::EventNumber;

/// Told how many events the first run has had; whether it may go on.
pub type Watch = Arc<dyn Fn(EventNumber) -> bool + Send + Sync>;

/// The run before the run.
#[derive(Clone, Default)]
pub enum FirstPass {
    /// To its end.
    #[default]
    Unwatched,
    /// To its end, or until it may not go on.
    Watched(Watch),
    /// There is none, and the oracle knows nothing: for who looks at a machine that will not run.
    Skipped,
}

impl FirstPass {
    /// Whether the run may go on.
    #[must_use]
    pub fn goes_on(&self, events: EventNumber) -> bool {
        match self {
            Self::Watched(watch) => watch(events),
            Self::Unwatched | Self::Skipped => true,
        }
    }
}

impl fmt::Debug for FirstPass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Unwatched => "Unwatched",
            Self::Watched(_) => "Watched",
            Self::Skipped => "Skipped",
        })
    }
}
