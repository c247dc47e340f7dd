//! What keys, clicks and pasted text ask for, and that nothing of it makes the screen panic.

use super::*;
use crate::debug::frame::selection::Selection;

#[test]
fn time_keys_are_commands_with_their_count() {
    let mut app = app(Sample::frame(), 80, 24);
    let requests = press(&mut app, "s 1 0 s S t T n N f F c C 2 0 t");
    assert_eq!(
        commands(&requests),
        [
            "step",
            "step 10",
            "reverse-step",
            "transition",
            "reverse-transition",
            "cycle",
            "reverse-cycle",
            "finish",
            "reverse-finish",
            "continue",
            "reverse-continue",
            "transition 20"
        ]
    );
}

/// The frame has what waits; what a decision was made by only the debugger knows.
#[test]
fn why_ways_moved_is_asked_of_the_debugger() {
    let mut session = live::lesson("numa/both-full");
    let moved = live::frame(&mut session, &["until way-repartition at gpu0.l2.0 step equalise"]);
    assert_eq!(commands(&press(&mut app(moved, 80, 24), "y")), ["why"]);
    let other = live::frame(&mut session, &["step"]);
    assert!(commands(&press(&mut app(other, 80, 24), "y")).is_empty());
}

#[test]
fn playing_is_paced_and_the_next_command_is_not() {
    let mut app = app(Sample::frame(), 80, 24);
    let requests = press(&mut app, "space");
    assert_eq!(requests, [Request::Speed(Some(4.0)), Request::Command("continue".into())]);
    assert_eq!(press(&mut app, "+"), [Request::Speed(Some(8.0))]);
    assert_eq!(press(&mut app, "c"), [Request::Speed(None), Request::Command("continue".into())]);
    let frame = Frame { run: RunState::Running { events_per_second: Some(4.0) }, ..Sample::frame() };
    app.show(Arc::new(frame));
    assert_eq!(press(&mut app, "space"), [Request::Interrupt]);
    app.show(Arc::new(Sample::frame()));
    press(&mut app, "space");
    app.show(Arc::new(Sample::frame()));
    let again = [Request::Speed(Some(8.0)), Request::Command("continue".into())];
    assert_eq!(press(&mut app, "space"), again, "played twice, it is paced twice");
}

#[test]
fn what_is_asked_during_a_run_is_said_to_come_after_it() {
    let mut app = app(Sample::frame(), 80, 24);
    let running = Frame { run: RunState::Running { events_per_second: None }, ..Sample::frame() };
    app.show(Arc::new(running));
    assert_eq!(commands(&press(&mut app, "s")), ["step"]);
    let text = screen(&mut app);
    assert!(text.contains("After this run: step (ctrl-c stops the run and forgets it)"), "{text}");
    app.show(Arc::new(Sample::frame()));
    assert!(!screen(&mut app).contains("After this run"));
}

#[test]
fn a_command_that_takes_its_time_is_told_and_so_is_what_waits_for_it() {
    let mut app = app(Sample::frame(), 80, 24);
    assert!(!screen(&mut app).contains("at work"));
    app.works = true;
    assert!(screen(&mut app).contains("● at work"), "{}", screen(&mut app));
    assert_eq!(commands(&press(&mut app, "s")), ["step"]);
    assert!(
        screen(&mut app).contains("After this command: step (ctrl-c forgets it)"),
        "{}",
        screen(&mut app)
    );
}

#[test]
fn a_run_to_the_next_stop_is_not_followed_by_another_by_mistake() {
    let mut app = app(Sample::frame(), 80, 24);
    let running =
        || Arc::new(Frame { run: RunState::Running { events_per_second: None }, ..Sample::frame() });
    press(&mut app, "5 s");
    app.show(running());
    assert_eq!(commands(&press(&mut app, "c")), ["continue"], "after so many steps");
    app.show(running());
    assert_eq!(commands(&press(&mut app, "c")), [""; 0]);
    assert!(screen(&mut app).contains("It runs to the next stop already (ctrl-c stops it)"));
}

#[test]
fn one_goes_back_to_an_effect_only_from_its_cause() {
    let mut app = app(Sample::frame(), 80, 24);
    let here = app.frame.position.event;
    let at = |event| {
        let frame = Sample::frame();
        Arc::new(Frame { position: Position { event, ..frame.position }, ..frame })
    };
    let asked = press(&mut app, "x");
    let cause: u64 = commands(&asked)[0].strip_prefix("goto event ").unwrap().parse().unwrap();
    app.show(at(cause));
    assert_eq!(commands(&press(&mut app, "X")), [format!("goto event {here}")]);
    press(&mut app, "x");
    app.show(at(cause + 1));
    assert!(commands(&press(&mut app, "X")).is_empty(), "one has gone elsewhere");
    assert!(screen(&mut app).contains("One has gone elsewhere since x"));
    app.show(at(cause));
    assert!(commands(&press(&mut app, "X")).is_empty(), "nor from there later");
}

