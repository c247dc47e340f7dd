//! What is said about input that is wrong, word by word, with exit status 2 and nothing on the standard output.

use std::fs;

use super::call;

/// What is said about these arguments.
fn complaint(arguments: &[&str]) -> String {
    let outcome = call(arguments);
    assert_eq!((outcome.code, outcome.stdout.as_str()), (Some(2), ""), "{arguments:?}: {outcome:?}");
    format!("$ umscope {}\n{}", arguments.join(" "), outcome.stderr)
}

#[test]
fn mistyped_names_and_arguments() {
    let all: String = [
        &["rnu"][..],
        &["run"],
        &["run", "configs/machines/umh-1gpu-pcie.toml"],
        &["run", "umh/fg5-b1"],
        &["run", "umh/fig5-b1", "--machine", "tiny/umh-2gpu"],
        &["run", "umh/fig5-b1", "--set", "gpu.l1.szie=\"1 KiB\""],
        &["run", "umh/fig5-b1", "--set", "gpu.l1.size=\"1 KiX\""],
        &["run", "umh/fig5-b1", "--set", "gpu"],
        &["check", "tiny/selective", "--set", "gpu.l1.protocol=mesi"],
        &["check", "selective-naive", "--set", "gpu.l2.protocol=gpu-coherent"],
        &["run", "selective/coherent-sectors", "--set", "gpu.l1.line=64 B"],
        &["run", "baselines/redundant-copies", "--set", "protocol=msi"],
        &["check", "tiny/selective", "--set", "protocol=nmoesi"],
        &["check", "tiny/scalegpu", "--set", "gpu.memory.mask_bytes=4"],
        &["check", "tiny/umh-2gpu", "--set", "protocol=selective-client"],
        &["check", "tiny/umh-2gpu", "--set", "protocol=scale-memory"],
        &["check", "tiny/umh-2gpu", "--set", "protocol=gpu-memory-side"],
        &["check", "tiny/numa-4socket", "--set", "gpu.l2.protocol=gpu-memory-side"],
        &[
            "stress",
            "tiny/umh-1gpu",
            "--set",
            "gpu.l1.protocol=scale-gpu",
            "--set",
            "gpu.l2.protocol=scale-gpu",
        ],
        &["stress", "tiny/umh-2gpu", "--fault", "bogus"],
        &["explore", "explore/two-l1", "--set", "explore.accesses=[\"store 0x1000 01 02\"]"],
        &["explore", "explore/two-l1", "--mutate", "directory write 2 = none"],
        &["run", "numa/local-phase", "--set", "gpu.l1.protocol=mesi"],
        &["check", "numa-4socket", "--set", "gpu.numa.l2=partitioned", "--set", "gpu.l1.ways=1"],
        &["run", "paging/scan", "--set", "gpu.paging.page=2 MiB"],
        &["run", "umh/fig5-b1", "--scale", "2"],
        &["run", "kernels/reduction", "--scale", "3"],
        &["run", "kernels/reduction", "--set", "scale=3"],
        &["run", "kernels/reduction", "--set", "scale=some"],
        &["run", "tests/data/accel-sim", "--machine", "tiny/umh-1gpu", "--scale", "2"],
        &["run", "umh/fig5-b1", "--max-cycles", "many"],
        &["run", "umh/fig5-b1", "--max-cycles", "0"],
        &["run", "umh/fig5-b1", "--seed", "-1"],
        &["log", "umh/fig5-b1", "--where", "probe"],
        &["log", "umh/fig5-b1", "--where", "transition at gpu0.l9"],
        &["log", "umh/fig5-b1", "--where", "state of gpu0.smd0 block 0x1000 is N"],
        &["log", "umh/fig5-b1", "--where", "transition if state of gpu0.smd0 block 0x1000 is N"],
        &["run", "umh/fig5-b1", "--break", "transition at gpu9"],
        &["run", "umh/fig5-b1", "--sample", "10", "--format", "json"],
        &["run", "tests/data/accel-sim"],
        &["run", "tests/data/accel-sim", "--machine", "tiny/umh-2gpx"],
        &["run", "tests/data/accel-sim", "--machine", "tiny/umh-1gpu", "--trace-format", "nvprof"],
        &["run", "src", "--machine", "tiny/umh-1gpu"],
        &["run", "tests/data/traces/snoopie_log_1.csv", "--machine", "tiny/umh-1gpu"],
        &["run", "tests/data/traces/cores_rw.txt", "--machine", "tiny/cpu-2core", "--trace-format", "parsec"],
        &["run", "tests/data/traces/parsec", "--machine", "tiny/cpu-2core", "--trace-format", "snoopie"],
        &["check", "tests/data/packed/lines.xz", "--trace-format", "cores"],
        &["log", "umh/fig5-b1", "--where", "transtion to N"],
        &["export", "umh/fig5-b1"],
        &["export", "umh/fig5-b1", "--format", "uvm-faults"],
        &["export", "baselines/redundant-copies", "--format", "uvm-faults"],
        &["run", "umh/fig5-b1", "--set", "gpu.memory.home=4"],
        &["run", "umh/fig5-b1", "--set", "gpu.numa.sample=3"],
        &["check", "tiny/cpu-2core", "--set", "gpu.l1.ways=2"],
        &["run", "tests/data/accel-sim", "--machine", "tiny/cpu-2core"],
        &["explore", "paging/one-far-fault"],
        &["export", "umh/fig5-b1", "--format", "csv", "--where", "transition at gpu0.l9"],
        &["export", "umh/fig5-b1", "--format", "csv", "--to", "nowhere/a.csv"],
        &["sweep", "gpus-and-cache"],
        &["sweep", "umh/fig5-b1"],
        &["sweep", "scenarios/umh/fig5-b1.toml"],
        &["sweep", "gpus-and-caches", "--shard", "9/8"],
        &["sweep", "gpus-and-caches", "gpus-and-caches"],
        &["sweep", "--to", "nowhere/all.jsonl", "--merge", "tests/data/none.jsonl"],
        &["sweep", "--to", "nowhere/all.jsonl", "--merge", "tests/data/long.toml"],
        &["frame", "umh/fig5-b1", "--size", "0x9"],
        &["log", "umh/fig5-b1", "--from", "100", "--to", "5"],
        &["log", "umh/fig5-b1", "--limit", "0"],
        &["frame", "umh/fig5-b1", "--theme", "defualt"],
        &["frame", "umh/fig5-b1", "--layout", "wraps"],
        &["debug", "umh/fig5-b1"],
        &["debug", "umh/fig5-b1", "--no-tui", "--layout", "warps"],
        &["check", "nmosei"],
        &["check", "tiny/selective-variable", "--set", "protocol=vi"],
        &["explore", "explore/two-l1", "--protocol", "gpu-coherent"],
        &["schema", "machin"],
        &["man", "rnu"],
        &[],
    ]
    .into_iter()
    .map(|arguments| complaint(arguments) + "\n")
    .collect();
    insta::assert_snapshot!(all);
}

