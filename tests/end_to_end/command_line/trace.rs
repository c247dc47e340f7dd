//! Traces of every format on machines of one to four GPUs.

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
fn what_a_launch_takes_can_be_set_and_is_told() {
    let usual = finished(TRACE, &["tiny/umh-1gpu"]);
    let launches = |run: &serde_json::Value| {
        [&run["stats"]["launches.count"], &run["stats"]["launches.cycles"]].map(Clone::clone)
    };
    assert_eq!(launches(&usual), [1, 5000]);
    let quick = finished(TRACE, &["tiny/umh-1gpu", "--set", "launch=0"]);
    assert_eq!(launches(&quick), [1, 0]);
    assert_eq!(quick["cycles"].as_u64().unwrap() + 5000, usual["cycles"].as_u64().unwrap());
    let wrong = call(&["run", "kernels/reduction", "--set", "launch=0"]);
    assert!(wrong.code == Some(2) && wrong.stderr.contains("there is no trace"), "{wrong:?}");
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

/// What a run of a trace on this machine came to.
fn finished(trace: &str, machine: &[&str]) -> serde_json::Value {
    let mut arguments = vec!["run", trace, "--format", "json", "--checks", "on", "--machine"];
    arguments.extend(machine);
    let run = document(&arguments);
    assert_eq!((&run["ended"], &run["stats"]["violations"]), (&"finished".into(), &0.into()), "{run}");
    run
}

#[test]
fn a_packed_trace_is_the_same_trace() {
    let digest = |trace: &str| finished(trace, &["tiny/umh-2gpu"])["digest"].clone();
    let plain = digest(TRACE);
    assert_eq!(
        [digest("tests/data/accel-sim-xz"), digest("tests/data/accel-sim-zst")],
        [plain.clone(), plain]
    );
}

#[test]
fn traces_of_other_formats_run_to_their_ends() {
    for (trace, machine, accesses) in [
        ("tests/data/traces/mem_trace.txt", &["tiny/umh-2gpu"][..], 27),
        ("tests/data/traces/snoopie_log_1.csv", &["tiny/umh-2gpu"], 16),
        ("tests/data/traces/parsec", &["tiny/cpu-2core"], 5),
        ("tests/data/traces/cores_rw.txt", &["tiny/cpu-2core"], 5),
        ("tests/data/traces/cores_ls.txt", &["tiny/umh-4gpu", "--set", "host.cores=2"], 5),
    ] {
        assert_eq!(finished(trace, machine)["accesses"], accesses, "{trace}");
    }
}

#[test]
fn each_gpu_runs_what_it_ran_when_it_was_recorded() {
    let log = std::fs::read_to_string("tests/data/traces/snoopie_log_1.csv").unwrap();
    let second = |line: &&str| line.starts_with("op_code") || line.split(',').nth(3) == Some("1");
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("snoopie_log_2.csv");
    std::fs::write(&path, log.lines().filter(second).collect::<Vec<_>>().join("\n")).unwrap();
    let run = finished(path.to_str().unwrap(), &["tiny/umh-4gpu"]);
    let stats = run["stats"].as_object().unwrap();
    let of = |gpu: &str| -> u64 {
        let own = |key: &str| key.starts_with(gpu) && key.ends_with(".accesses");
        stats.iter().filter(|(key, _)| own(key)).filter_map(|(_, value)| value.as_u64()).sum()
    };
    assert_eq!(["gpu0", "gpu1", "gpu2", "gpu3"].map(of), [0, 8, 0, 0]);
}

#[test]
fn a_machine_without_the_cores_or_gpus_of_a_trace_is_refused() {
    for (trace, advice) in
        [("traces/cores_rw.txt", "--set host.cores=2"), ("traces/snoopie_log_1.csv", "--set gpu.count=2")]
    {
        let outcome = call(&["run", &format!("tests/data/{trace}"), "--machine", "tiny/umh-1gpu"]);
        assert_eq!((outcome.code, outcome.stdout.as_str()), (Some(2), ""));
        assert!(outcome.stderr.contains(advice), "{}", outcome.stderr);
    }
}

#[test]
fn a_scenario_names_its_trace_and_the_format_if_need_be() {
    let folder = tempfile::tempdir().unwrap();
    let scenario = folder.path().join("x.toml");
    std::fs::write(folder.path().join("t"), "# x\n0 r 10\n").unwrap();
    let run = |keys: &str| {
        std::fs::write(&scenario, format!("machine = \"tiny/cpu-2core\"\n{keys}\n")).unwrap();
        call(&["run", scenario.to_str().unwrap()])
    };
    for (keys, place) in [
        ("trace = \"gone\"", "x.toml:2:9"),
        ("trace = \"t\"\ntrace-format = \"core\"", "x.toml:3:16"),
        ("trace-format = \"cores\"", "x.toml:2:16"),
        ("trace = \"t\"\ntrace-format = \"cores\"", "t:1:1"),
        ("trace = \"t\"", "this is no trace that is known here"),
    ] {
        let outcome = run(keys);
        assert_eq!(outcome.code, Some(2), "{keys}");
        assert!(outcome.stderr.contains(place), "{keys}: {}", outcome.stderr);
    }
    std::fs::write(folder.path().join("t"), "0 r 10\n1 w 10\n").unwrap();
    assert_eq!(run("trace = \"t\"\ntrace-format = \"cores\"").code, Some(0));
}

#[test]
fn a_check_tells_how_much_memory_a_trace_touches() {
    for (trace, bytes) in [
        // 64 lanes in three arrays; the host fills two of them.
        (TRACE, 768),
        ("tests/data/traces/parsec", 12),
        ("tests/data/traces/cores_rw.txt", 20),
    ] {
        assert_eq!(document(&["check", trace, "--format", "json"])["footprint_bytes"], bytes, "{trace}");
        let text = call(&["check", trace]).stdout;
        assert!(text.contains(&format!("\n  footprint bytes        {bytes}\n")), "{trace}: {text}");
    }
}

#[test]
fn a_check_tells_which_cores_there_are_and_what_the_host_copies() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("cores");
    std::fs::write(&path, "0 r 0x1000\n2 w 0x1000\n5 r 0x2000\n").unwrap();
    let check = |path: &std::path::Path| document(&["check", path.to_str().unwrap(), "--format", "json"]);
    let cores = check(&path);
    assert_eq!((&cores["cores"], &cores["core_numbers"]), (&3.into(), &serde_json::json!([0, 2, 5])));
    let kernel = std::path::Path::new("tests/data/accel-sim/kernel-1.traceg").canonicalize().unwrap();
    let list = format!("MemcpyHtoD,0x10000,256\n{0}\nMemcpyHtoD,0x10000,40\n{0}\n", "kernel-1.traceg");
    std::fs::copy(kernel, folder.path().join("kernel-1.traceg")).unwrap();
    std::fs::write(folder.path().join("kernelslist.g"), list).unwrap();
    let found = check(&folder.path().join("kernelslist.g"));
    let counts = ["kernels", "copies_between_kernels", "cores"].map(|key| found[key].as_u64().unwrap());
    assert_eq!(counts, [2, 1, 0]);
    // Two blocks of six accesses each, twice, and three stores of the host's first core in between: 16, 16 and 8 bytes.
    let run = finished(folder.path().to_str().unwrap(), &["tiny/umh-1gpu", "--stats"]);
    assert_eq!((&run["accesses"], &run["stats"]["tasks.copy.accesses"]), (&27.into(), &3.into()));
}

