//! The explorer against the machine: what it knows of a state is what the machine is in after the same choices.

use std::sync::Arc;

use super::fairness::{Fairness, judge};
use super::outcome::{Outcome, explore};
use super::search::{Bound, Limits};
use super::system::System;
use super::tables::Shared;
use super::values;
use super::worker::{Move, Worker};
use crate::machine::{Change, Machine, Planned};
use crate::model::choice::Choice;
use crate::model::fault::Fault;
use crate::model::inspect::Inspect;
use crate::model::record::Records;
use crate::protocol::node::{Role, Timeless};
use crate::scenario::{Options, Scenario};

const LIMITS: Limits = Limits { states: u64::MAX, depth: u64::MAX, memory: 1 << 30, threads: 2 };

/// A bundled shape, with keys of its scenario set.
fn shape(name: &str, with: &[&str], set: &[&str], faults: &[Fault]) -> (Machine, System) {
    let texts = |list: &[&str]| -> Vec<String> { list.iter().map(|&text| text.to_owned()).collect() };
    let scenario = Scenario::load(&format!("explore/{name}")).unwrap().with(&texts(with)).unwrap();
    let mut blueprint = scenario.blueprint(&Options { set: texts(set), ..Options::default() }).unwrap();
    blueprint.faults.extend(faults);
    let machine = Machine::build(&blueprint).unwrap();
    let system = System::new(&machine, &scenario.alphabet(&machine).unwrap()).unwrap();
    (machine, system)
}

/// A generator that is the same everywhere.
fn next(seed: &mut u64) -> usize {
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    (*seed >> 11) as usize
}

/// Random moves from the first state, with the states after each.
fn walk(system: &System, shared: &Shared, seed: u64, steps: usize) -> (Vec<Choice>, Vec<Vec<u32>>) {
    let mut seed = seed | 1;
    let mut worker = Worker::new(system, shared);
    let (mut state, mut hash) = worker.initial();
    let (mut choices, mut states) = (Vec::new(), vec![state.clone()]);
    for position in 0..steps {
        let deliveries = worker.look(&state);
        let moves = worker.moves.clone();
        if moves.is_empty() {
            break;
        }
        // Mostly deliveries, or the machine would be full of work all the time.
        let most =
            if deliveries > 0 && !next(&mut seed).is_multiple_of(3) { deliveries } else { moves.len() };
        let one = moves[next(&mut seed) % most];
        choices.push(worker.choice(&state, one, position).unwrap());
        let (after, broken) = worker.make(&state, hash, one);
        assert_eq!(broken, None);
        assert_eq!(after, worker.hash_of(&worker.next), "a hash is kept up as the state changes");
        assert_eq!(worker.check(&worker.next), None);
        std::mem::swap(&mut state, &mut worker.next);
        hash = after;
        states.push(state.clone());
    }
    (choices, states)
}

/// What each value of a byte is, as far as nodes have it: one class, and one value is the current one.
fn classes(system: &System, ours: &mut Timeless, theirs: &mut Timeless, known: &mut Vec<(u64, u8, u8)>) {
    let (mut a, mut b) = (Vec::new(), Vec::new());
    ours.patches_mut(|patch| a.push(patch.clone()));
    theirs.patches_mut(|patch| b.push(patch.clone()));
    assert_eq!(a.len(), b.len());
    for (ours, theirs) in a.iter().zip(&b) {
        for byte in &system.bytes {
            let one = |patch: &crate::model::patch::Patch| {
                Some(*patch.read(crate::model::address::Range::new(*byte, 1))?.first()?)
            };
            if let (Some(class), Some(value)) = (one(ours), one(theirs)) {
                known.push((byte.0, value, class));
            }
        }
    }
}

