//! Ctrl-c, or a signal by which others end a process: the first one asks a long run to stop with what is known so far, the second
//! ends the process at once. And the signal of a file that grows too large.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGXFSZ};
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
    /// Takes ctrl-c and the signals of others over. Until [`Self::heed`], they still end the process, with the status that tells so.
    pub fn install() -> Result<Self, Trouble> {
        Self::of([SIGINT].into_iter().chain(of_others()))
    }

    /// The same without ctrl-c, where that means something else.
    pub fn install_for_others() -> Result<Self, Trouble> {
        Self::of(of_others())
    }

    fn of(signals: impl Iterator<Item = i32>) -> Result<Self, Trouble> {
        let (raised, armed) = (Arc::default(), Arc::new(AtomicBool::new(true)));
        let status = i32::from(Status::Interrupted.code());
        let actions = signals.flat_map(|signal| {
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

/// The signals by which others end a process. One that was started to outlive its terminal (`nohup`) does so.
fn of_others() -> impl Iterator<Item = i32> {
    [SIGTERM].into_iter().chain((!may_be_ignored(SIGHUP)).then_some(SIGHUP))
}

/// Whether the process was started so that a signal does nothing, or the system does not tell.
fn may_be_ignored(signal: i32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    mask.is_none_or(|mask| (mask >> (signal - 1)) & 1 == 1)
}

/// Has a write that makes a file larger than this process may fail, as on a full disk, rather than end the process.
pub fn let_large_files_fail() {
    // Whoever handles the signal gets the error; nobody need look at the flag.
    let _ = flag::register(SIGXFSZ, Arc::default());
}
