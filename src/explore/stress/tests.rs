use super::*;
use crate::diagnostic::Source;
use crate::scenario::{Options, Scenario};

fn plan(head: &str, accesses: u64) -> Plan {
    let scenario = Scenario::parse(Source::new("stress", head), None).unwrap();
    Plan { blueprint: scenario.blueprint(&Options::default()).unwrap(), accesses, seed: 7 }
}

#[test]
fn a_sound_machine_breaks_nothing_and_a_round_is_the_same_each_time() {
    let plan = plan("machine = \"tiny/umh-2gpu\"\n", 4000);
    let (one, two) = (plan.round(0, &|| false).unwrap(), plan.round(0, &|| false).unwrap());
    assert!(one.failure.is_none(), "{:?}", one.failure.map(|failure| failure.text));
    assert_eq!((one.events, one.cycles, one.accesses), (two.events, two.cycles, two.accesses));
    assert_eq!(one.accesses, 4000);
    let tables = one.coverage.tables();
    assert_eq!(tables[0].table, "nmoesi");
    assert!(tables[0].reached > tables[0].total / 2 && tables[0].pairs > tables[0].reached, "{tables:?}");
    assert!(one.coverage.watched() > 3000);
}

#[test]
fn a_round_that_is_broken_off_tells_what_it_came_to() {
    let plan = plan("machine = \"tiny/umh-2gpu\"\n", 3000);
    let looks = std::cell::Cell::new(0);
    let round = plan.round(0, &|| {
        looks.set(looks.get() + 1);
        looks.get() > 3
    });
    let (cut, whole) = (round.unwrap(), plan.round(0, &|| false).unwrap());
    assert!(cut.cut && !whole.cut);
    assert!((1..whole.accesses).contains(&cut.accesses), "{}", cut.accesses);
    assert!(cut.coverage.watched() > 0);
}

#[test]
fn fences_come_beside_the_accesses() {
    let round = plan("machine = \"tiny/vi-1gpu\"\n", 1000).round(0, &|| false).unwrap();
    assert!(round.failure.is_none(), "{:?}", round.failure.map(|failure| failure.text));
    assert_eq!(round.accesses, 1000);
}

#[test]
fn every_table_of_a_machine_is_looked_at() {
    let tables = plan("machine = \"tiny/scalegpu\"\n", 2000).round(0, &|| false).unwrap().coverage.tables();
    let names: Vec<_> = tables.iter().map(|table| table.table.as_str()).collect();
    assert_eq!(names, ["mesi", "scale-gpu", "scale-memory"]);
    assert!(tables.iter().all(|table| table.reached > 0 && table.pairs > 0), "{tables:?}");
}

#[test]
fn a_broken_rule_is_found_and_comes_out_small_and_as_a_scenario() {
    let head = "machine = \"tiny/umh-2gpu\"\nends = \"violation\"\n";
    let fault = "[[fault]]\nname = \"answer-without-data\"\n";
    let plan = plan(&format!("{head}{fault}"), 3000);
    let failure = plan.round(0, &|| false).unwrap().failure.unwrap();
    assert_eq!(failure.rule, "stale-read");
    let stopped = shrink(&plan, &failure.streams, &failure.rule, &|| true, &mut |_, _| ());
    assert!(!stopped.is_least && stopped.text.is_none(), "{:?}", stopped.text);
    let Small { streams: small, text, is_least, .. } =
        shrink(&plan, &failure.streams, &failure.rule, &|| false, &mut |_, _| ());
    assert!(is_least);
    assert_eq!(plan.breaks(&small, &|| false).map(|(_, text)| text), text);
    let count: usize = small.iter().map(|stream| stream.deeds.len()).sum();
    assert!(count <= 6, "{small:?}");
    assert_eq!(plan.breaks(&small, &|| false).map(|(rule, _)| rule).as_deref(), Some("stale-read"));
    let programs: String = small.iter().enumerate().map(|(index, stream)| stream.text(index)).collect();
    let scenario = Scenario::parse(Source::new("small", format!("{head}{fault}{programs}")), None).unwrap();
    let mut runner = scenario.prepare(&Options::default()).unwrap().runner();
    while runner.step().is_none() {}
    assert_eq!(runner.machine().violations()[0].rule, "stale-read");
}

