//! Files that appear whole or not at all, and what is wrong where they cannot.

use std::fs::{self, File, TryLockError};
use std::io::{self, BufWriter, Read, Write};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use super::{Diagnostic, Result};

/// A file that is written beside the one that it replaces at the end: if that never comes, nothing has been overwritten. A
/// pipe or a device, which cannot be replaced, is written as it is.
#[derive(Debug)]
pub struct WholeFile(Named<Sink>);

/// A writer whose errors name its file.
#[derive(Debug)]
pub struct Named<W> {
    inner: W,
    path: PathBuf,
}

#[derive(Debug)]
enum Sink {
    Beside(BufWriter<NamedTempFile>),
    Device(BufWriter<File>),
}

impl WholeFile {
    /// # Errors
    /// If nothing can be written there.
    pub fn create(path: &Path) -> Result<Self> {
        // A link keeps pointing at what is replaced.
        let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
        let sink = Sink::create(&path).map_err(|error| cannot(&path, &error))?;
        Ok(Self(Named { inner: sink, path }))
    }

    /// Whether nothing is there before the end.
    #[must_use]
    pub fn is_held_back(&self) -> bool {
        matches!(self.0.inner, Sink::Beside(_))
    }

    /// All is written: the file takes its place.
    ///
    /// # Errors
    /// If it cannot.
    pub fn finish(self) -> Result<()> {
        let Named { inner, path } = self.0;
        inner.finish(&path).map_err(|error| cannot(&path, &error))
    }
}

impl<W: Write> Named<W> {
    pub fn new(inner: W, path: &Path) -> Self {
        Self { inner, path: path.to_path_buf() }
    }
}

impl<W: Write> Write for Named<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.inner.write(bytes).map_err(|error| naming(&self.path, &error))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush().map_err(|error| naming(&self.path, &error))
    }
}

/// The same error of the same kind, which says at which file.
fn naming(path: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{}: {error}", path.display()))
}

impl Sink {
    fn create(path: &Path) -> io::Result<Self> {
        match fs::metadata(path) {
            Ok(there) if there.is_dir() => return Err(io::ErrorKind::IsADirectory.into()),
            Ok(there) if !there.is_file() => {
                return Ok(Self::Device(BufWriter::new(File::options().write(true).open(path)?)));
            }
            Ok(there) if there.permissions().readonly() => {
                return Err(io::ErrorKind::PermissionDenied.into());
            }
            _ => {}
        }
        Ok(Self::Beside(BufWriter::with_capacity(1 << 16, beside(path)?)))
    }

    fn finish(mut self, path: &Path) -> io::Result<()> {
        self.flush()?;
        match self {
            Self::Device(_) => Ok(()),
            Self::Beside(temporary) => {
                let temporary = temporary.into_inner().map_err(io::IntoInnerError::into_error)?;
                temporary.persist(path).map(drop).map_err(|error| error.error)
            }
        }
    }
}

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Beside(temporary) => temporary.write(bytes),
            Self::Device(file) => file.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Beside(temporary) => temporary.flush(),
            Self::Device(file) => file.flush(),
        }
    }
}

impl Write for WholeFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

/// A file that is written as it grows, empty, and kept from others who would write to it.
///
/// # Errors
/// If it cannot be written, or somebody else is writing it.
pub fn create_alone(path: &Path) -> io::Result<File> {
    let file = File::options().write(true).create(true).truncate(false).open(path)?;
    if file.metadata()?.is_file() {
        claim(&file)?;
        file.set_len(0)?;
    }
    Ok(file)
}

/// That a file of some kind may be written to `path`: nothing is there, or a device, or an earlier one, which begins so.
///
/// # Errors
/// If something else is there.
pub fn may_replace(path: &Path, begin: &str, kind: &str) -> Result<()> {
    let is_empty = !path.is_file() || path.metadata().is_ok_and(|file| file.len() == 0);
    let mut found = vec![0; begin.len()];
    let mut begins = || {
        File::open(path).and_then(|mut file| file.read_exact(&mut found)).is_ok() && found == begin.as_bytes()
    };
    if is_empty || begins() {
        return Ok(());
    }
    let error = Diagnostic::new(format!("{} is there already, and is no such {kind}", path.display()));
    Err(Box::new(error.expected(format!("another file, or an earlier {kind}"))))
}

/// Keeps a file from others who would write to it, until it is closed.
///
/// # Errors
/// If somebody else is writing it.
pub fn claim(file: &File) -> io::Result<()> {
    // Some file systems know no locks.
    match file.try_lock() {
        Err(TryLockError::WouldBlock) => Err(io::Error::other("another run is writing it")),
        _ => Ok(()),
    }
}

