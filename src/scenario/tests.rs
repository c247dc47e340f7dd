//! Scenarios end to end: reading, preparing, running, failing; and what is said of a slip.

use std::ops::ControlFlow;

use crate::config::{Kind, list};
use crate::diagnostic::{Diagnostic, Source};
use crate::model::address::Address;
use crate::model::inspect::Inspect;
use crate::model::record::{Record, What};
use crate::model::state::State;
use crate::query::sample::Sample;

use super::expectation::Compiler;
use super::*;

fn scenario(text: &str) -> Scenario {
    Scenario::parse(Source::new("test.toml", text), None).unwrap_or_else(|e| panic!("{e}"))
}

fn prepare(text: &str) -> Prepared {
    scenario(text).prepare(&Options::default()).unwrap_or_else(|e| panic!("{e}"))
}

fn run(text: &str) -> Report {
    prepare(text).runner().run(|_, _| ControlFlow::Continue(()))
}

fn complaint(text: &str) -> Diagnostic {
    let prepared = Scenario::parse(Source::new("test.toml", text), None)
        .and_then(|scenario| scenario.prepare(&Options::default()));
    *prepared.map(|_| ()).expect_err(text)
}

const STORE: &str = r#"
machine = "tiny/umh-2gpu"
[[do]]
id = "first"
by = "gpu0.cu0"
n-store = { address = 0x1000, bytes = "07 00 00 00" }
"#;

#[test]
fn every_bundled_scenario_holds() {
    let entries = list(Kind::Scenario);
    assert!(entries.len() >= 3);
    // What is only explored has nothing to run.
    for entry in entries.into_iter().filter(|entry| !entry.name.starts_with("explore/")) {
        let prepared = Scenario::load(&entry.name).and_then(|it| it.prepare(&Options::default()));
        let report =
            prepared.unwrap_or_else(|e| panic!("{e}")).runner().run(|_, _| ControlFlow::Continue(()));
        assert!(report.passed, "{}: {:?}", entry.name, report.failures);
        assert!(report.expectations > 0 && report.events > 0, "{}", entry.name);
    }
}

#[test]
fn a_load_that_crosses_a_line_reads_all_of_its_bytes_whichever_part_comes_first() {
    let crossing = |first: &str| {
        format!(
            "machine = 'tiny/umh-2gpu'\n[[memory]]\naddress = 0x1038\nbytes = '11 22 33 44 55 66 77 88 99 aa bb cc dd ee ff 01'\n\
             [[program]]\nid = 'warm'\nby = 'host.cpu0'\ndo = ['load {first} 4']\n\
             [[do]]\nid = 'both'\nafter = 'warm'\nby = 'host.cpu0'\nload = {{ address = 0x103e, len = 8 }}\n\
             [[expect]]\nthat = [\"result of both is '77 88 99 aa bb cc dd ee'\",\n\
             \"value at 0x103e+8 in host.cpu0.l1 is '77 88 99 aa bb cc dd ee'\"]\n"
        )
    };
    for first in ["0x1000", "0x1040", "0x2000"] {
        let report = run(&crossing(first));
        assert!(report.passed, "{first}: {:?}", report.failures);
    }
}

#[test]
fn a_lost_store_is_told_with_what_memory_has_instead() {
    let program = |id: &str, rest: &str| format!("[[program]]\nid = '{id}'\n{rest}\n");
    let report = run(&[
        "machine = 'tiny/cpu-2core'\nprotocol = 'mesi'\n[[fault]]\nname = 'leave-early'\n",
        &program("mine", "by = 'host.cpu0'\ndo = ['store 0x1000 07']"),
        &program("more", "after = 'mine'\nby = 'host.cpu0'\ndo = ['load 0x1100 1', 'load 0x1200 1']"),
        &program("yours", "after = 'mine'\ndelay = 72\nby = 'host.cpu1'\ndo = ['store 0x1001 09']"),
    ]
    .concat());
    let told = report.failures.first().map_or("", |failure| failure.message.as_str());
    let lost = "the store of 0x07 at 0x1000 is nowhere any more, and memory has 0x00";
    assert!(told.contains("lost-store") && told.contains(lost), "{:?}", report.failures);
}