fn agree(machine: &Machine, system: &System, shared: &Shared, state: &[u32]) {
    let mut known = Vec::new();
    for (index, node) in machine.wiring().nodes.iter().enumerate() {
        let mut ours = (*shared.lock().nodes[state[index] as usize]).clone();
        let mut theirs = node.timeless();
        theirs.forget_dead_bytes(node.config.role == Role::Root);
        // Whether a copy that nobody keeps account of is old, nobody asks.
        let shape = &system.nodes[index];
        if shape.role != Role::Leaf || shape.is_checked {
            classes(system, &mut ours, &mut theirs, &mut known);
        }
        assert_eq!(ours.without_values(), theirs.without_values(), "node {index}");
    }
    known.retain(|(_, _, class)| *class != values::OWN);
    known.sort_unstable();
    known.dedup();
    for pair in known.windows(2) {
        assert!(pair[0].0 != pair[1].0 || pair[0].1 != pair[1].1, "one value, two classes: {known:?}");
    }
    for byte in &system.bytes {
        let current = known.iter().filter(|(at, _, class)| *at == byte.0 && *class == values::CURRENT);
        assert!(current.count() <= 1, "{known:?}");
    }
}

#[test]
fn the_machine_does_what_the_explorer_says() {
    for (name, protocol) in
        [("two-l1", "nmoesi"), ("two-gpu", "moesi"), ("gpu-and-core", "nmoesi-m2s"), ("two-l1", "vi")]
    {
        let with = format!("protocol={protocol}");
        let (machine, system) = shape(name, &[&with, "explore.outstanding=2"], &[], &[]);
        let shared = Shared::new(&system);
        for seed in 1..9u64 {
            let (choices, states) = walk(&system, &shared, seed * 7919, 120);
            let mut machine = machine.clone();
            let plan = (0u64..).zip(&choices).map(|(event, choice)| Planned {
                event,
                text: choice.text(machine.components()).to_string().into(),
                change: Change::Choose(choice.clone()),
            });
            let plan: Arc<[Planned]> = plan.collect();
            machine.plan(plan);
            let mut worker = Worker::new(&system, &shared);
            worker.catch_up();
            for (state, choice) in states.iter().zip(choices.iter().map(Some).chain([None])) {
                agree(&machine, &system, &shared, state);
                let deliveries = worker.look(state);
                let ours: Vec<Choice> = worker.moves[..deliveries]
                    .iter()
                    .filter_map(|&one| worker.choice(state, one, 0))
                    .collect();
                assert_eq!(ours, machine.choices());
                if choice.is_some() {
                    machine.step(&mut Records::silent());
                }
                assert_eq!(machine.violations(), [], "{protocol} {seed} {choice:?}");
            }
        }
    }
}

fn small(name: &str, protocol: &str, faults: &[Fault]) -> Outcome {
    let accesses = "explore.accesses=[\"load 0x1000 2\", \"store 0x1000\", \"n-store 0x1001\"]";
    let (_, system) = shape(name, &[&format!("protocol={protocol}"), accesses], &[], faults);
    explore(&system, LIMITS, |_| true)
}

#[test]
fn software_coherent_l1s_stand_over_caches_that_are_kept_coherent() {
    let outcome = small("gpu-and-core", "vi", &[]);
    assert_eq!((outcome.bound, outcome.violations), (None, Vec::new()));
}

/// Selective caching: with any one rule off the core reads what is old, in some order; with all of them in none.
#[test]
fn a_core_reads_nothing_old_beside_a_gpu_that_takes_no_part() {
    let look = |name: &str, with: &[&str], set: &[&str], faults: &[Fault]| {
        let (_, system) = shape(name, with, set, faults);
        explore(&system, LIMITS, |_| true)
    };
    let host = "explore.accesses=[\"load 0x1040 2\", \"store 0x1040\", \"n-store 0x1041\"]";
    let naive = ["gpu.l1.protocol=selective-naive", "gpu.l2.protocol=selective-naive"];
    for (with, set) in [(&[][..], &[][..]), (&[host], &[]), (&[], &naive), (&[host], &naive)] {
        let outcome = look("selective", with, set, &[]);
        assert_eq!((outcome.bound, outcome.violations), (None, Vec::new()), "{with:?} {set:?}");
    }
    // The directory is full, and two compute units share what one of them asks for, or wait for an answer each.
    let sectors = "explore.accesses=[\"load 0x1000 2\", \"load 0x1020\", \"store 0x1000\"]";
    let first = ["gpu.l1.protocol=selective-l1", "gpu.l2.protocol=selective-l1"];
    for (shape, with, set) in [
        ("selective-full", &[][..], &[][..]),
        ("selective-host", &[], &["gpu.cu.count=2"]),
        ("selective-host", &[sectors], &["gpu.cu.count=2", "network.transfers=sectors", first[0], first[1]]),
    ] {
        let outcome = look(shape, with, set, &[]);
        assert_eq!((outcome.bound, outcome.violations), (None, Vec::new()), "{shape} {set:?}");
    }
    for (fault, shape, with) in [
        (Fault::ServeBesideCpu, "selective", &[][..]),
        (Fault::KeepHostLines, "selective", &[host]),
        (Fault::KeepBesideCpu, "selective", &[]),
        (Fault::SkipGpuProbe, "selective", &[]),
        (Fault::KeepOvertaken, "selective", &[]),
        (Fault::TrustFilter, "selective-lines", &[]),
    ] {
        let found = look(shape, with, &[], &[fault]).violations;
        assert!(found.iter().any(|one| one.rule == "stale-read"), "{fault}: {found:?}");
    }
}

