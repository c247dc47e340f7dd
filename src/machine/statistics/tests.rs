use crate::machine::sample::{performing, program, working};
use std::collections::{BTreeMap, BTreeSet};

use crate::machine::{Machine, StepOutcome};
use crate::model::access::AccessKind::{self, Load, NStore, Store};
use crate::model::component::ComponentKind;
use crate::model::inspect::Inspect;
use crate::model::level::Level;
use crate::model::message::Message;
use crate::model::message::MessageKind::{ProbeRead, ProbeWrite};
use crate::model::record::{Records, What};
use crate::model::state::{Action, State};
use crate::model::warp::WarpState;

/// The two small GPUs after this work.
fn after(work: &[(&str, AccessKind, Vec<u64>)]) -> Machine {
    after_on("tiny/umh-2gpu", work)
}

fn after_on(machine: &str, work: &[(&str, AccessKind, Vec<u64>)]) -> Machine {
    let mut machine = working(machine, &[], work);
    machine.run_until(u64::MAX);
    assert!(machine.is_finished());
    machine
}

#[track_caller]
fn assert_statistics(machine: &Machine, expected: &[(&str, f64)]) {
    for (key, value) in expected {
        let found = machine.statistic(key).unwrap_or_else(|| panic!("no {key}"));
        assert!((found - value).abs() < 0.01, "{key} is {found}, not {value}");
    }
}

#[test]
fn an_access_counts_where_its_farthest_request_came_to() {
    // From memory; from the L1 (2 cycles); from the secondary block that the first brought to the SMD.
    let machine = after(&[("gpu0.cu0", Load, vec![0x1000, 0x1000, 0x1040])]);
    let alone = after(&[("gpu0.cu0", Load, vec![0x1000])]);
    let miss = alone.statistic("access.load.max_cycles").unwrap();
    assert_statistics(
        &machine,
        &[
            ("access.hmd.count", 1.0),
            ("access.l1.count", 1.0),
            ("access.smd.count", 1.0),
            ("access.l2.count", 0.0),
            ("access.joined.count", 0.0),
            ("access.l1.mean_cycles", 2.0),
            ("access.load.l1.mean_cycles", 2.0),
            ("access.load.count", 3.0),
            ("access.store.count", 0.0),
            ("access.load.max_cycles", miss),
        ],
    );
    assert!(machine.statistic("access.smd.mean_cycles") < machine.statistic("access.hmd.mean_cycles"));
    assert!(machine.statistic("access.l2.mean_cycles").unwrap().is_nan());
    assert!(machine.statistic("access.peer.count").is_none(), "this machine has no peer transfers");
}

#[test]
fn probes_that_come_and_what_they_take_away_are_those_of_the_records() {
    let addresses = [0x1000, 0x1040, 0x2000, 0x9000, 0x1000];
    let units = ["gpu0.cu0", "gpu1.cu0", "gpu1.cu1", "host.cpu0"];
    let work: Vec<_> =
        units.iter().flat_map(|unit| [Store, Load].map(|kind| (*unit, kind, addresses.to_vec()))).collect();
    let mut machine = working("tiny/umh-2gpu", &["gpu.l2.size=128 B", "gpu.l2.ways=1"], &work);
    let (mut records, mut probed, mut lost) = (Records::listening(), BTreeMap::new(), BTreeMap::new());
    while machine.step(&mut records) == StepOutcome::Ran {
        for record in &records.list {
            let node = machine.components().path(record.at).to_owned();
            match &record.what {
                What::Delivery(message) if matches!(message.kind, ProbeRead | ProbeWrite) => {
                    *probed.entry(node).or_insert(0) += 1;
                }
                What::Transition { to: State::I, action: Action::Read | Action::Write, .. } => {
                    *lost.entry(node).or_insert(0) += 1;
                }
                _ => {}
            }
        }
    }
    let nodes = machine.components().iter().filter(|(_, part)| part.kind.is_node());
    for path in nodes.map(|(_, part)| part.path.clone()) {
        for (key, counts) in [("probed", &probed), ("lost", &lost)] {
            let expected = f64::from(counts.get(&path).copied().unwrap_or(0));
            assert_statistics(&machine, &[(&format!("{path}.{key}"), expected)]);
        }
    }
    assert!(probed.len() > 5 && lost.len() > 3, "{probed:?} {lost:?}");
}

