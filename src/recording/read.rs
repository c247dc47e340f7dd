//! Reading a recording, whole or cut off.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use super::line::{Check, unescape, unsealed};
use super::trace::TraceFile;
use super::write::MAGIC;
use super::{End, Ending, FORMAT, Input, Mark, Origin, Recording};
use crate::config::{Kept, Kind};
use crate::diagnostic::{Diagnostic, Result, Source, read_text};

/// The largest recording that is read, in bytes.
pub const LIMIT: u64 = 256 << 20;

const EXPECTED: &str = "a recording, as umscope run --record writes it";

/// Reads the recording at `path`. One that is cut off has no end.
///
/// # Errors
/// If it is none, cannot be read, was changed (with the line), is of a later format, or was cut off before its run
/// began.
pub fn read(path: &Path) -> Result<Recording> {
    // Tells best why a file cannot be read at all.
    if !super::write::is_recording(path) {
        let source = read_text(path, LIMIT).map_err(|mut error| {
            error.expected.get_or_insert_with(|| EXPECTED.to_owned());
            error
        })?;
        // One that was cut off at once is told as that.
        if !MAGIC.starts_with(&*source.text) {
            return Err(Box::new(Diagnostic::new("this is no recording").of(&source).expected(EXPECTED)));
        }
    }
    let name = path.display().to_string();
    let mut bytes = Vec::new();
    let read = File::open(path).and_then(|file| file.take(LIMIT + 1).read_to_end(&mut bytes));
    let of = |message: String| Box::new(Diagnostic::new(message).of(&Source::new(name.as_str(), "")));
    read.map_err(|error| of(format!("this file cannot be read: {error}")))?;
    if bytes.len() as u64 > LIMIT {
        return Err(of(format!("this recording has more than {LIMIT} bytes")));
    }
    parse(&name, &bytes)
}

/// Reads a recording from the bytes of the file called `name`.
///
/// # Errors
/// As [`read`].
pub fn parse(name: &str, bytes: &[u8]) -> Result<Recording> {
    let mut lines = Lines { name, rest: bytes, check: Check::START, number: 0, text: "" };
    let first = lines.next()?;
    let format = first.and_then(|line| line.strip_prefix(MAGIC));
    let Some(format) = format else {
        return Err(lines.wrong("this is no recording").expected("a file that --record wrote").into());
    };
    match format.parse::<u32>() {
        Ok(1..=FORMAT) => {}
        Ok(later) => {
            let message = format!("this recording is of format {later}, from a later version of umscope");
            return Err(lines.wrong(message).expected(format!("a format up to {FORMAT}")).into());
        }
        Err(_) => return Err(lines.wrong("this is no version of a format").expected("a number").into()),
    }
    let mut recording = Recording::new(origin(&mut lines)?);
    while let Some(line) = lines.next()? {
        body(&mut recording, line, &lines)?;
    }
    Ok(recording)
}

/// The lines of a file as far as they are good.
struct Lines<'a> {
    name: &'a str,
    rest: &'a [u8],
    check: Check,
    /// Of the line read last, from 1.
    number: usize,
    text: &'a str,
}

impl<'a> Lines<'a> {
    /// The next line; nothing at the end, or where the file was cut off. A line that lacks nothing but its end is whole.
    fn next(&mut self) -> Result<Option<&'a str>> {
        let end = self.rest.iter().position(|&byte| byte == b'\n');
        let (line, rest) = self.rest.split_at(end.unwrap_or(self.rest.len()));
        let good = unsealed(line, self.check);
        if end.is_none() && good.is_none() {
            return Ok(None);
        }
        self.number += 1;
        let Some((text, check)) = good else {
            let shown = String::from_utf8_lossy(line);
            let source = Source::new(self.name, shown.as_ref());
            let message = "this line, or one before it, was changed: its check does not fit";
            let error = Diagnostic::new(message).at(&source, 0..shown.len()).from_line(self.number);
            return Err(Box::new(error.expected("a recording as it was written")));
        };
        self.rest = rest.get(1..).unwrap_or_default();
        self.check = check;
        self.text = text;
        Ok(Some(text))
    }

    /// A complaint about the line read last.
    fn wrong(&self, message: impl Into<String>) -> Diagnostic {
        let source = Source::new(self.name, self.text);
        Diagnostic::new(message).at(&source, 0..self.text.len()).from_line(self.number.max(1))
    }

    /// The next line of the header.
    fn header(&mut self) -> Result<&'a str> {
        match self.next()? {
            Some(line) => Ok(line),
            None => Err(Box::new(
                Diagnostic::new(format!(
                    "this recording was cut off at line {}, before its run began",
                    self.number + 1
                ))
                .of(&Source::new(self.name, ""))
                .expected("all lines up to \"begin\""),
            )),
        }
    }

    /// A named text that comes next.
    fn source(&mut self) -> Result<Source> {
        let line = self.header()?;
        let parts = line.strip_prefix("text ").and_then(|rest| rest.split_once(' '));
        let Some((count, name)) = parts.and_then(|(count, name)| Some((count.parse::<usize>().ok()?, name)))
        else {
            return Err(self.wrong("a text is missing here").expected("text LINES NAME").into());
        };
        let mut text = String::new();
        for number in 0..count {
            let line = self.header()?;
            let Some(line) = line.strip_prefix('|') else {
                return Err(self.wrong("a line of the text is missing here").expected("|LINE").into());
            };
            if number > 0 {
                text.push('\n');
            }
            text.push_str(line);
        }
        Ok(Source::new(unescape(name), text))
    }
}

