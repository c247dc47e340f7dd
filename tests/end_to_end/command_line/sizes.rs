//! `check --sizes`: the storage arithmetic of the UMH paper, through the command line; and `check --keys`.

use serde_json::Value;

use super::{call, document};

fn sizes(machine: &str, changes: &[&str], kind: &str) -> Value {
    let mut arguments = vec!["check", machine, "--sizes", "--format", "json"];
    arguments.extend(changes.iter().flat_map(|change| ["--set", change]));
    let document = document(&arguments);
    let groups = document["sizes"].as_array().unwrap();
    groups.iter().find(|group| group["kind"] == kind).unwrap().clone()
}

#[test]
fn the_storage_of_the_paper_is_that_of_its_machine() {
    // Section 5, Fig. 7 (a): 36 bits a line of 64 B, 72 MB for a stack of 1 GiB.
    let lines = sizes("umh-1gpu-pcie", &["gpu.memory.secondary_block=64 B"], "smd");
    assert_eq!(
        (lines["directory_bits"].as_u64(), lines["directory_bytes"].as_u64()),
        (Some(36), Some(72 << 20))
    );
    // Fig. 7 (b): 35 bits, and one for each line.
    let blocks = sizes("umh-4gpu-nvlink", &[], "smd");
    assert_eq!(blocks["components"].as_array().unwrap().len(), 16);
    let bits = ["tag_bits", "state_bits", "owner_bits", "sharer_bits", "sub_block_bits"]
        .map(|key| blocks[key].as_u64());
    assert_eq!(bits, [32, 3, 0, 0, 64].map(Some));
    // Section 4.1.2: 12.5 % with a bit a byte, 3.12 % with a bit for four.
    assert_eq!(blocks["mask_overhead"].as_f64(), Some(0.125));
    let coarse = sizes("umh-2gpu-pcie", &["gpu.memory.mask_bytes=4"], "hmd");
    assert_eq!(coarse["mask_overhead"].as_f64(), Some(0.03125));
}

#[test]
fn sizes_are_told_in_words_for_the_machine_of_a_scenario_too() {
    let outcome = call(&["check", "umh-1gpu-pcie", "--sizes"]);
    assert!(outcome.code == Some(0), "{outcome:?}");
    for words in [
        "smd (4 of them, gpu0.smd0 to gpu0.smd3)",
        "entries             262,144 of 4096 B, 1 GiB of data",
        "bits an entry       99 = tag 32 + state 3 + sub-blocks 64",
        "byte mask           128 MiB each, 12.500 % of the data",
        "bits an entry       114 = tag 47 + state 3 + sub-blocks 64",
        "directory           7.12 KiB each",
    ] {
        assert!(outcome.stdout.contains(words), "{words}: {}", outcome.stdout);
    }
    let scenario = call(&["check", "umh/fig5-b1", "--sizes"]);
    assert!(scenario.stdout.contains("hmd (host.hmd0)"), "{scenario:?}");
}

#[test]
fn what_has_no_sizes_says_so() {
    let outcome = call(&["check", "nmoesi", "--sizes"]);
    assert_eq!(outcome.code, Some(2));
    assert!(outcome.stderr.contains("--sizes is about a machine, and nmoesi is a protocol"), "{outcome:?}");
    let outcome = call(&["check", "umh-1gpu-pcie", "--sizes", "--set", "gpu.memory.wais=2"]);
    assert!(outcome.code == Some(2) && outcome.stderr.contains("did you mean ways?"), "{outcome:?}");
}

#[test]
fn the_keys_of_a_machine_are_a_file_of_that_machine() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("mine.toml");
    let set = ["--set", "gpu.l1.mshrs=2", "--set", "gpu.cu.wavefronts=16"];
    let keys = call(&[&["check", "paging/blocking", "--keys"], &set[..]].concat()).stdout;
    std::fs::write(&path, &keys).unwrap();
    let path = path.to_str().unwrap();
    let again = call(&["check", path, "--keys"]).stdout;
    let rest = |text: &str| text.split_once('\n').unwrap().1.to_owned();
    assert_eq!(rest(&again), rest(&keys));
    let titled = folder.path().join("titled.toml");
    std::fs::write(&titled, "title = \"of two\\nlines\"\nmachine = 'tiny/umh-1gpu'\n").unwrap();
    let keys = call(&["check", titled.to_str().unwrap(), "--keys"]).stdout;
    assert!(keys.lines().next().unwrap().ends_with("of two lines"), "{keys}");
    let json = document(&["check", path, "--keys", "--format", "json"])["keys"].clone();
    let of = |key: &str| json[key].clone();
    assert_eq!((of("gpu.l1.mshrs"), of("gpu.paging.faults")), (2.into(), "block".into()));
    // A default, in its unit.
    assert_eq!(of("gpu.paging.walk_cache"), "8 KiB");
    let digest = |machine: &str, set: &[&str]| {
        let run = [
            &["run", "workloads/paged/bfs", "--scale", "512", "--machine", machine, "--format", "json"],
            set,
        ];
        document(&run.concat())["digest"].clone()
    };
    let set = [&set[..], &["--set", "gpu.paging.faults=block"]].concat();
    assert_eq!(digest(path, &[]), digest("tiny/paged-1gpu", &set));
}
