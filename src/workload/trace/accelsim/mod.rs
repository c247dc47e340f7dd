//! SASS traces of Accel-Sim, tracer versions 3 to 6: a command list (`kernelslist.g`, plain text) and a file for each kernel
//! (`kernel-N.traceg`), plain or compressed. A list may also name a file that was compressed since.
//!
//! Mapping: a launch is a kernel, one after the other; its grid and blocks are the trace's own. What the host copies before
//! the first launch is there from the start; later copies are stores of its first core, in their turn. There is no order or
//! time between warps in these traces: each warp's list is a program of its own. An instruction that accesses no
//! global memory computes for a cycle. Lost: what is no access (registers, shared and local memory), when and on
//! which SM it ran, the lengths of copies in time. Not in the traces: values (a store writes bytes made from its
//! program counter and address), what the host does with its own memory, copies back to it. Barriers of parts of a block count as barriers
//! of the block.

mod body;
mod header;
mod instruction;
mod line;
mod list;

use std::path::{Path, PathBuf};

use self::list::Command;
use super::recording::Recording;
use super::text::Lines;
use super::unpack::stem;
use crate::diagnostic::{Diagnostic, Result};

/// The name of a command list in its folder.
pub const LIST: &str = "kernelslist.g";

/// Whether a file of this name is a command list.
pub fn is_list(name: &str) -> bool {
    name.starts_with("kernelslist")
}

/// Reads a command list, a folder that holds one, or the trace of a single kernel.
pub fn read(path: &Path, recording: &mut Recording) -> Result<()> {
    if path.is_dir() {
        return launches(&path.join(LIST), recording);
    }
    if path.file_name().is_some_and(|name| is_list(&name.to_string_lossy())) {
        return launches(path, recording);
    }
    kernel(path, recording)
}

fn launches(path: &Path, recording: &mut Recording) -> Result<()> {
    let list = list::read(path)?;
    let folder = path.parent().unwrap_or(Path::new(""));
    for command in list.commands {
        match command {
            Command::Copy { address, bytes } => recording.copy(address, bytes)?,
            Command::Launch { file, span } => {
                let path = launchable(&folder.join(&file)).map_err(|reason| {
                    let message = format!("the trace of {file} cannot be read: {reason}");
                    let missing = Diagnostic::new(message).at(&list.source, span);
                    missing.expected("the .traceg file of a kernel, plain, .xz or .zst")
                })?;
                kernel(&path, recording)?;
            }
        }
    }
    Ok(())
}

/// The file that is meant by one named in a list, or why there is none.
fn launchable(path: &Path) -> std::result::Result<PathBuf, String> {
    if path.extension().is_some_and(|extension| extension == "trace") {
        return Err("it is raw; Accel-Sim's post-traces-processing makes a .traceg of it".to_owned());
    }
    let missing = match path.metadata() {
        Ok(_) => return Ok(path.to_owned()),
        Err(error) => error.to_string(),
    };
    let packed = |extension: &str| {
        let mut name = path.as_os_str().to_owned();
        name.push(extension);
        PathBuf::from(name)
    };
    let others = [packed(".xz"), packed(".zst"), path.with_file_name(stem(path))];
    others.into_iter().find(|other| other.is_file()).ok_or(missing)
}

fn kernel(path: &Path, recording: &mut Recording) -> Result<()> {
    let name = stem(path);
    body::read(Lines::open(path)?, name.strip_suffix(".traceg").unwrap_or(&name), recording)
}

#[cfg(test)]
mod tests;
