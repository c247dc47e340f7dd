//! What a SASS instruction is to the memory system.

use crate::model::access::AtomicOp;

/// The kind of an instruction, told from its mnemonic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// Nothing that leaves the SM: arithmetic, control, shared and local memory, constants, textures.
    Compute,
    Load,
    Store,
    Atomic(AtomicOp),
    Barrier,
    Fence,
    /// Bulk copies of the tensor memory accelerator: their operands are not read.
    BulkCopy,
}

/// What the mnemonics of instructions begin with whose addresses are not those of global memory, or which move nothing there: shared
/// memory, also of other SMs of a cluster, with its barriers, local memory, constants, attributes, tensor memory, textures, surfaces, and hints for caches.
const OTHERS: [&str; 17] = [
    "LDS", "STS", "ATOMS", "LDL", "STL", "LDC", "ALD", "AST", "LDT", "STT", "T", "SU", "CCTL", "QSPC",
    "SYNCS", "STAS", "REDAS",
];

/// Whether an instruction that has addresses is of no kind that is known here.
pub fn is_unknown(opcode: &str) -> bool {
    let base = opcode.split('.').next().unwrap_or_default();
    classify(opcode) == Class::Compute && !OTHERS.iter().any(|known| base.starts_with(known))
}

/// Why an instruction of no known kind is refused, and what was expected instead.
pub fn unknown(opcode: &str) -> (String, String) {
    let base = opcode.split('.').next().unwrap_or_default();
    let message = format!("{base} has addresses, and is no memory instruction that is known here");
    (message, "LDG, LD, STG, ST, LDGSTS, ATOM, ATOMG, RED, REDG, or one of shared or local memory".to_owned())
}

const BULK: [&str; 7] = ["UTMALDG", "UTMASTG", "UTMAPF", "UTMAREDG", "UBLKCP", "UBLKPF", "UBLKRED"];

/// The class of a full mnemonic such as `LDG.E.64`.
///
/// An atomic whose operation has no counterpart here counts as an addition: the traces hold no values anyway.
pub fn classify(opcode: &str) -> Class {
    let mut parts = opcode.split('.');
    match parts.next().unwrap_or_default() {
        "LDG" | "LD" | "LDGSTS" => Class::Load,
        "STG" | "ST" => Class::Store,
        "ATOM" | "ATOMG" | "RED" | "REDG" => {
            let operation = parts.find_map(|part| match part {
                "ADD" => Some(AtomicOp::Add),
                "EXCH" => Some(AtomicOp::Exchange),
                "MAX" => Some(AtomicOp::Max),
                "CAS" => Some(AtomicOp::CompareZeroSwap),
                _ => None,
            });
            Class::Atomic(operation.unwrap_or(AtomicOp::Add))
        }
        // An arrival does not wait.
        "BAR" if !opcode.contains(".ARV") => Class::Barrier,
        "MEMBAR" => Class::Fence,
        base if BULK.iter().any(|bulk| base.contains(bulk)) => Class::BulkCopy,
        _ => Class::Compute,
    }
}

/// Bytes that each lane accesses, as the tracers tell it from the mnemonic: its first part that is a number of bits,
/// with or without U before it; 4 if there is none.
pub fn width(opcode: &str) -> u64 {
    let bits = |part: &str| {
        let digits = part.strip_prefix('U').unwrap_or(part);
        let all = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
        all.then(|| digits.parse::<u64>().unwrap_or(u64::MAX))
    };
    opcode.split('.').find_map(bits).map_or(4, |bits| bits / 8)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_width_is_in_the_mnemonic() {
        let wide = ["LDG.E", "LDG.E.64", "STG.E.U8", "LDS.U.128", "STG.E.S16", "LDG.E.99999999999999999999"];
        assert_eq!(wide.map(width), [4, 8, 1, 16, 4, u64::MAX / 8]);
    }

    #[test]
    fn what_has_addresses_is_of_a_known_kind_or_not() {
        for opcode in ["XYZ.E", "STQ.E", "LXG"] {
            assert!(is_unknown(opcode), "{opcode}");
        }
        for opcode in [
            "LDG.E",
            "LDS.U.128",
            "STL",
            "TEX.SCR",
            "SULD.D.2D",
            "LDC.64",
            "CCTL.IVALL",
            "ATOMS.ADD",
            "SYNCS.EXCH.64",
            "STAS.64",
            "REDAS.ADD",
        ] {
            assert!(!is_unknown(opcode), "{opcode}");
        }
    }

    #[test]
    fn mnemonics_are_told_apart() {
        for (opcode, class) in [
            ("LDG.E.64", Class::Load),
            ("LD.E", Class::Load),
            ("LDGSTS.E.BYPASS.128", Class::Load),
            ("LDGDEPBAR", Class::Compute),
            ("LDS.U.128", Class::Compute),
            ("LDL", Class::Compute),
            ("STL.64", Class::Compute),
            ("STG.E.U8", Class::Store),
            ("RED.E.ADD.F32.FTZ.RN.STRONG.GPU", Class::Atomic(AtomicOp::Add)),
            ("ATOMG.E.EXCH", Class::Atomic(AtomicOp::Exchange)),
            ("ATOMG.E.CAS.64", Class::Atomic(AtomicOp::CompareZeroSwap)),
            ("RED.E.MIN", Class::Atomic(AtomicOp::Add)),
            ("ATOMS.ADD", Class::Compute),
            ("BAR.SYNC.DEFER_BLOCKING", Class::Barrier),
            ("BAR.ARV", Class::Compute),
            ("MEMBAR.SC.GPU", Class::Fence),
            ("UBLKCP.S.G", Class::BulkCopy),
            ("EXIT", Class::Compute),
            ("", Class::Compute),
        ] {
            assert_eq!(classify(opcode), class, "{opcode}");
        }
    }
}
