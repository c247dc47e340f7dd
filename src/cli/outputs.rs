//! Files that a command will write, looked at before its work begins: a refusal leaves all as it was.

use std::path::{Path, PathBuf};

use crate::debug::diagnosis;
use crate::diagnostic::{Diagnostic, Result, try_out};
use crate::recording;
use crate::report::series;

/// What may be there already, and is replaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Replaces {
    Anything,
    Recordings,
    /// Wait-for graphs.
    Graphs,
    /// Tables of samples.
    Samples,
}

/// The files, each with the option that names it.
#[derive(Debug, Default)]
pub struct Outputs<'a>(Vec<(&'a str, &'a Path, Replaces)>);

impl<'a> Outputs<'a> {
    /// The same, and a file, if the option is given.
    #[must_use]
    pub fn with(mut self, option: &'a str, path: Option<&'a Path>, replaces: Replaces) -> Self {
        self.0.extend(path.map(|path| (option, path, replaces)));
        self
    }

    /// That they are files, and no two of them the same.
    ///
    /// # Errors
    /// If one is standard output, or two are the same.
    pub fn apart(&self) -> Result<()> {
        let mut seen: Vec<(&str, PathBuf)> = Vec::new();
        for (option, path, _) in &self.0 {
            if *path == Path::new("-") {
                return Err(Diagnostic::new(format!("{option} does not write to standard output"))
                    .expected("a file")
                    .into());
            }
            // What is no file, such as /dev/null, may have several writers.
            let is_file = path.metadata().map_or(!path.exists(), |there| there.is_file());
            let Some(own) = whole(path).filter(|_| is_file) else { continue };
            if let Some((other, _)) = seen.iter().find(|(_, other)| *other == own) {
                let message = format!("{other} and {option} both write to {}", path.display());
                return Err(Diagnostic::new(message).expected("a file for each").into());
            }
            seen.push((option, own));
        }
        Ok(())
    }

    /// That each can be written, replaces what it may, and is none of the files, and in none of the folders, that are read.
    ///
    /// # Errors
    /// If one is not, or it cannot be said what is read.
    pub fn check(&self, read: impl FnOnce() -> Result<Vec<PathBuf>>) -> Result<()> {
        self.apart()?;
        let read = if self.0.is_empty() { Vec::new() } else { read()? };
        for (option, path, replaces) in &self.0 {
            spare(path, &read)?;
            match replaces {
                Replaces::Anything => {}
                Replaces::Recordings => recording::write::may_replace(path)?,
                Replaces::Graphs => diagnosis::may_replace(path)?,
                Replaces::Samples => series::may_replace(path)?,
            }
            try_out(path).map_err(|error| error.expected(format!("another file for {option}")))?;
        }
        Ok(())
    }
}

/// A path by which the same file is known, whether it is there or not.
fn whole(path: &Path) -> Option<PathBuf> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.unwrap_or(Path::new(".")).canonicalize().ok()?;
    path.canonicalize().ok().or_else(|| Some(folder.join(path.file_name()?)))
}

/// That a file which is to be written is none of the files, and in none of the folders, that are read.
fn spare(path: &Path, read: &[PathBuf]) -> Result<()> {
    let Ok(there) = path.canonicalize() else { return Ok(()) };
    let mut read = read.iter().filter_map(|path| path.canonicalize().ok());
    if read.any(|read| there.starts_with(read)) {
        let error = Diagnostic::new(format!("{} is read here: it is not replaced", path.display()));
        return Err(error.expected("another file to write to").into());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn what_is_read_or_written_twice_or_is_something_else_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        let (read, other) = (path("read.toml"), path("other"));
        fs::write(&read, "x").unwrap();
        fs::write(&other, "x").unwrap();
        let reads = [read.clone()];
        let check = |option: &Path, replaces| {
            Outputs::default().with("--to", Some(option), replaces).check(|| Ok(reads.to_vec())).is_ok()
        };
        assert!(check(&other, Replaces::Anything) && check(&path("new"), Replaces::Recordings));
        assert!(!check(&read, Replaces::Anything));
        assert!(!check(&other, Replaces::Recordings) && !check(&other, Replaces::Graphs));
        assert!(!check(&other, Replaces::Samples));
        fs::write(&other, "cycle,event,accesses\n").unwrap();
        assert!(check(&other, Replaces::Samples));
        assert!(!check(&path("none/new"), Replaces::Anything));
        let twice = Outputs::default().with("--to", Some(&other), Replaces::Anything).with(
            "--dot",
            Some(&other),
            Replaces::Anything,
        );
        assert!(twice.check(|| Ok(Vec::new())).is_err());
        assert!(!check(Path::new("-"), Replaces::Recordings), "that is none of its name, either");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
    }
}
