//! Records as comma-separated values: one row a record, the same columns whatever its kind.

use std::io::{self, Write};

use super::exporter::Export;
use crate::debug::describe;
use crate::machine::Machine;
use crate::model::component::{ComponentId, Components};
use crate::model::inspect::Inspect;
use crate::model::record::{Field, KINDS, Record};
use crate::model::text::{hex, key_word};
use crate::model::time::TimeBase;
use crate::report::csv;

/// Columns that every record has; the fields of the kinds follow, then the text.
const SHARED: [&str; 10] =
    ["event", "ordinal", "cycle", "nanoseconds", "kind", "at", "because", "transaction", "address", "length"];

/// Writes records as rows.
#[derive(Clone, Debug)]
pub struct Csv {
    /// Names of the kinds' own fields, each once, in the order of the kinds.
    fields: Vec<&'static str>,
}

impl Default for Csv {
    fn default() -> Self {
        let mut fields = Vec::new();
        for field in KINDS.iter().flat_map(|kind| kind.fields) {
            if !fields.contains(&field.name) {
                fields.push(field.name);
            }
        }
        Self { fields }
    }
}

impl Csv {
    fn header(&self) -> String {
        let own = self.fields.iter().map(|name| format!("fields.{}", key_word(name)));
        let names = SHARED.iter().map(|&name| name.to_owned()).chain(own);
        csv::row(names.chain(["text".to_owned()]))
    }

    fn row(&self, record: &Record, components: &Components, time: TimeBase) -> String {
        let optional = |number: Option<u64>| number.map_or_else(String::new, |number| number.to_string());
        let shared = [
            record.id.event.to_string(),
            record.id.ordinal.to_string(),
            record.cycle.to_string(),
            time.nanoseconds(record.tick).to_string(),
            record.kind().to_owned(),
            components.path(record.at).to_owned(),
            optional(record.because),
            optional(record.txn.map(|txn| txn.0)),
            record.range.map_or_else(String::new, |range| range.start.to_string()),
            optional(record.range.map(|range| u64::from(range.len))),
        ];
        let own = self
            .fields
            .iter()
            .map(|name| record.field(name).map_or_else(String::new, |field| self::field(&field, components)));
        csv::row(shared.into_iter().chain(own).chain([describe::record(record, components)]))
    }
}

/// A field in one word or several with blanks between.
fn field(value: &Field, components: &Components) -> String {
    let path = |id: &ComponentId| components.path(*id).to_owned();
    match value {
        Field::Component(id) => path(id),
        Field::Components(ids) => ids.iter().map(path).collect::<Vec<_>>().join(" "),
        Field::State(state) => state.to_string(),
        Field::Words(words) => words.first().map_or_else(String::new, |&word| word.to_owned()),
        Field::Word(word) => (*word).to_owned(),
        Field::Text(text) => text.to_string(),
        Field::Number(number) => number.to_string(),
        Field::Bytes(bytes) => hex(bytes),
    }
}

impl Export for Csv {
    fn begin(&mut self, _machine: &Machine, out: &mut dyn Write) -> io::Result<()> {
        writeln!(out, "{}", self.header())
    }

    fn event(
        &mut self,
        machine: &Machine,
        records: &[(bool, &Record)],
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let (components, time) = (machine.components(), machine.time_base());
        for (_, record) in records.iter().filter(|(chosen, _)| *chosen) {
            writeln!(out, "{}", self.row(record, components, time))?;
        }
        Ok(())
    }

    fn end(&mut self, _machine: &Machine, _out: &mut dyn Write) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_names_every_field_of_every_kind_once() {
        let header = Csv::default().header();
        let mut names: Vec<&str> = header.split(',').collect();
        for field in KINDS.iter().flat_map(|kind| kind.fields) {
            assert!(names.contains(&format!("fields.{}", key_word(field.name)).as_str()), "{}", field.name);
        }
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count);
    }
}
