//! Traces of `mem_trace`, right and wrong.

use super::super::testing::{example, read_text, refused, streams, told};
use crate::workload::trace::{Counts, Format};

const NAME: &str = "mem_trace.txt";

#[test]
fn each_warp_of_each_launch_is_a_stream() {
    let trace = read_text(NAME, example(NAME), Format::Nvbit).unwrap();
    let tasks = &trace.workload.tasks;
    let ids: Vec<_> = tasks.iter().map(|task| (&*task.id, task.after.clone())).collect();
    assert_eq!(ids, [("launch-0", vec![]), ("launch-1", vec![0])]);
    let add = streams(&tasks[0]);
    assert_eq!(add.iter().map(Vec::len).collect::<Vec<_>>(), [3, 3, 3, 3]);
    // Warp 9 came first in both blocks; the second warp has 16 threads.
    assert!(told(&add[2][2]).starts_with("n-store 4 0@7f00000020c0 1@7f00000020c4 "));
    assert!(told(&add[3][0]).ends_with(" 15@7f000000017c"));
    let count: Vec<_> = streams(&tasks[1])[0].iter().map(told).collect();
    assert_eq!(count[..2], ["Compute(1)", "atomic-add 8 3@7f0000004000 17@7f0000004000"]);
    assert!(count[2].starts_with("n-store 1 0@7f0000005000 5@7f00000050af "), "{}", count[2]);
    let counts = Counts { instructions: 15, lane_loads: 192, lane_stores: 103, lane_atomics: 2 };
    assert_eq!(trace.counts, counts);
}

#[test]
fn mistakes_are_placed_and_explained() {
    let good = example(NAME);
    refused(
        NAME,
        &good,
        Format::Nvbit,
        &[
            ("grid size 2,1,1", "grid size 0,1,1", (4, 147), "product is 1 to"),
            ("block size 48", "block size 4800", (4, 166), "1 to 1024"),
            ("Kernel name", "Kernel nome", (4, 76), "Kernel name"),
            ("CTA 1,0,0", "CTA 2,0,0", (5, 59), "grid of 2,1,1"),
            ("CTA 1,0,0", "CTA 1,0", (5, 59), "CTA and three numbers"),
            ("launch_id 0 - CTA", "launch_id 7 - CTA", (5, 51), "a LAUNCH line"),
            ("warp 4", "warp x", (6, 72), "warp and a number"),
            ("warp 9 - STG", "warp 7 - STG", (13, 72), "one of the 2 warps"),
            ("LDG.E", "ldg.e", (5, 76), "a mnemonic"),
            (" 0x00007f00000000c4", "", (5, 84), "32 addresses"),
            ("0x00007f00000000c4", "0x00007f00000000zz", (5, 103), "32 addresses"),
            ("STG.E.U8 - 0x00007f", "STG.E.U8 - 0xf0007f", (20, 87), "addresses below"),
            ("RED.E.ADD.64", "RED.E.ADD.640", (19, 103), "a width of"),
            ("LDS.64", "UBLKCP", (18, 85), "loads, stores"),
            ("STG.E - ", "STQ.E - ", (13, 76), "one of shared or local memory"),
        ],
    );
}

/// Of each operand in memory the tool prints a line.
#[test]
fn of_a_copy_into_shared_memory_only_the_global_operand_is_loaded() {
    let good = example(NAME);
    let load = good.lines().find(|line| line.contains("LDG.E - ")).unwrap();
    let global = load.replace("LDG.E - ", "LDGSTS.E - ");
    let shared = global.replace("0x00007f00000000", "0x00000000000000");
    let text = good.replacen(load, &format!("{shared}\n{global}\n{shared}\n{global}"), 1);
    let trace = read_text(NAME, &text, Format::Nvbit).unwrap();
    let before = read_text(NAME, &good, Format::Nvbit).unwrap();
    assert_eq!(trace.counts.lane_loads, before.counts.lane_loads + 32);
}

#[test]
fn what_the_program_printed_before_a_line_is_passed_over() {
    let good = example(NAME);
    let line = good.lines().find(|line| line.contains("LDG")).unwrap();
    let text = good.replacen(line, &format!("progress 10 % {line}"), 1);
    let counts = |text: &str| read_text(NAME, text, Format::Nvbit).unwrap().counts;
    assert_eq!(counts(&text), counts(&good));
    let wrong = text.replacen(&format!("10 % {line}"), &format!("10 % {}", line.replace("CTA", "CAT")), 1);
    let error = read_text(NAME, &wrong, Format::Nvbit).unwrap_err();
    let before = good.lines().position(|other| other == line).unwrap() as u32;
    assert_eq!(error.position().map(|(row, _)| row as u32), Some(before + 1));
    assert!(error.position().unwrap().1 as usize > "progress 10 % MEMTRACE: CTX".len(), "{error}");
}

#[test]
fn a_trace_without_a_launch_or_an_address_is_refused() {
    let good = example(NAME);
    let error = read_text(NAME, "NVBit\n\nnothing\n", Format::Nvbit).unwrap_err();
    assert!(error.expected.unwrap().contains("LAUNCH"));
    let cut = good.trim_end().len();
    for cut in [cut - 20, cut - 600, cut - 660] {
        let error = read_text(NAME, &good[..cut], Format::Nvbit).unwrap_err();
        assert_eq!(error.position().map(|it| it.0), Some(20), "{error:?}");
    }
}
