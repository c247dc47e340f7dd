//! The mouse: SGR reports as a terminal sends them.

use super::{command, find, now, open, position, wait_at};
use crate::common::terminal::Terminal;

/// Presses and releases the left button at a column and row from 0.
fn click(terminal: &mut Terminal, (column, row): (u16, u16)) {
    let (x, y) = (column + 1, row + 1);
    terminal.send(&format!("\x1b[<0;{x};{y}M\x1b[<0;{x};{y}m"));
}

#[test]
fn a_click_on_the_timeline_goes_there() {
    let mut terminal = open((120, 40));
    command(&mut terminal, "goto end");
    wait_at(&mut terminal, 28);
    let (_, title) = find(&terminal, "timeline");
    click(&mut terminal, (40, title + 1));
    terminal.wait_until("an earlier event", |screen| {
        position(screen).is_some_and(|(event, _)| event > 0 && event < 28)
    });
    let first = now(&terminal);
    click(&mut terminal, (90, title + 1));
    terminal.wait_until("a later event", |screen| position(screen).is_some_and(|at| at > first));
}

#[test]
fn a_click_on_a_pane_gives_it_the_focus() {
    let mut terminal = open((120, 40));
    let (column, row) = find(&terminal, " log");
    click(&mut terminal, (column + 2, row));
    terminal.wait_for("▸log");
    let (column, row) = find(&terminal, " map");
    click(&mut terminal, (column + 2, row));
    terminal.wait_for("▸map");
}

#[test]
fn a_click_closes_the_help_and_the_wheel_scrolls_it() {
    let mut terminal = open((80, 24));
    terminal.send("?");
    terminal.wait_for("keys and commands");
    let before = terminal.text();
    terminal.send("\x1b[<65;20;12M");
    terminal.wait_until("scrolled help", |screen| screen.contents() != before);
    click(&mut terminal, (20, 12));
    terminal.wait_until("no help", |screen| !screen.contents().contains("keys and commands"));
}

#[test]
fn clicks_outside_of_everything_do_no_harm() {
    let mut terminal = open((80, 24));
    for at in [(0, 0), (79, 23), (500, 500), (65_000, 65_000)] {
        click(&mut terminal, at);
    }
    terminal.send("s");
    wait_at(&mut terminal, 1);
}
