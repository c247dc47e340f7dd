//! The user's keymap and theme, from `keymap.toml` and `themes/NAME.toml` in the configuration folder.

use std::path::{Path, PathBuf};

use etcetera::BaseStrategy;

use crate::diagnostic::{Diagnostic, Result, Source, read_text};

use super::glyphs;
use super::keymap::Keymap;
use super::theme::{EMBEDDED, Theme};

/// Most bytes of a keymap or theme file.
const LIMIT: u64 = 1 << 20;

/// Most files of the user's folder of themes that are looked at for their names.
const MOST_THEMES: usize = 100;

/// How the screen looks and listens.
#[derive(Clone, Debug)]
pub struct Settings {
    pub theme: Theme,
    pub keymap: Keymap,
    pub ascii: bool,
    /// The layout to begin with, from 0; without it, the one that suits the machine.
    pub layout: Option<usize>,
}

/// What the command line asks for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Asked {
    /// A theme that comes with the program, or that is in the user's folder.
    pub theme: Option<String>,
    pub ascii: bool,
    /// A layout's name.
    pub layout: Option<String>,
}

impl Settings {
    /// What was asked for, over the user's files, over what comes with the program.
    ///
    /// # Errors
    /// If a file of the user cannot be read or understood, or a name is unknown.
    pub fn load(asked: &Asked) -> Result<Self> {
        Self::from(asked, folder().as_deref(), &|name| std::env::var(name).ok())
    }

    /// The same with a given folder and environment.
    ///
    /// # Errors
    /// As [`Settings::load`].
    pub fn from(
        asked: &Asked,
        folder: Option<&Path>,
        variable: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Self> {
        let mut keymap = Keymap::embedded()?;
        if let Some(source) = folder.map(|folder| read(&folder.join("keymap.toml"))).transpose()?.flatten() {
            keymap.extend(Keymap::parse(&source)?);
        }
        let name = asked.theme.as_deref().unwrap_or("default");
        let theme = theme(name, folder, variable)?;
        let layout = match &asked.layout {
            None => None,
            Some(name) => Some(super::layout::find(name).ok_or_else(|| {
                Box::new(
                    Diagnostic::new(format!("no layout is called {name}"))
                        .expected(super::layout::names().join(", "))
                        .nearest(name, super::layout::names()),
                )
            })?),
        };
        Ok(Self { theme, keymap, ascii: asked.ascii || !glyphs::locale_is_utf8(variable), layout })
    }
}

/// The user's configuration folder for this program, if there is one that can be entered.
#[must_use]
pub fn folder() -> Option<PathBuf> {
    let base = etcetera::choose_base_strategy().ok()?;
    Some(base.config_dir().join("umscope")).filter(|folder| folder.is_dir())
}

/// The theme of this name, without colours if the user wants none.
///
/// # Errors
/// If there is none, or the user's file cannot be read or understood.
pub fn chosen(name: &str) -> Result<Theme> {
    theme(name, folder().as_deref(), &|name| std::env::var(name).ok())
}

/// The names of the themes that there are.
#[must_use]
pub fn theme_names() -> Vec<String> {
    themes(folder().as_deref())
}

fn theme(name: &str, folder: Option<&Path>, variable: &dyn Fn(&str) -> Option<String>) -> Result<Theme> {
    let theme = find(name, folder)?;
    let plain = variable("NO_COLOR").is_some_and(|value| !value.is_empty());
    Ok(if plain { theme.without_colour() } else { theme })
}

/// The user's file wins over the program's own.
fn find(name: &str, folder: Option<&Path>) -> Result<Theme> {
    if let Some(folder) = folder.filter(|_| is_plain(name))
        && let Some(source) = read(&folder.join("themes").join(format!("{name}.toml")))?
    {
        return Theme::parse(&source);
    }
    if let Some(theme) = Theme::embedded(name) {
        return theme;
    }
    let known = themes(folder);
    let unknown = Diagnostic::new(format!("no theme is called {name}")).expected(known.join(", "));
    Err(Box::new(unknown.nearest(name, known.iter().map(String::as_str))))
}

/// Whether a theme may be called so: its name is that of a file.
fn is_plain(name: &str) -> bool {
    name.chars().all(|character| character.is_alphanumeric() || matches!(character, '-' | '_'))
}

/// The names of the themes that come with the program, and then of the user's own.
fn themes(folder: Option<&Path>) -> Vec<String> {
    let mut names = EMBEDDED.map(|(name, _)| name.to_owned()).to_vec();
    let entries = folder.and_then(|folder| folder.join("themes").read_dir().ok()).into_iter().flatten();
    let mut own: Vec<_> = entries
        .take(MOST_THEMES)
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.strip_suffix(".toml").map(str::to_owned))
        .filter(|name| is_plain(name) && !names.contains(name))
        .collect();
    own.sort();
    names.extend(own);
    names
}

/// A file's text; `None` if there is no such file.
fn read(path: &Path) -> Result<Option<Source>> {
    match path.try_exists() {
        Ok(false) => Ok(None),
        _ => read_text(path, LIMIT).map(Some),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn load(asked: &Asked, folder: &Path, environment: &[(&str, &str)]) -> Result<Settings> {
        Settings::from(asked, Some(folder), &|name| {
            environment.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
        })
    }

    #[test]
    fn the_users_files_win() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("themes")).unwrap();
        std::fs::write(folder.path().join("keymap.toml"), "[keys]\ns = { do = 'quit', about = 'mine' }\n")
            .unwrap();
        std::fs::write(folder.path().join("themes/default.toml"), "name = 'mine'\n[styles]\n").unwrap();
        let settings = load(&Asked::default(), folder.path(), &[("LANG", "C.UTF-8")]).unwrap();
        assert_eq!(settings.theme.name, "mine");
        assert!(!settings.ascii);
        let same: Vec<_> = settings.keymap.bindings.iter().filter(|binding| binding.name == "s").collect();
        assert_eq!(same.len(), 1);
        assert_eq!(same[0].about, "mine");
    }

    #[test]
    fn a_broken_file_or_name_is_refused_with_its_place() {
        let folder = tempfile::tempdir().unwrap();
        let wrong = Asked { layout: Some("overvew".into()), ..Asked::default() };
        let error = load(&wrong, folder.path(), &[]).unwrap_err();
        assert_eq!(error.suggestion.as_deref(), Some("did you mean overview?"));
        std::fs::create_dir(folder.path().join("themes")).unwrap();
        for name in ["zebra.toml", "my.toml", "light.toml", "notes.txt", "no name.toml"] {
            std::fs::write(folder.path().join("themes").join(name), "name = 'x'\n[styles]\n").unwrap();
        }
        let wrong = Asked { theme: Some("zebr".into()), ..Asked::default() };
        let error = load(&wrong, folder.path(), &[]).unwrap_err();
        assert_eq!(error.expected.as_deref(), Some("default, light, colour-blind, monochrome, my, zebra"));
        assert_eq!(error.suggestion.as_deref(), Some("did you mean zebra?"));
        std::fs::write(folder.path().join("keymap.toml"), "[keys]\ns = 4\n").unwrap();
        assert_eq!(load(&Asked::default(), folder.path(), &[]).unwrap_err().position(), Some((2, 5)));
        std::fs::write(folder.path().join("keymap.toml"), [0xff, 0xfe]).unwrap();
        assert!(load(&Asked::default(), folder.path(), &[]).is_err());
    }
}
