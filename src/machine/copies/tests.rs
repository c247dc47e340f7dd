use crate::machine::sample::{performing, program};
use crate::machine::{Machine, StepOutcome};
use crate::model::access::AccessKind::{Load, NStore, Store};
use crate::model::address::Address;
use crate::model::inspect::Inspect;
use crate::model::page_view::PageStand;
use crate::model::record::{Records, What};
use crate::workload::Task;
use crate::workload::kernels::{self, Parameters, Value};

/// Tasks in a row.
fn in_turn(tasks: Vec<Task>) -> Vec<Task> {
    let after = |index: usize| index.checked_sub(1).into_iter().collect();
    tasks.into_iter().enumerate().map(|(index, task)| Task { after: after(index), ..task }).collect()
}

/// A machine after this work, in which nothing was wrong.
fn done(name: &str, changes: &[&str], tasks: Vec<Task>) -> Machine {
    let mut machine = performing(name, changes, in_turn(tasks));
    machine.run_until(u64::MAX);
    assert!(machine.is_finished(), "{:?}", machine.tasks());
    assert!(machine.violations().is_empty(), "{:?}", machine.violations());
    machine
}

#[track_caller]
fn assert_statistics(machine: &Machine, expected: &[(&str, f64)]) {
    for (key, value) in expected {
        assert_eq!(machine.statistic(key), Some(*value), "{key}");
    }
}

#[test]
fn arrays_are_copied_before_the_task_that_uses_them_and_back_at_the_end() {
    let machine = done(
        "tiny/memcpy-1gpu",
        &[],
        vec![program("gpu0.cu0", Load, &[0x1000]), program("gpu0.cu1", NStore, &[0x2000])],
    );
    // Each task its page; what was only read does not come back.
    assert_statistics(
        &machine,
        &[
            ("copies.to_gpu.transfers", 2.0),
            ("copies.to_gpu.pages", 2.0),
            ("copies.to_gpu.redundant", 0.0),
            ("copies.to_host.pages", 1.0),
            ("copies.to_host.redundant", 0.0),
        ],
    );
    let hmd = machine.fixed.components.find("host.hmd0").unwrap();
    assert_eq!(machine.value(hmd, Address(0x2000), 4), Some(vec![1; 4]));
}

/// The launches of a vector addition.
fn sums(size: i64, pieces: i64) -> Vec<Task> {
    let parameters = [("size", Value::Integer(size)), ("pieces", Value::Integer(pieces))];
    let steps = kernels::build("vector-add", &Parameters::of(&parameters)).unwrap();
    let task = |what| Task { id: "sum".into(), after: Vec::new(), delay: 0, launch: None, what };
    steps.into_iter().map(task).collect()
}

#[test]
fn what_a_kernel_overwrites_does_not_come_before_it() {
    let machine = done("tiny/memcpy-1gpu", &[], sums(4096, 1));
    assert_statistics(&machine, &[("copies.to_gpu.pages", 8.0), ("copies.to_host.pages", 4.0)]);
    // The runtime does not know what a kernel does.
    let machine = done("tiny/memcpy-1gpu", &["gpu.copies.by=runtime"], sums(4096, 1));
    assert_statistics(&machine, &[("copies.to_gpu.pages", 12.0), ("copies.to_host.pages", 12.0)]);
    // What is not copied needs room, too: each quarter makes way for the next.
    let machine = done("tiny/memcpy-1gpu", &["gpu.copies.share=25"], sums(4096, 4));
    assert_statistics(
        &machine,
        &[("copies.to_gpu.pages", 8.0), ("copies.to_host.pages", 4.0), ("copies.to_host.transfers", 4.0)],
    );
    // The rest of its last page would be lost: that one comes.
    let machine = done("tiny/memcpy-1gpu", &[], sums(4000, 1));
    assert_statistics(&machine, &[("copies.to_gpu.pages", 9.0)]);
}

/// Words of pages from `first` on.
fn words(first: u64, pages: u64) -> Vec<u64> {
    (first..first + pages * 0x1000).step_by(4).collect()
}

