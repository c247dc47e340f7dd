//! A TOML file together with what the command line sets in it (`--set KEY=VALUE`).
//!
//! The file keeps its text and places. An override is a text of its own, whose places follow the file's: so a
//! complaint about a value points into whichever of the two it came from.

use std::ops::Range;
use std::sync::{Arc, OnceLock};

use serde::Deserialize;
use serde::de::{DeserializeOwned, Deserializer};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::fail;
use super::lists::list_for_table;
use super::names::{DEEPEST, OVERRIDES, other_name};
use super::settings::Setting;
use crate::diagnostic::{Diagnostic, Result, Source, from_toml};

/// A value and where it stands; reads only from TOML.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct At<T> {
    pub value: T,
    pub span: Range<usize>,
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for At<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        let spanned = Spanned::<T>::deserialize(deserializer)?;
        Ok(Self { span: spanned.span(), value: spanned.into_inner() })
    }
}

impl<T: schemars::JsonSchema> schemars::JsonSchema for At<T> {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> std::borrow::Cow<'static, str> {
        T::schema_name()
    }
    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        generator.subschema_for::<T>()
    }
}

/// What a file of some kind is read as, and its schema.
pub trait Described: DeserializeOwned {
    fn schema() -> &'static serde_json::Value;
}

/// A TOML text with overrides.
#[derive(Clone, Debug)]
pub struct Document {
    source: Source,
    overrides: Vec<Override>,
    /// Where the lines of the file end, once somebody has asked.
    ends: OnceLock<Arc<[usize]>>,
}

#[derive(Clone, Debug)]
struct Override {
    source: Source,
    /// Where its places begin: after the file and the overrides before it.
    offset: usize,
    /// The table that its key is looked up in.
    within: Vec<String>,
    /// The names of the key, each with where it stands in the text, and where the value does.
    key: Vec<(String, usize)>,
    value: Range<usize>,
}

impl Document {
    #[must_use]
    pub fn new(source: Source) -> Self {
        Self { source, overrides: Vec::new(), ends: OnceLock::new() }
    }

    /// The line of the file that a place is on, from 1.
    #[must_use]
    pub fn line(&self, at: usize) -> usize {
        let ends = self.ends.get_or_init(|| {
            let bytes = self.source.text.bytes().enumerate();
            bytes.filter(|(_, byte)| *byte == b'\n').map(|(at, _)| at).collect()
        });
        ends.partition_point(|end| *end < at) + 1
    }

    /// The file.
    #[must_use]
    pub fn source(&self) -> &Source {
        &self.source
    }

    /// What was set of the file itself, each `KEY=VALUE`.
    pub fn set_texts(&self) -> impl Iterator<Item = &str> {
        self.overrides.iter().filter(|over| over.within.is_empty()).map(|over| &*over.source.text)
    }

    /// Sets `KEY=VALUE`: the key with dots (`gpu.l1.size`), the value as in the file or, if that is no TOML, as a
    /// string. Whether key and value make sense is told by [`Self::read`].
    ///
    /// # Errors
    /// If it has no `=` or no key.
    pub fn set(&mut self, text: &str) -> Result<()> {
        self.set_as("--set", &[], text)
    }

    /// The same, for what another option of the command line says: complaints name that one.
    ///
    /// # Errors
    /// As [`Self::set`].
    pub fn set_by(&mut self, option: &str, text: &str) -> Result<()> {
        self.set_as(option, &[], text)
    }

    /// The same, for a key that is looked up in a table of the file (`["machine"]` in a scenario).
    ///
    /// # Errors
    /// As [`Self::set`].
    pub fn set_within(&mut self, within: &[&str], text: &str) -> Result<()> {
        self.set_as("--set", within, text)
    }

