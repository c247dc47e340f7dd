use std::collections::BTreeMap;

use super::*;
use crate::machine::{Machine, StepOutcome};
use crate::model::component::ComponentKind;
use crate::model::message::MessageKind;
use crate::model::record::Records;
use crate::model::text::key_word;
use crate::scenario::{Options, Scenario};

/// Runs in which everything that is counted happens.
const RUNS: [&str; 6] = [
    "umh/fig5-b1",
    "umh/fig5-b2",
    "umh/sync-flush",
    "kernels/transpose-4gpu",
    "kernels/reduction",
    "litmus/message-passing-gpu",
];

fn machine(name: &str) -> Machine {
    Scenario::load(name).unwrap().prepare(&Options::default()).unwrap().machine
}

/// The machine of a scenario after so many events, or at its end.
fn after(name: &str, events: u64) -> Machine {
    let mut machine = machine(name);
    let mut records = Records::silent();
    while machine.event() < events && machine.step(&mut records) == StepOutcome::Ran {}
    machine
}

fn statistics(machine: &Machine) -> BTreeMap<String, f64> {
    machine.statistics().into_iter().collect()
}

fn sum<'a>(all: &BTreeMap<String, f64>, keys: impl Iterator<Item = String> + 'a) -> f64 {
    keys.map(|key| *all.get(&key).unwrap_or_else(|| panic!("no {key}"))).sum()
}

fn warp_states() -> impl Iterator<Item = String> {
    crate::model::warp::WarpState::ALL.into_iter().map(|state| key_word(state.name()))
}

#[test]
fn the_states_of_warps_fill_all_their_time() {
    for name in RUNS {
        for events in [20, 60, u64::MAX] {
            let machine = after(name, events);
            let all = statistics(&machine);
            let slots: usize = machine
                .components()
                .iter()
                .filter_map(|(id, _)| machine.agent(id))
                .map(|agent| agent.warps.len())
                .sum();
            let cycles = machine.tick() as f64 / machine.time_base().ticks_per_cycle as f64;
            let spent = sum(&all, warp_states().map(|state| format!("warp_cycles.{state}")));
            // Each of the nine is rounded down.
            let wanted = cycles * slots as f64;
            assert!((0.0..9.0).contains(&(wanted - spent)), "{name} at {events}: {spent} of {wanted}");
            let busy = warp_states().filter(|state| state != "none" && state != "done");
            let shares = sum(&all, busy.map(|state| format!("warp_share.{state}")));
            assert!((shares - 1.0).abs() < 1e-9, "{name} at {events}: {shares}");
        }
    }
}

#[test]
fn levels_and_kinds_of_accesses_add_up() {
    for name in RUNS {
        let machine = after(name, u64::MAX);
        let all = statistics(&machine);
        let ending = |suffix: &str| {
            let keys = all.iter().filter(|(key, _)| {
                key.strip_prefix("access.").is_some_and(|rest| {
                    rest.strip_suffix(suffix).is_some_and(|word| !word.is_empty() && !word.contains('.'))
                })
            });
            keys.map(|(key, value)| (key.clone(), *value)).collect::<Vec<_>>()
        };
        // Every access is counted once by its level and once by its kind.
        let counts: f64 = ending(".count").iter().map(|(_, count)| count).sum();
        assert_eq!(counts as u64, machine.accesses() * 2, "{name}");
        let shares: f64 = ending(".share").iter().map(|(_, share)| share).sum();
        assert!((shares - 1.0).abs() < 1e-9, "{name}: {shares}");
        let time: f64 = ending(".time_share").iter().map(|(_, share)| share).sum();
        assert!((time - 1.0).abs() < 1e-9, "{name}: {time}");
        let hits = all["levels.gpu_l1.hits"] + all.get("levels.cpu_l1.hits").unwrap_or(&0.0);
        assert_eq!(all["access.l1.count"] as u64, hits as u64, "{name}");
    }
}

#[test]
fn the_kinds_of_messages_over_a_link_add_up() {
    for name in RUNS {
        let machine = after(name, u64::MAX);
        let all = statistics(&machine);
        let (mut data, mut coherence) = (0.0, 0.0);
        let links =
            machine.components().iter().filter(|(_, component)| component.kind == ComponentKind::Link);
        for link in links.map(|(_, link)| &link.path) {
            for what in ["bytes", "count"] {
                let kinds = MessageKind::ALL.into_iter().map(|kind| key_word(kind.name()));
                let kinds = sum(&all, kinds.map(|kind| format!("{link}.messages.{kind}.{what}")));
                let whole = if what == "bytes" { "bytes" } else { "messages" };
                assert_eq!(kinds as u64, all[&format!("{link}.{whole}")] as u64, "{name}, {link}");
            }
            data += all[&format!("{link}.data_bytes")];
            coherence += all[&format!("{link}.coherence_bytes")];
        }
        let network = (all["network.data_bytes"], all["network.coherence_bytes"]);
        assert_eq!((data as u64, coherence as u64), (network.0 as u64, network.1 as u64), "{name}");
    }
}

