//! Recordings: written by a run, replayed, opened, cut off and broken.

use std::fs;
use std::path::Path;
use std::process::Command;

use super::{call, document};
use crate::common::binary::run;
use crate::common::umscope;

/// A scenario on a machine and a protocol of its own, in `folder`; its path.
fn scenario(folder: &Path) -> String {
    let protocol = fs::read_to_string("configs/protocols/nmoesi.toml").unwrap();
    fs::write(folder.join("mine-protocol.toml"), protocol).unwrap();
    let machine = fs::read_to_string("configs/machines/tiny/umh-2gpu.toml").unwrap();
    assert!(machine.contains("protocol = \"nmoesi\""));
    let machine = machine.replace("protocol = \"nmoesi\"", "protocol = \"mine-protocol\"");
    fs::write(folder.join("mine-machine.toml"), machine).unwrap();
    let path = folder.join("mine.toml");
    let text = r#"
machine = "mine-machine"
[[kernel]]
name = "transpose"
with = { width = 64 }
"#;
    fs::write(&path, text).unwrap();
    path.display().to_string()
}

/// A recording of [`scenario`] in `folder`, whose files are gone; its path.
fn recording(folder: &Path) -> String {
    let scenario = scenario(folder);
    let path = folder.join("mine.rec").display().to_string();
    let done = call(&["run", &scenario, "--record", &path, "--set", "gpu.l1.ways=4", "--seed", "7"]);
    assert_eq!(done.code, Some(0), "{done:?}");
    for name in ["mine.toml", "mine-machine.toml", "mine-protocol.toml"] {
        fs::remove_file(folder.join(name)).unwrap();
    }
    path
}

#[test]
fn a_run_that_its_limit_ended_replays() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("limit.rec").display().to_string();
    // No event falls on the last cycle.
    let done = call(&["run", "umh/fig5-b1", "--max-cycles", "500", "--record", &path]);
    assert_eq!(done.code, Some(1), "{done:?}");
    let told = call(&["replay", &path]);
    assert!(told.code == Some(0) && told.stdout.contains("the same up to event 5 (cycle 225)"), "{told:?}");
    assert_eq!(call(&["diff", &path, &path]).code, Some(0));
    // What is set of a recording it says itself.
    let changed = call(&["diff", &path, "umh/fig5-b1", "--seed", "7"]);
    assert!(changed.code == Some(2) && changed.stderr.contains("is a recording"), "{changed:?}");
}

#[test]
fn a_recording_replays_after_its_files_are_gone() {
    let folder = tempfile::tempdir().unwrap();
    let path = recording(folder.path());
    let told = call(&["replay", &path]);
    assert_eq!(told.code, Some(0), "{told:?}");
    assert!(
        told.stdout.contains(" agree") && told.stdout.ends_with("ended there: finished\n"),
        "{}",
        told.stdout
    );
    let replay = document(&["replay", &path, "--format", "json"]);
    assert_eq!((&replay["complete"], &replay["ended"]), (&true.into(), &"finished".into()), "{replay}");
    assert!(replay["differs"].is_null() && replay["digests"].as_u64() > Some(10), "{replay}");
    // It is a scenario too.
    let run = document(&["run", &path, "--format", "json"]);
    assert_eq!((&run["events"], &run["seed"]), (&replay["event"], &7.into()));
    let log = call(&["log", &path, "--where", "kernel"]);
    assert_eq!((log.code, log.stdout.lines().count()), (Some(0), 2), "{log:?}");
    let frame = call(&["frame", &path, "--at", "900"]);
    assert!(frame.code == Some(0) && frame.stdout.contains("mine.rec"), "{frame:?}");
}

