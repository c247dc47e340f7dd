//! JSON schemas of the files, for editors that complete and check them.

use schemars::schema_for;

use super::machine_file::MachineFile;
use super::protocol_file::ProtocolFile;
use super::sweep_file::SweepFile;

/// The schema of machine files.
#[must_use]
pub fn machine() -> serde_json::Value {
    schema_for!(MachineFile).to_value()
}

/// The schema of protocol files.
#[must_use]
pub fn protocol() -> serde_json::Value {
    schema_for!(ProtocolFile).to_value()
}

/// The schema of sweep files.
#[must_use]
pub fn sweep() -> serde_json::Value {
    schema_for!(SweepFile).to_value()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Kind, find, list};
    use serde_json::Value;

    /// The schemas that the value of a key may have, references followed.
    fn choices<'a>(root: &'a Value, schema: &'a Value) -> Vec<&'a Value> {
        let named = schema["$ref"].as_str().and_then(|name| root.pointer(name.trim_start_matches('#')));
        let inner = schema["anyOf"].as_array().into_iter().flatten();
        let more = named.into_iter().chain(inner).flat_map(|schema| choices(root, schema));
        std::iter::once(schema).chain(more).collect()
    }

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
}
