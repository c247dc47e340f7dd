//! The loop: take the latest frame and answers, draw, wait for the terminal, send what was asked.

use std::io;
use std::time::{Duration, Instant};

use crossterm::event;

use crate::debug::frame::session::Tone;
use crate::debug::proto::{Client, Request};

use super::app::{App, Overlay};
use super::layout;
use super::settings::Settings;
use super::terminal::{Screen, Signal};

/// How a session ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The user left.
    Quit,
    /// A signal ended it.
    Signal,
    /// The engine ended by itself, which it never should.
    EngineGone,
}

/// Shortest time between two drawings while the engine runs.
const FRAME: Duration = Duration::from_millis(16);
/// How often a screen that waits for the engine looks for its answer.
const SOON: Duration = Duration::from_millis(2);
/// After so long it is told that a command is being carried out.
const LONG: Duration = Duration::from_millis(250);
/// How often an idle screen looks for signals.
const IDLE: Duration = Duration::from_millis(50);

/// Shows the session behind `client` until the user leaves; first `notes`, what is to be known of it, if there is something.
///
/// # Errors
/// If there is no terminal, or it fails.
pub fn run(client: &Client, settings: Settings, notes: &[String]) -> io::Result<End> {
    let mut screen = Screen::take()?;
    let mut app = App::new(client.frame(), settings.theme, settings.keymap, settings.ascii);
    app.show_layout(settings.layout.unwrap_or_else(|| layout::first(&app.frame)));
    if !notes.is_empty() {
        let lines = notes.iter().flat_map(|note| note.lines()).map(ToOwned::to_owned).collect();
        app.overlay = Some(Overlay::Output(lines));
    }
    let mut session = Session { client, app, version: None, drawn: None, busy_since: None, dirty: true };
    loop {
        if let Some(end) = session.turn(&mut screen)? {
            return Ok(end);
        }
    }
}

struct Session<'a> {
    client: &'a Client,
    app: App,
    version: Option<u64>,
    drawn: Option<Instant>,
    /// Since when the engine has been carrying out what was asked of it.
    busy_since: Option<Instant>,
    dirty: bool,
}

impl Session<'_> {
    fn turn(&mut self, screen: &mut Screen) -> io::Result<Option<End>> {
        self.signals(screen)?.map_or_else(
            || {
                self.receive();
                self.draw(screen)?;
                self.listen(screen)?;
                self.send();
                Ok(self.end())
            },
            |end| Ok(Some(end)),
        )
    }

    fn signals(&mut self, screen: &mut Screen) -> io::Result<Option<End>> {
        match screen.signal() {
            Some(Signal::End) => {
                self.client.send(Request::Interrupt);
                self.client.send(Request::Quit);
                return Ok(Some(End::Signal));
            }
            Some(Signal::Stop) => self.app.suspend = true,
            Some(Signal::Resumed) => {
                screen.resume()?;
                self.dirty = true;
            }
            None => {}
        }
        if std::mem::take(&mut self.app.suspend) {
            screen.suspend()?;
            self.dirty = true;
        }
        if std::mem::take(&mut self.app.redraw) {
            screen.redraw()?;
            self.dirty = true;
        }
        Ok(None)
    }

    /// Takes what the engine has published since the last turn.
    fn receive(&mut self) {
        let (frame, version, busy) = self.client.shown();
        let works = self.is_long_at_work(busy);
        self.dirty |= busy != self.app.busy || works != self.app.works;
        (self.app.busy, self.app.works) = (busy, works);
        let answers = self.client.answers();
        self.dirty |= !answers.is_empty();
        self.app.answered(answers);
        if self.version != Some(version) {
            self.version = Some(version);
            self.app.show(frame);
            self.dirty = true;
        }
    }

    /// Whether the engine has been at one command for so long that somebody will ask why nothing happens.
    fn is_long_at_work(&mut self, busy: bool) -> bool {
        self.busy_since = busy.then(|| self.busy_since.unwrap_or_else(Instant::now));
        self.busy_since.is_some_and(|since| since.elapsed() >= LONG)
    }

    fn draw(&mut self, screen: &mut Screen) -> io::Result<()> {
        let soon = self.drawn.is_some_and(|drawn| drawn.elapsed() < FRAME) && self.app.is_running();
        if !self.dirty || soon {
            return Ok(());
        }
        let app = &mut self.app;
        screen.draw(|target| {
            app.draw(target.buffer_mut());
            if let Some(at) = app.seen.cursor {
                target.set_cursor_position(at);
            }
        })?;
        self.dirty = false;
        self.drawn = Some(Instant::now());
        if let Some(wish) = self.app.new_wish() {
            self.client.send(Request::Wish(wish));
        }
        Ok(())
    }

    /// Waits for the terminal, and takes everything that it has.
    fn listen(&mut self, screen: &Screen) -> io::Result<()> {
        let wait = if self.app.is_running() || self.dirty { SOON } else { IDLE };
        let mut ready = event::poll(wait)?;
        if ready {
            // What a key does may depend on whether the engine is at rest by now.
            self.receive();
        }
        while ready {
            self.app.handle(&event::read()?);
            self.dirty = true;
            // Items have moved when a key changed what is drawn; the next keys must see them where they are.
            let size = screen.size()?;
            self.app.see(size.width, size.height);
            ready = event::poll(Duration::ZERO)?;
        }
        Ok(())
    }

    fn send(&mut self) {
        let requests = self.app.take_requests();
        if !requests.is_empty() {
            self.dirty = true;
        }
        for request in requests {
            self.client.send(request);
        }
        if self.client.is_gone() && !self.app.quit {
            self.app.say("The engine has ended", Tone::Bad);
        }
    }

    fn end(&self) -> Option<End> {
        if self.app.quit { Some(End::Quit) } else { self.client.is_gone().then_some(End::EngineGone) }
    }
}