#[test]
fn a_scenario_sets_keys_of_its_machine_and_the_command_line_counts_more() {
    let set = "[set]\ngpu.sm.count = 3\n\"gpu.l1.mshrs\" = 2\ngpu.l2 = { ways = 2, size = '2 KiB' }\n";
    let inline = "machine = { gpu = { cu = { count = 1 }, memory = { home = 'host' } } }\n";
    for text in [format!("{STORE}{set}"), format!("{inline}{set}")] {
        let scenario = scenario(&text);
        let sizes = |over: &[String]| {
            let gpu = scenario.machine(over).unwrap().gpu.unwrap();
            (gpu.cu.count, gpu.l1.mshrs, gpu.l2.cache.ways, gpu.l2.cache.size.0)
        };
        assert_eq!(sizes(&[]), (3, 2, 2, 2048));
        assert_eq!(sizes(&["gpu.cu.count=4".into()]), (4, 2, 2, 2048));
    }
}

#[test]
fn what_a_scenario_sets_wrongly_is_told_at_its_place() {
    let line = STORE.lines().count() + 2;
    for (set, message, place, suggestion) in [
        ("gpu.l1.mshsr = 2", "unknown key `mshsr`", (line, 8), Some("did you mean mshrs?")),
        (
            "gpu.l1 = { ways = 3 }",
            "gpu.l1.ways is 3, which does not divide 8 blocks of 64 B",
            (line, 19),
            None,
        ),
        ("gpu.clock.fast = 1", "`clock` is no table: nothing can be set in it", (line, 5), None),
        (
            "gpu.cu.count = 2\ngpu.sm.count = 3",
            "`gpu.sm.count` is set twice, in two ways to write it",
            (line + 1, 8),
            None,
        ),
        ("\"gpu.l1.mshsr\" = 2", "unknown key `mshsr`", (line, 9), Some("did you mean mshrs?")),
    ] {
        let error = complaint(&format!("{STORE}[set]\n{set}\n"));
        assert_eq!(error.message, message, "{set}");
        assert_eq!(error.position(), Some(place), "{set}");
        assert_eq!(error.source.as_ref().map(|source| &*source.name), Some("test.toml"), "{set}");
        assert_eq!(error.suggestion.as_deref(), suggestion, "{set}");
    }
    let deep = format!("\"{}\" = 1", vec!["a"; 100_000].join("."));
    let many: Vec<_> = (0..20_000).map(|number| format!("k{number} = 1")).collect();
    for set in [deep, many.join("\n")] {
        assert_eq!(complaint(&format!("{STORE}[set]\n{set}\n")).message, "this is too much to set");
    }
}

#[test]
fn a_failing_expectation_tells_line_and_moment() {
    let report = run(&format!(
        "{STORE}[[expect]]\nafter = \"first\"\nthat = [\n  \"state of gpu0.cu0.l1 block 0x1000 is N\",\n  \
         \"state of gpu0.cu0.l1 block 0x1000 is M\",\n]\n"
    ));
    assert!(!report.passed && report.ended == Ended::Finished && report.expectations == 1);
    let [failure] = &report.failures[..] else { panic!("{:?}", report.failures) };
    assert_eq!(failure.line, Some(11));
    assert!(failure.event > 0 && failure.event <= report.events);
    assert_eq!(failure.message, "after first: state of gpu0.cu0.l1 block 0x1000 is N, not M");
}

#[test]
fn a_run_ends_as_the_scenario_says() {
    let spin = "machine = \"tiny/umh-2gpu\"\nmax-cycles = 2000\n[[program]]\nby = \"gpu0.cu0\"\ndo = [\"spin 0 01\"]\n";
    let report = run(spin);
    assert_eq!(report.ended, Ended::Limit(2000, vec!["program-1".into()]));
    let message = "the run has not ended after 2000 cycles: program-1 has not ended";
    assert_eq!(report.failures[0].message, message);
    assert!(run(&format!("ends = \"limit\"\n{spin}")).passed);
    let never = format!("ends = \"deadlock\"\n{STORE}");
    assert!(run(&never).failures[0].message.contains("a deadlock was expected"));
}

#[test]
fn a_run_that_its_limit_ends_has_lasted_until_then() {
    let text = "machine = \"tiny/paged-1gpu\"\nmax-cycles = 20000\n[[do]]\nby = \"gpu0.cu0\"\nload = { address = 0, len = 4 }\n";
    // A warp that might issue more, and has nothing left, waits for the same.
    for outstanding in [1, 2] {
        let set = vec![format!("gpu.cu.outstanding={outstanding}")];
        let mut runner = scenario(text).prepare(&Options { set, ..Options::default() }).unwrap().runner();
        let ended = std::iter::from_fn(|| Some(runner.step().cloned())).flatten().next().unwrap();
        let report = runner.report(ended);
        assert_eq!((report.cycles, runner.machine().statistic("cycles")), (20_000, Some(20_000.0)));
        // It translates until cycle 580.
        assert_eq!(runner.machine().statistic("warp_cycles.far_fault"), Some(19_420.0));
    }
}

