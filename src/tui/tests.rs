//! The whole screen from a hand-made frame: how it reads, what keys ask for, and that nothing makes it panic.

use std::sync::Arc;

use crossterm::event::{Event, KeyCode, KeyEvent, KeyModifiers, MouseButton, MouseEvent, MouseEventKind};
use proptest::prelude::*;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Modifier;

use super::app::{App, Overlay};
use super::help;
use super::keymap::Keymap;
use super::layout::names;
use super::live;
use super::sample::Sample;
use super::theme::Theme;
use crate::debug::frame::session::{Reveal, RunState, Stop, Tone};
use crate::debug::frame::wish::{Pane, PaneSet};
use crate::debug::frame::{Frame, Knot};
use crate::debug::proto::{Answer, Request};
use crate::diagnostic::{Diagnostic, Source};
use crate::model::address::Address;

fn app(frame: Frame, width: u16, height: u16) -> App {
    let mut app = App::new(
        Arc::new(frame),
        Theme::embedded("default").unwrap().unwrap(),
        Keymap::embedded().unwrap(),
        false,
    );
    app.see(width, height);
    app
}

fn draw(app: &mut App) -> Buffer {
    let mut buffer = Buffer::empty(Rect::new(0, 0, app.size.0, app.size.1));
    app.draw(&mut buffer);
    buffer
}

fn text(buffer: &Buffer) -> String {
    let mut text = String::new();
    for y in 0..buffer.area.height {
        let row: String = (0..buffer.area.width).map(|x| buffer[(x, y)].symbol()).collect();
        text.push_str(row.trim_end());
        text.push('\n');
    }
    text
}

fn screen(app: &mut App) -> String {
    text(&draw(app))
}

fn press(app: &mut App, keys: &str) -> Vec<Request> {
    for word in keys.split_whitespace() {
        let key = super::keymap::Key::parse(word).unwrap();
        let modifiers = if key.ctrl { KeyModifiers::CONTROL } else { KeyModifiers::NONE };
        app.handle(&Event::Key(KeyEvent::new(key.code, modifiers)));
        draw(app);
    }
    app.take_requests()
}

fn commands(requests: &[Request]) -> Vec<&str> {
    let mut commands = Vec::new();
    for request in requests {
        if let Request::Command(command) = request {
            commands.push(command.as_str());
        }
    }
    commands
}

#[test]
fn each_layout_reads_well_at_each_size() {
    for (width, height) in [(80, 24), (120, 40), (200, 60)] {
        for (number, name) in names().iter().enumerate() {
            let mut app = app(Sample::frame(), width, height);
            app.show_layout(number);
            insta::assert_snapshot!(format!("{name}_{width}x{height}"), screen(&mut app));
        }
    }
}

#[test]
fn each_pane_reads_well_alone() {
    for pane in Pane::ALL {
        let mut app = app(Sample::frame(), 100, 24);
        app.focus = pane;
        app.zoom = true;
        insta::assert_snapshot!(format!("pane_{}", pane.name()), screen(&mut app));
    }
}

#[test]
fn a_change_of_state_is_shown_where_it_happened() {
    let mut app = app(Sample::frame_of_change(), 120, 40);
    let text = screen(&mut app);
    assert!(text.contains("▸smd0[S*]"), "{text}");
    assert!(text.contains("S* <E"), "{text}");
    assert!(text.contains("gpu0.smd0 goes E > S on read probe, sends answer to host.hmd0"), "{text}");
    app.show_layout(1);
    let text = screen(&mut app);
    assert!(text.contains("▸ack>S 1"), "the cell of the table is not lit:\n{text}");
}

#[test]
fn what_an_mshr_waits_for_is_whole_however_narrow_the_pane() {
    let mut session = live::sectors_session();
    let frame = live::frame(&mut session, &["goto cycle 100"]);
    for (width, height) in [(60, 60), (80, 60), (120, 40)] {
        let mut app = app(frame.clone(), width, height);
        app.show_layout(2);
        let text = screen(&mut app);
        let pane = text.split("├ mshrs").nth(1).unwrap().split("├ timeline").next().unwrap();
        let words = pane.lines().filter_map(|line| line.split('│').nth(1)).flat_map(str::split_whitespace);
        let told = words.collect::<Vec<_>>().join(" ");
        assert!(told.contains("wants #.#. coming #.#., "), "{text}");
        assert!(!told.contains('…'), "{text}");
    }
}

