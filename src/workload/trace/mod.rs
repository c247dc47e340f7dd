//! Real traces as workloads: indexed once, then read by position, so that a file may be larger than memory.

mod accelsim;
mod cache;
mod footprint;
mod text;

use std::collections::BTreeSet;
use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

pub use self::accelsim::Counts;
use self::accelsim::TraceKernel;
use self::accelsim::list::{self, Command};
use self::cache::Cache;
use self::footprint::Footprint;
use self::text::about;
use super::{Task, TaskKind, Workload};
use crate::diagnostic::{Diagnostic, Result};
use crate::model::address::Range;

/// A trace format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// SASS traces of Accel-Sim's tracer.
    AccelSim,
}

impl Format {
    /// Every format with the name that arguments use.
    pub const ALL: &'static [(&'static str, Format)] = &[("accel-sim", Format::AccelSim)];

    /// The format of this name.
    ///
    /// # Errors
    /// If there is none; names the nearest.
    pub fn parse(name: &str) -> Result<Self> {
        let names = || Self::ALL.iter().map(|(name, _)| *name);
        Self::ALL.iter().find(|(known, _)| *known == name).map(|(_, format)| *format).ok_or_else(|| {
            let unknown = Diagnostic::new(format!("there is no trace format `{name}`"));
            let expected = names().collect::<Vec<_>>().join(", ");
            Box::new(unknown.expected(format!("one of {expected}")).nearest(name, names()))
        })
    }
}

/// A trace that was read.
#[derive(Debug)]
pub struct Trace {
    /// Its kernels, one after the other.
    pub workload: Workload,
    /// What all its kernels do.
    pub counts: Counts,
    /// Memory that the host filled before or between the kernels.
    pub copied: Vec<Range>,
}

/// The name of a command list in its folder.
const LIST: &str = "kernelslist.g";

/// Whether `path` is a trace, and of which format. Never fails: what cannot be read is no trace.
#[must_use]
pub fn detect(path: &Path) -> Option<Format> {
    if path.is_dir() {
        return path.join(LIST).is_file().then_some(Format::AccelSim);
    }
    if !path.is_file() {
        return None;
    }
    let name = path.file_name()?.to_string_lossy();
    let named = is_list(&name) || name.ends_with(".traceg") || name.ends_with(".traceg.xz");
    let mut head = Vec::new();
    File::open(path).ok()?.take(4096).read_to_end(&mut head).ok()?;
    let headed = head.starts_with(b"-kernel name =");
    (named || headed).then_some(Format::AccelSim)
}

fn is_list(name: &str) -> bool {
    name.starts_with("kernelslist")
}

/// Opens a trace as a workload of kernel tasks in program order: a command list, a folder that holds one, or the
/// trace of a single kernel.
///
/// # Errors
/// If it is no trace, is of another format, is cut off, or does not keep to its format anywhere: the whole trace is
/// checked here.
pub fn open(path: &Path, format: Option<Format>) -> Result<Workload> {
    read(path, format).map(|trace| trace.workload)
}

/// As [`open`], with counts and copies.
pub fn read(path: &Path, format: Option<Format>) -> Result<Trace> {
    let name = path.display().to_string();
    if let Err(error) = path.metadata() {
        return Err(Box::new(about(&name, format!("cannot be read: {error}"))));
    }
    let Some(Format::AccelSim) = format.or_else(|| detect(path)) else {
        let expected = format!("a {LIST}, a folder that holds one, or a .traceg file");
        return Err(Box::new(about(&name, "is no trace that is known here").expected(expected)));
    };
    let is_list = path.file_name().is_some_and(|name| is_list(&name.to_string_lossy()));
    let mut reader = Reader::default();
    if path.is_dir() {
        reader.list(&path.join(LIST))?;
    } else if is_list {
        reader.list(path)?;
    } else {
        reader.kernel(path)?;
    }
    Ok(Trace {
        workload: Workload { tasks: reader.tasks },
        counts: reader.counts,
        copied: reader.copied.ranges(),
    })
}

/// Most launches in a trace: each one's index stays in memory.
const MOST_LAUNCHES: usize = 1 << 16;

/// Collects the kernels of a trace.
#[derive(Default)]
struct Reader {
    tasks: Vec<Task>,
    /// Names of tasks that are taken.
    names: BTreeSet<String>,
    counts: Counts,
    cache: Arc<Cache>,
    copied: Footprint,
    /// Copied since the last launch.
    fresh: Footprint,
}

impl Reader {
    fn list(&mut self, path: &Path) -> Result<()> {
        let list = list::read(path)?;
        let folder = path.parent().unwrap_or(Path::new(""));
        for command in list.commands {
            match command {
                Command::Copy { address, bytes } => {
                    self.copied.add(address, bytes);
                    self.fresh.add(address, bytes);
                }
                Command::Launch { file, span } => {
                    if self.tasks.len() >= MOST_LAUNCHES {
                        let many = Diagnostic::new("too many launches").at(&list.source, span);
                        return Err(Box::new(many.expected(format!("at most {MOST_LAUNCHES}"))));
                    }
                    let path = folder.join(&file);
                    let wanted =
                        launchable(&file).and_then(|()| path.metadata().map_err(|it| it.to_string()));
                    if let Err(reason) = wanted {
                        let message = format!("the trace of {file} cannot be read: {reason}");
                        let missing = Diagnostic::new(message).at(&list.source, span);
                        return Err(Box::new(missing.expected("the plain .traceg file of a kernel")));
                    }
                    self.kernel(&path)?;
                }
            }
        }
        Ok(())
    }

    fn kernel(&mut self, path: &Path) -> Result<()> {
        let nth = self.tasks.len();
        let kernel = TraceKernel::open(path, nth as u32, &self.cache, &std::mem::take(&mut self.fresh))?;
        self.counts.add(kernel.counts());
        let stem = path.file_stem().map_or_else(|| "kernel".into(), |stem| stem.to_string_lossy());
        let fresh = self.names.insert(stem.to_string());
        let id = if fresh { stem.into_owned() } else { format!("{stem}#{}", nth + 1) };
        self.tasks.push(Task {
            id: Arc::from(id),
            after: nth.checked_sub(1).into_iter().collect(),
            delay: 0,
            what: TaskKind::Kernel(Arc::new(kernel)),
        });
        Ok(())
    }
}

/// Why a file named in a list is not the plain, grouped trace of a kernel, told from its name.
fn launchable(file: &str) -> std::result::Result<(), String> {
    match Path::new(file).extension().and_then(|extension| extension.to_str()) {
        Some("xz") => Err("it is compressed; unpack it and name it in the list without .xz".to_owned()),
        Some("trace") => {
            Err("it is raw; Accel-Sim's post-traces-processing makes a .traceg of it".to_owned())
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests;
