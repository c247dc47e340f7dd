//! The formats that are read, their names, and how a trace's format is told.

use std::path::Path;

use super::text::{BYTE_ORDER_MARK, head};
use super::unpack::stem;
use super::{accelsim, cores, nvbit, snoopie, uvm};
use crate::diagnostic::{Diagnostic, Result};

/// A trace format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// SASS traces of Accel-Sim's tracer.
    AccelSim,
    /// The text of NVBit's `mem_trace`.
    Nvbit,
    /// Snoopie's log of remote accesses.
    Snoopie,
    /// Files of the cores of a CPU.
    Parsec,
    /// One file for the cores of a CPU.
    Cores,
    /// A driver's log of far-faults.
    UvmFaults,
}

/// Bytes of a file from which its format is told; NVBit's banner comes before its first line.
const HEAD: u64 = 1 << 14;

impl Format {
    pub const ALL: [Self; 6] =
        [Self::AccelSim, Self::Nvbit, Self::Snoopie, Self::Parsec, Self::Cores, Self::UvmFaults];

    /// The name that arguments use.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::AccelSim => "accel-sim",
            Self::Nvbit => "nvbit",
            Self::Snoopie => "snoopie",
            Self::Parsec => "parsec",
            Self::Cores => "cores",
            Self::UvmFaults => "uvm-faults",
        }
    }

    /// What it is, in one line.
    #[must_use]
    pub fn title(self) -> &'static str {
        match self {
            Self::AccelSim => {
                "Accel-Sim SASS traces, versions 3 to 6, without bulk copies of the tensor memory accelerator: a kernelslist.g, its folder, or a .traceg"
            }
            Self::Nvbit => "The text of NVBit's mem_trace: lines with MEMTRACE:",
            Self::Snoopie => {
                "Snoopie's log of accesses between GPUs: a snoopie_log_PID.csv, or its folder; rows that follow each other with different addresses are lanes of one instruction"
            }
            Self::Parsec => {
                "A file for each core, NAME_CORE.data: lines such as `0 0x7fe891b0`, or their folder; each is of 4 bytes, at a multiple of 4"
            }
            Self::UvmFaults => {
                "A driver's log of far-faults (uvm-eval): lines such as `4,1,90,-;f,7fb144000000,...`"
            }
            Self::Cores => {
                "One file for all cores: lines such as `1 r a1663dc4` or `0 L 1000000`; each core does its own in order, and \
                 waits for no other's; each is of 4 bytes, at a multiple of 4"
            }
        }
    }

    /// The format of this name.
    ///
    /// # Errors
    /// If there is none; names the nearest.
    pub fn parse(name: &str) -> Result<Self> {
        let names = || Self::ALL.into_iter().map(Self::name);
        Self::ALL.into_iter().find(|format| format.name() == name).ok_or_else(|| {
            let unknown = Diagnostic::new(format!("there is no trace format `{name}`"));
            let expected = names().collect::<Vec<_>>().join(", ");
            Box::new(unknown.expected(format!("one of {expected}")).nearest(name, names()))
        })
    }
}

/// Whether `path` is a trace, and of which format. Never fails: what cannot be read is no trace.
#[must_use]
pub fn detect(path: &Path) -> Option<Format> {
    if path.is_dir() {
        return in_folder(path);
    }
    let name = stem(path);
    if path.is_file() && (accelsim::is_list(&name) || name.ends_with(".traceg")) {
        return Some(Format::AccelSim);
    }
    told(&head(path, HEAD))
}

fn in_folder(path: &Path) -> Option<Format> {
    let is_core = |file: &std::path::PathBuf| told(&head(file, HEAD)) == Some(Format::Parsec);
    if path.join(accelsim::LIST).is_file() {
        Some(Format::AccelSim)
    } else if !snoopie::logs(path).is_empty() {
        Some(Format::Snoopie)
    } else {
        // Cores that do nothing have empty files.
        cores::in_folder(path).iter().any(|(_, file)| is_core(file)).then_some(Format::Parsec)
    }
}

/// The format of a file that starts like this.
fn told(head: &str) -> Option<Format> {
    let first =
        head.trim_start_matches(BYTE_ORDER_MARK).lines().map(str::trim).find(|line| !line.is_empty())?;
    if first.starts_with("-kernel name =") {
        Some(Format::AccelSim)
    } else if first.starts_with(snoopie::MARK) {
        Some(Format::Snoopie)
    } else if uvm::is_log(first) {
        Some(Format::UvmFaults)
    } else if cores::parsec(first, 0).is_ok() {
        Some(Format::Parsec)
    } else if cores::shared(first, 0).is_ok() {
        Some(Format::Cores)
    } else {
        head.contains(nvbit::MARK).then_some(Format::Nvbit)
    }
}