#[test]
fn what_another_may_use_meanwhile_comes_before_it_is_overwritten() {
    let work = |later: &str, after: usize| {
        let sum = sums(1024, 1).remove(0);
        let last = sum.what.footprint()[2].end() - 4;
        let mut tasks = vec![program("host.cpu0", Store, &[last]), sum, program(later, Load, &[last])];
        (tasks[1].after, tasks[2].after, tasks[2].delay) = (vec![0], vec![after], 3000);
        let mut machine = performing("tiny/memcpy-1gpu", &[], tasks);
        machine.run_until(u64::MAX);
        assert!(machine.is_finished(), "{:?}", machine.tasks());
        assert_eq!(machine.violations(), []);
        machine
    };
    assert_statistics(&work("gpu0.cu0", 0), &[("copies.to_gpu.pages", 3.0)]);
    // Whoever comes after it does not count, unless what it left in another L1 may not have been flushed.
    assert_statistics(&work("host.cpu0", 1), &[("copies.to_gpu.pages", 2.0)]);
    assert_statistics(&work("gpu0.cu0", 1), &[("copies.to_gpu.pages", 3.0)]);
}

#[test]
fn who_uses_what_is_on_its_way_waits_until_it_has_come() {
    // The first makes two pages dirty; there is no room for them beside those of the second, so they leave while the third, which has
    // them all the same, is to begin.
    for (agent, addresses, delay) in
        [("host.cpu0", words(0x10_2000, 1), 0), ("gpu0.cu1", vec![0x10_2000], 400)]
    {
        let mut tasks = vec![
            program("gpu0.cu0", NStore, &[0x10_2004, 0x10_3000]),
            program("gpu0.cu0", Load, &[0x20_0000, 0x20_1000]),
            program(agent, Store, &addresses),
            program("host.cpu0", Load, &[0x10_2000]),
        ];
        (tasks[1].after, tasks[2].after, tasks[3].after) = (vec![0], vec![0], vec![1, 2]);
        tasks[2].delay = delay;
        let mut machine = performing("tiny/memcpy-1gpu", &["gpu.copies.share=50"], tasks);
        machine.run_until(u64::MAX);
        assert!(machine.is_finished(), "{agent}: {:?}", machine.tasks());
        assert_eq!(machine.violations(), [], "{agent}");
    }
}

#[test]
fn a_page_that_has_come_is_shown_there_before_the_others_have() {
    let pages: Vec<u64> = (0..4).map(|page| 0x10_0000 + page * 0x1000).collect();
    let mut machine = performing("tiny/memcpy-1gpu", &[], in_turn(vec![program("gpu0.cu0", Load, &pages)]));
    let stands = |machine: &Machine| machine.view_copies(8).pop().map(|gpu| gpu.counts).unwrap_or_default();
    let (unused, coming) = (PageStand::Unused as usize, PageStand::Coming as usize);
    while stands(&machine)[unused] == 0 {
        assert_eq!(machine.run_until(machine.event() + 1), StepOutcome::Ran);
    }
    let counts = stands(&machine);
    assert_eq!((counts[unused], counts[coming] > 0), (1, true), "{counts:?}");
}

#[test]
fn a_page_takes_the_time_of_its_link() {
    let one = done("tiny/memcpy-1gpu", &[], vec![program("gpu0.cu0", Load, &[0x1000])]);
    let many: Vec<u64> = (0..33).map(|page| 0x10_0000 + page * 0x1000).collect();
    let many = done("tiny/memcpy-1gpu", &[], vec![program("gpu0.cu0", Load, &many)]);
    let time = |machine: &Machine| machine.statistic("copies.to_gpu.cycles").unwrap();
    // 4 KiB at 16 GB/s and 800 MHz.
    let each = (time(&many) - time(&one)) / 32.0;
    assert!((204.0..206.0).contains(&each), "{each}");
}

#[test]
fn what_one_side_wrote_the_other_reads() {
    for name in [
        "tiny/memcpy-1gpu",
        "tiny/memcpy-2gpu",
        "tiny/managed-1gpu",
        "tiny/zerocopy-1gpu",
        "tiny/zerocopy-2gpu",
    ] {
        let rounds = (0..3).flat_map(|round| {
            let at = [0x1000 + round * 4, 0x5000 + round * 64];
            [
                program("host.cpu0", Store, &at),
                program("gpu0.cu0", Load, &at),
                program("gpu0.cu1", NStore, &at),
                program("host.cpu0", Load, &at),
            ]
        });
        done(name, &[], rounds.collect());
    }
}

