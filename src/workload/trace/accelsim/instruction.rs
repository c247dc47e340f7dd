//! An instruction of a trace as a step of its warp.

use super::super::opcode::Class;
use super::super::step::Step;
use super::super::text::Wrong;
use super::super::warp::{self, WARP};
use super::header::Header;
use super::line::parse;

/// Bytes of each window through which generic addresses reach shared and local memory.
const WINDOW: u64 = 1 << 24;

/// What an instruction line does.
pub fn read(line: &str, header: &Header) -> Result<Step, Wrong> {
    let instruction = parse(line, header.grammar)?;
    // With no lane left it does nothing, a barrier neither.
    let class = if instruction.mask == 0 { Class::Compute } else { instruction.class };
    let (width, addresses, span) = match &instruction.memory {
        Some(memory) => {
            let span = if warp::is_width(memory.width) { &memory.span } else { &memory.width_span };
            (memory.width, memory.addresses.as_slice(), span.clone())
        }
        None => (1, [].as_slice(), 0..line.len()),
    };
    let active = (0..WARP).filter(|lane| instruction.mask >> lane & 1 == 1);
    let lanes = active.zip(addresses.iter().copied());
    let global = lanes.filter(|(_, address)| !in_window(*address, header));
    warp::step(class, width, instruction.pc, global).map_err(|(message, expected)| Wrong {
        span,
        message,
        expected,
    })
}

/// Whether a generic address is one of shared or local memory.
fn in_window(address: u64, header: &Header) -> bool {
    header.windows.iter().flatten().any(|&base| (base..base.saturating_add(WINDOW)).contains(&address))
}

#[cfg(test)]
mod tests {
    use super::super::header::Grammar;
    use super::*;
    use crate::model::access::{AccessKind, AtomicOp};

    fn header() -> Header {
        Header {
            kernel: String::new(),
            grid: [1, 1, 1],
            blocks: 1,
            warps_per_block: 1,
            grammar: Grammar { version: 5, lineinfo: false },
            windows: [Some(0x7000_0000), Some(0x6000_0000)],
        }
    }

    type Touched = (AccessKind, u8, Vec<(u32, u64)>);

    fn touched(line: &str) -> Option<Touched> {
        match read(line, &header()).unwrap() {
            Step::Touch(touch) => {
                let lanes = touch.lanes.iter().map(|(lane, address)| (lane, address.0)).collect();
                Some((touch.kind, touch.width, lanes))
            }
            _ => None,
        }
    }

    #[test]
    fn instructions_become_accesses() {
        let store = touched("d0 00000015 0 STG.E.U8 2 R4 R255 1 2 0x1001 5 7 0").unwrap();
        assert_eq!(store, (AccessKind::NStore, 1, vec![(0, 0x1001), (2, 0x1006), (4, 0x100d)]));
        let load = touched("a0 0000000c 1 R4 LDG.E.64 1 R4 8 1 0x2000 8 0").unwrap();
        assert_eq!(load, (AccessKind::Load, 8, vec![(2, 0x2000), (3, 0x2008)]));
        let add = touched("a0 1 0 RED.E.ADD 1 R4 4 2 0x2000 0").unwrap();
        assert_eq!(add.0, AccessKind::Atomic(AtomicOp::Add));
    }

    #[test]
    fn what_stays_inside_the_sm_computes() {
        for line in [
            "0 ffffffff 1 R1 MOV 0 0 0",
            "0 00000000 1 R7 LDG.E 1 R4 4 1 0x0 0 0",
            "0 ffffffff 1 R12 LDS.U.128 1 R2 16 1 0x0 0 0",
            "0 ffffffff 0 STL.64 2 R1 R4 8 1 0xfffbd0 0 0",
            "0 ffffffff 1 R1 LD.E 1 R4 4 1 0x70000000 4 0",
            "0 00000000 0 BAR.SYNC 0 0 0",
        ] {
            assert_eq!(read(line, &header()).unwrap(), Step::Compute(1), "{line}");
        }
        // Only the lanes that leave the SM are left.
        let mixed = touched("0 3 1 R1 LD.E 1 R4 4 0 0x70ffffff 0x71000000 0").unwrap();
        assert_eq!(mixed.2, [(1, 0x7100_0000)]);
    }

    #[test]
    fn barriers_and_fences_are_kept() {
        assert_eq!(read("0 ffffffff 0 BAR.SYNC 0 0 0", &header()).unwrap(), Step::Barrier);
        let fence = read("0 ffffffff 0 MEMBAR.SC.GPU 0 0 0", &header()).unwrap();
        assert_eq!(fence, Step::Fence);
    }

    #[test]
    fn absurd_accesses_are_refused() {
        assert!(read("0 1 1 R1 LDG.E 1 R4 999 1 0x10 0 0", &header()).is_err());
        assert!(read("0 1 1 R1 LDG.E 1 R4 4 1 0x1fffffffffffd 0 0", &header()).is_err());
    }
}