/// A line kept by sector: what is not here is fetched without a grant, and is not used once a probe has passed it.
#[test]
fn a_coherent_line_of_which_only_some_sectors_are_here_is_never_old() {
    let look = |with: &[&str], set: &[&str], faults: &[Fault]| {
        let (_, system) = shape("coherent-sectors", with, set, faults);
        explore(&system, LIMITS, |_| true)
    };
    let untracked = ["gpu.l1.protocol=vi"];
    for (with, set) in [(&[][..], &[][..]), (&["protocol=nmoesi"], &[]), (&[], &untracked)] {
        let outcome = look(with, set, &[]);
        assert_eq!((outcome.bound, outcome.violations), (None, Vec::new()), "{with:?} {set:?}");
    }
    let found = look(&[], &[], &[Fault::KeepOvertaken]).violations;
    assert!(found.iter().any(|one| one.rule == "stale-read"), "{found:?}");
}

/// Who has asked for a block exclusively and is read by others owns it above a directory that only shares it; what a sibling has
/// n-stored beside comes to it all the same.
#[test]
fn an_exclusive_access_loses_no_store_of_a_sibling() {
    let accesses = "explore.accesses=[\"load 0x1000\", \"n-store 0x1001\", \"exclusive 0x1000\"]";
    for protocol in ["nmoesi", "nmoesi-printed", "nmoesi-m2s"] {
        let (_, system) = shape("gpu-and-core", &[&format!("protocol={protocol}"), accesses], &[], &[]);
        let outcome = explore(&system, LIMITS, |_| true);
        assert_eq!((outcome.bound, outcome.violations), (None, Vec::new()), "{protocol}");
    }
}

#[test]
fn a_flush_gives_up_the_block_at_once() {
    let outcome = small("gpu-and-core", "nmoesi-m2s", &[]);
    assert_eq!((outcome.bound, outcome.violations), (None, Vec::new()));
}

#[test]
fn the_result_does_not_depend_on_threads() {
    let counts = [1, 3].map(|threads| {
        let (_, system) = shape("two-l1", &["protocol=msi"], &[], &[]);
        let outcome = explore(&system, Limits { threads, depth: 14, ..LIMITS }, |_| true);
        (outcome.counts.states, outcome.counts.transitions, outcome.cells)
    });
    assert_eq!(counts[0], counts[1]);
    let faulty = [1, 3].map(|threads| {
        let (_, system) = shape("two-l1", &["protocol=msi"], &[], &[Fault::NoGrantAck]);
        explore(&system, Limits { threads, ..LIMITS }, |_| true).violations
    });
    assert!(!faulty[0].is_empty());
    assert_eq!(faulty[0], faulty[1]);
}

/// Choices as what is planned from the first event on.
fn planned(choices: &[Choice], machine: &Machine) -> Arc<[Planned]> {
    let planned = |(event, choice): (u64, &Choice)| Planned {
        event,
        text: choice.text(machine.components()).to_string().into(),
        change: Change::Choose(choice.clone()),
    };
    (0..).zip(choices).map(planned).collect()
}

/// After these choices, one a line, all work is done and nothing is wrong.
fn comes_right(name: &str, lines: &str) {
    let (mut machine, _) = shape(name, &[], &[], &[]);
    let parse = |line| Choice::parse(line, machine.components()).unwrap();
    let choices: Vec<Choice> = lines.lines().map(parse).collect();
    machine.plan(planned(&choices, &machine));
    machine.run_until(u64::MAX);
    assert!(machine.is_finished());
    assert_eq!(machine.violations(), []);
}

