//! JSON schemas of the files, for editors that complete and check them.

use std::sync::LazyLock;

use schemars::schema_for;
use serde_json::Value;

use super::document::Described;
use super::lists::choices;
use super::machine_file::MachineFile;
use super::protocol_file::ProtocolFile;
use super::sweep_file::SweepFile;
use crate::diagnostic::{Complaint, Diagnostic};

/// The schema of machine files.
#[must_use]
pub fn machine() -> serde_json::Value {
    ranged(schema_for!(MachineFile).to_value())
}

impl Described for MachineFile {
    fn schema() -> &'static Value {
        static SCHEMA: LazyLock<Value> = LazyLock::new(machine);
        &SCHEMA
    }
}

impl Described for ProtocolFile {
    fn schema() -> &'static Value {
        static SCHEMA: LazyLock<Value> = LazyLock::new(protocol);
        &SCHEMA
    }
}

impl Described for SweepFile {
    fn schema() -> &'static Value {
        static SCHEMA: LazyLock<Value> = LazyLock::new(sweep);
        &SCHEMA
    }
}

/// A schema whose whole numbers have the limits that their descriptions tell, such as `1 to 8`.
#[must_use]
pub fn ranged(mut schema: Value) -> Value {
    limit(&mut schema);
    schema
}

fn limit(schema: &mut Value) {
    let inner = match schema {
        Value::Object(fields) => {
            let types = fields.get("type").map(Value::to_string).unwrap_or_default();
            let described = fields.get("description").and_then(Value::as_str).and_then(limits);
            if let Some((least, most)) = described.filter(|_| types.contains("\"integer\"")) {
                fields.insert("minimum".into(), least.into());
                fields.insert("maximum".into(), most.into());
            }
            fields.values_mut().collect::<Vec<_>>()
        }
        Value::Array(list) => list.iter_mut().collect(),
        _ => return,
    };
    inner.into_iter().for_each(limit);
}

/// The first two whole numbers of a text with `to` between them.
fn limits(text: &str) -> Option<(u64, u64)> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let number = |word: &str| word.trim_end_matches([',', '.', ';', ':']).replace(',', "").parse().ok();
    words.windows(3).find_map(|words| match words {
        [least, "to", most] => Some((number(least)?, number(most)?)),
        _ => None,
    })
}

/// Names that a complaint lists at most.
const NAMED: usize = 4;

/// A complaint about an unknown key that was set by itself, with the keys of a machine file that have its names in this order:
/// `gpu.l1.size` for `l1.size`.
#[must_use]
pub fn completed(mut error: Box<Diagnostic>) -> Box<Diagnostic> {
    let is_unknown = error.suggestion.is_none() && matches!(error.complaint, Some(Complaint::Key(_)));
    let set = error.source.as_ref().filter(|source| is_unknown && !source.text.contains('\n'));
    let Some(key) = set.and_then(|source| source.text.split_once('=')).map(|(key, _)| key.trim()) else {
        return error;
    };
    let meant: Vec<String> = keys().into_iter().filter(|known| is_within(key, known)).collect();
    if (1..=NAMED).contains(&meant.len()) {
        error.suggestion = Some(format!("did you mean {}?", meant.join(" or ")));
    }
    if !meant.is_empty() {
        return error;
    }
    // What `--set` takes for the scenario.
    let first = key.split('.').next().unwrap_or(key).to_owned();
    Box::new(error.nearest(&first, ["scale", "launch", "with"]))
}

/// Whether the names of `key` are among those of `known`, in their order, up to the last.
fn is_within(key: &str, known: &str) -> bool {
    let mut names = known.split('.');
    let all = key.split('.').all(|name| names.any(|other| other == name));
    all && names.next().is_none()
}

/// Every key of a machine file, with dots.
fn keys() -> Vec<String> {
    let root = machine();
    let mut keys = Vec::new();
    collect(&root, &root, "", &mut keys);
    keys
}

fn collect(root: &Value, schema: &Value, path: &str, keys: &mut Vec<String>) {
    let choices = choices(root, schema);
    let tables: Vec<_> = choices.iter().filter_map(|choice| choice["properties"].as_object()).collect();
    if tables.is_empty() {
        keys.push(path.to_owned());
    }
    for (name, inner) in tables.into_iter().flatten() {
        let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
        collect(root, inner, &path, keys);
    }
}

