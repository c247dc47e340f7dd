//! Outputs that are closed, full or cut, and samples over time.

use std::fs::File;
use std::process::{Command, Stdio};

use super::call;
use crate::common::umscope;

#[test]
fn a_reader_that_has_seen_enough_ends_nothing_with_noise() {
    for arguments in [
        "list",
        "log umh/fig5-b1",
        "run umh/fig5-b1 --sample 1",
        "man",
        "completions zsh",
        "--help",
        "frame umh/fig5-b1",
        "schema scenario",
        "debug umh/fig5-b1 --no-tui",
        "run umh/fig5-b1 --format json",
        "figures umh-mask",
    ] {
        // Nobody reads any more when it begins to write.
        let script =
            format!("set -o pipefail; (sleep 0.1; {} {arguments} <<< step) | true", umscope().display());
        let output = Command::new("bash").args(["-c", &script]).output().unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr);
        let noise = !stderr.is_empty();
        assert!(!noise && output.status.code() == Some(0), "{arguments}: {output:?}");
    }
}

#[test]
fn samples_that_nobody_reads_end_the_run() {
    // It would take longer than anybody waits.
    let script = format!(
        "set -o pipefail; timeout 60 {} run tests/data/long.toml --sample 10 | head -1",
        umscope().display()
    );
    let output = Command::new("bash").args(["-c", &script]).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert!(String::from_utf8_lossy(&output.stdout).starts_with("cycle,event,"), "{output:?}");
}

#[test]
fn what_is_read_is_not_written_over() {
    let folder = tempfile::tempdir().unwrap();
    let trace = folder.path().join("cores");
    std::fs::write(&trace, "0 L 1000\n").unwrap();
    let name = trace.to_str().unwrap();
    for arguments in [
        vec!["run", name, "--sample", "9", "--sample-to", name],
        vec!["export", name, "--format", "csv", "--to", name],
        vec!["shrink", name, "--output", name],
    ] {
        let outcome = call(&[arguments, vec!["--machine", "tiny/cpu-2core"]].concat());
        assert_eq!(outcome.code, Some(2), "{outcome:?}");
        assert!(outcome.stderr.contains("is read here: it is not replaced"), "{outcome:?}");
    }
    assert_eq!(std::fs::read_to_string(&trace).unwrap(), "0 L 1000\n");
}

/// Also what is not named on the command line: the machine and protocol files of a scenario.
#[test]
fn what_a_scenario_reads_is_not_written_over() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (machine, table, scenario) = (file("machine.toml"), file("table.toml"), file("scenario.toml"));
    std::fs::copy("configs/machines/tiny/umh-2gpu.toml", &machine).unwrap();
    std::fs::copy("configs/protocols/mesi.toml", &table).unwrap();
    let text = "machine = 'machine.toml'\nprotocol = 'table.toml'\n[[do]]\nby = 'gpu0.cu0'\nload = { address = 0 }\n";
    std::fs::write(&scenario, text).unwrap();
    for taken in [&machine, &table] {
        let before = std::fs::read(taken).unwrap();
        for arguments in [
            vec!["run", &scenario, "--sample", "9", "--sample-to", taken],
            vec!["run", &scenario, "--dot", taken],
            vec!["export", &scenario, "--format", "csv", "--to", taken],
            vec!["shrink", &scenario, "--output", taken],
            vec!["stress", &machine, "--protocol", &table, "--failure", taken],
        ] {
            let outcome = call(&arguments);
            assert_eq!(outcome.code, Some(2), "{arguments:?}: {outcome:?}");
            assert!(outcome.stderr.contains("is read here: it is not replaced"), "{outcome:?}");
        }
        assert_eq!(std::fs::read(taken).unwrap(), before);
    }
    // A scenario is found without its ending, too.
    let bare = scenario.strip_suffix(".toml").unwrap();
    for arguments in [
        vec!["run", bare, "--sample", "9", "--sample-to", &scenario],
        vec!["export", bare, "--format", "csv", "--to", &scenario],
        vec!["shrink", bare, "--output", &scenario],
    ] {
        let outcome = call(&arguments);
        assert_eq!(outcome.code, Some(2), "{arguments:?}: {outcome:?}");
    }
    assert_eq!(std::fs::read_to_string(&scenario).unwrap(), text);
}

#[test]
fn what_matches_no_record_is_told() {
    for arguments in [
        vec!["log", "umh/fig5-b1", "--where", "block 1000"],
        vec!["export", "umh/fig5-b1", "--format", "mermaid", "--where", "txn 99"],
    ] {
        let outcome = call(&arguments);
        assert!(outcome.code == Some(0) && outcome.stderr.contains("no record matches"), "{outcome:?}");
    }
    assert!(!call(&["log", "umh/fig5-b1", "--where", "block 0x1000"]).stderr.contains("no record"));
}

/// As the debugger does: a moment is passed whether or not a record is made then.
#[test]
fn a_run_stops_where_the_debugger_would() {
    let run = call(&["run", "umh/fig5-b1", "--break", "cycle 500"]);
    assert!(run.stdout.contains("stopped at event 6, cycle 783"), "{run:?}");
    let arguments = ["debug", "umh/fig5-b1", "--no-tui", "-x", "tbreak cycle 500", "-x", "continue"];
    assert!(call(&arguments).stdout.contains("event 6 cycle 783"));
}

