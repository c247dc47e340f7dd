//! A flag that asks a running command to stop, shared with a signal handler or the screen's thread.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Raised from anywhere; looked at between slices of work.
#[derive(Clone, Debug, Default)]
pub struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    /// The flag itself, for a signal handler.
    #[must_use]
    pub fn flag(&self) -> Arc<AtomicBool> {
        self.0.clone()
    }

    /// As a signal handler does.
    #[cfg(test)]
    pub(crate) fn raise(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether it was raised; lowers it.
    pub fn take(&self) -> bool {
        self.0.swap(false, Ordering::Relaxed)
    }

    #[must_use]
    pub fn is_raised(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}
