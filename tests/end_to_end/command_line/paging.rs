//! Far-faults as statistics and logs tell them.

use super::{call, document};

#[test]
fn dropped_and_joined_faults_are_counted() {
    let run = document(&["run", "paging/fifth-fault", "--format", "json"]);
    let count = |stage: &str| run["stats"][format!("paging.faults.{stage}")].as_u64();
    assert_eq!((count("dropped"), count("merged"), count("nacked")), (Some(1), Some(0), Some(6)), "{run}");
    assert!(count("replayed") >= Some(5));
}

#[test]
fn a_fault_that_has_ended_has_no_second_life() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("late.toml");
    // The second Nack reaches its TLB after the page has come.
    let late = "[[program]]\nby = 'gpu0.cu0'\ndo = ['load 0x1000']\n[[program]]\nby = 'gpu0.cu1'\ndo = ['compute 29060', 'load 0x1800']\n";
    std::fs::write(&path, format!("machine = 'tiny/paged-1gpu'\n{late}")).unwrap();
    let told = call(&["debug", path.to_str().unwrap(), "--no-tui", "-x", "end", "-x", "info pages"]).stdout;
    assert!(told.contains("in use 1") && !told.contains("far-fault 0x1"), "{told}");
}

#[test]
fn a_prefetcher_brings_what_a_fault_log_says_was_allocated() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log");
    let log = log.to_str().unwrap();
    let written = call(&["export", "paging/tree-doubles", "--format", "uvm-faults", "--to", log]);
    assert_eq!(written.code, Some(0), "{written:?}");
    let own = document(&["run", "paging/tree-doubles", "--format", "json"]);
    let machine = [
        "--machine",
        "tiny/paged-1gpu",
        "--set",
        "gpu.memory.size=4 MiB",
        "--set",
        "gpu.paging.prefetch=tree",
    ];
    let again = document(&[&["run", log, "--format", "json"][..], &machine].concat());
    assert_eq!(again["stats"]["paging.bytes"], own["stats"]["paging.bytes"]);
}

#[test]
fn a_warp_waits_for_the_page_that_leaves_its_frame() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("dirty.toml");
    let stores: Vec<String> = (1..=6).map(|page| format!("'n-store 0x{page}000 01'")).collect();
    let text = format!(
        "machine = 'tiny/paged-1gpu'\n[set]\ngpu.paging.evict = 'lru'\n[[program]]\nby = 'gpu0.cu0'\ndo = [{}]\n",
        stores.join(", ")
    );
    std::fs::write(&path, text).unwrap();
    let stop = "break page-move change written-back";
    let commands = ["-x", stop, "-x", "c", "-x", "why gpu0.cu0 warp 0"];
    let told = call(&[&["debug", path.to_str().unwrap(), "--no-tui"][..], &commands].concat()).stdout;
    assert!(told.contains("no free frame for it") && told.contains("carries page 0x1 home"), "{told}");
}

/// Memory suffices, so that nothing is taken out: what was prefetched for nothing is told of at the end of all work.
#[test]
fn what_was_prefetched_and_never_used_is_told_at_the_end() {
    let name = "paging/tree-doubles";
    let told = call(&["log", name, "--where", "page-move change unused"]).stdout;
    assert!(told.lines().all(|line| line.contains(" unused to the end: page 0x")), "{told}");
    let stats = &document(&["run", name, "--format", "json"])["stats"];
    let unused = stats["paging.prefetched_unused"].as_u64();
    assert!(unused > Some(0), "{stats}");
    assert_eq!(Some(told.lines().count() as u64), unused, "{told}");
    let stop = call(&["debug", name, "--no-tui", "-x", "break page-move change unused", "-x", "c"]).stdout;
    assert!(stop.contains("unused to the end"), "{stop}");
}
