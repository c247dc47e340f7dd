//! Which scenarios the arguments of `umscope test` mean: files, folders, bundled names and bundled folders.

use std::fs;
use std::path::{Path, PathBuf};

use crate::config::{self, Kind};
use crate::diagnostic::{Diagnostic, Result, Source, TEXT_LIMIT, nearest, read_text};

/// Folders within folders that are looked into.
const DEEPEST: usize = 32;

/// Entries of folders that are looked at, in all.
const MOST: usize = 100_000;

/// A name or path to load a scenario by, or why there is none of this name.
#[derive(Debug)]
pub struct Found {
    pub path: String,
    pub trouble: Option<Box<Diagnostic>>,
}

impl Found {
    fn by_name(path: String) -> Self {
        Self { path, trouble: None }
    }

    /// A file that nobody has named: it may have a name that is no text.
    fn file(path: &Path) -> Self {
        let shown = path.display().to_string();
        let trouble = path.to_str().is_none().then(|| {
            let message = "the path of this file is not UTF-8, so that it cannot be named";
            Box::new(
                Diagnostic::new(message).of(&Source::new(shown.as_str(), "")).expected("a path in UTF-8"),
            )
        });
        Self { path: shown, trouble }
    }
}

/// The scenarios that `names` mean, in order, each once. Without names, all bundled ones. A name that means nothing, and
/// a folder that holds no scenario or cannot be read, stand in the list with what is wrong.
#[must_use]
pub fn find(names: &[String]) -> Vec<Found> {
    if names.is_empty() {
        let bundled = config::list(Kind::Scenario).into_iter();
        return bundled.map(|entry| Found::by_name(entry.name)).collect();
    }
    let mut found: Vec<Found> = Vec::new();
    for name in names {
        let more = match meant(name) {
            Ok(found) => found,
            Err(trouble) => vec![Found { path: name.clone(), trouble: Some(trouble) }],
        };
        for one in more {
            if !found.iter().any(|known| known.path == one.path) {
                found.push(one);
            }
        }
    }
    found
}

/// What one name means.
fn meant(name: &str) -> Result<Vec<Found>> {
    let path = Path::new(name);
    if path.is_dir() {
        return folder(path);
    }
    let itself = || vec![Found::by_name(name.to_owned())];
    if path.exists() {
        return Ok(itself());
    }
    // A folder before a scenario elsewhere whose last name it is.
    let prefix = format!("{}/", name.trim_start_matches("scenarios/").trim_end_matches('/'));
    let bundled = config::list(Kind::Scenario).into_iter().map(|entry| entry.name);
    let inside: Vec<_> = bundled.filter(|bundled| bundled.starts_with(&prefix)).map(Found::by_name).collect();
    if !inside.is_empty() {
        return Ok(inside);
    }
    if config::find(Kind::Scenario, name, None).is_ok() { Ok(itself()) } else { Err(unknown(name)) }
}

fn unknown(name: &str) -> Box<Diagnostic> {
    let mut error = match config::find(Kind::Scenario, name, None) {
        Err(error) => error,
        Ok(_) => Box::new(Diagnostic::new(format!("there is no scenario `{name}`"))),
    };
    let folders: Vec<_> = config::list(Kind::Scenario)
        .into_iter()
        .filter_map(|entry| Some(entry.name.rsplit_once('/')?.0.to_owned()))
        .collect();
    let folder = nearest(name, folders.iter().map(String::as_str));
    error.suggestion = folder.map(|near| format!("did you mean {near}?")).or(error.suggestion);
    error.expected = Some(
        "a scenario file, a folder of them, or a name or folder that `umscope list scenarios` shows".into(),
    );
    error
}

