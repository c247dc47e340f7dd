//! Kernels and programs that share compute units.

use std::io::Write;

use super::document;
use crate::common::binary::run;
use crate::common::umscope;

/// A scenario of these lines.
fn scenario(lines: &str) -> tempfile::NamedTempFile {
    let mut file = tempfile::NamedTempFile::with_suffix(".toml").unwrap();
    write!(file, "{lines}").unwrap();
    file
}

/// Runs a scenario of these lines.
fn after(lines: &str) -> serde_json::Value {
    let file = scenario(lines);
    document(&["run", file.path().to_str().unwrap(), "--format", "json"])
}

const KERNEL: &str =
    "name = \"stream-triad\"\nwith = { size = 64, workgroup = 16, wavefront = 4, launch = 1 }";

#[test]
fn kernels_that_are_launched_at_once_share_the_compute_units_and_all_end() {
    // Each fills all warps of every unit: the blocks of the later ones wait for room.
    for count in 1..=3 {
        let kernels: Vec<_> =
            (0..count).map(|nth| format!("[[kernel]]\nid = \"k{nth}\"\n{KERNEL}\n")).collect();
        let run = after(&format!("machine = \"tiny/umh-2gpu\"\n{}", kernels.concat()));
        assert_eq!((&run["ended"], &run["passed"]), (&"finished".into(), &true.into()), "{count} kernels");
        assert_eq!(run["accesses"], 48 * count);
        let ended: Vec<_> =
            (0..count).map(|nth| run["stats"][format!("tasks.k{nth}.cycles")].as_f64().unwrap()).collect();
        assert!(ended.is_sorted(), "what was launched first has room first: {ended:?}");
    }
}

#[test]
fn a_block_that_has_no_room_beside_a_program_comes_after_it() {
    let program = "[[do]]\nby = \"gpu0.cu0\"\nload = { address = 0x9000, len = 4 }\n";
    let run = after(&format!(
        "machine = \"tiny/umh-1gpu\"\nset = {{ \"gpu.cu.count\" = 1 }}\n{program}[[kernel]]\nid = \"k\"\n{KERNEL}\n"
    ));
    assert_eq!(run["ended"], "finished", "{run}");
    assert_eq!(run["accesses"], 49);
}

/// One compute unit, and a kernel of four warps that compute 10,000 cycles between one access and the next.
fn computing(set: &str, times: u32) -> String {
    format!(
        "machine = \"tiny/umh-1gpu\"\nset = {{ \"gpu.cu.count\" = 1, \"gpu.cu.wavefronts\" = 4, {set} }}\n[[kernel]]\nid = \"k\"\nname = \"stream\"\n\
         with = {{ blocks = 1, warps = 4, times = {times}, wavefront = 4, compute = 10000, launch = 1 }}\n"
    )
}

/// Cycles of that kernel, and how busy SIMD units were and how long warps waited for one, if they could.
fn computed(set: &str) -> (f64, Option<(f64, f64)>) {
    let run = after(&computing(set, 2));
    let resources = run["resources"].as_array().unwrap().clone();
    let simds = resources.into_iter().find(|resource| resource["name"] == "SIMD units");
    let simds = simds.map(|simds| {
        let both = (simds["utilisation"].as_f64(), simds["queued_mean_cycles"].as_f64());
        let stats = &run["stats"];
        let of = |key: &str| stats[format!("gpu0.cu0.simd_{key}")].as_f64();
        assert_eq!(both, (of("utilisation"), of("queued_mean_cycles")));
        (both.0.unwrap(), both.1.unwrap())
    });
    (run["stats"]["tasks.k.cycles"].as_f64().unwrap(), simds)
}

#[test]
fn warps_compute_on_as_many_units_as_there_are() {
    let (together, unlimited) = computed("\"gpu.cu.simds\" = 4");
    assert_eq!(unlimited, None, "no warp waits for one");
    assert!((10_000.0..12_000.0).contains(&together), "{together}");
    let (one_by_one, simds) = computed("\"gpu.cu.simds\" = 1");
    assert!((40_000.0..42_000.0).contains(&one_by_one), "{one_by_one}");
    let (busy, waited) = simds.unwrap();
    assert!(busy > 0.9, "{busy}");
    // For none, one, two and three others.
    assert!((waited - 15_000.0).abs() < 1_000.0, "{waited}");
    let (pairs, _) = computed("\"gpu.cu.simds\" = 2");
    assert!((20_000.0..22_000.0).contains(&pairs), "{pairs}");
}

#[test]
fn units_can_come_under_way() {
    let file = scenario(&computing("\"gpu.cu.simds\" = 1", 3));
    let path = file.path().to_str().unwrap();
    let end = |change: &str| {
        let script = format!("goto cycle 5000\n{change}\nend\ninfo position\n");
        let told = run(umscope(), &["debug", path, "--no-tui"], &script);
        assert_eq!(told.code, Some(0), "{told:?}");
        let cycle = told.stdout.rsplit("cycle ").next().and_then(|rest| {
            rest.split(|digit: char| !digit.is_ascii_digit() && digit != ',')
                .next()
                .map(|digits| digits.replace(',', ""))
        });
        cycle.unwrap().parse::<u64>().unwrap()
    };
    // Those that wait have a unit as soon as there are more.
    assert!((80_000..82_000).contains(&end("")));
    assert!((30_000..32_000).contains(&end("fork set gpu.cu.simds=4")));
}

#[test]
fn a_unit_that_comes_free_at_the_tick_of_a_hit_is_taken_first_whoever_looks() {
    let program =
        |id: &str, steps: &str| format!("[[program]]\nid = \"{id}\"\nby = \"gpu0.cu0\"\ndo = [{steps}]\n");
    let load = "\"load 0x1000 4\"";
    let computes = format!("{load}, \"compute 7\"");
    let file = scenario(&format!(
        "machine = \"tiny/umh-1gpu\"\n[set]\ngpu.cu.wavefronts = 4\ngpu.cu.simds = 1\nvalues = false\n{}{}{}",
        program("a", &computes),
        program("b", &computes),
        program("c", &[load; 13].join(", ")),
    ));
    let path = file.path().to_str().unwrap();
    let end = |checks: &str| {
        let run = document(&["run", path, "--checks", checks, "--format", "json"]);
        (run["events"].clone(), run["digest"].clone())
    };
    assert_eq!(end("off"), end("on"));
}

#[test]
fn a_unit_that_a_fork_adds_serves_a_warp_that_waits() {
    let file = scenario(&computing("\"gpu.cu.simds\" = 1", 3));
    let script = "until cycle 5000\nfork set gpu.cu.simds=2\ninfo warps gpu0.cu0\ninfo resources\n";
    let told = run(umscope(), &["debug", file.path().to_str().unwrap(), "--no-tui"], script).stdout;
    // The first has ended by then: two of the three that waited compute.
    assert_eq!(told.matches(" simd-full since").count(), 1, "{told}");
    let wait =
        told.lines().find(|line| line.starts_with("SIMD units")).and_then(|line| line.split("wait ").nth(1));
    let wait: f64 = wait.and_then(|wait| wait.split(' ').next()?.parse().ok()).unwrap();
    assert!((7_000.0..10_000.0).contains(&wait), "what is to come does not count: {told}");
}
