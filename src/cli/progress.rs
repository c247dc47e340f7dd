//! How far long work is: on one line of a terminal, or now and then on a line of its own of another standard error.

use std::io::{self, IsTerminal, Write};
use std::time::{Duration, Instant};

use super::exit::say;

/// Work shorter than this shows nothing.
const PATIENCE: Duration = Duration::from_secs(1);

/// The same where every line stays, as in the log of a cluster, and the time between two of these.
const LOGGED: Duration = Duration::from_secs(60);

/// Time between two lines.
const PAUSE: Duration = Duration::from_millis(200);

/// A line of progress.
#[derive(Debug)]
pub struct Progress {
    /// Whether a line can be taken away again.
    is_terminal: bool,
    begun: Instant,
    next: Instant,
    shown: bool,
}

/// A time, in few digits.
fn about(seconds: f64) -> String {
    let seconds = seconds.max(0.0).round() as u64;
    match seconds {
        0..120 => format!("{seconds} s"),
        120..7200 => format!("{} min", (seconds + 30) / 60),
        _ => format!("{} h", (seconds + 1800) / 3600),
    }
}

impl Progress {
    /// Work begins now.
    #[must_use]
    pub fn start() -> Self {
        let begun = Instant::now();
        let is_terminal = io::stderr().is_terminal();
        let patience = if is_terminal { PATIENCE } else { LOGGED };
        Self { is_terminal, begun, next: begun + patience, shown: false }
    }

    /// Shows `text` if it is time to.
    pub fn tell(&mut self, text: impl FnOnce() -> String) {
        self.show(|_| text());
    }

    /// The same, of work of which a share from 0 to 1 is done: also how long it goes on, or has gone on while that is a guess.
    pub fn tell_share(&mut self, told: impl FnOnce() -> (f64, String)) {
        self.show(|progress| {
            let (share, text) = told();
            text + &progress.left(share)
        });
    }

    fn show(&mut self, text: impl FnOnce(&Self) -> String) {
        if Instant::now() < self.next {
            return;
        }
        if !self.is_terminal {
            say(text(self));
            self.next = Instant::now() + LOGGED;
            return;
        }
        let columns = crossterm::terminal::size().ok().map(|(columns, _)| usize::from(columns));
        // One that does not know its size tells zero.
        let columns = columns.filter(|columns| *columns > 0).unwrap_or(80);
        let text: String = text(self).chars().take(columns.saturating_sub(1)).collect();
        let mut stderr = io::stderr();
        let _ = write!(stderr, "\r\x1b[K{text}").and_then(|()| stderr.flush());
        self.next = Instant::now() + PAUSE;
        self.shown = true;
    }

    /// How long work goes on of which a share from 0 to 1 is done, in words behind a comma; while that is a guess, how long it has
    /// gone on, so that something moves.
    fn left(&self, share: f64) -> String {
        let spent = self.begun.elapsed().as_secs_f64();
        if share < 0.01 || spent < 2.0 {
            format!(", {} so far", about(spent))
        } else {
            format!(", {} left", about(spent / share - spent))
        }
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

#[cfg(test)]
mod tests {
    use super::about;

    #[test]
    fn a_time_is_told_in_few_digits() {
        let told = [-1.0, 0.4, 119.0, 120.0, 3599.0, 7200.0].map(about);
        assert_eq!(told, ["0 s", "0 s", "119 s", "2 min", "60 min", "2 h"]);
    }
}
