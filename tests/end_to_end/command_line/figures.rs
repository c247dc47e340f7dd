//! `umscope figures`: what the papers report, and what comes out here.

use std::fs;
use std::path::Path;
use std::time::Duration;

use serde_json::Value;

use super::{call, document, interrupted};
use crate::common::terminal::Terminal;
use crate::common::umscope;

/// Figures that take no time.
const EXACT: [&str; 5] = ["umh-serial", "umh-sync-bytes", "umh-smd-size", "umh-mask", "sel-filter"];

fn figures(arguments: &[&str]) -> Vec<Value> {
    document(&[&["figures", "--format", "json"], arguments].concat()).as_array().unwrap().clone()
}

#[test]
fn a_figure_is_an_object_of_stable_keys_and_exact_ones_hold() {
    let figures = figures(&EXACT);
    let ids: Vec<_> = figures.iter().map(|figure| figure["id"].as_str().unwrap()).collect();
    assert_eq!(ids, EXACT);
    for figure in &figures {
        let keys: Vec<_> = figure.as_object().unwrap().keys().map(String::as_str).collect();
        assert_eq!(keys.join(" "), "claim holds id note ours paper scale unit");
        assert_eq!(figure["holds"], Value::Bool(true), "{figure}");
        assert_eq!(figure["paper"].as_array().unwrap().len(), figure["ours"].as_array().unwrap().len());
    }
    assert_eq!(figures[1]["ours"], serde_json::json!([32.0, 288.0]));
}

#[test]
fn a_figure_fails_nothing_whether_it_holds_or_not() {
    let outcome = call(&["figures", "umh-mask", "umh-fw", "--quick"]);
    assert_eq!((outcome.code, outcome.stderr.as_str()), (Some(0), ""));
    let verdicts = outcome.stdout.lines().last().unwrap();
    assert!(
        ["2 hold, 0 missed, 0 not measured", "1 hold, 1 missed, 0 not measured"].contains(&verdicts),
        "{verdicts}"
    );
}

#[test]
fn an_interrupt_shows_the_figures_that_what_is_done_suffices_for() {
    let outcome = interrupted(&["figures", "umh-mask", "umh-peer"], Duration::from_millis(1500));
    assert_eq!(outcome.status.code(), Some(130), "{outcome:?}");
    let text = String::from_utf8_lossy(&outcome.stdout);
    assert!(text.contains("umh-mask: ") && text.contains(": a run is missing"), "{text}");
    assert!(text.ends_with("partial: interrupted before all runs were done\n"), "{text}");
}

