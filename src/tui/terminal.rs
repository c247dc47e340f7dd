//! The terminal: taken over, and given back after quit, error, panic, signal and suspension.

use std::io::{self, BufWriter, IsTerminal, Stdout, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Once, OnceLock};
use std::thread::Builder;
use std::time::Duration;

use crossterm::event::{
    DisableBracketedPaste, DisableMouseCapture, EnableBracketedPaste, EnableMouseCapture,
};
use crossterm::terminal::{
    BeginSynchronizedUpdate, EndSynchronizedUpdate, EnterAlternateScreen, LeaveAlternateScreen,
    disable_raw_mode, enable_raw_mode, is_raw_mode_enabled,
};
use crossterm::{cursor, execute, queue};
use ratatui::backend::CrosstermBackend;
use ratatui::layout::{Rect, Size};
use ratatui::{Frame, Terminal};
use signal_hook::consts::{SIGCONT, SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGTSTP};
use signal_hook::{flag, low_level};

/// Whether the terminal is ours: what must be undone.
static TAKEN: AtomicBool = AtomicBool::new(false);
static HOOK: Once = Once::new();
static SIGNALS: OnceLock<Signals> = OnceLock::new();

/// The exit status of the command line where a signal ends the program.
const INTERRUPTED: i32 = 130;

type Out = CrosstermBackend<BufWriter<Stdout>>;

/// The terminal while it is ours; dropping it gives it back.
#[derive(Debug)]
pub struct Screen {
    terminal: Terminal<Out>,
}

/// Signals that arrived.
#[derive(Debug, Default)]
struct Signals {
    end: Arc<AtomicBool>,
    stop: Arc<AtomicBool>,
    resumed: Arc<AtomicBool>,
    /// Whether the terminal is not ours, so that the signals end or stop the program at once.
    free: Arc<AtomicBool>,
}

/// What a signal asks of the screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signal {
    /// To end.
    End,
    /// To stop until it is resumed.
    Stop,
    /// It was stopped and resumed: draw everything anew.
    Resumed,
}

impl Screen {
    /// Takes the terminal over.
    ///
    /// # Errors
    /// If there is no terminal, or it cannot be set up.
    pub fn take() -> io::Result<Self> {
        if !io::stdout().is_terminal() || !io::stdin().is_terminal() {
            return Err(io::Error::other("the screen needs a terminal; --no-tui debugs without one"));
        }
        let (width, height) = crossterm::terminal::size()?;
        if !fits(Size { width, height }) {
            return Err(io::Error::other(format!("this terminal says that it has {width}x{height} cells")));
        }
        // With NO_COLOR set, crossterm would write resets that also cancel bold and reverse; the theme has honoured it.
        crossterm::style::force_color_output(true);
        HOOK.call_once(|| {
            let before = std::panic::take_hook();
            std::panic::set_hook(Box::new(move |panic| {
                give_back();
                before(panic);
            }));
        });
        if SIGNALS.get().is_none() {
            // Of two threads that get here, one set of handlers stays unused; nothing depends on which.
            let _ = SIGNALS.set(Signals::listen()?);
        }
        enter()?;
        let terminal = Terminal::new(CrosstermBackend::new(BufWriter::with_capacity(1 << 16, io::stdout())));
        match terminal {
            Ok(terminal) => Ok(Self { terminal }),
            Err(error) => {
                give_back();
                Err(error)
            }
        }
    }

    /// The signal that arrived, if any.
    #[must_use]
    pub fn signal(&self) -> Option<Signal> {
        let took = |flag: &AtomicBool| flag.swap(false, Ordering::SeqCst);
        let signals = SIGNALS.get()?;
        if took(&signals.end) {
            return Some(Signal::End);
        }
        if took(&signals.stop) {
            return Some(Signal::Stop);
        }
        took(&signals.resumed).then_some(Signal::Resumed)
    }

    /// Gives the terminal back, stops the process as ctrl-z does, and takes the terminal over when it is resumed.
    ///
    /// # Errors
    /// If the terminal cannot be set up again.
    pub fn suspend(&mut self) -> io::Result<()> {
        give_back();
        low_level::emulate_default_handler(SIGTSTP)?;
        if let Some(signals) = SIGNALS.get() {
            signals.resumed.store(false, Ordering::SeqCst);
        }
        self.resume()
    }

    /// Sets the terminal up again after the process was stopped, and draws everything anew.
    ///
    /// # Errors
    /// If the terminal cannot be set up.
    pub fn resume(&mut self) -> io::Result<()> {
        enter()?;
        self.redraw()
    }

