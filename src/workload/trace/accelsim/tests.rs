//! Whole traces in memory, right and wrong.

use proptest::prelude::*;

use super::*;
use crate::model::access::AccessKind;
use crate::model::operation::Operation;
use crate::workload::trace::Counts;
use crate::workload::trace::recording::Recorded;
use crate::workload::trace::testing::silent;
use crate::workload::{Kernel, TaskKind};
use std::sync::Arc;

const HEAD: &str = "-kernel name = _Z4testPf\n-kernel id = 1\n-grid dim = (2,1,1)\n-block dim = (33,1,1)\n\
    -shmem base_addr = 0x0000000000000000\n-accelsim tracer version = 5\n-enable lineinfo = 0\n\n#traces format = x\n\n";

const FULL: &str = "warp = 0\ninsts = 4\n0000 ffffffff 1 R1 MOV 0 0 0 \n0010 ffffffff 1 R6 S2R 0 0 0 \n\
    0020 ffffffff 1 R4 LDG.E 1 R4 4 1 0x1000 4 0 \n0030 ffffffff 0 EXIT 0 0 0 \n\n";

fn block(x: u32, second: &str) -> String {
    format!("#BEGIN_TB\n\nthread block = {x},0,0\n\n{FULL}warp = 1\n{second}\n#END_TB\n")
}

fn trace() -> String {
    let second = "insts = 1\n0040 00000001 0 STG.E 2 R4 R9 4 2 0x2000 0\n";
    format!("{HEAD}{}{}", block(0, second), block(1, "insts = 0"))
}

fn recorded(text: impl AsRef<[u8]>) -> Result<Recorded> {
    let mut recording = Recording::new("k.traceg", silent());
    body::read(Lines::of("k.traceg", text.as_ref()), "k", &mut recording)?;
    recording.finish()
}

fn open(text: impl AsRef<[u8]>) -> Result<Arc<dyn Kernel>> {
    let trace = recorded(text)?;
    match &trace.workload.tasks[0].what {
        TaskKind::Kernel(kernel) => Ok(kernel.clone()),
        other => panic!("{other:?}"),
    }
}

fn program(kernel: &Arc<dyn Kernel>, block: u64, warp: u32) -> Vec<Operation> {
    (0..).map_while(|nth| kernel.operation(block, warp, nth)).collect()
}

#[test]
fn each_warp_is_a_program() {
    let kernel = open(trace()).unwrap();
    assert_eq!((kernel.name(), kernel.blocks(), kernel.warps_per_block()), ("_Z4testPf", 2, 2));
    for at in 0..2 {
        let first = program(&kernel, at, 0);
        assert!(matches!(
            first.as_slice(),
            [Operation::Compute(2), Operation::Access(load), Operation::Compute(1)]
                if load.kind == AccessKind::Load && load.lanes.iter().last() == Some((31, crate::model::address::Address(0x107c)))
        ));
    }
    assert!(matches!(
        program(&kernel, 0, 1).as_slice(),
        [Operation::Access(store)] if store.kind == AccessKind::NStore
    ));
    assert!(program(&kernel, 1, 1).is_empty());
    for (block, warp, nth) in [(2, 0, 0), (0, 2, 0), (u64::MAX, u32::MAX, u64::MAX), (0, 0, u64::MAX)] {
        assert_eq!(kernel.operation(block, warp, nth), None);
    }
    assert_eq!(
        recorded(trace()).unwrap().counts,
        Counts { instructions: 9, lane_loads: 64, lane_stores: 1, lane_atomics: 0 }
    );
    let footprint: Vec<_> = kernel.footprint().iter().map(|range| (range.start.0, range.len)).collect();
    assert_eq!(footprint, [(0x1000, 128), (0x2000, 4)]);
}

