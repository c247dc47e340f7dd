//! A scenario as tables that can be changed and written again, with nothing outside it but bundled files.

use std::path::Path;

use toml::{Table, Value};

use crate::config::names::other_name;
use crate::config::settings::Setting;
use crate::config::{self, Kind, MachineChoice, Shelf};
use crate::diagnostic::{Result, Source};
use crate::model::time::EventNumber;
use crate::recording::Input;

use super::layout;
use super::prepare::Options;
use super::read::Scenario;

/// A task as a table, and the key of the list that it stands in: `do`, `program`, `kernel` or `flush`.
pub type TaskTable = (&'static str, Table);

/// The lists that tasks stand in.
const TASKS: [&str; 4] = ["do", "program", "kernel", "flush"];

/// A scenario that is being written.
#[derive(Clone, Debug, PartialEq)]
pub struct Draft {
    /// Everything but the tasks.
    pub head: Table,
    /// In their order.
    pub tasks: Vec<TaskTable>,
    /// Told at the top of the file, a line each.
    pub comment: Vec<String>,
}

impl Scenario {
    /// What the file and `options` set of its machine.
    fn changes(&self, options: &Options) -> Table {
        let mut changes = Table::new();
        self.set_texts().chain(options.set.iter().cloned()).for_each(|text| set(&mut changes, &text));
        changes
    }

    /// What the file sets of its machine, each `KEY=VALUE`.
    pub fn set_texts(&self) -> impl Iterator<Item = String> {
        self.settings.iter().map(Setting::text)
    }

    /// What is other than its machine alone says: keys with dots, and their values.
    #[must_use]
    pub fn set_of_machine(&self, options: &Options) -> Vec<(String, Value)> {
        let mut of_file = Table::new();
        self.set_texts().for_each(|text| set(&mut of_file, &text));
        self.set_beside(options, of_file)
    }

    /// What is other than its machine and its file say.
    #[must_use]
    pub fn set_by_hand(&self, options: &Options) -> Vec<(String, Value)> {
        self.set_beside(options, Table::new())
    }

    /// What `options` and the command line set, over what `all` has.
    fn set_beside(&self, options: &Options, mut all: Table) -> Vec<(String, Value)> {
        let by_hand = options.set.iter().map(String::as_str).chain(self.document.set_texts());
        by_hand.for_each(|text| set(&mut all, text));
        layout::dotted(&all).into_iter().map(|(key, value)| (key, value.clone())).collect()
    }
}

impl Draft {
    /// `scenario` with all that `options` say. Its machine is written out where it is not a bundled one as it is.
    ///
    /// # Errors
    /// If a file that it needs cannot be found or read.
    pub fn of(scenario: &Scenario, options: &Options) -> Result<Self> {
        let source = scenario.source();
        let parse = |source: &Source| {
            let table = source.text.parse::<Table>();
            table.map_err(|error| Box::new(crate::diagnostic::from_toml(&error, source)))
        };
        let mut head = parse(source)?;
        for text in scenario.document.set_texts() {
            set(&mut head, text);
        }
        let tasks = tasks(scenario, &mut head);
        head.remove("set");
        let mut changes = scenario.changes(options);
        let mut brought = match head.remove("protocols") {
            Some(Value::Table(brought)) => brought,
            _ => Table::new(),
        };
        let is_replaced = head.contains_key("protocol");
        if let MachineChoice::Named(name) = &scenario.file.machine {
            let found = scenario.shelf.find(Kind::Machine, &name.value)?;
            // As they are looked up for a run: where its machine is, else beside the scenario.
            let folder = found.folder.clone().or_else(|| scenario.shelf.folder().map(Path::to_path_buf));
            protocols(&mut changes, &scenario.shelf.in_folder(folder), &mut brought)?;
            if found.folder.is_none() {
                head.insert("machine".into(), Value::String(found.reference));
                if !changes.is_empty() {
                    head.insert("set".into(), Value::Table(changes));
                }
            } else {
                let mut machine = parse(&found.source)?;
                machine.retain(|key, _| !is_replaced || key != "protocol");
                protocols(&mut machine, &scenario.shelf.in_folder(found.folder), &mut brought)?;
                lay(&mut machine, changes);
                head.insert("machine".into(), Value::Table(machine));
            }
        } else if let Some(Value::Table(machine)) = head.get_mut("machine") {
            machine.retain(|key, _| !is_replaced || key != "protocol");
            protocols(machine, &scenario.shelf, &mut brought)?;
            protocols(&mut changes, &scenario.shelf, &mut brought)?;
            lay(machine, changes);
        }
        if let Some(Value::String(name)) = head.get_mut("protocol") {
            *name = anywhere(name, &scenario.shelf, &mut brought)?;
            // The machine's own need not be there.
            let name = Value::String(name.clone());
            if let Some(Value::Table(machine)) = head.get_mut("machine") {
                machine.insert("protocol".into(), name);
            }
        }
        if !brought.is_empty() {
            head.insert("protocols".into(), Value::Table(brought));
        }
        let mut draft = Self { head, tasks, comment: Vec::new() };
        draft.options(options);
        Ok(draft)
    }

    fn options(&mut self, options: &Options) {
        let mut number = |key: &str, value: Option<u64>| {
            if let Some(value) = value.and_then(|value| i64::try_from(value).ok()) {
                self.head.insert(key.into(), Value::Integer(value));
            }
        };
        number("seed", options.seed);
        number("max-cycles", options.max_cycles);
        if let Some(checks) = options.checks {
            self.head.insert("checks".into(), Value::Boolean(checks));
        }
        if let Some((path, format)) = &options.trace_from {
            let path = std::fs::canonicalize(path).unwrap_or_else(|_| path.clone());
            self.head.insert("trace".into(), Value::String(path.display().to_string()));
            if let Some(format) = format {
                self.head.insert("trace-format".into(), Value::String(format.name().into()));
            }
        }
        if !options.inputs.is_empty() {
            self.inputs(&options.inputs);
        }
    }

    /// Replaces what is done to its machine on the way.
    pub fn inputs(&mut self, inputs: &[(EventNumber, Input)]) {
        let table = |(event, input): &(EventNumber, Input)| {
            let mut table = Table::new();
            table.insert("event".into(), Value::Integer(i64::try_from(*event).unwrap_or(i64::MAX)));
            table.insert(input.verb().into(), Value::String(input.text().into()));
            Value::Table(table)
        };
        self.head.insert("input".into(), Value::Array(inputs.iter().map(table).collect()));
    }

    /// Writes the machine out, so that it can be changed, with every protocol where it is found from anywhere.
    ///
    /// # Errors
    /// If there is no such machine.
    pub fn write_machine_out(&mut self) -> Result<()> {
        if let Some(Value::String(name)) = self.head.get("machine") {
            let found = Shelf::default().find(Kind::Machine, name)?;
            let machine = found.source.text.parse::<Table>();
            let mut machine =
                machine.map_err(|error| Box::new(crate::diagnostic::from_toml(&error, &found.source)))?;
            if let Some(Value::Table(changes)) = self.head.remove("set") {
                lay(&mut machine, changes);
            }
            self.head.insert("machine".into(), Value::Table(machine));
        }
        Ok(())
    }

    /// The machine, if it is written out.
    pub fn machine(&mut self) -> Option<&mut Table> {
        self.head.get_mut("machine").and_then(Value::as_table_mut)
    }

    /// The list of tables of this key; empty if there is none.
    #[must_use]
    pub fn list(&self, key: &str) -> &[Value] {
        self.head.get(key).and_then(Value::as_array).map_or(&[], Vec::as_slice)
    }

    /// Names the files in the folder of `path`, where it is to be written, or below that from there: they may move together.
    pub fn put_at(&mut self, path: &Path) {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let brought: Vec<String> = match self.head.get("protocols") {
            Some(Value::Table(brought)) => brought.keys().cloned().collect(),
            _ => Vec::new(),
        };
        if let Ok(folder) = std::fs::canonicalize(folder) {
            from_folder(&mut self.head, &folder, &brought);
        }
    }

    /// The file's text.
    #[must_use]
    pub fn text(&self) -> String {
        layout::text(&self.comment, &self.head, &self.tasks)
    }

    /// The scenario that it is; `name` is told in complaints.
    ///
    /// # Errors
    /// As [`Scenario::parse`].
    pub fn scenario(&self, name: &str) -> Result<Scenario> {
        Scenario::parse(Source::new(name, self.text()), None)
    }
}

/// Names the files that are named in a table, and lie in a folder or below, from there, unless one that is brought along has that
/// name.
fn from_folder(table: &mut Table, folder: &Path, brought: &[String]) {
    for (key, value) in table.iter_mut() {
        match value {
            Value::String(name) if key == "protocol" || key == "trace" => {
                let rest = Path::new(name.as_str()).strip_prefix(folder).ok().and_then(Path::to_str);
                if let Some(rest) = rest.filter(|rest| !brought.iter().any(|own| own == rest)) {
                    *name = rest.to_owned();
                }
            }
            Value::Table(inner) => from_folder(inner, folder, brought),
            _ => {}
        }
    }
}

/// Takes the tasks out of `head`, in the order of the file, each with the id that it goes by.
fn tasks(scenario: &Scenario, head: &mut Table) -> Vec<TaskTable> {
    let file = &scenario.file;
    let spans: [Vec<usize>; 4] = [
        file.accesses.iter().map(|at| at.span.start).collect(),
        file.programs.iter().map(|at| at.span.start).collect(),
        file.kernels.iter().map(|at| at.span.start).collect(),
        file.flushes.iter().map(|at| at.span.start).collect(),
    ];
    let mut all: Vec<(usize, TaskTable)> = Vec::new();
    for (key, starts) in TASKS.into_iter().zip(spans) {
        let Some(Value::Array(list)) = head.remove(key) else { continue };
        for ((number, value), start) in (1..).zip(list).zip(starts) {
            let Value::Table(mut table) = value else { continue };
            table.entry("id").or_insert_with(|| Value::String(format!("{key}-{number}")));
            all.push((start, (key, table)));
        }
    }
    all.sort_by_key(|(start, _)| *start);
    all.into_iter().map(|(_, task)| task).collect()
}

/// Sets `KEY=VALUE` in a table, as `--set` does.
fn set(table: &mut Table, text: &str) {
    let Some((key, value)) = text.split_once('=') else { return };
    let value = value.trim();
    let parsed = format!("v = {value}").parse::<Table>().ok().and_then(|mut table| table.remove("v"));
    let value = parsed.unwrap_or_else(|| Value::String(value.into()));
    let names: Vec<_> = key.split('.').map(str::trim).collect();
    let nested = names
        .into_iter()
        .rev()
        .fold(value, |value, name| Value::Table(Table::from_iter([(name.to_owned(), value)])));
    if let Value::Table(nested) = nested {
        lay(table, nested);
    }
}

/// Sets what one table says in another, by whichever name that has of a key.
fn lay(table: &mut Table, changes: Table) {
    for (key, value) in changes {
        let key = other_name(|own| table.contains_key(own), &key).map_or(key, str::to_owned);
        match (table.get_mut(&key), value) {
            (Some(Value::Table(inner)), Value::Table(changes)) => lay(inner, changes),
            (_, value) => {
                table.insert(key, value);
            }
        }
    }
}

/// Has every protocol in a machine's table be found from anywhere.
fn protocols(table: &mut Table, shelf: &Shelf, brought: &mut Table) -> Result<()> {
    for (key, value) in table.iter_mut() {
        match value {
            Value::String(name) if key == "protocol" => *name = anywhere(name, shelf, brought)?,
            Value::Table(inner) => protocols(inner, shelf, brought)?,
            _ => {}
        }
    }
    Ok(())
}

/// A name that finds the same protocol from any folder. What was on disk once, and is so no more, is brought along.
fn anywhere(name: &str, shelf: &Shelf, brought: &mut Table) -> Result<String> {
    let found = shelf.find(Kind::Protocol, name)?;
    if found.folder.is_none() {
        return Ok(found.reference);
    }
    let path = Path::new(&found.reference);
    let same = std::fs::read_to_string(path).is_ok_and(|text| *text == *found.source.text);
    match std::fs::canonicalize(path) {
        Ok(path) if same => Ok(path.display().to_string()),
        _ => Ok(bring(path, &found.source.text, brought)),
    }
}

/// Brings a protocol along by the name of its file, or by one like it if another goes by that.
fn bring(path: &Path, text: &str, brought: &mut Table) -> String {
    let stem = path.file_stem().map_or("protocol".into(), |stem| stem.to_string_lossy().into_owned());
    let own = Value::String(text.trim_start_matches('\u{feff}').to_owned());
    let names = std::iter::once(stem.clone()).chain((2..).map(|number| format!("{stem}-{number}")));
    let is_free = |name: &String| match brought.get(name) {
        Some(other) => *other == own,
        None => config::find(Kind::Protocol, name, None).is_err(),
    };
    let name = { names }.find(is_free).unwrap_or(stem);
    brought.insert(name.clone(), own);
    name
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::random::MOST_SEED;

    #[test]
    fn the_largest_seed_is_written_and_read_again() {
        let text = "machine = 'tiny/umh-2gpu'\n[[do]]\nby = 'gpu0.cu0'\nload = { address = 0x1000 }\n";
        let scenario = Scenario::parse(Source::new("t", text), None).unwrap();
        let options = Options { seed: Some(MOST_SEED), ..Options::default() };
        let again = Draft::of(&scenario, &options).unwrap().scenario("again").unwrap();
        assert_eq!(again.blueprint(&Options::default()).unwrap().seed, MOST_SEED);
        let larger = scenario.with(&["seed=9223372036854775808".to_owned()]).unwrap_err();
        assert_eq!(larger.position(), Some((1, 6)), "{larger}");
        assert_eq!(larger.expected.as_deref(), Some("a whole number from 0 to 9223372036854775807"));
    }

    #[test]
    fn what_is_set_is_kept_under_the_name_that_the_machine_has_for_it() {
        let task = "[[do]]\nby = 'gpu0.cu0'\nload = { address = 0x1000 }\n";
        let set = "[set]\ngpu.sm.count = 2\ngpu.l1.mshrs = 3\n";
        let options = Options { set: vec!["gpu.sm.count=3".into()], ..Options::default() };
        for machine in ["machine = 'tiny/umh-2gpu'", "machine = { gpu = { cu = { count = 1 } } }"] {
            let read = |text: String| Scenario::parse(Source::new("t", text), None).unwrap();
            let scenario = read(format!("{machine}\n{set}{task}"));
            let mut draft = Draft::of(&scenario, &options).unwrap();
            let spec = scenario.machine(&options.set).unwrap();
            assert_eq!(draft.scenario("t").unwrap().machine(&[]).unwrap(), spec);
            assert_eq!(
                draft.text().contains("\n[set]\ngpu.l1.mshrs = 3\ngpu.sm.count = 3\n"),
                machine.contains('\''),
                "{}",
                draft.text()
            );
            draft.write_machine_out().unwrap();
            assert_eq!(draft.scenario("t").unwrap().machine(&[]).unwrap(), spec);
        }
    }

    #[test]
    fn what_is_in_a_recording_only_is_brought_along() {
        let folder = tempfile::tempdir().unwrap();
        let table = crate::config::find(Kind::Protocol, "mesi", None).unwrap().source.text;
        // By the name of a bundled one, which its machine has for something else.
        std::fs::write(folder.path().join("vi.toml"), &*table).unwrap();
        let text = "machine = 'tiny/umh-2gpu'\nprotocol = 'vi'\n\
                    [[do]]\nby = 'gpu0.cu0'\nstore = { address = 0x1000, bytes = '07' }\n";
        let scenario = Scenario::parse(Source::new("t", text), Some(folder.path().to_path_buf())).unwrap();
        let recording = scenario.recording("t", &Options::default()).unwrap();
        let mut beside = Draft::of(&scenario, &Options::default()).unwrap();
        beside.put_at(&folder.path().join("small.toml"));
        assert!(beside.text().starts_with("protocol = \"vi.toml\"\n"), "{}", beside.text());
        drop(folder);
        let (recorded, options) = Scenario::recorded(&recording).unwrap();
        let draft = Draft::of(&recorded, &options).unwrap();
        assert!(draft.text().starts_with("protocol = \"vi-2\"\n"), "{}", draft.text());
        let again = draft.scenario("again").unwrap();
        assert_eq!(Draft::of(&again, &Options::default()).unwrap(), draft);
        let digest = |scenario: &Scenario| {
            let mut machine = scenario.prepare(&Options::default()).unwrap().machine;
            machine.run_until(1000);
            machine.digest()
        };
        assert_eq!(digest(&again), digest(&recorded));
        let bundled = Scenario::parse(Source::new("t", text.replace("'vi'", "'mesi'")), None).unwrap();
        assert_eq!(digest(&again), digest(&bundled));
    }

    #[test]
    fn a_protocol_that_another_one_replaces_need_not_be_there() {
        let folder = tempfile::tempdir().unwrap();
        let own = crate::config::find(Kind::Protocol, "mesi", None).unwrap().source.text;
        std::fs::write(folder.path().join("own.toml"), &*own).unwrap();
        let machine = crate::config::find(Kind::Machine, "tiny/umh-2gpu", None).unwrap().source.text;
        let machine = machine.replacen("protocol = \"nmoesi\"", "protocol = \"./own.toml\"", 1);
        assert!(machine.contains("own.toml"), "{machine}");
        std::fs::write(folder.path().join("machine.toml"), machine).unwrap();
        let text = "machine = './machine.toml'\nprotocol = 'moesi'\n\
                    [[do]]\nby = 'gpu0.cu0'\nstore = { address = 0x1000, bytes = '07' }\n";
        let scenario = Scenario::parse(Source::new("t", text), Some(folder.path().to_path_buf())).unwrap();
        let draft = Draft::of(&scenario, &Options::default()).unwrap();
        assert!(!draft.text().contains("own"), "{}", draft.text());
        drop(folder);
        assert_eq!(draft.scenario("t").unwrap().machine(&[]).unwrap().protocol, "moesi");
    }

    #[test]
    fn what_is_wrong_with_a_protocol_that_is_brought_along_is_shown_where_it_stands() {
        let table = crate::config::find(Kind::Protocol, "mesi", None).unwrap().source.text;
        let wrong = table.replacen("load = \"hit\"", "load = \"hot\"", 1);
        let text = format!(
            "machine = 'tiny/umh-2gpu'\nprotocol = 'own'\n[protocols]\nown = \"\"\"\n{}\"\"\"\n",
            wrong.replace('"', "'")
        );
        let line = 1 + text.lines().position(|line| line.contains("'hot'")).unwrap();
        let scenario = Scenario::parse(Source::new("t.toml", text), None).unwrap();
        let error = scenario.prepare(&Options::default()).unwrap_err();
        assert_eq!(error.position().map(|(line, _)| line), Some(line), "{error}");
        assert!(error.to_string().starts_with("t.toml:"), "{error}");
    }
}