/// The scenarios in a folder and the folders in it, in the order of their paths.
fn folder(path: &Path) -> Result<Vec<Found>> {
    let mut files = Vec::new();
    let mut left = MOST;
    collect(path, 0, &mut left, &mut files)?;
    files.sort();
    let scenarios = files.iter().filter(|file| may_be_scenario(file));
    let scenarios: Vec<_> = scenarios.map(|file| Found::file(file)).collect();
    if scenarios.is_empty() {
        let empty = Diagnostic::new(format!("there is no scenario in {}", path.display()));
        return Err(empty.expected("files that end in .toml and describe a scenario").into());
    }
    Ok(scenarios)
}

fn collect(folder: &Path, depth: usize, left: &mut usize, files: &mut Vec<PathBuf>) -> Result<()> {
    let fail = |error: std::io::Error| {
        Box::new(Diagnostic::new(format!("the folder {} cannot be read: {error}", folder.display())))
    };
    for entry in fs::read_dir(folder).map_err(fail)? {
        let entry = entry.map_err(fail)?;
        *left = left.checked_sub(1).ok_or_else(|| {
            let many = Diagnostic::new(format!("there are too many files under {}", folder.display()));
            Box::new(many.expected(format!("at most {MOST}")))
        })?;
        let (kind, path) = (entry.file_type().map_err(fail)?, entry.path());
        // A link to a folder could lead round in a circle.
        if kind.is_dir() && depth < DEEPEST {
            collect(&path, depth + 1, left, files)?;
        } else if path.extension().is_some_and(|end| end == "toml") && path.is_file() {
            files.push(path);
        }
    }
    Ok(())
}

/// Whether a file in a folder is meant to be a scenario. What cannot be read must not be passed over in silence.
fn may_be_scenario(path: &Path) -> bool {
    let Ok(source) = read_text(path, TEXT_LIMIT) else { return true };
    match config::kind_of(&source) {
        Some(kind) => kind == Kind::Scenario,
        None => source.text.parse::<toml::Table>().map_or(true, |table| table.is_empty()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_gives_its_scenarios_and_what_is_broken_but_no_machines() {
        let folder = tempfile::tempdir().unwrap();
        let inner = folder.path().join("b");
        fs::create_dir(&inner).unwrap();
        fs::write(inner.join("scenario.toml"), "machine = 'tiny/umh-1gpu'\n").unwrap();
        fs::write(inner.join("machine.toml"), "[gpu]\ncount = 1\n").unwrap();
        fs::write(inner.join("notes.txt"), "machine = 'x'\n").unwrap();
        fs::write(folder.path().join("a.toml"), "machine = \n").unwrap();
        fs::write(folder.path().join("empty.toml"), "# nothing yet\n").unwrap();
        fs::write(folder.path().join("other.toml"), "[package]\n").unwrap();
        let path = folder.path().display().to_string();
        let found: Vec<_> = find(&[path.clone(), path.clone()]).into_iter().map(|found| found.path).collect();
        assert_eq!(found, ["a", "b/scenario", "empty"].map(|name| format!("{path}/{name}.toml")));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_file_whose_name_is_no_text_is_told_as_that() {
        use std::os::unix::ffi::OsStrExt;
        let folder = tempfile::tempdir().unwrap();
        let name = std::ffi::OsStr::from_bytes(b"b\xff.toml");
        fs::write(folder.path().join(name), "machine = 'tiny/umh-1gpu'\n").unwrap();
        fs::write(folder.path().join("a.toml"), "machine = 'tiny/umh-1gpu'\n").unwrap();
        let found = find(&[folder.path().display().to_string()]);
        let [sound, unnamed] = found.as_slice() else { panic!("{found:?}") };
        assert!(sound.trouble.is_none() && sound.path.ends_with("/a.toml"), "{sound:?}");
        let told = unnamed.trouble.as_ref().unwrap().to_string();
        assert!(told.contains("/b\u{fffd}.toml: the path of this file is not UTF-8"), "{told}");
    }

    #[test]
    fn what_means_nothing_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["no/such/thing", "", &folder.path().display().to_string()] {
            let found = find(&[name.to_owned(), "umh/fig5-a".to_owned()]);
            assert!(found[0].trouble.is_some() && found[1].trouble.is_none(), "{name}: {found:?}");
        }
    }
}
