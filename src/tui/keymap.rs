//! Keys and what they do, from a keymap file: the screen's own keys, the hints and the help all come from here.

use std::collections::BTreeMap;
use std::sync::Arc;

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use serde::Deserialize;
use toml::Spanned;

use crate::debug::command;
use crate::debug::frame::wish::Pane;
use crate::diagnostic::{Diagnostic, Result, Source};

use super::action::Action;
use super::file::{self, Named};

/// A key with its modifiers; shift is part of the character where there is one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Key {
    pub code: KeyCode,
    pub ctrl: bool,
    pub alt: bool,
}

/// What a key does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Do {
    Action(Action),
    /// A command with places to fill.
    Command(String),
}

/// One line of a keymap.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Binding {
    /// Pressed one after the other.
    pub keys: Vec<Key>,
    /// As written in the file.
    pub name: String,
    /// Only in this pane.
    pub pane: Option<Pane>,
    pub does: Do,
    pub about: String,
    pub hint: Option<String>,
    pub group: String,
}

/// All bindings, in the order of the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Keymap {
    pub bindings: Vec<Binding>,
}

/// The keymap that comes with the program.
pub const EMBEDDED: &str = include_str!("../../configs/keymap.toml");

#[derive(Deserialize)]
#[serde(transparent)]
struct File(BTreeMap<Spanned<String>, BTreeMap<Spanned<String>, Line>>);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    #[serde(rename = "do")]
    does: Spanned<String>,
    #[serde(default)]
    about: String,
    hint: Option<String>,
    #[serde(default)]
    group: String,
}

/// What the keys typed so far mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lookup<'a> {
    Found(&'a Binding),
    /// More keys are needed.
    Begun,
    Unbound,
}

impl Keymap {
    /// The keymap that comes with the program.
    ///
    /// # Errors
    /// Never for a released program: a test reads it.
    pub fn embedded() -> Result<Self> {
        Self::parse(&Source { name: Arc::from("configs/keymap.toml"), text: Arc::from(EMBEDDED) })
    }

    /// Reads a keymap file.
    ///
    /// # Errors
    /// If it is not TOML, or names a key, pane or action that does not exist.
    pub fn parse(source: &Source) -> Result<Self> {
        let File(sections) = file::parse(source)?;
        let mut lines = Vec::new();
        for (section, keys) in &sections {
            let pane = section_pane(section, source)?;
            for (name, line) in keys {
                lines.push((name.span().start, binding(name, line, pane, source)?));
            }
        }
        lines.sort_by_key(|(start, _)| *start);
        Ok(Self { bindings: lines.into_iter().map(|(_, binding)| binding).collect() })
    }

    /// Adds the bindings of `other`; where both bind the same keys, `other` wins.
    pub fn extend(&mut self, other: Self) {
        self.bindings
            .retain(|old| !other.bindings.iter().any(|new| new.keys == old.keys && new.pane == old.pane));
        self.bindings.extend(other.bindings);
    }

    /// What `typed` means in `pane`.
    #[must_use]
    pub fn find(&self, typed: &[Key], pane: Pane) -> Lookup<'_> {
        let here = |binding: &&Binding| binding.pane.is_none_or(|only| only == pane);
        let exact = self.bindings.iter().filter(here).filter(|binding| binding.keys == typed);
        if let Some(binding) = exact.max_by_key(|binding| binding.pane.is_some()) {
            return Lookup::Found(binding);
        }
        let begun = self.bindings.iter().filter(here).any(|binding| binding.keys.starts_with(typed));
        if begun { Lookup::Begun } else { Lookup::Unbound }
    }

    /// The keys that the bottom line shows for `pane`: its own first.
    pub fn hints(&self, pane: Pane) -> impl Iterator<Item = &Binding> {
        let own = self.bindings.iter().filter(move |binding| binding.pane == Some(pane));
        let common = self.bindings.iter().filter(move |common| {
            let overridden = |own: &Binding| own.pane == Some(pane) && own.keys == common.keys;
            common.pane.is_none() && !self.bindings.iter().any(overridden)
        });
        own.chain(common).filter(|binding| binding.hint.is_some())
    }

    /// The first key that does `action`, as it is written.
    #[must_use]
    pub fn key_of(&self, action: Action) -> Option<&str> {
        self.bindings
            .iter()
            .find(|binding| binding.does == Do::Action(action) && binding.pane.is_none())
            .map(|binding| binding.name.as_str())
    }

    /// The first key for `command`, which takes nothing, as it is written.
    #[must_use]
    pub fn key_of_command(&self, command: &str) -> Option<&str> {
        let is_it = |does: &Do| matches!(does, Do::Command(other) if other == command);
        let found = self.bindings.iter().find(|binding| is_it(&binding.does) && binding.pane.is_none());
        found.map(|binding| binding.name.as_str())
    }
}

