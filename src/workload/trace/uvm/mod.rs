//! The log of far-faults of a driver of NVIDIA GPUs, patched to tell them (uvm-eval): kernel-log lines
//! `PRIORITY,NUMBER,MICROSECONDS,-;PAYLOAD` (`/dev/kmsg`), where the payload is `s,` for the start of a batch, `f,...` for a fault, `b,`
//! for the end of a batch, `p,ADDRESS` and `e,ADDRESS` for a page that was prefetched or evicted.
//!
//! Mapping: gpu0 runs a kernel with a block of one warp for each uTLB (`gpc_id`, `utlb_id`, `client_id`), in the order in
//! which they come. Faults of one batch, one uTLB and one kind are the lanes of one instruction where none of that uTLB of another kind is between them, at
//! most 32, which accesses the first word of each page. A range that is freed (`uvm range destroy`) was allocated, if a fault of
//! the log is in it: a prefetcher may bring its pages. Lost: all accesses that did not fault, computing, widths, the order
//! between uTLBs, and the times. What was prefetched and evicted is passed over: that is for the driver here to decide. Other
//! lines of a kernel's log are passed over, too.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use smallvec::SmallVec;

use super::opcode::Class;
use super::recording::{Recording, TaskNumber};
use super::stream::Launch;
use super::text::Lines;
use super::warp::{self, ADDRESS_SPACE, WARP};
use super::words::{Parsed, Words, hexadecimal};
use crate::diagnostic::{Diagnostic, Result};
use crate::model::access::AtomicOp;

/// Bytes of an access: the log does not tell them.
const WORD: u64 = 4;

/// Bytes of a range that is believed, at most: each of its pages takes memory. The machine counts those of all.
const ALLOCATED: u64 = 2 << 30;

/// Instructions that are collected at a time, at most: a log may have no batches.
const MOST_OPEN: usize = 1024;

/// Whether a line is one of a kernel's log.
#[must_use]
pub fn is_log(line: &str) -> bool {
    let Some((head, _)) = line.split_once(';') else { return false };
    let mut cells = head.split(',');
    let numbers = cells.by_ref().take(3).filter(|cell| cell.parse::<u64>().is_ok()).count();
    // What a kernel was built to tell besides, as who called, comes after the flag.
    numbers == 3 && matches!(cells.next(), Some("-" | "c"))
}

/// Reads a log.
pub fn read(path: &Path, recording: &mut Recording) -> Result<()> {
    let mut lines = Lines::open(path)?;
    let mut log =
        Log { recording, task: None, streams: BTreeMap::new(), open: Vec::new(), faults: BTreeSet::new() };
    let mut freed = Vec::new();
    while lines.advance()? {
        let (line, number) = (lines.text(), lines.number());
        // `/dev/kmsg` tells more of a line in lines that begin with a space.
        if number > 1 && line.starts_with(' ') {
            continue;
        }
        if !is_log(line) {
            return Err(
                lines.unexpected("this is no line of a kernel's log", "PRIORITY,NUMBER,MICROSECONDS,-;TEXT")
            );
        }
        match payload(line).map_err(|wrong| lines.complain(&wrong))? {
            Payload::Fault(fault) => log.fault(fault, number)?,
            Payload::Batch => log.end_instructions()?,
            Payload::Freed(range) => freed.push(range),
            Payload::Other => {}
        }
    }
    log.end_instructions()?;
    let own = freed.into_iter().filter(|(start, bytes)| log.has_fault(*start, *bytes));
    for (start, bytes) in own.collect::<Vec<_>>() {
        log.recording.is_allocated(start, bytes);
    }
    if log.task.is_none() {
        return Err(lines.unexpected("there is no fault in it", "lines whose text is f,ADDRESS,TIME,..."));
    }
    Ok(())
}

enum Payload {
    Fault(Fault),
    /// A batch begins or ends.
    Batch,
    /// A range, by its start and its bytes.
    Freed((u64, u64)),
    Other,
}

/// What faults that may be lanes of one instruction have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Key {
    class: Class,
    unit: (u64, u64, u64),
}

#[derive(Clone, Copy, Debug)]
struct Fault {
    key: Key,
    address: u64,
}

