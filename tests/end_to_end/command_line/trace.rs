//! A recorded kernel on machines of one and of four GPUs.

use super::{call, document};

const TRACE: &str = "tests/data/accel-sim";

#[test]
fn a_trace_runs_on_one_and_on_four_gpus() {
    let (mut loads, mut digests) = (Vec::new(), Vec::new());
    for machine in ["tiny/umh-1gpu", "tiny/umh-4gpu"] {
        let arguments = ["run", TRACE, "--machine", machine, "--format", "json", "--checks", "on"];
        let run = document(&arguments);
        assert_eq!(
            (run["ended"].as_str(), run["machine"].as_str()),
            (Some("finished"), Some(machine)),
            "{run}"
        );
        assert_eq!(run["digest"], document(&arguments)["digest"]);
        assert_eq!(run["stats"]["violations"], 0);
        // 2 blocks of 32 lanes: two loads and a store of 128 bytes each.
        loads.push(run["accesses"].clone());
        digests.push(run["digest"].clone());
    }
    assert_eq!(loads, [12, 12]);
    assert_ne!(digests[0], digests[1]);
}

#[test]
fn a_trace_can_be_named_as_a_folder_a_list_or_a_kernel_and_be_debugged() {
    for path in [TRACE, "tests/data/accel-sim/kernelslist.g", "tests/data/accel-sim/kernel-1.traceg"] {
        let check = document(&["check", path, "--format", "json"]);
        assert_eq!((&check["lane_loads"], &check["lane_stores"]), (&128.into(), &64.into()), "{path}");
        let log = call(&["log", path, "--machine", "tiny/umh-1gpu", "--where", "kernel"]);
        assert_eq!((log.code, log.stdout.lines().count()), (Some(0), 2), "{path}: {log:?}");
    }
    let arguments = ["debug", TRACE, "--machine", "tiny/umh-1gpu", "--no-tui"];
    let console = crate::common::binary::run(crate::common::umscope(), &arguments, "end\ninfo position\n");
    assert!(console.code == Some(0) && console.stdout.contains("all work is done"), "{console:?}");
}

#[test]
fn a_trace_that_is_cut_off_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let whole = std::fs::read("tests/data/accel-sim/kernel-1.traceg").unwrap();
    let path = folder.path().join("kernel-1.traceg");
    std::fs::write(&path, &whole[..whole.len() - 60]).unwrap();
    let outcome = call(&["run", path.to_str().unwrap(), "--machine", "tiny/umh-1gpu"]);
    assert_eq!((outcome.code, outcome.stdout.as_str()), (Some(2), ""));
    assert!(outcome.stderr.contains("kernel-1.traceg:"), "{}", outcome.stderr);
}
