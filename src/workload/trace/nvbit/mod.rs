//! The text that NVBit's `mem_trace` tool prints: a line for each launch, and one for each memory instruction of a warp
//! with an address for each of its 32 lanes. Lines without `MEMTRACE:` are passed over, and what stands before it
//! is the program's own output.
//!
//! Mapping: a launch is a kernel, one after the other in the order of the launch lines, and its grid and blocks are the
//! trace's own. The tool tells the hardware's number of a warp: the warps of a block are numbered here in the order in
//! which the trace first names them. A lane with address 0 is inactive; the width is told by the mnemonic; an access of
//! shared or local memory computes for a cycle, and so does the first of the two lines of an LDGSTS, which tells where in shared
//! memory it writes. Lost: everything but memory instructions, so that nothing computes
//! between accesses and no barrier is kept; the order between warps; generic accesses of shared memory, which cannot be
//! told apart from global ones. Values are not in the trace: a store writes bytes made from its line's number and
//! the address.

use std::path::Path;

use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

use super::opcode::{Class, classify, is_unknown, unknown, width};
use super::recording::{Recording, TaskNumber};
use super::step::Step;
use super::stream::Launch;
use super::text::{Lines, Wrong};
use super::triple::{numbers, product};
use super::warp::{self, MOST_BLOCKS, MOST_THREADS, WARP};
use super::words::{Parsed, address};
use crate::diagnostic::Result;

/// What every line of the tool starts with, if the program has printed nothing without an end of the line.
pub const MARK: &str = "MEMTRACE:";

const BETWEEN: &str = " - ";

/// A context and the number of a launch in it.
type Id = (u64, u64);

/// A launch of which accesses may come.
struct Running {
    task: TaskNumber,
    grid: [u64; 3],
    warps_per_block: u32,
    /// The hardware's numbers of each block's warps, in the order in which they came.
    warps: FxHashMap<u64, SmallVec<[u32; 8]>>,
    /// Warps of whose LDGSTS the first of two lines has come.
    copying: FxHashSet<u64>,
}

/// Reads a trace.
pub fn read(path: &Path, recording: &mut Recording) -> Result<()> {
    let mut lines = Lines::open(path)?;
    let mut running: FxHashMap<Id, Running> = FxHashMap::default();
    while lines.advance()? {
        let Some(start) = lines.text().find(MARK) else { continue };
        let line = parse(lines.text(), start).map_err(|wrong| lines.complain(&wrong))?;
        match line {
            Line::Launch { id, kernel, grid, blocks, threads } => {
                let warps_per_block = (threads as u32).div_ceil(WARP);
                let launch = Launch {
                    id: format!("launch-{}", id.1),
                    kernel: kernel.to_owned(),
                    blocks,
                    warps_per_block,
                    gpu: None,
                };
                let task = recording.launch(launch)?;
                let (warps, copying) = (FxHashMap::default(), FxHashSet::default());
                running.insert(id, Running { task, grid, warps_per_block, warps, copying });
            }
            Line::Access(access) => {
                let (task, stream, step) =
                    access.place(&mut running, lines.number()).map_err(|wrong| lines.complain(&wrong))?;
                recording.step(task, stream, 1, &step)?;
            }
        }
    }
    if running.is_empty() {
        return Err(
            lines.unexpected("there is no launch in it", "a line `MEMTRACE: CTX 0x... - LAUNCH - ...`")
        );
    }
    Ok(())
}

/// What follows the mnemonic.
const LANES: &str = "32 addresses such as 0x00007f0000001000";

#[derive(Debug)]
enum Line<'a> {
    Launch { id: Id, kernel: &'a str, grid: [u64; 3], blocks: u64, threads: u64 },
    Access(Box<Access<'a>>),
}

/// An access of a warp, with its parts as they are in the line.
#[derive(Debug)]
struct Access<'a> {
    id: Field<'a, Id>,
    block: Field<'a, [u64; 3]>,
    warp: Field<'a, u32>,
    opcode: Field<'a, &'a str>,
    addresses: Field<'a, [u64; WARP as usize]>,
}

/// A part of a line and what it means.
#[derive(Debug)]
struct Field<'a, T> {
    start: usize,
    text: &'a str,
    value: T,
}

impl<T> Field<'_, T> {
    fn wrong(&self, message: impl Into<String>, expected: impl Into<String>) -> Wrong {
        let span = self.start..self.start + self.text.len();
        Wrong { span, message: message.into(), expected: expected.into() }
    }
}

/// The parts of a line between dashes.
struct Parts<'a> {
    line: &'a str,
    at: usize,
}

impl<'a> Parts<'a> {
    /// The next part, which starts with `label` and ends where `end` finds it in the rest of the line.
    fn part<T>(
        &mut self,
        label: &str,
        expected: &str,
        end: impl Fn(&str) -> Option<usize>,
        read: impl FnOnce(&'a str) -> Option<T>,
    ) -> Parsed<Field<'a, T>> {
        let rest = self.line.get(self.at..).unwrap_or_default();
        let whole = rest.get(..end(rest).unwrap_or(rest.len())).unwrap_or_default();
        let labelled = whole.strip_prefix(label);
        let (start, text) = labelled.map_or((self.at, whole), |text| (self.at + label.len(), text));
        let what = if rest.is_empty() { "the line ends too early" } else { "this does not belong here" };
        let value = labelled.and_then(read).ok_or_else(|| Wrong {
            span: start.min(self.line.len())..(start + text.len()).min(self.line.len()),
            message: what.to_owned(),
            expected: format!("{label}{expected}"),
        })?;
        self.at += whole.len() + BETWEEN.len();
        Ok(Field { start, text, value })
    }