#[test]
fn a_folder_without_a_list_that_can_be_read_says_what_its_list_lacks() {
    let folder = tempfile::tempdir().unwrap();
    for (list, told) in [
        (
            "kernelslist.g.xz",
            "kernelslist.g.xz: a list of kernels is read as plain text only\n expected kernelslist.g, unpacked",
        ),
        ("kernelslist", "there is a kernelslist, and no kernelslist.g\n expected kernelslist.g, which"),
    ] {
        std::fs::write(folder.path().join(list), "kernel-1.traceg\n").unwrap();
        let outcome = call(&["run", folder.path().to_str().unwrap(), "--machine", "tiny/umh-1gpu"]);
        assert!(outcome.code == Some(2) && outcome.stderr.contains(told), "{outcome:?}");
        std::fs::remove_file(folder.path().join(list)).unwrap();
    }
}

#[test]
fn two_runs_of_traces_are_compared_on_one_machine_or_on_one_each() {
    let one = ["diff", TRACE, TRACE, "--machine", "tiny/umh-1gpu"];
    let same = call(&one);
    assert!(same.code == Some(0) && same.stdout.starts_with("the same: "), "{same:?}");
    let two = call(&[&one[..], &["--machine", "tiny/umh-4gpu"]].concat());
    assert!(two.code == Some(1) && two.stdout.contains("then they part"), "{two:?}");
    assert!(two.stdout.contains(&format!("+ {TRACE} on tiny/umh-4gpu: event")), "{two:?}");
    // A scenario beside a trace has its own machine.
    let beside = call(&["diff", TRACE, "umh/fig5-a", "--machine", "tiny/umh-2gpu"]);
    assert_eq!(beside.code, Some(1), "{beside:?}");
    for (wrong, wanted) in [
        (&["diff", TRACE, TRACE][..], "is a trace and names no machine"),
        (&["diff", "umh/fig5-a", "umh/fig5-a", "--machine", "tiny/umh-2gpu"], "names its machine"),
        (&[&one[..], &["--machine", "a", "--machine", "b"]].concat(), "more machines than runs"),
    ] {
        let outcome = call(wrong);
        assert!(outcome.code == Some(2) && outcome.stderr.contains(wanted), "{outcome:?}");
    }
}

#[test]
fn it_is_said_where_cores_with_other_numbers_run() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("cores.txt");
    let name = path.to_str().unwrap();
    for (text, told) in [
        ("0 r 1000\n1 w 1040\n", ""),
        ("1 r 1000\n", "the trace's core 1 runs on host.cpu0\n"),
        ("7 r 1000\n3 w 1040\n", "the trace's cores 3, 7 run on host.cpu0 to host.cpu1, in this order\n"),
    ] {
        std::fs::write(&path, text).unwrap();
        let outcome = call(&["run", name, "--machine", "tiny/cpu-2core"]);
        assert_eq!((outcome.code, outcome.stderr.as_str()), (Some(0), told));
    }
}

#[test]
fn a_machine_without_gpus_is_not_told_to_be_given_some() {
    let outcome = call(&["run", "tests/data/accel-sim", "--machine", "tiny/cpu-2core"]);
    assert_eq!(outcome.code, Some(2));
    let told = "this machine has 0\n expected a machine with 1 GPU: another machine\n";
    assert!(outcome.stderr.ends_with(told), "{}", outcome.stderr);
}
