//! The results of many runs in a file: a line of JSON that tells which points there are, then a line for each that is done,
//! in any order while they run and in the order of the points at the end.

mod fill;
mod header;
mod scan;

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;

use serde_json::Value;

use super::destination::Destination;
use super::exit::{Trouble, say};
use crate::diagnostic::{Diagnostic, Source, claim};
pub use fill::fill;
pub use header::{FIGURES, Header, name_of};
use scan::{CHECK, Scanned, cannot, scan, sealed};

/// A file of results.
#[derive(Debug)]
pub struct Journal {
    pub name: String,
    pub header: Header,
    file: File,
    /// Where the line of each point stands: its first byte and its length without the line break.
    lines: BTreeMap<usize, (u64, u64)>,
    end: u64,
}

impl Journal {
    /// Goes on with the file at `path`, or begins it; without a path, a file that nobody sees.
    ///
    /// # Errors
    /// If it cannot be read or written, is something else, or holds results that are not of these points.
    pub fn resume(path: Option<&Path>, header: Header) -> Result<Self, Trouble> {
        Self::resume_with(path, |_| header)
    }

    /// The same, where results of other points than those asked for now are kept behind them.
    ///
    /// # Errors
    /// If it cannot be read or written, or is something else.
    pub fn resume_among_others(path: Option<&Path>, header: Header) -> Result<Self, Trouble> {
        Self::resume_with(path, |there| match there.filter(|there| there.title() == header.title()) {
            Some(there) => header.with_others(there),
            None => header,
        })
    }

    fn resume_with(
        path: Option<&Path>,
        header: impl FnOnce(Option<&Header>) -> Header,
    ) -> Result<Self, Trouble> {
        let (name, mut file) = match path {
            None => (String::new(), tempfile::tempfile().map_err(failed)?),
            Some(path) => (path.display().to_string(), open(path)?),
        };
        let found = scan(&name, &mut file)?;
        let header = header(found.header.as_ref());
        let mut journal = Self { name, header, file, lines: BTreeMap::new(), end: 0 };
        journal.take(&found)?;
        if found.torn {
            say(format_args!(
                "{}: the last line is torn and is left out; what has no result is run",
                journal.name
            ));
        }
        match &found.header {
            Some(there) if *there == journal.header => {
                journal.end = found.end;
                journal.file.set_len(found.end).map_err(failed)?;
            }
            // The points are the same or more, and may have other numbers.
            Some(_) => journal.finish()?,
            None => {
                journal.file.set_len(0).map_err(failed)?;
                journal.put(&journal.header.line())?;
            }
        }
        Ok(journal)
    }

    /// Reads the file at `path`, whatever it is of.
    ///
    /// # Errors
    /// If it cannot be read or is something else.
    pub fn read(path: &Path) -> Result<Self, Trouble> {
        let name = path.display().to_string();
        let mut file = File::open(path).map_err(|error| Trouble::from(cannot(&name, "read", &error)))?;
        let found = scan(&name, &mut file)?;
        let header = found.header.clone();
        let header = header.ok_or_else(|| Diagnostic::new(format!("{name} holds no results")))?;
        let mut journal = Self { name, header, file, lines: BTreeMap::new(), end: found.end };
        journal.take(&found)?;
        if found.torn {
            say(format_args!("{}: the last line is torn and is left out", journal.name));
        }
        Ok(journal)
    }

    /// Takes over the rows that were found.
    fn take(&mut self, found: &Scanned) -> Result<(), Trouble> {
        let keys = self.header.keys.iter().enumerate();
        let numbers: BTreeMap<String, usize> = keys.map(|(number, key)| (key.clone(), number)).collect();
        for (key, line, start, length) in &found.rows {
            let complain = |message: &str, expected: &str| {
                let text = Diagnostic::new(message).of(&Source::new(format!("{}:{line}", self.name), ""));
                Trouble::from(text.expected(expected))
            };
            let Some(&point) = numbers.get(key) else {
                let known = found.header.as_ref().and_then(|there| there.point(key));
                let message = known.map_or_else(
                    || "this is a result of something else".to_owned(),
                    |name| {
                        format!("this is the result of {name}, which is no point now, or has changed since")
                    },
                );
                return Err(complain(&message, "another file for --to, or all as it was"));
            };
            if let Some(&(before, long)) = self.lines.get(&point) {
                let same = text(&mut self.file, before, long)? == text(&mut self.file, *start, *length)?;
                if !same {
                    let message = format!("there is another result of {}", self.header.name(point));
                    return Err(complain(&message, "one result for each point"));
                }
            }
            self.lines.insert(point, (*start, *length));
        }
        Ok(())
    }

    /// The points that are done.
    pub fn done(&self) -> BTreeSet<usize> {
        self.lines.keys().copied().collect()
    }

    /// The points that are not done.
    pub fn missing(&self) -> Vec<usize> {
        (0..self.header.keys.len()).filter(|point| !self.lines.contains_key(point)).collect()
    }

