//! Leaving: by a key, by a signal, without a terminal; and the terminal is given back.

use vt100::MouseProtocolMode;

use super::{LESSON, command, open, start, wait_at};
use crate::common::binary::run;
use crate::common::terminal::{Terminal, taken_away};
use crate::common::umscope;

/// The terminal is as it was found.
#[track_caller]
fn given_back(terminal: &Terminal) {
    let screen = terminal.screen();
    assert!(!screen.alternate_screen(), "the alternate screen is left:\n{}", terminal.text());
    assert!(!screen.hide_cursor(), "the cursor is shown");
    assert!(!screen.bracketed_paste(), "bracketed paste is off");
    assert_eq!(screen.mouse_protocol_mode(), MouseProtocolMode::None, "the mouse is free");
}

/// A kernel that runs for minutes, running.
fn long_run() -> Terminal {
    let mut terminal = start((80, 24), &[], &["debug", "tests/data/long.toml"]);
    terminal.wait_for("event 0");
    terminal.send("c");
    terminal.wait_until("a run", |screen| {
        super::position(screen).is_some_and(|at| at.0 > 1000) || screen.contents().contains("running")
    });
    terminal
}

#[test]
fn q_leaves_with_success() {
    let mut terminal = open((80, 24));
    assert_ne!(terminal.screen().mouse_protocol_mode(), MouseProtocolMode::None);
    terminal.send("q");
    assert!(terminal.wait_for_end().success());
    given_back(&terminal);
}

#[test]
fn the_modes_of_the_terminal_are_as_before() {
    let program = umscope().display();
    let script = format!("stty -g; {program} debug {LESSON}; echo status $?; stty -g");
    let mut terminal = Terminal::open((120, 24), std::path::Path::new("sh"), &["-c", &script]);
    terminal.wait_for("event 0");
    command(&mut terminal, "quit");
    assert!(terminal.wait_for_end().success());
    let text = terminal.text();
    let lines: Vec<&str> = text.lines().filter(|line| !line.is_empty()).collect();
    assert_eq!(lines.len(), 3, "nothing is left on the screen:\n{text}");
    assert_eq!((lines[0], lines[1]), (lines[2], "status 0"));
}

#[test]
fn ctrl_c_stops_a_long_run_and_twice_at_rest_leaves() {
    let mut terminal = long_run();
    terminal.send("\x03");
    terminal.wait_for("paused");
    terminal.send("\x03");
    terminal.wait_for("ctrl-c again leaves");
    // Until the step is done, ctrl-c would be for it.
    super::go(&mut terminal, "s");
    assert!(!terminal.text().contains("again leaves"), "{}", terminal.text());
    terminal.send("\x03");
    terminal.wait_for("ctrl-c again leaves");
    terminal.send("\x03");
    assert!(terminal.wait_for_end().success());
    given_back(&terminal);
}

#[test]
fn q_leaves_a_long_run_at_once() {
    let mut terminal = long_run();
    terminal.send("q");
    assert!(terminal.wait_for_end().success());
    given_back(&terminal);
}

#[test]
fn signals_end_it_at_rest_and_while_it_runs() {
    for signal in ["TERM", "HUP", "INT"] {
        let mut terminal = open((80, 24));
        terminal.signal(signal);
        assert_eq!(terminal.wait_for_end().exit_code(), 130, "{signal}");
        given_back(&terminal);
    }
    let mut terminal = long_run();
    terminal.signal("TERM");
    assert_eq!(terminal.wait_for_end().exit_code(), 130);
    given_back(&terminal);
}

#[test]
fn a_file_that_may_not_grow_is_told_and_ends_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("moment.rec");
    let script = format!("ulimit -f 0; exec {} debug {LESSON}", umscope().display());
    let mut terminal = Terminal::open((200, 24), std::path::Path::new("sh"), &["-c", &script]);
    terminal.wait_for("event 0");
    command(&mut terminal, &format!("save moment {}", path.display()));
    terminal.wait_for("cannot write this file: File too large");
    super::go(&mut terminal, "s");
    terminal.send("q");
    assert!(terminal.wait_for_end().success());
    given_back(&terminal);
    assert!(!path.exists());
}

#[test]
fn it_ends_when_its_terminal_is_taken_away() {
    // At rest it sits in a read that never returns.
    let limit = std::time::Duration::from_secs(10);
    let ended = taken_away(umscope(), &["debug", LESSON], "event 0", limit);
    assert!(ended.is_some(), "it still runs after {limit:?}");
}

#[test]
fn a_terminal_that_cannot_show_a_screen_is_refused() {
    for arguments in [&[][..], &["debug", LESSON]] {
        let mut terminal = start((80, 24), &["TERM=dumb"], arguments);
        assert_eq!(terminal.wait_for_end().exit_code(), 2, "{arguments:?}");
        assert!(terminal.text().contains("TERM is dumb"), "{}", terminal.text());
        assert!(terminal.text().contains("--no-tui"), "{}", terminal.text());
        let outcome = run(umscope(), arguments, "q");
        assert_eq!(outcome.code, Some(2), "{outcome:?}");
        assert!(outcome.stderr.contains("there is no terminal"), "{outcome:?}");
        assert!(outcome.stdout.is_empty(), "{outcome:?}");
    }
}

#[test]
fn a_scenario_that_cannot_be_opened_leaves_the_terminal_alone() {
    let mut terminal = start((80, 24), &[], &["debug", "umh/fig5-b9"]);
    assert_eq!(terminal.wait_for_end().exit_code(), 2);
    assert!(terminal.text().contains("umh/fig5-b9"), "{}", terminal.text());
    given_back(&terminal);
}

#[test]
fn the_position_to_begin_with_can_be_told() {
    let mut terminal = start((80, 24), &[], &["debug", LESSON, "--at", "800", "--layout", "log"]);
    wait_at(&mut terminal, 7);
    terminal.wait_for("▸log");
}
