//! Where in a trace each warp's instructions are.
//!
//! The whole file is read and checked once. What stays is 8 bytes for each warp and 24 bytes for each segment of up
//! to 128 of its instructions, so that any instruction can be found again by reading one segment.

use std::ops::Range;

use super::super::footprint::Footprint;
use super::super::text::{Lines, Text, Wrong};
use super::header::{self, Header};
use super::operation;
use crate::diagnostic::{Diagnostic, Result};
use crate::model::access::AccessKind;
use crate::model::operation::Operation;

/// Most instruction lines in a segment.
const SEGMENT_LINES: u32 = 128;

/// Most bytes in a segment that has more than one line.
const SEGMENT_BYTES: u64 = 1 << 16;

/// What a trace holds, in all lanes of all warps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    pub instructions: u64,
    /// Accesses of single lanes to global memory.
    pub lane_loads: u64,
    pub lane_stores: u64,
    pub lane_atomics: u64,
}

impl Counts {
    /// Counts another's too.
    pub fn add(&mut self, other: Self) {
        for (mine, theirs) in [
            (&mut self.instructions, other.instructions),
            (&mut self.lane_loads, other.lane_loads),
            (&mut self.lane_stores, other.lane_stores),
            (&mut self.lane_atomics, other.lane_atomics),
        ] {
            *mine = mine.saturating_add(theirs);
        }
    }
}

/// A run of instruction lines of one warp.
#[derive(Clone, Copy, Debug)]
struct Segment {
    /// Its place in the file.
    offset: u64,
    bytes: u32,
    /// Operations in the file before it.
    first: u64,
}

/// The index of a kernel's trace.
#[derive(Debug)]
pub struct Index {
    pub header: Header,
    pub counts: Counts,
    pub footprint: Footprint,
    /// First segment of each warp of each block, and one past the last segment.
    warps: Vec<u64>,
    segments: Vec<Segment>,
    /// Operations in the file.
    operations: u64,
}

/// A segment to read, and which of its operations is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    pub segment: u64,
    pub offset: u64,
    pub bytes: u32,
    pub nth: usize,
}

impl Index {
    /// Reads and checks a whole trace.
    pub fn build(text: &Text) -> Result<Self> {
        let mut lines = text.lines()?;
        let header = header::read(&mut lines)?;
        let index = Self {
            header,
            counts: Counts::default(),
            footprint: Footprint::default(),
            warps: Vec::new(),
            segments: Vec::new(),
            operations: 0,
        };
        let mut builder = Builder { lines, index, computing: false, lines_in_segment: 0 };
        builder.grid()?;
        let mut index = builder.index;
        index.warps.push(index.segments.len() as u64);
        Ok(index)
    }

    /// Where operation `nth` of a warp is, or `None` past its end.
    pub fn find(&self, block: u64, warp: u32, nth: u64) -> Option<Place> {
        if warp >= self.header.warps_per_block {
            return None;
        }
        let warp = block.checked_mul(u64::from(self.header.warps_per_block))?.checked_add(u64::from(warp))?;
        let warp = usize::try_from(warp).ok()?;
        let from = *self.warps.get(warp)? as usize;
        let to = *self.warps.get(warp.checked_add(1)?)? as usize;
        let segments = self.segments.get(from..to)?;
        let end = self.segments.get(to).map_or(self.operations, |next| next.first);
        let target = segments.first()?.first.checked_add(nth).filter(|target| *target < end)?;
        let within = segments.partition_point(|segment| segment.first <= target).checked_sub(1)?;
        let segment = segments.get(within)?;
        Some(Place {
            segment: (from + within) as u64,
            offset: segment.offset,
            bytes: segment.bytes,
            nth: usize::try_from(target - segment.first).ok()?,
        })
    }
}

/// The operations of a segment's text.
pub fn decode(text: &str, header: &Header) -> std::result::Result<Vec<Operation>, Wrong> {
    let mut operations: Vec<Operation> = Vec::new();
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        match (operation::read(line.trim_end(), header)?, operations.last_mut()) {
            (None, Some(Operation::Compute(cycles))) => *cycles = cycles.saturating_add(1),
            (None, _) => operations.push(Operation::Compute(1)),
            (Some(operation), _) => operations.push(operation),
        }
    }
    Ok(operations)
}

/// Walks through a trace and fills its index.
struct Builder<'a> {
    lines: Lines<'a>,
    index: Index,
    /// The last operation of the segment is a run of computing instructions.
    computing: bool,
    lines_in_segment: u32,
}

