//! Kernels and programs that share compute units.

use std::io::Write;

use super::document;

/// Runs a scenario of these lines.
fn after(lines: &str) -> serde_json::Value {
    let mut file = tempfile::NamedTempFile::with_suffix(".toml").unwrap();
    write!(file, "{lines}").unwrap();
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
