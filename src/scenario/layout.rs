//! The text of a scenario file as a person would write it: keys in the order of reading, a table a paragraph.

use toml::{Table, Value};

/// The order of keys; those that are not here follow in the order of the alphabet.
const KEYS: [&str; 45] = [
    "title",
    "name",
    "source",
    "about",
    "scale",
    "seed",
    "checks",
    "ends",
    "max-cycles",
    "trace",
    "trace-format",
    "launch",
    "protocol",
    "values",
    "mutate",
    "start",
    "id",
    "event",
    "digest",
    "node",
    "on",
    "nth",
    "after",
    "at",
    "delay",
    "by",
    "warp",
    "op",
    "address",
    "bytes",
    "value",
    "state",
    "owner",
    "sharers",
    "dirty",
    "count",
    "is",
    "clock",
    "cu",
    "l1",
    "l2",
    "memory",
    "size",
    "that",
    "do",
];

/// Lists that are paragraphs, in their order; tasks come after the first five.
const LISTS: [&str; 9] =
    ["allocate", "memory", "state", "fault", "input", "say", "break", "expect", "display"];

fn rank(key: &str) -> (usize, &str) {
    (KEYS.iter().position(|known| *known == key).unwrap_or(KEYS.len()), key)
}

fn ordered(table: &Table) -> Vec<(&String, &Value)> {
    let mut entries: Vec<_> = table.iter().collect();
    entries.sort_by_key(|(key, _)| rank(key));
    entries
}

/// The text of a scenario file: lines told at its top, all but its tasks, and these with the names of their lists.
#[must_use]
pub fn text(comment: &[String], head: &Table, tasks: &[(&str, Table)]) -> String {
    let mut text: String =
        comment.iter().map(|line| format!("# {line}").trim_end().to_owned() + "\n").collect();
    for (key, value) in ordered(head) {
        let is_section = matches!((key.as_str(), value), ("machine" | "set" | "protocols", Value::Table(_)));
        if !is_section && !LISTS.contains(&key.as_str()) {
            text.push_str(&format!("{} = {}\n", bare(key), inline(key, value)));
        }
    }
    if let Some(Value::Table(machine)) = head.get("machine") {
        section(&mut text, "machine", machine);
    }
    if let Some(Value::Table(changes)) = head.get("set") {
        text.push_str("\n[set]\n");
        for (key, value) in dotted(changes) {
            text.push_str(&format!("{key} = {}\n", inline("", value)));
        }
    }
    let (before, after) = LISTS.split_at(5);
    let list = |text: &mut String, key: &str| {
        for value in head.get(key).and_then(Value::as_array).into_iter().flatten() {
            if let Value::Table(table) = value {
                paragraph(text, key, table);
            }
        }
    };
    for key in before {
        list(&mut text, key);
    }
    for (key, table) in tasks {
        paragraph(&mut text, key, table);
    }
    for key in after {
        list(&mut text, key);
    }
    if let Some(Value::Table(protocols)) = head.get("protocols") {
        text.push_str("\n[protocols]\n");
        for (name, protocol) in protocols {
            text.push_str(&format!("{} = {}\n", bare(name), whole(protocol)));
        }
    }
    text
}

/// A file in a file: its text as it is, where that can be.
fn whole(value: &Value) -> String {
    match value {
        Value::String(text) if !text.contains("'''") && !text.contains('\r') => format!("'''\n{text}'''"),
        other => other.to_string(),
    }
}

/// Every value in a table, whatever it is in, with its whole key.
pub fn dotted(table: &Table) -> Vec<(String, &Value)> {
    let mut all = Vec::new();
    for (key, value) in ordered(table) {
        match value {
            Value::Table(inner) => {
                let whole = |(rest, value)| (format!("{}.{rest}", bare(key)), value);
                all.extend(dotted(inner).into_iter().map(whole));
            }
            value => all.push((bare(key), value)),
        }
    }
    all
}

