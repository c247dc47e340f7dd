//! A lesson from its first word to its last.

use super::{HINTS, complete, open, position, start, wait_at};

/// Where `c` stops, and words of what is told there.
const TOLD: [(u64, &str); 8] = [
    (10, "GPU 0 holds the line in N"),
    (15, "(1) to (3): the n-store of GPU 1 misses"),
    (17, "(4) The HMD knows that GPU 0 owns"),
    (18, "The SMD passes the probe on to the L2"),
    (19, "(5) The L2 becomes S."),
    (20, "The SMD becomes S as well"),
    (21, "(6) Nobody else is exclusive now"),
    (24, "Two L1s hold one line in N"),
];

#[test]
fn the_lesson_is_told_to_its_end_and_its_questions_answered() {
    let mut terminal = open((120, 40));
    terminal.send("\x1b[20~");
    terminal.wait_for("▸lesson · 1 of 9");
    terminal.wait_for("The first store is the one of lesson fig5-a");
    for (event, words) in TOLD {
        terminal.send("c");
        wait_at(&mut terminal, event);
        terminal.wait_for(words);
        if event == 15 {
            terminal.wait_for("? Byte 0 is 7 in GPU 0's L1.");
            terminal.send("p");
            terminal.wait_for("either one");
            terminal.wait_for("1-9 answer");
            terminal.send("1");
            terminal.wait_for("You said: 0");
        }
        if event == 17 {
            terminal.wait_for("✓ Right: 0");
        }
        if event == 18 {
            terminal.wait_for("? And if it were asked");
            terminal.send("p");
            terminal.wait_for("1-9 answer");
            terminal.send("3");
            terminal.wait_for("You said: gives its dirty bytes");
        }
        if event == 19 {
            terminal.wait_for("✗ No, it is: answers without data, stays N");
        }
    }
    terminal.send("c");
    wait_at(&mut terminal, 28);
    terminal.wait_for("9 of 9 · 1 of 2 right · the end");
    terminal.wait_for(" expectations hold.");
    terminal.wait_for(HINTS);
}

#[test]
fn what_is_left_out_of_a_lesson_is_said_on_the_screen_that_hides_the_shell() {
    let size = (80, 24);
    let mut terminal = start(size, &[], &["debug", "umh/neighbouring-bytes", "--protocol", "mesi"]);
    terminal.wait_until("what is left out", |screen| {
        let text = screen.contents();
        text.contains("the story, and what is expected") && text.contains("expected a state of mesi")
    });
    terminal.send("\x1b");
    complete(&mut terminal, size);
    let text = terminal.screen().contents();
    assert!(
        !text.contains("the story, and what is expected") && text.contains("Its story is left out"),
        "{text}"
    );
}

#[test]
fn what_is_told_is_in_sight_on_the_smallest_screen() {
    let mut terminal = open((80, 24));
    terminal.send("c");
    terminal.wait_until("the second telling", |screen| {
        position(screen).is_some_and(|at| at.0 == 10) && screen.contents().contains("0 to 3 written")
    });
}

#[test]
fn a_bug_is_hunted_on_the_screen_and_the_circle_stands_in_the_map() {
    let mut terminal = super::start((80, 24), &[], &["debug", "debugging/two-wait"]);
    super::complete(&mut terminal, (80, 24));
    terminal.send("\x1b[20~");
    terminal.wait_for("Find the bug: Two stores to one line hang");
    terminal.send(".");
    terminal.wait_for("hint 1 of 3");
    terminal.send(":end\r");
    // What it comes to is not told before it is asked for.
    terminal.wait_for("■ STUCK");
    terminal.send("D");
    terminal.wait_for("DEADLOCK at event ");
    terminal.wait_for("(1) again");
}
