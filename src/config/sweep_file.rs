//! The sweep file as it is written: every key and its meaning.
//!
//! The documentation of each field is also its description in the JSON schema.

use std::collections::BTreeMap;
use std::ops::Range;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Number, Value};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::document::{At, Document};
use super::fail;
use crate::diagnostic::{Diagnostic, Result, Source, from_toml};

/// A sweep: something to run, and the settings that it is run with, each value of each with all values of the others.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", expecting = "a table")]
#[schemars(title = "umscope sweep file")]
pub struct SweepFile {
    /// What it is for, in one line.
    pub title: Option<String>,
    /// What it is about, in a few sentences.
    pub about: Option<String>,
    /// A scenario to run: a path or a bundled name.
    pub scenario: Option<At<String>>,
    /// Several scenarios.
    pub scenarios: Option<At<Vec<At<String>>>>,
    /// A trace to run instead of a scenario: path of a file or folder.
    pub trace: Option<At<String>>,
    /// The trace's format, if it cannot be told from the file: a name that `umscope list trace-formats` shows.
    pub trace_format: Option<At<String>>,
    /// The machine that the trace, or each scenario of `umscope list workloads`, runs on: a bundled name or a path.
    pub machine: Option<At<String>>,
    /// Several machines.
    pub machines: Option<At<Vec<At<String>>>>,
    /// Seeds of everything random; each point runs with each. Default: the scenario's own.
    pub seeds: Option<At<Vec<u64>>>,
    /// Cycles after which a run is stopped, instead of the scenario's limit.
    pub max_cycles: Option<At<u64>>,
    /// Whether the rules of the protocol are checked after every event. Default: what the scenario says.
    pub checks: Option<bool>,
    /// Keys of the machine file with dots (or as tables), `scale` and `launch`, each with a list of values or with a single one, as
    /// `--set` takes them.
    #[serde(default)]
    #[schemars(with = "BTreeMap<String, serde_json::Value>")]
    set: toml::Table,
}

/// A key of the machine and the values that it is given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting {
    pub key: String,
    /// Where the key stands.
    pub span: Range<usize>,
    pub values: Vec<SetValue>,
}

/// A value of a setting.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SetValue {
    /// As `--set` takes it.
    pub text: String,
    /// As people write it: without the quotes of a string.
    pub shown: String,
    /// What results have: a number or a boolean as such, anything else as people write it.
    pub json: Value,
    pub span: Range<usize>,
}

impl SetValue {
    fn new(value: &Spanned<DeValue<'_>>, source: &Source) -> Self {
        let span = value.span();
        let text = source.text.get(span.clone()).unwrap_or("").to_owned();
        let shown = value.get_ref().as_str().map_or_else(|| text.clone(), str::to_owned);
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
        let json = json.unwrap_or_else(|| Value::from(shown.as_str()));
        Self { text, shown, json, span }
    }
}

impl SweepFile {
    /// The settings, in the order in which they stand in `document`, which this was read from.
    ///
    /// # Errors
    /// If a list of values is empty, or a key or one of its values is given twice.
    pub fn settings(&self, document: &Document) -> Result<Vec<Setting>> {
        if self.set.is_empty() {
            return Ok(Vec::new());
        }
        let source = document.source();
        // Read again for the places.
        let root = DeTable::parse(&source.text).map_err(|error| Box::new(from_toml(&error, source)))?;
        let mut found = Vec::new();
        let set = root.get_ref().iter().find(|(key, _)| key.get_ref() == "set");
        if let Some(DeValue::Table(table)) = set.map(|(_, value)| value.get_ref()) {
            collect("", table, source, &mut found)?;
        }
        found.sort_by_key(|setting| setting.span.start);
        different(&found, source)?;
        Ok(found)
    }
}

/// That no key and no value of a key is given twice.
fn different(settings: &[Setting], source: &Source) -> Result<()> {
    for (index, setting) in settings.iter().enumerate() {
        if settings.iter().take(index).any(|before| before.key == setting.key) {
            let twice = format!("`{}` is set twice, in two ways to write it", setting.key);
            return fail(Diagnostic::new(twice).at(source, setting.span.clone()));
        }
        for (index, value) in setting.values.iter().enumerate() {
            if setting.values.iter().take(index).any(|before| before.shown == value.shown) {
                let twice = format!("`{}` is given this value twice", setting.key);
                return fail(Diagnostic::new(twice).at(source, value.span.clone()));
            }
        }
    }
    Ok(())
}

fn collect(prefix: &str, table: &DeTable<'_>, source: &Source, found: &mut Vec<Setting>) -> Result<()> {
    for (name, value) in table {
        let key = if prefix.is_empty() {
            name.get_ref().to_string()
        } else {
            format!("{prefix}.{}", name.get_ref())
        };
        let single = |value: &Spanned<DeValue<'_>>| SetValue::new(value, source);
        let values = match value.get_ref() {
            DeValue::Table(inner) => {
                collect(&key, inner, source, found)?;
                continue;
            }
            DeValue::Array(values) => values.iter().map(single).collect(),
            _ => vec![single(value)],
        };
        let setting = Setting { key, span: name.span(), values };
        if setting.values.is_empty() {
            let none = Diagnostic::new(format!("`{}` has no values", setting.key));
            return fail(none.at(source, value.span()).expected("at least one"));
        }
        found.push(setting);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Vec<Setting>> {
        let document = Document::new(Source::new("s.toml", text));
        document.read::<SweepFile>()?.settings(&document)
    }

    #[test]
    fn keys_may_be_quoted_dotted_or_tables_and_keep_their_order() {
        let text = "[set]\nb.x = [1, 2]\n\"a.y\" = [\"1 KiB\"]\n[set.gpu]\nl1 = { ways = [2,\n4] }\nclock = '1 GHz'\n";
        let all = read(text).unwrap();
        let shown: Vec<_> = all
            .iter()
            .map(|setting| {
                let values: Vec<_> = setting.values.iter().map(|value| value.text.as_str()).collect();
                format!("{}={}", setting.key, values.join("|"))
            })
            .collect();
        assert_eq!(shown, ["b.x=1|2", "a.y=\"1 KiB\"", "gpu.l1.ways=2|4", "gpu.clock='1 GHz'"]);
    }

    #[test]
    fn results_have_numbers_and_booleans_as_such() {
        let all = read("[set]\na = [0x10, 1_000, 2.5, true, \"2\", '1 KiB', nan, [1]]\n").unwrap();
        let json: Vec<String> = all[0].values.iter().map(|value| value.json.to_string()).collect();
        assert_eq!(json, ["16", "1000", "2.5", "true", "\"2\"", "\"1 KiB\"", "\"nan\"", "\"[1]\""]);
    }

    #[test]
    fn what_sets_nothing_or_twice_is_refused_at_its_place() {
        for (text, message, place) in [
            ("[set]\na = []\n", "`a` has no values", (2, 5)),
            ("[set]\na = [\"1 GHz\", 2, '1 GHz']\n", "`a` is given this value twice", (2, 18)),
            ("[set]\na.b = 1\n\"a.b\" = 2\n", "`a.b` is set twice, in two ways to write it", (3, 1)),
        ] {
            let error = read(text).unwrap_err();
            assert_eq!((error.message.as_str(), error.position()), (message, Some(place)));
        }
    }
}
