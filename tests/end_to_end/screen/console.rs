//! The debugger without a screen, and that both tell one story.

use super::{LESSON, command, open, wait_at};
use crate::common::binary::run;
use crate::common::umscope;

/// What the console answers to these commands.
fn console(commands: &str) -> String {
    let outcome = run(umscope(), &["debug", LESSON, "--no-tui"], commands);
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
    assert!(outcome.stderr.is_empty(), "{outcome:?}");
    outcome.stdout
}

/// The digest of the run without a debugger.
fn straight() -> String {
    let outcome = run(umscope(), &["run", LESSON, "--format", "json"], "");
    let document: serde_json::Value = serde_json::from_str(&outcome.stdout).unwrap();
    document["digest"].as_str().unwrap().to_owned()
}

/// These lines, in this order, perhaps with others between them.
#[track_caller]
fn in_order(text: &str, lines: &[&str]) {
    let mut rest = text.lines();
    for line in lines {
        assert!(rest.any(|one| one.trim_end() == *line), "no {line:?} where it belongs in:\n{text}");
    }
}

#[test]
fn the_position_has_a_fixed_form() {
    for text in [console("info position\n"), console("step 6\ninfo position\n"), console("end\ni pos\n")] {
        let line = text.lines().last().unwrap();
        let words: Vec<&str> = line.split(' ').collect();
        let [event, e, cycle, c, digest, d] = words[..] else { panic!("{line}") };
        assert_eq!((event, cycle, digest), ("event", "cycle", "digest"), "{line}");
        assert!(e.parse::<u64>().is_ok() && c.parse::<u64>().is_ok(), "{line}");
        assert!(d.len() == 16 && d.chars().all(|one| matches!(one, '0'..='9' | 'a'..='f')), "{line}");
    }
}

#[test]
fn a_session_with_every_kind_of_stop() {
    let text = console(
        "break transition at gpu*.l1 to N\ntbreak message type grant\nwatch state of gpu0.l2.0 block 0x1000\n\
         condition 1 state of gpu1.cu1.l1 block 0x1000 is N\nignore 2 1\ncommands 1\ninfo position\nend\n\
         display value at 0x1000 in gpu0.cu0.l1\ncontinue\ncontinue\ncontinue\ncontinue\ncontinue\n\
         info breakpoints\nreverse-continue\n",
    );
    in_order(
        &text,
        &[
            "breakpoint 1: transition at gpu*.l1 to N",
            "temporary breakpoint 2: message type grant",
            "watchpoint 3: state of gpu0.l2.0 block 0x1000",
            "1: value at 0x1000 in gpu0.cu0.l1 = not held",
            "watchpoint 3, state of gpu0.l2.0 block 0x1000: I > I>S",
            // The first grant was ignored.
            "temporary breakpoint 2, message type grant",
            "watchpoint 3, state of gpu0.l2.0 block 0x1000: I>S > E",
            "watchpoint 3, state of gpu0.l2.0 block 0x1000: E > S",
            "1: value at 0x1000 in gpu0.cu0.l1 = 07 00 00 00 (7)",
            // Not at the transition of GPU 0, whose condition did not hold.
            "breakpoint 1, transition at gpu*.l1 to N",
            "event 24 cycle 2031",
            "watchpoint 3, state of gpu0.l2.0 block 0x1000: E > S",
        ],
    );
    assert!(text.lines().any(|line| line.starts_with("event 24 cycle 2031 digest ")), "{text}");
    assert!(!text.contains("  2 enabled"), "the temporary one is gone: {text}");
}

#[test]
fn every_way_to_move() {
    let text = console(
        "step 6\nreverse-step 2\nuntil cycle 800\nuntil message type probe-read\ngoto 3\ngoto cycle 100\ngoto end\n\
         bookmark here\ngoto start\ngoto here\nreverse-until transition to N\nrun\n",
    );
    let stops: Vec<&str> =
        text.lines().filter_map(|line| line.strip_prefix("event ")?.split(' ').next()).collect();
    assert_eq!(stops, ["6", "4", "7", "17", "3", "5", "28", "0", "28", "24", "28"], "{text}");
}

#[test]
fn breakpoints_are_saved_and_read_again() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("points");
    let file = file.to_str().unwrap();
    let saved = console(&format!(
        "break transition at gpu*.l1 to N if state of gpu1.cu1.l1 block 0x1000 is N\ncommands\ninfo position\nend\n\
         watch state of gpu0.l2.0 block 0x1000\nsave breakpoints {file}\n"
    ));
    assert!(saved.contains("saved 2 breakpoints"), "{saved}");
    let text = console(&format!("source {file}\ninfo breakpoints\nrun\n"));
    in_order(
        &text,
        &[
            "  1 enabled  hits 0  break transition at gpu*.l1 to N if state of gpu1.cu1.l1 block 0x1000 is N",
            "        info position",
            "  2 enabled  hits 0  watch state of gpu0.l2.0 block 0x1000",
            "watchpoint 2, state of gpu0.l2.0 block 0x1000: I > I>S",
        ],
    );
}

#[test]
fn why_follows_the_chain_of_waiting() {
    let text = console("step 4\nwhy gpu0.cu0\nwhy txn 1\n");
    assert!(text.contains("waits for"), "{text}");
    assert!(text.contains("gpu0.smd0"), "{text}");
}

#[test]
fn walking_forward_back_and_forward_again_ends_where_a_straight_run_ends() {
    let straight = straight();
    let text = console("end\nreverse-step 9\nstep 4\nreverse-transition\ngoto 2\nstep 100\ninfo position\n");
    assert!(text.trim_end().ends_with(&format!("digest {straight}")), "{straight}: {text}");
}

#[test]
fn the_screen_and_the_console_have_one_digest() {
    let mut terminal = open((120, 40));
    terminal.send("10s3St");
    terminal.send("99s");
    wait_at(&mut terminal, 28);
    command(&mut terminal, "info position");
    terminal.wait_for(&format!("event 28 cycle 2209 digest {}", straight()));
}
