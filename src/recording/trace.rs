//! A trace that a recording uses: too large to be kept, so it is named, and known again by its size and digest.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use crate::diagnostic::{Diagnostic, Result};

/// A trace file, or a folder of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceFile {
    /// Absolute, where the system tells.
    pub path: String,
    /// Its format, if it was stated.
    pub format: Option<String>,
    /// Bytes, of all files together.
    pub size: u64,
    /// Over the names and contents of all files.
    pub digest: u64,
}

/// Folders within folders that are looked into.
const DEEPEST: usize = 32;

/// Files and folders that are looked at, in all: several for each task that a trace may have.
const MOST: usize = 1 << 18;

impl TraceFile {
    /// The trace at `path` as it is now.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn of(path: &Path, format: Option<&str>) -> Result<Self> {
        let (size, digest) = read(path).map_err(|error| {
            Box::new(Diagnostic::new(format!("the trace {} cannot be read: {error}", path.display())))
        })?;
        let absolute = fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
        let path = absolute.display().to_string();
        Ok(Self { path, format: format.map(str::to_owned), size, digest })
    }

    /// Why this is not the trace that was recorded, if it is not.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn changed(&self) -> Result<Option<String>> {
        let now = Self::of(Path::new(&self.path), None)?;
        Ok(if now.size != self.size {
            Some(format!("the trace {} has {} bytes now, and had {}", self.path, now.size, self.size))
        } else if now.digest != self.digest {
            Some(format!("the trace {} holds something else now, of the same size", self.path))
        } else {
            None
        })
    }
}

/// Size and digest of a file, or of the files in a folder in the order of their names.
fn read(path: &Path) -> io::Result<(u64, u64)> {
    let files = files(path, MOST)?;
    let mut digest = Digest::default();
    let mut size = 0;
    let mut buffer = vec![0; 1 << 16];
    for file in files {
        if file != path {
            digest.add(file.strip_prefix(path).unwrap_or(&file).to_string_lossy().as_bytes());
        }
        let mut open = File::open(&file)?;
        loop {
            let count = open.read(&mut buffer)?;
            if count == 0 {
                break;
            }
            size += count as u64;
            digest.add(buffer.get(..count).unwrap_or_default());
        }
    }
    Ok((size, digest.end()))
}

/// The files of a trace: itself, or the regular ones in it, if no more than `most` entries have to be looked at.
fn files(path: &Path, most: usize) -> io::Result<Vec<PathBuf>> {
    let (mut found, mut left) = (Vec::new(), most);
    let kind = path.metadata()?;
    if kind.is_dir() {
        collect(path, 1, &mut left, &mut found)?;
    } else if kind.is_file() {
        found.push(path.to_path_buf());
    } else {
        return Err(io::Error::other("it is neither a regular file nor a folder"));
    }
    Ok(found)
}

fn collect(folder: &Path, depth: usize, left: &mut usize, found: &mut Vec<PathBuf>) -> io::Result<()> {
    let mut inside = Vec::new();
    for entry in folder.read_dir()? {
        let entry = entry?;
        let many = || io::Error::other(format!("it holds more than {MOST} files and folders"));
        *left = left.checked_sub(1).ok_or_else(many)?;
        inside.push((entry.path(), entry.file_type()?.is_dir()));
    }
    inside.sort();
    for (path, is_folder) in inside {
        // A link to a folder could lead round in a circle, and what is no regular file might never end.
        if is_folder && depth < DEEPEST {
            collect(&path, depth + 1, left, found)?;
        } else if path.is_file() {
            found.push(path);
        }
    }
    Ok(())
}

/// A digest that takes eight bytes at a time, however they come.
#[derive(Default)]
struct Digest {
    state: u64,
    rest: Vec<u8>,
}

impl Digest {
    fn add(&mut self, bytes: &[u8]) {
        self.rest.extend_from_slice(bytes);
        let whole = self.rest.len() / 8 * 8;
        let state = self.rest.chunks_exact(8).fold(self.state, |state, chunk| {
            let word = chunk.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte));
            mix(state, word)
        });
        self.state = state;
        self.rest.drain(..whole);
    }

    fn end(self) -> u64 {
        let last = self.rest.iter().fold(1, |word: u64, &byte| word << 8 | u64::from(byte));
        mix(self.state, last)
    }
}

fn mix(state: u64, word: u64) -> u64 {
    let mixed = (state ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    mixed ^ mixed >> 32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trace_is_known_again_whatever_it_was_read_in() {
        let mut all = Digest::default();
        all.add(b"some bytes of a trace");
        let mut parts = Digest::default();
        parts.add(b"some by");
        parts.add(b"tes of a trace");
        assert_eq!(all.end(), parts.end());
    }

    #[test]
    fn a_changed_trace_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("t");
        fs::write(&file, "0 R 0x10\n").unwrap();
        let trace = TraceFile::of(&file, Some("cores")).unwrap();
        assert_eq!(trace.changed().unwrap(), None);
        fs::write(&file, "0 W 0x10\n").unwrap();
        assert!(trace.changed().unwrap().unwrap().contains("something else"));
        fs::write(&file, "0 W 0x100\n").unwrap();
        assert!(trace.changed().unwrap().unwrap().contains("10 bytes now"));
        let whole = TraceFile::of(folder.path(), None).unwrap();
        fs::rename(&file, folder.path().join("u")).unwrap();
        assert!(whole.changed().unwrap().is_some(), "a file of another name");
        assert!(trace.changed().is_err());
    }

    #[test]
    fn a_folder_with_too_much_in_it_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let inner = folder.path().join("inner");
        fs::create_dir(&inner).unwrap();
        for name in ["a", "b"] {
            fs::write(inner.join(name), "0 R 0x10\n").unwrap();
        }
        assert_eq!(files(folder.path(), 3).unwrap(), [inner.join("a"), inner.join("b")]);
        assert!(files(folder.path(), 2).is_err());
    }

    #[cfg(unix)]
    #[test]
    fn no_circle_is_followed_and_only_regular_files_are_read() {
        use std::os::unix::{fs::symlink, net::UnixListener};

        let folder = tempfile::tempdir().unwrap();
        let inside = |name: &str| folder.path().join(name);
        fs::write(inside("a"), "0 R 0x10\n").unwrap();
        let plain = TraceFile::of(folder.path(), None).unwrap();
        symlink(".", inside("circle")).unwrap();
        let _socket = UnixListener::bind(inside("socket")).unwrap();
        assert_eq!(TraceFile::of(folder.path(), None).unwrap(), plain);
        assert!(TraceFile::of(&inside("socket"), None).is_err());
        // What a link to a file leads to is a part of the trace, and a trace may be named by a link.
        symlink("a", inside("link")).unwrap();
        assert_eq!(TraceFile::of(&inside("circle"), None).unwrap().size, 2 * plain.size);
    }
}
