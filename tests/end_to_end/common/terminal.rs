//! Runs a program in a terminal of its own and looks at its screen. Nothing here sleeps blindly: every wait is for a
//! condition, and fails with the screen's text when its deadline passes.

use std::io::{Read, Write};
use std::num::NonZeroU16;
use std::path::Path;
use std::process::Command;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use portable_pty::{Child, CommandBuilder, ExitStatus, MasterPty, PtySize, native_pty_system};

use super::ENVIRONMENT;

/// Longest pause between two looks at a condition.
const LOOK: Duration = Duration::from_millis(20);

/// Begin and end of a synchronised update.
const BEGIN: &[u8] = b"\x1b[?2026h";
const END: &[u8] = b"\x1b[?2026l";

/// A program in a terminal.
pub struct Terminal {
    master: Box<dyn MasterPty + Send>,
    writer: Box<dyn Write + Send>,
    child: Running,
    /// What the program writes, from a thread that ends with the program.
    output: Receiver<Vec<u8>>,
    /// What the program wrote of a screen that is not complete yet.
    partial: Vec<u8>,
    parser: vt100::Parser,
    /// How long a condition may take to hold.
    pub deadline: Duration,
}

/// Columns and rows.
pub type Size = (u16, u16);

fn pty_size((cols, rows): Size) -> PtySize {
    PtySize { rows, cols, pixel_width: 0, pixel_height: 0 }
}

fn nonzero(number: u16) -> NonZeroU16 {
    NonZeroU16::new(number).expect("a size above zero")
}

/// Starts `program` in a terminal of this size.
fn spawn(size: Size, program: &Path, arguments: &[&str]) -> (Box<dyn MasterPty + Send>, Running) {
    let pair = native_pty_system().openpty(pty_size(size)).expect("a pseudo terminal");
    let mut command = CommandBuilder::new(program);
    command.args(arguments);
    command.cwd(env!("CARGO_MANIFEST_DIR"));
    for (name, value) in ENVIRONMENT {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        }
    }
    let child = pair.slave.spawn_command(command).expect("the program starts");
    (pair.master, Running(child))
}

/// A program, killed when this is dropped.
struct Running(Box<dyn Child + Send + Sync>);

impl Drop for Running {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Starts a program, waits until it has drawn a screen with this text, and takes its terminal away, as when its window is closed.
/// Returns how it ended, if it did within the limit.
pub fn taken_away(program: &Path, arguments: &[&str], text: &str, limit: Duration) -> Option<ExitStatus> {
    let (master, mut child) = spawn((80, 24), program, arguments);
    let mut reader = master.try_clone_reader().expect("the terminal's output");
    let (sender, receiver) = channel();
    let wanted = text.as_bytes().to_vec();
    thread::spawn(move || {
        let (mut written, mut buffer) = (Vec::new(), [0; 4096]);
        while position(&written, &wanted).is_none_or(|at| position(&written[at..], END).is_none()) {
            match reader.read(&mut buffer) {
                Ok(read @ 1..) => written.extend_from_slice(&buffer[..read]),
                _ => return,
            }
        }
        // Nobody else may hold the terminal when it is taken away.
        drop(reader);
        let _ = sender.send(());
    });
    receiver.recv_timeout(Duration::from_secs(30)).expect("the program writes the text");
    drop(master);
    let end = Instant::now() + limit;
    while Instant::now() < end {
        if let Some(status) = child.0.try_wait().expect("a child of this process") {
            return Some(status);
        }
        thread::sleep(LOOK);
    }
    None
}

impl Terminal {
    /// Starts `program` in a terminal of this size.
    pub fn open(size: Size, program: &Path, arguments: &[&str]) -> Self {
        let (master, child) = spawn(size, program, arguments);
        let reader = master.try_clone_reader().expect("the terminal's output");
        Self {
            writer: master.take_writer().expect("the terminal's input"),
            master,
            child,
            output: collect(reader),
            partial: Vec::new(),
            parser: vt100::Parser::new(nonzero(size.1), nonzero(size.0), 0),
            deadline: Duration::from_secs(30),
        }
    }

    /// Types these bytes (`\r` for enter, `\x1b[A` for the up arrow, `\x03` for ctrl-c).
    pub fn send(&mut self, keys: &str) {
        self.writer.write_all(keys.as_bytes()).expect("the program reads");
        self.writer.flush().expect("the program reads");
    }

    /// Says that it has another size, which nothing that is shown here has.
    pub fn claim(&self, size: Size) {
        self.master.resize(pty_size(size)).expect("another size");
    }