const ORGANISATIONS: [&[&str]; 6] = [
    &["gpu.numa.l2=memory-side"],
    &["gpu.numa.l2=static"],
    &["gpu.numa.l2=shared", "gpu.numa.placement=first-touch"],
    &["gpu.numa.l2=shared", "gpu.numa.write=through", "gpu.numa.placement=fine"],
    &["gpu.numa.l2=partitioned", "gpu.numa.sample=300"],
    &["gpu.numa.l2=shared", "gpu.memory.mask_bytes=4", "network.topology=switch"],
];

/// Two sockets, changed.
fn sockets(changes: &[&str], rest: &str) -> Blueprint {
    changed("tiny/numa-2socket", changes, rest)
}

/// Two sockets to whose memories pages come, changed.
fn paged_sockets(changes: &[&str], rest: &str) -> Blueprint {
    changed("tiny/numa-2socket-paged", changes, rest)
}

fn changed(machine: &str, changes: &[&str], rest: &str) -> Blueprint {
    let text = format!("machine = \"{machine}\"\n{rest}");
    let scenario = Scenario::parse(Source::new("sockets", text), None).unwrap();
    let set = changes.iter().map(|change| (*change).to_owned()).collect();
    scenario.blueprint(&Options { set, ..Options::default() }).unwrap()
}

#[test]
fn sockets_that_page_share_what_comes() {
    for changes in [
        &["gpu.numa.l2=static", "gpu.paging.prefetch=tree"][..],
        &["gpu.numa.placement=page", "gpu.numa.l2=partitioned"],
        &["gpu.paging.prefetch=sequential", "gpu.paging.prefetch_when_full=true"],
    ] {
        let plan = Plan { blueprint: paged_sockets(changes, ""), accesses: 4000, seed: 7 };
        let failure = plan.round(0, &|| false).unwrap().failure;
        assert!(failure.is_none(), "{changes:?}: {:?}", failure.map(|failure| failure.text));
    }
}

#[test]
fn a_socket_that_goes_on_translating_a_page_that_left_another_is_found_out() {
    for (fault, rule) in [("skip-shoot-down", "page-place"), ("drop-page-write-back", "stale-read")] {
        let rest = format!("ends = \"violation\"\n[[fault]]\nname = \"{fault}\"\n");
        let plan = Plan { blueprint: paged_sockets(&[], &rest), accesses: 6000, seed: 7 };
        assert_eq!(plan.round(0, &|| false).unwrap().failure.unwrap().rule, rule, "{fault}");
    }
}

/// The same without acquires in the caches that keep it to software.
fn without_acquires(mut blueprint: Blueprint, of: impl Fn(&mut crate::protocol::table::Row)) -> Blueprint {
    for table in &mut blueprint.tables {
        Arc::make_mut(table).rows.iter_mut().for_each(&of);
    }
    blueprint
}

fn forget_silent(cells: &mut [Option<crate::protocol::table::Cell>]) {
    let acquire = crate::model::state::Action::Acquire.index();
    let is_silent = |cell: &crate::protocol::table::Cell| cell.step == crate::protocol::table::Step::Silent;
    if let Some(cell) = cells.get_mut(acquire).filter(|cell| cell.as_ref().is_some_and(is_silent)) {
        *cell = Some(crate::protocol::table::Cell {
            step: crate::protocol::table::Step::Silent,
            next: crate::protocol::table::Next::Same,
        });
    }
}

#[test]
fn software_coherence_keeps_its_promise_in_every_organisation() {
    for changes in ORGANISATIONS {
        let plan = Plan { blueprint: sockets(changes, ""), accesses: 3000, seed: 7 };
        let failure = plan.round(0, &|| false).unwrap().failure;
        assert!(failure.is_none(), "{changes:?}: {:?}", failure.map(|failure| failure.text));
    }
}

