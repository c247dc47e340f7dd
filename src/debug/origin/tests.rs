//! Sessions on scenarios: lessons, quizzes, forks, what a console tells.

use std::sync::Arc;

use super::super::frame::protocol::ProtocolView;
use super::super::frame::wish::Wish;
use super::super::interrupt::Interrupt;
use super::super::sample::{bundled, bundled_with};
use super::super::session::Session;
use super::super::stop::Reason;
use super::super::work::Outcome;
use super::*;
use crate::model::component::ComponentKind;
use crate::model::record::Records;
use crate::model::state::{Action, State};

fn execute(session: &mut Session, text: &str) -> Outcome {
    session.execute(text, &Interrupt::default()).unwrap_or_else(|error| panic!("{text}: {error}"))
}

const LESSON: &str = r#"
title = "A second GPU writes the same line without coherence"
machine = "tiny/umh-2gpu"
[[do]]
id = "first"
by = "gpu0.cu0"
n-store = { address = 0x1000, bytes = "07" }
[[do]]
id = "second"
after = "first"
by = "gpu1.cu1"
n-store = { address = 0x1004, bytes = "09" }
[[say]]
on = "message type read from gpu1.smd0"
text = "The HMD knows who has this block, and asks."
ask = { text = "Must GPU 0 give up its data?", answer = "no", choices = ["yes", "no"] }
[[expect]]
after = "second"
that = ["state of gpu0.cu0.l1 block 0x1000 is N"]
"#;

/// A session on [`LESSON`], which `reload` opens anew.
fn lesson() -> Session {
    let load = || Origin::of_text("lesson", LESSON);
    Session::open(load().unwrap(), Some(Box::new(load)))
}

#[test]
fn a_lesson_walks_in_both_directions_over_the_real_machine() {
    let mut session = lesson();
    execute(&mut session, "set stop-at-narration on");
    let told = execute(&mut session, "continue").lines;
    // After what happened comes what is said of it.
    let at = |part: &str| told.iter().position(|line| line.contains(part));
    assert!(at(" read, to host.hmd0").is_some(), "{told:?}");
    assert!(at(" read, to host.hmd0") < at("lesson: The HMD"), "{told:?}");
    let asked = session.event();
    let refused = session.execute("predict perhaps", &Interrupt::default()).unwrap_err().to_string();
    assert!(refused.contains("none of the answers") && refused.contains("yes / no"), "{refused}");
    execute(&mut session, "predict No");
    let lines = execute(&mut session, "info lesson").lines.join("\n");
    assert!(lines.contains("You said: no") && !lines.contains("Right"), "{lines}");
    execute(&mut session, "step");
    let lines = execute(&mut session, "info lesson").lines.join("\n");
    assert!(lines.contains("Right: no"), "{lines}");
    execute(&mut session, "end");
    let last = execute(&mut session, "info position").lines;
    let lines = execute(&mut session, "info lesson").lines.join("\n");
    assert!(lines.contains("\nholds ") && !lines.contains("FAILED"), "{lines}");
    execute(&mut session, "reverse-continue");
    assert_eq!(session.event(), asked);
    let lines = execute(&mut session, "info lesson").lines.join("\n");
    assert!(!lines.contains("\nholds "), "{lines}");
    assert!(!lines.contains("open "), "what is to come would give the answer away: {lines}");
    for verb in ["transition 3", "reverse-cycle 2", "finish", "reverse-transition 2", "start", "end"] {
        execute(&mut session, verb);
    }
    assert_eq!(execute(&mut session, "info position").lines, last);
    assert_eq!(execute(&mut session, "reload").lines[0], "read again");
    assert_eq!(execute(&mut session, "info position").lines, last);
    for command in ["goto 3", "bookmark kept", "fork hold 64", "bookmark lost"] {
        execute(&mut session, command);
    }
    assert_eq!(execute(&mut session, "reload").lines[0], "read again; gone: 1 branch and 1 bookmark");
    assert!(session.bookmarks().contains_key("kept"));
}

