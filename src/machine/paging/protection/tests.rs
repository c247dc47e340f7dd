//! Pages that are taken for read-only, on machines of which the rest is coherent anyway.

use crate::machine::sample::{faulty, program};
use crate::machine::{Machine, StepOutcome};
use crate::model::access::AccessKind::{Load, Store};
use crate::model::fault::Fault;
use crate::model::inspect::Inspect;
use crate::model::record::{Field, Record, Records};
use crate::workload::Task;

const MACHINE: &str = "tiny/umh-1gpu";

/// Runs to the end; all records.
fn run(changes: &[&str], tasks: Vec<Task>, faults: Vec<Fault>) -> (Machine, Vec<Record>) {
    let mut machine = faulty(MACHINE, &[&["gpu.read_only.gpu_fault=20 us"], changes].concat(), tasks, faults);
    let (mut records, mut all) = (Records::listening(), Vec::new());
    while machine.step(&mut records) == StepOutcome::Ran {
        all.append(&mut records.list);
    }
    (machine, all)
}

/// Tasks one after the other.
fn in_turn(tasks: Vec<Task>) -> Vec<Task> {
    let mut tasks = tasks;
    for (at, task) in tasks.iter_mut().enumerate().skip(1) {
        task.id = format!("{}-{at}", task.id).into();
        task.after = vec![at - 1];
    }
    tasks
}

/// How many records of this kind have this word.
fn count(records: &[Record], kind: &str, field: &str, word: &str) -> usize {
    let has = |record: &&Record| match record.field(field) {
        Some(Field::Word(found)) => record.kind() == kind && found == word,
        _ => false,
    };
    records.iter().filter(has).count()
}

fn stages(records: &[Record], stage: &str) -> usize {
    count(records, "protection-fault", "stage", stage)
}

#[test]
fn warps_that_wait_for_a_protection_fault_do_not_wait_for_a_page() {
    let work = vec![program("gpu0.cu0", Store, &[0x1000]), program("host.cpu0", Store, &[0x2000])];
    let (machine, records) = run(&[], work, Vec::new());
    for (path, what) in [("gpu0.cu0", "a compute unit"), ("host.cpu0", "a core")] {
        let at = machine.components().find(path).unwrap();
        let own: Vec<Record> = records.iter().filter(|record| record.at == at).cloned().collect();
        assert_eq!(count(&own, "warp", "to", "protection-fault"), 1, "{what}");
        assert!(machine.statistic(&format!("{path}.warp_cycles.protection_fault")) > Some(1000.0), "{what}");
    }
    assert_eq!(count(&records, "warp", "to", "far-fault"), 0);
    assert_eq!(machine.statistic("warp_cycles.far_fault"), Some(0.0));
}

#[test]
fn the_first_write_of_a_gpu_faults_and_later_ones_do_not() {
    let work = in_turn(vec![
        program("gpu0.cu0", Load, &[0x1000]),
        program("gpu0.cu1", Store, &[0x1040, 0x1000, 0x1080]),
    ]);
    let (machine, records) = run(&[], work, Vec::new());
    assert!(machine.is_finished() && machine.violations().is_empty(), "{:?}", machine.violations());
    assert_eq!(
        ["raised", "queued", "serviced", "arrived", "replayed"].map(|stage| stages(&records, stage)),
        [1; 5]
    );
    assert_eq!(count(&records, "page-permission", "permission", "read-write"), 1);
    assert_eq!(count(&records, "tlb", "change", "shoot-down"), 2, "both compute units had it");
    assert_eq!(machine.statistic("read_only.faults.gpus"), Some(1.0));
    // 20 us, two walks of 500 ns, and a load and stores that go to the host.
    let cycles = machine.time_base().cycle(machine.tick());
    assert!((16_800..18_400).contains(&cycles), "{cycles}");
}

#[test]
fn others_go_on_reading_while_a_write_waits() {
    let reads: Vec<u64> = (0..32).map(|line| 0x1000 + line * 64).collect();
    let work = vec![program("gpu0.cu0", Store, &[0x1000]), program("gpu0.cu1", Load, &reads)];
    let (machine, records) = run(&[], work, Vec::new());
    assert!(machine.is_finished() && machine.violations().is_empty());
    let at = |kind: &str, field: &str, word: &'static str| {
        records.iter().position(|it| it.kind() == kind && it.field(field) == Some(Field::Word(word)))
    };
    let last_read = records
        .iter()
        .rposition(|it| it.kind() == "complete" && it.field("kind") == Some(Field::Word("load")));
    assert!(
        last_read < at("page-permission", "permission", "changing"),
        "the page was read to the end before it changed"
    );
}

