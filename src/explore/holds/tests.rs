use super::{EXPECTATION, Hold, Limits, Outcome, Subject, explore, told};
use crate::diagnostic::Source;
use crate::explore::search::Bound;
use crate::machine::Machine;
use crate::model::fault::Fault;
use crate::model::inspect::Inspect;
use crate::scenario::{Options, Scenario};

const LIMITS: Limits = Limits { holds: 1, runs: u64::MAX, random: None, threads: 2 };

/// The machine of a scenario with its work, and faults.
fn machine(name: &str, faults: &[Fault]) -> Machine {
    let scenario = Scenario::load(name).unwrap();
    let mut blueprint = scenario.blueprint(&Options::default()).unwrap();
    blueprint.faults.extend(faults);
    Machine::build(&blueprint).unwrap()
}

/// The same, whose expectations are not looked at.
fn subject(name: &str, faults: &[Fault]) -> Subject {
    Subject::new(machine(name, faults), None)
}

/// What comes out, which must not depend on threads.
fn told_alike(one: &Outcome) -> impl PartialEq + std::fmt::Debug + use<> {
    (one.runs, one.events, one.found.clone(), one.coverage.tables())
}

#[test]
fn nothing_breaks_whatever_is_held_back() {
    for name in ["pages", "read-only-pages", "sockets", "tags"] {
        let begun = subject(&format!("explore/{name}"), &[]);
        let outcome = explore(&begun, LIMITS, |_| true);
        assert_eq!((outcome.bound, &outcome.found), (None, &None), "{name}");
        assert_eq!(outcome.runs, 1 + outcome.length * outcome.durations.len() as u64, "{name}");
        assert!(outcome.events > outcome.runs * outcome.length / 3, "{name}");
        assert!(outcome.coverage.tables().iter().any(|table| table.reached > 0), "{name}");
    }
}

#[test]
fn what_breaks_only_if_something_is_late_is_found_and_can_be_followed() {
    let begun = subject("explore/read-only-pages", &[Fault::KeepHostLines]);
    let nothing = explore(&begun, Limits { holds: 0, ..LIMITS }, |_| true);
    assert_eq!((nothing.runs, nothing.found), (1, None));
    let found = explore(&begun, LIMITS, |_| true).found.unwrap();
    assert_eq!(found.rule, "stale-read");
    let mut again = begun.clone();
    for one in &found.holds {
        again.run_until(one.event);
        again.hold(one.cycles);
    }
    again.run_until(u64::MAX);
    assert_eq!(again.machine.violations()[0].text.as_ref(), found.text);
}

#[test]
fn what_is_expected_must_hold_whatever_is_late() {
    // Nothing says which of the two is first; as it is timed, that of the nearer one.
    let text = r#"
        machine = "tiny/cpu-2core"
        [[do]]
        id = "store"
        by = "host.cpu0"
        store = { address = 0x1000, bytes = "07" }
        [[do]]
        id = "load"
        delay = 400
        by = "host.cpu1"
        load = { address = 0x1000, len = 1 }
        [[expect]]
        end = true
        that = "result of load is 7"
    "#;
    let scenario = Scenario::parse(Source::new("late", text), None).unwrap();
    let prepared = scenario.prepare(&Options::default()).unwrap();
    let without = explore(&Subject::new(prepared.machine.clone(), None), LIMITS, |_| true);
    assert_eq!((without.bound, without.found), (None, None));
    let begun = Subject::new(prepared.machine, Some(prepared.checker));
    let undisturbed = explore(&begun, Limits { holds: 0, ..LIMITS }, |_| true);
    assert_eq!(undisturbed.found, None);
    let found = explore(&begun, LIMITS, |_| true).found.unwrap();
    assert_eq!((found.rule, found.holds.len()), (EXPECTATION, 1), "{}", found.text);
}

