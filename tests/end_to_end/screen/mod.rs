//! The screen as a person meets it: the real program in a real terminal. What the panes say is tested beside them; here
//! stands what only the whole program shows.

mod console;
mod ending;
mod lesson;
mod look;
mod mouse;
mod moving;
mod picker;
mod prompt;
mod size;
mod suspend;

use std::path::Path;

use crate::common::terminal::{Size, Terminal};
use crate::common::umscope;

/// The lesson that is opened: 28 events, two transactions, one question with its answer in the file.
const LESSON: &str = "umh/fig5-b1";

/// The words of the bottom line that are there whatever has the focus.
const HINTS: &str = "? keys  q quit";

/// The program in a terminal of this size, with these variables (`NAME=VALUE`) and arguments.
fn start(size: Size, variables: &[&str], arguments: &[&str]) -> Terminal {
    let program = umscope().to_str().unwrap();
    // `env` becomes the program, so signals reach it.
    Terminal::open(size, Path::new("env"), &[variables, &[program], arguments].concat())
}

/// The debugger with its first screen drawn.
fn open(size: Size) -> Terminal {
    let mut terminal = start(size, &[], &["debug", LESSON]);
    complete(&mut terminal, size);
    terminal
}

/// Waits until the whole screen is there: header, map, timeline, bottom line.
#[track_caller]
fn complete(terminal: &mut Terminal, size: Size) {
    terminal.wait_until("complete screen", |screen| {
        let text = screen.contents();
        let rows: Vec<&str> = text.lines().collect();
        position(screen).is_some()
            && text.contains("map")
            && text.contains("timeline")
            && rows.len() == usize::from(size.1)
            && rows.last().is_some_and(|row| row.contains(HINTS))
    });
}

/// Event and cycle in the header.
fn position(screen: &vt100::Screen) -> Option<(u64, u64)> {
    let text = screen.contents();
    let header = text.lines().next()?;
    let number = |after: &str| {
        let rest = header.split_once(after)?.1;
        let digits: String =
            rest.chars().take_while(|one| *one != ' ').filter(char::is_ascii_digit).collect();
        digits.parse().ok()
    };
    Some((number(" event ")?, number(" cycle ")?))
}

/// Where the terminal's screen is now.
#[track_caller]
fn now(terminal: &Terminal) -> (u64, u64) {
    position(terminal.screen()).unwrap_or_else(|| panic!("no position:\n{}", terminal.text()))
}

/// Presses keys that move, and returns where they led.
#[track_caller]
fn go(terminal: &mut Terminal, keys: &str) -> (u64, u64) {
    let before = now(terminal);
    terminal.send(keys);
    terminal.wait_until(&format!("move by {keys:?} from {before:?}"), |screen| {
        position(screen).is_some_and(|at| at != before)
    });
    now(terminal)
}

/// Waits until the header tells this event.
#[track_caller]
fn wait_at(terminal: &mut Terminal, event: u64) {
    terminal.wait_until(&format!("event {event}"), |screen| position(screen).is_some_and(|at| at.0 == event));
}

/// Types a command at the prompt.
fn command(terminal: &mut Terminal, text: &str) {
    terminal.send(":");
    terminal.wait_for("enter do it");
    terminal.send(&format!("{text}\r"));
}

/// The place of a text on the screen: column and row from 0.
#[track_caller]
fn find(terminal: &Terminal, text: &str) -> (u16, u16) {
    let all = terminal.text();
    let found = all.lines().enumerate().find_map(|(row, line)| {
        let before = line.split_once(text)?.0;
        Some((before.chars().count() as u16, row as u16))
    });
    found.unwrap_or_else(|| panic!("no {text:?} on the screen:\n{all}"))
}
