//! When expectations are checked, and what fails them.

use super::*;
use crate::scenario::expectation::Compiler;

/// A checker with these `[[expect]]`s on the sample machine.
fn checker(expectations: &str, sample: &Sample) -> Checker {
    let scenario = scenario(&format!("machine = \"tiny/umh-2gpu\"\n{expectations}"));
    let context = sample.context();
    let document = crate::config::Document::new(scenario.source().clone());
    let compiler = Compiler { document: &document, context: &context };
    let list = scenario.file().expectations.iter().map(|at| compiler.expectation(at));
    Checker::new(
        list.collect::<crate::diagnostic::Result<_>>().unwrap(),
        scenario.file().ends.unwrap_or_default(),
    )
}

/// Failures of these expectations over three events: a store to N, a quiet one, and an invalidation.
fn failures(expectations: &str) -> Vec<(Option<usize>, String, u64)> {
    let mut sample = Sample::new();
    let mut checker = checker(expectations, &sample);
    let node = "gpu0.cu0.l1";
    let events: [(u8, Vec<Record>); 3] = [
        (b'N', vec![sample.transition(node, b'I', b'N')]),
        (b'N', Vec::new()),
        (b'I', vec![sample.transition(node, b'N', b'I'), sample.transition("gpu1.cu0.l1", b'I', b'M')]),
    ];
    for (number, (state, records)) in events.into_iter().enumerate() {
        sample.event = number as u64 + 1;
        sample.tick = sample.event * 20;
        sample.hold(node, 0x1000, Some(State(state)));
        if number == 1 {
            sample.task("first", Some(40), None);
        }
        checker.observe(&sample, &records);
    }
    let held = checker.finish(&sample, &Ended::Finished);
    assert_eq!(held, checker.failures().is_empty());
    checker.failures().iter().map(|f| (f.line, f.message.clone(), f.event)).collect()
}

#[test]
fn expectations_are_checked_in_their_moment() {
    let state = |letter: char| format!("that = \"state of gpu0.cu0.l1 block 0x1000 is {letter}\"");
    for (expectation, holds) in [
        (format!("after = \"first\"\n{}", state('N')), true),
        (format!("after = \"first\"\n{}", state('I')), false),
        ("after = \"second\"".to_owned(), false),
        (format!("at = 10\n{}", state('N')), true),
        (format!("at = 25\n{}", state('I')), true),
        (format!("at = 1000\n{}", state('I')), true),
        (format!("on = \"transition to N\"\n{}", state('N')), true),
        (format!("on = \"transition\"\nnth = 2\n{}", state('I')), true),
        (format!("on = \"transition\"\nnth = 2\n{}", state('N')), false),
        ("on = \"transition\"\nnth = 4".to_owned(), false),
        ("on = \"transition\"\nnth = 3".to_owned(), true),
        ("always = \"state of gpu0.cu0.l1 block 0x1000 is one of N I\"".to_owned(), true),
        ("always = \"state of gpu0.cu0.l1 block 0x1000 is N\"".to_owned(), false),
        ("never = \"transition to M at gpu0\"".to_owned(), true),
        ("never = \"transition to M\"".to_owned(), false),
        ("count = \"transition\"\nis = 3".to_owned(), true),
        ("count = \"transition\"\nis = 2".to_owned(), false),
        ("count = \"transition\"\nis = 4".to_owned(), false),
        ("count = \"transition\"\nat-least = 3\nat-most = 5".to_owned(), true),
        ("count = \"transition\"\nat-most = 2".to_owned(), false),
        (format!("end = true\n{}", state('I')), true),
        (state('N'), false),
    ] {
        let found = failures(&format!("[[expect]]\n{expectation}\n"));
        assert_eq!(found.is_empty(), holds, "{expectation}: {found:?}");
        assert!(found.iter().all(|(line, ..)| line.is_some()), "{found:?}");
    }
    let found =
        failures("[[expect]]\nalways = \"state of gpu0.cu0.l1 block 0x1000 is N\"\nabout = \"why\"\n");
    let text = "always: state of gpu0.cu0.l1 block 0x1000 is I, not N (why)";
    assert_eq!(found, [(Some(3), text.to_owned(), 3)]);
}

#[test]
fn a_violation_fails_unless_it_is_expected() {
    let sample = Sample::new();
    let record = sample.record("host.hmd0", What::Violation { rule: "one-writer", text: "two in M".into() });
    let failures = |ends: &str| {
        let mut checker = checker(ends, &sample);
        checker.observe(&sample, std::slice::from_ref(&record));
        assert!(checker.violated());
        checker.finish(&sample, &Ended::Violation);
        checker.failures().iter().map(|failure| failure.message.clone()).collect::<Vec<_>>()
    };
    assert_eq!(failures(""), ["one-writer: two in M"]);
    assert!(failures("ends = \"violation\"").is_empty());
}
