//! The thread blocks of a kernel's trace: every warp of every block in order, each with its instructions.

use super::super::recording::{Recording, TaskNumber};
use super::super::stream::Launch;
use super::super::text::Lines;
use super::super::triple::numbers;
use super::header::{self, Header};
use super::instruction;
use crate::diagnostic::{Diagnostic, Result};

/// Reads the trace of one kernel, whose task is to be called `id`.
pub fn read(lines: Lines<'_>, id: &str, recording: &mut Recording) -> Result<()> {
    let mut lines = lines;
    let header = header::read(&mut lines)?;
    let task = recording.launch(Launch {
        id: id.to_owned(),
        kernel: header.kernel.clone(),
        blocks: header.blocks,
        warps_per_block: header.warps_per_block,
        gpu: None,
    })?;
    Body { lines, header, recording, task, announced: None }.grid()
}

/// Walks through a trace.
struct Body<'a> {
    lines: Lines<'a>,
    header: Header,
    recording: &'a mut Recording,
    task: TaskNumber,
    /// How many instructions the last warp was to have, and in which line that stands.
    announced: Option<(u64, u64)>,
}

impl Body<'_> {
    fn grid(&mut self) -> Result<()> {
        for block in 0..self.header.blocks {
            self.block(block)?;
        }
        if self.lines.advance()? {
            let expected = format!("the end of the file after {} thread blocks", self.header.blocks);
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
        let announced = |(count, line)| format!("{expected}: line {line} says insts = {count}");
        let expected = self.announced.map_or_else(|| expected.to_owned(), announced);
        self.lines.unexpected("this does not belong here", &expected)
    }

    fn literal(&mut self, text: &str) -> Result<()> {
        self.advance(text)?;
        if self.lines.text().trim() == text { Ok(()) } else { Err(self.unexpected(text)) }
    }

    fn block(&mut self, block: u64) -> Result<()> {
        self.announced = None;
        self.literal("#BEGIN_TB")?;
        let [across, down, _] = self.header.grid;
        let (across, down) = (across.max(1), down.max(1));
        let place = [block % across, block / across % down, block / across / down];
        let expected = format!("thread block = {},{},{}", place[0], place[1], place[2]);
        self.advance(&expected)?;
        if numbers(self.value("thread block", &expected)?) != Some(place) {
            return Err(self.unexpected(&expected));
        }
        for warp in 0..self.header.warps_per_block {
            self.warp(block, warp)?;
        }
        self.literal("#END_TB")
    }

    fn warp(&mut self, block: u64, warp: u32) -> Result<()> {
        let expected = format!("warp = {warp}");
        self.advance(&expected)?;
        // Builds of 2025 and later say which cluster a block belongs to.
        while warp == 0 && self.lines.text().starts_with("cluster ") {
            self.advance(&expected)?;
        }
        if self.value("warp", &expected)?.parse() != Ok(warp) {
            return Err(self.unexpected(&expected));
        }
        self.announced = None;
        let expected = "insts = and the number of instructions";
        self.advance(expected)?;
        let value = self.value("insts", expected)?;
        let count: u64 = value.parse().map_err(|_| self.unexpected(expected))?;
        let told = self.lines.number();
        let stream = block * u64::from(self.header.warps_per_block) + u64::from(warp);
        for nth in 0..count {
            if !self.lines.advance()? {
                let expected = format!("instruction {} of {count}", nth + 1);
                return Err(self.lines.unexpected("the file ends inside a warp", &expected));
            }
            if ["warp =", "#END_TB"].iter().any(|next| self.lines.text().starts_with(next)) {
                let expected = format!("instruction {} of the {count} that line {told} announces", nth + 1);
                return Err(self.lines.unexpected("the warp ends too early", &expected));
            }
            let step = instruction::read(self.lines.text(), &self.header)
                .map_err(|wrong| self.lines.complain(&wrong))?;
            self.recording.step(self.task, stream, 1, &step)?;
        }
        self.announced = Some((count, told));
        Ok(())
    }
}
