//! Scenarios end to end: reading, preparing, running, failing; and what is said of a slip.

use std::ops::ControlFlow;

use crate::config::{Kind, list};
use crate::diagnostic::{Diagnostic, Source};
use crate::machine::StepOutcome;
use crate::model::access::AccessKind;
use crate::model::address::Address;
use crate::model::inspect::Inspect;
use crate::model::operation::Operation;
use crate::model::record::{Record, Records, What};
use crate::model::state::State;
use crate::query::sample::Sample;
use crate::workload::TaskKind;

use super::*;

mod expecting;
mod launches;
mod slips;
mod timing;

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

/// Whatever else it may have in flight: a barrier orders what is before it.
#[test]
fn a_warp_comes_to_a_barrier_once_it_has_what_it_asked_for() {
    let ends_and_begins = |between: &str| {
        let text = format!(
            "machine = 'tiny/umh-1gpu'\n[[program]]\nid = 'it'\nby = 'gpu0.cu0'\n\
             do = ['load 0x1000 4', {between} 'store 0x2000 01']\n"
        );
        let options = Options { set: vec!["gpu.cu.outstanding=2".to_owned()], ..Options::default() };
        let mut machine = scenario(&text).prepare(&options).unwrap().machine;
        let (mut records, mut loaded, mut stored) = (Records::listening(), 0, 0);
        while machine.step(&mut records) == StepOutcome::Ran {
            for record in records.list.drain(..) {
                match record.what {
                    What::Complete { kind: AccessKind::Load, .. } => loaded = record.id.event,
                    What::Issue { kind: AccessKind::Store, .. } => stored = record.id.event,
                    _ => {}
                }
            }
        }
        assert!(machine.is_finished());
        (loaded, stored)
    };
    let (loaded, stored) = ends_and_begins("'barrier',");
    assert!(loaded < stored, "{loaded} {stored}");
    let (loaded, stored) = ends_and_begins("");
    assert!(stored < loaded, "{loaded} {stored}");
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
    assert_eq!((error.position(), error.expected.is_some()), (Some((5, 20)), true), "{error}");
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

/// Threads of the first warp of a vector-add on a machine of 4 lanes.
fn threads(with: &str, set: &str) -> u32 {
    let text = format!(
        "machine = \"tiny/umh-2gpu\"\nwith = {{ size = 64, workgroup = 16{with} }}\n[[kernel]]\nname = \"vector-add\"\n"
    );
    let set = (!set.is_empty()).then(|| set.to_owned()).into_iter().collect();
    let options = Options { set, ..Options::default() };
    let blueprint = Scenario::parse(Source::new("t", text), None).unwrap().blueprint(&options).unwrap();
    let Some(TaskKind::Kernel(kernel)) = blueprint.workload.tasks.first().map(|task| &task.what) else {
        panic!("no kernel")
    };
    let Some(Operation::Access(access)) = kernel.operation(0, 0, 0) else { panic!("no access") };
    access.lanes.iter().count() as u32
}

#[test]
fn wavefronts_are_as_large_as_the_machine_has_them_unless_the_kernel_is_told() {
    // The source's 64, of which a block of 16 has a quarter.
    assert_eq!(threads("", ""), 16);
    assert_eq!(threads("", "gpu.cu.wavefront_size=8"), 8);
    assert_eq!(threads(", wavefront = 4", "gpu.cu.wavefront_size=8"), 4);
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
    let scenario = Scenario::load("kernels/vector-add-2gpu").unwrap();
    for (key, suggestion) in [("pieces=4", Some("did you mean with.pieces?")), ("rounds=4", None)] {
        let error = scenario.machine(&[key.to_owned()]).unwrap_err();
        assert_eq!(error.suggestion.as_deref(), suggestion, "{error}");
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
