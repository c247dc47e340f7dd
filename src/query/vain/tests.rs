//! What is told of queries, and what is not.

use std::sync::Arc;

use super::Possible;
use super::states::leads;
use crate::machine::sample::bundled;
use crate::machine::{Change, Machine, Planned};
use crate::model::record::Records;
use crate::model::state::{Action, State};
use crate::protocol::mutation;
use crate::protocol::table::{Cell, Next, Step};
use crate::query::{Context, Filter, Predicate, Text};

fn why(machine: &Machine, query: &str) -> Option<String> {
    let context = Context::of(machine);
    let filter = Filter::compile(&Text::new("test", query), &context);
    Possible::on(machine).doubt(&filter.unwrap_or_else(|error| panic!("{query}: {error}")))
}

#[test]
fn what_never_happens_is_told_with_its_reason() {
    let set =
        ["gpu.numa.l2=partitioned", "gpu.l2.ways=4", "network.balancer.policy=dynamic", "network.lanes=8"];
    let machine = bundled("tiny/numa-2socket", &set);
    for (query, wanted) in [
        ("way-repartition remote > 300", "remote is 1 to 3 in way-repartition records"),
        ("way-repartition remote 4", "remote is 1 to 3"),
        ("way-repartition local < 1", "local is 1 to 3"),
        ("lane-reversal out-lanes > 15", "out-lanes is 1 to 15"),
        ("saturation use > 100", "use is 0 to 100"),
        ("saturation saturated 2", "saturated is 0 to 1"),
        ("remote-miss home 2", "home is 0 to 1"),
        ("way-repartition at link.*", "way-repartition records are of gpu0.cu0.l1 and its like"),
        ("way-repartition link link.*", "way-repartition records are about no link"),
        ("lane-sample block 0x1000", "lane-sample records are about no block"),
        ("tag or way-sample step keep remote 9", "no memory has its tags in DRAM"),
        ("dram tags", "no memory has a controller with a queue"),
        ("transition page 0x3000", "the page of address 0x3000 is page 0x3"),
        ("transition page 0x2000..0x4fff", "the page of address 0x2000 is page 0x2"),
    ] {
        let told = why(&machine, query).unwrap_or_else(|| panic!("{query} is said to be possible"));
        assert!(told.contains(wanted), "{query}: {told}");
    }
    for query in [
        "way-repartition remote 3",
        "way-repartition remote >= 3 or tag",
        "way-repartition remote is not 1",
        "way-repartition at gpu1",
        "lane-reversal at link.* out-lanes 15",
        "saturation saturated",
        "not tag",
        "transition link link.* or message link link.*",
        "transition page 0x3",
        "transition page 0x3..0x8",
    ] {
        assert_eq!(why(&machine, query), None, "{query}");
    }
    let tagged = bundled("tiny/scalegpu", &[]);
    assert_eq!(why(&tagged, "dram tags or mshr at gpu0.l2.0"), None);
    let told = why(&tagged, "mshr at gpu0.memory.0").unwrap_or_default();
    assert!(told.contains("tag records tell of the entries of gpu0.memory.0"), "{told}");
}

/// What each query is said to lack, and that nothing is said of the others.
fn check(machine: &Machine, lacking: &[(&str, &str)], possible: &[&str]) {
    for (query, wanted) in lacking {
        let told = why(machine, query).unwrap_or_else(|| panic!("{query} is said to be possible"));
        assert!(told.contains(*wanted), "{query}: {told}");
    }
    for query in possible {
        assert_eq!(why(machine, query), None, "{query}");
    }
}

#[test]
fn states_that_nothing_there_has_or_gets_are_told() {
    let mut tagged = bundled("tiny/scalegpu", &[]);
    let lacking = [
        ("transition at host.hmd0", "host.hmd0 keeps no state"),
        ("evict at hmd* dirty > 0", "host.hmd0 keeps no state"),
        ("hit at gpu0.cu0 at host.hmd0", "host.hmd0 keeps no state"),
        ("evict at link.*", "link.host.in keeps no state"),
        ("transition to E at gpu0.cu0.l1", "E is no state of scale-gpu"),
        ("transition at gpu0.cu0.l1 (from M or to E)", "M is no state of scale-gpu"),
        ("hit state one of E M at gpu0.l2.1", "E is no state of scale-gpu"),
        ("evict state S gpu 0", "S is no state of scale-gpu or scale-memory"),
        ("transition to D at gpu0.cu0.l1", "nothing in scale-gpu leads a block to D there"),
        ("transition to C", "nothing in scale-memory leads a block to C"),
    ];
    let possible = [
        "transition from C",
        "transition at gpu0.memory.0 from C to V",
        "evict at gpu0.memory.0",
        "evict at hmd0 or evict at host.cpu0.l1",
        "evict at gpu0",
        "hit at gpu0.l2.0 state D",
        "transition to D at gpu0",
        "transition to V at gpu0.cu0.l1",
        "transition to one of E V at gpu0.cu0.l1",
        "transition to is not E at gpu0.cu0.l1",
        "transition not to E at gpu0.cu0.l1",
        "transition to E at host.cpu0.l1",
        "transition to E",
        "transition at is not gpu0 to M",
        "message at host.hmd0",
    ];
    check(&tagged, &lacking, &possible);
    // One that is to come, and then one that was made.
    for event in [20, 0] {
        let change = Change::Adopt(Arc::new(tagged.clone()));
        tagged.plan(Arc::from([Planned { event, text: "cell".into(), change }]));
        if event == 0 {
            tagged.step(&mut Records::silent());
            assert_eq!(tagged.next_planned(), None);
        }
        check(&tagged, &[("transition to E gpu 0", "E is no state of")], &["transition to C"]);
    }
}