#[test]
fn two_outputs_of_a_run_are_two_files() {
    let folder = tempfile::tempdir().unwrap();
    let one = folder.path().join("one");
    let (name, again) = (one.to_str().unwrap(), format!("{}/./one", folder.path().display()));
    for options in [
        ["--sample", "9", "--sample-to", name, "--record", &again],
        ["--sample", "9", "--dot", name, "--sample-to", &again],
    ] {
        let outcome = call(&[vec!["run", "umh/fig5-b1"], options.to_vec()].concat());
        assert_eq!(outcome.code, Some(2), "{outcome:?}");
        assert!(outcome.stderr.contains("both write to"), "{outcome:?}");
    }
    assert!(!one.exists());
    let nowhere = ["run", "umh/fig5-b1", "--dot", "/dev/null", "--sample", "9", "--sample-to", "/dev/null"];
    assert_eq!(call(&nowhere).code, Some(0));
}

#[test]
fn a_series_has_its_rows_until_the_limit() {
    let rows = |more: &[&str]| {
        let arguments = [&["run", "paging/one-far-fault", "--sample", "5000"], more].concat();
        let outcome = call(&arguments);
        outcome.stdout.lines().skip(1).map(str::to_owned).collect::<Vec<_>>()
    };
    // Nothing happens between cycle 580 and 20,580.
    let (all, some) = (rows(&[]), rows(&["--max-cycles", "18000"]));
    assert_eq!(some.len(), 4, "{some:?}");
    assert_eq!(some[..3], all[..3]);
    assert!(some[3].starts_with("18000,"), "{some:?}");
}

#[test]
fn a_full_disk_is_told() {
    for arguments in [
        "run umh/fig5-b1",
        "--help",
        "help run",
        "run -h",
        "--version",
        "list kernels",
        "check umh/fig5-b1",
        "log umh/fig5-b1",
        "frame umh/fig5-b1",
        "test umh/fig5-b1",
        "schema scenario",
        "completions bash",
        "man",
        "figures umh-mask",
    ] {
        let full = File::options().write(true).open("/dev/full").unwrap();
        let output = Command::new(umscope())
            .args(arguments.split(' '))
            .stdout(Stdio::from(full))
            .stderr(Stdio::piped())
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(2), "{arguments}");
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(stderr.starts_with("error: cannot write the output: "), "{arguments}: {stderr}");
    }
}

#[test]
fn samples_are_rows_of_one_length_with_rising_cycles() {
    let outcome = call(&["run", "umh/fig5-b1", "--sample", "500"]);
    let rows: Vec<Vec<&str>> = outcome.stdout.lines().map(|row| row.split(',').collect()).collect();
    assert_eq!(rows[0][..3], ["cycle", "event", "accesses"]);
    assert!(rows.iter().all(|row| row.len() == rows[0].len()));
    assert_eq!(
        rows[1..].iter().map(|row| row[0]).collect::<Vec<_>>(),
        ["500", "1000", "1500", "2000", "2209"]
    );
    assert_eq!(rows.last().unwrap()[2], "2");
    for column in ["gpu0.smd0.misses", "gpu0.smd0.mshrs_used", "gpu1.warps.memory", "messages.read.count"] {
        assert!(rows[0].contains(&column), "{column}");
    }
    assert_eq!(rows[0].last(), Some(&"link.host.out.interval.utilisation"));
}

#[test]
fn samples_in_a_file_leave_one_document_on_the_standard_output() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("series.csv");
    let file = path.to_str().unwrap();
    let sampled = ["run", "umh/fig5-b1", "--format", "json", "--sample", "500", "--sample-to", file];
    let run: serde_json::Value = serde_json::from_str(&call(&sampled).stdout).unwrap();
    let printed = call(&["run", "umh/fig5-b1", "--sample", "500"]).stdout;
    assert_eq!(std::fs::read_to_string(&path).unwrap(), printed);
    assert_eq!(run["digest"], super::document(&["run", "umh/fig5-b1", "--format", "json"])["digest"]);
}

#[test]
fn a_frame_has_the_size_that_was_asked_for() {
    let outcome = call(&["frame", "umh/fig5-b1", "--at", "1200", "--size", "90x25"]);
    assert_eq!((outcome.code, outcome.stdout.lines().count()), (Some(0), 25), "{outcome:?}");
    assert!(outcome.stdout.contains("gpu1.smd0"), "{}", outcome.stdout);
    // Less than a screen that says something is no screen.
    let small = call(&["frame", "umh/fig5-b1", "--size", "59x16"]);
    assert!(small.code == Some(2) && small.stderr.contains("60x16 to 1000x1000"), "{small:?}");
    let ascii = call(&["frame", "umh/fig5-b1", "--ascii", "--size", "60x16"]);
    assert!(ascii.code == Some(0) && ascii.stdout.is_ascii(), "{ascii:?}");
    for (format, start) in [("svg", "<svg "), ("html", "<!doctype html>")] {
        let picture = call(&["frame", "umh/fig5-b1", "--format", format]);
        assert!(picture.code == Some(0) && picture.stdout.starts_with(start), "{format}");
    }
}