#[test]
fn what_is_said_before_an_event_is_said_where_nothing_of_it_is_seen() {
    let text = LESSON
        .replace("on = \"message type read from gpu1.smd0\"", "before = \"issue kind n-store at gpu1.cu1\"")
        + "[[say]]\non = \"issue kind n-store at gpu1.cu1\"\ntext = \"Now.\"\n";
    let mut session = Session::open(Origin::of_text("lesson", &text).unwrap(), None);
    // Nobody stops for it, but it is told.
    let told = execute(&mut session, "end").lines.join("\n");
    let issued = session.timeline().lesson().unwrap().said().collect::<Vec<_>>();
    assert_eq!(issued[0] + 1, issued[1], "{issued:?}");
    let (early, late) = (told.find("The HMD").unwrap(), told.find("Now.").unwrap());
    assert!(early < late, "{told}");
    let mut session = Session::open(Origin::of_text("lesson", &text).unwrap(), None);
    execute(&mut session, "set stop-at-narration on");
    let mut stops = |verb: &str| {
        let mut told = execute(&mut session, verb).lines;
        told.retain(|line| line.starts_with("lesson: "));
        (session.event(), told.join("\n"))
    };
    let (first, told) = stops("continue");
    assert!(told.starts_with("lesson: Next: The HMD knows"), "{told}");
    let (second, told) = stops("continue");
    assert!(told.starts_with("lesson: Now."), "{told}");
    assert_eq!(vec![first, second], issued);
    assert_eq!(stops("reverse-continue").0, first);
    assert_eq!((stops("continue").0, stops("start").0, stops("continue").0), (second, 0, first));
    let waits = |session: &mut Session| execute(session, "info block 0x1004").lines.join("\n");
    assert!(!waits(&mut session).contains("gpu1"), "its L1 has not been asked yet");
    execute(&mut session, "continue");
    assert!(waits(&mut session).contains("gpu1"));
    // Whoever comes there event by event, or is stopped there by something else, is told as much, and no run goes back for it.
    let kind = session.records(first - 1, first).first().unwrap().kind();
    for (stop, verb) in [(String::new(), "step"), (format!("break {kind}"), "continue")] {
        let mut session = Session::open(Origin::of_text("lesson", &text).unwrap(), None);
        let said = |session: &Session| session.timeline().lesson().unwrap().said().collect::<Vec<_>>();
        for line in ["set stop-at-narration on", &format!("goto event {}", first - 1), &stop] {
            execute(&mut session, line);
        }
        assert!(said(&session).is_empty(), "{verb}");
        let told = execute(&mut session, verb).lines;
        assert_eq!((session.event(), said(&session)), (first, vec![first]), "{verb}");
        let is_told = told.iter().any(|line| line.starts_with("lesson: Next:"));
        assert_eq!(is_told, verb == "continue", "{told:?}");
        execute(&mut session, "continue");
        assert_eq!((session.event(), said(&session)), (second, issued.clone()), "{verb}");
    }
}

#[test]
fn where_a_recording_ends_is_told_what_was_found_or_that_it_is_another_run() {
    let reason = |digest: Option<u64>| {
        let mut origin = Origin::of_text("lesson", LESSON).unwrap();
        let mut machine = origin.machine.fork();
        for _ in 0..5 {
            machine.step(&mut Records::silent());
        }
        let mark = Mark { event: 5, cycle: 0, digest: digest.unwrap_or(machine.digest()) };
        origin.recorded = Some(Recorded { mark, found: Some("two writers".into()), is_violation: true });
        let mut session = Session::open(origin, None);
        let reason = execute(&mut session, "goto event 5").stop.unwrap().reasons.remove(0);
        (reason, session)
    };
    let (found, mut session) = reason(None);
    assert_eq!(found, Reason::Found { text: "two writers".into(), is_violation: true });
    let why = execute(&mut session, "why").lines;
    assert_eq!(why[0], "two writers");
    assert!(why[1].starts_with("decided of 0x"), "{why:?}");
    assert_eq!(reason(Some(0)).0, Reason::Differs);
}

