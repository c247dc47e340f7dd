//! The whole border between the screen and the engine: requests go one way; answers and the latest frame come back.
//!
//! Neither side ever waits for the other. The engine swaps one `Arc` to publish a frame; the screen takes whatever
//! frame is the latest when it draws.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use ringbuf::HeapRb;

use crate::debug::command::Candidate;
use crate::debug::frame::Frame;
use crate::debug::frame::selection::Selection;
use crate::debug::frame::wish::Wish;
use crate::diagnostic::Diagnostic;

/// Most answers kept for a screen that does not fetch them; the oldest go first.
const ANSWERS: usize = 4096;

/// What the screen asks of the engine.
#[derive(Clone, Debug, PartialEq)]
pub enum Request {
    /// A command as typed at the prompt. Every verb that has a key is a command too (`step 10`, `reverse-step`).
    Command(String),
    /// What the screen shows from now on; the next frame holds only that.
    Wish(Wish),
    /// What is selected from now on; the engine keeps it and shows it in every frame.
    Select(Selection),
    /// What the log shows from now on: a query, or everything if it is empty.
    Filter(String),
    /// Events a second that a run makes from now on, even one under way; `None` for as many as it can.
    Speed(Option<f64>),
    /// What a command line may become at byte `cursor`; answered by [`Answer::Completions`].
    Complete {
        line: String,
        cursor: usize,
    },
    /// Stop what is running, at the next event.
    Interrupt,
    Quit,
}

/// What the engine says to a command.
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    /// A command's output, a line each.
    Lines(Vec<String>),
    /// A command or query that was not understood or cannot be done.
    Error(Box<Diagnostic>),
    /// How this line may go on at byte `cursor`.
    Completions { line: String, cursor: usize, candidates: Vec<Candidate> },
    /// The session is over (`quit`).
    Quit,
}

struct Shared {
    frame: Mutex<Arc<Frame>>,
    version: AtomicU64,
    answers: Mutex<HeapRb<Answer>>,
    /// Commands sent and not yet finished.
    busy: AtomicU64,
}

impl std::fmt::Debug for Shared {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Shared").field("version", &self.version).finish_non_exhaustive()
    }
}

/// The screen's end.
#[derive(Debug)]
pub struct Client {
    requests: Sender<Request>,
    shared: Arc<Shared>,
}

/// The engine's end.
#[derive(Debug)]
pub struct Server {
    requests: Receiver<Request>,
    shared: Arc<Shared>,
}

/// Both ends, with the frame to show until the engine publishes one.
#[must_use]
pub fn border(first: Arc<Frame>) -> (Client, Server) {
    let (sender, receiver) = mpsc::channel();
    let shared = Arc::new(Shared {
        frame: Mutex::new(first),
        version: AtomicU64::new(0),
        answers: Mutex::new(HeapRb::new(ANSWERS)),
        busy: AtomicU64::new(0),
    });
    (Client { requests: sender, shared: shared.clone() }, Server { requests: receiver, shared })
}

impl Client {
    /// Sends a request. An engine that is gone is noticed by [`Client::is_gone`].
    pub fn send(&self, request: Request) {
        if matches!(request, Request::Command(_)) {
            self.shared.busy.fetch_add(1, Ordering::SeqCst);
        }
        // A send fails only when the engine has ended; `is_gone` tells, nothing is lost here.
        let _ = self.requests.send(request);
    }

    /// The latest frame.
    #[must_use]
    pub fn frame(&self) -> Arc<Frame> {
        self.shared.frame.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The latest frame, its number (it grows by one with each), and whether a command was still being carried out when
    /// it was made: all of one moment.
    #[must_use]
    pub fn shown(&self) -> (Arc<Frame>, u64, bool) {
        let frame = self.shared.frame.lock().unwrap_or_else(PoisonError::into_inner);
        (frame.clone(), self.shared.version.load(Ordering::SeqCst), self.is_busy())
    }

    /// The answers since the last call, oldest first.
    #[must_use]
    pub fn answers(&self) -> Vec<Answer> {
        self.shared.answers.lock().unwrap_or_else(PoisonError::into_inner).pop_iter().collect()
    }

    /// Whether a command is still being carried out.
    #[must_use]
    pub fn is_busy(&self) -> bool {
        self.shared.busy.load(Ordering::SeqCst) > 0
    }

    /// Whether the engine has ended.
    #[must_use]
    pub fn is_gone(&self) -> bool {
        Arc::strong_count(&self.shared) == 1
    }
}

impl Server {
    /// The next request, if one is there.
    ///
    /// # Errors
    /// `Err(())` when the screen is gone.
    #[allow(clippy::result_unit_err)]
    pub fn try_next(&self) -> Result<Option<Request>, ()> {
        match self.requests.try_recv() {
            Ok(request) => Ok(Some(request)),
            Err(mpsc::TryRecvError::Empty) => Ok(None),
            Err(mpsc::TryRecvError::Disconnected) => Err(()),
        }
    }

    /// Waits for the next request, at most `limit`.
    ///
    /// # Errors
    /// `Err(())` when the screen is gone.
    #[allow(clippy::result_unit_err)]
    pub fn next(&self, limit: Duration) -> Result<Option<Request>, ()> {
        match self.requests.recv_timeout(limit) {
            Ok(request) => Ok(Some(request)),
            Err(RecvTimeoutError::Timeout) => Ok(None),
            Err(RecvTimeoutError::Disconnected) => Err(()),
        }
    }

    /// Shows this frame from now on. `done` [`Request::Command`]s are finished with it; their answers are out.
    pub fn publish(&self, frame: Arc<Frame>, done: u64) {
        let mut shown = self.shared.frame.lock().unwrap_or_else(PoisonError::into_inner);
        *shown = frame;
        self.shared.version.fetch_add(1, Ordering::SeqCst);
        let count = |busy: u64| Some(busy.saturating_sub(done));
        let _ = self.shared.busy.fetch_update(Ordering::SeqCst, Ordering::SeqCst, count);
    }

    pub fn answer(&self, answer: Answer) {
        self.shared.answers.lock().unwrap_or_else(PoisonError::into_inner).push_overwrite(answer);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_and_answers_cross_the_border() {
        let (client, server) = border(Arc::default());
        client.send(Request::Command("step".into()));
        assert!(client.is_busy());
        assert_eq!(server.try_next(), Ok(Some(Request::Command("step".into()))));
        server.answer(Answer::Lines(vec!["done".into()]));
        server.publish(Arc::default(), 0);
        assert!(client.shown().2);
        server.publish(Arc::default(), 1);
        assert_eq!((client.shown().1, client.shown().2), (2, false));
        assert_eq!(client.answers(), [Answer::Lines(vec!["done".into()])]);
        drop(server);
        assert!(client.is_gone());
    }

    #[test]
    fn answers_that_nobody_fetches_are_bounded() {
        let (client, server) = border(Arc::default());
        (0..ANSWERS + 10).for_each(|_| server.answer(Answer::Quit));
        assert_eq!(client.answers().len(), ANSWERS);
    }
}
