//! Ctrl-z and back, as a shell with job control does it; and a stop from outside.

use std::path::Path;

use super::{LESSON, complete, go, open};
use crate::common::terminal::Terminal;
use crate::common::umscope;

#[test]
fn ctrl_z_gives_the_terminal_to_the_shell_and_fg_comes_back() {
    let size = (80, 24);
    let program = umscope().display();
    let script = format!("set -m; {program} debug {LESSON}; echo stopped; read answer; fg; echo status $?");
    let mut terminal = Terminal::open(size, Path::new("sh"), &["-c", &script]);
    complete(&mut terminal, size);
    let at = go(&mut terminal, "6s");
    terminal.send("\x1a");
    terminal.wait_until("the shell", |screen| {
        !screen.alternate_screen() && !screen.hide_cursor() && screen.contents().contains("stopped")
    });
    terminal.send("\r");
    complete(&mut terminal, size);
    assert!(terminal.screen().alternate_screen());
    assert_eq!(super::now(&terminal), at);
    assert_eq!(go(&mut terminal, "s").0, 7);
    terminal.send("q");
    assert!(terminal.wait_for_end().success());
    assert!(terminal.text().contains("status 0"), "{}", terminal.text());
}

#[test]
fn a_stop_from_outside_is_followed_by_a_whole_screen() {
    let size = (80, 24);
    let mut terminal = open(size);
    terminal.signal("STOP");
    // Whoever had the terminal meanwhile has left nothing of the screen.
    terminal.forget();
    terminal.signal("CONT");
    complete(&mut terminal, size);
    assert!(terminal.screen().alternate_screen() && terminal.screen().hide_cursor());
    go(&mut terminal, "s");
}
