//! A trace file, plain or compressed, read once from start to end. No more than a line of it is in memory.

use std::cell::Cell;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::ops::Range;
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;

use super::unpack::{MEMORY_LIMITS, Packing, unpack};
use crate::diagnostic::{Diagnostic, Result, Source};

/// Longest line that is read, in bytes. The longest that the tracers write is about 3 KiB.
pub const LINE_LIMIT: usize = 1 << 16;

/// What some editors put before a text.
pub const BYTE_ORDER_MARK: char = '\u{feff}';

/// Bytes of a file from which its packing is told.
const MAGIC: u64 = 6;

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

/// A walk over the lines of a file.
pub struct Lines<'a> {
    name: Arc<str>,
    reader: Box<dyn BufRead + 'a>,
    packing: Packing,
    /// Bytes of the file that were taken.
    taken: Rc<Cell<u64>>,
    buffer: Vec<u8>,
    /// Of the current line, from 1; 0 before the first.
    number: usize,
}

impl Lines<'static> {
    /// Opens a regular file.
    pub fn open(path: &Path) -> Result<Self> {
        let name = path.display().to_string();
        let unreadable = |error: io::Error| Box::new(about(&name, format!("cannot be read: {error}")));
        let metadata = path.metadata().map_err(unreadable)?;
        if !metadata.is_file() {
            return Err(Box::new(about(&name, "is not a regular file").expected("a trace file")));
        }
        let mut file = File::open(path).map_err(unreadable)?;
        let mut head = Vec::new();
        file.by_ref().take(MAGIC).read_to_end(&mut head).map_err(unreadable)?;
        let packing = Packing::of(&head);
        if let Packing::Foreign(way) = packing {
            let packed = about(&name, format!("is compressed with {way}"));
            return Err(Box::new(packed.expected("plain text, or text compressed with xz or zstd")));
        }
        let reader = BufReader::with_capacity(1 << 18, io::Cursor::new(head).chain(file));
        Ok(Self::new(&name, reader, packing))
    }
}

/// A reader that counts what is taken from it.
struct Counted<R> {
    reader: R,
    taken: Rc<Cell<u64>>,
}

impl<R: BufRead> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.reader.read(buffer)?;
        self.taken.set(self.taken.get() + read as u64);
        Ok(read)
    }
}

impl<R: BufRead> BufRead for Counted<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.reader.fill_buf()
    }
    fn consume(&mut self, amount: usize) {
        self.taken.set(self.taken.get() + amount as u64);
        self.reader.consume(amount);
    }
}

impl<'a> Lines<'a> {
    fn new(name: &str, reader: impl BufRead + 'a, packing: Packing) -> Self {
        let taken = Rc::default();
        let reader = unpack(Counted { reader, taken: Rc::clone(&taken) }, packing);
        Self { name: Arc::from(name), reader, packing, taken, buffer: Vec::new(), number: 0 }
    }

    /// The lines of a text in memory.
    #[cfg(test)]
    pub fn of(name: &str, bytes: &'a [u8]) -> Self {
        Self::new(name, bytes, Packing::of(bytes))
    }

    /// Of the current line, from 1.
    pub fn number(&self) -> u64 {
        self.number as u64
    }

    /// Goes to the next line that is not blank; false at the end.
    ///
    /// # Errors
    /// If the line is longer than [`LINE_LIMIT`], is not text, or cannot be read.
    pub fn advance(&mut self) -> Result<bool> {
        loop {
            self.buffer.clear();
            let mut limited = self.reader.by_ref().take(LINE_LIMIT as u64 + 1);
            let read = limited.read_until(b'\n', &mut self.buffer);
            self.number = self.number.saturating_add(1);
            let read = read.map_err(|error| self.unreadable(&error))?;
            if read == 0 {
                return Ok(false);
            }
            if read > LINE_LIMIT {
                self.buffer.truncate(64);
                return Err(self.wrong(0..1, "the line is too long", &format!("at most {LINE_LIMIT} B")));
            }
            if self.number == 1
                && self.buffer.starts_with(BYTE_ORDER_MARK.encode_utf8(&mut [0; 4]).as_bytes())
            {
                self.buffer.drain(..BYTE_ORDER_MARK.len_utf8());
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

    fn unreadable(&mut self, error: &io::Error) -> Box<Diagnostic> {
        if self.packing == Packing::Plain {
            return Box::new(about(&self.name, format!("cannot be read: {error}")));
        }
        self.buffer.clear();
        if error.kind() == io::ErrorKind::OutOfMemory {
            let message = "what is compressed here takes more memory to read than is given to it";
            return Box::new(about(&self.name, message).expected(MEMORY_LIMITS));
        }
        // A piece of the file is many lines, of which none comes out if it is broken.
        let taken = self.taken.get();
        let message = format!(
            "the compressed text ends or breaks at byte {taken} of the file: in this line, or after it"
        );
        self.wrong(0..0, &message, "a whole xz or zstd file")
    }

    /// A complaint about a part of the current line.
    pub fn wrong(&self, span: Range<usize>, message: &str, expected: &str) -> Box<Diagnostic> {
        let source = Source { name: self.name.clone(), text: Arc::from(self.text()) };
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

/// The text that a file starts with, up to `bytes` of it; what cannot be read is empty.
pub fn head(path: &Path, bytes: u64) -> String {
    let mut head = Vec::new();
    if let Ok(lines) = Lines::open(path) {
        // What was read before an error is told from all the same.
        let _ = lines.reader.take(bytes).read_to_end(&mut head);
    }
    String::from_utf8_lossy(&head).into_owned()
}