#[test]
fn a_recording_cut_off_anywhere_replays_up_to_there() {
    let folder = tempfile::tempdir().unwrap();
    let path = recording(folder.path());
    let whole = fs::read(&path).unwrap();
    let cut = folder.path().join("cut.rec").display().to_string();
    let mut last = 0;
    let text = String::from_utf8_lossy(&whole);
    let body = text.find("\nbegin #").unwrap() + 30;
    for part in [10, 50, 90, 99] {
        fs::write(&cut, &whole[..body + (whole.len() - body) * part / 100]).unwrap();
        let replay = document(&["replay", &cut, "--format", "json"]);
        assert_eq!((&replay["complete"], &replay["ended"]), (&false.into(), &serde_json::Value::Null));
        let event = replay["event"].as_u64().unwrap();
        assert!(replay["differs"].is_null() && event >= last, "{replay}");
        last = event;
        let told = call(&["replay", &cut]);
        assert!(told.code == Some(0) && told.stdout.contains("the recording was cut off"), "{told:?}");
    }
    assert!(last > 1000, "{last}");
    // Where nothing but the end of the last line is gone, nothing is.
    fs::write(&cut, &whole[..whole.len() - 1]).unwrap();
    let [all, replay] = [&path, &cut].map(|path| document(&["replay", path, "--format", "json"]));
    assert_eq!((&replay["complete"], &replay["ended"]), (&true.into(), &"finished".into()), "{replay}");
    assert_eq!((&replay["event"], &replay["digests"]), (&all["event"], &all["digests"]), "{replay}");
    fs::write(&cut, &whole[..200]).unwrap();
    let refused = call(&["replay", &cut]);
    assert_eq!((refused.code, refused.stdout.as_str()), (Some(2), ""));
    assert!(refused.stderr.contains("cut off at line"), "{}", refused.stderr);
}

#[test]
fn a_changed_recording_is_refused_with_its_line() {
    let folder = tempfile::tempdir().unwrap();
    let path = recording(folder.path());
    let text = fs::read_to_string(&path).unwrap();
    let changed = text.replace("set gpu.l1.ways=4", "set gpu.l1.ways=2");
    assert_ne!(text, changed);
    let line = 1 + changed.lines().position(|line| line.starts_with("set ")).unwrap();
    fs::write(&path, changed).unwrap();
    for command in [&["replay", &path][..], &["run", &path], &["debug", &path, "--no-tui"]] {
        let refused = call(command);
        assert_eq!((refused.code, refused.stdout.as_str()), (Some(2), ""), "{refused:?}");
        assert!(refused.stderr.contains(&format!("mine.rec:{line}:1: this line")), "{}", refused.stderr);
    }
    // Whoever reads it, it is no trace.
    for damaged in ["", "no recording\n", "\n"] {
        fs::write(&path, damaged).unwrap();
        let told = [&["replay", &path][..], &["run", &path], &["debug", &path, "--no-tui"]].map(call);
        let [replayed, ..] = &told;
        assert!(replayed.stderr.contains("recording"), "{}", replayed.stderr);
        assert!(told.iter().all(|one| (one.code, &one.stderr) == (Some(2), &replayed.stderr)), "{told:?}");
    }
}

#[test]
fn a_run_that_ended_badly_opens_where_it_did() {
    let folder = tempfile::tempdir().unwrap();
    let scenario = folder.path().join("bad.toml");
    let text = r#"
machine = "tiny/umh-2gpu"
fault = [{ name = "lose-message", message = "grant" }]
do = [{ by = "gpu0.cu0", load = { address = 0x1000 } }]
"#;
    fs::write(&scenario, text).unwrap();
    let path = folder.path().join("bad.rec").display().to_string();
    let done = call(&["run", scenario.to_str().unwrap(), "--record", &path]);
    assert_eq!(done.code, Some(1), "{done:?}");
    let replay = document(&["replay", &path, "--format", "json"]);
    assert_eq!(replay["ended"], "deadlock");
    let console = run(umscope(), &["debug", &path, "--no-tui"], "info position\n");
    assert!(console.stdout.contains(&format!("event {} ", replay["event"])), "{console:?}");
}