#[test]
fn memories_that_are_homes_keep_no_states_and_directories_do() {
    let sockets = bundled("tiny/numa-2socket", &[]);
    let lacking = [("evict at gpu1.memory.0", "gpu1.memory.0 keeps no state")];
    check(&sockets, &lacking, &["evict at gpu1.l2.0", "transition gpu 1"]);
    let switched = bundled("tiny/umh-4gpu-switch", &[]);
    let possible = ["evict at smd*", "transition at smd* to N", "transition to E at l1", "merge at hmd*"];
    check(&switched, &[("transition at hmd* to N", "host.hmd0 keeps no state")], &possible);
}

#[test]
fn a_cell_that_was_changed_counts() {
    let tagged = bundled("tiny/scalegpu", &[]);
    let table = tagged.tables().iter().find(|table| table.name == "scale-memory").unwrap();
    let conflict = table.conflict();
    assert!(!leads(table, false, conflict));
    let cell = Cell { step: Step::Both, next: Next::To(conflict) };
    let change = mutation::Change::Inner(State::I, Action::NStore, Some(cell));
    let changed = change.apply(table).unwrap();
    assert!(leads(&changed, false, conflict) && !leads(&changed, true, conflict));
}

/// Each L1 of this machine has four.
#[test]
fn more_mshrs_than_there_are_are_never_in_use() {
    let machine = bundled("tiny/umh-2gpu", &[]);
    let lacking = [
        ("mshr at gpu0.cu0.l1 used 77", "used is 0 to 4 in mshr records"),
        ("mshr used > 4 at gpu0.cu0.l1", "used is 0 to 4 in mshr records"),
    ];
    check(&machine, &lacking, &["mshr at gpu0.cu0.l1 used 4", "mshr used 77", "mshr at gpu0.l2.0 used 5"]);
    let context = Context::of(&machine);
    let lacks = |text: &str| {
        let predicate = Predicate::compile(&Text::new("query", text), &context).unwrap();
        Possible::on(&machine).lacks_for(&predicate)
    };
    let many = "occupancy of gpu0.cu0.l1.mshr >= 5";
    assert_eq!(lacks(many).as_deref(), Some("there are no more than 4 MSHRs in a node of these"));
    for possible in ["occupancy of gpu0.cu0.l1.mshr >= 4", "not occupancy of gpu0.cu0.l1.mshr >= 5"] {
        assert_eq!(lacks(possible), None, "{possible}");
    }
    assert!(lacks(&format!("cycle > 5 and {many}")).is_some());
    assert!(lacks(&format!("cycle > 5 or {many}")).is_none());
}

#[test]
fn hops_need_a_switch_and_pages_that_are_demanded_a_driver() {
    let copied = bundled("tiny/memcpy-1gpu", &[]);
    let lacking = [
        ("hop", "there is no switch"),
        ("page-move change demanded", "only bulk copies move pages"),
        ("page-move change one of evicted copied-back", "only bulk copies move pages"),
    ];
    let possible = [
        "page-move",
        "page-move change copied",
        "page-move change redundant",
        "page-move change one of demanded arrived",
        "page-move change is not demanded",
    ];
    check(&copied, &lacking, &possible);
    let lacking = [
        ("page-move change redundant", "no data are copied in bulk"),
        ("page-move change copied", "no pages are copied before the work"),
        ("page-move change copied-back", "no pages are copied back"),
    ];
    let possible = ["page-move change demanded", "page-move change one of copied evicted"];
    check(&bundled("tiny/paged-1gpu", &[]), &lacking, &possible);
    let directed = ["gpu.paging.copy=up-front", "gpu.paging.copy_back=true"];
    let possible = ["page-move change copied", "page-move change copied-back"];
    check(&bundled("tiny/paged-1gpu", &directed), &[], &possible);
    let switched = bundled("tiny/umh-4gpu-switch", &[]);
    let lacking = [("hop at host.hmd0", "hop records are of link.")];
    check(&switched, &lacking, &["hop", "hop at gpu1", "hop link link.*"]);
}
