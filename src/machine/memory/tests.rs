//! Memory controllers in a machine: what they answer, tell and show.

use crate::machine::sample::{performing, program};
use crate::machine::{Machine, StepOutcome, sample};
use crate::model::access::AccessKind;
use crate::model::inspect::Inspect;
use crate::model::record::{Record, Records, RowAccess, What};

/// A core in front of one HMD whose DRAM has a queue.
const HOST: [&str; 4] =
    ["host.dram.scheduler=fr-fcfs", "host.llc=false", "host.block=4 KiB", "host.outstanding=8"];

fn finish(machine: &mut Machine) -> Vec<Record> {
    let mut records = Records::listening();
    let mut all = Vec::new();
    loop {
        match machine.step(&mut records) {
            StepOutcome::Ran => all.append(&mut records.list),
            StepOutcome::Finished => break,
            other => panic!("{other:?} at event {}", machine.event()),
        }
    }
    assert!(machine.violations().is_empty(), "{:?}", machine.violations());
    all
}

fn statistic(machine: &Machine, key: &str) -> f64 {
    machine.statistic(key).unwrap_or_else(|| panic!("there is no {key}"))
}

#[test]
fn lines_of_one_row_hit_it_and_every_access_is_told() {
    let lines = (0..16).map(|line| line * 64).collect();
    let mut machine = sample::working("tiny/umh-2gpu", &HOST, &[("host.cpu0", AccessKind::Load, lines)]);
    let records = finish(&mut machine);
    let hmd = machine.components().find("host.hmd0").unwrap();
    let accesses: Vec<RowAccess> = records
        .iter()
        .filter(|record| record.at == hmd)
        .filter_map(|record| match record.what {
            What::Dram { access, writes: false, row: 0, bank: 0, tags: false } => Some(access),
            _ => None,
        })
        .collect();
    assert_eq!((accesses.len(), accesses.first()), (16, Some(&RowAccess::Miss)));
    assert!(accesses[1..].iter().all(|&access| access == RowAccess::Hit), "{accesses:?}");
    let opened = records.iter().filter(|record| matches!(record.what, What::Activate { .. }));
    assert_eq!(opened.count(), 1);
    for (key, value) in [("row_hits", 15.0), ("row_misses", 1.0), ("reads", 16.0), ("bytes", 1024.0)] {
        assert_eq!(
            statistic(&machine, &format!("host.hmd0.dram.{key}")).to_bits(),
            f64::to_bits(value),
            "{key}"
        );
    }
    let view = machine.memory(hmd).unwrap();
    assert_eq!((view.reads, view.banks[0].open, view.banks[1].open), (0, Some(0), None));
    assert!(view.high_water > 0);
    // Without a queue there is nothing to look at.
    assert_eq!(sample::bundled("tiny/umh-2gpu", &[]).memory(hmd), None);
}

#[test]
fn a_read_answers_when_its_data_have_left_the_bus() {
    let access = [("host.cpu0", AccessKind::Load, vec![0])];
    let mut machine = sample::working("tiny/umh-2gpu", &HOST, &access);
    let records = finish(&mut machine);
    let hmd = machine.components().find("host.hmd0").unwrap();
    let at = |wanted: &str| {
        records.iter().find(|record| record.at == hmd && record.kind() == wanted).map(|record| record.tick)
    };
    let nanoseconds = |tick: u64| machine.time_base().nanoseconds(tick);
    let (delivery, data) = (at("delivery").unwrap(), at("message").unwrap());
    // 14 ns to open the row, 14 ns for the column, 64 B at 25.6 GB/s.
    assert!((nanoseconds(data - delivery) - 30.5).abs() < 0.1, "{}", nanoseconds(data - delivery));
}

#[test]
fn who_waits_for_memory_is_told_so() {
    let access = [("host.cpu0", AccessKind::Load, vec![0])];
    let mut machine = sample::working("tiny/umh-2gpu", &HOST, &access);
    let mut silent = Records::silent();
    let core = machine.components().find("host.cpu0").unwrap();
    let mut told = String::new();
    while machine.step(&mut silent) == StepOutcome::Ran {
        if let Some(last) = machine.why(core, None).last() {
            told += &last.text;
        }
    }
    assert!(told.contains("waits for the memory here to read its data"), "{told}");
}

#[test]
fn an_smd_reopens_every_row() {
    let lines = || (0..16).map(|line| line * 64).collect();
    let work = [("gpu0.cu0", AccessKind::Load, lines())];
    let mut machine = sample::working("umh-1gpu-pcie", &[], &work);
    finish(&mut machine);
    // One block is written into the stack, a row in each of its 16 banks; what is wanted of it when it comes is passed on, and each of the
    // other lines is read from it. UMH, section 5.4.
    assert_eq!(statistic(&machine, "gpu0.smd0.dram.row_hits").to_bits(), 0f64.to_bits());
    assert_eq!(statistic(&machine, "gpu0.smd0.dram.row_reopens").to_bits(), 30f64.to_bits());
}

#[test]
fn the_directory_of_the_llc_recalls_what_it_has_no_place_for() {
    // 512 secondary blocks fit (UMH, section 5.3: 7 KB for 2 MB); the core keeps using the first meanwhile.
    let loads = (0..600u64).flat_map(|block| [block * 4096, 0]).collect();
    let work = [("host.cpu0", AccessKind::Load, loads)];
    let one_by_one = ["host.outstanding=1"];
    let mut machine = sample::working("umh-1gpu-pcie", &one_by_one, &work);
    finish(&mut machine);
    assert!(statistic(&machine, "host.llc.evictions") >= 88.0);
    assert!(statistic(&machine, "host.llc.recalls") > 0.0);
    let fits = (0..512u64).map(|block| block * 4096).collect();
    let mut machine = sample::working("umh-1gpu-pcie", &[], &[("host.cpu0", AccessKind::Load, fits)]);
    finish(&mut machine);
    assert_eq!(statistic(&machine, "host.llc.evictions").to_bits(), 0f64.to_bits());
}

/// The cycles of a load by socket 0 of what is there, while one of its own memory answers the other socket.
fn beside_a_slow_read(scheduler: &str) -> u64 {
    let changes = ["gpu.numa.placement=page", "gpu.memory.dram.cas=1 us", scheduler];
    let mut work = vec![
        program("gpu1.cu0", AccessKind::Load, &[0x2000]),
        program("gpu0.cu0", AccessKind::Load, &[0x1000]),
    ];
    work[1].delay = 300;
    let mut machine = performing("tiny/numa-2socket", &changes, work);
    let records = finish(&mut machine);
    let latency = |record: &Record| match record.what {
        What::Complete { latency, .. } => Some(latency),
        _ => None,
    };
    let of = machine.components().find("gpu0.cu0.l1");
    records
        .iter()
        .find(|record| Some(record.at) == of && latency(record).is_some())
        .and_then(latency)
        .unwrap()
}

/// What its memory has still to read takes no link from what could leave meanwhile.
#[test]
fn what_is_still_read_takes_no_link() {
    let [in_order, queued] = ["in-order", "fr-fcfs"]
        .map(|scheduler| beside_a_slow_read(&format!("gpu.memory.dram.scheduler={scheduler}")));
    assert!(in_order.abs_diff(queued) < 20, "{in_order} {queued}");
    assert!(in_order < 1400, "{in_order}");
}