#[test]
fn a_prefetcher_gathers_nothing_for_a_gpu_that_has_no_work_any_more() {
    let work = "[[allocate]]\naddress = 0x100000\nsize = \"64 KiB\"\n[[program]]\nby = \"gpu0.cu0\"\ndo = [\"load 0x100000 4\"]\n";
    let expect = "[[expect]]\ncount = \"page-move change prefetched set 1\"\nis = 3\n[[expect]]\nnever = \"page-move set 2\"\n";
    let machine = "machine = \"tiny/paged-1gpu\"\n";
    let set = ["gpu.paging.prefetch=sequential", "gpu.paging.transfer_set=4"].map(str::to_owned).to_vec();
    let prepared = scenario(&format!("{machine}{work}{expect}"))
        .prepare(&Options { set, ..Options::default() })
        .unwrap();
    let mut runner = prepared.runner();
    let ended = std::iter::from_fn(|| Some(runner.step().cloned())).flatten().next().unwrap();
    let report = runner.report(ended);
    assert!(report.passed, "{:?}", report.failures);
    let worked = runner.machine().statistic("work_cycles").unwrap() as u64;
    assert!(worked < report.cycles && report.cycles < worked + 28_000, "{worked} of {}", report.cycles);
}

#[test]
fn a_lost_message_is_a_deadlock() {
    let text = format!("{STORE}[[fault]]\nname = \"lose-message\"\nmessage = \"grant\"\n");
    let report = run(&text);
    assert_eq!(report.ended, Ended::Stuck(vec!["first".into()]));
    assert!(report.failures[0].message.contains("first has not ended"), "{:?}", report.failures);
    assert!(run(&format!("ends = \"deadlock\"\n{text}")).passed);
}

#[test]
fn a_changed_cell_changes_what_happens() {
    let plain = format!("{STORE}[[expect]]\nnever = \"message type write\"\n");
    assert!(run(&plain).passed);
    let changed = format!("mutate = [\"cache I n-store = write > M\", \"merge N E = none\"]\n{plain}");
    assert!(!run(&changed).passed);
}

#[test]
fn a_run_is_the_same_whoever_listens() {
    let digest = |listen| {
        let Prepared { machine, checker, .. } = prepare(STORE);
        Runner::new(machine, checker, listen).run(|_, _| ControlFlow::Continue(())).digest
    };
    assert_eq!(digest(true), digest(false));
}

#[test]
fn initial_states_are_there() {
    let prepared = prepare(
        "machine = \"tiny/umh-2gpu\"\n[[memory]]\naddress = 0x2000\nbytes = \"05\"\n\
         [[do]]\nid = \"read\"\nby = \"gpu0.sm0\"\nload = { address = 0x2000, len = 1 }\n\
         [[expect]]\nthat = \"result of read is 5\"\n",
    );
    assert!(prepared.runner().run(|_, _| ControlFlow::Continue(())).passed);
}

#[test]
fn initial_blocks_are_there() {
    let report = run("machine = \"tiny/umh-2gpu\"\n\
         [[state]]\nnode = \"gpu0.cu0.l1\"\naddress = 0x1000\nstate = \"S\"\n\
         [[state]]\nnode = \"gpu0.l2.0\"\naddress = 0x1000\nstate = \"S\"\nsharers = \"gpu0.cu0.l1\"\n\
         [[state]]\nnode = \"gpu0.smd0\"\naddress = 0x1000\nstate = \"S\"\nsharers = [\"gpu0.l2\"]\n\
         [[state]]\nnode = \"host.hmd0\"\naddress = 0x1000\nsharers = \"gpu0.smd0\"\n\
         [[do]]\nby = \"gpu0.cu0\"\nload = { address = 0x1000 }\n\
         [[expect]]\ncount = \"hit at gpu0.cu0.l1 state S action load\"\nis = 1\n\
         [[expect]]\nnever = \"message\"\n");
    assert!(report.passed, "{:?}", report.failures);
}

#[test]
fn narration_comes_once_and_again_after_going_back() {
    let prepared = prepare(&format!(
        "{STORE}[[say]]\ntext = \"start\"\n[[say]]\non = \"message type request\"\nnth = 2\ntext = \"second\"\n\
         [[say]]\nafter = \"first\"\ntext = \"end\"\nask = {{ text = \"?\", because = \"cache N read\" }}\n"
    ));
    let narrator = prepared.narrator.clone();
    assert_eq!(narrator.opening(), [0]);
    let ask = narrator.says[2].ask.clone().unwrap();
    assert!(!ask.answer.is_empty() && ask.because.unwrap().1 == ask.answer);
    let hits = || {
        let (mut told, mut hits) = (narrator.begin(), Vec::new());
        prepared.clone().runner().run(|machine, records| {
            for due in narrator.observe(&mut told, machine, records) {
                hits.push((machine.event(), due));
            }
            ControlFlow::Continue(())
        });
        hits
    };
    let first = hits();
    assert_eq!(first.iter().map(|(_, due)| due.say).collect::<Vec<_>>(), [1, 2]);
    assert_eq!(first, hits());
}