/// Writes a file whole.
///
/// # Errors
/// If it cannot be written.
pub fn write_whole(path: &Path, bytes: &[u8]) -> Result<()> {
    let mut file = WholeFile::create(path)?;
    file.0.inner.write_all(bytes).map_err(|error| cannot(path, &error))?;
    file.finish()
}

/// Writes a file whole, and only where none is.
///
/// # Errors
/// If one is there, or it cannot be written.
pub fn write_new(path: &Path, bytes: &[u8]) -> io::Result<()> {
    // Looked at first, as when it is created: also where nothing can be put beside it.
    if fs::symlink_metadata(path).is_ok() {
        return Err(io::Error::new(io::ErrorKind::AlreadyExists, "File exists"));
    }
    let written = beside(path).and_then(|mut file| file.write_all(bytes).map(|()| file));
    // What a temporary file is called says nothing to anybody.
    let file = written.map_err(|error| {
        let text = error.to_string();
        io::Error::new(error.kind(), text.split(" at path").next().unwrap_or(&text))
    })?;
    file.persist_noclobber(path).map(drop).map_err(|error| error.error)
}

/// An empty file in the same folder, which is gone unless it takes the place of the one at `path`.
fn beside(path: &Path) -> io::Result<NamedTempFile> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let mut builder = tempfile::Builder::new();
    builder.prefix(".umscope-");
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    builder.tempfile_in(folder.unwrap_or(Path::new(".")))
}

/// That something can be written there, before the work begins whose result that is.
///
/// # Errors
/// If it cannot.
pub fn try_out(path: &Path) -> Result<()> {
    // A pipe is opened once: its reader would think that all is over.
    let is_device = fs::metadata(path).is_ok_and(|there| !there.is_file() && !there.is_dir());
    if is_device { Ok(()) } else { WholeFile::create(path).map(drop) }
}

/// That a file cannot be written.
#[must_use]
pub fn cannot(path: &Path, error: &io::Error) -> Box<Diagnostic> {
    Box::new(Diagnostic::new(format!("{} cannot be written: {}", path.display(), reason(error))))
}

/// Why a file cannot be used, without the number of the error, which says nothing to a person, and the path of a temporary one.
#[must_use]
pub fn reason(error: &io::Error) -> String {
    let text = error.to_string();
    let ends = [" (os error", " at path"].into_iter().filter_map(|end| text.find(end));
    text.get(..ends.min().unwrap_or(text.len())).unwrap_or(&text).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_replaced_at_the_end_and_only_then() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        fs::write(&path, "old").unwrap();
        let mut file = WholeFile::create(&path).unwrap();
        file.write_all(b"new").unwrap();
        drop(file);
        assert_eq!(fs::read_to_string(&path).unwrap(), "old");
        write_whole(&path, b"new").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "new");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
        for wrong in [folder.path(), &folder.path().join("none/a")] {
            assert!(try_out(wrong).is_err() && write_whole(wrong, b"").is_err());
        }
    }

    #[test]
    fn a_new_file_is_there_whole_and_never_in_the_place_of_another() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        write_new(&path, b"first").unwrap();
        let there = write_new(&path, b"second").unwrap_err();
        assert_eq!(there.kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(write_new(folder.path(), b"").unwrap_err().kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(fs::read_to_string(&path).unwrap(), "first");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
        // Told as the system tells it of the file itself.
        let nowhere = folder.path().join("none/a");
        let told = File::create_new(&nowhere).unwrap_err().to_string();
        assert_eq!(write_new(&nowhere, b"").unwrap_err().to_string(), told);
    }

    #[cfg(unix)]
    #[test]
    fn a_link_stays_one_and_what_may_not_be_written_stays_as_it_is() {
        use std::os::unix::fs::{PermissionsExt, symlink};
        let folder = tempfile::tempdir().unwrap();
        let (file, link) = (folder.path().join("file"), folder.path().join("link"));
        fs::write(&file, "old").unwrap();
        symlink(&file, &link).unwrap();
        write_whole(&link, b"new").unwrap();
        assert!(link.is_symlink());
        assert_eq!(fs::read_to_string(&file).unwrap(), "new");
        fs::set_permissions(&file, fs::Permissions::from_mode(0o444)).unwrap();
        assert!(write_whole(&file, b"newer").is_err());
        assert_eq!(fs::read_to_string(&file).unwrap(), "new");
    }
}