fn payload(line: &str) -> Parsed<Payload> {
    let mut words = Words::cells(line);
    words.at = line.find(';').map_or(line.len(), |at| at + 1);
    match line.get(words.at..).and_then(|text| text.split(',').next()) {
        Some("f") => {}
        Some("s" | "b") => return Ok(Payload::Batch),
        _ => return Ok(line.get(words.at..).and_then(freed).map_or(Payload::Other, Payload::Freed)),
    }
    words.take("f", |word| (word == "f").then_some(()))?;
    let expected = format!("an address in hex digits, below {:#x}", ADDRESS_SPACE - WORD);
    let address = words.take(&expected, |word| hexadecimal(word).filter(|it| *it < ADDRESS_SPACE - WORD))?;
    let mut number = |what: &str| words.take(what, |word| word.parse::<u64>().ok());
    number("the time in ns")?;
    number("the type of the fault")?;
    let class =
        words.take("0 to 4: prefetch, read, write, weak atomic, strong atomic", |word| match word {
            "0" | "1" => Some(Class::Load),
            "2" => Some(Class::Store),
            "3" | "4" => Some(Class::Atomic(AtomicOp::Add)),
            _ => None,
        })?;
    let mut number = |what: &str| words.take(what, |word| word.parse::<u64>().ok());
    for what in ["the mask of its kinds", "its instances", "the type of the client", "the type of the engine"]
    {
        number(what)?;
    }
    let client = number("the number of the client")?;
    number("the number of the engine")?;
    let utlb = number("the number of the uTLB")?;
    let gpc = number("the number of the GPC")?;
    number("the number of the channel")?;
    number("the number of the virtual engine")?;
    words.end()?;
    Ok(Payload::Fault(Fault { key: Key { class, unit: (gpc, utlb, client) }, address }))
}

/// What `uvm range destroy va_range->node.start, va_range->size: 0x207600000, 2097152` frees.
fn freed(text: &str) -> Option<(u64, u64)> {
    let (start, bytes) = text.strip_prefix("uvm range destroy")?.rsplit_once(": 0x")?.1.split_once(", ")?;
    let (start, bytes) = (hexadecimal(start)?, bytes.trim().parse().ok()?);
    (bytes <= ADDRESS_SPACE.checked_sub(start)?.min(ALLOCATED)).then_some((start, bytes))
}

/// An instruction whose lanes are being collected.
struct Open {
    key: Key,
    addresses: SmallVec<[u64; WARP as usize]>,
    line: u64,
}

struct Log<'a> {
    recording: &'a mut Recording,
    task: Option<TaskNumber>,
    /// Of each uTLB.
    streams: BTreeMap<(u64, u64, u64), u64>,
    /// The instructions of the batch so far, in the order of their first faults.
    open: Vec<Open>,
    /// Addresses that faulted.
    faults: BTreeSet<u64>,
}

impl Log<'_> {
    /// Whether a fault was in these bytes.
    fn has_fault(&self, start: u64, bytes: u64) -> bool {
        self.faults.range(start..start.saturating_add(bytes)).next().is_some()
    }

    fn fault(&mut self, fault: Fault, line: u64) -> Result<()> {
        self.faults.insert(fault.address);
        // Faults of other units come between them.
        let last = self.open.iter_mut().rev().find(|open| open.key.unit == fault.key.unit);
        let takes = |open: &&mut Open| {
            open.key == fault.key
                && open.addresses.len() < WARP as usize
                && !open.addresses.contains(&fault.address)
        };
        if let Some(open) = last.filter(takes) {
            open.addresses.push(fault.address);
            return Ok(());
        }
        if self.open.len() >= MOST_OPEN {
            self.end_instructions()?;
        }
        self.open.push(Open { key: fault.key, addresses: SmallVec::from_slice(&[fault.address]), line });
        Ok(())
    }

    fn end_instructions(&mut self) -> Result<()> {
        std::mem::take(&mut self.open).into_iter().try_for_each(|open| self.end_instruction(open))
    }

    fn end_instruction(&mut self, Open { key, addresses, line }: Open) -> Result<()> {
        let step = warp::step(key.class, WORD, line, (0..).zip(addresses))
            .map_err(|(message, expected)| Box::new(Diagnostic::new(message).expected(expected)))?;
        let task = if let Some(task) = self.task {
            task
        } else {
            let (id, kernel) = ("faults".to_owned(), "far-faults".to_owned());
            let launch = Launch { id, kernel, blocks: 0, warps_per_block: 1, gpu: Some(0) };
            *self.task.insert(self.recording.launch(launch)?)
        };
        let stream = match self.streams.get(&key.unit) {
            Some(stream) => *stream,
            None => *self.streams.entry(key.unit).or_insert(self.recording.add_block(task)?),
        };
        self.recording.step(task, stream, 1, &step)
    }
}

#[cfg(test)]
mod tests;
