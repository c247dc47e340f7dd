//! Keys that move through time: forwards, and exactly back.

use super::{command, go, now, open, wait_at};

/// Walks with `forth`, then back with `back`, and compares every stop on the way.
fn there_and_back(forth: &str, back: &str, steps: usize) {
    let mut terminal = open((80, 24));
    let mut passed = Vec::new();
    for _ in 0..=steps {
        let before = now(&terminal);
        let after = go(&mut terminal, forth);
        assert!(after > before, "{forth} went from {before:?} to {after:?}");
        passed.push(after);
    }
    passed.pop();
    while let Some(at) = passed.pop() {
        assert_eq!(go(&mut terminal, back), at, "{back} retraces {forth}");
    }
}

#[test]
fn an_event_forward_and_back() {
    there_and_back("s", "S", 6);
}

#[test]
fn a_cycle_forward_and_back() {
    there_and_back("n", "N", 4);
}

#[test]
fn a_transition_forward_and_back() {
    there_and_back("t", "T", 4);
}

#[test]
fn a_breakpoint_or_a_word_of_the_lesson_forward_and_back() {
    there_and_back("c", "C", 4);
}

#[test]
fn digits_before_a_verb_are_a_count() {
    let mut terminal = open((80, 24));
    assert_eq!(go(&mut terminal, "10s").0, 10);
    assert_eq!(go(&mut terminal, "7S").0, 3);
}

#[test]
fn in_the_timeline_the_ends_are_two_keys_away() {
    let mut terminal = open((120, 40));
    command(&mut terminal, "pane timeline");
    terminal.wait_for("▸timeline");
    assert_eq!(go(&mut terminal, "G").0, 28);
    terminal.wait_for("finished");
    assert_eq!(go(&mut terminal, "gg"), (0, 0));
}

#[test]
fn keys_typed_faster_than_the_screen_are_all_taken() {
    let mut terminal = open((80, 24));
    terminal.send("ssssssssssSSSS");
    wait_at(&mut terminal, 6);
    terminal.send("tTs");
    wait_at(&mut terminal, 7);
}
