//! The head of a kernel's trace: lines `-key = value` up to the first that starts with `#`.

use super::super::text::Lines;
use super::super::triple::{numbers, product};
use super::super::warp::{MOST_BLOCKS, MOST_THREADS, WARP};
use super::super::words::address;
use crate::diagnostic::Result;

const GRID: &str = "grid dim";
const BLOCK: &str = "block dim";
const VERSION: &str = "accelsim tracer version";

/// What the rest of the file is read by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    /// As mangled by the compiler.
    pub kernel: String,
    pub grid: [u64; 3],
    /// Blocks in the grid.
    pub blocks: u64,
    pub warps_per_block: u32,
    pub grammar: Grammar,
    /// Where shared and local memory appear among generic addresses.
    pub windows: [Option<u64>; 2],
}

/// How an instruction line reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grammar {
    /// Tracer version, 3 to 6.
    pub version: u32,
    /// Each line starts with a number of a source line.
    pub lineinfo: bool,
}

/// Reads the head; the current line is then the `#traces format` line.
pub fn read(lines: &mut Lines<'_>) -> Result<Header> {
    let mut kernel = String::new();
    let (mut grid, mut block, mut version) = (None, None, None);
    let mut lineinfo = false;
    let mut windows = [None; 2];
    loop {
        if !lines.advance()? {
            return Err(lines.unexpected("the file ends in its head", "a line `#traces format = ...`"));
        }
        let text = lines.text();
        if text.starts_with('#') {
            break;
        }
        let Some((key, value)) = text.strip_prefix('-').and_then(|rest| rest.split_once('=')) else {
            let message = "this is not the head of an Accel-Sim trace";
            return Err(lines.unexpected(message, "a line such as `-grid dim = (1,1,1)`"));
        };
        match (key.trim(), value.trim()) {
            ("kernel name", name) => name.clone_into(&mut kernel),
            (GRID, value) => grid = Some(triple(lines, value, MOST_BLOCKS)?),
            (BLOCK, value) => block = Some(triple(lines, value, MOST_THREADS)?),
            (VERSION, value) => version = Some(tracer_version(lines, value)?),
            ("enable lineinfo", value) => lineinfo = value == "1",
            ("shmem base_addr", value) => windows[0] = window(lines, value)?,
            ("local mem base_addr", value) => windows[1] = window(lines, value)?,
            _ => {}
        }
    }
    let (grid, blocks) = grid.ok_or_else(|| missing(lines, GRID))?;
    let (_, threads) = block.ok_or_else(|| missing(lines, BLOCK))?;
    let version = version.ok_or_else(|| missing(lines, VERSION))?;
    let warps_per_block = (threads as u32).div_ceil(WARP);
    Ok(Header { kernel, grid, blocks, warps_per_block, grammar: Grammar { version, lineinfo }, windows })
}

fn missing(lines: &Lines<'_>, key: &str) -> Box<crate::diagnostic::Diagnostic> {
    lines
        .unexpected(&format!("the head ends without `-{key}`"), &format!("a line `-{key} = ...` before this"))
}

/// Where a value starts and ends in the current line.
fn span(lines: &Lines<'_>, value: &str) -> std::ops::Range<usize> {
    let end = lines.text().len();
    end.saturating_sub(value.len())..end
}

/// Three dimensions and their product, from 1 to `most`.
fn triple(lines: &Lines<'_>, value: &str, most: u64) -> Result<([u64; 3], u64)> {
    let wrong = |message: &str| {
        let expected = format!("three numbers such as (8,1,1) whose product is 1 to {most}");
        lines.wrong(span(lines, value), message, &expected)
    };
    let inner = value.strip_prefix('(').and_then(|rest| rest.strip_suffix(')'));
    let dimensions =
        inner.and_then(numbers).ok_or_else(|| wrong("these are not the dimensions of a grid or block"))?;
    product(dimensions, most).ok_or_else(|| wrong("there cannot be so many of them"))
}

fn tracer_version(lines: &Lines<'_>, value: &str) -> Result<u32> {
    match value.parse() {
        Ok(version @ 3..=6) => Ok(version),
        _ => Err(lines.wrong(
            span(lines, value),
            "traces of this version are not read",
            "a version from 3 to 6",
        )),
    }
}

fn window(lines: &Lines<'_>, value: &str) -> Result<Option<u64>> {
    let base = address(value)
        .ok_or_else(|| lines.wrong(span(lines, value), "this is not an address", "0x and hex digits"))?;
    // Zero means that the tracer could not tell.
    Ok((base != 0).then_some(base))
}
