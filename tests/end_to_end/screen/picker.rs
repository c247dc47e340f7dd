//! The picker of lessons and scenarios.

use super::{complete, start};
use crate::common::terminal::Terminal;

fn picker() -> Terminal {
    let mut terminal = start((100, 30), &[], &[]);
    terminal.wait_for("type to filter");
    terminal
}

#[test]
fn typing_filters_enter_opens_and_q_leads_back() {
    let mut terminal = picker();
    assert!(terminal.text().contains("PAGING"), "{}", terminal.text());
    terminal.send("fig5-b1");
    terminal.wait_until("one entry", |screen| {
        let text = screen.contents();
        text.contains("fig5-b1") && !text.contains("fig5-c") && !text.contains("PAGING")
    });
    terminal.send("\r");
    complete(&mut terminal, (100, 30));
    assert!(terminal.text().starts_with(" umh/fig5-b1  ‖ paused  event 0"), "{}", terminal.text());
    terminal.send("q");
    terminal.wait_for("type to filter");
    terminal.send("\r");
    complete(&mut terminal, (100, 30));
    assert!(terminal.text().starts_with(" umh/fig5-b1 "), "another is chosen:\n{}", terminal.text());
    terminal.send("q");
    terminal.wait_for("type to filter");
    terminal.send("q");
    assert!(terminal.wait_for_end().success());
}

#[test]
fn a_filter_without_a_match_says_so_and_esc_takes_it_back() {
    let mut terminal = picker();
    terminal.send("no such lesson\r");
    terminal.wait_for("Nothing matches");
    terminal.send("\x1b");
    terminal.wait_for("PAGING");
}

#[test]
fn a_filter_may_begin_with_q() {
    let mut terminal = picker();
    terminal.send("/q");
    terminal.wait_for("esc show all");
    terminal.send("uestion");
    terminal.wait_for("/ question");
    terminal.send("\x1b");
    terminal.wait_for("type to filter");
}

#[test]
fn q_and_ctrl_c_leave() {
    for key in ["q", "\x03"] {
        let mut terminal = picker();
        terminal.send(key);
        assert!(terminal.wait_for_end().success(), "{key:?}");
        assert!(!terminal.screen().alternate_screen() && !terminal.screen().hide_cursor(), "{key:?}");
    }
}

#[test]
fn a_signal_ends_it() {
    let mut terminal = picker();
    terminal.signal("TERM");
    assert_eq!(terminal.wait_for_end().exit_code(), 130);
    assert!(!terminal.screen().alternate_screen());
}
