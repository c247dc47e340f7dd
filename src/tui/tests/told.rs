//! What is told beside the panes: answers, lessons, help, messages, boxes.

use super::*;
use crate::debug::frame::session::{Expectation, Lesson, Say};

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
fn page_down_reads_on_where_the_pane_is_in_view_as_a_whole() {
    let mut frame = Sample::frame();
    let lesson = frame.lesson.as_mut().unwrap();
    let words: Vec<String> = (0..400).map(|number| format!("w{number}")).collect();
    lesson.said.last_mut().unwrap().text = words.join(" ");
    (lesson.question, lesson.hunt) = (None, None);
    let mut app = app(frame, 80, 24);
    app.focus = Pane::Map;
    let before = screen(&mut app);
    assert!(before.contains("▼ more: page down") && !before.contains("w399"), "{before}");
    for _ in 0..40 {
        press(&mut app, "pagedown");
    }
    let after = screen(&mut app);
    assert!(app.focus == Pane::Map && !after.contains("▼ more: page down"), "{after}");
    assert!(!after.contains(" w0 ") && after != before, "{after}");
}

#[test]
fn a_fork_looks_at_no_expectation_of_the_run_that_it_left() {
    let mut session = live::lesson("umh/fig5-c");
    let commands = ["goto event 51", "fork fault merge-whole-blocks", "end"];
    let mut app = app(live::frame(&mut session, &commands), 120, 40);
    app.focus = Pane::Lesson;
    app.zoom = true;
    let text = screen(&mut app);
    assert!(text.contains("are not looked at since the fork") && !text.contains("further on"), "{text}");
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
fn what_comes_next_in_a_story_is_in_sight_however_far_the_pane_was_scrolled() {
    let mut session = live::lesson("paging/one-far-fault");
    session.stop_at_narration(true);
    let mut app = app(live::frame(&mut session, &["continue", "continue"]), 80, 24);
    app.focus = Pane::Lesson;
    screen(&mut app);
    press(&mut app, "pagedown");
    app.show(Arc::new(live::frame(&mut session, &["continue"])));
    let said = app.frame.lesson.as_ref().unwrap().said.last().unwrap().text.clone();
    let begin: String = said.chars().take(24).collect();
    assert!(screen(&mut app).contains(&begin), "{said}: {}", screen(&mut app));
}

#[test]
fn the_end_comes_before_what_was_read_already() {
    let mut session = live::lesson("umh/fig5-a");
    session.stop_at_narration(true);
    let mut app = app(live::frame(&mut session, &[]), 80, 24);
    for _ in 0..12 {
        app.show(Arc::new(live::frame(&mut session, &["continue"])));
    }
    let screen = screen(&mut app);
    let story = screen.lines().skip_while(|line| !line.contains(" lesson · ")).nth(1).unwrap();
    assert!(story.contains("The end: all 8 expectations hold"), "{screen}");
}

#[test]
fn of_several_words_of_one_event_those_that_are_new_come_first() {
    let mut session = live::lesson("scalegpu/burst");
    session.stop_at_narration(true);
    let mut app = app(live::frame(&mut session, &[]), 80, 24);
    let is_told = |app: &App| app.frame.lesson.as_ref().is_some_and(|lesson| lesson.step.0 == lesson.step.1);
    for _ in 0..10 {
        if !is_told(&app) {
            app.show(Arc::new(live::frame(&mut session, &["continue"])));
        }
    }
    let lesson = app.frame.lesson.as_ref().unwrap();
    let new: String = lesson.said.get(app.heard.pieces).unwrap().text.chars().take(24).collect();
    let screen = screen(&mut app);
    let story = screen.lines().skip_while(|line| !line.contains(" lesson · ")).nth(1).unwrap();
    assert!(app.heard.pieces > 0 && story.contains(&new), "{new}: {screen}");
}

#[test]
fn a_question_is_answered_from_its_choices() {
    let mut app = app(Sample::frame(), 80, 24);
    press(&mut app, "p");
    assert!(screen(&mut app).contains("2  no"));
    assert_eq!(commands(&press(&mut app, "2")), ["predict no"]);
    assert_eq!(app.overlay, None);
    // Its number and enter answer, too, which is said; before another key it is a count.
    assert_eq!(commands(&press(&mut app, "2")), [""; 0]);
    assert!(screen(&mut app).contains("enter answers 2: no"));
    assert_eq!(commands(&press(&mut app, "enter")), ["predict no"]);
    assert_eq!(commands(&press(&mut app, "2 s")), ["step 2"]);
    let mut frame = Sample::frame();
    let question = frame.lesson.as_mut().and_then(|lesson| lesson.question.as_mut()).unwrap();
    question.predicted = Some("no".into());
    app.show(Arc::new(frame.clone()));
    assert_eq!(commands(&press(&mut app, "p")), ["reveal"]);
    let question = frame.lesson.as_mut().and_then(|lesson| lesson.question.as_mut()).unwrap();
    question.revealed = Some(Reveal {
        answer: "no".into(),
        because: "cache N read = ack".into(),
        why: "The L2 has them.".into(),
        right: Some(true),
        at: None,
    });
    app.show(Arc::new(frame));
    let text = screen(&mut app);
    assert!(text.contains("✓ Right: no") && text.contains("because cache N read = ack"), "{text}");
    assert!(text.contains("The L2 has them."), "{text}");
}

#[test]
fn a_lesson_says_what_it_is_about_and_when_it_is_over() {
    let mut frame = Sample::frame();
    Arc::make_mut(&mut frame.info).about = "Two GPUs and one line.".into();
    let mut app = app(frame.clone(), 100, 30);
    app.focus = Pane::Lesson;
    app.zoom = true;
    let text = screen(&mut app);
    assert!(!text.contains("What it is about:"), "it may tell what is asked: {text}");
    frame.lesson.as_mut().unwrap().question.as_mut().unwrap().predicted = Some("no".into());
    app.show(Arc::new(frame.clone()));
    let text = screen(&mut app);
    assert!(text.contains("What it is about:") && text.contains("Two GPUs and one line."), "{text}");
    assert!(!text.contains("The end"), "{text}");
    let lesson = frame.lesson.as_mut().unwrap();
    (lesson.step, lesson.question) = ((7, 7), None);
    frame.run = RunState::Finished;
    app.show(Arc::new(frame));
    let text = screen(&mut app);
    assert!(
        text.contains("7 of 7 · 1 of 2 right · the end")
            && text.contains("The end: 1 of 2 expectations hold."),
        "{text}"
    );
}

/// The answer is seen where it became known, whatever was told between.
#[test]
fn what_a_question_came_to_is_told_though_the_story_went_on_before() {
    let mut frame = Sample::frame();
    let lesson = frame.lesson.as_mut().unwrap();
    let mut question = lesson.question.take().unwrap();
    question.predicted = Some("yes".into());
    let why = String::new();
    let answer = "no".to_owned();
    question.revealed = Some(Reveal { answer, because: why.clone(), why, right: Some(false), at: Some(57) });
    let say = |event, text: &str, question| Say { event, text: text.to_owned(), question };
    lesson.said = vec![
        say(40, "It is asked.", Some(question)),
        say(50, "Between.", None),
        say(57, "It is known.", None),
    ];
    let mut app = app(frame.clone(), 100, 30);
    app.focus = Pane::Lesson;
    app.zoom = true;
    let text = screen(&mut app);
    let place = |part: &str| text.find(part).unwrap_or_else(|| panic!("{part}: {text}"));
    assert!(place("✗ No, it is: no") < place("It is known."), "{text}");
    // Known before the last words, it has been told with them.
    let said = &mut frame.lesson.as_mut().unwrap().said;
    said[0].question.as_mut().unwrap().revealed.as_mut().unwrap().at = Some(45);
    app.show(Arc::new(frame));
    let text = screen(&mut app);
    assert!(text.find("No, it is: no") > text.find("It is known."), "{text}");
}

#[test]
fn a_story_that_is_told_of_other_settings_says_so() {
    let mut frame = Sample::frame();
    let text = |frame: &Frame| {
        let mut app = app(frame.clone(), 100, 30);
        app.focus = Pane::Lesson;
        app.zoom = true;
        screen(&mut app)
    };
    assert!(!text(&frame).contains("The story is told of"));
    Arc::make_mut(&mut frame.info).set_by_hand = vec!["gpu.paging.evict = \"random\"".into()];
    let told = "The story is told of the scenario as it is, not with gpu.paging.evict = \"random\".";
    assert!(text(&frame).contains(told), "{}", text(&frame));
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
fn what_several_commands_answer_is_told_together() {
    let mut app = app(Sample::frame(), 80, 24);
    let error = |word: &str| Answer::Error(Box::new(Diagnostic::new(format!("there is no command {word}"))));
    app.answered(vec![error("brek")]);
    assert_eq!(app.overlay, None);
    app.answered(vec![Answer::Lines(vec!["breakpoint 1: complete".into()])]);
    let text = screen(&mut app);
    assert!(text.contains("no command brek") && text.contains("breakpoint 1: complete"), "{text}");
    // The next command begins anew.
    app.overlay = None;
    press(&mut app, "s");
    app.answered(vec![Answer::Lines(vec!["nothing moves".into()])]);
    let text = screen(&mut app);
    assert!(app.overlay.is_none() && text.contains("nothing moves") && !text.contains("brek"), "{text}");
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
    let stop = Stop { text: "two writers of block 0x1000".into(), tone: Tone::Bad, ..Stop::default() };
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
fn what_went_wrong_is_told_whole_or_where_it_is() {
    let long = "two writers of one block ".repeat(5);
    let stop = Stop { text: format!("{long}last words"), tone: Tone::Bad, ..Stop::default() };
    let mut app = app(Frame { stop: Some(stop), ..Sample::frame() }, 80, 24);
    let text = screen(&mut app);
    assert!(text.lines().nth(1).unwrap().contains(":info stop: all of it"), "{text}");
    app.see(100, 40);
    let text = screen(&mut app);
    assert!(text.lines().nth(2).unwrap().ends_with("last words"), "{text}");
}

#[test]
fn a_small_screen_says_at_the_end_of_a_lesson_whether_its_expectations_hold() {
    let mut session = live::lesson("umh/fig5-c");
    let mut app = app(live::frame(&mut session, &["end"]), 80, 24);
    let text = screen(&mut app);
    let line = text.lines().nth(1).unwrap();
    assert!(line.contains("end of the run: all ") && line.contains(" expectations hold"), "{text}");
}

#[test]
fn the_key_that_tells_of_a_deadlock_is_named() {
    let knot = Knot { verdict: "DEADLOCK", headline: String::new(), edges: Vec::new(), is_circle: true };
    let stop = crate::debug::stop::Stop {
        reasons: vec![crate::debug::stop::Reason::Stuck],
        event: 1,
        cycle: 1,
        records: Vec::new(),
    };
    let (deadlock, stop) = (Some(knot), stop.view());
    let text = screen(&mut app(Frame { run: RunState::Stuck, stop, deadlock, ..Sample::frame() }, 80, 24));
    assert!(text.contains("(D tells why)") && text.lines().last().unwrap().contains("D deadlock"), "{text}");
}

#[test]
fn help_is_not_left_for_the_filter_of_a_log_beneath_it() {
    let mut app = app(Sample::frame(), 80, 24);
    press(&mut app, "? /");
    assert!(app.prompt.is_none() && app.overlay == Some(Overlay::Help));
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
     ■ breakpoint 1  ▸ gpu0.cu0.l1 goes I > N on n-store, takes grant N + data fro…
     umh/fig5-b1  ■ finished  event 28 of 28 · cycle 2,209 (2761 ns)
     ■ end  ▸ host.hmd0 takes grant-ack from gpu1.smd0
     umh/fig5-b1  ‖ paused  event 0 of 28 · cycle 0 (0 ns)  NMOESI · 2 GPUs · PCIe…
     ■ start of the run: there is no earlier event  ▸ Nothing has happened yet. s …
    ");
}

#[test]
fn what_has_stopped_the_run_comes_first_with_what_was_so_instead() {
    let frame = Sample::frame();
    let lesson = frame.lesson.clone().unwrap();
    let story: String = lesson.said.last().unwrap().text.chars().take(16).collect();
    let failed = Expectation {
        text: "after a: x is 1".to_owned(),
        failed: Some((3, "after a: x is 0, not 1".to_owned())),
        holds: Some(false),
    };
    let lesson = Lesson { expectations: vec![failed], ..lesson };
    let stop = Stop { text: "expectation failed".to_owned(), tone: Tone::Bad, ..Stop::default() };
    let mut app = app(Frame { lesson: Some(lesson), stop: Some(stop), ..frame }, 80, 24);
    press(&mut app, "f9");
    let screen = screen(&mut app);
    let (wrong, told) = (screen.find("✗ after a: x is 0, not 1"), screen.find(&story));
    assert!(wrong.is_some() && wrong < told, "{screen}");
}