#[test]
fn broken_files() {
    let folder = tempfile::tempdir().unwrap();
    let msi = fs::read_to_string("configs/protocols/msi.toml").unwrap();
    let loses =
        msi.replace("writeback > I", "notify > I").replace("store = \"write > M\"", "store = \"hit\"");
    let files: [(&str, &[u8]); 11] = [
        ("unknown-key.toml", b"machine = \"tiny/umh-1gpu\"\ntitel = \"x\"\n"),
        ("no-toml.toml", b"machine = \"tiny/umh-1gpu\"\n[[do]\n"),
        (
            "wrong-query.toml",
            b"machine = \"tiny/umh-1gpu\"\n[[expect]]\nnever = \"transition at gpu0 to Q\"\n",
        ),
        ("wrong-machine.toml", b"machine = \"tiny/umh-9gpu\"\n"),
        ("no-list.toml", b"machine = \"tiny/umh-1gpu\"\nfault = \"no-grant-ack\"\n"),
        ("no-table.toml", b"machine = \"tiny/umh-1gpu\"\nfault = [\"no-grant-ack\"]\n"),
        ("binary.toml", b"\x00\x01\x02"),
        ("empty.toml", b""),
        ("loses-stores.toml", loses.as_bytes()),
        ("zero.toml", b"name = \"z\"\nprotocol = \"nmoesi\"\n[gpu]\ncount = 0\n"),
        (
            "huge.toml",
            b"name = \"z\"\nprotocol = \"nmoesi\"\n[gpu]\nl1 = { size = \"99999999999999 GiB\" }\n",
        ),
    ];
    let mut all = String::new();
    for (name, bytes) in files {
        let path = folder.path().join(name);
        fs::write(&path, bytes).unwrap();
        let path = path.to_str().unwrap();
        for command in ["check", "run"] {
            all += &complaint(&[command, path]);
            all.push('\n');
        }
    }
    insta::assert_snapshot!(all.replace(folder.path().to_str().unwrap(), "FOLDER"));
}

