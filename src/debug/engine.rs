//! The engine: owns a session, takes requests from a screen, and publishes frames. It never waits for the screen, except
//! when there is nothing else to do.

use std::io;
use std::sync::Arc;
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant};

use super::command::complete;
use super::frame::session::Info;
use super::frame::wish::Wish;
use super::proto::{Answer, Request, Server};
use super::session::Session;
use super::work::{Outcome, Progress};
use crate::query::Text;

/// Shortest time between two frames while the machine runs.
const FRAME: Duration = Duration::from_millis(16);

/// While the machine runs, one part in so many of the time goes into frames.
const SHARE: u32 = 20;

/// Longest wait for a request.
const NAP: Duration = Duration::from_millis(50);

/// Events between two looks at the clock and at the interrupt.
const SLICE: u64 = 512;

/// Events before a frame of which records are made, so that it can show what happened last.
const TAIL: u64 = 64;

/// The engine's state beside the session.
#[derive(Debug)]
struct Engine {
    session: Session,
    server: Server,
    info: Arc<Info>,
    /// How often the session had begun again when that was asked for.
    restarts: u32,
    wish: Wish,
    published: Instant,
    /// What the last frame took, the records for it included.
    cost: Duration,
    /// Commands taken whose end has not been told.
    open: u64,
    /// Something changed since the last frame.
    stale: bool,
    /// Events that a paced run may make now.
    credit: f64,
    paid: Instant,
}

/// Starts the engine on a thread of its own. It ends with `quit`, [`Request::Quit`], or when the screen is gone.
///
/// # Errors
/// If no thread can be started.
pub fn spawn(session: Session, server: Server) -> io::Result<JoinHandle<Session>> {
    Builder::new().name("engine".to_owned()).spawn(move || run_blocking(session, server))
}

/// Runs the engine here, and gives the session back at its end.
pub fn run_blocking(mut session: Session, server: Server) -> Session {
    session.stop_at_narration(true);
    let now = Instant::now();
    let info = Arc::new(session.info());
    let mut engine = Engine {
        restarts: session.restarts,
        session,
        server,
        info,
        wish: Wish::default(),
        published: now,
        cost: Duration::ZERO,
        open: 0,
        stale: true,
        credit: 0.0,
        paid: now,
    };
    engine.publish(0);
    while engine.turn().is_some() {}
    engine.session
}

impl Engine {
    /// One turn: requests, then a slice of work, then perhaps a frame. `None` at the end.
    fn turn(&mut self) -> Option<()> {
        self.requests()?;
        let idle = self.slice()?;
        // A frame at rest is published only when nothing is left to do, so that whoever sees it may rely on it.
        let due = self.stale && self.published.elapsed() >= FRAME.max(self.cost * SHARE);
        if idle || (due && self.session.is_moving()) {
            let before = Instant::now();
            self.tail()?;
            if self.stale || (idle && self.open > 0) {
                let done = if idle { std::mem::take(&mut self.open) } else { 0 };
                self.publish(done);
            }
            self.cost = before.elapsed();
        }
        Some(())
    }

    /// Takes all requests that are there; waits for one if there is nothing to do.
    fn requests(&mut self) -> Option<()> {
        let mut wait = self.open == 0 && !self.session.is_moving() && !self.stale;
        loop {
            let request = if wait { self.server.next(NAP) } else { self.server.try_next() };
            wait = false;
            match request.ok()? {
                None => return Some(()),
                Some(Request::Command(text)) => {
                    self.session.submit(&text);
                    self.open += 1;
                }
                Some(Request::Wish(wish)) => self.wish = wish,
                Some(Request::Select(selection)) => self.session.pick(selection),
                Some(Request::Speed(speed)) => self.set_speed(speed)?,
                Some(Request::Filter(text)) => {
                    if let Err(error) = self.session.set_filter(&Text::new("/", &text)) {
                        self.server.answer(Answer::Error(error));
                    }
                }
                Some(Request::Complete { line, cursor }) => {
                    let candidates = complete(&self.session, &line, cursor);
                    self.server.answer(Answer::Completions { line, cursor, candidates });
                }
                Some(Request::Interrupt) => self.interrupt()?,
                Some(Request::Quit) => return None,
            }
            self.stale = true;
        }
    }