    fn set_as(&mut self, option: &str, within: &[&str], text: &str) -> Result<()> {
        let source = Source::new(option, text);
        let wrong = |message: &str, span| {
            let expected = "KEY=VALUE, such as gpu.l1.size=\"1 KiB\"";
            fail(Diagnostic::new(message).at(&source, span).expected(expected))
        };
        let Some((key, _)) = text.split_once('=') else {
            return wrong("this sets nothing", text.len()..text.len());
        };
        if key.split('.').any(|name| name.trim().is_empty()) {
            return wrong("a name is missing in the key", 0..key.len());
        }
        if self.overrides.len() >= OVERRIDES || key.split('.').count() > DEEPEST {
            return wrong("this is too much to set", 0..key.len());
        }
        let mut at = 0;
        let place = |name: &str| {
            let own = at + (name.len() - name.trim_start().len());
            at += name.len() + 1;
            (name.trim().to_owned(), own)
        };
        let (names, value) = (key.split('.').map(place).collect(), key.len() + 1..text.len());
        self.put_over(within, source, names, value);
        Ok(())
    }

    /// Sets what a file says in its table `set`, in a table of this one; complaints point there.
    pub fn lay(&mut self, within: &[&str], setting: &Setting) {
        self.put_over(within, setting.source.clone(), setting.names.clone(), setting.value.clone());
    }

    fn put_over(&mut self, within: &[&str], source: Source, key: Vec<(String, usize)>, value: Range<usize>) {
        let end =
            self.overrides.last().map_or(self.source.text.len(), |last| last.offset + last.source.text.len());
        let within = within.iter().map(|&name| name.to_owned()).collect();
        self.overrides.push(Override { source, offset: end + 1, within, key, value });
    }

    /// Reads the text, with what was set, as a file of some kind.
    ///
    /// # Errors
    /// As [`Self::read`], and if a list stands where a table has to be.
    pub fn read_file<T: Described>(&self) -> Result<T> {
        let file = self.read();
        let root = self.root()?;
        let span = root.span();
        let tree = Spanned::new(span, DeValue::Table(root.into_inner()));
        // Where the reader complains of a list itself, it says what is meant.
        let is_told = file.as_ref().is_err_and(|error| error.message.starts_with("wrong type: a list"));
        match list_for_table(T::schema(), &tree).filter(|_| !is_told) {
            Some(span) => fail(self.complain(Some(&span), "wrong type: a list").expected("a table")),
            None => file,
        }
    }

    /// Reads the text, with what was set, as a `T`.
    ///
    /// # Errors
    /// If it is no TOML, has unknown keys, or a value of the wrong kind.
    pub fn read<T: DeserializeOwned>(&self) -> Result<T> {
        let read = |root| T::deserialize(toml::Deserializer::from(root));
        let error = match read(self.root()?) {
            Ok(value) => return Ok(value),
            Err(error) if error.message() == NO_WORD => read(self.quoted(&error)?).err().unwrap_or(error),
            Err(error) => error,
        };
        let (source, place) = self.locate(error.span().unwrap_or(0..0));
        let mut diagnostic = from_toml(&error, source);
        diagnostic.span = Some(place);
        Err(Box::new(diagnostic))
    }

