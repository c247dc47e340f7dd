//! Sweeps: all points once, whatever happens on the way.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use super::{call, document};
use crate::common::binary::Outcome;
use crate::common::umscope;

/// A folder with a sweep of 24 points in it.
struct Folder(tempfile::TempDir);

const SWEEP: &str = "\
title = \"Points\"
scenario = \"kernels/vector-add-2gpu\"
checks = false
seeds = [3, 1]
[set]
gpu.l1.mshrs = [1, 2, 4]
\"network.bandwidth\" = [\"16 GB/s\", \"8 GB/s\"]
gpu.l1.ways = [1, 2]
";

impl Folder {
    fn new(sweep: &str) -> Self {
        let folder = Self(tempfile::tempdir().unwrap());
        fs::write(folder.path("sweep.toml"), sweep).unwrap();
        folder
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn text(&self, name: &str) -> String {
        self.path(name).to_str().unwrap().to_owned()
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    /// Runs the sweep with these arguments, where `@name` is a file in the folder.
    fn sweep(&self, arguments: &[&str]) -> Outcome {
        let arguments: Vec<String> = arguments
            .iter()
            .map(|argument| {
                argument.strip_prefix('@').map_or_else(|| (*argument).to_owned(), |name| self.text(name))
            })
            .collect();
        let arguments: Vec<&str> =
            ["sweep"].into_iter().chain(arguments.iter().map(String::as_str)).collect();
        call(&arguments)
    }

    /// The whole of the sweep, in one go.
    fn whole(&self) -> String {
        let outcome = self.sweep(&["@sweep.toml", "--to", "@whole.jsonl"]);
        let is_quiet = outcome.stderr.lines().all(|line| line.starts_with("note: "));
        assert!(outcome.code == Some(0) && is_quiet, "{outcome:?}");
        self.read("whole.jsonl")
    }
}

fn rows(text: &str) -> Vec<Value> {
    text.lines().skip(1).map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn the_statistics_that_are_chosen_stand_beside_the_cycles() {
    let folder = Folder::new(&SWEEP.replace("[1, 2, 4]", "[1]").replace("[3, 1]", "[3]"));
    let wrong = folder.sweep(&["@sweep.toml", "--columns", "levels.l2.hit_rates", "--to", "@none.jsonl"]);
    assert_eq!((wrong.code, wrong.stdout.as_str()), (Some(2), ""), "{wrong:?}");
    assert!(wrong.stderr.contains("did you mean levels.l2.hit_rate?"), "{wrong:?}");
    assert!(!folder.path("none.jsonl").exists(), "before the first run");
    // Whether a run has some is told by what it does.
    let columns = ["--columns", "levels.l2.hit_rate,link.*.in.bytes,tasks.nobody.*"];
    let table = folder.sweep(&[&["@sweep.toml"][..], &columns].concat());
    assert_eq!(table.code, Some(0), "{table:?}");
    assert_eq!(table.stderr, "--columns tasks.nobody.* is no statistic of these points\n");
    let heading = table.stdout.lines().find(|line| line.starts_with("point")).unwrap();
    assert!(heading.ends_with(" accesses levels.l2.hit_rate link.host.in.bytes"), "{heading}");
    let widths: Vec<_> = table.stdout.lines().skip(2).map(str::len).collect();
    assert!(widths.len() == 5 && widths.iter().all(|width| *width == heading.len()), "{}", table.stdout);
    let json = folder.sweep(&[&["@sweep.toml", "--format", "json"][..], &columns].concat());
    assert!(json.code == Some(2) && json.stderr.contains("--format text or csv"), "{json:?}");
    let csv = folder.sweep(&[&["@sweep.toml", "--format", "csv"][..], &columns].concat()).stdout;
    let named = csv.lines().next().unwrap().split(',').filter(|name| name.starts_with("stats."));
    assert_eq!(named.collect::<Vec<_>>(), ["stats.levels.l2.hit_rate", "stats.link.host.in.bytes"]);
}

#[test]
fn every_combination_is_run_as_run_runs_it() {
    let folder = Folder::new(SWEEP);
    let whole = folder.whole();
    let rows = rows(&whole);
    assert_eq!(rows.len(), 24);
    let header: Value = serde_json::from_str(whole.lines().next().unwrap()).unwrap();
    let keys: Vec<&Value> = header["points"].as_array().unwrap().iter().map(|point| &point["key"]).collect();
    assert_eq!(keys, rows.iter().map(|row| &row["key"]).collect::<Vec<_>>());
    for row in [&rows[0], &rows[13], &rows[23]] {
        let mut arguments = vec!["run".to_owned(), "kernels/vector-add-2gpu".to_owned()];
        for (key, value) in row["set"].as_object().unwrap() {
            arguments.extend([
                "--set".to_owned(),
                format!("{key}={}", value.as_str().map_or_else(|| value.to_string(), str::to_owned)),
            ]);
        }
        arguments.extend(["--seed".to_owned(), row["seed"].to_string()]);
        arguments.extend(["--checks", "off", "--format", "json"].map(str::to_owned));
        let run = document(&arguments.iter().map(String::as_str).collect::<Vec<_>>());
        for key in ["digest", "cycles", "events", "accesses", "machine", "seed", "passed", "ended", "stats"] {
            assert_eq!(run[key], row[key], "{key} of {arguments:?}");
        }
    }
    assert_eq!((&rows[0]["seed"], &rows[1]["seed"]), (&Value::from(3), &Value::from(1)));
    assert_eq!(rows[1]["set"]["gpu.l1.ways"], 1);
    assert_eq!(rows[2]["set"]["gpu.l1.ways"], 2);
}

#[test]
fn a_sweep_that_is_killed_again_and_again_ends_in_the_same_file() {
    // Long enough that it is seen before it is over.
    let folder =
        Folder::new("scenario = \"long\"\n[set]\ngpu.l1.mshrs = [1, 2, 3, 4]\ngpu.l1.ways = [1, 2, 4]\n");
    let long = fs::read_to_string("tests/data/long.toml").unwrap().replace("10_000_000", "8192");
    fs::write(folder.path("long.toml"), long).unwrap();
    let whole = folder.whole();
    let path = folder.path("part.jsonl");
    for least in [3, 6] {
        let mut child = Command::new(umscope())
            .args(["sweep", &folder.text("sweep.toml"), "--to", path.to_str().unwrap(), "--jobs", "1"])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        while fs::read_to_string(&path).map_or(0, |text| text.matches('\n').count()) < least {
            assert!(child.try_wait().unwrap().is_none(), "it ends too early");
            std::thread::yield_now();
        }
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(fs::read_to_string(&path).unwrap().lines().count() < 13, "it was killed in the middle");
        // As if it had been killed while it wrote.
        let mut file = fs::File::options().append(true).open(&path).unwrap();
        file.write_all(b"{\"accesses\":12").unwrap();
    }
    let outcome = folder.sweep(&["@sweep.toml", "--to", "@part.jsonl"]);
    assert!(
        outcome.code == Some(0) && outcome.stderr.contains(" of 12 points were done already"),
        "{outcome:?}"
    );
    assert_eq!(folder.read("part.jsonl"), whole);
    // Nothing is left to do.
    let outcome = folder.sweep(&["@sweep.toml", "--to", "@part.jsonl"]);
    assert_eq!(outcome.stderr, "12 of 12 points were done already\n");
    assert_eq!(folder.read("part.jsonl"), whole);
}

#[test]
fn a_file_that_is_cut_off_anywhere_is_completed() {
    let folder = Folder::new(&SWEEP.replace("[1, 2, 4]", "2").replace("[3, 1]", "[3]"));
    let whole = folder.whole();
    let starts: Vec<usize> = whole.match_indices('\n').map(|(at, _)| at + 1).collect();
    for cut in [
        0,
        5,
        11,
        starts[0] - 1,
        starts[0],
        starts[0] + 1,
        starts[1] - 1,
        starts[1],
        starts[2] + 500,
        starts[3],
    ] {
        fs::write(folder.path("cut.jsonl"), &whole[..cut]).unwrap();
        let outcome = folder.sweep(&["@sweep.toml", "--to", "@cut.jsonl"]);
        assert_eq!(outcome.code, Some(0), "cut at {cut}: {outcome:?}");
        let torn = cut > 0 && !starts.contains(&cut);
        assert_eq!(outcome.stderr.contains("the last line is torn"), torn, "cut at {cut}: {outcome:?}");
        assert_eq!(folder.read("cut.jsonl"), whole, "cut at {cut}");
    }
}

#[test]
fn shards_put_together_are_the_whole() {
    let folder = Folder::new(SWEEP);
    let whole = folder.whole();
    for shard in ["1/3", "2/3", "3/3"] {
        let to = format!("@{}.jsonl", &shard[..1]);
        let outcome = folder.sweep(&["@sweep.toml", "--shard", shard, "--to", &to]);
        assert_eq!(outcome.code, Some(0), "{outcome:?}");
        assert!(outcome.stdout.starts_with("Points: 8 of 24 points\n"), "{}", outcome.stdout);
    }
    let outcome = folder.sweep(&["--merge", "@3.jsonl", "@1.jsonl", "--to", "@two.jsonl"]);
    assert_eq!((outcome.code, outcome.stderr.lines().count()), (Some(1), 8), "{outcome:?}");
    assert!(outcome.stderr.contains("missing: point 1, kernels/vector-add-2gpu"), "{}", outcome.stderr);
    let outcome = folder.sweep(&["--merge", "@two.jsonl", "@2.jsonl", "@1.jsonl", "--to", "@all.jsonl"]);
    // Of the whole it is told what made no difference.
    assert_eq!(
        (outcome.code, outcome.stderr.matches(" changes nothing: ").count()),
        (Some(0), 2),
        "{outcome:?}"
    );
    assert_eq!(folder.read("all.jsonl"), whole);
    // What is in --to stays there, and without it all files stay as they are.
    let parts = ["1.jsonl", "2.jsonl", "3.jsonl"].map(|name| folder.read(name));
    let shown = folder.sweep(&["--merge", "@1.jsonl", "@2.jsonl", "@3.jsonl"]);
    assert_eq!(["1.jsonl", "2.jsonl", "3.jsonl"].map(|name| folder.read(name)), parts);
    let kept = folder.sweep(&["--merge", "@2.jsonl", "@3.jsonl", "--to", "@1.jsonl"]);
    assert_eq!((kept.code, &kept.stdout), (Some(0), &shown.stdout), "{kept:?}");
    assert_eq!(folder.read("1.jsonl"), whole);
    for format in ["csv", "json", "text"] {
        let merged = folder.sweep(&["--merge", "@all.jsonl", "--format", format]).stdout;
        let run = folder.sweep(&["@sweep.toml", "--to", "@whole.jsonl", "--format", format]).stdout;
        assert_eq!(merged, run);
        assert_eq!(run, folder.sweep(&["@sweep.toml", "--format", format, "--jobs", "3"]).stdout);
    }
}

#[test]
fn a_table_has_a_row_for_each_point_and_a_document_is_one() {
    let folder = Folder::new(SWEEP);
    folder.whole();
    let table = folder.sweep(&["@sweep.toml", "--to", "@whole.jsonl", "--format", "csv"]).stdout;
    let rows: Vec<Vec<&str>> = table.lines().map(|line| line.split(',').collect()).collect();
    assert_eq!(rows.len(), 25);
    assert!(rows.iter().all(|row| row.len() == rows[0].len()));
    let column = |name: &str| rows[0].iter().position(|column| *column == name).unwrap();
    assert_eq!(rows[24][column("set.gpu.l1.mshrs")], "4");
    assert_eq!(rows[24][column("stats.cycles")], rows[24][column("cycles")]);
    let text = folder.sweep(&["@sweep.toml", "--to", "@whole.jsonl", "--format", "json"]).stdout;
    let document: Value = serde_json::from_str(&text).unwrap();
    assert_eq!((&document["count"], &document["missing"]), (&Value::from(24), &Value::Array(Vec::new())));
    assert_eq!(document["points"][23]["point"], 23);
}

/// Lines of results with checks that are right for what they say now.
fn resealed(lines: &str) -> String {
    let sealed = |line: &str| {
        let Some((body, _)) = line.rsplit_once(",\"check\":\"") else { return format!("{line}\n") };
        let byte = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        let hash = body.bytes().chain([b'\n']).fold(0xcbf2_9ce4_8422_2325, byte);
        format!("{body},\"check\":\"{:08x}\"}}\n", (hash ^ hash >> 32) as u32)
    };
    lines.lines().map(sealed).collect()
}

#[test]
fn what_does_not_fit_together_is_refused_and_nothing_is_overwritten() {
    let folder = Folder::new(&SWEEP.replace("[1, 2, 4]", "[1]").replace("[3, 1]", "[3]"));
    let whole = folder.whole();
    let edited = whole.replacen("\"cycles\":", "\"cycles\":1", 1);
    fs::write(folder.path("edited.jsonl"), &edited).unwrap();
    fs::write(folder.path("other.jsonl"), resealed(&edited)).unwrap();
    fs::write(folder.path("out.jsonl"), "precious").unwrap();
    let refused = |arguments: &[&str], message: &str| {
        let outcome = folder.sweep(arguments);
        assert!(outcome.code == Some(2) && outcome.stderr.contains(message), "{arguments:?}: {outcome:?}");
        assert_eq!(outcome.stdout, "");
        assert_eq!(folder.read("out.jsonl"), "precious");
        assert_eq!(folder.read("whole.jsonl"), whole);
    };
    refused(&["--to", "@new.jsonl", "--merge", "@whole.jsonl", "@other.jsonl"], "have different results of");
    refused(
        &["--to", "@new.jsonl", "--merge", "@edited.jsonl"],
        "edited.jsonl:2: this line is not as it was written",
    );
    refused(&["--to", "@out.jsonl", "--merge", "@whole.jsonl"], "out.jsonl:1: this is no file of results");
    refused(&["@sweep.toml", "--to", "@out.jsonl"], "this is no file of results");
    fs::write(folder.path("changed.toml"), folder.read("sweep.toml").replace("[1, 2]", "[1, 4]")).unwrap();
    refused(
        &["@changed.toml", "--to", "@whole.jsonl"],
        "whole.jsonl:3: this is the result of kernels/vector-add-2gpu gpu.l1.mshrs=1 gpu.l1.ways=2 network.bandwidth=16 GB/s seed 3, which is no point now",
    );
    let outcome = folder.sweep(&["@changed.toml", "--to", "@changed.jsonl"]);
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
    refused(
        &["--to", "@new.jsonl", "--merge", "@whole.jsonl", "@changed.jsonl"],
        "are results of different sweeps",
    );
    refused(
        &["--to", "@changed.jsonl", "--merge", "@whole.jsonl"],
        "changed.jsonl has results of something else",
    );
    let mut held = fs::File::options().read(true).write(true).open(folder.path("whole.jsonl")).unwrap();
    held.lock().unwrap();
    refused(&["@sweep.toml", "--to", "@whole.jsonl"], "whole.jsonl is being written by another run");
    held.flush().unwrap();
    drop(held);
    let garbage = whole.replacen("{\"accesses\"", "garbage", 1);
    fs::write(folder.path("garbage.jsonl"), garbage).unwrap();
    refused(
        &["--to", "@new.jsonl", "--merge", "@garbage.jsonl"],
        "garbage.jsonl:2: this is no result of a point",
    );
    refused(&["@sweep.toml", "--to", "@garbage.jsonl"], "garbage.jsonl:2: this is no result of a point");
}

#[test]
fn more_values_keep_what_is_done() {
    let folder = Folder::new(&SWEEP.replace("[1, 2, 4]", "[2]"));
    folder.whole();
    fs::write(folder.path("sweep.toml"), SWEEP).unwrap();
    let outcome = folder.sweep(&["@sweep.toml", "--to", "@whole.jsonl"]);
    assert!(outcome.code == Some(0) && outcome.stderr.starts_with("8 of 24 points"), "{outcome:?}");
    let more = folder.read("whole.jsonl");
    fs::remove_file(folder.path("whole.jsonl")).unwrap();
    assert_eq!(more, folder.whole());
}

#[test]
fn settings_in_another_order_or_spelling_are_the_same_points() {
    let folder = Folder::new(SWEEP);
    folder.whole();
    let ways = "gpu.l1.ways = [1, 2]\n";
    let turned = SWEEP.replace(ways, "").replace("[set]\n", &format!("[set]\n{ways}"));
    let turned = turned.replace("\"8 GB/s\"", "\"8_000 MB/s\"");
    fs::write(folder.path("sweep.toml"), turned).unwrap();
    let outcome = folder.sweep(&["@sweep.toml", "--to", "@whole.jsonl"]);
    assert!(outcome.code == Some(0) && outcome.stderr.starts_with("24 of 24 points"), "{outcome:?}");
}

#[test]
fn shards_that_were_made_in_different_folders_are_of_one_sweep() {
    let folder = Folder::new("trace = 'cores.txt'\nmachine = 'm.toml'\n[set]\nhost.l1.latency = [2, 4]\n");
    fs::write(folder.path("cores.txt"), "0 L 1000\n1 L 2000\n").unwrap();
    fs::copy("configs/machines/tiny/cpu-2core.toml", folder.path("m.toml")).unwrap();
    fs::create_dir(folder.path("below")).unwrap();
    let shard = |number: &str, within: &str, sweep: &str, to: &str| {
        let mut command = Command::new(umscope());
        command.current_dir(folder.path(within)).args(["sweep", sweep, "--shard", number, "--to", to]);
        let done = command.output().unwrap();
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    };
    shard("1/2", ".", "sweep.toml", "a.jsonl");
    shard("2/2", "below", "../sweep.toml", "../b.jsonl");
    let merged = folder.sweep(&["--merge", "@a.jsonl", "@b.jsonl", "--to", "@all.jsonl"]);
    assert_eq!(merged.code, Some(0), "{merged:?}");
    assert_eq!(rows(&folder.read("all.jsonl")).len(), 2);
}

#[test]
fn a_failed_expectation_is_a_value_of_its_row() {
    let scenario = Path::new("tests/data/fails.toml").canonicalize().unwrap();
    let text = format!("scenarios = [{:?}, \"umh/fig5-b1\"]\n", scenario.to_str().unwrap());
    let folder = Folder::new(&text);
    let outcome = folder.sweep(&["@sweep.toml", "--to", "@out.jsonl"]);
    assert!(outcome.code == Some(1) && outcome.stdout.contains("FAILED"), "{outcome:?}");
    let rows = rows(&folder.read("out.jsonl"));
    assert_eq!((&rows[0]["passed"], &rows[1]["passed"]), (&Value::Bool(false), &Value::Bool(true)));
    assert_eq!(rows[0]["failures"].as_array().unwrap().len(), 1);
    assert_eq!(folder.sweep(&["@sweep.toml", "--to", "@out.jsonl"]).code, Some(1));
}

#[test]
fn an_interrupt_keeps_what_is_done() {
    // Ctrl-c, and what others end a process by.
    ["INT", "TERM"].into_iter().for_each(keeps_what_is_done);
}

fn keeps_what_is_done(signal: &str) {
    let long = Path::new("tests/data/long.toml").canonicalize().unwrap();
    let text = format!("scenarios = [\"umh/fig5-b1\", {:?}]\n", long.to_str().unwrap());
    let folder = Folder::new(&text);
    let path = folder.path("out.jsonl");
    let child = Command::new(umscope())
        .args(["sweep", &folder.text("sweep.toml"), "--to", path.to_str().unwrap(), "--jobs", "1"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    while fs::read_to_string(&path).map_or(0, |text| text.lines().count()) < 2 {
        std::thread::yield_now();
    }
    let kill = Command::new("sh").args(["-c", &format!("kill -{signal} {}", child.id())]).status().unwrap();
    assert!(kill.success());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130), "{output:?}");
    assert!(String::from_utf8_lossy(&output.stderr).contains("interrupted: 1 of 2 points"), "{output:?}");
    assert_eq!(rows(&folder.read("out.jsonl")).len(), 1);
}

#[test]
fn a_trace_that_holds_something_else_now_is_another_sweep() {
    let folder = Folder::new("");
    let text = format!(
        "trace = {:?}\nmachine = \"tiny/cpu-2core\"\n[set]\nhost.l1.latency = [4]\n",
        folder.text("cores.txt")
    );
    fs::write(folder.path("sweep.toml"), text).unwrap();
    fs::write(folder.path("cores.txt"), "0 L 1000\n1 L 2000\n").unwrap();
    folder.whole();
    // As many bytes.
    fs::write(folder.path("cores.txt"), "0 L 1000\n1 S 1000\n").unwrap();
    let outcome = folder.sweep(&["@sweep.toml", "--to", "@whole.jsonl"]);
    assert_eq!(outcome.code, Some(2), "{outcome:?}");
}

#[test]
fn a_trace_on_a_machine_can_be_swept() {
    let trace = Path::new("tests/data/accel-sim").canonicalize().unwrap();
    let text = format!(
        "trace = {:?}\nmachine = \"tiny/umh-2gpu\"\n[set]\ngpu.count = [1, 2]\n",
        trace.to_str().unwrap()
    );
    let folder = Folder::new(&text);
    let rows = rows(&folder.whole());
    assert_eq!(rows.len(), 2);
    assert!(rows[0]["accesses"].as_u64().unwrap() > 0 && rows[0]["digest"] != rows[1]["digest"]);
}

#[test]
fn workloads_can_be_swept_over_machines_and_scales() {
    let text = "scenarios = [\"workloads/umh/mt\", \"workloads/umh/rd\"]\n\
                machines = [\"umh-1gpu-nvlink\", \"baseline-zerocopy-1gpu-nvlink\"]\n\
                set.scale = [1024, 4096]\n";
    let folder = Folder::new(text);
    let rows = rows(&folder.whole());
    let told: Vec<String> = rows
        .iter()
        .map(|row| format!("{} {} {}", row["scenario"], row["machine"], row["set"]["scale"]))
        .collect();
    assert_eq!(told.len(), 8);
    assert_eq!(told[2], "\"workloads/umh/mt\" \"baseline-zerocopy-1gpu-nvlink\" 1024");
    assert!(rows[0]["accesses"].as_u64() > rows[1]["accesses"].as_u64(), "{told:?}");
    let alone = document(&[
        "run",
        "workloads/umh/mt",
        "--machine",
        "umh-1gpu-nvlink",
        "--scale",
        "1024",
        "--format",
        "json",
    ]);
    assert_eq!(rows[0]["digest"], alone["digest"]);
}

#[test]
fn what_is_varied_without_effect_is_told() {
    let text = "scenario = \"umh/fig5-b1\"\nseeds = [1, 2]\n[set]\ngpu.l1.mshrs = [4, 5]\n\
                network.latency = [\"250 ns\", \"1 us\"]\n";
    let told = Folder::new(text).sweep(&["@sweep.toml"]);
    let note = |key| format!("note: {key} changes nothing: runs that differ in it alone are the same\n");
    assert_eq!(told.stderr, note("gpu.l1.mshrs") + &note("seed"), "{told:?}");
    // What energy a bit takes shows in nothing but a statistic.
    let energy = "scenario = \"numa/local-phase\"\n[set]\nnetwork.energy = [\"10 pJ/bit\", \"20 pJ/bit\"]\n";
    let counted = Folder::new(energy).sweep(&["@sweep.toml"]);
    assert!(counted.code == Some(0) && counted.stderr.is_empty(), "{counted:?}");
    // A part of the points does not tell.
    let part = Folder::new(text).sweep(&["@sweep.toml", "--shard", "1/2", "--to", "@part.jsonl"]);
    assert!(part.code == Some(0) && part.stderr.is_empty(), "{part:?}");
}

#[test]
fn bad_files_are_told_before_the_first_run() {
    let mut all = String::new();
    for text in [
        "scenario = \"umh/fig5-b1\"\n[set]\ngpu.l1.ways = [1, 2, 0]\n",
        "scenario = \"umh/fig5-b1\"\n[set]\n\"gpu.l1.size\" = [\"1 KiB\", \"1 KiX\"]\n",
        "scenario = \"umh/fig5-b1\"\n[set.gpu]\ncuont = [1, 2]\n",
        "scenario = \"umh/fig5-b1\"\n[set]\ngpu.l1 = { size = [\"1 KiB\", 7] }\n",
        "scenario = \"umh/fig5-b1\"\n[set]\nprotocol = [\"nmoesi\", \"nmosei\"]\n",
        "scenario = \"umh/fig5-b1\"\n[set]\ngpu.count = []\n",
        "scenario = \"umh/fig5-b1\"\n[set]\ngpu.count = [2, 2]\n",
        "scenario = \"umh/fig5-bb\"\n[set]\ngpu.count = [2]\n",
        "scenarios = [\"umh/fig5-b1\", \"umh/fig5-b1\"]\n",
        "scenarios = []\n",
        "[set]\ngpu.count = [2]\n",
        "scenario = \"umh/fig5-b1\"\nseeds = [1, 2, 1]\n",
        "scenario = \"umh/fig5-b1\"\nseeds = [-1]\n",
        "scenario = \"umh/fig5-b1\"\nmax-cycles = 0\nseeds = [1]\n",
        "scenario = \"umh/fig5-b1\"\nsede = [1]\n[set]\n",
        "scenario = \"umh/fig5-b1\"\nmachine = \"tiny/umh-2gpu\"\n",
        "scenario = \"workloads/umh/mt\"\nmachines = [\"umh-1gpu-nvlink\", \"umh-1gpu-nvlnk\"]\n",
        "scenario = \"workloads/umh/mt\"\nmachines = []\n",
        "scenario = \"umh/fig5-b1\"\n[set]\nscale = [2, 3]\n",
        "trace = \"none.txt\"\n[set]\ngpu.count = [2]\n",
        "trace = \"none.txt\"\nmachine = \"tiny/umh-2gpu\"\n[set]\ngpu.count = [2]\n",
        "scenario = [\n",
    ] {
        let folder = Folder::new(text);
        let outcome = folder.sweep(&["@sweep.toml", "--to", "@out.jsonl"]);
        assert_eq!((outcome.code, outcome.stdout.as_str()), (Some(2), ""), "{text}: {outcome:?}");
        assert!(!folder.path("out.jsonl").exists(), "{text}");
        let same = call(&["check", &folder.text("sweep.toml")]);
        // A file that could be anything is told so.
        if !same.stderr.contains("this is no machine") {
            assert_eq!((same.code, &same.stderr), (Some(2), &outcome.stderr));
        }
        all += &outcome.stderr.replace(folder.0.path().to_str().unwrap(), "FOLDER");
        all.push('\n');
    }
    insta::assert_snapshot!(all);
}

#[test]
fn the_bundled_sweep_runs() {
    let outcome = call(&["sweep", "gpus-and-caches", "--format", "csv"]);
    assert_eq!((outcome.code, outcome.stderr.as_str()), (Some(0), ""), "{outcome:?}");
    assert_eq!(outcome.stdout.lines().count(), 9);
}

#[test]
fn protocols_are_swept_over_a_lesson_that_names_states_some_lack() {
    let folder = Folder::new(
        "scenario = \"kernels/reduction\"\nseeds = [1, 2]\n[set]\nprotocol = [\"nmoesi\", \"mesi\", \"msi\"]\n",
    );
    let swept = folder.sweep(&["@sweep.toml", "--format", "csv"]);
    // Under another protocol it does other things than the lesson expects.
    assert_eq!((swept.code, swept.stdout.lines().count()), (Some(1), 7), "{swept:?}");
    let told: Vec<_> = swept.stderr.lines().filter(|line| line.starts_with("in the point")).collect();
    let points = ["mesi", "msi"].map(|name| format!("in the point kernels/reduction protocol={name}:"));
    assert_eq!(told, points, "{swept:?}");
    let checked = call(&["check", &folder.text("sweep.toml")]);
    assert_eq!(checked.code, Some(0), "{checked:?}");
    assert_eq!(checked.stderr.matches("this is left out under another protocol in the point").count(), 2);
}
