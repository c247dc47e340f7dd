//! The sweep file as it is written: every key and its meaning.
//!
//! The documentation of each field is also its description in the JSON schema.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;

use super::document::{At, Document};
use super::fail;
use super::seed;
use super::settings::{self, SetValue, Setting};
use crate::diagnostic::{Diagnostic, Result, Source};
use crate::model::units::{Bandwidth, Duration, Frequency, Size};

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
    /// Seeds of everything random, each at most 9223372036854775807; each point runs with each. Default: the scenario's own.
    #[serde(default, deserialize_with = "seed::list")]
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
        let settings = settings::read(source)?;
        for setting in &settings {
            different(setting, source)?;
        }
        Ok(settings)
    }
}

/// That a key has values, and none of them twice.
fn different(setting: &Setting, source: &Source) -> Result<()> {
    if setting.values.is_empty() {
        let none = Diagnostic::new(format!("`{}` has no values", setting.key()));
        return fail(none.at(source, setting.value.clone()).expected("at least one"));
    }
    for (index, value) in setting.values.iter().enumerate() {
        if setting.values.iter().take(index).any(|before| plain(before) == plain(value)) {
            let twice = format!("`{}` is given this value twice", setting.key());
            return fail(Diagnostic::new(twice).at(source, value.span.clone()));
        }
    }
    Ok(())
}

/// A value in one way to write it: `1024 B` and `1 KiB` are the same.
fn plain(value: &SetValue) -> String {
    let Some(text) = value.json.as_str() else { return value.json.to_string() };
    let size = Size::parse(text).map(|size| size.to_string());
    let time = || Duration::parse(text).map(|time| time.to_string());
    let rate = || Bandwidth::parse(text).map(|rate| rate.to_string());
    let clock = || Frequency::parse(text).map(|clock| clock.to_string());
    let same = size.or_else(|_| time()).or_else(|_| rate()).or_else(|_| clock());
    same.unwrap_or_else(|_| text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Vec<Setting>> {
        let document = Document::new(Source::new("s.toml", text));
        document.read_file::<SweepFile>()?.settings(&document)
    }

    #[test]
    fn keys_may_be_quoted_dotted_or_tables_and_keep_their_order() {
        let text = "[set]\nb.x = [1, 2]\n\"a.y\" = [\"1 KiB\"]\n[set.gpu]\nl1 = { ways = [2,\n4] }\nclock = '1 GHz'\n";
        let all = read(text).unwrap();
        let shown: Vec<_> = all
            .iter()
            .map(|setting| {
                let values: Vec<_> = setting.values.iter().map(|value| value.text.as_str()).collect();
                format!("{}={}", setting.key(), values.join("|"))
            })
            .collect();
        assert_eq!(shown, ["b.x=1|2", "a.y=\"1 KiB\"", "gpu.l1.ways=2|4", "gpu.clock='1 GHz'"]);
    }

    #[test]
    fn what_sets_nothing_or_twice_is_refused_at_its_place() {
        for (text, message, place) in [
            ("[set]\na = []\n", "`a` has no values", (2, 5)),
            ("[set]\na = [\"1 GHz\", 2, '1 GHz']\n", "`a` is given this value twice", (2, 18)),
            ("[set]\na = [\"512 B\", \"0.5 KiB\"]\n", "`a` is given this value twice", (2, 15)),
            ("[set]\na = [0x10, 16]\n", "`a` is given this value twice", (2, 12)),
            ("[set]\na.b = 1\n\"a.b\" = 2\n", "`a.b` is set twice, in two ways to write it", (3, 1)),
        ] {
            let error = read(text).unwrap_err();
            assert_eq!((error.message.as_str(), error.position()), (message, Some(place)));
        }
    }
}
