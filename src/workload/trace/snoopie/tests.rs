//! Logs, right and wrong.

use super::super::testing::{example, read_text, refused, streams, told};
use crate::workload::TaskKind;
use crate::workload::trace::{Counts, Format};

const NAME: &str = "snoopie_log_1.csv";

#[test]
fn each_gpu_runs_what_it_accesses() {
    let trace = read_text(NAME, example(NAME), Format::Snoopie).unwrap();
    let tasks = &trace.workload.tasks;
    let gpus: Vec<_> = tasks
        .iter()
        .map(|task| match &task.what {
            TaskKind::Kernel(kernel) => (kernel.only_on(), kernel.blocks(), task.after.len()),
            _ => (None, 0, 0),
        })
        .collect();
    assert_eq!(gpus, [(Some(1), 2, 0), (Some(0), 2, 0)]);
    let second: Vec<_> = streams(&tasks[0])[1].iter().map(told).collect();
    let store = "n-store 4 0@7fa571b10500 1@7fa571b10504 2@7fa571b10508 3@7fa571b1050c";
    let load = "load 8 0@7fa571b10500 1@7fa571b10508";
    assert_eq!(second, [store, load, store, load]);
    let homes: Vec<u32> = trace.workload.homes.iter().map(|(_, gpu)| *gpu).collect();
    assert_eq!(homes, [0, 0, 1, 1]);
    let counts = Counts { instructions: 16, lane_loads: 16, lane_stores: 32, lane_atomics: 0 };
    assert_eq!(trace.counts, counts);
}

#[test]
fn an_instruction_has_32_lanes_and_no_address_twice() {
    let head = example(NAME).lines().next().unwrap().to_owned();
    let row = |nth: u64| format!("\nSTG.E,{:#x},0,0,1,1,1,1,0x1000,4", 0x1000 + 4 * nth);
    let rows: String = (0..40).chain(32..35).map(row).collect();
    let trace = read_text(NAME, head + &rows, Format::Snoopie).unwrap();
    let stream = &streams(&trace.workload.tasks[0])[0];
    let lanes: Vec<_> = stream.iter().map(|operation| told(operation).matches('@').count()).collect();
    assert_eq!(lanes, [32, 8, 3]);
}

#[test]
fn mistakes_are_placed_and_explained() {
    let good = example(NAME);
    refused(
        NAME,
        &good,
        Format::Snoopie,
        &[
            ("op_code,", "opcode,", (1, 1), "op_code, addr"),
            (", mem_range", "", (1, 1), "mem_range"),
            ("STG.E", "IADD", (2, 1), "STG.E"),
            ("0x00007fa571b10600", "7fa571b10600", (2, 7), "hex digits after 0x"),
            ("0x00007fa571b10600", "0xffffffffffffffff", (2, 7), "below"),
            (",64,1,", ",,1,", (2, 26), "the number of a thread"),
            (",64,1,", ",64,5000,", (2, 29), "the number of the GPU that accesses"),
            (",8\n", ",80\n", (6, 64), "1 to 32"),
            (",4\n", ",4,4\n", (2, 63), "the end of the line"),
            (",0x00007fa571a00000,4\n", "\n", (2, 41), "the address of an object"),
        ],
    );
    let rows = good.lines().next().unwrap();
    let error = read_text(NAME, rows, Format::Snoopie).unwrap_err();
    assert!(error.message.contains("no access"), "{error}");
}
