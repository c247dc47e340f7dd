//! One instruction line: `[line] PC mask ndst {reg} opcode nsrc {reg} [gmma] mem [imm [imm2]] [vals]`.

use std::ops::Range;

use smallvec::SmallVec;

use super::super::opcode::{Class, classify, is_unknown, unknown};
use super::super::text::Wrong;
use super::super::warp::bulk_copy;
use super::super::words::{Parsed, Words, address, hexadecimal};
use super::header::Grammar;

/// Most registers that an instruction names on either side (the tracers write up to 1 and 4).
const MOST_REGISTERS: u64 = 16;

/// An instruction of a warp.
#[derive(Debug, PartialEq, Eq)]
pub struct Instruction<'a> {
    /// Bytes from the start of the kernel.
    pub pc: u64,
    /// Bit n: lane n is active and its predicate holds.
    pub mask: u32,
    pub opcode: &'a str,
    pub class: Class,
    pub memory: Option<Memory>,
}

/// Its memory operand.
#[derive(Debug, PartialEq, Eq)]
pub struct Memory {
    /// Bytes per lane.
    pub width: u64,
    /// One for each set bit of the mask, from the lowest.
    pub addresses: SmallVec<[u64; 32]>,
    /// Where the width and the addresses are in the line.
    pub width_span: Range<usize>,
    pub span: Range<usize>,
}

impl Words<'_> {
    fn registers(&mut self, expected: &str) -> Parsed<()> {
        let count =
            self.take(expected, |word| word.parse().ok().filter(|count: &u64| *count <= MOST_REGISTERS))?;
        for _ in 0..count {
            self.take("a register such as R4", |word| {
                word.starts_with(|c: char| c.is_ascii_uppercase()).then_some(())
            })?;
        }
        Ok(())
    }
}

/// Reads one line.
pub fn parse(line: &str, grammar: Grammar) -> Parsed<Instruction<'_>> {
    let mut words = Words::new(line);
    if grammar.lineinfo {
        words.take("the number of a source line", |word| word.parse::<u64>().ok())?;
    }
    let pc = words.take("a program counter in hex digits", hexadecimal)?;
    let mask = words.take("a mask of 8 hex digits", |word| u32::try_from(hexadecimal(word)?).ok())?;
    words.registers("how many destination registers follow")?;
    let opcode = words.take("a mnemonic such as LDG.E", |word| {
        word.starts_with(|c: char| c.is_ascii_uppercase()).then_some(word)
    })?;
    let class = classify(opcode);
    if class == Class::BulkCopy {
        let (message, expected) = bulk_copy();
        return Err(Wrong { span: words.at.saturating_sub(opcode.len())..words.at, message, expected });
    }
    words.registers("how many source registers follow")?;
    if grammar.version >= 6 && opcode.contains("GMMA") {
        words.take("a number", |word| word.parse::<i64>().ok())?;
    }
    let opcode_end = words.at;
    let memory = memory(&mut words, mask)?;
    if memory.is_some() && is_unknown(opcode) {
        let (message, expected) = unknown(opcode);
        let start = line.find(opcode).unwrap_or(opcode_end);
        return Err(Wrong { span: start..start + opcode.len(), message, expected });
    }
    let accesses = matches!(class, Class::Load | Class::Store | Class::Atomic(_));
    if accesses && memory.is_none() && mask != 0 {
        return Err(Wrong {
            span: opcode_end..words.at,
            message: format!("{opcode} accesses no bytes"),
            expected: "the width of the access, and an address for each set bit of the mask".to_owned(),
        });
    }
    rest(&mut words, grammar.version)?;
    Ok(Instruction { pc, mask, opcode, class, memory })
}

/// `0`, or width, mode and addresses.
fn memory(words: &mut Words<'_>, mask: u32) -> Parsed<Option<Memory>> {
    let before = words.peek().map_or(words.line.len(), |(span, _)| span.start);
    let width: u64 = words.take("the width of the access in bytes, or 0", |word| word.parse().ok())?;
    let width_end = words.at;
    if width == 0 {
        return Ok(None);
    }
    let mode = words.take("0, 1 or 2 (how the addresses are written)", |word| match word {
        "0" | "1" | "2" => Some(word),
        _ => None,
    })?;
    let start = words.peek().map_or(words.line.len(), |(span, _)| span.start);
    let addresses = match mode {
        "0" => listed(words, mask)?,
        "1" => strided(words, mask)?,
        _ => deltas(words, mask)?,
    };
    let width_span = before..width_end;
    Ok(Some(Memory { width, addresses, width_span, span: start..words.at }))
}

/// An address for each lane.
fn listed(words: &mut Words<'_>, mask: u32) -> Parsed<SmallVec<[u64; 32]>> {
    (0..mask.count_ones()).map(|_| words.take("an address for each set bit of the mask", address)).collect()
}

/// The first address and the step to the next, for one run of lanes.
fn strided(words: &mut Words<'_>, mask: u32) -> Parsed<SmallVec<[u64; 32]>> {
    let base = words.take("the address of the first lane", address)?;
    let begin = words.peek().map_or(words.line.len(), |(span, _)| span.start);
    let stride = words.take("the step from lane to lane", |word| word.parse::<i64>().ok())?;
    let run = mask.checked_shr(mask.trailing_zeros()).unwrap_or(0);
    let wrong = |message: &str, expected: &str| Wrong {
        span: begin..words.at,
        message: message.to_owned(),
        expected: expected.to_owned(),
    };
    if run & run.wrapping_add(1) != 0 {
        return Err(wrong(
            "a step needs neighbouring lanes",
            "a mask with one run of set bits, or another mode",
        ));
    }
    let mut next = Some(base);
    let mut addresses = SmallVec::new();
    for _ in 0..mask.count_ones() {
        let Some(address) = next else {
            return Err(wrong(
                "the addresses leave the address space",
                "a step that keeps all lanes inside it",
            ));
        };
        addresses.push(address);
        next = address.checked_add_signed(stride);
    }
    Ok(addresses)
}

