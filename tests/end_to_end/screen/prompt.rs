//! Commands typed on the screen, the filter of the log, the help.

use super::{LESSON, command, complete, go, open, start, wait_at};

#[test]
fn a_breakpoint_stops_and_the_screen_says_why() {
    let mut terminal = open((120, 40));
    command(&mut terminal, "break transition at gpu*.l1 to N");
    terminal.wait_for("breakpoint 1: transition at gpu*.l1 to N");
    assert_eq!(go(&mut terminal, "c").0, 8);
    terminal.wait_for("breakpoint 1, transition at gpu*.l1 to N");
    terminal.wait_for("gpu0.cu0.l1");
}

#[test]
fn a_small_screen_has_the_reason_of_a_stop_and_the_whole_complaint() {
    let mut terminal = open((80, 24));
    command(&mut terminal, "break transition at gpu*.l1 to N");
    terminal.wait_for("breakpoint 1: transition at gpu*.l1 to N");
    assert_eq!(go(&mut terminal, "c").0, 8);
    terminal.wait_until("reason", |screen| {
        screen
            .contents()
            .lines()
            .nth(1)
            .is_some_and(|row| row.contains("■ breakpoint 1  ▸ gpu0.cu0.l1 goes I > N on n-store"))
    });
    command(&mut terminal, "break transition at gpu0.l9 and not block 0x1000 to N");
    terminal.wait_for("did you mean gpu0.l2.0?");
}

#[test]
fn a_mistake_is_shown_under_its_word_and_the_session_goes_on() {
    let mut terminal = open((120, 40));
    command(&mut terminal, "break transition at gpu0.l9 to N");
    terminal.wait_for("did you mean gpu0.l2.0?");
    let text = terminal.text();
    let rows: Vec<&str> = text.lines().collect();
    let typed = rows.iter().position(|row| row.contains(":break transition at gpu0.l9 to N")).unwrap();
    let column = rows[typed].find("gpu0.l9").unwrap();
    let carets = rows[typed + 1];
    assert_eq!(carets.find("^^^^^^^ no component matches gpu0.l9"), Some(column), "{text}");
    assert_eq!(go(&mut terminal, "s").0, 1);
    assert!(!terminal.text().contains("did you mean"), "{}", terminal.text());
}

#[test]
fn the_prompt_completes_and_recalls() {
    let mut terminal = open((120, 40));
    command(&mut terminal, "goto event 5");
    wait_at(&mut terminal, 5);
    terminal.send(":\x1b[A");
    terminal.wait_for(":goto event 5");
    terminal.send("\x15bre\t");
    terminal.wait_for(":break");
    terminal.send("\x1b");
    terminal.wait_until("no prompt", |screen| !screen.contents().contains("enter do it"));
}

#[test]
fn the_help_opens_and_closes() {
    let mut terminal = open((80, 24));
    terminal.send("?");
    terminal.wait_for("keys and commands");
    terminal.wait_for("esc close");
    terminal.send("G");
    terminal.wait_until("the end of the help", |screen| !screen.contents().contains("one event forward"));
    terminal.send("\x1b");
    terminal.wait_until("no help", |screen| !screen.contents().contains("keys and commands"));
    assert_eq!(go(&mut terminal, "s").0, 1);
}

#[test]
fn the_log_shows_what_its_filter_matches() {
    let mut terminal = open((120, 40));
    terminal.send("\x1b[19~");
    terminal.wait_for("▸log");
    go(&mut terminal, "10s");
    terminal.wait_until("unfiltered log", |screen| {
        let text = screen.contents();
        text.contains(" delivery ") && text.contains(" transition ")
    });
    terminal.send("/transition to N\r");
    terminal.wait_until("filtered log", |screen| {
        let text = screen.contents();
        text.contains(" transition ") && !text.contains(" delivery ")
    });
    terminal.send("/nonsense at x\r");
    terminal.wait_for("^");
    terminal.send("/\x15\r");
    terminal.wait_until("unfiltered log", |screen| screen.contents().contains(" delivery "));
}

#[test]
fn a_theme_is_set_by_name_and_all_names_are_told() {
    let folder = tempfile::tempdir().unwrap();
    let themes = folder.path().join("umscope/themes");
    std::fs::create_dir_all(&themes).unwrap();
    std::fs::write(themes.join("mine.toml"), "name = 'mine'\n[styles]\n").unwrap();
    std::fs::write(themes.join("wrong.toml"), "name = 'wrong'\n[stiles]\n").unwrap();
    let home = format!("XDG_CONFIG_HOME={}", folder.path().display());
    let size = (120, 40);
    let mut terminal = start(size, &[&home], &["debug", LESSON]);
    complete(&mut terminal, size);
    for line in ["set theme", "theme"] {
        command(&mut terminal, line);
        terminal.wait_for("Which theme? There are default, light, colour-blind, monochrome, mine, wrong");
        go(&mut terminal, "s");
    }
    command(&mut terminal, "set theme mne");
    terminal.wait_for("no theme is called \"mne\": did you mean mine? There are default");
    command(&mut terminal, "theme wrong");
    terminal.wait_for("unknown key `stiles`");
    let coloured = |screen: &vt100::Screen| {
        let (rows, columns) = screen.size();
        let cells = (0..rows.get()).flat_map(|row| (0..columns.get()).map(move |column| (row, column)));
        cells
            .filter_map(|(row, column)| screen.cell(row, column))
            .any(|it| it.fgcolor() != vt100::Color::Default)
    };
    assert!(coloured(terminal.screen()), "{}", terminal.text());
    command(&mut terminal, "set theme mine");
    terminal.wait_until("no colours", |screen| !coloured(screen));
}