#[test]
fn overrides_reach_the_machine() {
    let set = vec!["gpu.count=1".to_owned()];
    let inline = scenario("[machine.gpu]\ncount = 2\n[[do]]\nby = \"gpu0.cu0\"\nfence = \"full\"");
    for scenario in [scenario(STORE), inline] {
        assert_eq!(scenario.machine(&[]).unwrap().gpu.unwrap().count, 2);
        assert_eq!(scenario.machine(&set).unwrap().gpu.unwrap().count, 1);
    }
    // What the command line sets counts more than the scenario's own protocol.
    let owner = Scenario::load("protocols/nmoesi-printed-owner").unwrap();
    let protocol = |set: &[String]| owner.machine(set).unwrap().protocol;
    assert_eq!(protocol(&[]), "nmoesi-printed");
    assert_eq!(protocol(&["protocol=nmoesi".to_owned()]), "nmoesi");
}

/// A kernel, accesses one after the other, another kernel, and a load that sees what was stored before it: 22 22 22 22.
fn between_launches(machine: &str, accesses: &[(&str, &str)], last: (&str, &str)) -> Report {
    let kernel = "name = 'vector-add'\nwith = { size = 16, workgroup = 4, wavefront = 4, launch = 10, a = 0x10c000 }\n";
    let mut text = format!("machine = '{machine}'\n[[kernel]]\nid = 'p0'\n{kernel}");
    for (place, (by, access)) in accesses.iter().enumerate() {
        let id = place + 1;
        text += &format!("[[program]]\nid = 'p{id}'\nafter = 'p{place}'\nby = '{by}'\ndo = ['{access}']\n");
    }
    let (by, address) = last;
    text += &format!(
        "[[kernel]]\nid = 'next'\nafter = 'p{}'\n{kernel}\
         [[program]]\nid = 'look'\nafter = 'next'\nby = '{by}'\ndo = ['load r {address} 4']\n\
         [[expect]]\nthat = [\"result of r is '22 22 22 22'\"]\n",
        accesses.len()
    );
    run(&text)
}

#[test]
fn no_stale_copy_outlives_a_launch_however_the_bytes_came_down() {
    let store = ("gpu0.cu0", "n-store 0x10c8 22 22 22 22");
    for machine in ["tiny/umh-2gpu", "tiny/umh-2gpu-nvlink", "tiny/umh-4gpu", "tiny/zerocopy-2gpu"] {
        // They come with a block that another line of is stored to coherently.
        let first = [("gpu1.cu1", "load 0x10c0 4"), store, ("gpu1.cu0", "store 0x1240 11")];
        // The owner answers a read with them.
        let owner = ("gpu0.cu0", "store 0x10c0 11 11 11 11");
        let read = [owner, first[0], store, ("host.cpu0", "load 0x10c8 4")];
        for accesses in [&first[..], &read] {
            let report = between_launches(machine, accesses, ("gpu1.cu1", "0x10c8"));
            assert!(report.passed, "{machine}, {accesses:?}: {:?}", report.failures);
        }
    }
}

#[test]
fn bytes_on_their_way_when_a_kernel_is_to_begin_come_before_it() {
    // An L2 recalls the line from the L1 that has stored to it just then.
    for delay in (240..290).step_by(3) {
        let kernel =
            "name = 'vector-add'\nwith = { size = 16, workgroup = 4, wavefront = 4, a = 0x100000, launch ";
        let report = run(&format!(
            "machine = 'tiny/umh-2gpu'\n\
             [[kernel]]\nid = 'k0'\n{kernel} = 10 }}\n\
             [[flush]]\nid = 'clean'\nafter = 'k0'\n\
             [[program]]\nid = 'warm'\nafter = 'clean'\nby = 'gpu1.cu1'\ndo = ['load 0x10c0 4']\n\
             [[program]]\nid = 'store'\nafter = 'warm'\nby = 'gpu0.cu0'\ndo = ['n-store 0x10c0 05 05 05 05']\n\
             [[program]]\nid = 'fill'\nafter = 'store'\nby = 'gpu0.cu1'\n\
             do = ['load 0x11c0 4', 'load 0x12c0 4', 'load 0x13c0 4']\n\
             [[program]]\nid = 'beside'\nafter = 'fill'\ndelay = {delay}\nby = 'gpu0.cu1'\ndo = ['load 0x14c0 4']\n\
             [[kernel]]\nid = 'k1'\nafter = 'fill'\n{kernel} = 300 }}\n\
             [[program]]\nid = 'look'\nafter = 'k1'\nby = 'gpu1.cu1'\ndo = ['load r 0x10c0 4']\n\
             [[expect]]\nthat = [\"result of r is '05 05 05 05'\"]\n"
        ));
        assert!(report.passed, "{delay}: {:?}", report.failures);
    }
}

