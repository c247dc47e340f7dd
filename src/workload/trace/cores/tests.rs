//! Traces of cores, right and wrong.

use std::fs;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::{Arc, Mutex};

use super::super::testing::{example, read_text, refused, silent, streams, told};
use crate::model::operation::{Operation, StoreValue};
use crate::workload::trace::{Counts, Format, Trace, read};
use crate::workload::{Task, TaskKind};

fn agent(task: &Task) -> &str {
    match &task.what {
        TaskKind::Program { agent, .. } => agent,
        _ => "",
    }
}

fn programs(trace: &Trace) -> Vec<(&str, Vec<String>)> {
    let program = |task| (agent(task), streams(task)[0].iter().map(told).collect());
    trace.workload.tasks.iter().map(program).collect()
}

#[test]
fn both_ways_of_naming_loads_and_stores_are_the_same() {
    let [rw, ls] =
        ["cores_rw.txt", "cores_ls.txt"].map(|name| read_text(name, example(name), Format::Cores).unwrap());
    let one = vec!["load 4 0@a1663dc4".to_owned(), "store 4 0@a1663dc8".to_owned()];
    let zero = ["load 4 0@a1663dc0", "store 4 0@100", "load 4 0@104"].map(str::to_owned).to_vec();
    assert_eq!(programs(&rw), [("host.cpu1", one), ("host.cpu0", zero)]);
    assert_eq!(programs(&rw), programs(&ls));
    let counts = Counts { instructions: 5, lane_loads: 3, lane_stores: 2, lane_atomics: 0 };
    assert_eq!((rw.counts, ls.counts), (counts, counts));
}

#[test]
fn cores_run_in_the_order_of_their_numbers_and_store_what_nobody_else_does() {
    let trace = read_text("x", "44 S 0x1003\n12 S 1000\n44 L 1000\n", Format::Cores).unwrap();
    let ids: Vec<_> = trace.workload.tasks.iter().map(|task| (&*task.id, agent(task))).collect();
    assert_eq!(ids, [("core-44", "host.cpu1"), ("core-12", "host.cpu0")]);
    // The word around the address.
    assert_eq!(told(&streams(&trace.workload.tasks[0])[0][0]), "store 4 0@1000");
    let values = trace.workload.tasks.iter().map(|task| match &streams(task)[0][0] {
        Operation::Access(access) => access.value.clone(),
        other => panic!("{other:?}"),
    });
    assert_eq!(values.collect::<Vec<_>>(), [StoreValue::Seed(1), StoreValue::Seed(2)]);
}

#[test]
fn a_folder_holds_a_file_for_each_core() {
    let trace = read(Path::new("tests/data/traces/parsec"), None, silent()).unwrap();
    let first = ["load 4 0@7fe891b0", "Compute(41)", "store 4 0@7fe89198", "load 4 0@7fe891b0"];
    let second = ["Compute(3)", "store 4 0@7fe891b4", "load 4 0@7fe89198"];
    let programs = programs(&trace);
    assert_eq!(programs[0], ("host.cpu0", first.map(str::to_owned).to_vec()));
    assert_eq!(programs[1], ("host.cpu1", second.map(str::to_owned).to_vec()));
    let counts = Counts { instructions: 49, lane_loads: 3, lane_stores: 2, lane_atomics: 0 };
    assert_eq!((trace.format, trace.counts), (Format::Parsec, counts));
}

#[test]
fn a_folder_with_two_runs_is_refused() {
    for second in ["other_1.data", "tiny_0.data.xz", "tiny_00.data"] {
        let folder = tempfile::tempdir().unwrap();
        for name in ["tiny_0.data", second] {
            fs::write(folder.path().join(name), "0 0x10\n").unwrap();
        }
        let error = read(folder.path(), None, silent()).unwrap_err();
        assert!(error.message.contains("not of one run") && error.message.contains(second), "{error}");
    }
}

#[test]
fn mistakes_are_placed_and_explained() {
    refused(
        "cores.txt",
        &example("cores_rw.txt"),
        Format::Cores,
        &[
            ("0 r", "x r", (2, 1), "the number of a core"),
            ("0 r", "-1 r", (2, 1), "the number of a core"),
            ("1 w", "1 x", (3, 3), "r or L for a load"),
            ("0 w 100", "0 w 10g", (4, 5), "an address in hex digits"),
            ("0 w 100", "0 w", (4, 4), "an address in hex digits"),
            ("0 w 100", "0 w ffffffffffffffff", (4, 5), "below 0x2000000000000"),
            ("0 w 100", "0 w 100 4", (4, 9), "the end of the line"),
        ],
    );
    refused(
        "tiny_0.data",
        &example("parsec/tiny_0.data"),
        Format::Parsec,
        &[
            ("2 0x29", "3 0x29", (2, 1), "0 for a load"),
            ("2 0x29", "2 29", (2, 3), "a number of cycles"),
            ("2 0x29", "2 0x100000000", (2, 3), "below 2^32"),
            ("1 0x7fe89198", "1 7fe89198", (3, 3), "after 0x"),
            ("1 0x7fe89198", "1", (3, 2), "after 0x"),
            ("1 0x7fe89198", "1 0x7fe89198 0", (3, 14), "the end of the line"),
        ],
    );
    assert!(read_text("empty", "\n\n", Format::Cores).unwrap_err().message.contains("no access"));
}

#[test]
fn how_far_it_is_is_told_now_and_then_and_may_break_it_off() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x_0.data");
    fs::write(&path, "2 0x9000\n".repeat(10)).unwrap();
    let told: Arc<Mutex<Vec<u64>>> = Arc::default();
    let tell = |until: u64| {
        let told = told.clone();
        let tell = move |read| {
            told.lock().unwrap().push(read);
            if read < until { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        };
        read(&path, None, Box::new(tell))
    };
    tell(u64::MAX).unwrap();
    assert_eq!(std::mem::take(&mut *told.lock().unwrap()), [2, 4, 6, 8, 10].map(|lines| lines * 0x9000));
    let error = tell(4 * 0x9000).unwrap_err();
    assert!(error.message.contains("interrupted"), "{error}");
    assert_eq!(*told.lock().unwrap(), [2, 4].map(|lines| lines * 0x9000));
}
