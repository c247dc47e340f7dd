//! The table `set` of a scenario or a sweep: keys of the machine file, and what they are set to there.

use std::ops::Range;

use serde_json::{Number, Value};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::fail;
use super::names::{DEEPEST, OVERRIDES, sets_the_same};
use crate::diagnostic::{Diagnostic, Result, Source, from_toml};

/// A key of the machine and what it is set to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting {
    /// The file that says so.
    pub source: Source,
    /// The names of the key, each with where it stands.
    pub names: Vec<(String, usize)>,
    /// Where the last of them stands, and what it is set to.
    pub span: Range<usize>,
    pub value: Range<usize>,
    /// The values of a list, else the only one.
    pub values: Vec<SetValue>,
}

/// A value of a setting.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SetValue {
    /// As `--set` takes it.
    pub text: String,
    /// What results have: a number or a boolean as such, a string without its quotes, anything else as it is written.
    pub json: Value,
    pub span: Range<usize>,
}

impl SetValue {
    fn new(value: &Spanned<DeValue<'_>>, source: &Source) -> Self {
        let span = value.span();
        let text = source.text.get(span.clone()).unwrap_or("").to_owned();
        let json = match value.get_ref() {
            DeValue::Boolean(is_on) => Some(Value::from(*is_on)),
            DeValue::Integer(number) => {
                i64::from_str_radix(number.as_str(), number.radix()).ok().map(Value::from)
            }
            DeValue::Float(number) => {
                number.as_str().parse().ok().and_then(Number::from_f64).map(Value::from)
            }
            _ => None,
        };
        let json = json.unwrap_or_else(|| Value::from(value.get_ref().as_str().unwrap_or(&text)));
        Self { text, json, span }
    }
}

impl Setting {
    /// The key, with dots.
    #[must_use]
    pub fn key(&self) -> String {
        let names: Vec<_> = self.names.iter().map(|(name, _)| name.as_str()).collect();
        names.join(".")
    }

    /// As `--set` takes it.
    #[must_use]
    pub fn text(&self) -> String {
        format!("{}={}", self.key(), self.source.text.get(self.value.clone()).unwrap_or(""))
    }
}

/// The settings of a file, in their order.
///
/// # Errors
/// If it is no TOML, or sets a key twice.
pub fn read(source: &Source) -> Result<Vec<Setting>> {
    let root = DeTable::parse(&source.text).map_err(|error| Box::new(from_toml(&error, source)))?;
    let mut found = Vec::new();
    if let Some(DeValue::Table(table)) = root.get_ref().get("set").map(Spanned::get_ref) {
        collect(&[], table, source, &mut found);
    }
    found.sort_by_key(|setting| setting.span.start);
    let too_many = found.get(OVERRIDES).map(|setting| setting.span.clone());
    let too_deep =
        || found.iter().find(|setting| setting.names.len() > DEEPEST).map(|setting| setting.span.clone());
    if let Some(span) = too_many.or_else(too_deep) {
        let most = format!("at most {OVERRIDES} keys of {DEEPEST} names");
        return fail(Diagnostic::new("this is too much to set").at(source, span).expected(most));
    }
    for (index, setting) in found.iter().enumerate() {
        let key = setting.key();
        if found.iter().take(index).any(|before| sets_the_same(&before.key(), &key)) {
            let twice = format!("`{key}` is set twice, in two ways to write it");
            return fail(Diagnostic::new(twice).at(source, setting.span.clone()));
        }
    }
    Ok(found)
}

fn collect(prefix: &[(String, usize)], table: &DeTable<'_>, source: &Source, found: &mut Vec<Setting>) {
    for (name, value) in table {
        let names = [prefix, &names(name, source)].concat();
        let single = |value: &Spanned<DeValue<'_>>| SetValue::new(value, source);
        let values = match value.get_ref() {
            DeValue::Table(inner) => {
                collect(&names, inner, source, found);
                continue;
            }
            DeValue::Array(values) => values.iter().map(single).collect(),
            _ => vec![single(value)],
        };
        let (span, value) = (name.span(), value.span());
        found.push(Setting { source: source.clone(), names, span, value, values });
    }
}

/// The names in a key: several, if dots stand between quotes.
fn names(key: &Spanned<std::borrow::Cow<'_, str>>, source: &Source) -> Vec<(String, usize)> {
    let text = source.text.get(key.span()).unwrap_or("");
    let mut at = key.span().start + usize::from(text.starts_with(['"', '\'']));
    let place = |name: &str| {
        let own = at;
        at += name.len() + 1;
        (name.trim().to_owned(), own)
    };
    key.get_ref().split('.').map(place).collect()
}