#[test]
fn figure_5_b1_is_as_its_log_tells() {
    let all = statistics(&after("umh/fig5-b1", u64::MAX));
    let expected = [
        // Two stores, at cycles 0 and 808, performed at 806 and 2,031; the second asks GPU 0.
        ("access.n_store.count", 2),
        ("access.hmd.count", 2),
        ("access.hmd.probed", 1),
        ("access.n_store.max_cycles", 1223),
        ("gpu0.warp_cycles.memory", 806),
        ("gpu1.warp_cycles.memory", 1223),
        // Towards the host two requests, two acknowledgements and an answer of 16 B; from it a probe and two grants
        // of 4 KiB with their headers.
        ("link.host.in.messages.read.bytes", 32),
        ("link.host.in.messages.grant_ack.count", 2),
        ("link.host.in.messages.answer.bytes", 16),
        ("link.host.in.coherence_bytes", 48),
        ("link.host.in.data_bytes", 0),
        ("link.host.out.messages.grant.bytes", 8224),
        ("link.host.out.coherence_bytes", 16),
        ("network.data_bytes", 8192),
        ("network.coherence_bytes", 64),
        // The row that the first grant opened is still open for the second.
        ("host.hmd0.dram.row_misses", 1),
        ("host.hmd0.dram.row_hits", 1),
        ("levels.smd.dram.row_reopens", 4),
        ("sync.flush_cycles", 0),
    ];
    for (key, value) in expected {
        assert_eq!(all[key] as u64, value, "{key}");
    }
    assert_eq!(all["host.hmd0.dram.row_hit_rate"].to_bits(), 0.5f64.to_bits());
    assert!(all["link.host.in.coherence_share"].is_nan(), "no data went there");
    // The first L1 waits for 806 of all cycles, the SMD of GPU 0 from 24 to 783.
    let time = 2209.0;
    assert!((all["gpu0.cu0.l1.mshr_mean"] - 806.0 / time).abs() < 1e-3);
    assert!((all["gpu0.smd0.mshr_mean"] - 759.0 / time).abs() < 1e-3);
}

#[test]
fn who_gets_a_block_from_another_gpu_was_served_by_it() {
    let all = statistics(&after("umh/fig5-b2", u64::MAX));
    // The first store is served by the host, the second by the GPU of the first, which was asked for its sake.
    let found = ["hmd.count", "hmd.probed", "peer.count", "peer.probed", "n_store.count"]
        .map(|key| all[&format!("access.{key}")] as u64);
    assert_eq!(found, [1, 0, 1, 1, 2]);
}

#[test]
fn what_synchronisation_cost() {
    let flush = statistics(&after("umh/sync-flush", u64::MAX));
    let task = flush.iter().find(|(key, _)| key.starts_with("tasks.") && key.contains("flush"));
    assert_eq!(task.map(|(_, cycles)| *cycles as u64), Some(flush["sync.flush_cycles"] as u64));
    // Eight secondary blocks of 4 KiB go home: that scenario says so itself.
    assert_eq!(flush["sync.flush_bytes"] as u64, 8 * 4096);
    assert_eq!(flush["sync.exclusive_accesses"] as u64, 0);
    let line = statistics(&after("umh/sync-line", u64::MAX));
    assert_eq!((line["sync.exclusive_accesses"] as u64, line["sync.flush_bytes"] as u64), (3, 0));
    assert_eq!(line["access.exclusive.count"] as u64, 3);
    // From the first try, at 54, to the one that reads the flag, at 2,692, most of them hits in the L1.
    let spin = statistics(&after("litmus/message-passing-gpu", u64::MAX));
    assert_eq!(spin["sync.spin_cycles"] as u64, 2638);
    assert_eq!(spin["sync.fence_cycles"] as u64, spin["warp_cycles.fence"] as u64);
    let barrier = statistics(&after("kernels/reduction", u64::MAX));
    assert_eq!(barrier["sync.barrier_cycles"] as u64, barrier["warp_cycles.barrier"] as u64);
    assert!(barrier["sync.barrier_cycles"] > 0.0);
}

/// The tables of a summary.
fn tables(name: &str) -> String {
    let scenario = Scenario::load(name).unwrap();
    let mut runner = {
        let prepared = scenario.prepare(&Options::default()).unwrap();
        crate::scenario::Runner::new(prepared.machine, prepared.checker, true)
    };
    let ended = loop {
        if let Some(ended) = runner.step() {
            break ended.clone();
        }
    };
    let report = runner.report(ended);
    let run = Run {
        scenario: name.to_owned(),
        machine: "m".to_owned(),
        set: Vec::new(),
        set_by_hand: Vec::new(),
        seed: 0,
        tasks: crate::report::tasks(runner.machine()),
        statistics: runner.machine().statistics(),
        resources: runner.machine().resources(),
        waits: None,
        wall_seconds: 0.0,
        prepare_seconds: 0.0,
        peak_memory_bytes: None,
        diagnosis: None,
        blame: None,
        stopped_at: None,
        report,
    };
    let heading = Heading { title: "t", source: None, about: None, file: "f", about_machine: "a" };
    let text = text(&run, runner.machine(), heading);
    let (_, rest) = text.split_once("\n\n").unwrap();
    let (_, rest) = rest.split_once("\n\n").unwrap();
    rest.split_once("digest ").unwrap().0.to_owned()
}

#[test]
fn tables_tell_what_there_is_and_fit_a_terminal() {
    for name in RUNS {
        let tables = tables(name);
        let wide = tables.lines().find(|line| line.chars().count() > 80);
        assert_eq!(wide, None, "{name}");
    }
    let plain = tables("umh/fig5-b1");
    for absent in ["synchronisation", "another GPU", "own L1", "LLC", "writeback", "barrier"] {
        assert!(!plain.contains(absent), "{absent} in\n{plain}");
    }
    insta::assert_snapshot!(tables("kernels/reduction"));
}

#[test]
fn protection_faults_stand_where_far_faults_do() {
    let gpu = tables("selective/read-only-write");
    assert!(gpu.contains("  protection faults, GPU      1  at most 1 tracked at a time by a GPU\n"), "{gpu}");
    assert!(gpu.contains("  pages made writable         1\n"), "{gpu}");
    let core = tables("selective/read-only-core");
    assert!(core.contains("  protection faults, CPU      1\n"), "{core}");
    assert!(tables("selective/read-only-limit").contains("speculation was given up"));
    assert!(!tables("paging/one-far-fault").contains("protection"));
}