#[test]
fn any_scenario_is_a_quiz() {
    let mut session = bundled("kernels/transpose-2gpu");
    execute(&mut session, "set quiz on");
    let mut asked = 0;
    while asked < 8 {
        let stop = execute(&mut session, "continue").stop.unwrap();
        assert_ne!(stop.reasons[0], Reason::Finished, "{asked} questions");
        let Reason::Question(text) = &stop.reasons[0] else { continue };
        assert!(text.contains("Which state next?"), "{text}");
        asked += 1;
        assert!(session.selection().component.is_some() && session.selection().block.is_some());
        let lesson = session.timeline().lesson().unwrap();
        let answer = lesson.asked().last().unwrap().ask.answer.clone();
        let said = if asked == 1 { "O" } else { &answer };
        execute(&mut session, &format!("predict {said}"));
        let before = session.event();
        execute(&mut session, "step");
        assert_eq!(session.event(), before + 1, "what is asked about happens next");
    }
    let lesson = session.timeline().lesson().unwrap();
    let quiz = lesson.asked().iter().filter(|asked| asked.say.is_none());
    assert!(quiz.count() == asked, "{asked}");
    let (right, all) = lesson.score(session.event());
    assert_eq!((right, all), (asked - 1, asked));
    let lines = execute(&mut session, "info lesson").lines.join("\n");
    assert!(lines.contains("Which state next?\n  You said: O\n  No: "), "{lines}");
    assert!(lines.contains("because "), "{lines}");
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("answers.csv");
    execute(&mut session, &format!("save answers {}", file.display()));
    let saved = std::fs::read_to_string(file).unwrap();
    assert_eq!(saved.lines().count(), lesson_questions(&session) + 1, "{saved}");
    assert!(saved.contains(",no\n") && saved.contains(",yes\n"), "{saved}");
    // What was answered stays when the cursor goes to another branch, and is told once.
    execute(&mut session, "goto 1");
    execute(&mut session, "fork set network.latency=\"2 us\"");
    let file = folder.path().join("branches.csv");
    execute(&mut session, &format!("save answers {}", file.display()));
    let again = std::fs::read_to_string(file).unwrap();
    let counts = |text: &str| [",yes\n", ",no\n", "\n"].map(|what| text.matches(what).count());
    assert_eq!(counts(&again), counts(&saved), "{again}");
}

/// All that the quiz asks of a lesson.
fn quiz_of(name: &str) -> Vec<String> {
    let mut session = bundled(name);
    execute(&mut session, "set quiz on");
    let mut asked = Vec::new();
    loop {
        let stop = execute(&mut session, "continue").stop.unwrap();
        match &stop.reasons[0] {
            Reason::Finished => return asked,
            Reason::Question(text) => asked.push(text.clone()),
            _ => {}
        }
    }
}

#[test]
fn the_quiz_does_not_ask_what_a_grant_has_named_before_its_data_came() {
    let asked = quiz_of("umh/fig5-b2");
    assert!(!asked.is_empty(), "it asked nothing at all");
    assert!(!asked.iter().any(|text| text.contains(" in I, ")), "{asked:?}");
}

#[test]
fn the_quiz_asks_what_a_childs_dirty_bytes_make_of_a_node() {
    let asked = quiz_of("umh/fig5-c");
    assert!(asked.iter().any(|text| text.contains("dirty bytes arrive from a child")), "{asked:?}");
}

#[test]
fn a_run_that_does_not_end_as_expected_says_so() {
    let end = |ends: &str| {
        let text = LESSON.split("[[say]]").next().unwrap().replacen("machine", &format!("{ends}machine"), 1);
        let mut session = Session::open(Origin::of_text("own", &text).unwrap(), None);
        execute(&mut session, "continue").lines.join("\n")
    };
    assert!(end("ends = \"deadlock\"\n").contains("a deadlock was expected"));
    assert!(end("").contains("all work is done"));
}

#[test]
fn a_fork_says_that_nothing_is_expected_of_it() {
    let mut session = lesson();
    execute(&mut session, "step 3");
    let lines = execute(&mut session, "fork hold 4").lines.join("\n");
    assert!(lines.contains("an expectation of the scenario is not looked at from here on"), "{lines}");
    let mut session = lesson();
    execute(&mut session, "end");
    execute(&mut session, "reverse-step");
    let lines = execute(&mut session, "fork hold 4").lines.join("\n");
    assert!(!lines.contains("not looked at"), "{lines}");
}

