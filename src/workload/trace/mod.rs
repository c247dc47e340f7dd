//! Real traces as workloads.
//!
//! A trace may be larger than memory, compressed, and hold the steps of its warps or cores in any order. It is read
//! and checked once from start to end; what each warp or core does goes, a few bytes an instruction, into a store in
//! which every step is found again by its position (`store`). The store's bytes are in memory up to 64 MiB and in a
//! temporary file above that (in TMPDIR; it has no name and is gone with the process), because neither compressed
//! text nor interleaved lines can be read by position, and because the traces themselves may then change or
//! vanish while they run. A format is a reader that turns lines into steps; each reader's page says how its
//! warps and cores become this machine's, and what is lost.

mod accelsim;
mod cache;
mod cores;
mod format;
mod nvbit;
mod opcode;
mod recording;
mod snoopie;
mod spool;
mod step;
mod store;
mod stream;
#[cfg(test)]
mod testing;
mod text;
mod triple;
mod unpack;
mod uvm;
mod warp;
mod words;

use std::path::Path;

pub use self::format::{Format, detect};
pub use self::recording::{Counts, Told};
use self::recording::{Recorded, Recording};
use self::text::{Lines, Wrong, about};
use super::footprint::Footprint;
use super::{Operations, TaskKind, Workload};
use crate::diagnostic::{Diagnostic, Result, TEXT_LIMIT, read_text};
use crate::model::address::Range;

/// A trace that was read.
#[derive(Debug)]
pub struct Trace {
    pub format: Format,
    /// Its kernels, one after the other unless they are of different GPUs; or the programs of its cores.
    pub workload: Workload,
    /// What all its tasks do.
    pub counts: Counts,
    /// Memory that the host filled before or between the kernels.
    pub copied: Vec<Range>,
    /// The numbers that the trace gives its cores, ascending: the first runs on `host.cpu0`, and so on.
    pub cores: Vec<u32>,
}

impl Trace {
    /// On which cores the trace's own run, if these have other numbers there.
    #[must_use]
    pub fn renumbered(&self) -> Option<String> {
        let is_same = self.cores.iter().zip(0..).all(|(core, number)| *core == number);
        let last = self.cores.len().checked_sub(1).filter(|_| !is_same)?;
        if let [core] = self.cores.as_slice() {
            return Some(format!("the trace's core {core} runs on host.cpu0"));
        }
        let cores: Vec<_> = self.cores.iter().take(8).map(ToString::to_string).collect();
        let more = if self.cores.len() > cores.len() { " ..." } else { "" };
        let cores = cores.join(", ");
        Some(format!("the trace's cores {cores}{more} run on host.cpu0 to host.cpu{last}, in this order"))
    }

    /// Bytes that the tasks touch and that the host filled for them, each counted once; of a task with more than
    /// 262,144 pieces, in whole pages of 4 KiB.
    #[must_use]
    pub fn footprint_bytes(&self) -> u64 {
        let mut all = Footprint::default();
        for task in &self.workload.tasks {
            let ranges = match &task.what {
                TaskKind::Kernel(kernel) => kernel.footprint(),
                TaskKind::Program { operations: Operations::Computed(program), .. } => program.footprint(),
                TaskKind::Program { .. } | TaskKind::Flush { .. } => Vec::new(),
            };
            for range in ranges {
                all.add(range.start.0, u64::from(range.len));
            }
        }
        all.ranges().iter().map(|range| u64::from(range.len)).sum()
    }
}