    /// The result of a point.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn line(&mut self, point: usize) -> Result<Option<String>, Trouble> {
        let Some(&(start, length)) = self.lines.get(&point) else { return Ok(None) };
        text(&mut self.file, start, length).map(Some)
    }

    /// Adds the result of a point.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn add(&mut self, point: usize, row: &Value) -> Result<(), Trouble> {
        let mut row = row.clone();
        // Taken from another file it has one already.
        if let Some(cells) = row.as_object_mut() {
            cells.remove(CHECK);
        }
        self.add_line(point, sealed(&row.to_string()))
    }

    fn add_line(&mut self, point: usize, line: String) -> Result<(), Trouble> {
        let (start, length) = (self.end, line.len() as u64);
        self.put(&(line + "\n"))?;
        self.lines.insert(point, (start, length));
        Ok(())
    }

    /// Writes a whole line at once.
    fn put(&mut self, line: &str) -> Result<(), Trouble> {
        self.file.seek(SeekFrom::Start(self.end)).map_err(failed)?;
        self.file.write_all(line.as_bytes()).map_err(failed)?;
        self.end += line.len() as u64;
        Ok(())
    }

    /// Puts the lines into the order of the points.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn finish(&mut self) -> Result<(), Trouble> {
        if self.name.is_empty() {
            return Ok(());
        }
        let path = Path::new(&self.name).to_path_buf();
        let mut sorted = Destination::open(Some(&path))?;
        self.write(&mut sorted)?;
        sorted.finish()?;
        let mut file = open(&path)?;
        let found = scan(&self.name, &mut file)?;
        (self.file, self.end) = (file, found.end);
        self.lines.clear();
        self.take(&found)
    }

    /// Writes the header and all lines in the order of the points.
    fn write(&mut self, out: &mut impl Write) -> Result<(), Trouble> {
        out.write_all(self.header.line().as_bytes()).map_err(failed)?;
        for point in self.done() {
            if let Some(line) = self.line(point)? {
                writeln!(out, "{line}").map_err(failed)?;
            }
        }
        Ok(())
    }
}

/// Whether nothing is at `path` yet.
fn is_empty(path: &Path) -> bool {
    path.metadata().map_or(true, |there| there.is_file() && there.len() == 0)
}

/// Puts several files of one sweep together, with the results that are at `to` already, and keeps all of them there;
/// if something does not fit nothing is written.
///
/// # Errors
/// If they are of several sweeps, have several results for a point, or cannot be read or written, or if something else is at
/// `to`.
pub fn merge(to: Option<&Path>, inputs: &mut [Journal]) -> Result<Journal, Trouble> {
    let Some(first) = inputs.first() else {
        return Err(Diagnostic::new("there is nothing to merge").expected("files of results").into());
    };
    let header = first.header.clone();
    if let Some(other) = inputs.iter().find(|other| other.header != header) {
        let message = format!("{} and {} are results of different sweeps", first.name, other.name);
        return Err(Diagnostic::new(message).expected("shards of one sweep").into());
    }
    // What is there already is added to, and nothing else is replaced.
    let mut there = to.filter(|path| !is_empty(path)).map(Journal::read).transpose()?;
    if let Some(there) = there.as_ref().filter(|there| there.header != header) {
        let message = format!("{} has results of something else", there.name);
        return Err(Diagnostic::new(message)
            .expected("a new file, or one with results of this sweep")
            .into());
    }
    let mut all = Journal::resume(None, header)?;
    let mut from: BTreeMap<usize, String> = BTreeMap::new();
    for input in there.iter_mut().chain(inputs) {
        for point in input.done() {
            let Some(line) = input.line(point)? else { continue };
            let known = all.line(point)?;
            if known.as_ref().is_some_and(|known| *known != line) {
                let before = from.get(&point).map_or("", String::as_str);
                let name = all.header.name(point);
                let message = format!("{before} and {} have different results of {name}", input.name);
                return Err(Diagnostic::new(message).expected("one result for each point").into());
            }
            if known.is_none() {
                all.add_line(point, line)?;
                from.insert(point, input.name.clone());
            }
        }
    }
    if to.is_some() {
        let mut out = Destination::open(to)?;
        all.write(&mut out)?;
        out.finish()?;
    }
    Ok(all)
}

/// Opens a file for reading and writing, makes it if it is not there, and keeps it from others who would write to it.
fn open(path: &Path) -> Result<File, Trouble> {
    let name = path.display().to_string();
    if path.exists() && !path.is_file() {
        let error = Diagnostic::new(format!("{name} is no file"));
        return Err(error.expected("a file of results, or the name of a new one").into());
    }
    let mut options = File::options();
    let opened = options.read(true).write(true).create(true).truncate(false).open(path);
    let file = opened.map_err(|error| Trouble::from(cannot(&name, "written", &error)))?;
    if claim(&file).is_err() {
        let error = Diagnostic::new(format!("{name} is being written by another run"));
        return Err(error.expected("a file of its own for each run, such as each shard").into());
    }
    Ok(file)
}

fn failed(error: io::Error) -> Trouble {
    Trouble::Io("write the results", error)
}

fn text(file: &mut File, start: u64, length: u64) -> Result<String, Trouble> {
    let read = |error| Trouble::Io("read the results", error);
    file.seek(SeekFrom::Start(start)).map_err(read)?;
    let mut text = String::new();
    file.take(length).read_to_string(&mut text).map_err(read)?;
    Ok(text)
}