#[test]
fn what_the_quiz_asked_is_a_place_to_stop_in_both_directions() {
    let mut session = bundled("numa/message-passing");
    execute(&mut session, "set quiz on");
    let mut walk = |verb: &str| {
        let mut stops = Vec::new();
        loop {
            let stop = execute(&mut session, verb).stop.unwrap();
            match &stop.reasons[0] {
                Reason::Finished | Reason::Start => return stops,
                Reason::Question(text) => {
                    assert!(!text.contains(" a n-") && !text.contains(" a a"), "{text}");
                }
                _ => {}
            }
            stops.push(stop.event);
        }
    };
    let forward = walk("continue");
    let mut back = walk("reverse-continue");
    back.reverse();
    assert!(forward.len() > 3 && forward == back, "{forward:?} {back:?}");
    assert_eq!(walk("continue"), forward);
}

fn lesson_questions(session: &Session) -> usize {
    session.timeline().lesson().unwrap().asked().len()
}

#[test]
fn a_table_tells_what_its_own_nodes_did() {
    let mut session = bundled("scalegpu/both");
    execute(&mut session, "until tag outcome both");
    let info = Arc::new(session.info());
    let tables = session.frame(&info, &Wish::default()).protocol;
    let names: Vec<_> = tables.iter().map(|view| (view.table.name.as_str(), view.nodes.as_str())).collect();
    let all = [
        ("scale-memory", "GPU memory"),
        ("scale-gpu", "GPU L1"),
        ("scale-gpu", "GPU L2"),
        ("mesi", "host L1"),
        ("mesi", "host LLC"),
    ];
    assert_eq!(names.len(), all.len(), "{names:?}");
    assert_eq!(names[0], all[0], "what was used last comes first");
    assert!(all.iter().all(|name| names.contains(name)), "{names:?}");
    let used = |view: &ProtocolView, action| {
        view.counts.iter().filter(|cell| cell.action == action).map(|cell| cell.count).sum::<u64>()
    };
    assert_eq!(tables[0].last.map(|cell| (cell.state, cell.action)), Some((State::I, Action::NStore)));
    assert_eq!(used(&tables[0], Action::NStore), 1);
    let l1 = tables.iter().find(|view| view.nodes == "GPU L1").unwrap();
    assert!(l1.last.is_none());
    assert_eq!(used(l1, Action::NStore), 4, "one a store of the program, and none of the L2");
    let lines = execute(&mut session, "info table").lines.join("\n");
    assert!(lines.contains("scale-memory, GPU memory: "), "{lines}");
}

#[test]
fn no_component_is_left_out_of_a_frame() {
    let mut session = bundled("umh/fig5-b1");
    execute(&mut session, "goto event 12");
    let frame = session.frame(&Arc::new(session.info()), &Wish { limit: 1, ..Wish::default() });
    let components = session.machine().components();
    assert!(components.iter().filter(|(_, part)| part.kind == ComponentKind::Cu).count() > 1);
    for (id, part) in components.iter().filter(|(_, part)| part.kind == ComponentKind::Cu) {
        assert!(frame.agents.iter().any(|agent| agent.agent == id), "{}", part.path);
    }
    assert_eq!(frame.transactions.len(), 1, "but lists of what is under way are");
    let listed: usize = frame.mshrs.iter().map(|file| file.entries.len()).sum();
    let under_way: usize = frame.mshrs.iter().map(|file| file.under_way).sum();
    assert!(listed == 1 && under_way > 1, "{listed} of {under_way}");
}

#[test]
fn an_access_by_hand_has_no_warp() {
    let mut session = bundled("umh/fig5-b1");
    let lines = execute(&mut session, "fork choose load gpu0.cu0 0x2000 4").stop.unwrap();
    let text = lines.lines(session.machine()).join("\n");
    assert!(text.contains("issue") && text.contains("load 0x2000"), "{text}");
    assert!(!text.contains("warp"), "{text}");
}

