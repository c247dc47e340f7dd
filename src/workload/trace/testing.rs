//! What tests of all formats do.

use std::fs;
use std::ops::ControlFlow;
use std::path::Path;

use super::{Format, Told, Trace, read};
use crate::diagnostic::{Diagnostic, Result};
use crate::model::operation::Operation;
use crate::workload::{Task, TaskKind};

/// Nobody wants to know.
pub fn silent() -> Told {
    Box::new(|_| ControlFlow::Continue(()))
}

/// Reads `text` from a file of this name.
pub fn read_text(name: &str, text: impl AsRef<[u8]>, format: Format) -> Result<Trace> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    fs::write(&path, text).unwrap();
    read(&path, Some(format), silent())
}

/// A small trace that comes with the tests.
pub fn example(name: &str) -> String {
    fs::read_to_string(Path::new("tests/data/traces").join(name)).unwrap()
}

/// All that a task's warps do (each block's warps in order), or its core.
pub fn streams(task: &Task) -> Vec<Vec<Operation>> {
    match &task.what {
        TaskKind::Program { operations, .. } => {
            vec![(0..).map_while(|nth| operations.at(nth).map(std::borrow::Cow::into_owned)).collect()]
        }
        TaskKind::Kernel(kernel) => {
            let warps = |block| (0..kernel.warps_per_block()).map(move |warp| (block, warp));
            let program = |(block, warp)| (0..).map_while(|nth| kernel.operation(block, warp, nth)).collect();
            (0..kernel.blocks()).flat_map(warps).map(program).collect()
        }
        TaskKind::Flush { .. } => Vec::new(),
    }
}

/// An access as `KIND WIDTH lane@address ...`; anything else as it is.
pub fn told(operation: &Operation) -> String {
    match operation {
        Operation::Access(access) => {
            let lanes = access.lanes.iter().map(|(lane, address)| format!(" {lane}@{:x}", address.0));
            format!("{} {}{}", access.kind.name(), access.width, lanes.collect::<String>())
        }
        other => format!("{other:?}"),
    }
}

/// Each change of `good` is refused at a line and column, with what was expected.
pub fn refused(name: &str, good: &str, format: Format, changes: &[(&str, &str, (usize, usize), &str)]) {
    assert!(read_text(name, good, format).is_ok());
    for (from, to, position, expected) in changes {
        assert!(good.contains(from), "{from}");
        let error: Box<Diagnostic> = read_text(name, good.replacen(from, to, 1), format).unwrap_err();
        let told = error.expected.clone().unwrap_or_default();
        assert_eq!(error.position(), Some(*position), "{from} -> {to}: {error:?}");
        assert!(told.contains(expected), "{from} -> {to}: {told}");
        assert!(error.to_string().contains(name), "{error}");
    }
}