fn section_pane(section: &Spanned<String>, source: &Source) -> Result<Option<Pane>> {
    let name = section.get_ref();
    if name == "keys" {
        return Ok(None);
    }
    let known = Pane::ALL.iter().map(|pane| pane.name());
    match name.strip_prefix("keys-") {
        Some(pane) => Pane::parse(pane)
            .map(Some)
            .ok_or_else(|| file::unknown(source, "pane", &Named { name: pane, span: section.span() }, known)),
        None => Err(Box::new(
            Diagnostic::new(format!("no section is called {name}"))
                .at(source, section.span())
                .expected("[keys], or [keys-PANE] such as [keys-log]"),
        )),
    }
}

fn binding(name: &Spanned<String>, line: &Line, pane: Option<Pane>, source: &Source) -> Result<Binding> {
    let text = name.get_ref();
    let keys: Option<Vec<Key>> = text.split_whitespace().map(Key::parse).collect();
    let Some(keys) = keys.filter(|keys| !keys.is_empty() && keys.len() <= 4) else {
        return Err(Box::new(
            Diagnostic::new(format!("{text:?} is not a key")).at(source, name.span()).expected(
                "a character, a name such as enter or f1, with ctrl- or alt- before it; up to four",
            ),
        ));
    };
    let does = match line.does.get_ref().strip_prefix(':') {
        Some(command) => {
            check_command(command, source, &line.does)?;
            Do::Command(command.to_owned())
        }
        None => Do::Action(Action::parse(line.does.get_ref()).ok_or_else(|| {
            let known = Action::ALL.iter().map(|action| action.name());
            file::unknown(source, "action", &Named::of(&line.does), known)
        })?),
    };
    Ok(Binding {
        keys,
        name: text.clone(),
        pane,
        does,
        about: line.about.clone(),
        hint: line.hint.clone(),
        group: line.group.clone(),
    })
}

/// What the screen alone knows how to set: `set theme light` is `theme light`.
pub const OWN: [&str; 3] = ["layout", "pane", "theme"];

/// What a key's command may have filled in, in braces.
const PLACES: [&str; 9] =
    ["count", "break", "watch", "block", "component", "txn", "event", "record", "letter"];

/// Complains of a command that there is not, and of a place that nothing fills.
fn check_command(command: &str, source: &Source, line: &Spanned<String>) -> Result<()> {
    let first = command.split_whitespace().next().unwrap_or_default();
    if !OWN.contains(&first) && !first.starts_with('{') {
        command::known(command, source, line.span())?;
    }
    let mut places = command.split('{').skip(1).filter_map(|rest| Some(rest.split_once('}')?.0));
    match places.find(|place| !PLACES.contains(place)) {
        Some(name) => {
            Err(file::unknown(source, "place", &Named { name, span: line.span() }, PLACES.into_iter()))
        }
        None => Ok(()),
    }
}

/// Keys that are neither characters nor numbered.
const NAMED: [(&str, KeyCode); 16] = [
    ("space", KeyCode::Char(' ')),
    ("enter", KeyCode::Enter),
    ("esc", KeyCode::Esc),
    ("tab", KeyCode::Tab),
    ("shift-tab", KeyCode::BackTab),
    ("backspace", KeyCode::Backspace),
    ("delete", KeyCode::Delete),
    ("insert", KeyCode::Insert),
    ("up", KeyCode::Up),
    ("down", KeyCode::Down),
    ("left", KeyCode::Left),
    ("right", KeyCode::Right),
    ("home", KeyCode::Home),
    ("end", KeyCode::End),
    ("pageup", KeyCode::PageUp),
    ("pagedown", KeyCode::PageDown),
];

