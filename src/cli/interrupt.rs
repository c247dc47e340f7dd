//! Ctrl-c, or the signal by which others end a process: the first one asks a long run to stop with what is known so far, the second
//! ends the process at once.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::{SigId, flag};

use super::exit::{Status, Trouble};

/// Whether somebody has pressed ctrl-c, or asked the process to end.
#[derive(Clone, Debug, Default)]
pub struct Interrupt {
    raised: Arc<AtomicBool>,
    /// Whether the next ctrl-c ends the process.
    armed: Arc<AtomicBool>,
    /// What is done at a ctrl-c.
    actions: Vec<SigId>,
}

impl Interrupt {
    /// Takes ctrl-c over. Until [`Self::heed`], it still ends the process, with the status that tells so.
    pub fn install() -> Result<Self, Trouble> {
        let (raised, armed) = (Arc::default(), Arc::new(AtomicBool::new(true)));
        let status = i32::from(Status::Interrupted.code());
        let actions = [SIGINT, SIGTERM].into_iter().flat_map(|signal| {
            [
                flag::register_conditional_shutdown(signal, status, Arc::clone(&armed)),
                flag::register(signal, Arc::clone(&armed)),
                flag::register(signal, Arc::clone(&raised)),
            ]
        });
        let actions = actions.collect::<Result<_, _>>();
        let actions = actions.map_err(|error| Trouble::Io("listen for ctrl-c", error))?;
        Ok(Self { raised, armed, actions })
    }

    /// Leaves ctrl-c to others from here on.
    pub fn release(self) {
        for action in self.actions {
            signal_hook::low_level::unregister(action);
        }
    }

    /// From here on somebody looks at [`Self::is_raised`] often.
    pub fn heed(&self) {
        self.armed.store(false, Ordering::Relaxed);
    }

    /// What is raised.
    #[must_use]
    pub fn flag(&self) -> &AtomicBool {
        &self.raised
    }

    #[must_use]
    pub fn is_raised(&self) -> bool {
        self.raised.load(Ordering::Relaxed)
    }

    /// The same for what goes on until it is.
    pub fn control(&self) -> ControlFlow<()> {
        if self.is_raised() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}
