//! Where machines, protocols and scenarios are found: a path on disk, else the files bundled in the binary.

use std::path::{Path, PathBuf};

use include_dir::{Dir, include_dir};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::fail;
use crate::diagnostic::{Diagnostic, Result, Source, TEXT_LIMIT, read_text};
use crate::workload::suites;

static CONFIGS: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/configs");
static SCENARIOS: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/scenarios");

/// How recordings begin, which are no such files.
pub const RECORDING: &str = "umscope recording ";

/// What a file describes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    Machine,
    Protocol,
    Scenario,
    Sweep,
}

/// A bundled file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The name that finds it, such as `tiny/umh-2gpu`.
    pub name: String,
    /// The file's own title, or its name.
    pub title: String,
}

/// A file that was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    pub source: Source,
    /// Its folder, if it is on disk: what paths in it are relative to.
    pub folder: Option<PathBuf>,
    /// A name or path that finds it again from the current folder.
    pub reference: String,
}

impl Kind {
    pub const ALL: [Self; 4] = [Self::Machine, Self::Protocol, Self::Scenario, Self::Sweep];

    /// The word for it, in the singular.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Machine => "machine",
            Self::Protocol => "protocol",
            Self::Scenario => "scenario",
            Self::Sweep => "sweep",
        }
    }

    /// The folder of its bundled files.
    fn root(self) -> &'static str {
        match self {
            Self::Machine => "configs/machines",
            Self::Protocol => "configs/protocols",
            Self::Scenario => "scenarios",
            Self::Sweep => "configs/sweeps",
        }
    }

    fn folder(self) -> Option<&'static Dir<'static>> {
        match self {
            Self::Machine => CONFIGS.get_dir("machines"),
            Self::Protocol => CONFIGS.get_dir("protocols"),
            Self::Scenario => Some(&SCENARIOS),
            Self::Sweep => CONFIGS.get_dir("sweeps"),
        }
    }

    /// A name as bundled files have it: without the folder of their kind, and without `.toml`.
    pub(super) fn bare(self, name: &str) -> &str {
        let bare = name.strip_prefix(self.root()).map_or(name, |rest| rest.trim_start_matches('/'));
        bare.strip_suffix(".toml").unwrap_or(bare)
    }

    /// The bundled files: name without `.toml`, and text; in the order of their names.
    fn bundled(self) -> Vec<(String, &'static str)> {
        let mut files = Vec::new();
        if let Some(folder) = self.folder() {
            collect(folder, folder.path(), &mut files);
        }
        files.sort();
        files
    }
}