#[test]
fn as_many_runs_as_there_are_is_all_of_them() {
    let begun = subject("explore/sockets", &[]);
    let all = explore(&begun, LIMITS, |_| true).runs;
    let bound = |runs| explore(&begun, Limits { runs, threads: 1, ..LIMITS }, |_| true).bound;
    assert_eq!((bound(all), bound(all - 1)), (None, Some(Bound::States)));
}

#[test]
fn threads_make_no_difference() {
    let begun = subject("explore/sockets", &[]);
    let of = |threads, random| {
        let outcome = explore(&begun, Limits { random, threads, ..LIMITS }, |_| true);
        (outcome.bound, told_alike(&outcome))
    };
    assert_eq!(of(1, None), of(3, None));
    let random = Some((50, 7));
    assert_eq!(of(1, random), of(3, random));
    assert_eq!(of(2, random).0, Some(Bound::Random));
    let begun = subject("explore/read-only-pages", &[Fault::KeepHostLines]);
    let of = |threads, random| explore(&begun, Limits { random, threads, ..LIMITS }, |_| true).found;
    assert_eq!(of(1, None), of(3, None));
    assert_eq!(of(1, Some((500, 1))), of(3, Some((500, 1))));
    assert!(of(2, Some((500, 1))).is_some());
}

#[test]
fn a_search_that_is_told_to_stops() {
    let begun = subject("explore/pages", &[]);
    let outcome = explore(&begun, Limits { runs: 20, ..LIMITS }, |_| true);
    assert_eq!(outcome.bound, Some(Bound::States));
    assert_eq!(outcome.runs, 20, "the first so many, whatever the threads");
    let outcome = explore(&begun, Limits { holds: 3, ..LIMITS }, |counts| counts.states < 10);
    assert_eq!((outcome.bound, outcome.found), (Some(Bound::Interrupt), None));
    // In the first run, too, however long it is.
    let begun = subject("kernels/bfs", &[]);
    let outcome = explore(&begun, LIMITS, |_| false);
    assert_eq!((outcome.bound, outcome.runs, outcome.found), (Some(Bound::Interrupt), 1, None));
}

#[test]
fn whatever_comes_next_comes_so_much_later() {
    let mut kinds = std::collections::BTreeSet::new();
    for name in ["explore/pages", "explore/read-only-pages", "explore/tags", "baselines/redundant-copies"] {
        let begun = machine(name, &[]);
        let mut usual = begun.clone();
        usual.run_until(u64::MAX);
        let (length, end) = (usual.event(), usual.tick());
        let cycle = begun.time_base().ticks_per_cycle;
        for event in 0..length {
            let text = told(&begun, &[Hold { event, cycles: 50_000 }]).remove(0);
            let Some((_, what)) = text.split_once("50000: ") else {
                panic!("{name}: {text} holds nothing back");
            };
            let mut late = Subject::new(begun.clone(), None);
            late.run_until(event);
            late.hold(50_000);
            late.run_until(u64::MAX);
            let late = late.machine;
            assert!(late.is_finished() && late.violations().is_empty(), "{name}: {text}");
            // What nothing depends on may be late without anything else being so.
            if late.tick() >= end + 40_000 * cycle {
                kinds.insert(kind(what));
            }
        }
    }
    let all = ["copies", "driver", "found", "issue", "memory", "message", "page", "start", "walk"];
    assert_eq!(kinds.into_iter().collect::<Vec<_>>(), all);
}

/// What is held back, in a word.
fn kind(what: &str) -> &'static str {
    let words = [
        ("the copies of", "copies"),
        ("the driver", "driver"),
        ("the GMMU", "walk"),
        ("what the GMMU", "found"),
        ("the memory behind", "memory"),
        ("the start of", "start"),
        ("page ", "page"),
        ("what waits for", "port"),
    ];
    let word = words.iter().find(|(begins, _)| what.starts_with(begins)).map(|(_, word)| *word);
    word.unwrap_or(if what.ends_with(" issues") { "issue" } else { "message" })
}