#[test]
fn the_accesses_of_tasks_are_those_of_the_machine() {
    // Programs of two units: a miss and a hit, and a miss in another block.
    let machine = after(&[("gpu0.cu0", Load, vec![0x1000, 0x1000]), ("gpu0.cu1", Load, vec![0x9000])]);
    let sheet = machine.statistics();
    let of = |end: &str| -> Vec<f64> {
        let ours = sheet.iter().filter(|(key, _)| key.starts_with("tasks.") && key.ends_with(end));
        ours.map(|(_, value)| *value).collect()
    };
    assert_eq!((of(".accesses"), of(".l1_share")), (vec![2.0, 1.0], vec![0.5, 0.0]));
    let mean = machine.statistic("access.load.mean_cycles").unwrap();
    let [first, second] = of(".mean_cycles")[..] else { panic!("two tasks") };
    assert!((2.0 * first + second - 3.0 * mean).abs() < 1e-9);
}

#[test]
fn percentiles_ascend_from_a_hit_to_the_longest() {
    let machine = after(&[("gpu0.cu0", Load, vec![0x1000, 0x1000, 0x1004, 0x1008])]);
    assert_statistics(&machine, &[("access.load.p50_cycles", 2.0)]);
    let value = |name: &str| machine.statistic(&format!("access.load.{name}_cycles")).unwrap();
    assert!(value("p50") < value("p90") && value("p90") <= value("p99") && value("p99") <= value("max"));
    for unknown in ["p50", "max"] {
        let value = machine.statistic(&format!("access.atomic.{unknown}_cycles")).unwrap();
        assert!(value.is_nan(), "the {unknown} of no atomics is {value}");
    }
}

#[test]
fn who_joins_a_miss_counts_where_it_joined() {
    // Two warps of one unit, and a unit beside it: the second joins in the L1, the third in the L2.
    let machine = after(&[
        ("gpu0.cu0", Load, vec![0x1000]),
        ("gpu0.cu0", Load, vec![0x1000]),
        ("gpu0.cu1", Load, vec![0x1000]),
    ]);
    assert_statistics(
        &machine,
        &[
            ("access.hmd.count", 1.0),
            ("access.hmd.merged", 0.0),
            ("access.joined.count", 1.0),
            ("access.l2.count", 1.0),
            ("access.l2.merged", 1.0),
            ("levels.gpu_l1.merges", 1.0),
            ("levels.l2.merges", 1.0),
            ("gpu0.l2.0.merges", 1.0),
        ],
    );
}

#[test]
fn stores_that_are_passed_up_join_nothing() {
    let store = ("gpu0.cu0", NStore, vec![0x1000]);
    let machine = after_on("tiny/vi-1gpu", &[store.clone(), store]);
    assert_statistics(
        &machine,
        &[
            ("levels.gpu_l1.misses", 2.0),
            ("levels.gpu_l1.merges", 0.0),
            ("access.joined.count", 0.0),
            ("messages.forward.count", 2.0),
        ],
    );
}

#[test]
fn a_load_that_finds_its_line_beside_a_store_under_way_hits() {
    // The stores are under way, one after the other, all the time in which the loads find the line.
    let machine = after_on(
        "tiny/vi-1gpu",
        &[("gpu0.cu0", NStore, vec![0x1000; 4]), ("gpu0.cu0", Load, vec![0x1000; 4])],
    );
    assert_statistics(
        &machine,
        &[
            ("levels.gpu_l1.hits", 3.0),
            ("levels.gpu_l1.misses", 5.0),
            ("levels.gpu_l1.merges", 0.0),
            ("access.l1.count", 3.0),
            ("access.joined.count", 0.0),
        ],
    );
}

#[test]
fn what_joins_in_an_l1_merges_there_behind_a_writeback_too() {
    // Six blocks for two ways: what comes back while its writeback is under way waits for the answer to that.
    let path = |warp: u64| (0..40).map(|n| 0x1000 + 0x100 * ((n * n + warp * n) % 6)).collect();
    let warps: Vec<_> = (1..5).map(|warp| ("gpu0.cu0", Store, path(warp))).collect();
    let machine = after(&warps);
    let joined = machine.statistic("access.joined.count").unwrap();
    assert!(joined > 0.0);
    assert_statistics(&machine, &[("levels.gpu_l1.merges", joined)]);
}

#[test]
fn other_caches_are_asked_for_the_sake_of_an_access_but_not_for_room() {
    let machine = after(&[("gpu0.cu0", Store, vec![0x1000]), ("gpu1.cu0", Store, vec![0x1000])]);
    assert_statistics(&machine, &[("access.hmd.count", 2.0), ("access.hmd.probed", 1.0)]);
    // Six secondary blocks do not fit into four: the SMD recalls lines from above, which are in other sets there.
    let blocks = (0..6).map(|block| 0x1040 * block).collect();
    let machine = after(&[("gpu0.cu0", Store, blocks)]);
    assert_statistics(&machine, &[("access.hmd.probed", 0.0), ("gpu0.smd0.recalls", 2.0)]);
    assert_statistics(&machine, &[("levels.smd.evictions", 2.0), ("levels.smd.recalls", 2.0)]);
}

