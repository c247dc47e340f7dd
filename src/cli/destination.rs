//! Where a command writes: standard output, or a file that appears whole or not at all.

use std::io::{self, Write};
use std::path::Path;

use super::exit::Trouble;
use super::output::Output;
use crate::diagnostic::{Result, WholeFile};

/// Something to write to.
#[derive(Debug)]
pub enum Destination {
    Standard(Output),
    File(WholeFile),
}

/// The file that a path names; none, for standard output, if there is no path or it is `-`.
#[must_use]
pub fn file(path: Option<&Path>) -> Option<&Path> {
    path.filter(|path| *path != Path::new("-"))
}

impl Destination {
    /// The [`file`] of a path, or standard output.
    ///
    /// # Errors
    /// If nothing can be written there.
    pub fn open(path: Option<&Path>) -> Result<Self> {
        match file(path) {
            Some(path) => Ok(Self::File(WholeFile::create(path)?)),
            None => Ok(Self::Standard(Output::standard())),
        }
    }

    /// Whether nobody reads any more.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        matches!(self, Self::Standard(output) if output.is_closed())
    }

    /// Whether nothing is there before the end.
    #[must_use]
    pub fn is_held_back(&self) -> bool {
        matches!(self, Self::File(file) if file.is_held_back())
    }

    /// All is written: a file takes its place.
    ///
    /// # Errors
    /// If it cannot.
    pub fn finish(mut self) -> std::result::Result<(), Trouble> {
        match self {
            Self::Standard(_) => self.flush().map_err(|error| Trouble::Io("write the output", error)),
            Self::File(file) => Ok(file.finish()?),
        }
    }
}

impl Write for Destination {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Standard(output) => output.write(bytes),
            Self::File(file) => file.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Standard(output) => output.flush(),
            Self::File(file) => file.flush(),
        }
    }
}
