//! Sessions on a toy: walks in both directions, stops, commands.

use proptest::prelude::*;

use super::super::interrupt::Interrupt;
use super::super::stop::Reason;
use super::super::toy::Toy;
use super::*;

/// A session on a toy of `last` events.
pub fn session(last: EventNumber) -> Session {
    session_of(Toy::boxed(last))
}

fn session_of(machine: Box<dyn Subject>) -> Session {
    let origin = Origin {
        maker: None,
        recorded: None,
        left_out: None,
        name: "toy".into(),
        title: "A toy".into(),
        source: String::new(),
        about: String::new(),
        machine,
        context: None,
        breaks: Vec::new(),
        lesson: None,
        bug: None,
    };
    Session::open(origin, None)
}

fn execute(session: &mut Session, text: &str) -> super::super::work::Outcome {
    session.execute(text, &Interrupt::default()).unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn position(session: &mut Session) -> String {
    execute(session, "info position").lines.remove(0)
}

fn reason(session: &mut Session, text: &str) -> Reason {
    execute(session, text).stop.unwrap().reasons.remove(0)
}

/// The position after a straight run to `event`.
fn straight(last: EventNumber, event: EventNumber) -> String {
    let mut session = session(last);
    execute(&mut session, &format!("goto {event}"));
    position(&mut session)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn any_walk_ends_where_a_straight_run_ends(
        verbs in prop::collection::vec((0usize..14, 1u64..60), 1..25),
        breaks in any::<bool>(),
    ) {
        let mut walker = session(9_000);
        if breaks {
            execute(&mut walker, "break transition to M at gpu1");
            execute(&mut walker, "watch state of gpu0.cu0.l1 block 0x1000 is O");
        }
        for (verb, count) in verbs {
            let line = match verb {
                0 => format!("step {}", count * 50),
                1 => format!("reverse-step {}", count * 20),
                2 => format!("cycle {count}"),
                3 => format!("reverse-cycle {count}"),
                4 => format!("transition {count}"),
                5 => format!("reverse-transition {count}"),
                6 => "finish 2".into(),
                7 => "reverse-finish".into(),
                8 => "continue".into(),
                9 => "reverse-continue".into(),
                10 => format!("goto {}", count * 150),
                11 => format!("goto cycle {}", count * 60),
                12 => "effect".into(),
                _ => "run".into(),
            };
            execute(&mut walker, &line);
        }
        prop_assert_eq!(position(&mut walker), straight(9_000, walker.event()));
    }
}

#[test]
fn a_verb_and_its_reverse_undo_each_other() {
    for (forward, backward) in [
        ("step", "reverse-step"),
        ("cycle", "reverse-cycle"),
        ("transition", "reverse-transition"),
        ("continue", "reverse-continue"),
    ] {
        let mut session = session(3_000);
        if forward == "continue" {
            execute(&mut session, "break transition from O to E");
        }
        execute(&mut session, "goto 700");
        execute(&mut session, forward);
        let here = position(&mut session);
        for _ in 0..3 {
            execute(&mut session, forward);
        }
        assert_ne!(position(&mut session), here, "{forward}");
        for _ in 0..3 {
            execute(&mut session, backward);
        }
        assert_eq!(position(&mut session), here, "{backward}");
    }
}

#[test]
fn going_back_stops_where_going_forward_stopped() {
    let mut session = session(2_000);
    execute(&mut session, "break transition from O to E if state of gpu0.cu0.l1 block 0x1000 is E");
    execute(&mut session, "watch state of gpu1.cu0.l1 block 0x1000 is N");
    let mut stops = Vec::new();
    while !matches!(reason(&mut session, "continue"), Reason::Finished) {
        stops.push(session.event());
    }
    assert!(stops.len() > 20, "{stops:?}");
    let mut back = Vec::new();
    while reason(&mut session, "reverse-continue") != Reason::Start {
        back.push(session.event());
    }
    back.reverse();
    assert_eq!(stops, back);
}

#[test]
fn ignored_hits_are_passed_in_both_directions() {
    let mut session = session(2_000);
    execute(&mut session, "break transition to M");
    let stops: Vec<_> = (0..8)
        .map(|_| {
            execute(&mut session, "continue");
            session.event()
        })
        .collect();
    execute(&mut session, "ignore 1 2");
    execute(&mut session, "reverse-continue");
    assert_eq!(session.event(), stops[4]);
    execute(&mut session, "continue 3");
    assert_eq!(session.event(), stops[7]);
    assert_eq!(session.breakpoints().get(1).unwrap().hits, 14);
}

#[test]
fn the_ends_are_told() {
    let mut session = session(100);
    assert_eq!(reason(&mut session, "reverse-step"), Reason::Start);
    assert_eq!(reason(&mut session, "step 1000"), Reason::Finished);
    assert_eq!((session.event(), reason(&mut session, "step")), (100, Reason::Finished));
    assert_eq!(reason(&mut session, "reverse-step 100"), Reason::Arrived);
    assert_eq!(session.event(), 0);
    assert_eq!(reason(&mut session, "goto 5000"), Reason::Beyond("event 5000".to_owned()));
    assert_eq!(reason(&mut session, "reverse-step 101"), Reason::Start);
    assert_eq!(reason(&mut session, "until event 5000"), Reason::Beyond("event 5000".to_owned()));
    execute(&mut session, "start");
    assert_eq!(reason(&mut session, "until cycle 999999"), Reason::Beyond("cycle 999999".to_owned()));
    execute(&mut session, "goto 20.1");
    assert_eq!(session.event(), 20);
}

#[test]
fn what_a_breakpoint_is_to_carry_out_is_a_command() {
    let mut session = session(100);
    execute(&mut session, "break transition to M");
    let error = session.execute("commands 1 info position; ifno", &Interrupt::default()).unwrap_err();
    assert!(error.message.contains("there is no command \"ifno\""), "{error}");
    assert!(session.breakpoints().get(1).unwrap().commands.is_empty());
    execute(&mut session, "commands 1");
    assert!(session.execute("contniue", &Interrupt::default()).is_err());
    for line in ["# why", "info position", "end"] {
        execute(&mut session, line);
    }
    assert_eq!(session.breakpoints().get(1).unwrap().commands, ["# why", "info position"]);
    // What is wrong in a file ends what the file had begun.
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("commands");
    std::fs::write(&file, "commands 1\nifno position\nend\n").unwrap();
    let error = session.execute(&format!("source {}", file.display()), &Interrupt::default()).unwrap_err();
    assert_eq!(error.position(), Some((2, 1)));
    assert!(!session.is_collecting());
}

#[test]
fn a_counted_run_passes_whatever_would_stop_it() {
    let mut session = session(2_000);
    for line in ["break transition to M", "break transition to S", "break cycle 400"] {
        execute(&mut session, line);
    }
    let mut stops = vec![0];
    while reason(&mut session, "continue") != Reason::Finished {
        stops.push(session.event());
    }
    execute(&mut session, "start");
    assert!(stops.len() > 12, "{stops:?}");
    execute(&mut session, "continue 7");
    assert_eq!(session.event(), stops[7]);
    execute(&mut session, "continue 2");
    assert_eq!(session.event(), stops[9]);
    execute(&mut session, "reverse-continue 4");
    assert_eq!(session.event(), stops[5]);
    assert_eq!(reason(&mut session, "reverse-continue 9"), Reason::Start);
    assert_eq!(reason(&mut session, "continue 100000"), Reason::Finished);
    assert!(session.breakpoints().list().iter().all(|point| point.ignore == 0));
}

#[test]
fn a_failed_check_that_was_passed_stops_no_later_movement() {
    let mut session = session_of(Toy::flawed(30_000, 20_000));
    execute(&mut session, "goto 20005");
    assert_eq!((reason(&mut session, "step"), session.event()), (Reason::Arrived, 20_006));
    execute(&mut session, "start");
    execute(&mut session, "goto 25000");
    assert_eq!((reason(&mut session, "reverse-step 3"), session.event()), (Reason::Arrived, 24_997));
    assert_eq!(reason(&mut session, "continue"), Reason::Finished);
}

#[test]
fn a_failed_check_stops_a_run_in_both_directions() {
    let mut session = session_of(Toy::flawed(30_000, 20_000));
    let failed = Reason::Violation { rule: "toy".into(), text: "it broke".into() };
    assert_eq!((reason(&mut session, "continue"), session.event()), (failed.clone(), 20_000));
    assert_eq!(reason(&mut session, "continue"), Reason::Finished);
    assert_eq!((reason(&mut session, "reverse-step 20000"), session.event()), (failed, 20_000));
    execute(&mut session, "set stop-at-violations off");
    assert_eq!(reason(&mut session, "run"), Reason::Finished);
}

#[test]
fn who_comes_where_a_check_failed_is_told_so() {
    let mut session = session_of(Toy::flawed(30_000, 20_000));
    let failed = Reason::Violation { rule: "toy".into(), text: "it broke".into() };
    assert_eq!(reason(&mut session, "goto 20000"), failed);
    assert_eq!(reason(&mut session, "goto 19999"), Reason::Arrived);
    assert_eq!(reason(&mut session, "step"), failed);
    assert_eq!(reason(&mut session, "step"), Reason::Arrived);
}

#[test]
fn a_cause_and_its_effect_are_one_jump_apart() {
    let mut session = session(100);
    execute(&mut session, "goto 50");
    execute(&mut session, "cause");
    assert_eq!(session.event(), 47);
    execute(&mut session, "effect");
    assert_eq!(session.event(), 50);
    // Where nothing follows, nothing moves.
    assert_eq!(reason(&mut session, "effect 1000"), Reason::NoEffect);
    assert_eq!(session.event(), 50);
}

#[test]
fn goto_cycle_is_the_first_position_in_it_from_either_side() {
    let mut session = session(5_000);
    execute(&mut session, "goto cycle 900");
    let first = session.event();
    assert!(session.cycle() >= 900);
    execute(&mut session, "goto 4000");
    execute(&mut session, "goto cycle 900");
    assert_eq!(session.event(), first);
    execute(&mut session, "reverse-step");
    assert!(session.cycle() < 900);
    execute(&mut session, "until cycle 900");
    assert_eq!(session.event(), first);
    execute(&mut session, "goto 3000");
    execute(&mut session, "reverse-until cycle 900");
    assert_eq!(session.event(), first);
}

#[test]
fn a_million_events_later_a_step_back_replays_few_of_them() {
    for (count, most) in [(6, 1024), (Budget::default().count, 256)] {
        let mut session = session(2_000_000);
        session.timeline.set_budget(Budget { count, ..Budget::default() });
        execute(&mut session, "goto 1000000");
        for back in 0..20 {
            let event = session.event();
            assert_eq!(event, 1_000_000 - back);
            let checkpoints: Vec<_> = session.timeline().checkpoints().collect();
            assert!(checkpoints.len() <= count, "{checkpoints:?}");
            let before = checkpoints.iter().filter(|at| **at < event).max().copied();
            assert!(before.is_some_and(|at| event - at <= most), "{event}: {checkpoints:?}");
            execute(&mut session, "reverse-step");
        }
    }
}

#[test]
fn a_long_script_that_turns_round_runs_to_its_end() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("script");
    let mut session = session(2_000);
    execute(&mut session, "break transition to M");
    std::fs::write(&file, "continue\nreverse-step\n".repeat(750) + "goto 1500\n").unwrap();
    let lines = execute(&mut session, &format!("source {}", file.display())).lines;
    assert_eq!(session.event(), 1500, "{:?}", lines.last());
}

