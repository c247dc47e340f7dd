//! What streams through a full-size machine comes near to the bandwidths that its file states, and never above.

use std::io::Write;

use super::document;

/// Each warp loads a line of its own, all lines in order, and the data are where `set` says.
fn cycles(machine: &str, set: &[&str]) -> f64 {
    let mut file = tempfile::NamedTempFile::with_suffix(".toml").unwrap();
    writeln!(file, "machine = \"{machine}\"\nchecks = false\n[[kernel]]\nid = \"work\"\nname = \"stream\"")
        .unwrap();
    writeln!(file, "with = {{ blocks = {BLOCKS}, warps = 6, times = 1, wavefront = 32, compute = 0 }}")
        .unwrap();
    let mut arguments = vec!["run", file.path().to_str().unwrap(), "--format", "json"];
    arguments.extend(set.iter().flat_map(|set| ["--set", set]));
    document(&arguments)["stats"]["tasks.work.cycles"].as_f64().unwrap()
}

const BLOCKS: u32 = 2400;
const BYTES: f64 = BLOCKS as f64 * 6.0 * 128.0;

#[test]
fn a_stream_gets_the_bandwidth_of_memory_and_link() {
    let host = &["gpu.unified.host_share=100"];
    let gpu = &["gpu.unified.host_share=0"];
    // What comes over the link has a header of 16 B for each line.
    let link = 90.0 * 128.0 / 144.0;
    for (machine, set, clock, most, least) in [
        ("paged-gtx480", &["gpu.paging.copy=up-front"], 1.4, 384.0, 50.0),
        ("selective-coherent", gpu, 1.4, 336.0, 80.0),
        ("selective-l1-l2", gpu, 1.4, 336.0, 80.0),
        ("selective-coherent", host, 1.4, link, 90.0),
        ("selective-variable", host, 1.4, link, 90.0),
    ] {
        let reached = BYTES / cycles(machine, set) * clock;
        let share = reached / most * 100.0;
        assert!((least..=100.0).contains(&share), "{machine} {set:?}: {reached} of {most} GB/s, {share} %");
    }
}