/// The owner's answer is still under way when the peer that it handed its block to writes back what it stored in it.
#[test]
fn what_a_peer_writes_back_is_newer_than_what_it_was_handed() {
    let lines = "\
n-store gpu0.cu0 0x1000 01
atomic-exchange gpu1.cu0 0x1000 02
deliver gpu1.cu0.l1 > gpu1.smd0 request
deliver gpu1.smd0 > host.hmd0 request
deliver host.hmd0 > gpu1.smd0 reply
deliver gpu0.cu0.l1 > gpu0.smd0 request
deliver gpu0.smd0 > host.hmd0 request
deliver gpu1.smd0 > gpu1.cu0.l1 reply
deliver gpu1.smd0 > host.hmd0 reply
deliver gpu1.cu0.l1 > gpu1.smd0 reply
deliver host.hmd0 > gpu1.smd0 probe
deliver gpu1.smd0 > gpu1.cu0.l1 probe
deliver gpu1.cu0.l1 > gpu1.smd0 reply
deliver host.hmd0 > gpu0.smd0 reply
deliver gpu1.smd0 > gpu0.smd0 reply
deliver gpu0.smd0 > gpu0.cu0.l1 reply
deliver gpu0.cu0.l1 > gpu0.smd0 reply
evict gpu0.smd0 0x1000
deliver gpu0.smd0 > gpu0.cu0.l1 probe
deliver gpu0.smd0 > host.hmd0 reply
deliver gpu0.cu0.l1 > gpu0.smd0 reply
deliver gpu0.smd0 > host.hmd0 reply
deliver gpu1.smd0 > host.hmd0 reply
deliver host.hmd0 > gpu0.smd0 reply";
    comes_right("two-gpu-peer", lines);
}

/// A block that has answered a read probe is stored to and leaves before the other of the probe has answered: the answer to the
/// probe comes after the newer bytes.
#[test]
fn an_answer_does_not_undo_what_was_written_back_before_it() {
    let lines = "\
store gpu1.cu0 0x1000 01
deliver gpu1.cu0.l1 > gpu1.l2.0 request
deliver gpu1.l2.0 > gpu1.smd0 request
deliver gpu1.smd0 > host.hmd0 request
deliver host.hmd0 > gpu1.smd0 reply
deliver gpu1.smd0 > gpu1.l2.0 reply
deliver gpu1.l2.0 > gpu1.cu0.l1 reply
deliver gpu1.cu0.l1 > gpu1.l2.0 reply
deliver gpu1.l2.0 > gpu1.smd0 reply
deliver gpu1.smd0 > host.hmd0 reply
evict gpu1.cu0.l1 0x1000
deliver gpu1.cu0.l1 > gpu1.l2.0 reply
deliver gpu1.l2.0 > gpu1.cu0.l1 reply
n-store gpu1.cu0 0x1000 0e
deliver gpu1.cu0.l1 > gpu1.l2.0 request
deliver gpu1.l2.0 > gpu1.cu0.l1 reply
deliver gpu1.cu0.l1 > gpu1.l2.0 reply
load gpu1.cu1 0x1020 1
deliver gpu1.cu1.l1 > gpu1.l2.0 request
deliver gpu1.l2.0 > gpu1.smd0 request
deliver gpu1.smd0 > gpu1.l2.0 reply
deliver gpu1.l2.0 > gpu1.smd0 reply
load gpu0.cu0 0x1000 2
deliver gpu0.cu0.l1 > gpu0.l2.0 request
deliver gpu0.l2.0 > gpu0.smd0 request
deliver gpu0.smd0 > host.hmd0 request
deliver host.hmd0 > gpu1.smd0 probe
deliver gpu1.smd0 > gpu1.l2.0 probe
n-store gpu1.cu0 0x1000 1d
evict gpu1.l2.0 0x1000
deliver gpu1.l2.0 > gpu1.cu0.l1 probe
deliver gpu1.cu0.l1 > gpu1.l2.0 reply
deliver gpu1.l2.0 > gpu1.smd0 reply
deliver gpu1.smd0 > gpu1.l2.0 reply
deliver gpu1.l2.0 > gpu1.cu1.l1 reply
deliver gpu1.cu1.l1 > gpu1.l2.0 reply
deliver gpu1.l2.0 > gpu1.cu1.l1 probe
deliver gpu1.cu1.l1 > gpu1.l2.0 reply
deliver gpu1.l2.0 > gpu1.smd0 reply
deliver gpu1.smd0 > host.hmd0 reply
deliver host.hmd0 > gpu0.smd0 reply
deliver gpu0.smd0 > gpu0.l2.0 reply
deliver gpu0.l2.0 > gpu0.cu0.l1 reply
deliver gpu0.cu0.l1 > gpu0.l2.0 reply
deliver gpu0.l2.0 > gpu0.smd0 reply
deliver gpu0.smd0 > host.hmd0 reply";
    comes_right("large", lines);
}