/// The first address, then the step to each further lane from the one before it.
fn deltas(words: &mut Words<'_>, mask: u32) -> Parsed<SmallVec<[u64; 32]>> {
    let mut address = words.take("the address of the first lane", address)?;
    let mut addresses = SmallVec::new();
    if mask != 0 {
        addresses.push(address);
    }
    for _ in 1..mask.count_ones() {
        address = words.take("a step inside the address space for each further lane", |word| {
            address.checked_add_signed(word.parse().ok()?)
        })?;
        addresses.push(address);
    }
    Ok(addresses)
}

/// What follows the memory operand: immediates from version 5, values from version 6.
fn rest(words: &mut Words<'_>, version: u32) -> Parsed<()> {
    // Some builds of version 5 already wrote two immediates.
    for nth in 0..if version >= 5 { 2 } else { 0 } {
        let is_over = |word: &str| version >= 6 && (word == "NoVal" || word == "Val");
        if nth > 0 && words.peek().is_none_or(|(_, word)| is_over(word)) {
            break;
        }
        words.take("an immediate, a decimal number", |word| word.parse::<i64>().ok())?;
    }
    if version >= 6 {
        let valued = words.take("NoVal, or Val and the values of the registers", |word| match word {
            "NoVal" => Some(false),
            "Val" => Some(true),
            _ => None,
        })?;
        while valued && words.peek().is_some() {
            words.take("the value of a register in hex digits", |word| {
                hexadecimal(word.strip_prefix("0x").unwrap_or(word))
            })?;
        }
    }
    words.end()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str, version: u32) -> Parsed<Instruction<'_>> {
        parse(line, Grammar { version, lineinfo: false })
    }

    fn addresses(line: &str, version: u32) -> Vec<u64> {
        read(line, version).unwrap().memory.unwrap().addresses.to_vec()
    }

    #[test]
    fn the_three_modes_give_each_active_lane_its_address() {
        let strided = addresses("00a0 0000000e 1 R4 LDG.E 1 R4 4 1 0x7fb0fc430e00 -8 0 ", 5);
        assert_eq!(strided, [0x7fb0_fc43_0e00, 0x7fb0_fc43_0df8, 0x7fb0_fc43_0df0]);
        let deltas = addresses("00d0 00000115 0 STG.E.U8 2 R4 R255 1 2 0x1001 5 -2 7", 3);
        assert_eq!(deltas, [0x1001, 0x1006, 0x1004, 0x100b]);
        assert_eq!(addresses("00d0 00000001 0 STG.E.U8 2 R4 R255 1 2 0x1001", 3), [0x1001]);
        assert_eq!(addresses("10 80000001 0 STG.E 2 R4 R255 4 0 0x10 0x8", 4), [0x10, 8]);
        assert_eq!(addresses("01f0 00000000 1 R7 LDG.E 1 R4 4 1 0x0 0", 3), Vec::<u64>::new());
    }

    #[test]
    fn what_follows_the_operand_depends_on_the_version() {
        assert!(read("0 ffffffff 1 R1 VIADD 1 R1 0 -264", 5).is_ok());
        assert!(read("0 ffffffff 1 R1 VIADD 1 R1 0 -264 7", 5).is_ok());
        assert!(read("0 ffffffff 1 R1 MOV 0 0", 3).is_ok());
        assert!(read("0 ffffffff 1 R1 MOV 0 0 0", 3).is_err());
        assert!(read("0 ffffffff 1 R1 MOV 0 0 0 0 NoVal", 6).is_ok());
        assert!(read("0 ffffffff 1 R1 MOV 1 UR4 0 0 Val 1 ff 1 0x3", 6).is_ok());
        assert!(read("0 ffffffff 1 R24 HGMMA.64x8x16.F32 1 R2 1 0 0 0 NoVal", 6).is_ok());
        assert!(read("0 ffffffff 1 R1 MOV 0 0 0 0 Nothing", 6).is_err());
        let with_line = Grammar { version: 4, lineinfo: true };
        assert_eq!(parse("31 0a ff 0 EXIT 0 0", with_line).unwrap().pc, 10);
    }

    #[test]
    fn a_mistake_is_pointed_at() {
        for (line, at) in [
            ("zz ffffffff 0 EXIT 0 0", 0),
            ("00 1ffffffff 0 EXIT 0 0", 3),
            ("00 1 17 EXIT 0 0", 5),
            ("00 1 0 EXIT 1 4 0", 14),
            ("00 1 0 EXIT 0", 13),
            ("00 1 0 UTMALDG.2D 0 0", 7),
            ("00 3 0 LDG.E 0 4 2 0x10 -99", 24),
            ("00 5 0 LDG.E 0 4 1 0x10 4", 24),
            ("00 3 0 LDG.E 0 4 1 0xffffffffffffffff 4", 38),
            ("00 1 0 LDG.E 0 4 3 1 0x10", 17),
            ("00 1 0 LDG.E 0 4 0 +10", 19),
        ] {
            let wrong = read(line, 3).unwrap_err();
            assert_eq!(wrong.span.start, at, "{line}: {wrong:?}");
        }
    }
}