    /// The text as a tree, with what was set.
    fn root(&self) -> Result<Spanned<DeTable<'_>>> {
        let mut root =
            DeTable::parse(&self.source.text).map_err(|error| Box::new(from_toml(&error, &self.source)))?;
        for over in &self.overrides {
            self.apply(root.get_mut(), over)?;
        }
        Ok(root)
    }

    /// The tree with a word in the place of the value that `error` is about: of a word that it does not know, the reader
    /// tells which ones it knows.
    fn quoted(&self, error: &toml::de::Error) -> Result<Spanned<DeTable<'_>>> {
        let mut root = self.root()?;
        if let Some(span) = error.span() {
            let text = self.text(&span);
            root.get_mut().iter_mut().for_each(|(_, value)| quote(value, &span, text));
        }
        Ok(root)
    }

    /// A complaint about the value at `span`.
    #[must_use]
    pub fn complain(&self, span: Option<&Range<usize>>, message: impl Into<String>) -> Diagnostic {
        let diagnostic = Diagnostic::new(message);
        match span {
            Some(span) => {
                let (source, place) = self.locate(span.clone());
                diagnostic.at(source, place)
            }
            None => diagnostic.of(&self.source),
        }
    }

    /// A complaint about what is given under `key`, such as `gpu.numa`, or about as much of that path as there is.
    #[must_use]
    pub fn complain_about(&self, key: &str, message: impl Into<String>) -> Diagnostic {
        self.complain(self.place(key).as_ref(), message)
    }

    /// Whether `key` is not in the file, but was set.
    #[must_use]
    pub fn is_set(&self, key: &str) -> bool {
        self.place(key).is_some_and(|span| span.start > self.source.text.len())
    }

    /// `key` with those of its names that the file, or what was set, has for them.
    #[must_use]
    pub fn as_written(&self, key: &str) -> String {
        let written = self.given(key).into_iter().map(|(name, _)| name);
        let rest = key.split('.').skip(written.len()).map(str::to_owned);
        written.chain(rest).collect::<Vec<_>>().join(".")
    }

    /// Where the last name of `key` that is given stands.
    fn place(&self, key: &str) -> Option<Range<usize>> {
        self.given(key).pop().map(|(_, place)| place)
    }

    /// As many names of `key` as are given, as they are, and where each stands; a scenario's own machine has its keys in a table.
    fn given(&self, key: &str) -> Vec<(String, Range<usize>)> {
        let Ok(root) = self.root() else { return Vec::new() };
        let mut table = root.get_ref();
        let first = key.split('.').next().unwrap_or(key);
        if !table.contains_key(first)
            && let Some(DeValue::Table(machine)) = table.get("machine").map(Spanned::get_ref)
        {
            table = machine;
        }
        let mut given = Vec::new();
        for name in key.split('.') {
            let name = other_name(|key| table.contains_key(key), name).unwrap_or(name);
            let Some((key, value)) = table.get_key_value(name) else { break };
            given.push((name.to_owned(), key.span()));
            let DeValue::Table(inner) = value.get_ref() else { break };
            table = inner;
        }
        given
    }

    /// The text at `span`.
    #[must_use]
    pub fn text(&self, span: &Range<usize>) -> &str {
        let (source, place) = self.locate(span.clone());
        source.text.get(place).unwrap_or("")
    }

    /// The file or override that `span` lies in, and where in it.
    #[must_use]
    pub fn locate(&self, span: Range<usize>) -> (&Source, Range<usize>) {
        match self.overrides.iter().rev().find(|over| over.offset <= span.start) {
            Some(over) => (&over.source, span.start - over.offset..span.end.saturating_sub(over.offset)),
            None => (&self.source, span),
        }
    }

    fn apply<'a>(&self, root: &mut DeTable<'a>, over: &'a Override) -> Result<()> {
        let within = over.within.iter().map(|name| (name.as_str(), over.offset));
        let key = over.key.iter().map(|(name, at)| (name.as_str(), over.offset + at));
        let names: Vec<(&'a str, usize)> = within.chain(key).collect();
        let value = over.source.text.get(over.value.clone()).unwrap_or("");
        let value = parse_value(value, over.offset + over.value.start);
        let Some((last, tables)) = names.split_last() else { return Ok(()) };
        let mut table = root;
        for (name, at) in tables {
            let known = other_name(|key| table.contains_key(key), name).unwrap_or(name);
            let key = Spanned::new(*at..*at + name.len(), known.into());
            let empty = || Spanned::new(*at..*at + name.len(), DeValue::Table(DeTable::default()));
            let DeValue::Table(inner) = table.entry(key).or_insert_with(empty).get_mut() else {
                let message = format!("`{name}` is no table: nothing can be set in it");
                return fail(self.complain(Some(&(*at..*at + name.len())), message));
            };
            table = inner;
        }
        // Removed first, so that the key too has its place in the override.
        let key = Spanned::new(last.1..last.1 + last.0.len(), last.0.into());
        if let Some(known) = other_name(|key| table.contains_key(key), last.0) {
            table.remove(known);
        }
        table.remove(&key);
        table.insert(key, value);
        Ok(())
    }
}