    fn next<T>(
        &mut self,
        label: &str,
        expected: &str,
        read: impl FnOnce(&'a str) -> Option<T>,
    ) -> Parsed<Field<'a, T>> {
        self.part(label, expected, |rest| rest.find(BETWEEN), read)
    }
}

/// What a line says from `start` on.
fn parse(line: &str, start: usize) -> Parsed<Line<'_>> {
    let mut parts = Parts { line, at: start };
    let context = parts.next("MEMTRACE: CTX ", "0x and hex digits", address)?;
    if line.get(parts.at..).is_some_and(|rest| rest.starts_with("LAUNCH")) {
        return launch(&mut parts, context.value);
    }
    let number = parts.next("grid_launch_id ", "and a number, or LAUNCH", |text| text.parse().ok())?;
    let id = Field { start: number.start, text: number.text, value: (context.value, number.value) };
    let block = parts.next("CTA ", "and three numbers", numbers)?;
    let warp = parts.next("warp ", "and a number", |text| text.parse().ok())?;
    let opcode = parts.next("", "a mnemonic such as LDG.E", |text| {
        text.starts_with(|it: char| it.is_ascii_uppercase()).then_some(text)
    })?;
    let addresses = lanes(&parts.next("", LANES, |text| (!text.is_empty()).then_some(text))?)?;
    Ok(Line::Access(Box::new(Access { id, block, warp, opcode, addresses })))
}

/// An address for each lane.
fn lanes<'a>(written: &Field<'a, &'a str>) -> Parsed<Field<'a, [u64; WARP as usize]>> {
    let (mut value, mut count, mut at) = ([0; WARP as usize], 0, 0);
    for word in written.text.split_whitespace() {
        at += written.text.get(at..).and_then(|rest| rest.find(word)).unwrap_or(0);
        let start = written.start + at;
        let read = address(word).ok_or_else(|| Wrong {
            span: start..start + word.len(),
            message: "this is no address".to_owned(),
            expected: LANES.to_owned(),
        })?;
        if let Some(place) = value.get_mut(count) {
            *place = read;
        }
        (count, at) = (count + 1, at + word.len());
    }
    if count != value.len() {
        let found =
            if count == 1 { "there is 1 address".to_owned() } else { format!("there are {count} addresses") };
        return Err(written.wrong(found, LANES));
    }
    Ok(Field { start: written.start, text: written.text, value })
}

fn launch<'a>(parts: &mut Parts<'a>, context: u64) -> Parsed<Line<'a>> {
    let number = |text: &str| text.parse::<u64>().ok();
    parts.next("LAUNCH", "", |text| text.is_empty().then_some(()))?;
    parts.next("Kernel pc ", "0x and hex digits", address)?;
    // The name of a C++ kernel may hold anything.
    let end = |rest: &str| rest.rfind(" - grid launch id ");
    let kernel = parts.part("Kernel name ", "and - grid launch id after it", end, Some)?.value;
    let id = parts.next("grid launch id ", "and a number", number)?.value;
    let dimensions = |most: u64| move |text: &str| product(numbers(text)?, most);
    let most = format!("and three numbers whose product is 1 to {MOST_BLOCKS}");
    let (grid, blocks) = parts.next("grid size ", &most, dimensions(MOST_BLOCKS))?.value;
    let most = format!("and three numbers whose product is 1 to {MOST_THREADS}");
    let (_, threads) = parts.next("block size ", &most, dimensions(MOST_THREADS))?.value;
    Ok(Line::Launch { id: (context, id), kernel, grid, blocks, threads })
}

impl Access<'_> {
    /// Which task, which stream of it, and what it does.
    fn place(self, running: &mut FxHashMap<Id, Running>, line: u64) -> Parsed<(TaskNumber, u64, Step)> {
        let running = running.get_mut(&self.id.value).ok_or_else(|| {
            self.id.wrong("this was not launched", "the number of a launch in a LAUNCH line before this")
        })?;
        let [across, down, deep] = running.grid;
        let [x, y, z] = self.block.value;
        if x >= across || y >= down || z >= deep {
            let expected = format!("a block of the grid of {across},{down},{deep}");
            return Err(self.block.wrong("the grid has no such block", expected));
        }
        let block = (z * down + y) * across + x;
        let warps = running.warps.entry(block).or_default();
        let known = warps.iter().position(|warp| *warp == self.warp.value);
        let warp = known.unwrap_or_else(|| {
            warps.push(self.warp.value);
            warps.len() - 1
        });
        if warp >= running.warps_per_block as usize {
            let expected = format!("one of the {} warps of this block", running.warps_per_block);
            return Err(self.warp.wrong("the block has more warps than threads for them", expected));
        }
        let lanes = (0..).zip(self.addresses.value).filter(|(_, address)| *address != 0);
        let opcode = self.opcode.value;
        if is_unknown(opcode) {
            let (message, expected) = unknown(opcode);
            return Err(self.opcode.wrong(message, expected));
        }
        let stream = block * u64::from(running.warps_per_block) + warp as u64;
        // Of each operand in memory there is a line: first that in shared memory, then the global one.
        let is_shared = opcode.starts_with("LDGSTS") && running.copying.insert(stream);
        if !is_shared {
            running.copying.remove(&stream);
        }
        let class = if is_shared { Class::Compute } else { classify(opcode) };
        let step = warp::step(class, width(opcode), line, lanes)
            .map_err(|(message, expected)| self.addresses.wrong(message, expected))?;
        Ok((running.task, stream, step))
    }
}

#[cfg(test)]
mod tests;