#[test]
fn a_core_waits_for_its_own_handler_only() {
    let work = in_turn(vec![
        program("gpu0.cu0", Load, &[0x1000]),
        program("host.cpu0", Load, &[0x1000]),
        program("host.cpu0", Store, &[0x1000, 0x1004, 0x2000]),
    ]);
    let (machine, records) = run(&["gpu.read_only.host_fault=3 us"], work, Vec::new());
    assert!(machine.is_finished() && machine.violations().is_empty());
    assert_eq!((stages(&records, "raised"), stages(&records, "queued")), (2, 0));
    assert_eq!(machine.statistic("read_only.faults.cores"), Some(2.0));
    let cycles = machine.time_base().cycle(machine.tick());
    assert!((4_800..7_200).contains(&cycles), "{cycles}");
}

#[test]
fn before_a_gpu_works_nothing_is_read_only() {
    let work = in_turn(vec![program("host.cpu0", Store, &[0x1000]), program("gpu0.cu0", Load, &[0x1000])]);
    let (machine, records) = run(&[], work, Vec::new());
    assert!(machine.is_finished() && machine.violations().is_empty());
    assert_eq!(
        (stages(&records, "raised"), records.iter().filter(|it| it.kind() == "speculation").count()),
        (0, 1)
    );
}

#[test]
fn one_fault_more_than_may_be_pending_stops_the_compute_unit() {
    let waits = |pending: &str| {
        let work = (1..=3).map(|page| program("gpu0.cu0", Store, &[page * 0x1000])).chain([program(
            "gpu0.cu0",
            Load,
            &[0x9000],
        )]);
        let mut work: Vec<Task> = work.collect();
        for (at, task) in work.iter_mut().enumerate() {
            task.id = format!("{at}").into();
            task.delay = 2000 * u64::from(at == 3);
        }
        let (machine, records) = run(&[pending], work, Vec::new());
        assert!(machine.is_finished() && machine.violations().is_empty());
        let read = records
            .iter()
            .find(|it| it.kind() == "complete" && it.field("kind") == Some(Field::Word("load")))
            .unwrap();
        (stages(&records, "dropped") > 0, read.cycle > 16_000)
    };
    assert_eq!(waits("gpu.read_only.pending=3"), (false, false));
    assert_eq!(waits("gpu.read_only.pending=2"), (true, true));
}

#[test]
fn too_many_faults_end_the_speculation() {
    let stores: Vec<u64> = (1..=8).map(|page| page * 0x1000).collect();
    let faults = |changes: &[&str]| {
        let work = vec![program("gpu0.cu0", Store, &stores), program("gpu0.cu1", Load, &[0x20_000])];
        let (machine, records) = run(changes, work, Vec::new());
        assert!(machine.is_finished() && machine.violations().is_empty());
        let off = records.iter().filter(|it| it.field("on") == Some(Field::Number(0))).count();
        (stages(&records, "raised"), off)
    };
    assert_eq!(faults(&[]), (8, 0));
    // One warp has two stores in flight at most, so that the third fault comes after the first handlers.
    let (raised, off) = faults(&["gpu.read_only.limit=2", "gpu.read_only.window=1 ms"]);
    assert!(raised < 8 && off == 1, "{raised} {off}");
}

#[test]
fn a_page_that_keeps_its_lines_is_seen() {
    let work = || in_turn(vec![program("gpu0.cu0", Load, &[0x1000]), program("host.cpu0", Store, &[0x1000])]);
    let (machine, _) = run(&[], work(), vec![Fault::SkipShootDown]);
    let rules: Vec<_> = machine.violations().iter().map(|it| (it.event, it.rule)).collect();
    assert_eq!(rules.first().map(|(_, rule)| *rule), Some("read-only-lines"));
    assert!(rules.windows(2).all(|two| two[0] != two[1]), "told once: {rules:?}");
    assert!(run(&[], work(), Vec::new()).0.violations().is_empty());
}

#[test]
fn a_lost_replay_is_a_deadlock() {
    let work = vec![program("gpu0.cu0", Store, &[0x1000])];
    let (machine, _) = run(&[], work, vec![Fault::DropReplay { nth: 1 }]);
    assert!(!machine.is_finished());
    let unit = machine.components().find("gpu0.cu0").unwrap();
    let why = machine.why(unit, Some(0));
    assert!(why.iter().any(|link| link.text.contains("protection fault")), "{why:?}");
}

#[test]
fn listening_changes_nothing() {
    let work = || {
        vec![program("gpu0.cu0", Store, &[0x1000, 0x2000]), program("host.cpu0", Store, &[0x2000, 0x1040])]
    };
    let (heard, _) = run(&[], work(), Vec::new());
    let mut silent = faulty(MACHINE, &["gpu.read_only.gpu_fault=20 us"], work(), Vec::new());
    silent.run_until(u64::MAX);
    assert_eq!(heard.digest(), silent.digest());
}