#[test]
fn runs_are_kept_go_on_and_are_merged_from_shards() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (one, two, all) = (path("one"), path("two"), path("all"));
    let figure = ["figures", "umh-fw", "--quick"];
    for (part, file) in [("1/2", &one), ("2/2", &two)] {
        let outcome = call(&[&figure[..], &["--shard", part, "--to", file]].concat());
        assert_eq!((outcome.code, outcome.stdout.as_str()), (Some(0), ""), "a part shows no figure");
        assert!(outcome.stderr.contains("2 of 4 runs are done"), "{}", outcome.stderr);
    }
    let merged = call(&[&figure[..], &["--to", &all, "--merge", &one, &two]].concat());
    assert!(merged.stderr.contains("4 of 4 runs were done already"), "{}", merged.stderr);
    assert_eq!(merged.stdout, call(&figure).stdout);
    let page = call(&[&figure[..], &["--to", &all, "--format", "markdown"]].concat());
    assert!(page.stdout.contains("### UMH") && page.stdout.contains("| umh-fw |"), "{}", page.stdout);
    // Nothing is run whose result would be kept nowhere, and no shard passes for the whole.
    let half = call(&[&figure[..], &["--merge", &one]].concat());
    assert!(half.code == Some(1) && half.stdout.contains("a run is missing"), "{half:?}");
    assert!(
        half.stderr.contains("2 of 4 runs are done; with --to FILE the others are run"),
        "{}",
        half.stderr
    );
    let halves = call(&[&figure[..], &["--merge", &one, &two]].concat());
    assert_eq!((halves.code, &halves.stdout), (Some(0), &merged.stdout));
    let sweep = call(&["sweep", "--merge", &one]);
    assert!(sweep.code == Some(2) && sweep.stderr.contains("has results of figures"), "{sweep:?}");
    // Torn in the last line: that run is done again, with the same result.
    let whole = fs::read_to_string(&all).unwrap();
    fs::write(&all, &whole[..whole.len() - 20]).unwrap();
    let again = call(&[&figure[..], &["--to", &all]].concat());
    assert!(again.stderr.contains("3 of 4 runs were done already"), "{}", again.stderr);
    assert_eq!(fs::read_to_string(&all).unwrap(), whole);
    // Another figure goes beside it, and what is there stays.
    let other = call(&["figures", "umh-traffic", "--quick", "--to", &all]);
    assert_eq!(other.code, Some(0), "{}", other.stderr);
    let both = call(&[&figure[..], &["umh-traffic", "--to", &all]].concat());
    let (done, runs) = (both.stderr.split(" of ").next(), both.stderr.split(" of ").nth(1));
    assert_eq!(done, runs.and_then(|runs| runs.split(' ').next()), "{}", both.stderr);
    assert!(both.stderr.contains("runs were done already"), "{}", both.stderr);
    let sweep = path("sweep");
    fs::write(&sweep, "{\"sweep\":\"mine\",\"points\":[]}\n").unwrap();
    let wrong = call(&[&figure[..], &["--merge", &sweep]].concat());
    assert!(wrong.code == Some(2) && wrong.stderr.contains("has results of a sweep"), "{}", wrong.stderr);
}

#[test]
fn an_unknown_figure_and_a_folder_that_cannot_be_are_refused_before_anything_runs() {
    let outcome = call(&["figures", "umh-peer", "umh-maks"]);
    assert_eq!((outcome.code, outcome.stdout.as_str()), (Some(2), ""));
    assert!(outcome.stderr.contains("did you mean umh-mask?"), "{}", outcome.stderr);
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    fs::write(&file, "mine").unwrap();
    for wrong in [file.clone(), folder.path().join("none/none")] {
        let outcome = call(&["figures", "umh-peer", "--svg", wrong.to_str().unwrap()]);
        assert_eq!((outcome.code, outcome.stdout.as_str()), (Some(2), ""), "{outcome:?}");
    }
    assert_eq!(fs::read_to_string(&file).unwrap(), "mine");
}

#[test]
fn figures_do_not_depend_on_how_many_run_at_a_time_and_charts_come_with_them() {
    let folder = tempfile::tempdir().unwrap();
    let charts = folder.path().join("charts");
    let once = figures(&["umh-traffic", "--quick", "--jobs", "1", "--svg", charts.to_str().unwrap()]);
    assert_eq!(once, figures(&["umh-traffic", "--quick", "--jobs", "3"]));
    assert!(
        once[0]["holds"].is_boolean() && once[0]["scale"].as_str().unwrap().starts_with("data 1/"),
        "{once:?}"
    );
    let names: Vec<_> = fs::read_dir(&charts).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names, ["umh-traffic.svg"]);
    let chart = fs::read_to_string(charts.join("umh-traffic.svg")).unwrap();
    assert!(chart.starts_with("<svg ") && chart.ends_with("</svg>\n") && chart.contains(">FWT<"));
}

#[test]
fn ctrl_c_writes_no_charts_and_tells_that_the_figures_are_partial() {
    let folder = tempfile::tempdir().unwrap();
    let charts = folder.path().join("charts");
    let arguments = ["figures", "umh-block", "--svg", charts.to_str().unwrap()];
    let mut terminal = Terminal::open((100, 24), Path::new(umscope()), &arguments);
    terminal.wait_for(" runs");
    terminal.send("\x03");
    let status = terminal.wait_for_end();
    assert_eq!((status.exit_code(), status.signal()), (130, None), "{}", terminal.text());
    assert!(!charts.exists() && terminal.text().contains("partial: interrupted"), "{}", terminal.text());
}
