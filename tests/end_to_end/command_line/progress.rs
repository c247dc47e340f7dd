//! What long work shows on a terminal.

use crate::common::terminal::Terminal;
use crate::common::umscope;

/// A run of minutes.
const LONG: &str = "tests/data/long.toml";

fn start(arguments: &[&str]) -> Terminal {
    Terminal::open((200, 24), umscope(), arguments)
}

/// Waits until this text is shown, and for how long work has gone on.
#[track_caller]
fn wait_for_progress(terminal: &mut Terminal, text: &str) {
    terminal.wait_until(text, |screen| {
        screen.contents().lines().any(|line| line.contains(text) && line.contains(" s so far"))
    });
}

#[test]
fn work_longer_than_a_second_shows_how_long_it_has_gone_on() {
    for (arguments, text) in [
        (&["frame", LONG, "--at", "100000000"][..], "long.toml: cycle "),
        (&["debug", LONG, "--no-tui", "--at", "100000000", "-x", "end"], "long.toml: cycle "),
        (&["debug", LONG, "--no-tui", "-x", "step", "-x", "end"], "long.toml: at work, "),
        (&["shrink", LONG], "long.toml: first run, "),
        (&["test", LONG], "0 of 1 scenarios, "),
    ] {
        let mut terminal = start(arguments);
        wait_for_progress(&mut terminal, text);
        terminal.send("\x03");
        let status = terminal.wait_for_end();
        assert_eq!((status.exit_code(), status.signal()), (130, None), "{arguments:?}: {}", terminal.text());
    }
}

#[test]
fn what_is_shown_of_a_command_is_gone_when_it_answers() {
    let mut terminal = start(&["debug", LONG, "--no-tui"]);
    terminal.wait_for("(umscope)");
    terminal.send("end\r");
    wait_for_progress(&mut terminal, "at work, ");
    terminal.send("\x03");
    terminal.wait_until("an answer", |screen| {
        let text = screen.contents();
        text.contains("interrupted") && text.matches("(umscope)").count() == 2
    });
    assert!(!terminal.text().contains("so far"), "{}", terminal.text());
    terminal.send("quit\r");
    assert!(terminal.wait_for_end().success(), "{}", terminal.text());
}