#[test]
fn what_is_stored_while_a_kernel_waits_is_nobodys_promise_and_keeps_nobody() {
    for delay in (90..=150).step_by(5) {
        let kernel =
            "name = 'vector-add'\nwith = { size = 16, workgroup = 4, wavefront = 4, a = 0x100000, launch ";
        let stores = vec!["'n-store 0x10c0 05'"; 40].join(", ");
        let report = run(&format!(
            "machine = 'tiny/umh-1gpu'\n\
             [[program]]\nid = 'warm'\nby = 'gpu0.cu1'\ndo = ['load 0x10c0 4']\n\
             [[kernel]]\nid = 'k0'\nafter = 'warm'\n{kernel} = 10 }}\n\
             [[program]]\nid = 'beside'\nafter = 'k0'\ndelay = {delay}\nby = 'gpu0.cu0'\ndo = [{stores}]\n\
             [[kernel]]\nid = 'k1'\nafter = 'k0'\n{kernel} = 100 }}\n\
             [[program]]\nid = 'reader'\nafter = 'k0'\ndelay = 300\nby = 'gpu0.cu1'\ndo = ['load 0x10c0 4']\n\
             [[expect]]\nabout = 'One for each line of each L1 that was stored to.'\n\
             count = 'message type writeback from gpu0.cu*.l1 block 0x10c0'\nat-most = 1\n"
        ));
        assert!(report.passed, "{delay}: {:?}", report.failures);
    }
}

#[test]
fn a_machine_that_is_changed_under_way_still_flushes_before_launches() {
    let report = run("machine = 'tiny/umh-2gpu'\n[[kernel]]\nid = 'paths'\nname = 'floyd-warshall'\n\
         with = { nodes = 8, shorter = 50, workgroup = 4, wavefront = 4, launch = 10 }\n\
         [[input]]\nevent = 20\nset = 'network.bandwidth=32 GB/s'\n\
         [[expect]]\nthat = ['statistic launches.flush_bytes > 1000', 'statistic launches.flush_cycles > 100']\n");
    assert!(report.passed, "{:?}", report.failures);
}

#[test]
fn an_input_that_comes_after_the_end_is_no_input() {
    let text = |event| {
        format!(
            "machine = 'tiny/umh-2gpu'\n[[program]]\nid = 'a'\nby = 'gpu0.cu0'\ndo = ['load 0x1000 4']\n\
             [[input]]\nevent = {event}\nset = 'gpu.l1.mshrs=2'\n\
             [[expect]]\nthat = ['state of gpu0.cu0.l1 block 0x1000 is E']\n"
        )
    };
    assert!(run(&text(3)).passed);
    let late = run(&text(100_000));
    assert!(late.failures[0].message.contains("input at event 100000 was not made"), "{:?}", late.failures);
}

#[test]
fn a_seed_is_that_of_inputs_without_one_of_their_own() {
    let accesses = |with: &str, seed: &str| {
        let text = format!(
            "machine = \"tiny/umh-2gpu\"\n[[kernel]]\nname = \"bfs\"\nwith = {{ size = 64, degree = 2{with} }}\n"
        );
        let scenario = scenario(&text).with(&[format!("seed={seed}")]).unwrap();
        let mut machine = scenario.prepare(&Options::default()).unwrap().machine;
        machine.run_until(u64::MAX);
        machine.accesses()
    };
    assert_ne!(accesses("", "1"), accesses("", "3"));
    assert_eq!(accesses(", seed = 1", "3"), accesses("", "1"));
}