/// Makes choices in the explorer. What is wrong at their end, with nothing under way.
fn wrong_after(name: &str, with: &[&str], lines: &str) -> Option<String> {
    let (machine, system) = shape(name, with, &[], &[]);
    let shared = Shared::new(&system);
    let mut worker = Worker::new(&system, &shared);
    let (mut state, mut hash) = worker.initial();
    for (position, line) in lines.lines().enumerate() {
        worker.look(&state);
        let moves = worker.moves.clone();
        let is_meant = |one: &Move| {
            let choice = worker.choice(&state, *one, position).unwrap();
            choice.text(machine.components()).to_string() == line
        };
        let one = moves.into_iter().find(is_meant).expect(line);
        let (after, broken) = worker.make(&state, hash, one);
        assert_eq!(broken, None, "{line}");
        hash = after;
        std::mem::swap(&mut state, &mut worker.next);
    }
    assert!(worker.is_quiet(&state));
    worker.check_quiet(&state).map(|broken| broken.text)
}

/// An L2 performs a store for its child and writes it back in the same event, since a third block waits for its place.
#[test]
fn a_store_that_leaves_in_the_event_in_which_it_is_performed_is_not_lost() {
    let lines = "\
n-store gpu0.cu1 0x1001 01
n-store gpu0.cu1 0x1020 02
deliver gpu0.cu1.l1 > gpu0.l2.0 request
deliver gpu0.l2.0 > gpu0.smd0 request
deliver gpu0.cu1.l1 > gpu0.l2.0 request
deliver gpu0.l2.0 > gpu0.smd0 request
deliver gpu0.smd0 > host.hmd0 request
n-store gpu0.cu0 0x1080 08
deliver gpu0.cu0.l1 > gpu0.l2.0 request
deliver host.hmd0 > gpu0.smd0 reply
deliver gpu0.smd0 > host.hmd0 reply
deliver gpu0.smd0 > gpu0.l2.0 reply
deliver gpu0.l2.0 > gpu0.smd0 reply
deliver gpu0.l2.0 > gpu0.cu1.l1 reply
deliver gpu0.smd0 > gpu0.l2.0 reply
deliver gpu0.l2.0 > gpu0.cu1.l1 reply
deliver gpu0.l2.0 > gpu0.smd0 reply
deliver gpu0.l2.0 > gpu0.smd0 reply
deliver gpu0.smd0 > gpu0.l2.0 reply
deliver gpu0.l2.0 > gpu0.smd0 request
deliver gpu0.smd0 > host.hmd0 request
deliver host.hmd0 > gpu0.smd0 reply
deliver gpu0.smd0 > host.hmd0 reply
deliver gpu0.smd0 > gpu0.l2.0 reply
deliver gpu0.l2.0 > gpu0.smd0 reply
deliver gpu0.l2.0 > gpu0.cu0.l1 reply
evict gpu0.smd0 0x1000
deliver gpu0.smd0 > gpu0.l2.0 probe
deliver gpu0.l2.0 > gpu0.smd0 reply
deliver gpu0.smd0 > host.hmd0 reply
deliver host.hmd0 > gpu0.smd0 reply";
    assert_eq!(wrong_after("large", &["protocol=vi"], lines), None);
}

/// States and cells with symmetry, without it, and how many states one can stand for.
fn with_and_without(name: &str, protocol: &str) -> (Outcome, Outcome) {
    let (_, system) = shape(name, &[&format!("protocol={protocol}")], &[], &[]);
    (explore(&system, LIMITS, |_| true), explore(&system.without_symmetry(), LIMITS, |_| true))
}