impl Builder<'_> {
    fn grid(&mut self) -> Result<()> {
        for block in 0..self.index.header.blocks {
            self.block(block)?;
        }
        if self.lines.advance()? {
            let expected = format!("the end of the file after {} thread blocks", self.index.header.blocks);
            return Err(self.lines.unexpected("the grid has no such thread block", &expected));
        }
        Ok(())
    }

    /// Goes to the next line, which must be there.
    fn advance(&mut self, expected: &str) -> Result<()> {
        if self.lines.advance()? {
            return Ok(());
        }
        Err(self.lines.unexpected("the file ends too early", expected))
    }

    /// The value of the current line `key = value`.
    fn value(&self, key: &str, expected: &str) -> Result<&str> {
        let value = self.lines.text().strip_prefix(key).and_then(|rest| rest.trim_start().strip_prefix('='));
        value.map(str::trim).ok_or_else(|| self.unexpected(expected))
    }

    fn unexpected(&self, expected: &str) -> Box<Diagnostic> {
        self.lines.unexpected("this does not belong here", expected)
    }

    fn literal(&mut self, text: &str) -> Result<()> {
        self.advance(text)?;
        if self.lines.text().trim() == text { Ok(()) } else { Err(self.unexpected(text)) }
    }

    fn block(&mut self, block: u64) -> Result<()> {
        self.literal("#BEGIN_TB")?;
        let [across, down, _] = self.index.header.grid;
        let (across, down) = (across.max(1), down.max(1));
        let place = [block % across, block / across % down, block / across / down];
        let expected = format!("thread block = {},{},{}", place[0], place[1], place[2]);
        self.advance(&expected)?;
        if header::numbers(self.value("thread block", &expected)?) != Some(place) {
            return Err(self.unexpected(&expected));
        }
        for warp in 0..self.index.header.warps_per_block {
            self.warp(warp)?;
        }
        self.literal("#END_TB")
    }

    fn warp(&mut self, warp: u32) -> Result<()> {
        let expected = format!("warp = {warp}");
        self.advance(&expected)?;
        // Builds of 2025 and later say which cluster a block belongs to.
        while warp == 0 && self.lines.text().starts_with("cluster ") {
            self.advance(&expected)?;
        }
        if self.value("warp", &expected)?.parse() != Ok(warp) {
            return Err(self.unexpected(&expected));
        }
        let expected = "insts = and the number of instructions";
        self.advance(expected)?;
        let value = self.value("insts", expected)?;
        let count: u64 = value.parse().map_err(|_| self.unexpected(expected))?;
        self.index.warps.push(self.index.segments.len() as u64);
        self.lines_in_segment = SEGMENT_LINES;
        for nth in 0..count {
            if !self.lines.advance()? {
                let expected = format!("instruction {} of {count}", nth + 1);
                return Err(self.lines.unexpected("the file ends inside a warp", &expected));
            }
            self.instruction()?;
        }
        Ok(())
    }

    fn instruction(&mut self) -> Result<()> {
        let operation = operation::read(self.lines.text(), &self.index.header)
            .map_err(|wrong| self.lines.complain(&wrong))?;
        self.place(self.lines.extent());
        self.index.counts.instructions = self.index.counts.instructions.saturating_add(1);
        if operation.is_some() || !self.computing {
            self.index.operations = self.index.operations.saturating_add(1);
        }
        self.computing = operation.is_none();
        if let Some(Operation::Access(access)) = operation {
            for (_, address) in access.lanes.iter() {
                self.index.footprint.add(address.0, u64::from(access.width));
            }
            let lanes = access.lanes.iter().count() as u64;
            let counts = &mut self.index.counts;
            let counter = match access.kind {
                AccessKind::Load => &mut counts.lane_loads,
                AccessKind::Store | AccessKind::NStore => &mut counts.lane_stores,
                AccessKind::Atomic(_) => &mut counts.lane_atomics,
            };
            *counter = counter.saturating_add(lanes);
        }
        Ok(())
    }

    /// Puts a line into the current segment, or into a new one if that is full.
    fn place(&mut self, line: Range<u64>) {
        if self.lines_in_segment < SEGMENT_LINES
            && let Some(segment) = self.index.segments.last_mut()
            && line.end - segment.offset <= SEGMENT_BYTES
        {
            segment.bytes = (line.end - segment.offset) as u32;
            self.lines_in_segment += 1;
            return;
        }
        let bytes = (line.end - line.start) as u32;
        self.index.segments.push(Segment { offset: line.start, bytes, first: self.index.operations });
        self.lines_in_segment = 1;
        self.computing = false;
    }
}
