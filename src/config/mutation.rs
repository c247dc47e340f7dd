//! The text of a change of a protocol's table, by the parts of its file:
//!
//! ```text
//! cache N read = ack > I                           a cell, as in a protocol file
//! inner I n-store = write > M                      the same of a node with children only
//! directory read 2 = { grant = "S" }               a rule for a request, from 1; none takes it out
//! merge N E = none                                 the own state after a child's dirty bytes; none: as before
//! vi: cache V load = fetch > V                     in another table of the machine than the first
//! ```

use std::ops::Range;
use std::sync::Arc;

use serde::Deserialize;

use super::cell;
use super::document::Document;
use super::protocol::rule;
use super::protocol_file::RuleFile;
use crate::diagnostic::{Diagnostic, Result, Source};
use crate::model::message::MessageKind;
use crate::model::state::{Action, State};
use crate::protocol::mutation::{Change, Mutation, REQUESTS};
use crate::protocol::table::{DirectoryRule, Table};

/// What a rule may look like.
const RULE: &str = "none, or as in a protocol file { probe = \"write others\", grant = \"M\" }; probe may be left out, and when may be added";

/// What a change may look like.
const FORMS: &str = "`cache STATE ACTION = CELL`, `inner STATE ACTION = CELL`, `directory REQUEST N = RULE`, `merge STATE STATE = STATE` or `merge-answer STATE STATE = STATE`";

/// Reads the change that stands at `span` of `source`, of one of `tables`: the first, unless it names another.
///
/// # Errors
/// If there is no such table, row, column or rule, what it shall become is none, or it is that already.
pub fn parse(source: &Source, span: Range<usize>, tables: &[Arc<Table>]) -> Result<Mutation> {
    let reader = Reader { source, at: span.start };
    let text = source.text.get(span).unwrap_or_default();
    let (table, at, text, others) = match text.split_once(':') {
        Some((name, rest)) if !name.contains('=') => {
            (reader.table(name.trim(), tables)?, name.len() + 1, rest, &[][..])
        }
        _ => (reader.first(text, tables)?, 0, text, tables),
    };
    let reader = Reader { source, at: reader.at + at };
    let change = reader.change(text, table).map_err(|error| {
        // It may mean another table of the machine.
        let meant = others.iter().find(|other| reader.change(text, other).is_ok());
        match meant {
            Some(other) => Box::new(error.expected(format!(
                "`{}: {}`, of another table of the machine",
                other.name,
                text.trim()
            ))),
            None => error,
        }
    })?;
    let changed = change.apply(table);
    let changed = changed.map_err(|message| reader.wrong(text, text.trim(), message).expected(FORMS))?;
    if changed == *table {
        let message = format!("this changes nothing: it is so in {} already", table.name);
        return Err(Box::new(reader.wrong(text, text.trim(), message)));
    }
    Ok(Mutation { table: table.name.as_str().into(), change })
}

struct Reader<'a> {
    source: &'a Source,
    /// Where the text begins in the source.
    at: usize,
}

