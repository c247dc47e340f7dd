//! Bytes written once and then read by position: in memory while they are few, in a temporary file after that.

use std::fs::File;
use std::io::{self, Write};
use std::os::unix::fs::FileExt;

/// Bytes that are held in memory.
const WINDOW: usize = 64 << 20;

/// The bytes. The file has no name, so that it goes with the process however that ends.
#[derive(Debug)]
pub struct Spool {
    memory: Vec<u8>,
    file: Option<File>,
    /// Bytes in the file; what is in memory comes after it.
    stored: u64,
    window: usize,
}

impl Default for Spool {
    fn default() -> Self {
        Self::with_window(WINDOW)
    }
}

impl Spool {
    pub fn with_window(window: usize) -> Self {
        Self { memory: Vec::new(), file: None, stored: 0, window }
    }

    /// Appends `bytes` and returns where they are.
    ///
    /// # Errors
    /// If the temporary folder has no room for them.
    pub fn append(&mut self, bytes: &[u8]) -> io::Result<u64> {
        if self.memory.len() + bytes.len() > self.window {
            let file = match &mut self.file {
                Some(file) => file,
                none => none.insert(tempfile::tempfile()?),
            };
            file.write_all(&self.memory)?;
            self.stored += self.memory.len() as u64;
            self.memory.clear();
        }
        let at = self.stored + self.memory.len() as u64;
        self.memory.extend_from_slice(bytes);
        Ok(at)
    }

    /// The bytes at `at`, which were appended together.
    ///
    /// # Errors
    /// If the temporary file cannot be read, or there are no such bytes.
    pub fn read(&self, at: u64, bytes: usize) -> io::Result<Vec<u8>> {
        let Some(within) = at.checked_sub(self.stored) else {
            let file = self.file.as_ref().ok_or(io::ErrorKind::UnexpectedEof)?;
            let mut piece = vec![0; bytes];
            file.read_exact_at(&mut piece, at)?;
            return Ok(piece);
        };
        let within = usize::try_from(within).unwrap_or(usize::MAX);
        let piece = self.memory.get(within..within.saturating_add(bytes));
        piece.map(<[u8]>::to_vec).ok_or_else(|| io::ErrorKind::UnexpectedEof.into())
    }

    #[cfg(test)]
    pub fn file(&self) -> Option<&File> {
        self.file.as_ref()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_found_again_inside_and_outside_the_window() {
        let mut spool = Spool::with_window(10);
        let pieces: Vec<Vec<u8>> = (1..20).map(|length| vec![length; usize::from(length)]).collect();
        let places: Vec<_> = pieces.iter().map(|piece| spool.append(piece).unwrap()).collect();
        for (piece, at) in pieces.iter().zip(places) {
            assert_eq!(&spool.read(at, piece.len()).unwrap(), piece);
        }
        assert!(spool.file.is_some());
        assert!(spool.read(180, 20).is_err() && spool.read(u64::MAX, 1).is_err());
    }
}