#[test]
fn a_line_says_which_of_its_sectors_are_here() {
    let mut session = live::coherent_sectors_session();
    let mut app = app(live::frame(&mut session, &["goto event 24"]), 200, 60);
    app.show_layout(1);
    let text = screen(&mut app);
    let row = text.lines().find(|line| line.contains("gpu0.l2.0 E…")).unwrap();
    assert!(row.contains(" ------------....  ") && row.contains("00│.. .. .. .."), "{text}");
}

#[test]
fn a_real_machine_is_shown_from_its_first_event_to_its_last() {
    let mut session = live::session();
    let mut app = app(live::frame(&mut session, &[]), 80, 24);
    insta::assert_snapshot!("live_start", screen(&mut app));
    app.show(Arc::new(live::frame(&mut session, &["until message type probe"])));
    insta::assert_snapshot!("live_probe", screen(&mut app));
    app.see(120, 40);
    app.show(Arc::new(live::frame(&mut session, &["transition"])));
    insta::assert_snapshot!("live_answer", screen(&mut app));
    app.show(Arc::new(live::frame(&mut session, &["continue"])));
    app.see(200, 60);
    insta::assert_snapshot!("live_end", screen(&mut app));
}

#[test]
fn what_may_be_done_with_pages_is_shown() {
    let mut session = live::read_only_session();
    let mut app = app(live::frame(&mut session, &["until protection-fault stage nacked"]), 100, 24);
    app.focus = Pane::Pages;
    app.zoom = true;
    insta::assert_snapshot!("live_permissions", screen(&mut app));
    app.see(80, 24);
    app.focus = Pane::Warps;
    let text = screen(&mut app);
    assert!(text.contains("w protection-fault n-store 0x1040"), "{text}");
}

#[test]
fn pages_far_faults_and_transfer_sets_are_shown_and_linked() {
    let mut session = live::paged_session();
    let mut app = app(live::frame(&mut session, &["until far-fault stage serviced"]), 120, 40);
    app.show_layout(9);
    insta::assert_snapshot!("live_paging", screen(&mut app));
    app.see(200, 60);
    app.focus = Pane::Mshrs;
    app.zoom = true;
    let text = screen(&mut app);
    let told = |word: &str| text.lines().any(|line| line.contains("0x2000") && line.contains(word));
    assert!(told(", faulted ") && told(", missed "), "{text}");
    app.zoom = false;
    app.see(120, 40);
    // A warp that waits for a page selects it everywhere.
    let warp = session.machine().agent(session.machine().components().find("gpu0.cu0").unwrap()).unwrap();
    let page = warp.warps[2].page.unwrap();
    let agent = warp.agent;
    let target = crate::tui::target::Target::Warp { agent, warp: 2, txn: None, page: Some(page) };
    let selection = target.choose(session.selection());
    session.select(selection);
    let frame = live::frame(&mut session, &[]);
    let fault = frame.pages.fault.clone().unwrap();
    assert_eq!(fault.range.start, page);
    let stages: Vec<&str> = fault.steps.iter().map(|step| step.stage.name()).collect();
    assert_eq!(stages, ["raised", "queued", "nacked", "serviced"]);
    let chain: Vec<&str> =
        frame.why.links.iter().map(|link| session.machine().components().path(link.at)).collect();
    assert_eq!(chain, ["gpu0.cu0", "gpu0.gmmu", "gpu0.driver", "link.host.out"]);
    app.show(Arc::new(live::frame(&mut session, &["end"])));
    let text = screen(&mut app);
    assert!(text.contains("G in use 4") && text.contains("x evicted 1"), "{text}");
}

#[test]
fn a_large_machine_is_drawn_whole() {
    for (name, width, height) in
        [("umh-4gpu-nvlink", 200, 60), ("umh-4gpu-nvlink", 80, 24), ("tiny/umh-4gpu", 120, 40)]
    {
        let mut session = live::session_on(name);
        let mut app = app(live::frame(&mut session, &["step 20"]), width, height);
        insta::assert_snapshot!(format!("live_{}_{width}", name.replace('/', "_")), screen(&mut app));
        app.show_layout(3);
        insta::assert_snapshot!(format!("live_{}_{width}_warps", name.replace('/', "_")), screen(&mut app));
    }
}

