//! The command list of a trace: copies to the GPU and kernel launches, in program order.

use std::fs::File;
use std::io::Read;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use super::super::text::about;
use super::super::warp::ADDRESS_SPACE;
use super::super::words;
use crate::diagnostic::{Diagnostic, Result, Source};

/// Largest list that is read, in bytes.
const LIST_LIMIT: u64 = 16 << 20;

/// Most bytes of a copy that are believed: no GPU has memory for more.
const MOST_COPIED: u64 = 1 << 40;

/// A line of the list that matters.
#[derive(Debug, PartialEq, Eq)]
pub enum Command {
    /// The host copies so many bytes to this address of the GPU.
    Copy { address: u64, bytes: u64 },
    /// A kernel is launched; its trace is in this file beside the list.
    Launch { file: String, span: Range<usize> },
}

/// A command list and its text.
#[derive(Debug)]
pub struct List {
    pub source: Source,
    pub commands: Vec<Command>,
}

/// Reads a list. Lines that are neither copies to the GPU nor launches are passed over, as Accel-Sim does, but for those that are but the name
/// of another trace: a slip.
pub fn read(path: &Path) -> Result<List> {
    let name = path.display().to_string();
    let unreadable = |error: std::io::Error| Box::new(about(&name, format!("cannot be read: {error}")));
    if !path.metadata().map_err(unreadable)?.is_file() {
        return Err(Box::new(about(&name, "is not a regular file").expected("a list of kernels")));
    }
    let mut bytes = Vec::new();
    File::open(path)
        .and_then(|file| file.take(LIST_LIMIT + 1).read_to_end(&mut bytes))
        .map_err(unreadable)?;
    if bytes.len() as u64 > LIST_LIMIT {
        return Err(Box::new(
            about(&name, "is too large for a list").expected(format!("at most {LIST_LIMIT} B")),
        ));
    }
    match String::from_utf8(bytes) {
        Ok(text) => parse(&name, &text),
        Err(_) => Err(Box::new(about(&name, "is not text").expected("a list of kernels, not compressed"))),
    }
}

fn parse(name: &str, text: &str) -> Result<List> {
    let source = Source { name: Arc::from(name), text: Arc::from(text) };
    let mut commands = Vec::new();
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let content = line.trim();
        let from = start + (line.len() - line.trim_start().len());
        start += line.len();
        let span = from..from + content.len();
        if content.starts_with("MemcpyHtoD") {
            commands.push(copy(content).ok_or_else(|| {
                let expected = format!(
                    "MemcpyHtoD,0xADDRESS,BYTES, at most {MOST_COPIED} B that end below {ADDRESS_SPACE:#x}"
                );
                Box::new(Diagnostic::new("this copy cannot be read").at(&source, span).expected(expected))
            })?);
        } else if content.starts_with("kernel") {
            commands.push(Command::Launch { file: content.to_owned(), span });
        } else if is_name(content) {
            let unknown = Diagnostic::new("this is no launch").at(&source, span);
            return Err(Box::new(unknown.expected("a file beside the list whose name begins with kernel")));
        }
    }
    if !commands.iter().any(|command| matches!(command, Command::Launch { .. })) {
        return Err(Box::new(about(name, "launches no kernel").expected("a line such as kernel-1.traceg")));
    }
    Ok(List { source, commands })
}

/// Whether a line is the name of a trace and nothing else; a comment is none.
fn is_name(line: &str) -> bool {
    let is_trace = [".traceg", ".traceg.xz", ".traceg.zst"].iter().any(|ending| line.ends_with(ending));
    is_trace && !line.contains(char::is_whitespace) && !line.starts_with('#') && !line.starts_with("//")
}

fn copy(line: &str) -> Option<Command> {
    let mut fields = line.split(',').map(str::trim).skip(1);
    let address = words::address(fields.next()?)?;
    let bytes: u64 = fields.next()?.parse().ok()?;
    let end = address.checked_add(bytes)?;
    let is_believed = bytes <= MOST_COPIED && end <= ADDRESS_SPACE;
    (fields.next().is_none() && is_believed).then_some(Command::Copy { address, bytes })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_and_launches_are_read_in_order() {
        let text = "MemcpyHtoD,0x00007fb0fc400000,200000\n\nMemcpyDtoH,1,2\n  kernel-1.traceg\r\n";
        let list = parse("list", text).unwrap();
        let copy = Command::Copy { address: 0x7fb0_fc40_0000, bytes: 200_000 };
        let Command::Launch { file, span } = &list.commands[1] else { panic!("no launch") };
        assert_eq!((list.commands.len(), &list.commands[0]), (2, &copy));
        assert_eq!((file.as_str(), &text[span.clone()]), ("kernel-1.traceg", "kernel-1.traceg"));
    }

    #[test]
    fn what_looks_like_a_launch_is_not_passed_over() {
        for bad in ["kernal-5.traceg", "./kernel-9.traceg", "Kernel-9.traceg.xz"] {
            let error = parse("list", &format!("kernel-1.traceg\nMemcpyDtoH,1,2\n  {bad}\n")).unwrap_err();
            assert_eq!(error.position(), Some((3, 3)), "{bad}");
        }
        let others = "# kernel-1.traceg\n//kernel-9.traceg\nKernels of vectoradd:\n#kernel-2.traceg\nkernel-3.traceg\n";
        assert_eq!(parse("list", others).unwrap().commands.len(), 1);
    }

    #[test]
    fn a_bad_copy_is_pointed_at() {
        for bad in ["MemcpyHtoD", "MemcpyHtoD,0x1", "MemcpyHtoD,1,1", "MemcpyHtoD,0xffffffffffffffff,9"] {
            let error = parse("list", &format!("kernel-1.traceg\n{bad}\n")).unwrap_err();
            assert_eq!(error.position(), Some((2, 1)), "{bad}");
        }
        assert!(parse("list", "MemcpyHtoD,0x1,1").is_err());
    }

    #[test]
    fn no_copy_is_larger_than_the_memory_of_any_gpu() {
        let read = |bytes: u64| parse("list", &format!("MemcpyHtoD,0x0,{bytes}\nkernel-1.traceg\n"));
        assert!(read(MOST_COPIED).is_ok());
        for bytes in [MOST_COPIED + 1, ADDRESS_SPACE] {
            let error = read(bytes).unwrap_err();
            assert_eq!(error.position(), Some((1, 1)), "{bytes}");
            assert!(error.expected.unwrap().contains("at most 1099511627776 B"), "{bytes}");
        }
    }
}