impl Reader<'_> {
    /// A complaint about `part` of `text`.
    fn wrong(&self, text: &str, part: &str, message: impl Into<String>) -> Diagnostic {
        self.wrong_at(part, text, 0, message)
    }

    /// The same where `text` stands so far behind the beginning.
    fn wrong_at(&self, part: &str, text: &str, at: usize, message: impl Into<String>) -> Diagnostic {
        let start = (part.as_ptr() as usize).saturating_sub(text.as_ptr() as usize).min(text.len());
        let start = self.at + at + start;
        Diagnostic::new(message).at(self.source, start..start + part.len())
    }

    fn first<'t>(&self, text: &str, tables: &'t [Arc<Table>]) -> Result<&'t Table> {
        tables.first().map(|table| &**table).ok_or_else(|| {
            Box::new(self.wrong(text, text, "there is no protocol table here that could be changed"))
        })
    }

    fn table<'t>(&self, name: &str, tables: &'t [Arc<Table>]) -> Result<&'t Table> {
        tables.iter().find(|table| table.name == name).map(|table| &**table).ok_or_else(|| {
            let names: Vec<_> = tables.iter().map(|table| table.name.as_str()).collect();
            let error = self.wrong(name, name, format!("the machine has no protocol {name}"));
            Box::new(error.expected(names.join(", ")).nearest(name, names))
        })
    }

    fn change(&self, text: &str, table: &Table) -> Result<Change> {
        let Some((name, value)) = text.split_once('=') else {
            let message = "this says nothing that a part of the table shall become";
            return Err(Box::new(self.wrong(text, text.trim(), message).expected(FORMS)));
        };
        let words: Vec<&str> = name.split_whitespace().collect();
        let value_at = name.len() + 1;
        match words[..] {
            [part @ ("cache" | "inner"), row, column] => {
                let state = self.state(text, row, table)?;
                let action = self.action(text, column)?;
                let cell = self.cell(value, value_at, action, table)?;
                Ok(if part == "cache" {
                    Change::Cache(state, action, cell)
                } else {
                    Change::Inner(state, action, cell)
                })
            }
            ["directory", request, index] => {
                let request = self.request(text, request)?;
                let index = self.index(text, index, table.directory(request).len())?;
                Ok(Change::Directory(request, index, self.rule(value, value_at, table)?))
            }
            [part @ ("merge" | "merge-answer"), child, own] => {
                let (child, own) = (self.state(text, child, table)?, self.state(text, own, table)?);
                let after = match value.trim() {
                    "none" => None,
                    word => Some(self.state(text, word, table)?),
                };
                Ok(if part == "merge" {
                    Change::Merge(child, own, after)
                } else {
                    Change::MergeAnswer(child, own, after)
                })
            }
            _ => {
                let error = self.wrong(text, name.trim(), "this names no part of a protocol's table");
                let parts = ["cache", "inner", "directory", "merge", "merge-answer"];
                Err(Box::new(error.expected(FORMS).nearest(words.first().unwrap_or(&""), parts)))
            }
        }
    }

    fn state(&self, text: &str, word: &str, table: &Table) -> Result<State> {
        State::parse(word).filter(|state| table.row(*state).is_some()).ok_or_else(|| {
            let letters: Vec<_> = table.rows.iter().map(|row| row.state.to_string()).collect();
            let error = self.wrong(text, word, format!("{word} is not a state"));
            Box::new(error.expected(format!("a state of {}: {}", table.name, letters.join(" "))))
        })
    }

    fn action(&self, text: &str, word: &str) -> Result<Action> {
        Action::ALL.into_iter().find(|action| action.name() == word).ok_or_else(|| {
            let names = Action::ALL.map(Action::name);
            let error = self.wrong(text, word, format!("the table has no column {word}"));
            Box::new(error.expected(names.join(", ")).nearest(word, names))
        })
    }

    fn request(&self, text: &str, word: &str) -> Result<MessageKind> {
        REQUESTS.into_iter().find(|kind| kind.name() == word).ok_or_else(|| {
            let names = REQUESTS.map(MessageKind::name);
            let error = self.wrong(text, word, format!("a directory gets no {word}"));
            Box::new(error.expected(names.join(", ")).nearest(word, names))
        })
    }

    /// The position of a rule, from 0; `count` for one more.
    fn index(&self, text: &str, word: &str, count: usize) -> Result<usize> {
        match word.parse::<usize>() {
            Ok(number) if (1..=count + 1).contains(&number) => Ok(number - 1),
            _ => {
                let error = self.wrong(text, word, format!("there is no rule {word} here"));
                let expected = format!("1 to {count}, or {} for one more", count + 1);
                Err(Box::new(error.expected(expected)))
            }
        }
    }

    fn cell(
        &self,
        value: &str,
        at: usize,
        action: Action,
        table: &Table,
    ) -> Result<Option<crate::protocol::table::Cell>> {
        let states: Vec<State> = table.rows.iter().map(|row| row.state).collect();
        cell::parse(value, action, &states).map_err(|error| {
            let start = self.at + at;
            let place = start + error.span.start..start + error.span.end;
            error.told(|message| Diagnostic::new(message).at(self.source, place))
        })
    }

    /// A rule as in the `[directory]` of a protocol file; `None` for `none`.
    fn rule(&self, value: &str, at: usize, table: &Table) -> Result<Option<DirectoryRule>> {
        #[derive(Deserialize)]
        struct Line {
            rule: RuleFile,
        }
        const KEY: &str = "rule=";
        if value.trim() == "none" {
            return Ok(None);
        }
        if !value.trim_start().starts_with('{') {
            let error = self.wrong_at(value.trim(), value, at, "this is no rule of a directory");
            return Err(Box::new(error.expected(RULE)));
        }
        // Read as a file of one line, whose places are moved to where the rule stands.
        let document = Document::new(Source::new("", format!("{KEY}{value}")));
        let shown = |mut error: Box<Diagnostic>| {
            let start = self.at + at;
            error.source = Some(self.source.clone());
            error.span = error.span.map(|span| {
                let place = |offset: usize| start + offset.saturating_sub(KEY.len()).min(value.len());
                place(span.start)..place(span.end)
            });
            error
        };
        let line: Line = document.read().map_err(shown)?;
        rule(&document, &line.rule, table).map(Some).map_err(shown)
    }
}