#[test]
fn a_switch_is_drawn_with_the_lanes_of_all_that_stand_round_it() {
    for (gpus, width, height) in [(2, 80, 24), (4, 120, 40), (8, 80, 24), (8, 120, 40), (8, 200, 60)] {
        let mut session = live::switch_session(gpus);
        let frame = live::frame(&mut session, &["until lane-reversal phase done link host", "step 40"]);
        let mut app = app(frame, width, height);
        insta::assert_snapshot!(format!("live_switch_{gpus}_{width}"), screen(&mut app));
        app.show_layout(2);
        insta::assert_snapshot!(format!("live_switch_{gpus}_{width}_links"), screen(&mut app));
    }
}

#[test]
fn the_lanes_of_many_large_sockets_are_in_the_picture() {
    let mut session = live::sockets_session();
    let frame = live::frame(&mut session, &["until cycle 1900"]);
    for (width, height) in [(80, 24), (120, 40), (200, 60)] {
        let shown = screen(&mut app(frame.clone(), width, height));
        assert_eq!(shown.matches("▼8").count(), 9, "{shown}");
    }
}

#[test]
fn counts_of_tags_are_told_to_the_last_at_every_size() {
    let frame = live::frame(&mut live::tags_session(), &["end"]);
    for (width, height) in [(80, 24), (120, 40), (200, 60)] {
        let mut app = app(frame.clone(), width, height);
        app.show_layout(5);
        let shown = screen(&mut app);
        assert!(shown.contains("replayed 4"), "{shown}");
    }
}

#[test]
fn what_was_moved_in_vain_is_told_at_every_size() {
    let frame = live::frame(&mut live::paged_session(), &["until far-fault stage serviced"]);
    for (width, height) in [(80, 24), (120, 40), (200, 60)] {
        let mut app = app(frame.clone(), width, height);
        app.show_layout(9);
        assert!(screen(&mut app).contains("0 wasted, 0 thrashed"), "{width}");
    }
}

#[test]
fn ascii_screens_hold_nothing_else_and_stay_aligned() {
    let mut utf8 = app(Sample::frame(), 120, 40);
    let mut ascii = app(Sample::frame(), 120, 40);
    ascii.ascii = true;
    let (utf8, ascii) = (draw(&mut utf8), draw(&mut ascii));
    for (cell, original) in ascii.content().iter().zip(utf8.content()) {
        assert!(cell.symbol().is_ascii());
        assert_eq!(cell.symbol() == " ", original.symbol() == " ", "{}", original.symbol());
    }
    insta::assert_snapshot!("ascii", text(&ascii));
}

#[test]
fn a_screen_that_is_too_small_says_so() {
    for (width, height) in [(1, 1), (2, 1), (1, 5), (59, 40), (80, 15), (20, 8)] {
        let mut app = app(Sample::frame(), width, height);
        let text = screen(&mut app).replace('\n', " ");
        assert!(width < 12 || text.contains("umscope"), "{text}");
    }
    assert!(screen(&mut app(Sample::frame(), 60, 16)).contains("map"));
}

#[test]
fn colour_only_repeats_what_letters_say() {
    let mut plain = app(Sample::frame(), 120, 40);
    plain.theme = plain.theme.without_colour();
    plain.focus = Pane::Directory;
    press(&mut plain, "down");
    let buffer = draw(&mut plain);
    assert!(
        buffer
            .content()
            .iter()
            .all(|cell| cell.fg == buffer.content()[0].fg && cell.bg == buffer.content()[0].bg)
    );
    let reversed = buffer.content().iter().filter(|cell| cell.modifier.contains(Modifier::REVERSED)).count();
    assert!(reversed > 0, "the cursor vanished with the colours");
}

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
}

