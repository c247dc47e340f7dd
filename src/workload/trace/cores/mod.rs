//! Traces of the cores of a CPU, in two ways of writing.
//!
//! * `parsec`: the PARSEC assignment's (NUS CS4223). A file for each core, `NAME_CORE.data`; a line is `0 0xADDRESS`
//!   for a load, `1 0xADDRESS` for a store, `2 0xCYCLES` for computing in between.
//! * `cores`: one file for all, an access a line: `CORE r|w ADDRESS` (NCSU ECE 506) or `CORE L|S ADDRESS`, the
//!   address in hex digits with or without `0x`.
//!
//! Mapping: the cores in the order of their numbers run on `host.cpu0`, `host.cpu1` and so on, all from the start. An
//! access is one of the word of 4 bytes around its address, which is the unit of the assignment; a store is coherent
//! and writes bytes made from its line's number and the address. Lost: the order between the cores (which the lines of
//! a shared file have; each core runs at its own pace here), and widths other than a word.

use std::fs;
use std::path::{Path, PathBuf};

use rustc_hash::FxHashMap;

use super::recording::{Recording, TaskNumber};
use super::step::{Step, Touch};
use super::text::{Lines, Wrong, about};
use super::unpack::stem;
use super::warp::ADDRESS_SPACE;
use super::words::{Parsed, Words, address, hexadecimal};
use crate::diagnostic::Result;
use crate::model::access::AccessKind;
use crate::model::address::Address;
use crate::model::operation::Lanes;

/// Bytes of an access.
const WORD: u8 = 4;

fn touch(kind: AccessKind, address: u64, line: u64) -> Step {
    let lanes = Lanes::one(Address(address & !u64::from(WORD - 1)));
    Step::Touch(Touch { kind, width: WORD, lanes, seed: line })
}

/// Reads a file for all cores.
pub fn read_shared(path: &Path, recording: &mut Recording) -> Result<()> {
    let mut lines = Lines::open(path)?;
    let mut tasks: FxHashMap<u32, TaskNumber> = FxHashMap::default();
    while lines.advance()? {
        let (core, step) = shared(lines.text(), lines.number()).map_err(|wrong| lines.complain(&wrong))?;
        let task = match tasks.get(&core) {
            Some(task) => *task,
            None => *tasks.entry(core).or_insert(recording.core(core)?),
        };
        recording.step(task, 0, 1, &step)?;
    }
    if tasks.is_empty() {
        return Err(lines.unexpected("there is no access in it", "a line such as `0 r 1f40`"));
    }
    Ok(())
}

/// `CORE KIND ADDRESS`
pub fn shared(line: &str, number: u64) -> Parsed<(u32, Step)> {
    let mut words = Words::new(line);
    let core = words.take("the number of a core", |word| word.parse().ok())?;
    let kind = words.take("r or L for a load, w or S for a store", |word| match word {
        "r" | "R" | "l" | "L" => Some(AccessKind::Load),
        "w" | "W" | "s" | "S" => Some(AccessKind::Store),
        _ => None,
    })?;
    let expected = format!("an address in hex digits, below {ADDRESS_SPACE:#x}");
    let at = words.take(&expected, |word| reachable(address(word).or_else(|| hexadecimal(word))?))?;
    words.end()?;
    Ok((core, touch(kind, at, number)))
}

/// What is wrong with a line that nearly is one of either kind.
pub fn nearly(line: &str) -> Option<Wrong> {
    let mut words = line.split_whitespace();
    words.next()?.parse::<u64>().ok()?;
    match words.next()? {
        "r" | "R" | "l" | "L" | "w" | "W" | "s" | "S" => shared(line, 1).err(),
        word if word.starts_with("0x") => parsec(line, 1).err(),
        _ => None,
    }
}

fn reachable(address: u64) -> Option<u64> {
    (address < ADDRESS_SPACE).then_some(address)
}

/// Reads the file of one core, or a folder with those of all cores.
pub fn read_parsec(path: &Path, recording: &mut Recording) -> Result<()> {
    let files =
        if path.is_dir() { files(path)? } else { vec![(number(path).map_or(0, |it| it.1), path.into())] };
    for (core, path) in files {
        let mut lines = Lines::open(&path)?;
        let task = recording.core(core)?;
        while lines.advance()? {
            let (instructions, step) =
                parsec(lines.text(), lines.number()).map_err(|wrong| lines.complain(&wrong))?;
            recording.step(task, 0, instructions, &step)?;
        }
    }
    Ok(())
}

/// `LABEL VALUE`, and how many instructions it stands for.
pub fn parsec(line: &str, number: u64) -> Parsed<(u64, Step)> {
    let mut words = Words::new(line);
    let label = words.take("0 for a load, 1 for a store or 2 for computing", |word| match word {
        "0" => Some(Some(AccessKind::Load)),
        "1" => Some(Some(AccessKind::Store)),
        "2" => Some(None),
        _ => None,
    })?;
    let read = if let Some(kind) = label {
        let expected = format!("an address in hex digits after 0x, below {ADDRESS_SPACE:#x}");
        (1, touch(kind, words.take(&expected, |word| reachable(address(word)?))?, number))
    } else {
        let expected = "a number of cycles in hex digits after 0x, below 2^32";
        let cycles = words.take(expected, |word| u32::try_from(address(word)?).ok())?;
        (u64::from(cycles), Step::Compute(cycles))
    };
    words.end()?;
    Ok(read)
}

/// The name and core of `NAME_CORE.data`, which may be compressed.
fn number(path: &Path) -> Option<(String, u32)> {
    let name = stem(path);
    let (run, core) = name.strip_suffix(".data")?.rsplit_once('_')?;
    Some((run.to_owned(), core.parse().ok()?))
}

/// The files of cores in a folder, in the order of their names and cores.
pub fn in_folder(folder: &Path) -> Vec<((String, u32), PathBuf)> {
    let entries = fs::read_dir(folder).into_iter().flatten();
    let paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
    let mut found: Vec<_> = paths.filter_map(|path| number(&path).map(|it| (it, path))).collect();
    found.sort();
    found
}

/// The files of the cores of the one run in a folder.
fn files(folder: &Path) -> Result<Vec<(u32, PathBuf)>> {
    let found = in_folder(folder);
    let name = folder.display().to_string();
    let expected = "one file NAME_CORE.data for each core of one run";
    if found.is_empty() {
        return Err(Box::new(about(&name, "holds no trace of a core").expected(expected)));
    }
    for pair in found.windows(2) {
        if let [((one, number), first), ((other, same), second)] = pair
            && (one != other || number == same)
        {
            let message = format!("{} and {} are not of one run", first.display(), second.display());
            return Err(Box::new(about(&name, message).expected(expected)));
        }
    }
    Ok(found.into_iter().map(|((_, core), path)| (core, path)).collect())
}

#[cfg(test)]
mod tests;