#[test]
fn mistakes_inside_a_scenario_are_pointed_at() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("mine.toml");
    let mistakes = [
        "[explore]\naccesses = [\"load 0x1000 3000\"]\n",
        "[[do]]\nby = \"gpu0.cu0\"\nload = { address = 0x300000000, len = 4 }\n",
        "[[input]]\nevent = 18446744073709551615\nset = \"gpu.l2.ways=1\"\n",
        "[[input]]\nevent = 3\naccess = \"gpu0.cu0 laod 0x1000 4\"\n",
        "[[input]]\nevent = 3\naccess = \"gpu0.cu0 load 0x300000000 4\"\n",
        "[[input]]\nevent = 3\nset = \"gpu.l2.sizze=3\"\n",
        "[[input]]\nevent = 3\nset = \"gpu.l2.ways=1\"\nhold = \"3\"\n",
        "[set]\ngpu.cu.count = 65\n",
        "[set]\ngpu.memory = { home = \"own\", size = \"12 KiB\" }\ngpu.paging.page = \"2 MiB\"\n",
        "[[break]]\non = \"message kind read\"\n",
        "[[break]]\non = \"transition\"\ncommands = [\"info directory\", \"# fine\", \"steep 3\"]\n",
    ];
    let mut all = String::new();
    for mistake in mistakes {
        fs::write(&path, format!("machine = \"tiny/umh-1gpu\"\n{mistake}")).unwrap();
        all += &complaint(&["check", path.to_str().unwrap()]);
        all.push('\n');
    }
    insta::assert_snapshot!(all.replace(folder.path().to_str().unwrap(), "FOLDER"));
}

#[test]
fn a_pipe_or_a_device_is_no_file_whoever_is_asked() {
    for path in ["/dev/zero", "/dev/null"] {
        let on_machine = ["run", path, "--machine", "tiny/umh-1gpu"];
        for arguments in [&["check", path][..], &["run", path], &on_machine] {
            let told = complaint(arguments);
            assert!(told.contains(&format!("\n{path}: this is a pipe or a device, not a file")), "{told}");
        }
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_scenario_whose_name_is_no_text_is_told_as_that() {
    use std::os::unix::ffi::OsStrExt;
    let folder = tempfile::tempdir().unwrap();
    let name = std::ffi::OsStr::from_bytes(b"b\xff.toml");
    fs::copy("scenarios/umh/fig5-b1.toml", folder.path().join(name)).unwrap();
    let outcome = call(&["test", folder.path().to_str().unwrap()]);
    assert_eq!(outcome.code, Some(2), "{outcome:?}");
    assert!(outcome.stderr.contains("/b\u{fffd}.toml: the path of this file is not UTF-8"), "{outcome:?}");
}

#[test]
fn nothing_is_overwritten_by_a_run_that_cannot_start() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("samples.csv");
    fs::write(&path, "precious").unwrap();
    let file = path.to_str().unwrap();
    complaint(&["run", "umh/fg5-b1", "--sample", "10", "--sample-to", file]);
    complaint(&["run", "umh/fig5-b1", "--break", "nonsense is", "--sample", "10", "--sample-to", file]);
    let nowhere = folder.path().join("none/r.rec").display().to_string();
    complaint(&["run", "umh/fig5-b1", "--sample", "10", "--sample-to", file, "--record", &nowhere]);
    assert_eq!(fs::read_to_string(&path).unwrap(), "precious");
}

#[test]
fn states_to_begin_with_that_contradict_each_other_are_pointed_at() {
    let file = tempfile::NamedTempFile::with_suffix(".toml").unwrap();
    let said = |states: &[&str]| {
        let states: Vec<_> =
            states.iter().map(|state| format!("[[state]]\naddress = 0x0\n{state}\n")).collect();
        let states = states.concat();
        let text = format!(
            "machine = \"tiny/m2s-a\"\n{states}[[do]]\nby = \"gpu0.cu0\"\nload = {{ address = 0x400, len = 1 }}\n"
        );
        fs::write(file.path(), text).unwrap();
        let outcome = call(&["run", file.path().to_str().unwrap()]);
        (outcome.code, outcome.stderr)
    };
    let l1 = "node = \"gpu0.cu0.l1\"\nstate = \"E\"";
    let l2 = "node = \"gpu0.l2.0\"\nowner = \"gpu0.cu0\"\nsharers = [\"gpu0.cu0\"]";
    let with_state = format!("{l2}\nstate = \"E\"");
    let host = "node = \"host.hmd0\"\nowner = \"gpu0.l2.0\"\nsharers = [\"gpu0.l2.0\"]";
    assert_eq!(said(&[l1, &with_state, host]).0, Some(0));
    for (states, expected) in [
        (&[l1, l2, host][..], "gpu0.l2.0 has a holder of a block that it does not have"),
        (&[&with_state, host], "gpu0.l2.0 lists gpu0.cu0.l1 as a holder, which holds nothing: block 0x0"),
        (&[l1, &with_state], "gpu0.l2.0 holds block 0x0 in E, but host.hmd0 does not have it"),
    ] {
        let (code, text) = said(states);
        assert!(code == Some(2) && text.contains(expected), "{text}");
    }
}