#[test]
fn mshrs_in_use_are_an_integral_over_time() {
    // One miss at a time from the issue until the data are here, as long as the access takes.
    let machine = after(&[("gpu0.cu0", Load, vec![0x1000, 0x2000])]);
    let base = machine.time_base();
    let time = machine.tick() as f64 / base.ticks_per_cycle as f64;
    let spent = machine.statistic("access.hmd.mean_cycles").unwrap() * 2.0;
    let mean = machine.statistic("gpu0.cu0.l1.mshr_mean").unwrap();
    assert!((mean - spent / time).abs() < 1e-9, "{mean} is not {spent} of {time}");
    // A mean over the level's four L1s.
    assert!((machine.statistic("levels.gpu_l1.mshr_mean").unwrap() - mean / 4.0).abs() < 1e-9);
    assert_statistics(&machine, &[("gpu0.cu0.l1.mshr_high_water", 1.0)]);
}

#[test]
fn mshrs_in_use_are_known_while_a_miss_is_under_way() {
    let mut machine = working("tiny/umh-2gpu", &[], &[("gpu0.cu0", Load, vec![0x1000])]);
    // The request has come to the host: all the time since the issue.
    machine.run_until(5);
    assert_statistics(&machine, &[("gpu0.cu0.l1.mshr_mean", 1.0)]);
    assert_statistics(&machine, &[("warp_share.memory", 1.0)]);
}

#[test]
fn every_wire_counts_what_it_carried() {
    let far = || (0..40).map(|line| 0x440 * line).collect();
    let machine = after(&[
        ("gpu0.cu0", NStore, far()),
        ("gpu0.cu1", Store, far()),
        ("gpu1.cu0", Load, far()),
        ("host.cpu0", Store, far()),
    ]);
    let mut carried = machine.sent.map(|_| (0, 0));
    for link in &machine.links {
        for (sum, (count, bytes)) in carried.iter_mut().zip(link.carried) {
            *sum = (sum.0 + count, sum.1 + bytes);
        }
    }
    assert_eq!(carried, machine.sent);
    assert!(machine.links.iter().any(|link| link.queued > 0), "nothing ever waited for a wire");
}

#[test]
fn stores_that_are_passed_up_take_an_mshr_or_wait_for_one() {
    // Lines of host memory, which may not be kept: their stores go on through the L2.
    let lines: Vec<u64> = (0..6).map(|line| line * 0x80).collect();
    let work = [
        ("gpu0.cu0", Store, lines.clone()),
        ("gpu0.cu1", Store, lines.iter().map(|line| line + 0x400).collect()),
    ];
    let changes = ["gpu.unified.host_share=100", "gpu.l2.mshrs=1", "gpu.sm.outstanding=8"];
    let mut machine = working("tiny/selective", &changes, &work);
    machine.run_until(u64::MAX);
    assert!(machine.is_finished());
    assert_statistics(&machine, &[("gpu0.l2.0.mshr_high_water", 1.0)]);
    assert!(machine.statistic("gpu0.l2.0.mshr_full").unwrap() > 0.0, "and those that waited are counted");
}

#[test]
fn an_access_that_missed_a_tlb_is_no_hit_when_it_is_tried_again() {
    // One far-faults, its neighbour joins it, and the third finds the page there; it crosses two links.
    let work = [("gpu0.cu0", Load, vec![0x1000, 0x1080]), ("gpu0.cu0", Load, vec![0x1040])];
    let mut machine = working("tiny/paged-1gpu", &["network.topology=switch"], &work);
    machine.run_until(u64::MAX);
    assert!(machine.is_finished());
    let counts = [("paging.tlb.misses", 1.0), ("paging.tlb.merges", 1.0), ("paging.tlb.hit_rate", 1.0 / 3.0)];
    assert_statistics(&machine, &counts);
    assert_statistics(&machine, &[("paging.bytes", 4096.0), ("paging.demanded", 1.0)]);
}