    /// Draws one screen. The terminal is told where it begins and ends, so that one which knows how to (DEC private
    /// mode 2026) never shows a part of it.
    ///
    /// # Errors
    /// If the terminal fails.
    pub fn draw(&mut self, with: impl FnOnce(&mut Frame<'_>)) -> io::Result<()> {
        if !fits(self.terminal.size()?) {
            return Ok(());
        }
        queue!(self.terminal.backend_mut(), BeginSynchronizedUpdate)?;
        let drawn = self.terminal.draw(with).map(drop);
        execute!(self.terminal.backend_mut(), EndSynchronizedUpdate)?;
        drawn
    }

    /// How large the terminal is; nothing of one that is too large to be drawn on.
    ///
    /// # Errors
    /// If the terminal fails.
    pub fn size(&self) -> io::Result<Size> {
        self.terminal.size().map(|size| if fits(size) { size } else { Size::default() })
    }

    /// Has the next drawing draw every cell.
    ///
    /// # Errors
    /// If the terminal fails.
    pub fn redraw(&mut self) -> io::Result<()> {
        // The end comes with that drawing.
        queue!(self.terminal.backend_mut(), BeginSynchronizedUpdate)?;
        // `Terminal::clear` would ask the terminal for its cursor and fail where nobody answers.
        let size = self.size()?;
        self.terminal.resize(Rect::new(0, 0, size.width, size.height))
    }
}

/// Cells that are drawn at most: no screen has more, though a terminal may say so while it is set up.
const MOST_CELLS: u32 = 1 << 20;

fn fits(size: Size) -> bool {
    u32::from(size.width) * u32::from(size.height) <= MOST_CELLS
}

impl Drop for Screen {
    fn drop(&mut self) {
        give_back();
    }
}

impl Signals {
    fn listen() -> io::Result<Self> {
        let signals = Self { free: Arc::new(AtomicBool::new(true)), ..Self::default() };
        for number in [SIGTERM, SIGHUP, SIGINT, SIGQUIT] {
            flag::register_conditional_shutdown(number, INTERRUPTED, signals.free.clone())?;
            flag::register(number, signals.end.clone())?;
        }
        flag::register_conditional_default(SIGTSTP, signals.free.clone())?;
        flag::register(SIGTSTP, signals.stop.clone())?;
        flag::register(SIGCONT, signals.resumed.clone())?;
        watch_for_the_end()?;
        Ok(signals)
    }
}

/// How long the loop has to obey a signal that ends the program.
const GRACE: Duration = Duration::from_secs(2);

/// Ends the program if the loop does not. Reading from a terminal that is gone never returns (crossterm takes the
/// end of its input for "nothing yet"), so that the loop cannot see the hang-up that came with it.
fn watch_for_the_end() -> io::Result<()> {
    let mut signals = signal_hook::iterator::Signals::new([SIGHUP, SIGTERM, SIGQUIT])?;
    let watch = move || {
        for _ in signals.forever() {
            std::thread::sleep(GRACE);
            if TAKEN.load(Ordering::SeqCst) {
                give_back();
                std::process::exit(INTERRUPTED);
            }
        }
    };
    Builder::new().name("watch".to_owned()).spawn(watch).map(drop)
}

/// Notes whether the terminal is ours; returns whether it was.
fn own(taken: bool) -> bool {
    if let Some(signals) = SIGNALS.get() {
        signals.free.store(!taken, Ordering::SeqCst);
    }
    TAKEN.swap(taken, Ordering::SeqCst)
}

fn enter() -> io::Result<()> {
    own(true);
    let set_up = enable_raw_mode().and_then(|()| {
        execute!(io::stdout(), EnterAlternateScreen, EnableMouseCapture, EnableBracketedPaste, cursor::Hide)
    });
    set_up.inspect_err(|_| give_back())
}

/// Gives the terminal back, once. Errors are of no use here: the terminal may be gone.
pub fn give_back() {
    if !own(false) {
        return;
    }
    let mut out = io::stdout();
    let _ = execute!(
        out,
        EndSynchronizedUpdate,
        DisableBracketedPaste,
        DisableMouseCapture,
        LeaveAlternateScreen,
        cursor::Show
    );
    if is_raw_mode_enabled().unwrap_or(true) {
        let _ = disable_raw_mode();
    }
    let _ = out.flush();
}
