//! Pages on their way between host and GPUs, on whole machines.

use crate::machine::sample::{performing, program};
use crate::machine::{Machine, StepOutcome};
use crate::model::access::AccessKind::{Load, Store};
use crate::model::inspect::Inspect;
use crate::model::paging::PageChange;
use crate::model::record::{Records, What};
use crate::workload::Task;

#[test]
fn a_page_that_a_core_wants_is_taken_back_and_not_evicted() {
    let first = program("gpu0.cu0", Store, &[0x1000]);
    let second = Task { after: vec![0], ..program("host.cpu0", Load, &[0x1000]) };
    let mut machine = performing("tiny/paged-1gpu", &[], vec![first, second]);
    let (mut records, mut changes) = (Records::listening(), Vec::new());
    while machine.step(&mut records) == StepOutcome::Ran {
        for record in records.list.drain(..) {
            if let What::Page { change, .. } = record.what {
                changes.push(change);
            }
        }
    }
    assert!(machine.is_finished());
    let [demanded, arrived] = [PageChange::Demanded, PageChange::Arrived];
    let back = [PageChange::TakenBack, PageChange::WrittenBack, PageChange::Gone];
    assert_eq!(changes, [&[demanded, arrived][..], &back].concat());
    assert_eq!(machine.statistic("paging.taken_back"), Some(1.0));
    assert_eq!(machine.statistic("paging.evicted"), Some(0.0));
}

#[test]
fn what_another_gpu_has_is_not_prefetched_from_there() {
    let work = [
        program("gpu0.cu0", Store, &[0x1000, 0x3000, 0x5000]),
        program("gpu1.cu0", Store, &[0x2000, 0x4000, 0x6000]),
    ];
    let changes = ["gpu.count=2", "gpu.paging.prefetch=locality", "gpu.memory.size=64 KiB"];
    let mut machine = performing("tiny/paged-1gpu", &changes, work.to_vec());
    machine.run_until(u64::MAX);
    assert!(machine.is_finished());
    let count = |name: &str| machine.statistic(&format!("paging.{name}")).unwrap_or(f64::NAN);
    assert!(count("prefetched") > 0.0);
    // A page moves to the GPU that wants it at most once from the other.
    assert!(count("taken_back") <= 6.0, "{}", count("taken_back"));
    assert!(count("demanded") + count("prefetched") <= 12.0);
}

#[test]
fn a_page_on_its_way_is_read_and_written_in_the_memories_at_both_ends() {
    let first = program("gpu0.cu0", Store, &[0x1000]);
    let second = Task { after: vec![0], ..program("host.cpu0", Load, &[0x1000]) };
    let mut latencies = Vec::new();
    for page in [4096.0, 16384.0] {
        let changes = [format!("gpu.paging.page={page} B"), "gpu.memory.size=64 KiB".into()];
        let changes: Vec<&str> = changes.iter().map(String::as_str).collect();
        // There, and back as it has been written; beside the lines of the two accesses.
        let mut there = performing("tiny/paged-1gpu", &changes, vec![first.clone()]);
        let mut back = performing("tiny/paged-1gpu", &changes, vec![first.clone(), second.clone()]);
        for (machine, pages) in [(&mut there, 1.0), (&mut back, 2.0)] {
            latencies.extend(first_latency(machine));
            machine.run_until(u64::MAX);
            assert!(machine.is_finished());
            for memory in ["gpu0.memory.0", "host.hmd0"] {
                let bytes = machine.statistic(&format!("{memory}.dram.bytes")).unwrap();
                assert!((pages * page..pages * page + 600.0).contains(&bytes), "{memory}: {bytes}");
            }
        }
    }
    latencies.dedup();
    assert_eq!(
        latencies.len(),
        1,
        "the first access does not wait the longer the larger its page is: {latencies:?}"
    );
}

/// Cycles that the first access takes once its page is there.
fn first_latency(machine: &mut Machine) -> Option<u64> {
    let mut records = Records::listening();
    while machine.step(&mut records) == StepOutcome::Ran {
        let ended = records.list.iter().find_map(|record| match record.what {
            What::Complete { latency, .. } => Some(latency),
            _ => None,
        });
        if ended.is_some() {
            return ended;
        }
    }
    None
}

#[test]
fn a_page_that_gpus_take_from_each_other_is_used_by_each_before() {
    let units = ["gpu0.cu0", "gpu1.cu0", "gpu2.cu0"];
    let work: Vec<_> = units.into_iter().map(|unit| program(unit, Store, &[0x10_000])).collect();
    let changes = ["gpu.count=3", "gpu.paging.page=256 KiB", "gpu.memory.size=16 MiB"];
    let mut machine = performing("tiny/paged-1gpu", &changes, work);
    machine.run_until(50_000_000_000);
    assert!(machine.is_finished());
    assert_eq!(machine.statistic("paging.taken_back"), Some(2.0));
}

#[test]
fn a_page_that_a_core_wants_is_used_by_those_who_waited_for_it_before() {
    let agents = ["gpu0.cu0", "gpu1.cu0", "host.cpu0"];
    let work: Vec<_> = agents.into_iter().map(|agent| program(agent, Store, &[0x11_000; 3])).collect();
    let changes = ["gpu.memory.home=own", "gpu.paging.service=100 ns"];
    let mut machine = performing("tiny/umh-2gpu-paged", &changes, work);
    machine.run_until(50_000_000_000);
    assert!(machine.is_finished());
}

#[test]
fn the_oracle_knows_what_each_gpu_will_touch() {
    let work = [program("gpu0.cu0", Load, &[0x1000, 0x3000]), program("gpu1.cu0", Load, &[0x2000, 0x4000])];
    let changes = ["gpu.count=2", "gpu.paging.prefetch=oracle", "gpu.cu.outstanding=1"];
    let mut machine = performing("tiny/paged-1gpu", &changes, work.to_vec());
    machine.run_until(u64::MAX);
    assert!(machine.is_finished());
    assert_eq!(machine.statistic("paging.prefetched"), Some(2.0));
}

/// A page is evicted, wanted again, and then taken back by a core before the GPU wants it once more.
#[test]
fn only_a_page_whose_last_departure_was_an_eviction_thrashes() {
    let after = |before: usize, task| Task { after: vec![before], ..task };
    let work = [
        program("gpu0.cu0", Load, &[0x10000, 0x20000, 0x30000]),
        after(0, program("gpu0.cu0", Load, &[0x10000])),
        after(1, program("host.cpu0", Store, &[0x10000])),
        after(2, program("gpu0.cu0", Load, &[0x10000])),
    ];
    let changes = ["gpu.memory.size=8 KiB", "gpu.paging.evict=lru"];
    let mut machine = performing("tiny/paged-1gpu", &changes, work.to_vec());
    machine.run_until(u64::MAX);
    let count = |name: &str| machine.statistic(&format!("paging.{name}"));
    assert_eq!((count("thrashed"), count("taken_back")), (Some(1.0), Some(1.0)));
}