/// Why no file could say what a change makes of a cell, if none could.
#[must_use]
pub fn refused(change: &Change) -> Option<String> {
    let (Change::Cache(_, action, Some(cell)) | Change::Inner(_, action, Some(cell))) = change else {
        return None;
    };
    cell::sensible(*cell, *action, 0..0).err().map(|error| error.message)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::load_protocol;

    fn tables() -> Vec<Arc<Table>> {
        ["nmoesi", "vi"].map(|name| Arc::new(load_protocol(name, None).unwrap())).to_vec()
    }

    fn read(text: &str) -> Result<Mutation> {
        let source = Source::new("lesson.toml", format!("mutate = \"{text}\""));
        parse(&source, 10..10 + text.len(), &tables())
    }

    #[test]
    fn a_change_is_written_as_it_is_read() {
        for text in [
            "nmoesi: cache N read = ack > I",
            "nmoesi: inner I n-store = write > M",
            "nmoesi: cache M load = impossible",
            "nmoesi: directory read 2 = { grant = \"S\" }",
            "nmoesi: directory write 1 = { probe = \"write others\", grant = \"E\" }",
            "nmoesi: directory read 1 = { when = \"owned by another\", probe = \"read owner\", grant = \"E\" }",
            "nmoesi: directory read 1 = none",
            "nmoesi: merge N E = none",
            "nmoesi: merge N E = O",
            "nmoesi: merge-answer N E = O",
            "vi: cache V load = fetch > V",
        ] {
            let mutation = read(text).unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(mutation.to_string(), text);
            assert_eq!(read(&mutation.to_string()).unwrap(), mutation);
        }
        assert_eq!(read("cache N read = ack > I").unwrap(), read("nmoesi: cache N read = ack > I").unwrap());
    }

    #[test]
    fn what_is_changed_is_all_that_changes() {
        let table = tables().remove(0);
        let changed = |text: &str| read(text).unwrap().change.apply(&table).unwrap();
        let n = State(b'N');
        let mutant = changed("cache N read = data > I");
        assert_ne!(mutant.cell(n, Action::Read, false), table.cell(n, Action::Read, false));
        assert_eq!(mutant.cell(n, Action::Read, true), mutant.cell(n, Action::Read, false));
        let back = Change::Cache(n, Action::Read, table.cell(n, Action::Read, false)).apply(&mutant).unwrap();
        assert_eq!(back, *table);
        // A node with children has an n-store cell of its own in I.
        let mutant = changed("cache I n-store = write > M");
        assert_eq!(mutant.cell(State::I, Action::NStore, true), table.cell(State::I, Action::NStore, true));
        assert_eq!(changed("directory read 1 = none").read.len(), table.read.len() - 1);
        let (e, m, o) = (State(b'E'), State(b'M'), State(b'O'));
        let both = |table: &Table| [table.merged(n, e), table.merged_answer(n, e)];
        assert_eq!(both(&changed("merge N E = none")), [e, e]);
        let answered = changed("merge-answer N E = O");
        assert_eq!(both(&answered), [m, o]);
        // Answers have merges of their own then.
        assert_eq!(both(&read("merge N E = none").unwrap().change.apply(&answered).unwrap()), [e, o]);
    }

    #[test]
    fn a_state_of_another_table_names_it() {
        let tables = ["scale-gpu", "scale-memory"].map(|name| Arc::new(load_protocol(name, None).unwrap()));
        let text = "inner C n-store = fetch > V";
        let source = Source::new("lesson.toml", text);
        let error = parse(&source, 0..text.len(), &tables).unwrap_err();
        let expected = error.expected.unwrap();
        assert!(expected.contains("`scale-memory: inner C"), "{expected}");
    }

    #[test]
    fn what_is_wrong_is_shown_where_it_stands() {
        for (text, column, message, suggestion) in [
            ("cahce N read = ack", 11, "this names no part of a protocol's table", Some("cache")),
            ("cache N read", 11, "this says nothing that a part of the table shall become", None),
            ("cache Q read = ack", 17, "Q is not a state", None),
            ("cache N raed = ack", 19, "the table has no column raed", Some("read")),
            ("cache N read = akc > I", 26, "unknown step `akc`", Some("ack")),
            ("cache N read = ack > X", 32, "unknown state `X`", None),
            ("mesi: cache M read = ack", 11, "the machine has no protocol mesi", Some("nmoesi")),
            ("directory raed 1 = none", 21, "a directory gets no raed", Some("read")),
            ("directory read 9 = none", 26, "there is no rule 9 here", None),
            ("directory read 1 = nobody", 30, "this is no rule of a directory", None),
            ("directory read 1 = { garnt = 'S' }", 32, "unknown key `garnt`", Some("grant")),
            ("directory read 1 = { grant = 'Q' }", 41, "unknown state `Q`", None),
            ("directory read 4 = none", 11, "nmoesi has 3 rules for read", None),
            ("merge N Q = E", 19, "Q is not a state", None),
            ("merge N E = Q", 23, "Q is not a state", None),
            ("merge S S = none", 11, "this changes nothing: it is so in nmoesi already", None),
            ("", 11, "this says nothing that a part of the table shall become", None),
        ] {
            let error = read(text).unwrap_err();
            assert_eq!((error.message.as_str(), error.position()), (message, Some((1, column))), "{text}");
            let suggested = suggestion.map(|word| format!("did you mean {word}?"));
            assert_eq!(error.suggestion, suggested, "{text}");
        }
    }
}
