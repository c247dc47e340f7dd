//! A trace file: read once from start to end, then by position. No more than a line or a piece of it is in memory,
//! unless it is small.

use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read};
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use crate::diagnostic::{Diagnostic, Result, Source};

/// Longest line that is read, in bytes. The longest that the tracers write is about 3 KiB.
pub const LINE_LIMIT: usize = 1 << 16;

/// Files up to this many bytes are held in memory.
const SMALL: u64 = 1 << 20;

/// A named text, in memory or in a file.
#[derive(Debug)]
pub struct Text {
    name: Arc<str>,
    origin: Origin,
}

#[derive(Debug)]
enum Origin {
    Memory(Vec<u8>),
    /// Opened for each piece, so that a trace of thousands of kernels does not hold thousands of files open.
    File {
        path: PathBuf,
        length: u64,
        modified: Option<SystemTime>,
    },
}

/// What is wrong in a line: where in it, and what belongs there.
#[derive(Debug)]
pub struct Wrong {
    pub span: Range<usize>,
    pub message: String,
    pub expected: String,
}

/// A complaint about a whole file.
pub fn about(name: &str, message: impl Into<String>) -> Diagnostic {
    let mut diagnostic = Diagnostic::new(message);
    diagnostic.source = Some(Source { name: Arc::from(name), text: Arc::from("") });
    diagnostic
}

impl Text {
    /// Opens a regular, uncompressed file.
    pub fn open(path: &Path) -> Result<Self> {
        let name = path.display().to_string();
        let unreadable = |error: std::io::Error| Box::new(about(&name, format!("cannot be read: {error}")));
        let metadata = fs::metadata(path).map_err(unreadable)?;
        if !metadata.is_file() {
            return Err(Box::new(about(&name, "is not a regular file").expected("a trace file")));
        }
        let mut magic = [0u8; 6];
        let mut file = File::open(path).map_err(unreadable)?;
        let read = file.read(&mut magic).map_err(unreadable)?;
        if read == magic.len() && magic == *b"\xFD7zXZ\0" || magic.starts_with(b"\x1f\x8b") {
            return Err(Box::new(
                about(&name, "is compressed").expected("plain text: decompress the trace first"),
            ));
        }
        let origin = if metadata.len() <= SMALL {
            let mut bytes = magic.get(..read).unwrap_or_default().to_vec();
            file.take(SMALL + 1).read_to_end(&mut bytes).map_err(unreadable)?;
            Origin::Memory(bytes)
        } else {
            let modified = metadata.modified().ok();
            Origin::File { path: path.to_owned(), length: metadata.len(), modified }
        };
        Ok(Self { name: Arc::from(name), origin })
    }

    /// A text in memory.
    #[cfg(test)]
    pub fn from_bytes(name: &str, bytes: impl Into<Vec<u8>>) -> Self {
        Self { name: Arc::from(name), origin: Origin::Memory(bytes.into()) }
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    fn unreadable(&self, error: &std::io::Error) -> Box<Diagnostic> {
        Box::new(about(&self.name, format!("cannot be read: {error}")))
    }

    /// The lines from the start.
    pub fn lines(&self) -> Result<Lines<'_>> {
        let reader: Box<dyn BufRead> = match &self.origin {
            Origin::Memory(bytes) => Box::new(bytes.as_slice()),
            Origin::File { path, .. } => {
                let file = File::open(path).map_err(|error| self.unreadable(&error))?;
                Box::new(BufReader::with_capacity(1 << 18, file))
            }
        };
        Ok(Lines { text: self, reader, buffer: Vec::new(), number: 0, offset: 0, next: 0 })
    }

    /// The bytes at `offset`.
    ///
    /// # Errors
    /// If the file is not what it was when it was opened.
    pub fn read(&self, offset: u64, bytes: u32) -> Result<Vec<u8>> {
        let changed = || Box::new(about(&self.name, "was changed after it was indexed"));
        match &self.origin {
            Origin::Memory(all) => {
                let start = usize::try_from(offset).map_err(|_| changed())?;
                let end = start.saturating_add(bytes as usize);
                all.get(start..end).map(<[u8]>::to_vec).ok_or_else(changed)
            }
            Origin::File { path, length, modified } => {
                let file = File::open(path).map_err(|error| self.unreadable(&error))?;
                let now = file.metadata().map_err(|error| self.unreadable(&error))?;
                if now.len() != *length || now.modified().ok() != *modified {
                    return Err(changed());
                }
                let mut piece = vec![0; bytes as usize];
                file.read_exact_at(&mut piece, offset).map_err(|error| self.unreadable(&error))?;
                Ok(piece)
            }
        }
    }
}

/// A walk over the lines of a text.
pub struct Lines<'a> {
    text: &'a Text,
    reader: Box<dyn BufRead + 'a>,
    buffer: Vec<u8>,
    /// Of the current line, from 1; 0 before the first.
    number: usize,
    /// Of the current line and of the one after it.
    offset: u64,
    next: u64,
}

impl Lines<'_> {
    /// Goes to the next line that is not blank; false at the end.
    ///
    /// # Errors
    /// If the line is longer than [`LINE_LIMIT`], is not text, or cannot be read.
    pub fn advance(&mut self) -> Result<bool> {
        loop {
            self.buffer.clear();
            self.offset = self.next;
            let mut limited = self.reader.by_ref().take(LINE_LIMIT as u64 + 1);
            let read =
                limited.read_until(b'\n', &mut self.buffer).map_err(|error| self.text.unreadable(&error))?;
            self.number = self.number.saturating_add(1);
            if read == 0 {
                return Ok(false);
            }
            self.next = self.next.saturating_add(read as u64);
            if read > LINE_LIMIT {
                self.buffer.truncate(64);
                return Err(self.wrong(0..1, "the line is too long", &format!("at most {LINE_LIMIT} B")));
            }
            if let Err(error) = std::str::from_utf8(&self.buffer) {
                let good = error.valid_up_to();
                self.buffer.truncate(good);
                return Err(self.wrong(good..good, "this is not text", "a line of a trace"));
            }
            if !self.text().trim().is_empty() {
                return Ok(true);
            }
        }
    }

    /// The current line without its end.
    pub fn text(&self) -> &str {
        std::str::from_utf8(&self.buffer).unwrap_or_default().trim_end()
    }

    /// Where the current line starts and ends, in bytes.
    pub fn extent(&self) -> Range<u64> {
        self.offset..self.next
    }

    /// A complaint about a part of the current line.
    pub fn wrong(&self, span: Range<usize>, message: &str, expected: &str) -> Box<Diagnostic> {
        let source = Source { name: self.text.name.clone(), text: Arc::from(self.text()) };
        Box::new(Diagnostic::new(message).at(&source, span).from_line(self.number.max(1)).expected(expected))
    }

    /// A complaint about the whole current line.
    pub fn unexpected(&self, message: &str, expected: &str) -> Box<Diagnostic> {
        self.wrong(0..self.text().len(), message, expected)
    }

    pub fn complain(&self, wrong: &Wrong) -> Box<Diagnostic> {
        self.wrong(wrong.span.clone(), &wrong.message, &wrong.expected)
    }
}