#[test]
fn one_state_stands_for_all_in_which_equal_parts_are_exchanged() {
    for (name, protocol, symmetry) in
        [("two-l1", "msi", 2), ("two-gpu", "mesi", 2), ("two-l1", "vi", 2), ("gpu-and-core", "msi", 1)]
    {
        let (with, without) = with_and_without(name, protocol);
        assert_eq!((with.symmetry, without.symmetry), (symmetry, 1), "{name} {protocol}");
        assert_eq!((with.bound, without.bound), (None, None));
        assert_eq!(with.cells, without.cells, "{name} {protocol}");
        assert_eq!(with.counts.depth, without.counts.depth);
        let (few, all, most) = (with.counts.states, without.counts.states, symmetry as u64);
        assert!(few <= all && all <= few * most, "{name} {protocol}: {few} of {all}");
        assert!(symmetry == 1 || few * 3 < all * 2, "{name} {protocol}: {few} of {all}");
    }
}

#[test]
fn a_violation_is_found_as_soon_and_can_be_followed_with_symmetry() {
    for fault in [Fault::NoGrantAck, Fault::SkipInvalidation, Fault::KeepMaskOnRead] {
        let (machine, system) = shape("two-gpu", &[], &[], &[fault]);
        let found = explore(&system, LIMITS, |_| true).violations;
        let others = explore(&system.without_symmetry(), LIMITS, |_| true).violations;
        let told = |all: &[super::way::Violation]| -> Vec<(&str, usize)> {
            all.iter().map(|one| (one.rule, one.choices.len())).collect()
        };
        assert_eq!(told(&found), told(&others), "{fault}");
        for one in &found {
            let mut machine = machine.clone();
            machine.plan(planned(&one.choices, &machine));
            machine.run_until(u64::MAX);
            assert!(!machine.violations().is_empty(), "{fault} {}: {}", one.rule, one.text);
        }
    }
}

#[test]
fn parts_that_do_not_do_the_same_are_not_exchanged() {
    // The HMD thinks that the places of its children stay as they are, though the children are exchanged.
    let (_, mut system) = shape("two-gpu", &["protocol=msi"], &[], &[]);
    let right = explore(&system.without_symmetry(), LIMITS, |_| true).counts.states;
    system.symmetries.iter_mut().for_each(super::symmetry::Symmetry::forget_children);
    let outcome = explore(&system, LIMITS, |_| true);
    assert_eq!((outcome.symmetry, outcome.counts.states), (1, right));
}

/// However little may be kept, and however many threads want some of it.
#[test]
fn walks_end_without_memory() {
    let limits = super::random::Limits { steps: 2_000, seed: 3, memory: 0, threads: 2 };
    let outcome = super::random::walk(&shape("two-l1", &[], &[], &[]).1, limits, |_| true);
    assert_eq!(outcome.bound, Some(Bound::Random));
    assert!(outcome.counts.states >= 2_000, "{:?}", outcome.counts);
}

#[test]
fn a_walk_is_shown_without_what_it_does_not_need_to_go_wrong() {
    let limits = super::random::Limits { steps: 100_000, seed: 3, memory: 1 << 28, threads: 1 };
    for (fault, rules, most) in [
        (Fault::NoGrantAck, &["directory", "stale-read"][..], 20),
        (Fault::SkipInvalidation, &["directory", "stale-read"], 20),
        (Fault::KeepMaskOnRead, &["lost-store", "stale-read"], 60),
    ] {
        let (_, system) = shape("large", &[], &[], &[fault]);
        let found = super::random::walk(&system, limits, |_| true).violations;
        let [violation] = found.as_slice() else { panic!("{fault}: {found:?}") };
        assert!(rules.contains(&violation.rule), "{fault}: {}", violation.text);
        assert!(violation.choices.len() <= most, "{fault}: {} choices", violation.choices.len());
        let (mut machine, _) = shape("large", &[], &[], &[fault]);
        machine.plan(planned(&violation.choices, &machine));
        machine.run_until(u64::MAX);
        assert!(!machine.violations().is_empty(), "{fault}: {}", violation.text);
    }
}

