//! Where the names in a file are looked up: on disk and among the bundled files, or only among files that were kept.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use super::library::{self, Found, Kind, paths};
use crate::diagnostic::{Diagnostic, Result, Source};

/// A file as it was when it was used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kept {
    pub kind: Kind,
    /// The path or bundled name that found it.
    pub reference: String,
    /// It was on disk: paths in it are relative to its folder.
    pub on_disk: bool,
    pub source: Source,
}

/// What was found: of which kind, by which name, from which folder.
type Read = Vec<(Kind, String, Option<PathBuf>, Found)>;

/// A place from which names are looked up. What it and its copies have read stays as it was when it was first read: what a
/// run was made of can be kept when a file has been changed or is gone.
#[derive(Clone, Debug, Default)]
pub struct Shelf {
    /// What paths are relative to, before the current folder.
    folder: Option<PathBuf>,
    /// Nothing else is looked at if this is given.
    kept: Option<Arc<[Kept]>>,
    /// Protocols that the file brings along, by name: they come before all others.
    brought: Arc<[(String, Source)]>,
    read: Arc<Mutex<Read>>,
}

impl Shelf {
    /// Paths are relative to `folder`, if there is one, and to the current folder.
    #[must_use]
    pub fn at(folder: Option<PathBuf>) -> Self {
        Self { folder, ..Self::default() }
    }

    /// Only these files exist.
    #[must_use]
    pub fn of(kept: Arc<[Kept]>, folder: Option<PathBuf>) -> Self {
        Self { folder, kept: Some(kept), ..Self::default() }
    }

    /// The same, with protocols that a file brings along.
    #[must_use]
    pub fn bringing(self, brought: Vec<(String, Source)>) -> Self {
        Self { brought: brought.into(), ..self }
    }

    /// The protocols that the file brings along.
    pub fn brought(&self) -> impl Iterator<Item = &Source> {
        self.brought.iter().map(|(_, source)| source)
    }

    /// Whether the protocol of this name is one that the file brings along.
    #[must_use]
    pub fn brings(&self, name: &str) -> bool {
        self.brought.iter().any(|(own, _)| own == name)
    }

    #[must_use]
    pub fn folder(&self) -> Option<&Path> {
        self.folder.as_deref()
    }

    /// The files that are all there are.
    #[must_use]
    pub fn kept(&self) -> Option<&[Kept]> {
        self.kept.as_deref()
    }

    /// The same files from another folder.
    #[must_use]
    pub fn in_folder(&self, folder: Option<PathBuf>) -> Self {
        Self { folder, ..self.clone() }
    }

    /// The same files by the names under which they were found: paths among those need no folder any more.
    #[must_use]
    pub fn by_reference(&self) -> Self {
        self.in_folder(None)
    }

    /// The file that `name` means.
    ///
    /// # Errors
    /// As [`library::find`].
    pub fn find(&self, kind: Kind, name: &str) -> Result<Found> {
        let mut brought = self.brought.iter().filter(|_| kind == Kind::Protocol);
        if let Some((name, source)) = brought.find(|(own, _)| own == name) {
            return Ok(Found { source: source.clone(), folder: None, reference: name.clone() });
        }
        let Some(kept) = &self.kept else { return self.find_once(kind, name) };
        let of_kind = || kept.iter().filter(|file| file.kind == kind);
        let on_disk = paths(name, self.folder()).find_map(|path| {
            let path = path.display().to_string();
            of_kind().find(|file| file.on_disk && file.reference == path)
        });
        let bare = kind.bare(name);
        let bundled = || of_kind().filter(|file| !file.on_disk);
        let file = on_disk
            .or_else(|| bundled().find(|file| file.reference == bare))
            .or_else(|| bundled().find(|file| file.reference.rsplit('/').next() == Some(bare)));
        let file = file.ok_or_else(|| {
            let names = of_kind().map(|file| file.reference.as_str());
            let error = Diagnostic::new(format!("the recording holds no {} `{name}`", kind.name()));
            Box::new(error.nearest(name, names))
        })?;
        let folder = file.on_disk.then(|| Path::new(&file.reference).parent().map(Path::to_path_buf));
        Ok(Found { source: file.source.clone(), folder: folder.flatten(), reference: file.reference.clone() })
    }