#[test]
fn a_miss_of_a_memory_that_is_a_cache_is_no_hit_when_it_is_replayed() {
    let mut machine = working("tiny/scalegpu", &[], &[("gpu0.cu0", Load, vec![0x1000])]);
    machine.run_until(u64::MAX);
    assert_statistics(&machine, &[("levels.memory.hits", 0.0), ("levels.memory.misses", 1.0)]);
    assert_statistics(&machine, &[("levels.memory.mshr_high_water", 1.0)]);
    assert!(machine.statistic("levels.memory.mshr_mean").unwrap() > 0.0);
    // Two packets of 128 B of data, each with a header of 20 B.
    assert_statistics(&machine, &[("link.host.out.bytes", 296.0), ("link.host.out.data_bytes", 256.0)]);
    assert_statistics(&machine, &[("link.host.out.efficiency", 256.0 / 296.0)]);
}

#[test]
fn folded_networks_share_what_is_queued_and_buffered() {
    let lanes = |change: &str| {
        let machine = working("tiny/umh-2gpu", &[change], &[("gpu0.cu0", Load, vec![0x1000])]);
        let link = machine.links(0).into_iter().next().unwrap();
        (link.queued.len(), link.buffered.len())
    };
    assert_eq!(lanes("network.virtual_networks=3"), (3, 3));
    assert_eq!(lanes("network.virtual_networks=1"), (1, 1));
}

/// Four L1s that load line after line from the one slice, which has so many ports.
fn crowd(ports: u32) -> Machine {
    let lines = |cu: u64| (0..24).map(|line| 0x1_0000 + (2 * line + cu) * 0x40).collect::<Vec<_>>();
    let set = format!("gpu.l2.ports={ports}");
    let changes = [
        set.as_str(),
        "gpu.l2.slices=1",
        "gpu.cu.count=4",
        "gpu.cu.outstanding=16",
        "network.buffers=64",
        "gpu.l2.mshrs=64",
    ];
    let work: Vec<_> = (0..4)
        .map(|cu| (["gpu0.cu0", "gpu0.cu1", "gpu0.cu2", "gpu0.cu3"][cu], Load, lines(cu as u64)))
        .collect();
    working("tiny/umh-1gpu", &changes, &work)
}

/// What became of them, how many messages the slice took, and the mean of the quoted cycles that those of the L1s took longer than
/// the fastest. What comes from below comes one by one.
fn crowded(ports: u32) -> (Machine, u64, f64) {
    let mut machine = crowd(ports);
    let slice = machine.components().find("gpu0.l2.0").unwrap();
    let (mut records, mut sent, mut took) = (Records::listening(), BTreeMap::new(), Vec::new());
    while machine.step(&mut records) == StepOutcome::Ran {
        for record in &records.list {
            let key =
                |message: &Message| (message.from, message.kind as usize, message.txn, message.range.start);
            match &record.what {
                What::Message(message) if message.to == slice => {
                    sent.insert(key(message), machine.tick());
                }
                What::Delivery(message) if message.to == slice => {
                    took.push((message.from, machine.tick() - sent.remove(&key(message)).unwrap()));
                }
                What::Stall { .. } | What::NoCredit { .. } => panic!("something else waits"),
                _ => {}
            }
        }
    }
    let fastest =
        |from| took.iter().filter(|(other, _)| *other == from).map(|(_, ticks)| *ticks).min().unwrap();
    let above =
        took.iter().filter(|(from, _)| machine.components().get(*from).unwrap().kind == ComponentKind::L1);
    let waits: u64 = above.map(|(from, ticks)| ticks - fastest(*from)).sum();
    let cycle = machine.time_base().ticks_per_cycle;
    let mean = waits as f64 / cycle as f64 / took.len() as f64;
    (machine, took.len() as u64, mean)
}

#[test]
fn ports_are_busy_for_a_cycle_a_message_and_more_of_them_hold_less_up() {
    let of = |ports| {
        let (machine, taken, waited) = crowded(ports);
        let time = machine.tick() as f64 / machine.time_base().ticks_per_cycle as f64;
        let share = taken as f64 / time / f64::from(ports);
        // A message that was taken last may hold its port beyond the end.
        let busy = machine.statistic("gpu0.l2.0.port_utilisation").unwrap();
        assert!((busy - share).abs() < 1.5 / time, "{busy} of {share}");
        assert_eq!(machine.statistic("levels.l2.port_utilisation"), Some(busy));
        let told = machine.statistic("gpu0.l2.0.port_queued_mean_cycles").unwrap();
        assert!((waited..waited + 0.25).contains(&told), "{told} and {waited}");
        told
    };
    let (one, two, many) = (of(1), of(2), of(16));
    assert!(one > two && two > many, "{one} {two} {many}");
}

