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
mod footprint;
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
mod warp;
mod words;

use std::path::Path;

pub use self::format::{Format, detect};
use self::recording::Recording;
use self::text::about;
use super::Workload;
use crate::diagnostic::Result;
use crate::model::address::Range;

/// What a trace holds, in all lanes of all warps and in all cores.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    pub instructions: u64,
    /// Accesses of single lanes to global memory, or of cores.
    pub lane_loads: u64,
    pub lane_stores: u64,
    pub lane_atomics: u64,
}

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
}

/// Is told now and then how many instructions have been read.
pub type Told = Box<dyn FnMut(u64)>;

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
    let Some(format) = format.or_else(|| detect(path)) else {
        let names = Format::ALL.map(Format::name).join(", ");
        let expected = format!("a trace of one of the formats {names}");
        return Err(Box::new(about(&name, "is no trace that is known here").expected(expected)));
    };
    let mut recording = Recording::new(&name, told);
    format.read(path, &mut recording)?;
    recording.finish(format)
}

#[cfg(test)]
mod tests;