#[test]
fn a_trace_that_has_changed_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let trace = folder.path().join("kernel-1.traceg");
    fs::copy("tests/data/accel-sim/kernel-1.traceg", &trace).unwrap();
    let path = folder.path().join("t.rec").display().to_string();
    let named = trace.display().to_string();
    let done = call(&["run", &named, "--machine", "tiny/umh-1gpu", "--record", &path]);
    assert_eq!(done.code, Some(0), "{done:?}");
    assert_eq!(call(&["replay", &path]).code, Some(0));
    let mut text = fs::read(&trace).unwrap();
    text.push(b'\n');
    fs::write(&trace, text).unwrap();
    let told = call(&["replay", &path]);
    assert_eq!((told.code, told.stdout.as_str()), (Some(1), ""), "{told:?}");
    assert!(told.stderr.contains("bytes now, and had"), "{}", told.stderr);
    assert_eq!(call(&["debug", &path, "--no-tui"]).code, Some(2));
}

#[test]
fn a_recording_that_may_not_grow_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("big.rec").display().to_string();
    let script = "ulimit -f 1; exec \"$0\" run umh/fig5-b1 --record \"$1\"";
    let arguments = ["-c", script, umscope().to_str().unwrap(), &path];
    let outcome = run(Path::new("sh"), &arguments, "");
    assert_eq!((outcome.code, outcome.stdout.as_str()), (Some(2), ""), "{outcome:?}");
    let told = format!("cannot write the recording: {path}: File too large");
    assert!(outcome.stderr.contains(&told), "{outcome:?}");
}

#[test]
fn a_recording_replaces_nothing_but_a_recording() {
    let folder = tempfile::tempdir().unwrap();
    let scenario = scenario(folder.path());
    let before = fs::read_to_string(&scenario).unwrap();
    let refused = call(&["run", &scenario, "--record", &scenario]);
    assert_eq!((refused.code, refused.stdout.as_str()), (Some(2), ""), "{refused:?}");
    assert!(refused.stderr.contains("is read here: it is not replaced"), "{}", refused.stderr);
    assert_eq!(fs::read_to_string(&scenario).unwrap(), before);
    // Before anything else is written, too.
    let [samples, other] =
        ["samples.csv", "other"].map(|name| folder.path().join(name).display().to_string());
    fs::write(&samples, "cycle,event\nkept").unwrap();
    fs::write(&other, "no recording").unwrap();
    let refused = call(&["run", &scenario, "--sample", "9", "--sample-to", &samples, "--record", &other]);
    assert_eq!((refused.code, refused.stdout.as_str()), (Some(2), ""), "{refused:?}");
    assert!(refused.stderr.contains("is there already, and is no recording"), "{}", refused.stderr);
    assert_eq!(
        (&*fs::read_to_string(&samples).unwrap(), &*fs::read_to_string(&other).unwrap()),
        ("cycle,event\nkept", "no recording")
    );
    let path = recording(folder.path());
    let recorded = fs::read(&path).unwrap();
    assert_eq!(call(&["run", &path, "--record", &path]).code, Some(2));
    assert_eq!(fs::read(&path).unwrap(), recorded, "what is read is not written over");
    let changed = call(&["run", &path, "--set", "gpu.l1.ways=1"]);
    assert!(changed.code == Some(2) && changed.stderr.contains("it says itself what is set"), "{changed:?}");
    let limited = call(&["run", &path, "--transaction-limit", "5"]);
    assert!(limited.code == Some(2) && limited.stderr.contains("it says itself what is set"), "{limited:?}");
}

/// A scenario in which a fault leaves a stale copy, among accesses that have no part in it.
fn stale(folder: &Path) -> String {
    let path = folder.join("stale.toml");
    let text = r#"
machine = "tiny/umh-4gpu"
fault = [{ name = "skip-invalidation" }]
do = [
    { id = "a", by = "gpu2.cu0", load = { address = 0x3000 } },
    { id = "b", after = "a", by = "gpu1.cu1", load = { address = 0x1000 } },
    { id = "c", after = "b", by = "gpu3.cu0", store = { address = 0x2000, bytes = "01" } },
    { id = "d", after = "c", by = "gpu2.cu1", load = { address = 0x1000 } },
    { id = "e", after = "d", by = "gpu0.cu0", store = { address = 0x1000, bytes = "09" } },
    { id = "f", after = "e", by = "gpu3.cu0", load = { address = 0x2000 } },
]
"#;
    fs::write(&path, text).unwrap();
    path.display().to_string()
}