#[test]
fn caches_that_miss_an_acquire_are_found_out() {
    for changes in [ORGANISATIONS[0], ORGANISATIONS[1], ORGANISATIONS[2]] {
        let broken = without_acquires(sockets(changes, ""), |row| forget_silent(&mut row.leaf));
        let plan = Plan { blueprint: broken, accesses: 6000, seed: 7 };
        assert_eq!(plan.round(0, &|| false).unwrap().failure.unwrap().rule, "stale-read", "{changes:?}");
    }
    let broken = without_acquires(sockets(ORGANISATIONS[2], ""), |row| forget_silent(&mut row.inner));
    let plan = Plan { blueprint: broken, accesses: 6000, seed: 7 };
    assert_eq!(plan.round(0, &|| false).unwrap().failure.unwrap().rule, "stale-read", "the L2");
}

#[test]
fn neighbouring_bytes_that_are_merged_without_their_mask_are_found_out() {
    let fault = "ends = \"violation\"\n[[fault]]\nname = \"merge-whole-blocks\"\n";
    let plan = Plan { blueprint: sockets(ORGANISATIONS[2], fault), accesses: 6000, seed: 7 };
    assert!(plan.round(0, &|| false).unwrap().failure.is_some());
}

/// Runs to its end with checks; the first rule that broke.
fn ends(blueprint: &Blueprint) -> Option<&'static str> {
    let mut machine = Machine::build(blueprint).unwrap();
    let mut records = Records::silent();
    while machine.step(&mut records) == StepOutcome::Ran {
        if let Some(violation) = machine.violations().first() {
            return Some(violation.rule);
        }
    }
    assert!(machine.is_finished());
    machine.violations().first().map(|violation| violation.rule)
}

#[test]
fn what_a_kernel_stored_is_there_for_the_next_one() {
    // Partners lie in the other socket for some of its launches.
    let kernel = "[[kernel]]\nid = \"walsh\"\nname = \"fast-walsh-transform\"\n\
                  with = { size = 4096, workgroup = 16, wavefront = 4, launch = 10 }\n";
    for changes in ORGANISATIONS {
        assert_eq!(ends(&sockets(changes, kernel)), None, "{changes:?}");
    }
}

#[test]
fn what_is_copied_comes_and_goes_without_a_loss() {
    for set in [&[][..], &["gpu.copies.by=runtime", "gpu.numa.page=16 KiB"], &["network.kind=nvlink"]] {
        let scenario =
            Scenario::parse(Source::new("copies", "machine = \"tiny/memcpy-2gpu\"\n"), None).unwrap();
        let set = set.iter().map(|change| (*change).to_owned()).collect();
        let blueprint = scenario.blueprint(&Options { set, ..Options::default() }).unwrap();
        let round = Plan { blueprint, accesses: 3000, seed: 11 }.round(0, &|| false).unwrap();
        assert!(round.failure.is_none(), "{:?}", round.failure.map(|failure| failure.text));
        assert_eq!(round.accesses, 3000);
    }
}

/// A GPU whose memory is a cache of the host's, changed.
fn cached(changes: &[&str], rest: &str) -> Blueprint {
    let text = format!("machine = \"tiny/scalegpu\"\n{rest}");
    let scenario = Scenario::parse(Source::new("cached", text), None).unwrap();
    let set = changes.iter().map(|change| (*change).to_owned()).collect();
    scenario.blueprint(&Options { set, ..Options::default() }).unwrap()
}

#[test]
fn memory_that_is_a_cache_keeps_what_fences_promise() {
    let settings: [&[&str]; 5] = [
        &[],
        &["gpu.tags.pending=1"],
        &["gpu.tags.scoreboard=1"],
        &["gpu.tags.data=512 B", "gpu.memory.size=512 B"],
        &["gpu.memory.dram.scheduler=in-order"],
    ];
    for changes in settings {
        for seed in 1..=3 {
            let plan = Plan { blueprint: cached(changes, ""), accesses: 800, seed };
            let failure = plan.round(0, &|| false).unwrap().failure;
            assert!(failure.is_none(), "{changes:?}: {:?}", failure.map(|failure| failure.text));
        }
    }
}

