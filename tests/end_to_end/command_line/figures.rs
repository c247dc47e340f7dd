//! `umscope figures`: what the papers report, and what comes out here.

use std::fs;
use std::path::Path;

use serde_json::Value;

use super::{call, document};
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
fn what_is_not_measured_has_no_numbers_and_says_why() {
    let figures = figures(&["umh-memcpy", "umh-zerocopy", "umh-sync"]);
    for figure in &figures {
        assert_eq!((&figure["holds"], &figure["scale"]), (&Value::Null, &Value::Null), "{figure}");
        assert_eq!(figure["ours"], Value::Array(Vec::new()));
        assert!(figure["note"].as_str().unwrap().contains("not simulated yet"), "{figure}");
    }
    assert_eq!(figures[2]["paper"], serde_json::json!([13.0, 20.0, 24.0]));
}

#[test]
fn a_missed_figure_is_told_and_fails_nothing() {
    let outcome = call(&["figures", "umh-mask", "umh-order"]);
    assert_eq!((outcome.code, outcome.stderr.as_str()), (Some(0), ""));
    assert!(outcome.stdout.ends_with("1 hold, 0 missed, 1 not measured\n"), "{}", outcome.stdout);
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
        once[0]["holds"].is_boolean() && once[0]["scale"].as_str().unwrap().starts_with("1/"),
        "{once:?}"
    );
    let names: Vec<_> = fs::read_dir(&charts).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names, ["umh-traffic.svg"]);
    let chart = fs::read_to_string(charts.join("umh-traffic.svg")).unwrap();
    assert!(chart.starts_with("<svg ") && chart.ends_with("</svg>\n") && chart.contains(">FWT<"));
}

#[test]
fn ctrl_c_leaves_nothing_behind() {
    let folder = tempfile::tempdir().unwrap();
    let charts = folder.path().join("charts");
    let arguments = ["figures", "umh-block", "--svg", charts.to_str().unwrap()];
    let mut terminal = Terminal::open((100, 24), Path::new(umscope()), &arguments);
    terminal.wait_for(" runs");
    terminal.send("\x03");
    let status = terminal.wait_for_end();
    assert_eq!((status.exit_code(), status.signal()), (130, None), "{}", terminal.text());
    assert!(!charts.exists() && !terminal.text().contains("umh-block"), "{}", terminal.text());
}
