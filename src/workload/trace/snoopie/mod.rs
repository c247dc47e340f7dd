//! The log of remote accesses that Snoopie writes (`snoopie_log_PID.csv`): a row for each active lane of each access
//! that one GPU makes to the memory of another.
//!
//! Mapping: the rows of `running_dev_id` N are a kernel that only gpuN runs, and the kernels of all GPUs run side by
//! side. Rows that follow each other with the same mnemonic, thread, GPU and place in the source are the lanes of one
//! instruction, at most 32, up to one that accesses what a lane before it did. Each `thread_indx` (the first thread of a
//! warp) is a block of one warp, in the order in which they come. `mem_dev_id`, the GPU whose memory it was, is the home of
//! its page on sockets that place pages by first touch; elsewhere memory is the host's, and moves to where it is used. Lost:
//! local accesses and computing, which are not in the log; launches, blocks and lane numbers, which cannot be told from it;
//! the order between warps. Values are not in the log: a
//! store writes bytes made from its line's number and the address.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::opcode::{Class, classify};
use super::recording::{Recording, TaskNumber};
use super::stream::Launch;
use super::text::{Lines, about};
use super::unpack::stem;
use super::warp::{self, ADDRESS_SPACE, WARP, WIDEST};
use super::words::{Parsed, Words, address};
use crate::diagnostic::{Diagnostic, Result};

/// What a log's first line starts with.
pub const MARK: &str = "op_code,";

const COLUMNS: [&str; 10] = [
    "op_code",
    "addr",
    "thread_indx",
    "running_dev_id",
    "mem_dev_id",
    "code_linenum",
    "code_line_index",
    "code_line_estimated_status",
    "obj_offset",
    "mem_range",
];

/// Most GPUs in a log.
const MOST_GPUS: u32 = 1024;

/// Reads a log, or the one in a folder.
pub fn read(path: &Path, recording: &mut Recording) -> Result<()> {
    let path = if path.is_dir() { log_in(path)? } else { path.to_owned() };
    let mut lines = Lines::open(&path)?;
    let named = lines.advance()? && Words::cells(lines.text()).all().eq(COLUMNS);
    if !named {
        return Err(lines.unexpected("this does not name the columns of a log", &COLUMNS.join(", ")));
    }
    let mut log = Log { recording, gpus: BTreeMap::new(), open: None };
    while lines.advance()? {
        let row = row(lines.text(), lines.number()).map_err(|wrong| lines.complain(&wrong))?;
        log.row(row)?;
    }
    if log.open.is_none() {
        return Err(lines.unexpected("there is no access in it", "a row for each lane of each remote access"));
    }
    log.end_instruction()
}

/// The log in a folder.
fn log_in(folder: &Path) -> Result<PathBuf> {
    let name = folder.display().to_string();
    let mut logs = logs(folder);
    match (logs.pop(), logs.is_empty()) {
        (Some(log), true) => Ok(log),
        (log, _) => {
            let message = if log.is_some() { "holds several logs" } else { "holds no log" };
            Err(Box::new(about(&name, message).expected("one file snoopie_log_PID.csv; or name that file")))
        }
    }
}

/// The logs in a folder.
pub fn logs(folder: &Path) -> Vec<PathBuf> {
    let is_log =
        |path: &PathBuf| stem(path).strip_suffix(".csv").is_some_and(|name| name.starts_with("snoopie_log"));
    let entries = fs::read_dir(folder).into_iter().flatten();
    entries.filter_map(|entry| Some(entry.ok()?.path())).filter(is_log).collect()
}

/// What the lanes of an instruction have in common.
#[derive(Debug, PartialEq, Eq)]
struct Key {
    opcode: String,
    class: Class,
    thread: u64,
    gpu: u32,
    /// Place in the source.
    place: u64,
    width: u64,
}

#[derive(Debug)]
struct Row {
    key: Key,
    address: u64,
    /// The GPU whose memory it is.
    home: u32,
    line: u64,
}