#[test]
fn each_line_of_what_is_pasted_is_a_command_and_the_last_one_waits() {
    let mut app = app(Sample::frame(), 80, 24);
    app.handle(&Event::Paste("step\n".into()));
    assert!(app.take_requests().is_empty(), "without a prompt it means nothing");
    press(&mut app, ":");
    app.handle(&Event::Paste("break transition\r\ninfo\tposition\rstep\nst".into()));
    assert_eq!(commands(&app.take_requests()), ["break transition", "info position", "step"]);
    assert_eq!(commands(&press(&mut app, "e p enter")), ["step"]);
    press(&mut app, "/");
    app.handle(&Event::Paste("transition\nstep\n".into()));
    assert!(matches!(app.take_requests().as_slice(), [Request::Filter(filter)] if filter == "transition"));
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
fn what_is_displayed_is_seen_at_every_stop() {
    let mut session = live::session();
    let commands = ["display state of gpu0.l2.0 block 0x1000", "display cycle", "transition 2"];
    let mut app = app(live::frame(&mut session, &commands), 80, 24);
    let shown = screen(&mut app);
    assert!(shown.contains("= 1: state of gpu0.l2.0 block 0x1000 = E   2: cycle = 804"), "{shown}");
    app.show(Arc::new(live::frame(&mut session, &["undisplay"])));
    assert!(!screen(&mut app).contains("2: cycle"));
}

#[test]
fn what_was_changed_by_hand_happened_at_no_node() {
    let mut session = live::session();
    let commands = ["step 5", "fork set network.latency=\"2 us\""];
    let mut app = app(live::frame(&mut session, &commands), 120, 40);
    let screen = screen(&mut app);
    assert!(screen.contains("▸ changed: set network.latency"), "{screen}");
    let log = screen.lines().find(|line| line.contains("  input ")).unwrap();
    assert!(!screen.contains("▸cpu0") && !log.contains("cpu0"), "{screen}");
}

#[test]
fn a_question_stands_above_what_was_told_before_it() {
    let mut session = live::lesson("umh/fig5-b2");
    let mut app = app(live::frame(&mut session, &["set quiz on"]), 80, 24);
    let mut question = None;
    while question.is_none() {
        app.show(Arc::new(live::frame(&mut session, &["continue"])));
        let asked = app.frame.lesson.as_ref().unwrap().question.as_ref();
        question = asked.filter(|asked| asked.text.contains("Which state next?")).cloned();
    }
    let screen = screen(&mut app);
    let row = |part: &str| screen.lines().position(|line| line.contains(part));
    assert!(row("? gpu0").unwrap() < row("Before:").unwrap_or(usize::MAX), "{screen}");
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
    app.focus = Pane::Timeline;
    app.frame = Arc::new(Frame::default());
    assert_eq!(press(&mut app, "w"), []);
    assert!(app.message.as_ref().unwrap().lines[0].contains("Select a block and a node first"));
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
fn what_is_not_known_yet_is_not_said_to_be_missing() {
    let mut app = app(Frame::default(), 120, 40);
    for number in 0..names().len() {
        app.show_layout(number);
        let seen = screen(&mut app);
        assert!(seen.contains('…') && !seen.contains("has no") && !seen.contains("No "), "{seen}");
    }
    app.frame = Arc::new(Frame { panes: PaneSet::all(), ..Frame::default() });
    assert!(screen(&mut app).contains("No "), "{}", screen(&mut app));
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
fn a_question_is_answered_from_its_choices() {
    let mut app = app(Sample::frame(), 80, 24);
    press(&mut app, "p");
    assert!(screen(&mut app).contains("2  no"));
    assert_eq!(commands(&press(&mut app, "2")), ["predict no"]);
    assert_eq!(app.overlay, None);
    let mut frame = Sample::frame();
    let question = frame.lesson.as_mut().and_then(|lesson| lesson.question.as_mut()).unwrap();
    question.predicted = Some("no".into());
    app.show(Arc::new(frame.clone()));
    assert_eq!(commands(&press(&mut app, "p")), ["reveal"]);
    let question = frame.lesson.as_mut().and_then(|lesson| lesson.question.as_mut()).unwrap();
    question.revealed =
        Some(Reveal { answer: "no".into(), because: "cache N read = ack".into(), right: Some(true) });
    app.show(Arc::new(frame));
    let text = screen(&mut app);
    assert!(text.contains("✓ Right: no") && text.contains("because cache N read = ack"), "{text}");
}

#[test]
fn a_lesson_says_what_it_is_about_and_when_it_is_over() {
    let mut frame = Sample::frame();
    Arc::make_mut(&mut frame.info).about = "Two GPUs and one line.".into();
    let mut app = app(frame.clone(), 100, 30);
    app.focus = Pane::Lesson;
    app.zoom = true;
    let text = screen(&mut app);
    assert!(text.contains("What it is about:") && text.contains("Two GPUs and one line."), "{text}");
    assert!(!text.contains("The end"), "{text}");
    let lesson = frame.lesson.as_mut().unwrap();
    (lesson.step, lesson.question) = ((7, 7), None);
    frame.run = RunState::Finished;
    app.show(Arc::new(frame));
    let text = screen(&mut app);
    assert!(
        text.contains("7 of 7 · the end") && text.contains("The end: 1 of 2 expectations hold."),
        "{text}"
    );
}

#[test]
fn choices_that_differ_in_their_last_words_are_seen_whole() {
    let mut frame = Sample::frame();
    let question = frame.lesson.as_mut().and_then(|lesson| lesson.question.as_mut()).unwrap();
    let rule = "if another child owns the block, tells the owner that somebody reads, then grants";
    question.choices = vec![format!("{rule} N"), format!("{rule} S")];
    let mut app = app(frame, 80, 24);
    press(&mut app, "p");
    let text = screen(&mut app);
    assert!(text.contains("grants N") && text.contains("grants S"), "{text}");
}

#[test]
fn of_many_long_choices_the_one_under_the_cursor_is_in_view() {
    let mut frame = Sample::frame();
    let question = frame.lesson.as_mut().and_then(|lesson| lesson.question.as_mut()).unwrap();
    let rule = "if another child owns the block, tells the owner that somebody reads, then grants";
    question.choices = (1..=12).map(|nth| format!("{rule} choice-{nth}.")).collect();
    let mut app = app(frame, 80, 24);
    press(&mut app, "p");
    let text = screen(&mut app);
    assert!(text.contains("choice-1.") && !text.contains("choice-12.") && text.contains('▼'), "{text}");
    (0..11).for_each(|_| drop(press(&mut app, "down")));
    let text = screen(&mut app);
    assert!(text.contains("choice-12.") && !text.contains("choice-1.") && text.contains('▲'), "{text}");
}

#[test]
fn the_help_fits_its_box() {
    let app = app(Sample::frame(), 80, 24);
    for line in help::lines(&app.keymap, &app.frame.info.commands, 72) {
        let text: String = line.into_iter().map(|(text, _)| text).collect();
        assert!(text.chars().count() <= 72, "{text}");
    }
}

#[test]
fn the_prompt_sends_and_errors_show_under_the_word() {
    let mut app = app(Sample::frame(), 80, 24);
    press(&mut app, ":");
    for letter in "break at gpu0.l9".chars() {
        app.handle(&Event::Key(KeyEvent::new(KeyCode::Char(letter), KeyModifiers::NONE)));
    }
    assert!(screen(&mut app).contains(":break at gpu0.l9"));
    assert_eq!(commands(&press(&mut app, "enter")), ["break at gpu0.l9"]);
    let source = Source { name: ":".into(), text: "break at gpu0.l9".into() };
    let error =
        Diagnostic::new("no component matches gpu0.l9").at(&source, 9..16).nearest("gpu0.l9", ["gpu0.l2"]);
    app.answered(vec![Answer::Error(Box::new(error))]);
    insta::assert_snapshot!(screen(&mut app).lines().skip(21).collect::<Vec<_>>().join("\n"));
}

#[test]
fn help_and_why_open_over_the_panes() {
    let mut app = app(Sample::frame(), 100, 30);
    press(&mut app, "?");
    insta::assert_snapshot!("help", screen(&mut app));
    press(&mut app, "esc y");
    insta::assert_snapshot!("why", screen(&mut app));
    press(&mut app, "esc");
    assert_eq!(app.overlay, None);
}

#[test]
fn long_output_is_shown_in_a_box_that_scrolls() {
    let mut app = app(Sample::frame(), 80, 24);
    app.answered(vec![Answer::Lines((0..100).map(|line| format!("line {line}")).collect())]);
    assert!(matches!(app.overlay, Some(Overlay::Output(_))));
    assert!(screen(&mut app).contains("line 0"));
    press(&mut app, "G");
    assert!(screen(&mut app).contains("line 99"));
}

#[test]
fn a_long_message_stands_below_an_open_box_not_over_it() {
    let mut app = app(Sample::frame(), 80, 24);
    app.answered(vec![Answer::Lines((0..10).map(|line| format!("line {line}")).collect())]);
    app.say("word ".repeat(60), Tone::Plain);
    let text = screen(&mut app);
    let row = |words: &str| text.lines().position(|line| line.contains(words));
    let (last, message) = (row("line 9"), row("word word"));
    assert!(row("line 0").is_some() && last.is_some() && last < message, "{text}");
    // Where there is room for only one of them it is the message.
    for words in [80, 100, 120, 300] {
        let mut app = self::app(Sample::frame(), 60, 16);
        app.answered(vec![Answer::Lines((0..10).map(|line| format!("line {line}")).collect())]);
        app.say("word ".repeat(words), Tone::Plain);
        assert!(screen(&mut app).contains("word word"));
    }
}

#[test]
fn a_deadlock_and_a_violation_are_told_first() {
    let stop = Stop { text: "two writers of block 0x1000".into(), tone: Tone::Bad, brief: None };
    let knot = |verdict| Knot { verdict, headline: String::new(), edges: Vec::new(), is_circle: true };
    let frame = Frame {
        run: RunState::Stuck,
        stop: Some(stop),
        deadlock: Some(knot("LOST MESSAGE")),
        ..Sample::frame()
    };
    let text = screen(&mut app(frame, 80, 24));
    let mut lines = text.lines();
    assert!(lines.next().unwrap().contains("LOST MESSAGE"));
    assert!(lines.next().unwrap().contains("two writers of block 0x1000"));
}

#[test]
fn a_small_screen_says_why_it_stopped() {
    let mut session = live::session();
    let mut app = app(live::frame(&mut session, &["break transition to N at gpu0.*", "continue"]), 80, 24);
    let header = |app: &mut App| screen(app).lines().take(2).collect::<Vec<_>>().join("\n");
    let breakpoint = header(&mut app);
    app.show(Arc::new(live::frame(&mut session, &["delete", "continue"])));
    let end = header(&mut app);
    app.show(Arc::new(live::frame(&mut session, &["start", "reverse-step"])));
    insta::assert_snapshot!([breakpoint, end, header(&mut app)].join("\n"), @r"
     umh/fig5-b1  ‖ paused  event 8 · cycle 806 (1007 ns)  NMOESI · 2 GPUs · PCIe …
     ■ breakpoint 1, transition to N at gpu0.*  ▸ gpu0.cu0.l1 takes grant N + data…
     umh/fig5-b1  ■ finished  event 28 of 28 · cycle 2,209 (2761 ns)
     ■ end  ▸ host.hmd0 takes grant-ack from gpu1.smd0
     umh/fig5-b1  ‖ paused  event 0 of 28 · cycle 0 (0 ns)  NMOESI · 2 GPUs · PCIe…
     ■ start of the run: there is no earlier event  ▸ Nothing has happened yet. s …
    ");
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
fn a_transaction_picked_before_it_begins_says_when() {
    let mut session = live::session();
    live::frame(&mut session, &["select txn 1", "goto event 20"]);
    let mut app = app(live::frame(&mut session, &["start"]), 80, 24);
    app.show_layout(4);
    let text = screen(&mut app);
    assert!(text.contains("Transaction 1 has not begun: it begins at event"), "{text}");
    assert!(commands(&press(&mut app, "down enter"))[0].starts_with("goto event "));
    app.show(Arc::new(live::frame(&mut session, &["select txn 99"])));
    let text = screen(&mut app);
    assert!(text.contains("Nothing of transaction 99 is near here"), "{text}");
}

#[test]
fn a_diagram_that_does_not_show_its_beginning_says_what_is_missing() {
    let mut session = live::session();
    let mut app = app(live::frame(&mut session, &["select txn 2", "end"]), 80, 24);
    app.show_layout(4);
    let text = screen(&mut app);
    assert!(text.contains("messages before: page up"), "{text}");
    press(&mut app, "pageup pageup pageup pageup");
    let text = screen(&mut app);
    assert!(text.contains("n-store 0x1004") && !text.contains("before: page up"), "{text}");
    let mut frame = (*app.frame).clone();
    let sequence = frame.sequence.as_mut().unwrap();
    (sequence.has_beginning, frame.begins) = (false, Some(7));
    app.show(Arc::new(frame));
    let text = screen(&mut app);
    assert!(text.contains("it began at event 7: enter here draws it from there"), "{text}");
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

#[test]
fn panes_scroll_to_the_component_that_is_selected_until_the_user_scrolls() {
    let mut session = live::lesson("kernels/transpose-4gpu");
    let mut app = app(live::frame(&mut session, &["goto cycle 500"]), 80, 24);
    (app.focus, app.zoom) = (Pane::Caches, true);
    assert!(!screen(&mut app).contains("host.llc"));
    app.show(Arc::new(live::frame(&mut session, &["select host.llc"])));
    assert!(screen(&mut app).contains("host.llc"), "{}", screen(&mut app));
    press(&mut app, "g g");
    assert!(!screen(&mut app).contains("host.llc"), "{}", screen(&mut app));
    app.focus = Pane::Mshrs;
    assert!(screen(&mut app).contains("host.llc"), "{}", screen(&mut app));
}