#[test]
fn faults_of_tag_miss_handlers_are_found_out() {
    for (fault, rules) in [
        ("lose-arrival", &["stuck"][..]),
        ("relay-past-fetch", &["stale-read", "lost-store"]),
        ("cold-write-only-here", &["stale-read", "lost-store"]),
        ("drop-dirty-row", &["stale-read", "lost-store"]),
    ] {
        let blueprint = cached(&[], &format!("[[fault]]\nname = \"{fault}\"\n"));
        let found = (1..40).find_map(|seed| {
            let plan = Plan { blueprint: blueprint.clone(), accesses: 500, seed };
            plan.round(0, &|| false).unwrap().failure
        });
        let rule = found.map(|failure| failure.rule).unwrap_or_default();
        assert!(rules.contains(&rule.as_str()), "{fault}: {rule:?}");
    }
}

/// An L1 sees its own store before it is performed, and others may see it before the L1 is told that it was.
#[test]
fn l1s_that_are_tracked_and_hand_on_what_they_store_break_nothing() {
    let cells = ["store", "n-store"].map(|action| {
        let own = ["S", "I"].map(|state| {
            format!("\"cache {state} {action} = forward\", \"inner {state} {action} = write > M\"")
        });
        own.join(", ")
    });
    let all = format!("mutate = [{}]\n", cells.join(", "));
    for machine in ["tiny/two-l1", "tiny/umh-2gpu"] {
        let plan = plan(&format!("machine = \"{machine}\"\nprotocol = \"msi\"\n{all}"), 5000);
        let failure = plan.round(0, &|| false).unwrap().failure;
        assert!(failure.is_none(), "{machine}: {:?}", failure.map(|failure| failure.text));
    }
}

/// What such a load reads is what was there where it was performed, though somebody stores before its answer comes.
#[test]
fn loads_that_are_handed_on_read_what_was_there_where_they_are_performed() {
    let forwarded = |machine: &str, protocol: &str, more: &str| {
        let changes = format!("mutate = [\"cache I load = forward\"{more}]\n");
        let plan = plan(&format!("machine = \"{machine}\"\nprotocol = \"{protocol}\"\n{changes}"), 5000);
        plan.round(0, &|| false).unwrap().failure.map(|failure| failure.rule)
    };
    for machine in ["tiny/two-l1", "tiny/umh-2gpu"] {
        for protocol in ["msi", "mesi", "vi"] {
            assert_eq!(forwarded(machine, protocol, ""), None, "{machine} {protocol}");
        }
        // The owner keeps its data, so that what is below it is old.
        let stale = forwarded(machine, "mesi", ", \"cache M read = ack > S\"");
        assert_eq!(stale.as_deref(), Some("stale-read"), "{machine}");
    }
}

#[test]
fn l1s_that_no_fence_empties_are_found_out() {
    let head =
        "machine = \"tiny/umh-2gpu\"\nprotocol = \"vi\"\nmutate = [\"cache V acquire = impossible\"]\n";
    let failure = plan(head, 20_000).round(0, &|| false).unwrap().failure.unwrap();
    assert_eq!(failure.rule, "stale-read");
}

/// What a write-through L1 hands on stays in the L2 above which it is, in N, until somebody asks for all of it: no fence brings it further.
#[test]
fn l1s_that_software_keeps_coherent_above_caches_that_hide_stores_break_nothing() {
    for machine in ["tiny/umh-2gpu", "tiny/zerocopy-2gpu"] {
        let mut plan = plan(&format!("machine = \"{machine}\"\n[set]\ngpu.l1.protocol = \"vi\"\n"), 8000);
        plan.seed = 3;
        let failure = plan.round(0, &|| false).unwrap().failure;
        assert!(failure.is_none(), "{machine}: {:?}", failure.map(|failure| failure.text));
    }
}
