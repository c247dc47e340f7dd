//! Logs, right and wrong.

use super::super::testing::{read_text, refused, streams, told};
use crate::model::address::{Address, Range};
use crate::workload::TaskKind;
use crate::workload::trace::Format;

const NAME: &str = "faults";

fn fault(address: u64, kind: u32, utlb: u32) -> String {
    format!("4,7,100,-;f,{address:x},1606348764141810176,0,{kind},2,1,0,0,0,127,{utlb},0,1,63\n")
}

#[test]
fn faults_of_a_batch_are_lanes_of_an_instruction() {
    let mut text =
        "4,1,90,-;uvm range destroy va_range->node.start, va_range->size: 0x207600000, 2097152\n".to_owned();
    text += "4,2,95,-;s,\n";
    (0..40).for_each(|page| text += &fault(0x7fb1_4400_0000 + page * 4096, 1, 1));
    text += &fault(0x7fb1_4420_0000, 1, 2);
    text += "4,3,99,-;b,\n4,3,99,-;p,7fb144401000\n4,4,99,-;s,\n";
    text += &fault(0x7fb1_4440_0000, 2, 1);
    text += &fault(0x7fb1_4440_1000, 3, 1);
    text += "4,5,99,-;b,\n";
    let trace = read_text(NAME, &text, Format::UvmFaults).unwrap();
    let TaskKind::Kernel(kernel) = &trace.workload.tasks[0].what else { panic!("no kernel") };
    assert_eq!((kernel.blocks(), kernel.only_on()), (2, Some(0)));
    let streams = streams(&trace.workload.tasks[0]);
    let first: Vec<String> = streams[0].iter().map(told).collect();
    let lanes: Vec<_> = first.iter().map(|text| text.matches('@').count()).collect();
    assert_eq!(lanes, [32, 8, 1, 1], "{first:?}");
    assert!(
        first[2].starts_with("n-store 4 0@7fb144400000") && first[3].starts_with("atomic-add"),
        "{first:?}"
    );
    assert_eq!(told(&streams[1][0]), "load 4 0@7fb144200000");
    // Nothing faulted in the range that is freed first.
    assert_eq!(trace.workload.allocated, []);
    let counts = trace.counts;
    assert_eq!((counts.lane_loads, counts.lane_stores, counts.lane_atomics), (41, 1, 1));
}

#[test]
fn a_range_in_which_something_faulted_was_allocated() {
    let freed = |start: &str| {
        format!("4,9,99,-;uvm range destroy va_range->node.start, va_range->size: {start}, 2097152\n")
    };
    let text =
        fault(0x7fb1_4400_1000, 1, 1) + &freed("0x7fb144000000") + &freed("0x7fb144200000") + &freed("far");
    // Nor is a range believed that is larger than any memory.
    let text = text + &freed("0x0").replace("2097152", "140737488355328");
    let trace = read_text(NAME, &text, Format::UvmFaults).unwrap();
    assert_eq!(trace.workload.allocated, [Range::new(Address(0x7fb1_4400_0000), 2 << 20)]);
}

#[test]
fn what_a_kernel_tells_besides_is_passed_over() {
    let text = "4,1,90,-,caller=T1;s,\n SUBSYSTEM=pci\n".to_owned() + &fault(0x1000, 1, 1);
    let text = text + "4,8,101,c;and so on\n";
    let trace = read_text(NAME, &text, Format::UvmFaults).unwrap();
    assert_eq!((trace.counts.lane_loads, super::is_log("6,1,2,c;x")), (1, true));
}

#[test]
fn mistakes_are_placed_and_explained() {
    let good = "4,1,90,-;s,\n".to_owned() + &fault(0x1000, 1, 1);
    refused(
        NAME,
        &good,
        Format::UvmFaults,
        &[
            ("-;s", "-:s", (1, 1), "PRIORITY,NUMBER,MICROSECONDS,-;TEXT"),
            ("f,1000", "f,10g0", (2, 13), "an address in hex digits"),
            (",0,1,2,1,", ",0,9,2,1,", (2, 40), "0 to 4: prefetch"),
            (",1,63", ",1,63,5", (2, 65), "the end of the line"),
        ],
    );
    let empty = read_text(NAME, "4,1,90,-;s,\n4,2,90,-;b,\n", Format::UvmFaults).unwrap_err();
    assert!(empty.message.contains("there is no fault in it"), "{empty}");
}
