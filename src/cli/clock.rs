//! Progress of work that tells nothing of how far it is: beside it, a thread shows what is being done and for how long.

use std::io::{self, BufRead, IsTerminal, Read, Write};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use super::progress::Progress;

/// Time between two looks at the clock.
const LOOK: Duration = Duration::from_millis(100);

/// What is being done, and since when.
#[derive(Debug)]
pub struct Clock {
    name: String,
    shown: Mutex<Option<(String, Progress)>>,
}

/// What `work` comes to, which says to the clock what it does to the thing of this name.
pub fn beside<T>(name: &str, work: impl FnOnce(&Clock) -> T) -> T {
    let clock = Clock { name: name.to_owned(), shown: Mutex::default() };
    thread::scope(|scope| {
        let (over, end) = channel::<()>();
        let shown = &clock;
        scope.spawn(move || {
            while end.recv_timeout(LOOK) == Err(RecvTimeoutError::Timeout) {
                shown.look();
            }
        });
        let done = work(shown);
        drop(over);
        done
    })
}

impl Clock {
    /// This is being done now, as a part of what was begun if there is something.
    pub fn say(&self, what: impl Into<String>) {
        let mut shown = self.lock();
        let progress = shown.take().map_or_else(Progress::start, |(_, progress)| progress);
        *shown = Some((what.into(), progress));
    }

    /// Nothing is being done.
    fn rest(&self) {
        *self.lock() = None;
    }

    /// Does what nothing that is shown may disturb; what goes on then has begun anew.
    fn apart<T>(&self, work: impl FnOnce() -> T) -> T {
        let mut shown = self.lock();
        if let Some((_, progress)) = &mut *shown {
            *progress = Progress::start();
        }
        work()
    }

    fn look(&self) {
        if let Some((what, progress)) = &mut *self.lock() {
            progress.tell_share(|| (0.0, format!("{}: {what}", self.name)));
        }
    }

    fn lock(&self) -> MutexGuard<'_, Option<(String, Progress)>> {
        self.shown.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Commands that come in, or what is answered. Work goes on between two reads; nothing is shown while somebody is waited for, nor
/// where answers are written.
#[derive(Debug)]
pub struct Timed<'a, T> {
    pub inner: T,
    pub clock: &'a Clock,
}

impl<T: Read> Read for Timed<'_, T> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        self.inner.read(bytes)
    }
}

impl<T: BufRead> BufRead for Timed<'_, T> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.clock.rest();
        let filled = self.inner.fill_buf();
        // A file of both outputs shall hold the answers alone.
        if io::stderr().is_terminal() {
            self.clock.say("at work");
        }
        filled
    }

    fn consume(&mut self, amount: usize) {
        self.inner.consume(amount);
    }
}

impl<T: Write> Write for Timed<'_, T> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.clock.apart(|| self.inner.write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.clock.apart(|| self.inner.flush())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_said_goes_on_after_an_answer_and_not_in_a_rest() {
        let said = |clock: &Clock| clock.lock().as_ref().map(|(what, _)| what.clone());
        let written = beside("mine", |clock| {
            clock.say("first");
            clock.say("second");
            let mut output = Timed { inner: Vec::new(), clock };
            output.write_all(b"an answer").unwrap();
            assert_eq!(said(clock).as_deref(), Some("second"));
            clock.rest();
            output.flush().unwrap();
            assert_eq!(said(clock), None);
            output.inner
        });
        assert_eq!(written, b"an answer");
    }

    #[test]
    fn what_is_read_is_what_is_there() {
        beside("mine", |clock| {
            let mut input = Timed { inner: &b"step 3\nend"[..], clock };
            let mut line = String::new();
            assert_eq!(input.read_line(&mut line).unwrap(), 7);
            assert_eq!(input.read_line(&mut line).unwrap(), 3);
            assert_eq!(input.read_line(&mut line).unwrap(), 0);
            assert_eq!(line, "step 3\nend");
        });
    }
}
