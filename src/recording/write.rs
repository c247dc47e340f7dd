//! Writing a recording: all of it, or as it comes.

use std::fs;
use std::io::{self, Read, Write};
use std::path::Path;

use super::line::{Check, escape, sealed};
use super::{End, FORMAT, Input, Mark, Origin, Recording};
use crate::config::Kept;
use crate::diagnostic::{Diagnostic, Result, Source, cannot, write_whole};
use crate::model::text::digits;
use crate::model::time::EventNumber;

/// How every recording begins.
pub const MAGIC: &str = crate::config::RECORDING;

/// Writes a recording line by line. What has been written is good whatever happens then.
#[derive(Debug)]
pub struct Writer<W: Write> {
    sink: W,
    check: Check,
}

impl<W: Write> Writer<W> {
    /// Begins a recording.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn begin(sink: W, origin: &Origin) -> io::Result<Self> {
        let mut writer = Self { sink, check: Check::START };
        writer.line(&format!("{MAGIC}{FORMAT}"))?;
        writer.line(&format!("made-by {}", escape(&origin.made_by)))?;
        writer.line(&format!("name {}", escape(&origin.name)))?;
        writer.line("scenario")?;
        writer.source(&origin.scenario)?;
        if let Some(folder) = &origin.folder {
            writer.line(&format!("folder {}", escape(folder)))?;
        }
        for text in &origin.with {
            writer.line(&format!("with {}", escape(text)))?;
        }
        for file in &origin.files {
            writer.file(file)?;
        }
        for text in &origin.set {
            writer.line(&format!("set {}", escape(text)))?;
        }
        if let Some(seed) = origin.seed {
            writer.line(&format!("seed {seed}"))?;
        }
        if let Some(cycles) = origin.max_cycles {
            writer.line(&format!("max-cycles {cycles}"))?;
        }
        if let Some(checks) = origin.checks {
            writer.line(if checks { "checks on" } else { "checks off" })?;
        }
        if let Some(trace) = &origin.trace {
            let format = trace.format.as_deref().unwrap_or("-");
            let path = escape(&trace.path);
            writer.line(&format!("trace {} {} {format} {path}", trace.size, digits(trace.digest)))?;
        }
        writer.line("begin")?;
        writer.sink.flush()?;
        Ok(writer)
    }

    fn file(&mut self, file: &Kept) -> io::Result<()> {
        let place = if file.on_disk { "disk" } else { "bundled" };
        self.line(&format!("file {} {place} {}", file.kind.name(), escape(&file.reference)))?;
        self.source(&file.source)
    }

    /// A named text. Its last line tells whether it ends with an end of line.
    fn source(&mut self, source: &Source) -> io::Result<()> {
        let lines = source.text.split('\n').count();
        self.line(&format!("text {lines} {}", escape(&source.name)))?;
        source.text.split('\n').try_for_each(|line| self.line(&format!("|{line}")))
    }

    /// What is done to the machine after `event`.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn input(&mut self, event: EventNumber, input: &Input) -> io::Result<()> {
        self.line(&format!("input {event} {} {}", input.verb(), escape(input.text())))
    }

    /// # Errors
    /// If it cannot be written.
    pub fn mark(&mut self, mark: Mark) -> io::Result<()> {
        self.line(&format!("mark {} {} {}", mark.event, mark.cycle, digits(mark.digest)))?;
        self.sink.flush()
    }

    /// The last line.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn end(mut self, end: &End) -> io::Result<W> {
        let Mark { event, cycle, digest } = end.mark;
        let found = end.found.as_ref().map(|text| format!(" {}", escape(text))).unwrap_or_default();
        self.line(&format!("end {event} {cycle} {} {}{found}", digits(digest), end.how.name()))?;
        self.sink.flush()?;
        Ok(self.sink)
    }

    fn line(&mut self, text: &str) -> io::Result<()> {
        let (line, check) = sealed(text, self.check);
        self.check = check;
        self.sink.write_all(line.as_bytes())
    }
}

impl Recording {
    /// The file's bytes.
    #[must_use]
    pub fn bytes(&self) -> Vec<u8> {
        let all = || {
            let mut writer = Writer::begin(Vec::new(), &self.origin)?;
            let mut marks = self.marks.iter().peekable();
            for (event, input) in &self.inputs {
                while let Some(mark) = marks.next_if(|mark| mark.event <= *event) {
                    writer.mark(*mark)?;
                }
                writer.input(*event, input)?;
            }
            marks.try_for_each(|mark| writer.mark(*mark))?;
            match &self.end {
                Some(end) => writer.end(end),
                None => Ok(writer.sink),
            }
        };
        // Memory takes whatever is written to it.
        all().unwrap_or_else(|_: io::Error| Vec::new())
    }

    /// Writes it to a file, which appears whole or not at all.
    ///
    /// # Errors
    /// If it cannot be written, or another file that is no recording is there.
    pub fn write(&self, path: &Path) -> Result<()> {
        may_replace(path)?;
        write_whole(path, &self.bytes())
    }
}

/// That a recording may be written to `path`: nothing is there, or a recording.
///
/// # Errors
/// If something else is there.
pub fn may_replace(path: &Path) -> Result<()> {
    let Ok(there) = fs::metadata(path) else { return Ok(()) };
    if there.is_dir() {
        return Err(cannot(path, &io::ErrorKind::IsADirectory.into()));
    }
    if !there.is_file() || there.len() == 0 || is_recording(path) {
        return Ok(());
    }
    let error = Diagnostic::new(format!("{} is there already, and is no recording", path.display()));
    Err(Box::new(error.expected("a new file, or a recording, which is replaced")))
}

/// Whether a file begins as recordings do.
#[must_use]
pub fn is_recording(path: &Path) -> bool {
    let mut start = Vec::new();
    let read = fs::metadata(path).is_ok_and(|file| file.is_file())
        && fs::File::open(path)
            .and_then(|file| file.take(MAGIC.len() as u64).read_to_end(&mut start))
            .is_ok();
    read && start == MAGIC.as_bytes()
}