#[test]
fn what_another_run_writes_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let (recording, samples) = (path("one.rec"), path("one.csv"));
    let run = |arguments: &[&str]| call(&[&["run", "umh/fig5-b1"], arguments].concat());
    for arguments in [&["--record", &recording][..], &["--sample", "100", "--sample-to", &samples]] {
        assert_eq!(run(arguments).code, Some(0), "{arguments:?}");
        let file = arguments.last().unwrap();
        let before = fs::read(file).unwrap();
        let held = fs::File::options().append(true).open(file).unwrap();
        held.lock().unwrap();
        let refused = run(arguments);
        assert!(
            refused.code == Some(2) && refused.stderr.contains("another run is writing it"),
            "{refused:?}"
        );
        assert_eq!(fs::read(file).unwrap(), before);
        drop(held);
        assert_eq!(run(arguments).code, Some(0), "{arguments:?}");
    }
}

#[test]
fn a_failing_scenario_and_its_recording_shrink_alike() {
    let folder = tempfile::tempdir().unwrap();
    let scenario = stale(folder.path());
    let record = folder.path().join("stale.rec").display().to_string();
    let run = document(&["run", &scenario, "--record", &record, "--format", "json"]);
    assert_eq!(run["ended"], "violation", "{run}");
    let small = folder.path().join("small.toml").display().to_string();
    let done = call(&["shrink", &scenario, "--output", &small]);
    assert_eq!((done.code, done.stdout.as_str()), (Some(0), ""), "{done:?}");
    assert!(done.stderr.contains("of 6 instructions left"), "{}", done.stderr);
    let text = fs::read_to_string(&small).unwrap();
    assert!(text.matches("[[do]]").count() <= 3 && !text.contains("0x2000"), "{text}");
    let again = document(&["run", &small, "--format", "json"]);
    assert_eq!(again["ended"], "violation", "{text}");
    let from_recording = call(&["shrink", &record]);
    let plain = |text: &str| {
        text.lines().filter(|line| !line.contains("shrunk") && !line.starts_with('#')).collect::<String>()
    };
    assert_eq!(plain(&from_recording.stdout), plain(&text));
    let nothing = call(&["shrink", "umh/fig5-a"]);
    assert!(nothing.code == Some(2) && nothing.stderr.contains("does not fail"), "{nothing:?}");
}

#[test]
fn of_the_inputs_that_an_exploration_found_none_stays_that_is_not_needed() {
    let folder = tempfile::tempdir().unwrap();
    let record = folder.path().join("found.rec").display().to_string();
    let found = call(&["explore", "explore/two-l1", "--fault", "skip-invalidation", "--record", &record]);
    assert_eq!(found.code, Some(1), "{found:?}");
    let small = folder.path().join("small.toml").display().to_string();
    let told = call(&["shrink", &record, "--output", &small]).stderr;
    assert!(told.contains(" 0 instructions and 2 inputs of 0 instructions and 8 inputs left"), "{told}");
    let mut table: toml::Table = fs::read_to_string(&small).unwrap().parse().unwrap();
    let inputs = table["input"].as_array().unwrap().clone();
    let ended = |path: &str| document(&["run", path, "--format", "json"])["ended"].clone();
    assert_eq!(ended(&small), "violation");
    for gone in 0..inputs.len() {
        let mut left = inputs.clone();
        left.remove(gone);
        table.insert("input".into(), left.into());
        fs::write(&small, table.to_string()).unwrap();
        assert_ne!(ended(&small), "violation", "{table}");
    }
}

