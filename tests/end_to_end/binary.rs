//! The program without a terminal.

use std::path::Path;

use crate::common::binary::run;
use crate::common::umscope;

#[test]
fn the_program_starts() {
    let outcome = run(umscope(), &["--version"], "");
    assert_eq!((outcome.code, outcome.stderr.as_str()), (Some(0), ""));
}

#[test]
fn a_run_tells_what_the_program_did() {
    let outcome = run(Path::new("sh"), &["-c", "cat; echo $TERM >&2; exit 3"], "in\n");
    assert_eq!((outcome.code, outcome.stdout.as_str()), (Some(3), "in\n"));
    assert_eq!(outcome.stderr, "xterm-256color\n");
}
