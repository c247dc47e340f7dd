//! Ctrl-c: the first one asks a long run to stop with what is known so far, the second ends the process at once.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use signal_hook::consts::SIGINT;
use signal_hook::flag;

use super::exit::{Status, Trouble};

/// Whether somebody has pressed ctrl-c.
#[derive(Clone, Debug, Default)]
pub struct Interrupt {
    raised: Arc<AtomicBool>,
    /// Whether the next ctrl-c ends the process.
    armed: Arc<AtomicBool>,
}

impl Interrupt {
    /// Takes ctrl-c over. Until [`Self::heed`], it still ends the process, with the status that tells so.
    pub fn install() -> Result<Self, Trouble> {
        let both = Self { raised: Arc::default(), armed: Arc::new(AtomicBool::new(true)) };
        let status = i32::from(Status::Interrupted.code());
        flag::register_conditional_shutdown(SIGINT, status, both.armed.clone())
            .and_then(|_| flag::register(SIGINT, both.armed.clone()))
            .and_then(|_| flag::register(SIGINT, both.raised.clone()))
            .map_err(|error| Trouble::Io("listen for ctrl-c", error))?;
        Ok(both)
    }

    /// From here on somebody looks at [`Self::is_raised`] often.
    pub fn heed(&self) {
        self.armed.store(false, Ordering::Relaxed);
    }

    #[must_use]
    pub fn is_raised(&self) -> bool {
        self.raised.load(Ordering::Relaxed)
    }
}
