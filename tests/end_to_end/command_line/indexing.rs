//! A trace that takes long to be indexed: how far it is is shown on a terminal, and ctrl-c ends it.

use std::fs;
use std::path::Path;

use tempfile::TempDir;

use crate::common::terminal::Terminal;
use crate::common::umscope;

/// A folder with a trace of some ten thousand million loads, a scenario of it, and a folder for temporary files.
fn long_trace() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let million = fs::read("tests/data/packed/loads.zst").unwrap();
    fs::write(folder.path().join("trace.zst"), million.repeat(10_000)).unwrap();
    let scenario = "machine = \"tiny/cpu-2core\"\ntrace = \"trace.zst\"\n";
    fs::write(folder.path().join("scenario.toml"), scenario).unwrap();
    fs::create_dir(folder.path().join("temporary")).unwrap();
    folder
}

#[test]
fn ctrl_c_ends_the_indexing_of_a_trace_whatever_it_is_for() {
    let folder = long_trace();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let (trace, scenario) = (path("trace.zst"), path("scenario.toml"));
    let temporary = format!("TMPDIR={}", path("temporary"));
    for arguments in [
        &["run", &trace, "--machine", "tiny/cpu-2core"][..],
        &["log", &scenario],
        &["check", &trace],
        &["frame", &scenario],
        &["debug", &scenario],
        &["debug", &scenario, "--no-tui"],
        &["test", &scenario, "umh/fig5-b1"],
    ] {
        // `env` becomes the program, so signals reach it.
        let env = [&temporary, umscope().to_str().unwrap()];
        let mut terminal = Terminal::open((200, 24), Path::new("env"), &[&env[..], arguments].concat());
        terminal.wait_for(" instructions read");
        terminal.send("\x03");
        let status = terminal.wait_for_end();
        assert_eq!(status.exit_code(), 130, "{arguments:?}: {status:?}\n{}", terminal.text());
        assert_eq!(status.signal(), None, "{arguments:?}");
        assert_eq!(fs::read_dir(path("temporary")).unwrap().count(), 0, "{arguments:?}");
    }
}