fn paragraph(text: &mut String, key: &str, table: &Table) {
    text.push_str(&format!("\n[[{key}]]\n"));
    for (key, value) in ordered(table) {
        text.push_str(&format!("{} = {}\n", bare(key), inline(key, value)));
    }
}

/// A table of the machine: what is plain first, then each part of it.
fn section(text: &mut String, name: &str, table: &Table) {
    text.push_str(&format!("\n[{name}]\n"));
    let is_part = |value: &Value| name == "machine" && value.is_table();
    for (key, value) in ordered(table) {
        if !is_part(value) {
            text.push_str(&format!("{} = {}\n", bare(key), inline(key, value)));
        }
    }
    for (key, value) in ordered(table) {
        if let Value::Table(part) = value
            && is_part(value)
        {
            section(text, &format!("{name}.{}", bare(key)), part);
        }
    }
}

/// A key, in quotes if need be.
fn bare(key: &str) -> String {
    let plain = !key.is_empty() && key.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_');
    if plain { key.to_owned() } else { Value::String(key.into()).to_string() }
}

/// A value on one line; programs and long texts on several.
fn inline(key: &str, value: &Value) -> String {
    match value {
        Value::Integer(number) if key == "address" && *number >= 0 => format!("{number:#x}"),
        Value::Table(table) => {
            let entries: Vec<_> = ordered(table)
                .into_iter()
                .map(|(key, value)| format!("{} = {}", bare(key), inline(key, value)))
                .collect();
            if entries.is_empty() { "{}".to_owned() } else { format!("{{ {} }}", entries.join(", ")) }
        }
        Value::Array(list) if key == "do" && list.len() > 1 => {
            let lines: Vec<_> = list.iter().map(|value| format!("    {},", inline("", value))).collect();
            format!("[\n{}\n]", lines.join("\n"))
        }
        Value::Array(list) => {
            let items: Vec<_> = list.iter().map(|value| inline("", value)).collect();
            format!("[{}]", items.join(", "))
        }
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::draft::Draft;
    use super::super::prepare::Options;
    use super::super::read::Scenario;
    use crate::config::{self, Kind};

    #[test]
    fn every_bundled_scenario_says_the_same_when_it_is_written_again() {
        for entry in config::list(Kind::Scenario) {
            let scenario = Scenario::load(&entry.name).unwrap();
            let draft = Draft::of(&scenario, &Options::default()).unwrap();
            let again = draft.scenario("again").unwrap_or_else(|error| panic!("{}: {error}", entry.name));
            let rewritten = Draft::of(&again, &Options::default()).unwrap();
            assert_eq!(rewritten, draft, "{}", entry.name);
            let run = |scenario: &Scenario| {
                let mut machine = scenario.prepare(&Options::default()).unwrap().machine;
                machine.run_until(2_000);
                machine.digest()
            };
            assert_eq!(run(&again), run(&scenario), "{}", entry.name);
        }
    }

    #[test]
    fn a_person_can_read_it() {
        let text = "machine = { gpu = { count = 1 } }\n[[do]]\nby = 'gpu0.cu0'\nstore.address = 4096\n\
                    store.bytes = '07'\n[[program]]\nby = 'gpu0.cu0'\ndo = ['fence', 'load 0x10']\n";
        let scenario = Scenario::parse(crate::diagnostic::Source::new("t", text), None).unwrap();
        let mut draft = Draft::of(&scenario, &Options::default()).unwrap();
        draft.comment = vec!["What it is.".into()];
        let expected = "# What it is.\n\n[machine]\n\n[machine.gpu]\ncount = 1\n\n[[do]]\nid = \"do-1\"\n\
                        by = \"gpu0.cu0\"\nstore = { address = 0x1000, bytes = \"07\" }\n\n[[program]]\n\
                        id = \"program-1\"\nby = \"gpu0.cu0\"\ndo = [\n    \"fence\",\n    \"load 0x10\",\n]\n";
        assert_eq!(draft.text(), expected);
    }
}