#[test]
fn two_that_are_served_in_turn_while_a_third_waits_are_found_out() {
    let only_stores = r#"explore.accesses=["store 0x1000"]"#;
    let with = ["protocol=mesi", only_stores, "explore.evictions=false"];
    let (_, system) = shape("three-l1", &with, &[], &[]);
    assert_eq!(judge(&system, LIMITS.memory, |_| true), Fairness::Kept);
    let (mut machine, system) = shape("three-l1", &with, &[], &[Fault::UnfairArbiter]);
    let Fairness::Broken(found) = judge(&system, LIMITS.memory, |_| true) else { panic!("nobody starves") };
    assert_eq!(found.rule, "starvation");
    assert!(found.text.contains("gpu0.cu2.l1 waits for ever"), "{}", found.text);
    // It can be gone round once, and then again.
    let steps = found.text.split_whitespace().find_map(|word| word.parse::<usize>().ok()).unwrap();
    let round = found.choices[found.choices.len() - steps..].to_vec();
    let choices: Vec<Choice> = found.choices.iter().chain(&round).cloned().collect();
    machine.plan(planned(&choices, &machine));
    machine.run_until(choices.len() as u64);
    assert_eq!((machine.is_finished(), machine.violations()), (false, [].as_slice()));
}

#[test]
fn what_does_not_fit_is_not_called_fair() {
    let (_, system) = shape("three-l1", &["protocol=msi"], &[], &[]);
    assert_eq!(judge(&system, 1 << 20, |_| true), Fairness::Unknown(Bound::Memory));
    assert_eq!(judge(&system, LIMITS.memory, |_| false), Fairness::Unknown(Bound::Interrupt));
}

#[test]
fn what_a_flush_says_of_a_part_of_a_unit_is_not_taken_for_all_of_it() {
    let (_, system) = shape("large", &["protocol=nmoesi-m2s"], &[], &[]);
    let limits = super::random::Limits { steps: 20_000, seed: 1, memory: 1 << 28, threads: 1 };
    assert_eq!(super::random::walk(&system, limits, |_| true).violations, []);
}

/// An L1 that hands n-stores on, and all stores, to where they are performed: by the cells of MSI that say so.
const N_STORES: &str = r#""cache S n-store = forward", "cache I n-store = forward", "inner S n-store = write > M", "inner I n-store = write > M""#;
const STORES: &str = r#""cache S store = forward", "cache I store = forward", "inner S store = write > M", "inner I store = write > M""#;

#[test]
fn old_values_are_found_though_l1s_fetch_what_they_load_or_hand_on_what_they_store() {
    let forwarding = format!(r#"mutate=[{N_STORES}, "cache M read = ack > S"]"#);
    for (name, protocol, change, set) in [
        ("two-gpu", "vi", r#"mutate=["inner S store = hit"]"#, &[][..]),
        ("two-gpu", "vi", r#"mutate=["inner M write = ack > I"]"#, &[]),
        ("two-gpu", "vi", r#"mutate=["inner M read = ack > S"]"#, &[]),
        ("gpu-and-core", "mesi", r#"mutate=["cache M read = ack > S"]"#, &["gpu.l1.protocol=vi"]),
        ("two-l1", "msi", forwarding.as_str(), &[]),
    ] {
        let (_, system) = shape(name, &[&format!("protocol={protocol}"), change], set, &[]);
        let found = explore(&system, LIMITS, |_| true).violations;
        assert!(
            found.iter().any(|found| found.rule == "stale-read"),
            "{name} {protocol} {change}: {found:?}"
        );
    }
}

#[test]
fn nothing_is_wrong_where_l1s_that_are_tracked_hand_on_what_they_store() {
    let walk = super::random::Limits { steps: 50_000, seed: 1, memory: 1 << 28, threads: 1 };
    for change in [N_STORES.to_owned(), format!("{N_STORES}, {STORES}")] {
        let with = ["protocol=msi".to_owned(), format!("mutate=[{change}]")];
        let with: Vec<&str> = with.iter().map(String::as_str).collect();
        let (_, system) = shape("gpu-and-core", &with, &[], &[]);
        let outcome = explore(&system, LIMITS, |_| true);
        assert_eq!(
            (outcome.violations.len(), outcome.bound),
            (0, None),
            "{change}: {:?}",
            outcome.violations
        );
        let (_, large) = shape("large", &with, &[], &[]);
        let found = super::random::walk(&large, walk, |_| true).violations;
        assert!(found.is_empty(), "{change}: {found:?}");
    }
}
