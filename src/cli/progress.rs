//! How far long work is, on one line of a terminal's standard error.

use std::io::{self, IsTerminal, Write};
use std::time::{Duration, Instant};

/// Work shorter than this shows nothing.
const PATIENCE: Duration = Duration::from_secs(1);

/// Time between two lines.
const PAUSE: Duration = Duration::from_millis(200);

/// A line of progress.
#[derive(Debug)]
pub struct Progress {
    /// Whether anybody sees it.
    seen: bool,
    next: Instant,
    shown: bool,
}

impl Progress {
    /// Work begins now.
    #[must_use]
    pub fn start() -> Self {
        Self { seen: io::stderr().is_terminal(), next: Instant::now() + PATIENCE, shown: false }
    }

    /// Shows `text` if it is time to.
    pub fn tell(&mut self, text: impl FnOnce() -> String) {
        if !self.seen || Instant::now() < self.next {
            return;
        }
        let columns = crossterm::terminal::size().map_or(80, |(columns, _)| usize::from(columns));
        let text: String = text().chars().take(columns.saturating_sub(1)).collect();
        let mut stderr = io::stderr();
        let _ = write!(stderr, "\r\x1b[K{text}").and_then(|()| stderr.flush());
        self.next = Instant::now() + PAUSE;
        self.shown = true;
    }

    /// Takes the line away.
    pub fn clear(&mut self) {
        if std::mem::take(&mut self.shown) {
            let mut stderr = io::stderr();
            let _ = write!(stderr, "\r\x1b[K").and_then(|()| stderr.flush());
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.clear();
    }
}
