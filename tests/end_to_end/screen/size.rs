//! Any size, and back.

use super::{complete, go, open};

#[test]
fn too_small_a_terminal_says_so_and_a_larger_one_is_complete_again() {
    let size = (120, 40);
    let mut terminal = open(size);
    go(&mut terminal, "6s");
    terminal.resize((40, 10));
    terminal.wait_for("umscope needs a terminal of");
    terminal.wait_for("40x10");
    terminal.resize((1, 1));
    terminal.wait_until("a letter", |screen| screen.contents().trim() == "u");
    // Nobody steps unseen. A new size may be seen before a key that was sent before it, so two small ones come in between.
    terminal.send("s");
    for (size, told) in [((40, 10), "40x10"), ((41, 10), "41x10")] {
        terminal.resize(size);
        terminal.wait_for(told);
    }
    terminal.resize((200, 60));
    complete(&mut terminal, (200, 60));
    terminal.resize(size);
    complete(&mut terminal, size);
    super::wait_at(&mut terminal, 6);
    assert_eq!(go(&mut terminal, "s").0, 7);
}

#[test]
fn a_storm_of_sizes_ends_in_a_complete_screen() {
    let mut terminal = open((80, 24));
    for step in 1..60_u16 {
        terminal.resize((step * 3, step));
    }
    terminal.resize((100, 30));
    complete(&mut terminal, (100, 30));
    terminal.send("q");
    assert!(terminal.wait_for_end().success());
}

#[test]
fn a_size_that_no_terminal_has_is_drawn_nothing_for() {
    let mut terminal = open((80, 24));
    terminal.claim((65_535, 65_535));
    terminal.send("q");
    assert!(terminal.wait_for_end().success());
}