    /// Breaks off what is going on and what was asked for before; what was asked for since is still to come.
    fn interrupt(&mut self) -> Option<()> {
        // What the frame at rest shows need not be made again from a checkpoint far behind.
        self.tail()?;
        let outcome = self.session.interrupt();
        outcome.map_or(Some(()), |outcome| self.answer(outcome))
    }

    /// Plays at another speed; a run that is not to be played any more ends here, before whatever comes next.
    fn set_speed(&mut self, speed: Option<f64>) -> Option<()> {
        let outcome =
            if speed.is_none() && self.session.is_paced() { self.session.interrupt() } else { None };
        self.session.set_speed(speed);
        outcome.map_or(Some(()), |outcome| self.answer(outcome))
    }

    /// Some work. Returns whether nothing is left to do.
    fn slice(&mut self) -> Option<bool> {
        let fuel = if self.session.is_paced() { self.fuel() } else { SLICE };
        if fuel == 0 {
            return Some(false);
        }
        let paced = self.session.is_paced();
        let progress = self.session.work_and(fuel, paced);
        self.outcome(progress)
    }

    /// Events that the speed that is set allows now; sleeps a little if none.
    fn fuel(&mut self) -> u64 {
        let Some(speed) = self.session.speed() else { return SLICE };
        let now = Instant::now();
        self.credit += now.duration_since(self.paid).as_secs_f64() * speed;
        self.credit = self.credit.min((speed / 10.0).max(1.0));
        self.paid = now;
        // No more at a time than what an interrupt can wait for.
        let fuel = self.credit.floor().min(SLICE as f64);
        self.credit -= fuel;
        if fuel < 1.0 {
            std::thread::sleep(Duration::from_millis(2));
        }
        fuel as u64
    }

    fn outcome(&mut self, progress: Progress) -> Option<bool> {
        match progress {
            Progress::Running => {
                self.stale = true;
                Some(false)
            }
            Progress::Idle => Some(true),
            Progress::Failed(error) => {
                self.stale = true;
                self.server.answer(Answer::Error(error));
                Some(false)
            }
            Progress::Done(outcome) => {
                self.stale = true;
                self.answer(outcome)?;
                Some(false)
            }
        }
    }

    fn answer(&mut self, outcome: Outcome) -> Option<()> {
        // What a stop says is in the frame.
        if outcome.stop.is_none() && !outcome.lines.is_empty() {
            self.server.answer(Answer::Lines(outcome.lines));
        }
        if outcome.quit {
            self.server.answer(Answer::Quit);
            let done = std::mem::take(&mut self.open);
            self.publish(done);
            return None;
        }
        Some(())
    }

    /// Makes the last few records before a frame of a run.
    fn tail(&mut self) -> Option<()> {
        if self.session.is_running() && !self.session.is_paced() {
            let progress = self.session.work_and(TAIL, true);
            self.outcome(progress)?;
        }
        Some(())
    }

    /// Shows the state as it is now, with which `done` commands are finished.
    fn publish(&mut self, done: u64) {
        if self.restarts != self.session.restarts {
            self.restarts = self.session.restarts;
            self.info = Arc::new(self.session.info());
        }
        let frame = self.session.frame(&self.info, &self.wish);
        self.server.publish(Arc::new(frame), done);
        self.published = Instant::now();
        self.stale = false;
    }
}

#[cfg(test)]
mod tests {
    use super::super::origin::Origin;
    use super::super::proto::{Client, border};
    use super::super::session::tests::session;
    use super::*;