#[test]
fn two_runs_part_where_they_differ() {
    let folder = tempfile::tempdir().unwrap();
    let scenario = stale(folder.path());
    let same = call(&["diff", &scenario, &scenario]);
    assert!(same.code == Some(0) && same.stdout.starts_with("the same: "), "{same:?}");
    let other = folder.path().join("other.toml");
    let text = fs::read_to_string(&scenario).unwrap();
    fs::write(&other, text.replace("fault = [{ name = \"skip-invalidation\" }]", "")).unwrap();
    let other = other.display().to_string();
    let told = call(&["diff", &scenario, &other]);
    assert_eq!(told.code, Some(1), "{told:?}");
    assert!(
        told.stdout.contains("alike, then they part") && told.stdout.contains("what led to it in"),
        "{told:?}"
    );
    let parts = document(&["diff", &scenario, &other, "--format", "json"]);
    assert_eq!(parts["equal"], false);
    let first = |side: &str| parts["parts"][side]["records"][0]["kind"].clone();
    assert!(first("a").is_string() && first("b").is_string(), "{parts}");
    assert!(parts["parts"]["a"]["causes"].as_array().is_some_and(|causes| !causes.is_empty()), "{parts}");
    let wrong = call(&["diff", &scenario, "umh/fig5-zz"]);
    assert_eq!((wrong.code, wrong.stdout.as_str()), (Some(2), ""));
}

#[test]
fn the_console_forks_keeps_and_opens_again() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).display().to_string();
    let (moment, scenario) = (at("kept.rec"), at("kept.toml"));
    let script = format!(
        "goto 20\nfork set network.latency=\"2 us\"\nstep 5\nsave moment {moment}\nsave scenario {scenario}\n\
         info position\nbranches\ndiff\n"
    );
    let console = run(umscope(), &["debug", "umh/fig5-b1", "--no-tui"], &script);
    assert_eq!(console.code, Some(0), "{console:?}");
    let position = console.stdout.lines().find(|line| line.starts_with("event 26 cycle")).unwrap();
    assert!(console.stdout.contains("* 2  set network.latency"), "{}", console.stdout);
    for kept in [&moment, &scenario] {
        let again = run(umscope(), &["debug", kept, "--no-tui"], "info position\nend\n");
        assert_eq!(again.code, Some(0), "{kept}: {again:?}");
        assert!(again.stdout.contains(position), "{kept}: {}", again.stdout);
    }
    let twice = run(umscope(), &["debug", "umh/fig5-b1", "--no-tui"], &format!("save moment {moment}\n"));
    assert!(twice.code == Some(2) && twice.stdout.contains("cannot write this file"), "{twice:?}");
}

#[test]
fn files_beside_a_scenario_in_a_sibling_folder_are_kept_under_their_own_paths() {
    let folder = tempfile::tempdir().unwrap();
    let [own, other] = ["own", "other"].map(|name| folder.path().join(name));
    for path in [&own, &other] {
        fs::create_dir(path).unwrap();
    }
    scenario(&own);
    let inside = |arguments: &[&str]| {
        let mut command = Command::new(umscope());
        let output = command.args(arguments).current_dir(&other).output().unwrap();
        (output.status.code(), String::from_utf8_lossy(&output.stdout).into_owned())
    };
    assert_eq!(inside(&["run", "../own/mine.toml", "--record", "r.rec"]).0, Some(0));
    let text = fs::read_to_string(other.join("r.rec")).unwrap();
    assert!(text.contains("file protocol disk ../own/mine-protocol.toml"), "{text}");
    let (code, told) = inside(&["replay", "r.rec"]);
    assert!(code == Some(0) && told.contains("the same up to event"), "{told}");
}

#[test]
fn the_end_of_chosen_steps_has_one_digest_however_one_comes_there() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).display().to_string();
    let (found, again) = (at("found.rec"), at("again.rec"));
    let explored = call(&["explore", "explore/two-l1", "--fault", "writebacks-wait", "--record", &found]);
    assert_eq!(explored.code, Some(1), "{explored:?}");
    assert_eq!(call(&["run", &found, "--record", &again]).code, Some(1));
    assert_eq!(call(&["replay", &again]).code, Some(0));
    let console = run(
        umscope(),
        &["debug", &found, "--no-tui"],
        "goto 10\nstep\ninfo position\nend\ninfo position\nreverse-step\nstep\ninfo position\n",
    );
    let digests: Vec<&str> = console.stdout.lines().filter(|line| line.contains(" digest ")).collect();
    assert!(digests.len() == 3 && digests.iter().all(|line| *line == digests[0]), "{digests:?}");
}
