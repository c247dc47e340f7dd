//! What the screen looks like: layouts, focus, zoom, without colours, in ASCII.

use vt100::Color;

use super::{HINTS, LESSON, command, complete, go, open, start};

/// The escape sequences of F1 to F9 and a pane that each layout has.
const LAYOUTS: [(&str, &str); 9] = [
    ("\x1bOP", "▸map"),
    ("\x1bOQ", "▸directory"),
    ("\x1bOR", "▸links"),
    ("\x1bOS", "▸warps"),
    ("\x1b[15~", "▸transaction"),
    ("\x1b[17~", "▸caches"),
    ("\x1b[18~", "▸protocol"),
    ("\x1b[19~", "▸log"),
    ("\x1b[20~", "▸lesson"),
];

#[test]
fn the_first_screen_shows_map_position_and_hints_at_every_size() {
    for size in [(80, 24), (120, 40), (200, 60)] {
        let terminal = open(size);
        let text = terminal.text();
        for part in [LESSON, "paused", "event 0 · cycle 0", "▸map", "GPU 0", "s step", HINTS] {
            assert!(text.contains(part), "no {part:?} at {size:?}:\n{text}");
        }
        assert!(terminal.screen().alternate_screen(), "{size:?}");
        assert!(terminal.screen().hide_cursor(), "{size:?}");
    }
}

#[test]
fn each_function_key_is_a_layout() {
    let mut terminal = open((120, 40));
    go(&mut terminal, "6s");
    for (key, pane) in LAYOUTS.iter().skip(1).chain(LAYOUTS.first()) {
        terminal.send(key);
        terminal.wait_for(pane);
        terminal.wait_for(HINTS);
    }
}

/// The pane whose title is marked: a border, the mark, the name.
fn focus(screen: &vt100::Screen) -> Option<String> {
    let text = screen.contents();
    let marked = ["┌▸", "├▸", "┬▸", "┼▸", "┴▸", "┤▸"].iter().find_map(|mark| text.split_once(mark))?.1;
    Some(marked.chars().take_while(|one| one.is_alphabetic()).collect())
}

#[test]
fn tab_moves_the_focus_around_and_back() {
    let mut terminal = open((120, 40));
    let mut passed = vec![focus(terminal.screen())];
    while passed.len() < 3 || passed.first() != passed.last() {
        assert!(passed.len() < 15, "tab never came back: {passed:?}");
        let before = passed.last().cloned().flatten();
        terminal.send("\t");
        terminal.wait_until("another focus", |screen| focus(screen).is_some_and(|pane| Some(pane) != before));
        passed.push(focus(terminal.screen()));
    }
    assert!(passed.contains(&Some("timeline".to_owned())), "{passed:?}");
    terminal.send("\x1b[Z");
    terminal.wait_until("the pane before", |screen| focus(screen) == passed[passed.len() - 2]);
}

#[test]
fn a_pane_zooms_and_unzooms() {
    let mut terminal = open((120, 40));
    let before = terminal.text();
    terminal.send("z");
    terminal.wait_until("one pane", |screen| {
        let text = screen.contents();
        text.contains("▸map") && !text.contains("timeline")
    });
    terminal.send("z");
    terminal.wait_until("all panes", |screen| screen.contents() == before);
}

#[test]
fn without_colours_a_selection_is_still_seen() {
    let size = (80, 24);
    let mut terminal = start(size, &["NO_COLOR=1"], &["debug", LESSON]);
    complete(&mut terminal, size);
    go(&mut terminal, "8s");
    command(&mut terminal, "select gpu0.l2.0");
    terminal.wait_until("a selection", |screen| cells(screen).any(|cell| cell.inverse() || cell.bold()));
    terminal.send("j");
    terminal.wait_until("a cursor", |screen| cells(screen).any(vt100::Cell::inverse));
    let coloured = cells(terminal.screen())
        .filter(|cell| cell.fgcolor() != Color::Default || cell.bgcolor() != Color::Default)
        .count();
    assert_eq!(coloured, 0);
}

#[test]
fn with_colours_there_are_colours() {
    let terminal = open((80, 24));
    assert!(cells(terminal.screen()).any(|cell| cell.fgcolor() != Color::Default));
}

fn cells(screen: &vt100::Screen) -> impl Iterator<Item = &vt100::Cell> {
    let (rows, columns) = screen.size();
    (0..rows.get()).flat_map(move |row| (0..columns.get()).filter_map(move |column| screen.cell(row, column)))
}

#[test]
fn an_ascii_screen_is_ascii() {
    let size = (120, 40);
    let mut terminal = start(size, &[], &["debug", LESSON, "--ascii"]);
    complete(&mut terminal, size);
    go(&mut terminal, "8s");
    assert!(terminal.text().is_ascii(), "{}", terminal.text());
    terminal.send("?");
    terminal.wait_for("keys and commands");
    assert!(terminal.text().is_ascii(), "{}", terminal.text());
}