fn origin(lines: &mut Lines<'_>) -> Result<Origin> {
    let mut origin = Origin {
        made_by: String::new(),
        name: String::new(),
        scenario: Source::new("", ""),
        folder: None,
        with: Vec::new(),
        files: Vec::new(),
        set: Vec::new(),
        seed: None,
        max_cycles: None,
        checks: None,
        trace: None,
    };
    loop {
        let line = lines.header()?;
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        match word {
            "made-by" => origin.made_by = unescape(rest),
            "name" => origin.name = unescape(rest),
            "scenario" => origin.scenario = lines.source()?,
            "folder" => origin.folder = Some(unescape(rest)),
            "with" => origin.with.push(unescape(rest)),
            "file" => origin.files.push(file(rest, lines)?),
            "set" => origin.set.push(unescape(rest)),
            "seed" => origin.seed = Some(number(rest, lines)?),
            "max-cycles" => origin.max_cycles = Some(number(rest, lines)?),
            "checks" => origin.checks = Some(rest == "on"),
            "trace" => origin.trace = Some(trace(rest, lines)?),
            "begin" => return Ok(origin),
            _ => return Err(unknown(word, lines)),
        }
    }
}

fn unknown(word: &str, lines: &Lines<'_>) -> Box<Diagnostic> {
    let known = ["scenario", "file", "set", "seed", "trace", "begin", "input", "mark", "end"];
    lines.wrong(format!("unknown line \"{word}\"")).expected(known.join(", ")).nearest(word, known).into()
}

fn number(text: &str, lines: &Lines<'_>) -> Result<u64> {
    text.parse().map_err(|_| lines.wrong(format!("\"{text}\" is not a number")).into())
}

fn digest(text: &str, lines: &Lines<'_>) -> Result<u64> {
    u64::from_str_radix(text, 16)
        .map_err(|_| lines.wrong(format!("\"{text}\" is no digest")).expected("16 hex digits").into())
}

fn file(rest: &str, lines: &mut Lines<'_>) -> Result<Kept> {
    let mut parts = rest.splitn(3, ' ');
    let (kind, place, reference) = (parts.next(), parts.next(), parts.next());
    let kind = Kind::ALL.into_iter().find(|known| Some(known.name()) == kind);
    let (Some(kind), Some(place), Some(reference)) = (kind, place, reference) else {
        return Err(lines.wrong("this names no file").expected("file KIND disk|bundled PATH").into());
    };
    let source = lines.source()?;
    Ok(Kept { kind, reference: unescape(reference), on_disk: place == "disk", source })
}

fn trace(rest: &str, lines: &Lines<'_>) -> Result<TraceFile> {
    let parts: Vec<_> = rest.splitn(4, ' ').collect();
    let [size, hash, format, path] = parts.as_slice() else {
        return Err(lines.wrong("this names no trace").expected("trace SIZE DIGEST FORMAT PATH").into());
    };
    Ok(TraceFile {
        path: unescape(path),
        format: (*format != "-").then(|| (*format).to_owned()),
        size: number(size, lines)?,
        digest: digest(hash, lines)?,
    })
}

/// A line after the header.
fn body(recording: &mut Recording, line: &str, lines: &Lines<'_>) -> Result<()> {
    if recording.end.is_some() {
        return Err(lines.wrong("there is something after the end").into());
    }
    let parts: Vec<_> = line.splitn(4, ' ').collect();
    let mut last = recording.last();
    match parts.as_slice() {
        ["input", event, verb, text] => {
            // Each input is an event.
            last = last.max(recording.inputs.last().map_or(0, |(event, _)| event.saturating_add(1)));
            let event = number(event, lines)?;
            ascends(last, event, lines)?;
            let input = Input::new(verb, &unescape(text)).map_err(|error| {
                let mut wrong = lines.wrong(error.message);
                (wrong.expected, wrong.suggestion) = (error.expected, error.suggestion);
                Box::new(wrong)
            })?;
            recording.inputs.push((event, input));
        }
        ["mark", event, cycle, hash] => {
            let mark = mark(event, cycle, hash, lines)?;
            ascends(last, mark.event, lines)?;
            recording.marks.push(mark);
        }
        ["end", event, cycle, rest] => {
            let (hash, rest) = rest.split_once(' ').unwrap_or((rest, ""));
            let (how, found) = rest.split_once(' ').map_or((rest, None), |(how, found)| (how, Some(found)));
            let mark = mark(event, cycle, hash, lines)?;
            ascends(last, mark.event, lines)?;
            let Some(how) = Ending::ALL.into_iter().find(|known| known.name() == how) else {
                let names = Ending::ALL.map(Ending::name);
                let error = lines.wrong(format!("\"{how}\" is no end of a run"));
                return Err(error.expected(names.join(", ")).nearest(how, names).into());
            };
            recording.end = Some(End { mark, how, found: found.map(unescape) });
        }
        [word, ..] => return Err(unknown(word, lines)),
        [] => return Err(lines.wrong("this line says nothing").into()),
    }
    Ok(())
}

fn mark(event: &str, cycle: &str, hash: &str, lines: &Lines<'_>) -> Result<Mark> {
    Ok(Mark { event: number(event, lines)?, cycle: number(cycle, lines)?, digest: digest(hash, lines)? })
}

fn ascends(last: u64, event: u64, lines: &Lines<'_>) -> Result<()> {
    if event >= last {
        return Ok(());
    }
    Err(lines.wrong(format!("event {event} follows event {last}")).expected("events in their order").into())
}