#[test]
fn a_key_without_a_meaning_is_named_with_its_modifiers() {
    let mut app = app(Sample::frame(), 80, 24);
    for (key, name) in [("ctrl-u", "ctrl-u"), ("backspace", "backspace"), ("v", "'v'")] {
        press(&mut app, key);
        assert!(screen(&mut app).contains(&format!("{name} is not bound here")), "{key}");
    }
    app.paste("step");
    assert!(screen(&mut app).contains("There is no prompt to paste into"));
}

#[test]
fn a_line_feed_ends_a_command_as_enter_does() {
    let mut app = app(Sample::frame(), 80, 24);
    assert_eq!(commands(&press(&mut app, ": s t e p ctrl-j")), ["step"]);
}

#[test]
fn what_is_pasted_is_one_line_that_waits_for_enter() {
    let mut app = app(Sample::frame(), 80, 24);
    app.handle(&Event::Paste("step\n".into()));
    assert!(app.take_requests().is_empty(), "without a prompt it means nothing");
    press(&mut app, ":");
    app.handle(&Event::Paste("break transition\r\nat\tgpu0.*\rto N\n".into()));
    assert!(app.take_requests().is_empty(), "nothing is done yet");
    assert_eq!(commands(&press(&mut app, "enter")), ["break transition at gpu0.* to N"]);
    press(&mut app, "/");
    app.handle(&Event::Paste("transition\nto N\n".into()));
    let asked = press(&mut app, "enter");
    assert!(
        matches!(asked.as_slice(), [Request::Filter(filter)] if filter == "transition to N"),
        "{asked:?}"
    );
    app.show(Arc::new(Frame { collecting: Some(3), ..Sample::frame() }));
    app.handle(&Event::Paste("log\nend\n".into()));
    assert_eq!(commands(&app.take_requests()), ["log", "end"]);
}

#[test]
fn the_commands_of_a_breakpoint_are_asked_for_and_no_key_gets_among_them() {
    let collecting = || Arc::new(Frame { collecting: Some(3), ..Sample::frame() });
    let mut app = app(Sample::frame(), 80, 24);
    app.show(collecting());
    assert!(screen(&mut app).contains("commands of breakpoint 3:"));
    assert!(press(&mut app, "s t").is_empty(), "letters are typed, not verbs");
    assert_eq!(commands(&press(&mut app, "enter")), ["st"]);
    app.show(collecting());
    assert_eq!(commands(&press(&mut app, "esc")), ["end"]);
    app.show(collecting());
    assert_eq!(commands(&press(&mut app, "e n d enter")), ["end"]);
    app.show(collecting());
    app.show(Arc::new(Sample::frame()));
    assert!(app.prompt.is_none(), "the list has ended some other way");
    assert_eq!(commands(&press(&mut app, "s")), ["step"]);
}

#[test]
fn esc_selects_nothing_and_does_not_pin_the_block_that_is_shown() {
    let frame = Sample::frame();
    assert!(frame.selection.block.is_some(), "one is followed");
    let mut app = app(frame, 80, 24);
    assert_eq!(press(&mut app, "esc"), [Request::Select(Selection::default())]);
}

#[test]
fn a_letter_names_a_bookmark() {
    let mut app = app(Sample::frame(), 80, 24);
    assert_eq!(commands(&press(&mut app, "m a ' a")), ["bookmark a", "goto a"]);
    assert_eq!(commands(&press(&mut app, "m esc s")), ["step"]);
}

#[test]
fn down_goes_on_where_two_places_stand_for_one_page() {
    let mut session = live::paged_session();
    let mut app = app(live::frame(&mut session, &["until far-fault stage serviced"]), 120, 40);
    app.show_layout(9);
    screen(&mut app);
    app.focus = Pane::Pages;
    // The cells of the grid, and below them a line for each far-fault.
    let mut places = Vec::new();
    for _ in 0..6 {
        press(&mut app, "down");
        screen(&mut app);
        places.push(app.pane(Pane::Pages).at.1);
    }
    assert!(places.is_sorted() && places.last() > places.get(1), "{places:?}");
    press(&mut app, "g g");
    let top = app.pane(Pane::Pages).at.1;
    press(&mut app, "G");
    assert!(top < app.pane(Pane::Pages).at.1);
}