/// What the TOML reader says of a value where it wants one of a few words.
const NO_WORD: &str = "wanted string or table";

/// Makes the value at `span`, if this is it or has it inside, a text.
fn quote<'a>(value: &mut Spanned<DeValue<'a>>, span: &Range<usize>, text: &'a str) {
    let is_meant = value.span() == *span;
    match value.get_mut() {
        value if is_meant => *value = DeValue::String(text.into()),
        DeValue::Table(table) => table.iter_mut().for_each(|(_, value)| quote(value, span, text)),
        DeValue::Array(items) => items.iter_mut().for_each(|value| quote(value, span, text)),
        _ => {}
    }
}

/// The value of an override, its places counted from `offset`; a string if it is no TOML.
fn parse_value(text: &str, offset: usize) -> Spanned<DeValue<'_>> {
    let trimmed = text.trim();
    let offset = offset + (text.len() - text.trim_start().len());
    match DeValue::parse(trimmed) {
        Ok(value) => shift(value, offset),
        Err(_) => Spanned::new(offset..offset + trimmed.len(), DeValue::String(trimmed.into())),
    }
}

/// `value` with all its places moved up by `offset`.
fn shift(value: Spanned<DeValue<'_>>, offset: usize) -> Spanned<DeValue<'_>> {
    let span = value.span().start + offset..value.span().end + offset;
    let value = match value.into_inner() {
        DeValue::Array(items) => DeValue::Array(items.into_iter().map(|item| shift(item, offset)).collect()),
        DeValue::Table(table) => DeValue::Table(
            table
                .into_iter()
                .map(|(key, value)| {
                    let place = key.span().start + offset..key.span().end + offset;
                    (Spanned::new(place, key.into_inner()), shift(value, offset))
                })
                .collect(),
        ),
        other => other,
    };
    Spanned::new(span, value)
}

/// An error of a visitor: a value that is not what was expected.
pub(super) fn unexpected<E: serde::de::Error>(value: &str, expected: &str) -> E {
    E::custom(format_args!("wrong value: \"{value}\", expected {expected}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct File {
        gpu: Gpu,
    }

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Gpu {
        count: At<u32>,
        name: Option<At<String>>,
    }

    fn document(overrides: &[&str]) -> Document {
        let mut document = Document::new(Source::new("m.toml", "[gpu]\ncount = 2\n"));
        for text in overrides {
            document.set(text).unwrap();
        }
        document
    }

    #[test]
    fn an_override_replaces_or_adds_a_value() {
        let document = document(&["gpu.count=4", "gpu.name = two words", "gpu.count = 5"]);
        let gpu = document.read::<File>().unwrap().gpu;
        assert_eq!(gpu.count.value, 5);
        assert_eq!(gpu.name.as_ref().unwrap().value, "two words");
        let complaint = document.complain(Some(&gpu.count.span), "too many").to_string();
        assert!(complaint.starts_with("--set:1:13: too many\n 1 | gpu.count = 5\n"), "{complaint}");
    }

    #[test]
    fn a_wrong_override_is_shown_where_it_stands() {
        for (text, column, message, suggestion) in [
            ("gpu.cuont=3", 5, "unknown key `cuont`", Some("did you mean count?")),
            ("gqu.count=3", 1, "unknown key `gqu`", Some("did you mean gpu?")),
            ("gpu.count=three", 11, "wrong type: string \"three\"", None),
            ("gpu.count= -1", 12, "wrong value: integer `-1`", None),
            ("gpu.count.x=1", 5, "`count` is no table: nothing can be set in it", None),
        ] {
            let error = document(&[text]).read::<File>().unwrap_err();
            assert_eq!(error.message, message);
            assert_eq!(error.source.as_ref().unwrap().name.as_ref(), "--set", "{text}");
            assert_eq!(error.position(), Some((1, column)), "{text}");
            assert_eq!(error.suggestion.as_deref(), suggestion, "{text}");
        }
        for text in ["gpu", "=3", "gpu..x=3", ""] {
            assert!(document(&[]).set(text).is_err(), "{text}");
        }
    }
}