/// Why nobody knows what a file or folder is: it cannot be read, or it begins nearly as a trace does.
#[must_use]
pub fn unknown(path: &Path) -> Box<Diagnostic> {
    let names = Format::ALL.map(Format::name).join(", ");
    let expected = format!("a trace of one of the formats {names}");
    let usual = about(&path.display().to_string(), "this is no trace that is known here").expected(expected);
    if path.is_dir() && path.join("kernelslist").is_file() {
        let expected = "kernelslist.g, which Accel-Sim's post-traces-processing makes of the raw traces";
        let message = "these are raw traces of Accel-Sim: there is a kernelslist, and no kernelslist.g";
        return Box::new(about(&path.display().to_string(), message).expected(expected));
    }
    let packed = ["xz", "zst"].map(|ending| path.join(format!("{}.{ending}", accelsim::LIST)));
    if let Some(list) = packed.iter().find(|list| list.is_file()) {
        let message = "a list of kernels is read as plain text only";
        let expected = format!("{}, unpacked", accelsim::LIST);
        return Box::new(about(&list.display().to_string(), message).expected(expected));
    }
    if path.is_dir() {
        return Box::new(of_folder(path, usual));
    }
    // Of a pipe nothing is known before it is read, and then it is gone.
    if path.exists()
        && !path.is_file()
        && let Err(error) = read_text(path, TEXT_LIMIT)
    {
        return error;
    }
    if path.metadata().is_ok_and(|file| file.len() == 0) {
        return Box::new(about(&path.display().to_string(), "this file is empty"));
    }
    let first = Lines::open(path).and_then(|mut lines| Ok((lines.advance()?, lines)));
    match first {
        Err(error) => error,
        Ok((true, lines)) => match cores::nearly(lines.text()) {
            Some(wrong) => lines.complain(&wrong),
            None if lines.text().contains(|letter: char| letter.is_control() && letter != '\t') => {
                Box::new(usual)
            }
            None => {
                let span = 0..lines.text().len();
                let expected = usual.expected.unwrap_or_default();
                let mut error = lines.complain(&Wrong { span, message: usual.message, expected });
                let asks = "--trace-format FORMAT tells what is wrong with it as a trace of that format";
                error.suggestion = Some(asks.to_owned());
                error
            }
        },
        Ok((false, _)) => Box::new(usual),
    }
}

/// Files of a folder that are looked into for a trace.
const LOOKED_AT: usize = 64;

/// What is told of a folder that is no trace: that it is empty, or holds one.
fn of_folder(path: &Path, usual: Diagnostic) -> Diagnostic {
    let files = std::fs::read_dir(path).into_iter().flatten().flatten().map(|entry| entry.path());
    let mut files: Vec<_> = files.filter(|file| file.is_file()).collect();
    files.sort();
    if files.is_empty() {
        return Diagnostic { message: "this folder holds no file".to_owned(), ..usual };
    }
    match files.iter().take(LOOKED_AT).find(|file| detect(file).is_some()) {
        Some(file) => Diagnostic {
            message: "this folder is no trace, but holds one".to_owned(),
            suggestion: Some(format!("did you mean {}?", file.display())),
            ..usual
        },
        None => usual,
    }
}

/// Reads a trace, of this format or of the one that it looks like.
///
/// # Errors
/// If it is no trace, is of another format, is cut off, or does not keep to its format anywhere: the whole trace is
/// checked here.
pub fn read(path: &Path, format: Option<Format>, told: Told) -> Result<Trace> {
    let name = path.display().to_string();
    if let Err(error) = path.metadata() {
        return Err(Box::new(about(&name, format!("cannot be read: {error}"))));
    }
    let Some(format) = format.or_else(|| detect(path)) else { return Err(unknown(path)) };
    let mut recording = Recording::new(&name, told);
    match format {
        Format::AccelSim => accelsim::read(path, &mut recording),
        Format::Nvbit => nvbit::read(path, &mut recording),
        Format::Snoopie => snoopie::read(path, &mut recording),
        Format::Parsec => cores::read_parsec(path, &mut recording),
        Format::Cores => cores::read_shared(path, &mut recording),
        Format::UvmFaults => uvm::read(path, &mut recording),
    }?;
    let Recorded { workload, counts, copied, cores } = recording.finish()?;
    Ok(Trace { format, workload, counts, copied, cores })
}

#[cfg(test)]
mod tests;