#[test]
fn commands_that_send_each_other_back_come_to_an_end() {
    let mut session = session(2_000);
    execute(&mut session, "break transition to M");
    execute(&mut session, "commands 1 reverse-continue; continue");
    let lines = execute(&mut session, "continue").lines;
    assert!(lines.iter().any(|line| line.contains("turned round 1000 times")), "{:?}", lines.last());
    execute(&mut session, "delete 1");
    execute(&mut session, "start");
    execute(&mut session, "break transition to M");
    execute(&mut session, "commands 2 continue");
    assert_eq!(reason(&mut session, "continue"), Reason::Finished);
}

#[test]
fn what_cannot_be_trusted_is_told_at_every_stop() {
    let mut session = session_of(Toy::void(100));
    for command in ["step", "continue", "reverse-step"] {
        assert_eq!(reason(&mut session, command), Reason::Void("the trace was lost".into()), "{command}");
    }
}

#[test]
fn saved_breakpoints_come_back() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("points");
    let mut first = session(100);
    execute(&mut first, "break transition at gpu0 if state of gpu1.cu0.l1 block 0x1000 is M");
    execute(&mut first, "ignore 1 3");
    execute(&mut first, "commands 1 print state of gpu0.cu0.l1 block 0x1000; step");
    execute(&mut first, "watch state of gpu0.cu0.l1 block 0x1000");
    execute(&mut first, "disable 2");
    execute(&mut first, &format!("save breakpoints {}", file.display()));
    let mut second = session(100);
    execute(&mut second, &format!("source {}", file.display()));
    let list = execute(&mut first, "info breakpoints").lines;
    assert_eq!(list.len(), 4);
    assert_eq!(list, execute(&mut second, "info breakpoints").lines);
    let again = format!("save breakpoints {}", file.display());
    assert!(first.execute(&again, &Interrupt::default()).is_err(), "a file must not be overwritten");
}

#[test]
fn a_file_that_calls_itself_ends() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("loop");
    std::fs::write(&file, format!("source {}\nstep\n", file.display())).unwrap();
    let mut session = session(100);
    assert!(session.execute(&format!("source {}", file.display()), &Interrupt::default()).is_err());
}

#[test]
fn every_command_bears_any_arguments() {
    for command in super::super::command::ALL {
        for tail in [
            "",
            "1",
            "x y z",
            "\u{fc}\u{2028} \"",
            "0x",
            "999999999999999999999999",
            "if",
            "if if",
            "warp",
            "block",
        ] {
            let mut session = session(50);
            let _ = session.execute(&format!("{} {tail}", command.name), &Interrupt::default());
            let _ = session.execute("step", &Interrupt::default());
        }
    }
}
