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

/// Each of 16 banks a stack opens its row anew for every 64 B (section 5.4): 36 ns. Four stacks.
const REOPENED: f64 = 4.0 * 16.0 * 64.0 / 36.0;

#[test]
fn a_gpu_reads_its_own_stacks_at_what_its_banks_and_ports_let_through() {
    let mut file = tempfile::NamedTempFile::with_suffix(".toml").unwrap();
    let kernel =
        "name = \"stream\"\nwith = { blocks = 1200, warps = 4, times = 1, wavefront = 64, compute = 0 }";
    writeln!(file, "machine = \"umh-1gpu-nvlink\"\nchecks = false").unwrap();
    writeln!(
        file,
        "[[kernel]]\nid = \"fetch\"\n{kernel}\n[[kernel]]\nid = \"work\"\nafter = [\"fetch\"]\n{kernel}"
    )
    .unwrap();
    let path = file.path().to_str().unwrap();
    let reached = |set: &str| {
        let run = document(&["run", path, "--format", "json", "--set", set, "--set", "gpu.l1.mshrs=64"]);
        let bytes = 1200.0 * 4.0 * 256.0;
        (bytes / run["stats"]["tasks.work.cycles"].as_f64().unwrap() * 0.8, run)
    };
    let (share, _) = reached("gpu.l2.ports=2");
    assert!((0.6..=1.0).contains(&(share / REOPENED)), "{share} of {REOPENED} GB/s");
    // Five messages a line: more than half of what one port takes is not data.
    let (less, run) = reached("gpu.l2.ports=1");
    assert!(less < share * 0.7, "{less} and {share} GB/s");
    let most = run["resources"][0]["name"].as_str().unwrap();
    assert_eq!(most, "GPU L2 ports", "{}", run["resources"]);
}

/// "Which 32B sub-blocks of the 128B cache line should be transferred" (Selective GPU Caches, section 3.2.3), with a header of 16 B.
#[test]
fn what_lanes_skip_of_a_line_is_not_moved() {
    for (instruction, link, bytes) in [
        ("load 0x1100 4 lanes 2 stride 96", "in", 16.0 + 2.0 * 32.0),
        ("load 0x1100 4 lanes 2 stride 16", "in", 16.0 + 32.0),
        ("load 0x1100 4 lanes 4 stride 32", "in", 16.0 + 128.0),
        ("n-store 0x1100 07 00 00 00 lanes 2 stride 96", "out", 16.0 + 2.0 * 32.0),
    ] {
        let mut file = tempfile::NamedTempFile::with_suffix(".toml").unwrap();
        let program = format!("[[program]]\nby = \"gpu0.cu0\"\ndo = [\"{instruction}\"]");
        writeln!(file, "machine = \"tiny/selective-variable\"\n{program}").unwrap();
        let run = document(&["run", file.path().to_str().unwrap(), "--format", "json"]);
        let key = format!("link.gpu0.{link}.bytes");
        assert_eq!(run["stats"][&key].as_f64(), Some(bytes), "{instruction}");
    }
}