#[test]
fn a_runtime_copies_everything_to_and_fro() {
    // The three redundant copies of Fig. 3: y is written by the GPU, z by the host only.
    let work = || {
        vec![
            program("host.cpu0", Store, &[0x9000]),
            program("gpu0.cu0", NStore, &[0x2000]),
            program("host.cpu0", Load, &[0x9000]),
        ]
    };
    let machine = done("tiny/managed-1gpu", &[], work());
    assert_statistics(
        &machine,
        &[
            ("copies.to_host.transfers", 2.0),
            ("copies.to_host.pages", 4.0),
            ("copies.to_host.redundant", 3.0),
            ("copies.to_gpu.pages", 2.0),
            ("copies.to_gpu.redundant", 1.0),
        ],
    );
    let machine = done("tiny/memcpy-1gpu", &[], work());
    assert_statistics(
        &machine,
        &[("copies.to_host.pages", 1.0), ("copies.to_gpu.pages", 1.0), ("copies.to_gpu.redundant", 0.0)],
    );
}

#[test]
fn arrays_are_divided_over_gpus() {
    let machine = done("tiny/memcpy-2gpu", &[], vec![program("gpu1.cu0", Load, &[0x1000, 0x1ffc])]);
    assert_statistics(
        &machine,
        &[("numa.gpu0.pages", 1.0), ("numa.gpu1.pages", 0.0), ("numa.remote_share", 1.0)],
    );
}

#[test]
fn no_page_is_far_from_a_core_that_has_all_of_them_in_its_own_memory() {
    let pages: Vec<u64> = (0..4).map(|page| 0x10_0000 + page * 0x1000).collect();
    let mut machine = performing("tiny/memcpy-2gpu", &[], vec![program("host.cpu0", Load, &pages)]);
    let (mut records, mut performed) = (Records::listening(), 0);
    while machine.step(&mut records) == StepOutcome::Ran {
        performed +=
            records.list.iter().filter(|record| matches!(record.what, What::Complete { .. })).count();
        assert!(!records.list.iter().any(|record| matches!(record.what, What::RemoteMiss { .. })));
        records.list.clear();
    }
    assert_eq!(performed, 4);
}

/// Tasks each with those before it that it waits for.
fn ordered(name: &str, tasks: Vec<(Task, &[usize])>) -> Machine {
    let order = |(task, after): (Task, &[usize])| Task { after: after.to_vec(), ..task };
    let mut machine = performing(name, &[], tasks.into_iter().map(order).collect());
    machine.run_until(u64::MAX);
    assert!(machine.is_finished(), "{:?}", machine.tasks());
    assert!(machine.violations().is_empty(), "{:?}", machine.violations());
    machine
}

#[test]
fn what_the_host_stores_while_an_array_is_copied_is_copied_again() {
    // The copy begins behind the first store, and the last one comes before its end.
    let stored = program("host.cpu0", Store, &[0x1000, 0x1080, 0x1040]);
    let reading = |unit: &str, address, delay| Task { delay, ..program(unit, Load, &[address]) };
    let machine = ordered(
        "tiny/memcpy-1gpu",
        vec![
            (stored, &[]),
            (reading("gpu0.cu0", 0x1f00, 60), &[]),
            (reading("gpu0.cu1", 0x1040, 0), &[0, 1]),
        ],
    );
    assert_statistics(&machine, &[("copies.to_gpu.transfers", 2.0)]);
}

#[test]
fn a_runtime_waits_for_what_the_host_still_does() {
    let mut host = program("host.cpu0", Store, &[0x1000, 0x1040, 0x1080]);
    host.delay = 1;
    let machine = ordered(
        "tiny/managed-1gpu",
        vec![
            (host, &[]),
            (Task { delay: 50, ..program("gpu0.cu0", NStore, &[0x2000]) }, &[]),
            (program("host.cpu0", Load, &[0x1000, 0x1080, 0x2000]), &[0, 1]),
        ],
    );
    assert_eq!(machine.statistic("copies.to_host.transfers"), Some(2.0));
}