#[test]
fn break_and_watch_use_what_is_under_the_cursor() {
    let mut app = app(Sample::frame(), 120, 40);
    app.focus = Pane::Directory;
    let requests = press(&mut app, "down down b w");
    assert_eq!(
        commands(&requests),
        ["break transition at gpu0.smd0 block 0x1000", "watch state of gpu0.smd0 block 0x1000"]
    );
    let mut session = live::paged_session();
    let mut paged = self::app(live::frame(&mut session, &["until far-fault stage serviced"]), 120, 40);
    paged.show_layout(9);
    screen(&mut paged);
    paged.focus = Pane::Pages;
    let query = "far-fault block 0x1000 or page-move block 0x1000";
    assert_eq!(commands(&press(&mut paged, "right right b")), [format!("break {query}")]);
    // A cell that stands for several pages.
    let mut frame = (*paged.frame).clone();
    for cell in frame.pages.gpus.iter_mut().flat_map(|gpu| &mut gpu.cells) {
        (cell.first, cell.len) = (Address(cell.first.0 * 4), cell.len * 4);
    }
    let mut coarse = self::app(frame, 120, 40);
    coarse.show_layout(9);
    screen(&mut coarse);
    coarse.focus = Pane::Pages;
    let query = "far-fault page 0x4..0x7 or page-move page 0x4..0x7";
    assert_eq!(commands(&press(&mut coarse, "right right b")), [format!("break {query}")]);
    app.focus = Pane::Timeline;
    app.frame = Arc::new(Frame::default());
    assert_eq!(press(&mut app, "w"), []);
    assert!(
        app.message.as_ref().unwrap().lines[0]
            .contains("Select a block and a node, in the map or the directory, first")
    );
}

#[test]
fn the_timeline_is_walked_from_where_one_is() {
    let mut app = app(Sample::frame(), 120, 40);
    app.focus = Pane::Timeline;
    let here = app.frame.position.event;
    let mut walked = |keys: &str| -> u64 {
        let requests = press(&mut app, keys);
        let command = commands(&requests).pop().unwrap().to_owned();
        app.panes[Pane::Timeline as usize].cursor = None;
        command.strip_prefix("goto event ").unwrap().parse().unwrap()
    };
    let (before, after) = (walked("left enter"), walked("right enter"));
    assert!(0 < before && before < here && here < after, "{before} {here} {after}");
}

#[test]
fn what_has_been_scrolled_away_is_not_under_the_cursor() {
    let mut app = app(Sample::frame(), 120, 40);
    app.focus = Pane::Directory;
    press(&mut app, "down down");
    let cursor = app.cursor(Pane::Directory);
    assert!(cursor.is_some() && cursor == app.pane(Pane::Directory).cursor);
    app.seen.hits.retain(|hit| hit.pane != Pane::Directory);
    assert_eq!(app.cursor(Pane::Directory), None);
}

#[test]
fn enter_selects_in_all_panes() {
    let mut app = app(Sample::frame(), 120, 40);
    app.focus = Pane::Directory;
    let requests = press(&mut app, "down down enter");
    let [Request::Select(selection)] = requests.as_slice() else { panic!("{requests:?}") };
    assert_eq!(selection.component, app.frame.info.components.find("gpu0.smd0"));
    assert_eq!(selection.block, Some(Address(0x1000)));
}

#[test]
fn enter_selects_at_once_and_travels_only_to_what_was_pointed_at() {
    let mut app = app(Sample::frame(), 120, 40);
    app.focus = Pane::Directory;
    let requests = press(&mut app, "enter");
    assert!(matches!(requests.as_slice(), [Request::Select(_)]), "{requests:?}");
    app.focus = Pane::Timeline;
    assert_eq!(press(&mut app, "enter"), []);
    assert_eq!(commands(&press(&mut app, "right enter")).len(), 1);
}

#[test]
fn why_is_asked_of_what_is_under_the_cursor_unless_something_went_wrong() {
    for (tone, is_meant) in [(Tone::Plain, true), (Tone::Bad, false)] {
        let stop = Stop { text: "here".to_owned(), tone, ..Stop::default() };
        let mut app = app(Frame { stop: Some(stop), ..Sample::frame() }, 120, 40);
        app.focus = Pane::Directory;
        press(&mut app, "down down");
        let asked = press(&mut app, "y");
        let is_selected = asked.iter().any(|request| matches!(request, Request::Select(_)));
        assert_eq!(is_selected, is_meant, "{asked:?}");
        assert!(!is_selected || commands(&asked) == ["why"], "{asked:?}");
    }
}

