//! Reading a file of results that may end at any byte.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek};

use serde_json::Value;

use super::Header;
use crate::cli::exit::Trouble;
use crate::diagnostic::{Diagnostic, Source, reason};
use crate::recording::line::Check;

/// The longest line that is read, in bytes: the results of a point have some hundred thousand at most.
const LONGEST: u64 = 64 << 20;

/// What the first line begins with.
const BEGINNING: &[u8] = b"{\"points\":[";

/// The last key of a result.
pub const CHECK: &str = "check";
/// What a line of results ends with, before its check.
const SEAL: &[u8] = b",\"check\":\"";

/// A result with a check over it at its end: what was changed by hand, or by a disk, is no result of a run.
pub fn sealed(row: &str) -> String {
    let body = row.strip_suffix('}').unwrap_or(row);
    let check = Check::START.after(body.as_bytes()).shown();
    format!("{body},\"{CHECK}\":\"{check:08x}\"}}")
}

/// Whether a line is as it was written.
fn is_whole(line: &[u8]) -> bool {
    let body = line.windows(SEAL.len()).rposition(|end| end == SEAL).and_then(|at| line.get(..at));
    body.is_some_and(|body| {
        std::str::from_utf8(body).is_ok_and(|body| sealed(&format!("{body}}}")).as_bytes() == line)
    })
}

/// What was read of a file that ends at any byte.
pub struct Scanned {
    pub header: Option<Header>,
    /// Key, number of the line, first byte and length.
    pub rows: Vec<(String, usize, u64, u64)>,
    /// The end of the last whole line.
    pub end: u64,
    pub torn: bool,
}

/// Reads a file line by line; what follows the last line break is no line.
pub fn scan(name: &str, file: &mut File) -> Result<Scanned, Trouble> {
    let mut found = Scanned { header: None, rows: Vec::new(), end: 0, torn: false };
    file.rewind().map_err(|error| cannot(name, "read", &error))?;
    let mut reader = BufReader::new(file);
    let mut line = Vec::new();
    for number in 1.. {
        line.clear();
        let read = |error| Trouble::from(cannot(name, "read", &error));
        let length = reader.by_ref().take(LONGEST).read_until(b'\n', &mut line).map_err(read)?;
        let wrong = |message: &str, expected: &str| {
            let source = Source::new(format!("{name}:{number}"), "");
            Trouble::from(Diagnostic::new(message).of(&source).expected(expected))
        };
        let complain =
            |message: &str| wrong(message, "a file that `umscope sweep` or `umscope figures` has written");
        if line.pop_if(|last| *last == b'\n').is_none() {
            // Of a run that was killed; but not a file of something else.
            if number == 1 && !line.starts_with(BEGINNING) && !BEGINNING.starts_with(&line) {
                return Err(complain("this is no file of results"));
            }
            if length as u64 == LONGEST {
                return Err(complain("this line is too long"));
            }
            found.torn = length > 0;
            return Ok(found);
        }
        if number == 1 {
            let header = Header::parse(&line);
            found.header = Some(header.ok_or_else(|| complain("this is no file of results"))?);
        } else {
            let row: Option<Value> = serde_json::from_slice(&line).ok();
            let key = row.as_ref().and_then(|row| row.get("key")?.as_str());
            let key = key.ok_or_else(|| complain("this is no result of a point"))?.to_owned();
            if !is_whole(&line) {
                let message = "this line is not as it was written: its check is wrong or missing";
                let expected = "a result as it was written, or no line: what is missing is run again";
                return Err(wrong(message, expected));
            }
            found.rows.push((key, number, found.end, length as u64 - 1));
        }
        found.end += length as u64;
    }
    Ok(found)
}

/// That a file cannot be read or written.
pub fn cannot(name: &str, what: &str, error: &io::Error) -> Diagnostic {
    Diagnostic::new(format!("{name} cannot be {what}: {}", reason(error)))
}