/// The schema of protocol files.
#[must_use]
pub fn protocol() -> serde_json::Value {
    ranged(schema_for!(ProtocolFile).to_value())
}

/// The schema of sweep files.
#[must_use]
pub fn sweep() -> serde_json::Value {
    ranged(schema_for!(SweepFile).to_value())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Kind, find, list, load_machine_with};

    /// The keys of a file that its schema forbids.
    fn forbidden(root: &Value, schema: &Value, table: &toml::Table) -> Vec<String> {
        let choices = choices(root, schema);
        let wrong = |(key, value): (&String, &toml::Value)| {
            let Some(schema) = choices.iter().find_map(|schema| schema["properties"].get(key)) else {
                return vec![key.clone()];
            };
            value.as_table().map_or_else(Vec::new, |inner| forbidden(root, schema, inner))
        };
        table.iter().flat_map(wrong).collect()
    }

    #[test]
    fn the_schema_allows_every_key_of_the_bundled_machines() {
        let schema = machine();
        for entry in list(Kind::Machine) {
            let text = find(Kind::Machine, &entry.name, None).unwrap().source.text;
            let forbidden = forbidden(&schema, &schema, &toml::from_str(&text).unwrap());
            assert!(forbidden.is_empty(), "{}: {forbidden:?}", entry.name);
        }
    }

    #[test]
    fn schemas_describe_and_forbid_unknown_keys() {
        let machine = machine();
        assert_eq!(machine["additionalProperties"], false);
        let text = machine.to_string();
        assert!(text.contains("GPUs, 1 to 8. Default: 1."));
        assert!(text.contains("a size such as"));
        let protocol = protocol();
        assert!(protocol.to_string().contains("owned by another"), "{protocol}");
    }

    /// Machines of which one has each part.
    const MACHINES: [&str; 7] = [
        "tiny/umh-1gpu",
        "tiny/umh-4gpu-switch",
        "tiny/numa-2socket",
        "tiny/paged-1gpu",
        "tiny/scalegpu",
        "tiny/selective",
        "tiny/selective-readonly",
    ];

    /// What the schema says of a whole number: its limits.
    fn told(root: &Value, key: &str) -> Option<(u64, u64)> {
        let mut at = root;
        for name in key.split('.') {
            at = choices(root, at).into_iter().find_map(|schema| schema["properties"].get(name))?;
        }
        Some((at["minimum"].as_u64()?, at["maximum"].as_u64()?))
    }

    #[test]
    fn limits_in_the_schema_are_those_that_are_checked() {
        let schema = machine();
        let mut count = 0;
        for key in keys() {
            let Some((least, most)) = told(&schema, &key) else { continue };
            let beyond = [Some(most + 1), least.checked_sub(1)];
            for wrong in beyond.into_iter().flatten() {
                let set = [format!("{key}={wrong}")];
                let is_told = MACHINES.iter().any(|machine| {
                    let error = load_machine_with(machine, None, &set).err();
                    error
                        .and_then(|error| error.expected)
                        .is_some_and(|text| limits(&text) == Some((least, most)))
                });
                assert!(is_told, "{key}: {least} to {most}");
            }
            count += 1;
        }
        assert!(count > 60, "{count}");
    }

    #[test]
    fn a_key_without_its_beginning_is_known() {
        for (set, suggestion) in [
            ("l1.mshrs=3", Some("did you mean gpu.l1.mshrs or host.l1.mshrs?")),
            ("balancer.sample=3", Some("did you mean network.balancer.sample?")),
            ("gpu.banks=8", Some("did you mean gpu.memory.dram.banks or gpu.tags.banks?")),
            ("gpu.cuont=3", Some("did you mean count?")),
            ("nothing.such=3", None),
            ("scal=4", Some("did you mean scale?")),
            ("wth.size=4", Some("did you mean with?")),
            // Too many have one.
            ("latency=3", None),
        ] {
            let error = load_machine_with("tiny/umh-1gpu", None, &[set.to_owned()]).unwrap_err();
            assert_eq!(error.suggestion.as_deref(), suggestion, "{error}");
        }
    }
}