#[test]
fn ports_can_change_under_way() {
    let wait = |later: Option<u32>| {
        let mut machine = crowd(1);
        machine.run_until(100);
        if let Some(ports) = later {
            let (other, mut records) = (crowd(ports), Records::silent());
            machine.can_adopt(&other).unwrap();
            let mut out = machine.outbox(&mut records);
            machine.adopt(&other, &mut out);
            machine.close(out);
        }
        machine.run_until(u64::MAX);
        assert!(machine.is_finished());
        let busy = machine.statistic("gpu0.l2.0.port_utilisation").unwrap();
        assert!((0.0..=1.0).contains(&busy), "{busy}");
        (machine.statistic("gpu0.l2.0.port_queued_mean_cycles").unwrap() * 1e6) as u64
    };
    let (one, many) = (wait(None), wait(Some(16)));
    assert_eq!(one, wait(Some(1)), "the same again changes nothing");
    assert!(many < one, "{many} {one}");
}

#[test]
fn warps_are_counted_in_the_states_that_they_are_in() {
    let lines = |cu: u64| (0..16).map(|line| (2 * line + cu) * 0x1000).collect::<Vec<_>>();
    let work = [("gpu0.cu0", Load, lines(0)), ("gpu0.cu1", Store, lines(1))];
    let mut machine = working("tiny/umh-1gpu", &[], &work);
    let parts = machine.components().iter().filter(|(_, part)| part.kind == ComponentKind::Cu);
    let agents: Vec<_> = parts.map(|(id, _)| id).collect();
    let mut seen = BTreeSet::new();
    while machine.run_until(machine.event() + 1) != StepOutcome::Finished {
        for agent in &agents {
            let states = machine.agent(*agent).unwrap().warps.into_iter().map(|warp| warp.state);
            let states: Vec<WarpState> = states.collect();
            seen.extend(states.iter().map(|state| state.letter()));
            assert_eq!(machine.warp_counts(*agent).unwrap(), WarpState::count(states.into_iter()));
        }
    }
    assert!(seen.len() > 2, "{seen:?}");
}

/// Which section a statistic is in is found out before the first event.
#[test]
fn each_is_the_same_alone_as_among_all() {
    let names =
        ["tiny/umh-2gpu", "tiny/numa-2socket", "tiny/paged-1gpu", "tiny/selective-readonly", "tiny/scalegpu"];
    for name in names {
        let mut machine = working(name, &[], &[("gpu0.cu0", Store, vec![0x1000, 0x1040, 0x2000])]);
        assert_eq!(machine.statistic("events"), Some(0.0), "{name}");
        machine.run_until(u64::MAX);
        let all = machine.statistics();
        assert!(all.iter().any(|(key, value)| key.starts_with("tasks.") && *value > 0.0), "{name}");
        for (key, value) in all {
            let alone = machine.statistic(&key).map(f64::to_bits);
            assert_eq!(alone, Some(value.to_bits()), "{key} of {name}");
        }
        assert_eq!(machine.statistic("levels.l9.hits"), None);
    }
}

/// What is counted together is told within 6 %, and never outside of what there was.
#[test]
fn percentiles_lie_between_the_shortest_and_the_longest() {
    let machine = after(&[("gpu0.cu0", Load, vec![0x1000])]);
    let told = |what: &str| machine.statistic(&format!("access.load.{what}_cycles")).unwrap();
    assert!(told("max") > 100.0);
    assert!(["p50", "p99"].into_iter().all(|what| told(what).to_bits() == told("max").to_bits()));
}

/// However far an access has to go, it counts at one level that is told.
#[test]
fn the_levels_of_sockets_have_all_accesses() {
    for organisation in ["memory-side", "static", "shared", "partitioned"] {
        let organisation = format!("gpu.numa.l2={organisation}");
        let lines = [0x1000, 0x1040, 0x2000, 0x2040];
        // What the one has loaded the other finds in its L2, where that is for all.
        let mut work = vec![program("gpu1.cu0", Load, &lines), program("gpu0.cu0", Load, &lines)];
        work[1].after = vec![0];
        let changes = [organisation.as_str(), "gpu.numa.placement=page"];
        let mut machine = performing("tiny/numa-2socket", &changes, work);
        machine.run_until(u64::MAX);
        let shares = Level::ALL.map(|level| machine.statistic(&format!("access.{}.share", level.name())));
        let all: f64 = shares.into_iter().flatten().sum();
        assert!((all - 1.0).abs() < 1e-9, "{organisation}: {all}");
        assert!(machine.statistic("access.far_memory.count").unwrap() > 0.0, "{organisation}");
    }
}