/// A text, where its slip is, parts of message and expectation, and the suggestion.
type Slip = (String, (usize, usize), &'static str, &'static str, &'static str);

fn with(more: &str) -> String {
    format!("{}{more}\n", STORE.trim_start())
}

fn pointed_at(slips: &[Slip]) {
    let mut wrong = Vec::new();
    for (text, place, message, expected, suggestion) in slips {
        let error = complaint(text);
        let right = error.message.contains(message)
            && error.position() == Some(*place)
            && error.expected.clone().unwrap_or_default().contains(expected)
            && (suggestion.is_empty() || error.suggestion.as_deref() == Some(*suggestion));
        if !right {
            wrong.push(format!("{error}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn slips_in_what_is_done_are_pointed_at() {
    pointed_at(&[
        (with("[[expct]]"), (6, 3), "unknown key `expct`", "", "did you mean expect?"),
        (with("aftr = \"x\""), (6, 1), "unknown key `aftr`", "", "did you mean after?"),
        (with("after = \"frist\""), (6, 9), "there is no task frist", "", "did you mean first?"),
        (with("after = [\"first\"]"), (3, 6), "first can never start", "", ""),
        (with("load = { address = 0 }"), (2, 1), "more than one thing", "one of load", ""),
        (with("[[do]]\nby = \"gpu0.cu0\""), (6, 1), "this does nothing", "one of load", ""),
        (
            with("[[do]]\nby = \"gpu7.cu0\"\nload = { address = 0 }"),
            (7, 6),
            "no compute unit or core gpu7.cu0",
            "one of",
            "did you mean gpu0.cu0?",
        ),
        (
            with("[[do]]\nby = \"gpu0\"\nload = { address = 0 }"),
            (7, 6),
            "gpu0 means more than one",
            "gpu0.cu0, gpu0.cu1",
            "",
        ),
        (
            with("[[do]]\nby = \"gpu0.cu0\"\nstore = { address = 0 }"),
            (8, 9),
            "what it stores",
            "either bytes",
            "",
        ),
        (
            with("[[do]]\nby = \"gpu0.cu0\"\nstore = { address = 0, value = 300, width = 1 }"),
            (8, 32),
            "300 does not fit",
            "",
            "",
        ),
        (
            with("[[do]]\nid = \"first\"\nby = \"gpu0.cu0\"\nfence = \"full\""),
            (7, 6),
            "the id first is used twice",
            "",
            "",
        ),
        (
            with("[[program]]\nby = \"gpu0.cu0\"\ndo = [\"fence\", \"laod 0\"]"),
            (8, 17),
            "no instruction laod",
            "",
            "did you mean load?",
        ),
        (
            with("[[kernel]]\nname = \"transpos\""),
            (7, 8),
            "no kernel `transpos`",
            "",
            "did you mean transpose?",
        ),
        (with("[[kernel]]\nname = \"transpose\"\nwith = { widht = 3 }"), (8, 10), "widht", "", ""),
        (
            with("[[kernel]]\nid = \"k\"\nname = \"transpose\"\nwith = { wavefront = 16 }"),
            (7, 6),
            "a block of transpose has 16 warps, but a compute unit has room for 4",
            "--set gpu.cu.wavefronts=16, ",
            "",
        ),
    ]);
    assert!(complaint("title = \"x\"").message.contains("`machine` is missing"));
    assert!(complaint("machine = \"tiny/umh-2gqu\"").suggestion.unwrap().contains("tiny/umh-2gpu"));
}

#[test]
fn slips_in_what_is_expected_are_pointed_at() {
    pointed_at(&[
        (
            with("[[fault]]\nname = \"lose-mesage\""),
            (7, 8),
            "there is no fault",
            "",
            "did you mean lose-message?",
        ),
        (with("[[fault]]\nname = \"no-grant-ack\"\nnth = 2"), (8, 7), "no-grant-ack takes no nth", "", ""),
        (
            format!("mutate = \"cache N raed = ack\"\n{}", STORE.trim_start()),
            (1, 19),
            "the table has no column raed",
            "",
            "did you mean read?",
        ),
        (
            with("[[expect]]\nthat = \"state of gpu0.l9 block 0 is M\""),
            (7, 18),
            "no component matches gpu0.l9",
            "",
            "did you mean gpu0.l2.0?",
        ),
        (with("[[expect]]\nafter = \"frist\""), (7, 9), "there is no task frist", "", "did you mean first?"),
        (with("[[expect]]"), (6, 1), "this expects nothing", "that =", ""),
        (with("[[expect]]\ncount = \"message\""), (7, 9), "how many", "is, at-least or at-most", ""),
        (
            with("[[expect]]\ncount = \"message\"\nat-least = 3\nat-most = 2"),
            (9, 11),
            "at-most is less",
            "",
            "",
        ),
        (with("[[expect]]\nnever = \"message\"\nis = 2"), (8, 6), "is needs count", "", ""),
        (with("[[expect]]\nnever = \"message\"\nend = true"), (6, 1), "more than one moment", "", ""),
        (
            with("[[expect]]\nnever = \"message\"\nthat = \"cycle is 0\""),
            (8, 8),
            "does not go with never",
            "",
            "",
        ),
        (
            with("[[say]]\ntext = \"\"\nask = { text = \"?\" }"),
            (8, 7),
            "nothing answers",
            "answer, or because",
            "",
        ),
        (
            with("[[say]]\ntext = \"\"\nask = { text = \"?\", because = \"cache N raed\" }"),
            (8, 32),
            "no column raed",
            "load, store",
            "did you mean read?",
        ),
        (
            with("[[say]]\ntext = \"\"\nask = { text = \"?\", answer = \"yse\", choices = [\"yes\"] }"),
            (8, 30),
            "none of the choices",
            "",
            "did you mean yes?",
        ),
        (
            with(
                "[[say]]\ntext = \"\"\nask = { text = \"?\", because = \"cache N read\", choices = [\"yes\"] }",
            ),
            (8, 31),
            "is none of the choices",
            "it among them",
            "",
        ),
        (with("[[break]]\nonce = true"), (6, 1), "breaks at nothing", "", ""),
        (
            with("[[state]]\nnode = \"gpu0.l2.0\"\naddress = 0\nstate = \"Q\""),
            (9, 9),
            "Q is not a state",
            "a state of nmoesi",
            "",
        ),
        (
            with("[[state]]\nnode = \"host.hmd0\"\naddress = 0\nstate = \"M\""),
            (9, 9),
            "host.hmd0 keeps no state",
            "",
            "",
        ),
        (
            with("[[state]]\nnode = \"host.hmd0\"\naddress = 0\nowner = \"gpu0.l2.0\""),
            (9, 9),
            "no child of host.hmd0",
            "gpu0.smd0",
            "",
        ),
        (with("[[memory]]\naddress = 0\nbytes = \"7\""), (8, 9), "not bytes", "", ""),
        (with("[[flush]]\nbelow = \"gpu7\""), (7, 9), "nothing is beneath gpu7", "", "did you mean gpu0?"),
    ]);
}

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

#[test]
fn the_schema_tells_every_key() {
    let schema = schema();
    assert_eq!(schema["additionalProperties"], false);
    for key in ["do", "n-store", "max-cycles", "at-least", "because", "break"] {
        assert!(schema.to_string().contains(&format!("\"{key}\"")), "{key}");
    }
}

proptest::proptest! {
    #[test]
    fn any_text_is_read_without_panic(text in ".{0,200}", cut in 0usize..600) {
        let _ = Scenario::parse(Source::new("t", text.as_str()), None);
        let good = format!("{STORE}[[expect]]\nthat = \"cycle is 3\"\n[[program]]\nby = \"x\"\ndo = [\"{text}\"]\n");
        let cut = (0..=cut.min(good.len())).rev().find(|at| good.is_char_boundary(*at)).unwrap_or(0);
        let _ = Scenario::parse(Source::new("t", &good[..cut]), None);
    }
}

/// Cycles that two loads of different lines take, the second with `warp`.
fn two_loads(warp: u32) -> u64 {
    let load = |address: u32, warp: u32| {
        format!("[[do]]\nby = \"gpu0.cu0\"\nwarp = {warp}\nload = {{ address = {address:#x} }}\n")
    };
    let text = format!("machine = \"tiny/umh-2gpu\"\n{}{}", load(0x1000, 2), load(0x2000, warp));
    let report = run(&text);
    assert!(report.passed, "{:?}", report.failures);
    report.cycles
}

#[test]
fn misses_of_two_warps_overlap_and_those_of_one_do_not() {
    let alone =
        run("machine = \"tiny/umh-2gpu\"\n[[do]]\nby = \"gpu0.cu0\"\nload = { address = 0x1000 }\n").cycles;
    let (one, two) = (two_loads(2), two_loads(3));
    assert!(two < alone * 3 / 2, "{two} cycles for two warps, {alone} for one load");
    assert!(one > alone * 3 / 2, "{one} cycles for one warp, {alone} for one load");
}

#[test]
fn a_warp_that_is_not_there_is_pointed_at() {
    let text = |warp: &str| {
        format!(
            "machine = \"tiny/umh-2gpu\"\n[[do]]\nby = \"gpu0.cu0\"\nwarp = {warp}\nload = {{ address = 0 }}\n"
        )
    };
    for warp in ["4", "18446744073709551615"] {
        let error = complaint(&text(warp));
        assert_eq!((error.position(), error.expected.as_deref()), (Some((4, 8)), Some("0 to 3")));
        assert_eq!(error.message, format!("gpu0.cu0 has no warp {warp}"));
    }
    let limit = |cycles: &str| complaint(&format!("machine = \"tiny/umh-2gpu\"\nmax-cycles = {cycles}\n"));
    for cycles in ["0", "1000000000000001"] {
        let error = limit(cycles);
        assert_eq!((error.position(), error.message), (Some((2, 14)), format!("max-cycles is {cycles}")));
        assert!(error.expected.unwrap().contains("GPU core cycles"));
    }
}

#[test]
fn what_lies_beyond_the_end_of_memory_is_pointed_at() {
    let text = |rest: &str| format!("machine = \"tiny/umh-2gpu\"\n{rest}");
    let error = complaint(&text(
        "[[do]]\nid = \"far\"\nby = \"gpu0.cu0\"\nload = { address = 0xfffffffffffffffe }\n",
    ));
    assert_eq!((error.position(), error.expected.is_some()), (Some((3, 6)), true), "{error}");
    let error = complaint(&text("[[memory]]\naddress = 0x1ffffffff\nbytes = \"07 08\"\n"));
    assert_eq!((error.position(), error.expected.is_some()), (Some((4, 9)), true), "{error}");
}

#[test]
fn arrays_beyond_the_memory_are_refused() {
    let text = "machine = \"tiny/umh-2gpu\"\n[[kernel]]\nname = \"vector-add\"\n\
                with = { size = 16, workgroup = 4, wavefront = 4, a = \"16 GiB\" }\n";
    let error = complaint(text);
    assert_eq!(error.message, "kernel-1 works on 0x400000000+64, beyond the host memory of 8 GiB");
    assert_eq!(error.position(), Some((2, 1)));
}

#[test]
fn memory_beyond_the_end_has_no_value() {
    let prepared = Scenario::parse(Source::new("store", STORE), None).unwrap().prepare(&Options::default());
    let machine = prepared.unwrap().machine;
    let home = machine.components().find("host.hmd0").unwrap();
    let value = |address| machine.value(home, Address(address), 4);
    assert_eq!((value(0x1_ffff_fffc), value(0x1_ffff_fffd)), (Some(vec![0; 4]), None));
}

#[test]
fn a_scale_that_leaves_nothing_names_the_largest_that_leaves_something() {
    let kernel = |scale: u64| {
        format!(
            "machine = \"tiny/umh-2gpu\"\nscale = {scale}\n[[kernel]]\nname = \"bfs\"\nwith = {{ size = 16, degree = 2 }}\n"
        )
    };
    let error = complaint(&kernel(256));
    assert_eq!(error.suggestion.as_deref(), Some("the largest scale that leaves work here is 16"), "{error}");
    assert!(Scenario::parse(Source::new("t", kernel(16)), None).is_ok());
}

#[test]
fn an_initial_state_beyond_the_memory_is_refused() {
    let text = "machine = \"tiny/umh-2gpu\"\n[[state]]\nnode = \"gpu0.l2.0\"\naddress = 0x4000000000000000\nstate = \"E\"\n";
    let error = Scenario::parse(Source::new("far", text), None)
        .and_then(|scenario| scenario.prepare(&Options::default()))
        .err()
        .map(|error| error.to_string())
        .unwrap_or_default();
    assert!(error.contains("lies beyond the host memory") && error.contains("far:3"), "{error}");
}

#[test]
fn kernels_take_what_is_set_for_all_of_them() {
    let tasks = |scenario: &Scenario| scenario.blueprint(&Options::default()).unwrap().workload.tasks.len();
    let set = |text: &str| {
        let scenario = Scenario::load("kernels/vector-add-2gpu").unwrap();
        scenario.with(&[text.to_owned()]).map(|scenario| tasks(&scenario))
    };
    let plain = tasks(&Scenario::load("kernels/vector-add-2gpu").unwrap());
    assert_eq!(set("with.pieces=4").unwrap(), plain + 3, "a launch for each");
    for (text, message) in [
        ("with.peices=4", "--set:1:6: no kernel here takes `peices`"),
        ("with.pieces=0", "--set:1:13: wrong value for `pieces`"),
    ] {
        let error = set(text).unwrap_err().to_string();
        assert!(error.starts_with(message), "{error}");
    }
    let head = "machine = 'tiny/umh-2gpu'\nwith = { pieces = 0 }\n[[kernel]]\n";
    let error = complaint(&format!("{head}name = 'vector-add'\n"));
    assert_eq!((error.message.as_str(), error.position()), ("wrong value for `pieces`", Some((2, 19))));
    // What is no kernel might take it.
    let error = complaint(&format!("{head}name = 'vector-ad'\n"));
    assert_eq!(
        (error.position(), error.suggestion.as_deref()),
        (Some((4, 8)), Some("did you mean vector-add?"))
    );
}