#[test]
fn a_long_warp_is_found_in_the_middle() {
    let mut body = String::from("insts = 5000\n");
    for nth in 0..5000u64 {
        let line = match nth % 5 {
            4 => format!("{nth:04x} 00000003 0 STG.E 2 R4 R9 4 1 {:#x} 4 0\n\n", nth * 16),
            _ => format!("{nth:04x} ffffffff 1 R1 MOV 0 0 0\n"),
        };
        body.push_str(&line);
    }
    let text = trace().replacen("insts = 0\n", &body, 1);
    let kernel = open(text).unwrap();
    let all = program(&kernel, 1, 1);
    let stores = all.iter().filter(|operation| matches!(operation, Operation::Access(_))).count();
    let cycles: u32 =
        all.iter().map(|it| if let Operation::Compute(cycles) = it { *cycles } else { 0 }).sum();
    assert_eq!((stores, cycles), (1000, 4000));
    // The same from any place, with a cold cache.
    for nth in [all.len() as u64 - 1, 777, 0, 1500] {
        let cold = open(trace().replacen("insts = 0\n", &body, 1)).unwrap();
        assert_eq!(cold.operation(1, 1, nth).as_ref(), all.get(nth as usize));
    }
    assert_eq!(kernel.operation(1, 1, all.len() as u64), None);
}

#[test]
fn mistakes_are_placed_and_explained() {
    let good = trace();
    for (from, to, position, expected) in [
        ("(2,1,1)", "(0,1,1)", (3, 13), "three numbers"),
        ("(2,1,1)", "(4294967295,4294967295,4294967295)", (3, 13), "three numbers"),
        ("(33,1,1)", "(1025,1,1)", (4, 14), "three numbers"),
        ("version = 5", "version = 2", (6, 28), "a version from 3 to 6"),
        ("-grid dim", "-grid dom", (9, 1), "a line `-grid dim"),
        ("thread block = 1", "thread block = 0", (29, 1), "thread block = 1,0,0"),
        ("(2,1,1)", "(3,1,1)", (41, 1), "#BEGIN_TB"),
        ("(2,1,1)", "(1,1,1)", (27, 1), "the end of the file after 1"),
        ("insts = 4", "insts = 5", (22, 1), "instruction 5 of the 5 that line 16 announces"),
        ("insts = 4", "insts = 3", (20, 1), "warp = 1: line 16 says insts = 3"),
        ("insts = 4", "insts = 99999999999999999999", (16, 1), "insts ="),
        ("0x1000 4 0", "0x1000 4 0 0 0", (19, 48), "the end of the line"),
    ] {
        let error = open(good.replacen(from, to, 1)).unwrap_err();
        let told = error.expected.clone().unwrap_or_default();
        assert_eq!(error.position(), Some(position), "{to}: {error:?}");
        assert!(told.starts_with(expected), "{to}: {told}");
    }
}

#[test]
fn a_trace_that_is_cut_off_anywhere_is_refused() {
    let good = trace();
    let end = good.rfind("#END_TB").unwrap() + 7;
    for cut in 0..end {
        assert!(open(&good[..cut]).is_err(), "{cut}");
    }
}

#[test]
fn rubbish_and_endless_lines_are_refused() {
    assert!(open(vec![0xff; 1000]).is_err());
    let mut long = HEAD.as_bytes().to_vec();
    long.extend(vec![b'x'; 1 << 20]);
    let error = open(long).unwrap_err();
    assert_eq!((error.message.as_str(), error.position()), ("the line is too long", Some((11, 1))));
}

proptest! {
    #[test]
    fn no_bytes_panic(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        let _ = open(bytes);
    }

    /// A trace with one piece replaced by another: whatever opens can be read to its end.
    #[test]
    fn no_change_panics(at in 0usize..2000, gone in 0usize..20, new in "[-0-9a-fx #=,RLDG.E\n]{0,12}") {
        let mut bytes = trace().into_bytes();
        let at = at.min(bytes.len());
        let end = (at + gone).min(bytes.len());
        bytes.splice(at..end, new.into_bytes());
        if let Ok(kernel) = open(bytes) {
            for block in 0..kernel.blocks().min(4) {
                for warp in 0..kernel.warps_per_block() {
                    program(&kernel, block, warp);
                }
            }
            prop_assert!(kernel.complaint().is_none());
        }
    }
}