    /// The file that `name` meant when it was first asked for.
    fn find_once(&self, kind: Kind, name: &str) -> Result<Found> {
        let mut read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        let before = read.iter().find(|(of, by, from, found)| {
            // Without a folder, a path that was found is known by itself, too.
            let is_reference = self.folder.is_none() && found.reference == name;
            *of == kind && (is_reference || (by == name && *from == self.folder))
        });
        if let Some((.., found)) = before {
            return Ok(found.clone());
        }
        let found = library::find(kind, name, self.folder())?;
        read.push((kind, name.to_owned(), self.folder.clone(), found.clone()));
        Ok(found)
    }
}

impl Found {
    /// What is to be kept of it, so that it is found again by the same names.
    #[must_use]
    pub fn keep(&self, kind: Kind) -> Kept {
        Kept {
            kind,
            reference: self.reference.clone(),
            on_disk: self.folder.is_some(),
            source: self.source.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{load_machine_from, load_protocol_from};

    #[test]
    fn what_was_kept_is_found_by_the_names_that_found_it() {
        let folder = tempfile::tempdir().unwrap();
        let disk = Shelf::at(Some(folder.path().to_path_buf()));
        let table = &*library::find(Kind::Protocol, "mesi", None).unwrap().source.text.clone();
        std::fs::create_dir(folder.path().join("m")).unwrap();
        std::fs::write(folder.path().join("m/own.toml"), table).unwrap();
        std::fs::write(folder.path().join("m/mine.toml"), "protocol = 'own'\n[gpu]\ncount = 1\n").unwrap();
        let machine = disk.find(Kind::Machine, "m/mine").unwrap();
        let own = disk.in_folder(machine.folder.clone()).find(Kind::Protocol, "own").unwrap();
        let bundled = disk.find(Kind::Machine, "tiny/umh-2gpu").unwrap();
        let kept: Vec<_> =
            vec![machine.keep(Kind::Machine), own.keep(Kind::Protocol), bundled.keep(Kind::Machine)];
        let spec = load_machine_from(&disk, "m/mine", &[], &[]).unwrap();
        drop(std::fs::remove_dir_all(folder.path()));
        let shelf = Shelf::of(kept.into(), Some(folder.path().to_path_buf()));
        assert_eq!(load_machine_from(&shelf, "m/mine", &[], &[]).unwrap(), spec);
        assert_eq!(load_protocol_from(&shelf, &spec.protocol).unwrap().name, "mesi");
        for name in ["umh-2gpu", "tiny/umh-2gpu", "configs/machines/tiny/umh-2gpu.toml"] {
            assert_eq!(shelf.find(Kind::Machine, name).unwrap(), bundled, "{name}");
        }
        // Who has read them has them still, and who comes new finds that they are gone.
        assert_eq!(load_machine_from(&disk, "m/mine", &[], &[]).unwrap(), spec);
        assert_eq!(load_protocol_from(&disk.by_reference(), &spec.protocol).unwrap().name, "mesi");
        let anew = Shelf::at(Some(folder.path().to_path_buf()));
        assert!(load_machine_from(&anew, "m/mine", &[], &[]).is_err());
        // One that comes later does not take the place of a bundled one.
        std::fs::create_dir_all(folder.path().join("tiny")).unwrap();
        std::fs::write(folder.path().join("tiny/umh-2gpu.toml"), "[gpu]\ncount = 1\n").unwrap();
        assert_eq!(disk.find(Kind::Machine, "tiny/umh-2gpu").unwrap(), bundled);
        assert_ne!(anew.find(Kind::Machine, "tiny/umh-2gpu").unwrap(), bundled);
        let missing = shelf.find(Kind::Protocol, "nmoesi").unwrap_err().to_string();
        assert!(missing.contains("the recording holds no protocol `nmoesi`"), "{missing}");
    }
}