impl Key {
    /// Reads `s`, `ctrl-c`, `f1`, `shift-tab`.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let (mut rest, mut ctrl, mut alt) = (text, false, false);
        loop {
            if let Some(after) = rest.strip_prefix("ctrl-") {
                (rest, ctrl) = (after, true);
            } else if let Some(after) = rest.strip_prefix("alt-") {
                (rest, alt) = (after, true);
            } else {
                break;
            }
        }
        let named = NAMED.iter().find(|(name, _)| *name == rest).map(|(_, code)| *code);
        let code = named.or_else(|| Self::code(rest))?;
        Some(Self { code, ctrl, alt })
    }

    fn code(text: &str) -> Option<KeyCode> {
        let mut characters = text.chars();
        match (characters.next(), characters.as_str()) {
            (Some(only), "") => Some(KeyCode::Char(only)),
            (Some('f'), number) => {
                number.parse().ok().filter(|number| (1..=12).contains(number)).map(KeyCode::F)
            }
            _ => None,
        }
    }

    /// What a keymap calls it, a character in quotes where it stands alone; `None` of keys that do nothing by themselves.
    #[must_use]
    pub fn name(self) -> Option<String> {
        let modifiers = [(self.ctrl, "ctrl-"), (self.alt, "alt-")];
        let modifiers: String = modifiers.iter().filter(|(held, _)| *held).map(|(_, name)| *name).collect();
        let plain = match (NAMED.iter().find(|(_, code)| *code == self.code), self.code) {
            (Some((name, _)), _) => (*name).to_owned(),
            (None, KeyCode::Char(only)) if modifiers.is_empty() => format!("{only:?}"),
            (None, KeyCode::Char(only)) => only.to_string(),
            (None, KeyCode::F(number)) => format!("f{number}"),
            _ => return None,
        };
        Some(modifiers + &plain)
    }

    /// The key of a terminal event.
    #[must_use]
    pub fn of(event: &KeyEvent) -> Self {
        Self {
            code: event.code,
            ctrl: event.modifiers.contains(KeyModifiers::CONTROL),
            alt: event.modifiers.contains(KeyModifiers::ALT),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(text: &str) -> Source {
        Source { name: "keymap.toml".into(), text: text.into() }
    }

    #[test]
    fn the_embedded_keymap_binds_each_key_once() {
        let keymap = Keymap::embedded().unwrap();
        for (nth, binding) in keymap.bindings.iter().enumerate() {
            let same = |other: &Binding| other.keys == binding.keys && other.pane == binding.pane;
            assert_eq!(keymap.bindings.iter().position(same), Some(nth), "{}", binding.name);
            assert!(!binding.about.is_empty(), "{} says nothing about itself", binding.name);
        }
        assert_eq!(keymap.bindings[0].name, "s");
    }

    #[test]
    fn a_pane_overrides_and_sequences_wait() {
        let keymap = Keymap::embedded().unwrap();
        let g = Key::parse("g").unwrap();
        assert_eq!(keymap.find(&[g], Pane::Map), Lookup::Begun);
        let Lookup::Found(top) = keymap.find(&[g, g], Pane::Map) else { panic!("gg is not bound") };
        assert_eq!(top.does, Do::Action(Action::Top));
        let Lookup::Found(start) = keymap.find(&[g, g], Pane::Timeline) else { panic!("gg is not bound") };
        assert_eq!(start.does, Do::Command("goto event 0".into()));
        assert_eq!(keymap.find(&[Key::parse("f12").unwrap()], Pane::Map), Lookup::Unbound);
    }

    #[test]
    fn mistakes_name_their_place() {
        let error = Keymap::parse(&source("[keys]\n\"s\" = { do = \"zom\" }\n")).unwrap_err();
        assert_eq!(error.position(), Some((2, 14)));
        assert_eq!(error.suggestion.as_deref(), Some("did you mean zoom?"));
        let error = Keymap::parse(&source("[keys]\n\"hyper-s\" = { do = \"zoom\" }\n")).unwrap_err();
        assert_eq!(error.position(), Some((2, 1)));
        let error = Keymap::parse(&source("[keys-lgo]\n")).unwrap_err();
        assert_eq!(error.suggestion.as_deref(), Some("did you mean log?"));
        assert!(Keymap::parse(&source("[keys\n")).is_err());
        let error = Keymap::parse(&source("[keys]\n\"Q\" = { do = \":stepp\" }\n")).unwrap_err();
        assert_eq!(
            (error.position(), error.suggestion.as_deref()),
            (Some((2, 14)), Some("did you mean step?"))
        );
        let error = Keymap::parse(&source("[keys]\n\"s\" = { do = \":step {cuont}\" }\n")).unwrap_err();
        assert_eq!(error.suggestion.as_deref(), Some("did you mean count?"));
    }
}
