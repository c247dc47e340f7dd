//! An instruction of a trace as an operation of the machine.

use smallvec::SmallVec;

use super::super::text::Wrong;
use super::header::Header;
use super::line::{Instruction, Memory, parse};
use super::opcode::Class;
use crate::model::access::AccessKind;
use crate::model::address::Address;
use crate::model::operation::{Fence, Operation, StoreValue, WarpAccess};
use crate::workload::lanes;

/// Addresses end below this: GPU virtual addresses have 49 bits (Pascal and later).
pub const ADDRESS_SPACE: u64 = 1 << 49;

/// Widest access of a lane in bytes.
const WIDEST: u64 = 32;

/// Bytes of each window through which generic addresses reach shared and local memory.
const WINDOW: u64 = 1 << 24;

/// The operation of an instruction line; `None` for one that only computes for a cycle.
pub fn read(line: &str, header: &Header) -> Result<Option<Operation>, Wrong> {
    let instruction = parse(line, header.grammar)?;
    if instruction.mask == 0 {
        return Ok(None);
    }
    let kind = match instruction.class {
        Class::Compute | Class::BulkCopy => return Ok(None),
        Class::Barrier => return Ok(Some(Operation::Barrier)),
        Class::Fence => return Ok(Some(Operation::Fence(Fence::Full))),
        Class::Load => AccessKind::Load,
        // A GPU's stores are non-coherent (UMH, section 4.1).
        Class::Store => AccessKind::NStore,
        Class::Atomic(operation) => AccessKind::Atomic(operation),
    };
    let Some(memory) = &instruction.memory else { return Ok(None) };
    access(kind, &instruction, memory, header)
}

fn access(
    kind: AccessKind,
    instruction: &Instruction<'_>,
    memory: &Memory,
    header: &Header,
) -> Result<Option<Operation>, Wrong> {
    let wrong = |message: String, expected: String| Wrong { span: memory.span.clone(), message, expected };
    if memory.width > WIDEST {
        let message = format!("no lane accesses {} B", memory.width);
        return Err(wrong(message, format!("a width of 1 to {WIDEST} B")));
    }
    let mut mask = 0u64;
    let mut global: SmallVec<[Address; 4]> = SmallVec::new();
    let active = (0..32u32).filter(|lane| instruction.mask >> lane & 1 == 1);
    for (lane, &address) in active.zip(&memory.addresses) {
        if in_window(address, header) {
            continue;
        }
        if address.checked_add(memory.width).is_none_or(|end| end > ADDRESS_SPACE) {
            let message = format!("the address {address:#x} is out of reach");
            return Err(wrong(message, format!("addresses below {ADDRESS_SPACE:#x}")));
        }
        mask |= 1 << lane;
        global.push(Address(address));
    }
    if mask == 0 {
        return Ok(None);
    }
    Ok(Some(Operation::Access(WarpAccess {
        kind,
        width: memory.width as u8,
        lanes: lanes::compact(mask, global),
        // The traces hold no values.
        value: StoreValue::Seed(instruction.pc),
        label: None,
    })))
}

/// Whether a generic address is one of shared or local memory.
fn in_window(address: u64, header: &Header) -> bool {
    header.windows.iter().flatten().any(|&base| (base..base.saturating_add(WINDOW)).contains(&address))
}

#[cfg(test)]
mod tests {
    use super::super::header::Grammar;
    use super::*;
    use crate::model::access::AtomicOp;

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
        match read(line, &header()).unwrap()? {
            Operation::Access(access) => {
                let lanes = access.lanes.iter().map(|(lane, address)| (lane, address.0)).collect();
                Some((access.kind, access.width, lanes))
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
            assert_eq!(read(line, &header()).unwrap(), None, "{line}");
        }
        // Only the lanes that leave the SM are left.
        let mixed = touched("0 3 1 R1 LD.E 1 R4 4 0 0x70ffffff 0x71000000 0").unwrap();
        assert_eq!(mixed.2, [(1, 0x7100_0000)]);
    }

    #[test]
    fn barriers_and_fences_are_kept() {
        assert_eq!(read("0 ffffffff 0 BAR.SYNC 0 0 0", &header()).unwrap(), Some(Operation::Barrier));
        let fence = read("0 ffffffff 0 MEMBAR.SC.GPU 0 0 0", &header()).unwrap();
        assert_eq!(fence, Some(Operation::Fence(Fence::Full)));
    }

    #[test]
    fn absurd_accesses_are_refused() {
        assert!(read("0 1 1 R1 LDG.E 1 R4 999 1 0x10 0 0", &header()).is_err());
        assert!(read("0 1 1 R1 LDG.E 1 R4 4 1 0x1fffffffffffd 0 0", &header()).is_err());
    }
}
