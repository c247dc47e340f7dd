//! What runs take and tell, whoever looks at them and whatever they keep.

use std::ops::ControlFlow;

use super::{complaint, prepare, run};
use crate::model::inspect::Inspect;
use crate::model::warp::WarpState;
use crate::scenario::checker::Ended;
use crate::scenario::runner::Runner;

/// Cycles that a warp takes to load so many lines as often as that, with an L1 of this size.
fn loading(lines: u32, times: usize, room: &str) -> f64 {
    let load = format!("\"load 0x1000 4 lanes {lines} stride 64\"");
    let text = format!(
        "machine = \"tiny/vi-1gpu\"\n[set]\ngpu.l1 = {{ latency = 20, size = \"{room}\", mshrs = 16 }}\n\
         [[program]]\nid = \"p\"\nby = \"gpu0.cu0\"\ndo = [{}]",
        vec![load; times].join(", ")
    );
    let mut runner = prepare(&text).runner();
    runner.finish(|_| ControlFlow::Continue(()));
    runner.machine().statistic("tasks.p.cycles").unwrap()
}

#[test]
fn lines_of_one_instruction_that_hit_come_one_after_the_other_and_not_each_after_the_last() {
    let more = |lines: u32| (loading(lines, 2, "1 KiB") - loading(lines, 1, "1 KiB")).round() as u32;
    // One hit takes the latency of the L1, four take three cycles more.
    assert_eq!((more(1), more(4)), (20, 23));
    assert!(loading(4, 2, "1 KiB") < loading(4, 2, "128 B"), "what hits is not slower than what misses");
}

/// Nothing happens when the data come: what a warp does until then is seen all the same.
#[test]
fn who_waits_for_what_has_hit_waits_for_memory() {
    let text = "machine = \"tiny/vi-1gpu\"\n[set]\ngpu.l1.latency = 2000\n\
                [[program]]\nby = \"gpu0.cu0\"\ndo = [\"load 0x1000 4\", \"load 0x1000 4\"]\n\
                [[program]]\nby = \"gpu0.cu1\"\ndo = [\"compute 1200\", \"load 0x2000 4\"]";
    let mut runner = prepare(text).runner();
    let mut seen = Vec::new();
    while runner.step().is_none() {
        let machine = runner.machine();
        let unit = machine.components().find("gpu0.cu0").unwrap();
        let state = machine.agent(unit).unwrap().warps[0].state;
        assert_eq!(machine.warp_counts(unit).unwrap()[state as usize], 1);
        seen.extend(machine.why(unit, Some(0)).into_iter().map(|link| (state, link.text)));
    }
    let waits = |(state, text): &(WarpState, String)| {
        *state == WarpState::Memory
            && text.starts_with("warp 0 waits for its L1, in which it has hit, until cycle")
    };
    assert!(seen.iter().any(waits), "{seen:?}");
}

#[test]
fn a_load_of_what_the_same_warp_has_changed_by_an_atomic_waits_for_that() {
    for machine in ["tiny/vi-1gpu", "tiny/numa-2socket", "tiny/selective", "tiny/scalegpu"] {
        let report = run(&format!(
            "machine = \"{machine}\"\n[set]\ngpu.cu.outstanding = 4\n[[program]]\nid = \"p\"\nby = \"gpu0.cu0\"\n\
             do = [\"load 0x1048 4\", \"compute 3000\", \"atomic add 0x1048 135 4\", \"load b 0x1048 4\"]\n\
             [[expect]]\nafter = \"p\"\nthat = [\"result of b is '87 00 00 00'\"]"
        ));
        assert!(report.passed, "{machine}: {:?}", report.failures);
    }
}

#[test]
fn a_rule_that_is_looked_at_without_checks_ends_a_run_to_which_nobody_listens() {
    let text = "machine = \"tiny/umh-2gpu\"\nchecks = false\ntransaction-limit = 10\n[[do]]\nby = \"gpu0.cu0\"\nload = { address = 0x1000 }";
    let prepared = prepare(text);
    let mut heard = Runner::new(prepared.machine.clone(), prepared.checker.clone(), true);
    let mut silent = Runner::new(prepared.machine, prepared.checker, false);
    let [heard, silent] = [&mut heard, &mut silent].map(|runner| {
        let ended = runner.finish(|_| ControlFlow::Continue(())).unwrap();
        runner.report(ended)
    });
    assert!(!silent.passed && silent.ended == Ended::Violation);
    assert_eq!((silent.events, silent.failures), (heard.events, heard.failures));
}

#[test]
fn a_flush_names_what_gives_a_memory_what_it_holds() {
    let of = |below: &str| {
        format!(
            "machine = \"tiny/umh-2gpu\"\n[[do]]\nby = \"gpu0.cu0\"\nload = {{ address = 0 }}\n[[flush]]\nid = \"f\"\nbelow = \"{below}\""
        )
    };
    assert!(["gpu0", "gpu0.smd0"].iter().all(|below| run(&of(below)).passed));
    for below in ["gpu0.cu0", "gpu0.l2.0", "host"] {
        let expected = complaint(&of(below)).expected.unwrap();
        assert!(expected.contains("gpu0.smd0"), "{below}: {expected}");
    }
}

#[test]
fn times_and_bytes_do_not_depend_on_whether_values_are_kept() {
    for (machine, work) in [
        ("tiny/numa-2socket", "[[kernel]]\nname = \"shared-counter\"\nwith = { times = 4 }"),
        (
            "tiny/umh-2gpu",
            "[[program]]\nid = \"a\"\nby = \"gpu0.cu0\"\ndo = [\"n-store 0x1000 01020304\", \"n-store 0x1044 01020304\"]\n\
             [[program]]\nid = \"b\"\nby = \"gpu1.cu0\"\ndo = [\"n-store 0x1004 05060708\"]\n\
             [[program]]\nafter = [\"a\", \"b\"]\nby = \"host.cpu0\"\ndo = [\"exclusive 0x1000\", \"load 0x1000 4\"]",
        ),
    ] {
        let of = |values: bool| {
            let text = format!("machine = \"{machine}\"\nchecks = false\n[set]\nvalues = {values}\n{work}");
            let mut runner = prepare(&text).runner();
            let ended = runner.finish(|_| ControlFlow::Continue(())).unwrap();
            let statistic = |key: &str| runner.machine().statistic(key);
            (ended, statistic("cycles"), statistic("network.bytes"), statistic("network.data_bytes"))
        };
        assert_eq!(of(true), of(false), "{machine}");
    }
}
