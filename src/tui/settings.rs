//! The user's keymap and theme, from `keymap.toml` and `themes/NAME.toml` in the configuration folder.

use std::path::{Path, PathBuf};

use etcetera::BaseStrategy;

use crate::diagnostic::{Diagnostic, Result, Source, read_text};

use super::glyphs;
use super::keymap::Keymap;
use super::theme::Theme;

/// Most bytes of a keymap or theme file.
const LIMIT: u64 = 1 << 20;

/// How the screen looks and listens.
#[derive(Clone, Debug)]
pub struct Settings {
    pub theme: Theme,
    pub keymap: Keymap,
    pub ascii: bool,
    /// The layout to begin with, from 0.
    pub layout: usize,
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
        let mut theme = theme(name, folder)?;
        if variable("NO_COLOR").is_some_and(|value| !value.is_empty()) {
            theme = theme.without_colour();
        }
        let layout = match &asked.layout {
            None => 0,
            Some(name) => super::layout::NAMES.iter().position(|known| known == name).ok_or_else(|| {
                Box::new(
                    Diagnostic::new(format!("no layout is called {name}"))
                        .expected(super::layout::NAMES.join(", "))
                        .nearest(name, super::layout::NAMES),
                )
            })?,
        };
        Ok(Self { theme, keymap, ascii: asked.ascii || !glyphs::locale_is_utf8(variable), layout })
    }
}

/// The user's configuration folder for this program, if there is a home.
#[must_use]
pub fn folder() -> Option<PathBuf> {
    etcetera::choose_base_strategy().ok().map(|base| base.config_dir().join("umscope"))
}

/// The theme of this name: the user's file wins over the program's own.
fn theme(name: &str, folder: Option<&Path>) -> Result<Theme> {
    let plain = name.chars().all(|character| character.is_alphanumeric() || matches!(character, '-' | '_'));
    if let Some(folder) = folder.filter(|_| plain)
        && let Some(source) = read(&folder.join("themes").join(format!("{name}.toml")))?
    {
        return Theme::parse(&source);
    }
    Theme::embedded(name)
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
        std::fs::write(folder.path().join("keymap.toml"), "[keys]\ns = 4\n").unwrap();
        assert_eq!(load(&Asked::default(), folder.path(), &[]).unwrap_err().position(), Some((2, 5)));
        std::fs::write(folder.path().join("keymap.toml"), [0xff, 0xfe]).unwrap();
        assert!(load(&Asked::default(), folder.path(), &[]).is_err());
    }
}