    /// Gives the terminal another size and tells the program.
    pub fn resize(&mut self, size: Size) {
        self.parser.screen_mut().set_size(nonzero(size.1), nonzero(size.0));
        self.master.resize(pty_size(size)).expect("another size");
    }

    /// Takes what the program wrote; what belongs to a screen that it has begun and not ended waits for the end, as in
    /// a terminal that knows synchronised updates. So no condition and no assertion ever sees half a screen.
    fn receive(&mut self, bytes: &[u8]) {
        self.partial.extend_from_slice(bytes);
        loop {
            let begin = position(&self.partial, BEGIN).unwrap_or(self.partial.len());
            let complete = match position(&self.partial[begin..], END) {
                Some(end) => begin + end + END.len(),
                None => begin.min(self.partial.len() - begun(&self.partial)),
            };
            if complete == 0 {
                break;
            }
            self.parser.process(&self.partial.drain(..complete).collect::<Vec<_>>());
        }
    }

    /// Waits until the condition holds for the screen.
    #[track_caller]
    pub fn wait_until(&mut self, what: &str, condition: impl Fn(&vt100::Screen) -> bool) {
        let end = Instant::now() + self.deadline;
        let mut ended = false;
        while !condition(self.parser.screen()) {
            let text = self.parser.screen().contents();
            assert!(!ended, "the program ended before {what}; the screen:\n{text}");
            assert!(Instant::now() < end, "no {what} within {:?}; the screen:\n{text}", self.deadline);
            match self.output.recv_timeout(LOOK) {
                Ok(bytes) => self.receive(&bytes),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => ended = true,
            }
        }
    }

    /// Waits until this text is on the screen.
    #[track_caller]
    pub fn wait_for(&mut self, text: &str) {
        self.wait_until(&format!("`{text}`"), |screen| screen.contents().contains(text));
    }

    /// Waits until the program has ended; its last screen is then complete.
    #[track_caller]
    pub fn wait_for_end(&mut self) -> ExitStatus {
        let end = Instant::now() + self.deadline;
        loop {
            match self.output.recv_timeout(LOOK) {
                Ok(bytes) => self.receive(&bytes),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => thread::sleep(Duration::from_millis(1)),
            }
            if let Some(status) = self.child.0.try_wait().expect("a child of this process") {
                // The reader ends when nobody holds the terminal any more; what was written before is then all here.
                while let Ok(bytes) = self.output.recv_timeout(end.saturating_duration_since(Instant::now()))
                {
                    self.receive(&bytes);
                }
                self.parser.process(&std::mem::take(&mut self.partial));
                return status;
            }
            let text = self.text();
            assert!(Instant::now() < end, "the program did not end within {:?}:\n{text}", self.deadline);
        }
    }

    /// Sends a signal by name, such as `TERM`.
    pub fn signal(&self, name: &str) {
        let process = self.child.0.process_id().expect("a running program");
        let sent = Command::new("sh").args(["-c", &format!("kill -{name} {process}")]).status();
        assert!(sent.expect("a shell").success(), "the program takes signals");
    }

    /// Forgets what the screen shows, as when another program has written over it.
    pub fn forget(&mut self) {
        let (rows, columns) = self.parser.screen().size();
        self.partial.clear();
        self.parser = vt100::Parser::new(rows, columns, 0);
    }

    /// The screen with its colours and modes.
    pub fn screen(&self) -> &vt100::Screen {
        self.parser.screen()
    }

    /// What the screen shows.
    pub fn text(&self) -> String {
        self.parser.screen().contents()
    }
}

fn position(bytes: &[u8], of: &[u8]) -> Option<usize> {
    bytes.windows(of.len()).position(|window| window == of)
}

/// How many of the last bytes may be the first of a [`BEGIN`].
fn begun(bytes: &[u8]) -> usize {
    (0..BEGIN.len()).rev().find(|length| bytes.ends_with(&BEGIN[..*length])).unwrap_or(0)
}

/// Reads on a thread until the terminal closes.
fn collect(mut reader: Box<dyn Read + Send>) -> Receiver<Vec<u8>> {
    let (sender, receiver) = channel();
    thread::spawn(move || {
        let mut buffer = [0; 4096];
        while let Ok(read @ 1..) = reader.read(&mut buffer) {
            if sender.send(buffer[..read].to_vec()).is_err() {
                break;
            }
        }
    });
    receiver
}