    fn settled(client: &Client) {
        let start = Instant::now();
        while client.is_busy() {
            assert!(start.elapsed() < Duration::from_secs(20), "the engine does not answer");
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    #[test]
    fn commands_change_the_frame_and_are_answered() {
        let (client, server) = border(Arc::default());
        let engine = spawn(session(500), server).unwrap();
        client.send(Request::Command("step 7".into()));
        settled(&client);
        assert_eq!(client.frame().position.event, 7);
        client.send(Request::Command("break nonsense".into()));
        client.send(Request::Command("reverse-step".into()));
        settled(&client);
        assert_eq!(client.frame().position.event, 6);
        let answers = client.answers();
        assert!(answers.iter().any(|answer| matches!(answer, Answer::Error(_))), "{answers:?}");
        client.send(Request::Command("quit".into()));
        assert_eq!(engine.join().unwrap().event(), 6);
    }

    #[test]
    fn after_a_reload_the_frame_has_what_the_file_says_now() {
        let origin = |title: &str| {
            let text = format!(
                "title = '{title}'\nmachine = 'tiny/umh-1gpu'\n[[do]]\nby = 'gpu0.cu0'\nload = {{ address = 0, len = 4 }}\n"
            );
            Origin::of_text("mine", &text)
        };
        let session = Session::open(origin("before").unwrap(), Some(Box::new(move || origin("after"))));
        let (client, server) = border(Arc::default());
        let engine = spawn(session, server).unwrap();
        client.send(Request::Command("step".into()));
        settled(&client);
        assert_eq!(client.frame().info.title, "before");
        client.send(Request::Command("reload".into()));
        settled(&client);
        assert_eq!(client.frame().info.title, "after");
        client.send(Request::Quit);
        engine.join().unwrap();
    }

    #[test]
    fn a_run_is_shown_while_it_runs_and_can_be_interrupted() {
        let (client, server) = border(Arc::default());
        let engine = spawn(session(u64::MAX), server).unwrap();
        client.send(Request::Command("continue".into()));
        let (mut seen, start) = (Vec::new(), Instant::now());
        while seen.len() < 5 {
            assert!(start.elapsed() < Duration::from_secs(20), "no frames: {seen:?}");
            let event = client.frame().position.event;
            if seen.last() != Some(&event) {
                seen.push(event);
            }
        }
        assert!(seen.is_sorted(), "{seen:?}");
        client.send(Request::Interrupt);
        settled(&client);
        assert_eq!(client.frame().stop.as_ref().unwrap().text, "paused");
        client.send(Request::Quit);
        engine.join().unwrap();
    }

    #[test]
    fn a_command_ends_what_is_played_and_does_not_wait_for_its_end() {
        let (client, server) = border(Arc::default());
        let engine = spawn(session(u64::MAX), server).unwrap();
        client.send(Request::Speed(Some(100.0)));
        client.send(Request::Command("continue".into()));
        let start = Instant::now();
        while client.frame().position.event < 3 {
            assert!(start.elapsed() < Duration::from_secs(20), "nothing is played");
        }
        client.send(Request::Speed(None));
        client.send(Request::Command("goto event 2".into()));
        settled(&client);
        assert_eq!(client.frame().position.event, 2);
        client.send(Request::Quit);
        engine.join().unwrap();
    }

    #[test]
    fn what_is_asked_for_after_an_interrupt_is_done() {
        let (client, server) = border(Arc::default());
        client.send(Request::Command("continue".into()));
        client.send(Request::Command("goto event 7".into()));
        client.send(Request::Interrupt);
        client.send(Request::Command("goto event 3".into()));
        let engine = spawn(session(u64::MAX), server).unwrap();
        settled(&client);
        assert_eq!(client.frame().position.event, 3);
        client.send(Request::Quit);
        engine.join().unwrap();
    }

    #[test]
    fn the_engine_ends_when_the_screen_is_gone() {
        let (client, server) = border(Arc::default());
        let engine = spawn(session(10), server).unwrap();
        drop(client);
        engine.join().unwrap();
    }
}
