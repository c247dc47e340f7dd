//! Lists where a file needs a table. The reader would take their items for the keys of the table, in an order that nobody knows.

use std::ops::Range;

use serde_json::Value;
use toml::Spanned;
use toml::de::DeValue;

/// The first list in a tree that its schema has a table for.
pub fn list_for_table(root: &Value, tree: &Spanned<DeValue<'_>>) -> Option<Range<usize>> {
    in_value(root, &choices(root, root), tree)
}

/// The schemas that the value of a key may have, references followed.
pub fn choices<'a>(root: &'a Value, schema: &'a Value) -> Vec<&'a Value> {
    let named = schema["$ref"].as_str().and_then(|name| root.pointer(name.trim_start_matches('#')));
    let inner = schema["anyOf"].as_array().into_iter().flatten();
    let more = named.into_iter().chain(inner).flat_map(|schema| choices(root, schema));
    std::iter::once(schema).chain(more).collect()
}

fn in_value(root: &Value, known: &[&Value], value: &Spanned<DeValue<'_>>) -> Option<Range<usize>> {
    let inside = |schemas: Vec<&Value>, value| {
        let known: Vec<&Value> = schemas.into_iter().flat_map(|schema| choices(root, schema)).collect();
        in_value(root, &known, value)
    };
    match value.get_ref() {
        DeValue::Table(table) => table.iter().find_map(|(key, value)| {
            let named = known.iter().filter_map(|schema| schema["properties"].get(key.get_ref().as_ref()));
            let by_state = known.iter().filter_map(|schema| schema["patternProperties"].as_object());
            inside(named.chain(by_state.flat_map(serde_json::Map::values)).collect(), value)
        }),
        DeValue::Array(items) => {
            let lists: Vec<&Value> = known.iter().filter_map(|schema| schema.get("items")).collect();
            let is_object = |schema: &&Value| {
                ["properties", "patternProperties"].iter().any(|keys| schema[*keys].is_object())
            };
            let is_table = known.iter().any(is_object);
            if lists.is_empty() && is_table {
                return Some(value.span());
            }
            items.iter().find_map(|item| inside(lists.clone(), item))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use crate::config::machine_from_toml;
    use crate::diagnostic::Source;

    #[test]
    fn a_list_is_no_table_whatever_its_items_would_be() {
        for (text, place) in [
            ("gpu.l1 = []", (1, 10)),
            ("gpu.l1 = [\"1 KiB\", 4]", (1, 10)),
            ("gpu.l1 = [1]", (1, 10)),
            ("name = \"t\"\ngpu = [2]", (2, 7)),
            ("network = { balancer = [] }", (1, 24)),
        ] {
            let error = machine_from_toml(&Source::new("m", text)).unwrap_err();
            let told = (error.position(), error.message.as_str(), error.expected.as_deref());
            assert_eq!(told, (Some(place), "wrong type: a list", Some("a table")), "{text}");
        }
        let row = "name = \"p\"\n[state]\nI = \"\"\n[cache]\nI = [\"hit\", \"hit\"]\n";
        let error = crate::config::protocol::from_toml(&Source::new("p", row)).unwrap_err();
        assert_eq!((error.position(), error.message.as_str()), (Some((5, 5)), "wrong type: a list"));
        let error = machine_from_toml(&Source::new("m", "[[gpu]]\ncount = 1")).unwrap_err();
        assert_eq!(error.message, "wrong type: a list of tables");
        assert!(error.expected.is_some_and(|expected| expected.starts_with("[gpu]")));
    }
}