#[test]
fn a_click_focuses_selects_and_travels() {
    let mut app = app(Sample::frame(), 120, 40);
    let click = |app: &mut App, (column, row)| {
        let kind = MouseEventKind::Down(MouseButton::Left);
        app.handle(&Event::Mouse(MouseEvent { kind, column, row, modifiers: KeyModifiers::NONE }));
        app.take_requests()
    };
    let place = |app: &App, pane| {
        app.seen
            .panes
            .iter()
            .find(|placed| placed.pane == pane)
            .map(|placed| (placed.area.x, placed.area.y))
            .unwrap()
    };
    let (x, y) = place(&app, Pane::Timeline);
    assert_eq!(commands(&click(&mut app, (x + 4, y + 1))), ["goto event 0"]);
    assert_eq!(app.focus, Pane::Timeline);
    let (x, y) = place(&app, Pane::Directory);
    let requests = click(&mut app, (x + 6, y + 2));
    assert!(matches!(requests.as_slice(), [Request::Select(_)]), "{requests:?}");
    assert_eq!(app.focus, Pane::Directory);
}

#[test]
fn the_focus_is_always_on_a_pane_that_is_there() {
    let mut app = app(Frame { lesson: None, ..Sample::frame() }, 120, 40);
    for key in 1..=9 {
        press(&mut app, &format!("f{key}"));
        assert!(app.seen.panes.iter().any(|placed| placed.pane == app.focus), "F{key}: {:?}", app.focus);
        assert!(screen(&mut app).contains(&format!("▸{}", app.focus.name())));
    }
}

#[test]
fn leaving_interrupts_first() {
    let mut app = app(Sample::frame(), 80, 24);
    assert_eq!(press(&mut app, "q"), [Request::Interrupt, Request::Quit]);
    assert!(app.quit);
}

fn any_event() -> impl Strategy<Value = Event> {
    let letters = proptest::sample::select(
        " :/?'abcfghjklmnpqstwxyzCFGNSTX0123456789+-.é字\u{1b}".chars().collect::<Vec<_>>(),
    );
    let code = prop_oneof![
        4 => letters.prop_map(KeyCode::Char),
        1 => (1..=9u8).prop_map(KeyCode::F),
        2 => proptest::sample::select(vec![
            KeyCode::Enter, KeyCode::Esc, KeyCode::Tab, KeyCode::BackTab, KeyCode::Backspace, KeyCode::Delete,
            KeyCode::Up, KeyCode::Down, KeyCode::Left, KeyCode::Right, KeyCode::Home, KeyCode::End,
            KeyCode::PageUp, KeyCode::PageDown,
        ]),
    ];
    let key = (code, proptest::bool::weighted(0.05)).prop_map(|(code, ctrl)| {
        Event::Key(KeyEvent::new(code, if ctrl { KeyModifiers::CONTROL } else { KeyModifiers::NONE }))
    });
    let mouse = (0..4u8, any::<u8>(), any::<u8>()).prop_map(|(kind, column, row)| {
        let kind = match kind {
            0 => MouseEventKind::ScrollUp,
            1 => MouseEventKind::ScrollDown,
            _ => MouseEventKind::Down(MouseButton::Left),
        };
        let (column, row) = (u16::from(column), u16::from(row));
        Event::Mouse(MouseEvent { kind, column, row, modifiers: KeyModifiers::NONE })
    });
    let resize = (1..220u16, 1..70u16).prop_map(|(width, height)| Event::Resize(width, height));
    prop_oneof![8 => key, 2 => mouse, 1 => resize]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    /// Any keys, clicks and sizes leave a screen that can be drawn.
    #[test]
    fn nothing_that_a_user_does_makes_it_panic(events in proptest::collection::vec(any_event(), 1..80), full in any::<bool>()) {
        let empty = || Frame { panes: PaneSet::all(), ..Frame::default() };
        let mut app = app(if full { Sample::frame() } else { empty() }, 80, 24);
        for event in &events {
            app.handle(event);
            let _ = app.take_requests();
            app.quit = false;
            let drawn = draw(&mut app);
            prop_assert_eq!(drawn.area.width, app.size.0);
            let _ = app.new_wish();
        }
    }
}