fn row(text: &str, line: u64) -> Parsed<Row> {
    let mut cells = Words::cells(text);
    let (opcode, class) = cells.take("an access such as LDG.E or STG.E", |word| {
        let class = classify(word);
        matches!(class, Class::Load | Class::Store | Class::Atomic(_)).then(|| (word.to_owned(), class))
    })?;
    let expected = format!("an address in hex digits after 0x, below {:#x}", ADDRESS_SPACE - WIDEST);
    let address = cells.take(&expected, |word| address(word).filter(|it| *it < ADDRESS_SPACE - WIDEST))?;
    let thread = cells.take("the number of a thread", |word| word.parse().ok())?;
    let gpu = |word: &str| word.parse().ok().filter(|gpu| *gpu < MOST_GPUS);
    let running = cells.take("the number of the GPU that accesses", gpu)?;
    let home = cells.take("the number of the GPU whose memory it is", gpu)?;
    cells.take("the number of a source line", |word| word.parse::<i64>().ok())?;
    let place = cells.take("the number of a place in the source", |word| word.parse().ok())?;
    cells.take("a number", |word| word.parse::<i64>().ok())?;
    cells.take("the address of an object in hex digits after 0x", super::words::address)?;
    let expected = format!("the bytes of the access, 1 to {WIDEST}");
    let width =
        cells.take(&expected, |word| word.parse().ok().filter(|width| (1..=WIDEST).contains(width)))?;
    cells.end()?;
    Ok(Row { key: Key { opcode, class, thread, gpu: running, place, width }, address, home, line })
}

/// A GPU's kernel and its warps.
struct Gpu {
    task: TaskNumber,
    /// Stream of each thread that starts a warp.
    warps: FxHashMap<u64, u64>,
}

/// An instruction whose lanes are being collected.
struct Open {
    key: Key,
    addresses: SmallVec<[u64; WARP as usize]>,
    line: u64,
}

struct Log<'a> {
    recording: &'a mut Recording,
    gpus: BTreeMap<u32, Gpu>,
    open: Option<Open>,
}

impl Log<'_> {
    fn row(&mut self, row: Row) -> Result<()> {
        self.recording.lives(row.home, row.address, row.key.width);
        if let Some(open) = &mut self.open
            && open.key == row.key
            && open.addresses.len() < WARP as usize
            && !open.addresses.contains(&row.address)
        {
            open.addresses.push(row.address);
            return Ok(());
        }
        self.end_instruction()?;
        self.open =
            Some(Open { key: row.key, addresses: SmallVec::from_slice(&[row.address]), line: row.line });
        Ok(())
    }

    fn end_instruction(&mut self) -> Result<()> {
        let Some(Open { key, addresses, line }) = self.open.take() else { return Ok(()) };
        let lanes = (0..).zip(addresses);
        let step = warp::step(key.class, key.width, line, lanes)
            .map_err(|(message, expected)| Box::new(Diagnostic::new(message).expected(expected)))?;
        let (task, stream) = self.stream(key.gpu, key.thread)?;
        self.recording.step(task, stream, 1, &step)
    }

    /// The kernel and stream of a warp.
    fn stream(&mut self, number: u32, thread: u64) -> Result<(TaskNumber, u64)> {
        let gpu = match self.gpus.entry(number) {
            std::collections::btree_map::Entry::Occupied(entry) => entry.into_mut(),
            std::collections::btree_map::Entry::Vacant(entry) => {
                let name = format!("remote-accesses-gpu{number}");
                let launch = Launch {
                    id: format!("gpu{number}"),
                    kernel: name,
                    blocks: 0,
                    warps_per_block: 1,
                    gpu: Some(number),
                };
                let task = self.recording.launch(launch)?;
                entry.insert(Gpu { task, warps: FxHashMap::default() })
            }
        };
        let task = gpu.task;
        let stream = match gpu.warps.get(&thread) {
            Some(stream) => *stream,
            None => *gpu.warps.entry(thread).or_insert(self.recording.add_block(task)?),
        };
        Ok((task, stream))
    }
}

#[cfg(test)]
mod tests;
