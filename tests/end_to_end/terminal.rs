//! The program in a terminal.

use std::path::Path;
use std::time::Duration;

use crate::common::terminal::Terminal;
use crate::common::umscope;

fn shell(script: &str) -> Terminal {
    Terminal::open((80, 24), Path::new("sh"), &["-c", script])
}

#[test]
fn the_program_starts_and_ends() {
    let mut terminal = Terminal::open((80, 24), umscope(), &["--version"]);
    assert!(terminal.wait_for_end().success(), "{}", terminal.text());
}

#[test]
fn keys_reach_the_program_and_its_answer_the_screen() {
    let mut terminal = Terminal::open((80, 24), Path::new("cat"), &[]);
    terminal.send("hello\r");
    // Once from the terminal's echo, once from cat.
    terminal.wait_until("an echo", |screen| screen.contents().matches("hello").count() == 2);
    terminal.send("\x04");
    assert!(terminal.wait_for_end().success());
}

#[test]
fn a_resize_reaches_the_program() {
    let mut terminal = shell("stty size; read x; stty size");
    terminal.wait_for("24 80");
    terminal.resize((100, 30));
    terminal.send("\r");
    terminal.wait_for("30 100");
}

#[test]
fn a_signal_reaches_the_program() {
    let mut terminal = shell("trap 'echo caught; exit 3' TERM; echo ready; while :; do sleep 0.02; done");
    terminal.wait_for("ready");
    terminal.signal("TERM");
    assert_eq!(terminal.wait_for_end().exit_code(), 3);
    assert!(terminal.text().contains("caught"));
}

#[test]
#[should_panic(expected = "something else")]
fn a_condition_that_never_holds_fails_with_the_screen() {
    let mut terminal = shell("echo something else; cat");
    terminal.wait_for("something");
    terminal.deadline = Duration::from_millis(100);
    terminal.wait_for("never");
}

#[test]
#[should_panic(expected = "ended before")]
fn an_end_is_not_waited_through() {
    shell("true").wait_for("never");
}

#[test]
fn half_a_screen_is_never_seen() {
    let mut terminal = shell(r"printf 'one \033[?2026htwo '; read x; printf 'three\033[?2026l'; cat");
    terminal.wait_for("one");
    assert!(!terminal.text().contains("two"));
    terminal.send("\r");
    terminal.wait_for("three");
    assert!(terminal.text().contains("two"));
}
