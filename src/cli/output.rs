//! Standard output as a command sees it. A reader that has seen enough (`umscope list | head -1`) ends nothing with
//! an error: what is written afterwards goes nowhere.

use std::io::{self, BufWriter, ErrorKind, Stdout, Write};

use super::exit::Trouble;
use crate::model::text::tame;

/// Standard output, or a writer in its place.
#[derive(Debug)]
pub struct Output<W: Write = Stdout> {
    inner: BufWriter<W>,
    closed: bool,
}

impl Output {
    /// The standard output of the process.
    #[must_use]
    pub fn standard() -> Self {
        Self::new(io::stdout())
    }
}

impl<W: Write> Output<W> {
    pub fn new(inner: W) -> Self {
        Self { inner: BufWriter::with_capacity(1 << 16, inner), closed: false }
    }

    /// Whether nobody reads any more.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.closed
    }

    /// Writes `text` and hands it on.
    pub fn put(&mut self, text: &str) -> Result<(), Trouble> {
        self.write_all(tame(text).as_bytes()).and_then(|()| self.flush()).map_err(failed)
    }

    /// Writes `text` and a line break; it may wait in a buffer until [`Self::done`].
    pub fn line(&mut self, text: &str) -> Result<(), Trouble> {
        writeln!(self, "{}", tame(text)).map_err(failed)
    }

    /// Writes one JSON document.
    pub fn json(&mut self, document: &serde_json::Value) -> Result<(), Trouble> {
        self.put(&format!("{document:#}\n"))
    }

    /// Hands on what waits.
    pub fn done(&mut self) -> Result<(), Trouble> {
        self.flush().map_err(failed)
    }

    fn unless_closed<T>(&mut self, result: io::Result<T>, otherwise: T) -> io::Result<T> {
        match result {
            Err(error) if error.kind() == ErrorKind::BrokenPipe => {
                self.closed = true;
                Ok(otherwise)
            }
            result => result,
        }
    }
}

fn failed(error: io::Error) -> Trouble {
    Trouble::Io("write the output", error)
}

impl<W: Write> Write for Output<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.closed {
            return Ok(bytes.len());
        }
        let written = self.inner.write(bytes);
        self.unless_closed(written, bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        if self.closed {
            return Ok(());
        }
        let flushed = self.inner.flush();
        self.unless_closed(flushed, ())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Fails every write.
    struct Failing(ErrorKind);

    impl Write for Failing {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(self.0.into())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn what_commands_a_terminal_is_shown_and_not_obeyed() {
        let mut output = Output::new(Vec::new());
        output.line("a\tb").unwrap();
        output.put("\u{1b}[2Jc\u{9b}\n").unwrap();
        assert_eq!(output.inner.get_ref().as_slice(), b"a\tb\n\\u001b[2Jc\\u009b\n");
    }

    #[test]
    fn a_closed_reader_is_no_error_and_is_noticed() {
        let mut output = Output::new(Failing(ErrorKind::BrokenPipe));
        output.put("one").unwrap();
        assert!(output.is_closed());
        output.put("two").unwrap();
    }

    #[test]
    fn a_full_disk_is_an_error() {
        assert!(Output::new(Failing(ErrorKind::StorageFull)).put("one").is_err());
    }
}