fn collect(folder: &'static Dir<'static>, root: &Path, files: &mut Vec<(String, &'static str)>) {
    for file in folder.files().filter(|file| file.path().extension().is_some_and(|end| end == "toml")) {
        let name = file.path().strip_prefix(root).unwrap_or(file.path()).with_extension("");
        let name = name.to_string_lossy().replace('\\', "/");
        if let Some(text) = file.contents_utf8() {
            files.push((name, text));
        }
    }
    folder.dirs().for_each(|inner| collect(inner, root, files));
}

/// The bundled files of a kind with their titles, in the order of their names.
#[must_use]
pub fn list(kind: Kind) -> Vec<Entry> {
    kind.bundled()
        .into_iter()
        .map(|(name, text)| Entry { title: title(text).unwrap_or_else(|| name.clone()), name })
        .collect()
}

/// The `title`, else the `name`, that a file gives itself.
fn title(text: &str) -> Option<String> {
    let table = DeTable::parse(text).ok()?;
    let title = table.get_ref().get("title").or_else(|| table.get_ref().get("name"))?;
    title.get_ref().as_str().map(str::to_owned)
}

/// What a file describes, by the keys it has; `None` if it could be anything, or is no TOML.
#[must_use]
pub fn kind_of(source: &Source) -> Option<Kind> {
    // As it stands: numbers may have more bits than a TOML reader would give them.
    let table = DeTable::parse(&source.text).ok()?;
    let has = |keys: &[&str]| keys.iter().any(|key| table.get_ref().contains_key(*key));
    let varies = |(_, value): (_, &Spanned<DeValue<'_>>)| has_list(value);
    let set = table.get_ref().get_key_value("set");
    if has(&["cache", "directory", "merge"]) {
        Some(Kind::Protocol)
    } else if has(&["do", "expect", "say", "kernel", "program"]) {
        Some(Kind::Scenario)
    } else if has(&["scenario", "scenarios", "machines", "seeds"]) || set.is_some_and(varies) {
        Some(Kind::Sweep)
    } else if has(&["machine", "trace"]) {
        Some(Kind::Scenario)
    } else if has(&["gpu", "host", "network"]) {
        Some(Kind::Machine)
    } else {
        None
    }
}

/// Whether a value is a list, or a table with one in it: what a sweep sets takes several values.
fn has_list(value: &Spanned<DeValue<'_>>) -> bool {
    match value.get_ref() {
        DeValue::Array(_) => true,
        DeValue::Table(table) => table.iter().any(|(_, value)| has_list(value)),
        _ => false,
    }
}

/// The paths that `name` may be, in the order in which they are tried.
pub(super) fn paths(name: &str, relative_to: Option<&Path>) -> impl Iterator<Item = PathBuf> {
    let folders = relative_to.into_iter().chain([Path::new("")]);
    folders.flat_map(move |folder| [folder.join(name), folder.join(format!("{name}.toml"))])
}

/// Whether this is the whole name of a bundled file.
#[must_use]
pub fn is_bundled(kind: Kind, name: &str) -> bool {
    kind.bundled().iter().any(|(found, _)| found == name)
}

/// Finds the file that `name` is a path to (from `relative_to`, else from the current folder) or the bundled name
/// of. `.toml` may be left out. A file on disk wins over a bundled one. The workloads of papers are found like bundled scenarios.
///
/// # Errors
/// If there is none (with the nearest name), it cannot be read as text, or is of another kind by its keys.
pub fn find(kind: Kind, name: &str, relative_to: Option<&Path>) -> Result<Found> {
    let bare = kind.bare(name);
    let bundled = kind.bundled();
    let is_bundled = is_bundled(kind, name);
    for path in paths(name, relative_to) {
        if path.exists() && !path.is_dir() {
            let source = read_text(&path, TEXT_LIMIT)?;
            // A shell that writes what is bundled to a file of that name has emptied it before it is read.
            if is_bundled && source.text.is_empty() {
                continue;
            }
            if source.text.starts_with(RECORDING) {
                let message = format!("this is a recording, not a {}", kind.name());
                return fail(Diagnostic::new(message).of(&source).expected(keys_of(kind)));
            }
            // A scenario `moesi.toml` beside a scenario that names the protocol `moesi` is not meant.
            match kind_of(&source).filter(|found| *found != kind) {
                Some(_) if is_bundled => continue,
                Some(other) => return fail(of_other_keys(kind, other, &source)),
                None => {}
            }
            let folder = path.parent().map(Path::to_path_buf);
            return Ok(Found { source, folder, reference: path.display().to_string() });
        }
    }
    if let Some((found, text)) = bundled.iter().find(|(found, _)| found == bare) {
        let source = Source::new(format!("{}/{found}.toml", kind.root()), *text);
        return Ok(Found { source, folder: None, reference: found.clone() });
    }
    if let Some((reference, text)) = suites::scenario(bare, None).filter(|_| kind == Kind::Scenario) {
        let source = Source::new(format!("{reference}.toml"), text);
        return Ok(Found { source, folder: None, reference });
    }
    // The last part of a name is enough where only one bundled file has it, and it is not the beginning of what others are
    // called: who asks for umh-4gpu may mean umh-4gpu-nvlink.
    let longer = format!("{bare}-");
    let is_short = bundled.iter().any(|(found, _)| found.starts_with(&longer));
    let mut namesakes = bundled.iter().filter(|(found, _)| found.rsplit('/').next() == Some(bare));
    if let (Some((found, text)), None, false) = (namesakes.next(), namesakes.next(), is_short) {
        let source = Source::new(format!("{}/{found}.toml", kind.root()), *text);
        return Ok(Found { source, folder: None, reference: found.clone() });
    }
    fail(unknown(kind, name, bare, &bundled))
}

/// That a file on disk is of another kind, by the keys it has.
fn of_other_keys(kind: Kind, other: Kind, source: &Source) -> Diagnostic {
    let message = format!("this is a {}, not a {}", other.name(), kind.name());
    Diagnostic::new(message).of(source).expected(keys_of(kind))
}

/// By which keys a kind of file is known.
fn keys_of(kind: Kind) -> &'static str {
    match kind {
        Kind::Machine => "a file with the keys gpu, host or network",
        Kind::Protocol => "a file with the keys cache and directory",
        Kind::Scenario => "a file with the key machine",
        Kind::Sweep => "a file with the keys scenario and set",
    }
}

/// Names that one may have meant that are told, before the last.
const MOST_TOLD: usize = 5;

/// The kind of the bundled file of another kind that has this name, and that name.
fn of_another_kind(kind: Kind, name: &str) -> Option<(Kind, String)> {
    Kind::ALL.into_iter().filter(|other| *other != kind).find_map(|other| {
        let known = other.bundled().into_iter().find(|(known, _)| known == other.bare(name));
        known.map(|(known, _)| (other, known))
    })
}

/// A file that is of another kind than was asked for; with a scenario that runs on it, if it is a machine.
fn misplaced(kind: Kind, name: &str, expected: String, bundled: &[(String, &str)]) -> Option<Diagnostic> {
    let (other, known) = of_another_kind(kind, name)?;
    let message = format!("`{name}` is a {}, not a {}", other.name(), kind.name());
    let line = format!("machine = \"{known}\"");
    let runs = bundled.iter().find(|(_, text)| text.lines().any(|own| own == line));
    let user = runs.filter(|_| (kind, other) == (Kind::Scenario, Kind::Machine));
    let mut diagnostic = Diagnostic::new(message).expected(expected);
    diagnostic.suggestion = user.map(|(user, _)| format!("a scenario that runs on it is {user}"));
    Some(diagnostic)
}

/// That there is no such file: with the nearest bundled name, or else the nearest on disk.
fn unknown(kind: Kind, name: &str, bare: &str, bundled: &[(String, &str)]) -> Diagnostic {
    let what = kind.name();
    let workloads: Vec<String> = suites::names().filter(|_| kind == Kind::Scenario).collect();
    let names = || bundled.iter().map(|(name, _)| name.as_str()).chain(workloads.iter().map(String::as_str));
    let expected = format!("a path, or a name that `umscope list {what}s` shows");
    if let Some(misplaced) = misplaced(kind, name, expected.clone(), bundled) {
        return misplaced;
    }
    let mut diagnostic = Diagnostic::new(format!("there is no {what} `{name}`")).expected(expected);
    let longer = format!("{bare}-");
    let meant: Vec<&str> = names()
        .filter(|known| known.starts_with(&longer) || known.rsplit('/').next() == Some(bare))
        .collect();
    if let [first @ .., last] = meant.as_slice()
        && !first.is_empty()
    {
        let told = first.get(..MOST_TOLD).unwrap_or(first).join(", ");
        let message = match first.len().saturating_sub(MOST_TOLD) {
            0 => format!("`{name}` may be {told} or {last}"),
            more => format!("`{name}` may be {told} or one of {} others", more + 1),
        };
        return Diagnostic::new(message).expected("the whole name of one of them");
    }
    // A name may be right but for its folder.
    let last = |name: &str| name.rsplit('/').next().map(str::to_owned);
    let homonym = names().find(|known| last(known) == last(bare)).map(|near| format!("did you mean {near}?"));
    diagnostic = diagnostic.nearest(bare, names());
    // Or its end may be missing.
    let begun = names().find(|known| bare.contains('/') && known.starts_with(bare));
    let begun = begun.map(|near| format!("did you mean {near}?"));
    diagnostic.suggestion = homonym.or(begun).or(diagnostic.suggestion).or_else(|| {
        // A file of another kind is not meant.
        let suggestion = read_text(Path::new(name), 0).err()?.suggestion?;
        let near = suggestion.strip_prefix("did you mean ")?.strip_suffix('?')?;
        let near = read_text(Path::new(near), TEXT_LIMIT).ok()?;
        kind_of(&near).is_some_and(|found| found == kind).then_some(suggestion)
    });
    let within = format!("{}/", bare.trim_end_matches('/'));
    let inside = || names().filter(|known| known.starts_with(&within));
    if let Some(first) = inside().next() {
        diagnostic.message = format!("`{name}` is a folder of bundled {what}s, {} of them", inside().count());
        diagnostic.expected = Some(format!("one of them, such as {first}"));
        diagnostic.suggestion = None;
    } else if Path::new(name).is_dir() {
        diagnostic.message = format!("`{name}` is a folder, not a {what}");
    }
    diagnostic
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bundled_file_has_several_names() {
        for name in ["tiny/umh-2gpu", "tiny/umh-2gpu.toml", "configs/machines/tiny/umh-2gpu.toml"] {
            let found = find(Kind::Machine, name, Some(Path::new("/nowhere"))).unwrap();
            assert!(found.source.name.ends_with("configs/machines/tiny/umh-2gpu.toml"), "{name}");
        }
    }

    #[test]
    fn the_last_part_of_a_name_is_enough_where_it_is_the_only_one() {
        assert_eq!(find(Kind::Machine, "vi-1gpu", None).unwrap().reference, "tiny/vi-1gpu");
        let error = find(Kind::Machine, "umh-4gpu", None).unwrap_err();
        assert_eq!(error.message, "`umh-4gpu` may be tiny/umh-4gpu, umh-4gpu-nvlink or umh-4gpu-pcie");
        let error = find(Kind::Machine, "baseline-memcpy", None).unwrap_err();
        assert!(
            error.message.ends_with("baseline-memcpy-4gpu-nvlink or baseline-memcpy-4gpu-pcie"),
            "{error}"
        );
        let error = find(Kind::Machine, "baseline", None).unwrap_err();
        assert!(error.message.ends_with("or one of 13 others"), "{error}");
    }

    #[test]
    fn a_bundled_folder_is_called_one() {
        let error = find(Kind::Scenario, "umh", None).unwrap_err();
        assert!(error.message.starts_with("`umh` is a folder of bundled scenarios, "), "{error}");
        assert_eq!(error.expected.as_deref(), Some("one of them, such as umh/byte-mask"));
    }

    #[test]
    fn a_file_on_disk_wins() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("mesi.toml"), "mine").unwrap();
        let found = find(Kind::Protocol, "mesi", Some(folder.path())).unwrap();
        assert_eq!(&*found.source.text, "mine");
        assert_eq!(find(Kind::Protocol, &found.reference, None).unwrap().source, found.source);
        assert_ne!(&*find(Kind::Protocol, "mesi", None).unwrap().source.text, "mine");
    }

    #[test]
    fn a_file_of_another_kind_does_not_hide_a_bundled_one() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("mesi.toml"), "title = 'x'\n[[do]]\nby = 'gpu0.cu0'\n").unwrap();
        assert_eq!(find(Kind::Protocol, "mesi", Some(folder.path())).unwrap().folder, None);
    }

    #[test]
    fn an_unknown_name_gets_the_nearest() {
        for (kind, name, near) in
            [(Kind::Protocol, "nmosei", "nmoesi"), (Kind::Machine, "tiny/umh-2gqu", "tiny/umh-2gpu")]
        {
            let error = find(kind, name, None).unwrap_err();
            assert_eq!(error.suggestion, Some(format!("did you mean {near}?")), "{name}");
        }
        let error = find(Kind::Protocol, "/", None).unwrap_err();
        assert_eq!(error.message, "`/` is a folder, not a protocol");
    }

    #[test]
    fn a_file_is_told_by_its_keys() {
        for (text, kind) in [
            ("machine = 'm'\n[set]\na.b = [1, 2]\n[[do]]", Some(Kind::Scenario)),
            ("machine = 'm'\n[set]\na.b = 1", Some(Kind::Scenario)),
            ("trace = 't'\nmachine = 'm'\n[set]\na.b = [1, 2]", Some(Kind::Sweep)),
            ("scenario = 's'\n[set]\na = 1", Some(Kind::Sweep)),
            ("trace = 't'\nmachine = 'm'\nseeds = [1]", Some(Kind::Sweep)),
            ("[gpu]", Some(Kind::Machine)),
            ("[cache.M]", Some(Kind::Protocol)),
            ("[package]", None),
        ] {
            assert_eq!(kind_of(&Source::new("t", text)), kind, "{text}");
        }
    }

    #[test]
    fn a_bundled_file_of_another_kind_is_called_what_it_is() {
        for (kind, name, message, suggestion) in [
            (
                Kind::Scenario,
                "tiny/umh-2gpu-nvlink",
                "`tiny/umh-2gpu-nvlink` is a machine, not a scenario",
                Some("a scenario that runs on it is debugging/no-answer"),
            ),
            (Kind::Scenario, "nmoesi", "`nmoesi` is a protocol, not a scenario", None),
            (Kind::Machine, "umh/fig5-b1.toml", "`umh/fig5-b1.toml` is a scenario, not a machine", None),
        ] {
            let error = find(kind, name, None).unwrap_err();
            assert_eq!((error.message.as_str(), error.suggestion.as_deref()), (message, suggestion));
        }
    }

    #[test]
    fn every_bundled_file_has_a_title_and_a_kind() {
        for kind in [Kind::Machine, Kind::Protocol] {
            let entries = list(kind);
            assert!(entries.len() >= 7);
            for entry in entries {
                assert_ne!(entry.title, entry.name);
                let source = find(kind, &entry.name, None).unwrap().source;
                assert_eq!(kind_of(&source), Some(kind), "{}", entry.name);
            }
        }
    }
}