#[test]
fn of_several_questions_each_is_asked_and_none_is_answered_once_its_answer_was_seen() {
    let more = "[[say]]\non = \"message type read from gpu1.smd0\"\ntext = \"And:\"\nask = { text = \"Who has it?\", answer = \"GPU 0\", \
                choices = [\"GPU 0\", \"GPU 1\"], why = \"It has loaded it.\" }\n";
    let mut session = Session::open(Origin::of_text("lesson", &format!("{LESSON}{more}")).unwrap(), None);
    execute(&mut session, "set stop-at-narration on");
    execute(&mut session, "continue");
    let asked = |session: &mut Session| {
        let mut wish = Wish::default();
        wish.panes.add(super::super::frame::wish::Pane::Lesson);
        let frame = session.frame(&Arc::new(session.info()), &wish);
        frame.lesson.and_then(|lesson| lesson.question).map(|question| question.text)
    };
    assert_eq!(asked(&mut session).as_deref(), Some("Must GPU 0 give up its data?"));
    execute(&mut session, "predict yes");
    assert_eq!(
        asked(&mut session).as_deref(),
        Some("Who has it?"),
        "the next one, and not the one that is answered"
    );
    execute(&mut session, "predict GPU 0");
    let told = execute(&mut session, "step").lines.join("\n");
    assert!(told.contains("no: no") && told.contains("right: GPU 0. It has loaded it."), "{told}");
    execute(&mut session, "reverse-step");
    let refused = session.execute("predict no", &Interrupt::default()).unwrap_err().to_string();
    assert!(refused.contains("its answer has been seen"), "{refused}");
    assert_eq!(session.timeline().lesson().unwrap().score(session.event() + 1), (1, 2));
}

#[test]
fn a_question_that_is_passed_stays_in_the_story() {
    let mut session = bundled("umh/fig5-b1");
    execute(&mut session, "end");
    let lines = execute(&mut session, "info lesson").lines.join("\n");
    assert!(
        lines.contains("Not answered: answers without data, stays N\n  because cache N read\n"),
        "the answer is told once: {lines}"
    );
}

#[test]
fn the_last_cycle_ends_a_run_here_too() {
    let options = Options { max_cycles: Some(500), ..Options::default() };
    let mut session = bundled_with("umh/fig5-b1", &options);
    for verb in ["end", "step"] {
        let [end, failed] = &execute(&mut session, verb).stop.unwrap().reasons[..] else { panic!("{verb}") };
        assert_eq!((end, session.cycle() <= 500), (&Reason::Limit(500), true), "{verb}");
        assert!(failed.sentence().contains("expectations failed, the first at event"), "{failed:?}");
    }
}

#[test]
fn a_console_tells_the_story_in_passing_and_once() {
    let mut session = bundled("umh/fig5-b1");
    let lines = execute(&mut session, "continue").lines.join("\n");
    assert_eq!(lines.matches("  question: ").count(), 2, "{lines}");
    execute(&mut session, "start");
    let lines = execute(&mut session, "end").lines.join("\n");
    assert!(!lines.contains("question"), "{lines}");
    // Where it stops, what may be answered is told, too; and each piece of it once.
    let mut session = lesson();
    execute(&mut session, "set stop-at-narration on");
    let lines = execute(&mut session, "continue").lines;
    let told = |text: &str| lines.iter().filter(|line| line.contains(text)).count();
    assert_eq!(told("The HMD knows who has this block"), 1, "{lines:?}");
    assert_eq!(told("  question: Must GPU 0 give up its data?"), 1, "{lines:?}");
    assert!(lines.contains(&"  1 yes".to_owned()) && lines.contains(&"  2 no".to_owned()), "{lines:?}");
    let mut session = bundled("umh/fig5-b1");
    execute(&mut session, "set stop-at-narration on");
    let lines = execute(&mut session, "goto 16").lines.join("\n");
    assert!(lines.contains("lesson at event 10:") && lines.contains("question:"), "{lines}");
}

#[test]
fn a_watch_on_the_real_machine_stops_both_ways() {
    let mut session = lesson();
    execute(&mut session, "watch state of gpu1.cu1.l1 block 0x1000");
    let there = execute(&mut session, "continue").stop.unwrap();
    assert!(there.reasons[0].sentence().contains("watchpoint 1"), "{there:?}");
    execute(&mut session, "end");
    let mut back = Vec::new();
    while session.event() > there.event {
        execute(&mut session, "reverse-continue");
        back.push(session.event());
    }
    assert_eq!(back.last(), Some(&there.event));
}
