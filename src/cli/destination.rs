//! Where a command writes: standard output, or a file that appears whole or not at all.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use super::exit::Trouble;
use super::output::Output;
use crate::diagnostic::{self, Diagnostic};
use crate::recording::write::cannot;

/// Something to write to. A file is written beside the one that it replaces at the end; if that never comes, nothing
/// has been overwritten.
#[derive(Debug)]
pub enum Destination {
    Standard(Output),
    File {
        temporary: BufWriter<NamedTempFile>,
        path: PathBuf,
    },
    /// A pipe or a device, which cannot be replaced.
    Device(BufWriter<File>),
}

/// That no two of these files, each with the option that names it, are the same.
///
/// # Errors
/// If two are.
pub fn apart(files: &[(&str, Option<&Path>)]) -> Result<(), Trouble> {
    let whole = |path: &Path| {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        let folder = folder.unwrap_or(Path::new(".")).canonicalize().ok()?;
        path.canonicalize().ok().or_else(|| Some(folder.join(path.file_name()?)))
    };
    let files = files.iter().filter_map(|(option, path)| Some((*option, (*path)?)));
    // What is no file, such as /dev/null, may have several writers.
    let files =
        files.filter(|(_, path)| path.metadata().is_ok_and(|there| there.is_file()) || !path.exists());
    let files: Vec<_> = files.map(|(option, path)| (option, path, whole(path))).collect();
    for (place, (option, path, own)) in files.iter().enumerate() {
        let same = files.iter().take(place).find(|(_, _, other)| own.is_some() && other == own);
        if let Some((other, ..)) = same {
            let message = format!("{other} and {option} both write to {}", path.display());
            return Err(Diagnostic::new(message).expected("a file for each").into());
        }
    }
    Ok(())
}

/// That a file which is to be written is none of the files, and in none of the folders, that are read.
///
/// # Errors
/// If it is.
pub fn spare(path: &Path, read: &[PathBuf]) -> diagnostic::Result<()> {
    let Ok(there) = path.canonicalize() else { return Ok(()) };
    let mut read = read.iter().filter_map(|path| path.canonicalize().ok());
    if read.any(|read| there.starts_with(read)) {
        let error = Diagnostic::new(format!("{} is read here: it is not replaced", path.display()));
        return Err(error.expected("another file to write to").into());
    }
    Ok(())
}

impl Destination {
    /// Standard output if there is no path or it is `-`.
    ///
    /// # Errors
    /// If nothing can be written there.
    pub fn open(path: Option<&Path>) -> Result<Self, Trouble> {
        let Some(path) = path.filter(|path| *path != Path::new("-")) else {
            return Ok(Self::Standard(Output::standard()));
        };
        Self::file(path).map_err(|error| cannot(path, &error).into())
    }

    /// That something can be written there, before the work begins whose result that is.
    ///
    /// # Errors
    /// If it cannot.
    pub fn try_out(path: &Path) -> Result<(), Trouble> {
        // A pipe is opened once: its reader would think that all is over.
        let is_device = fs::metadata(path).is_ok_and(|there| !there.is_file() && !there.is_dir());
        if is_device { Ok(()) } else { Self::open(Some(path)).map(drop) }
    }

    fn file(path: &Path) -> io::Result<Self> {
        // A link keeps pointing at what is replaced.
        let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
        match fs::metadata(&path) {
            Ok(there) if there.is_dir() => return Err(io::ErrorKind::IsADirectory.into()),
            Ok(there) if !there.is_file() => {
                return Ok(Self::Device(BufWriter::new(File::options().write(true).open(&path)?)));
            }
            Ok(there) if there.permissions().readonly() => {
                return Err(io::ErrorKind::PermissionDenied.into());
            }
            _ => {}
        }
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        let mut builder = tempfile::Builder::new();
        builder.prefix(".umscope-");
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
        let temporary = builder.tempfile_in(folder.unwrap_or(Path::new(".")))?;
        Ok(Self::File { temporary: BufWriter::with_capacity(1 << 16, temporary), path })
    }

    /// Whether nobody reads any more.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        matches!(self, Self::Standard(output) if output.is_closed())
    }

    /// All is written: the file takes its place.
    ///
    /// # Errors
    /// If it cannot.
    pub fn finish(mut self) -> Result<(), Trouble> {
        self.flush().map_err(|error| Trouble::Io("write the output", error))?;
        let Self::File { temporary, path } = self else { return Ok(()) };
        let failed = |error: io::Error| Trouble::from(cannot(&path, &error));
        let temporary = temporary.into_inner().map_err(|error| failed(error.into_error()))?;
        temporary.persist(&path).map_err(|error| failed(error.error))?;
        Ok(())
    }
}

impl Write for Destination {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Standard(output) => output.write(bytes),
            Self::File { temporary, .. } => temporary.write(bytes),
            Self::Device(file) => file.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Standard(output) => output.flush(),
            Self::File { temporary, .. } => temporary.flush(),
            Self::Device(file) => file.flush(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_replaced_at_the_end_and_only_then() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        fs::write(&path, "old").unwrap();
        let mut destination = Destination::open(Some(&path)).unwrap();
        destination.write_all(b"new").unwrap();
        drop(destination);
        assert_eq!(fs::read_to_string(&path).unwrap(), "old");
        let mut destination = Destination::open(Some(&path)).unwrap();
        destination.write_all(b"new").unwrap();
        destination.finish().unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "new");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
        for wrong in [folder.path(), &folder.path().join("none/a")] {
            assert!(matches!(Destination::open(Some(wrong)), Err(Trouble::Wrong(_))));
        }
    }
}
