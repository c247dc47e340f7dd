//! From a protocol file to a table: letters, cells, rules and merges checked, with places inside the cells.

mod faults;
mod places;

use std::ops::Range;

pub use faults::Faults;
pub use places::{Place, Places};

use super::cell::{self, letters};
use super::document::{At, Document};
use super::fail;
use super::protocol_file::{
    ByName, ProbeWord, ProtocolFile, RowFile, RuleFile, UncachedFile, UncachedRow, WhenWord,
};
use crate::diagnostic::{Result, Source};
use crate::model::message::MessageKind;
use crate::model::state::{Action, State};
use crate::protocol::table::{Cell, DirectoryRule, Next, Presence, Probe, Row, Step, Table, Uncached, When};

/// What a state may be called.
const PROPERTIES: [&str; 5] = ["exclusive", "owner", "noncoherent", "partial", "conflict"];

type Cells = [Option<Cell>; Action::ALL.len()];

/// A dirty child's state, and the own state before and after.
type Merge = (State, State, State);

/// The table in the text of a protocol file.
///
/// # Errors
/// If the text is no protocol file, or its table makes no sense: an unknown letter or step, a step in a column
/// where it means nothing, a request that no rule of the directory answers.
pub fn from_toml(source: &Source) -> Result<Table> {
    Ok(read(source)?.2)
}

/// The same, and what is wrong with the table all the same.
///
/// # Errors
/// As [`from_toml`].
pub fn examine(source: &Source) -> Result<(Table, Faults)> {
    let (document, file, table) = read(source)?;
    let faults = faults::look(&document, &file, &table);
    Ok((table, faults))
}

/// What is wrong with a table that was changed after it was read from this text.
///
/// # Errors
/// As [`from_toml`].
pub fn examine_changed(source: &Source, changed: &Table) -> Result<Faults> {
    let (document, file, _) = read(source)?;
    Ok(faults::look(&document, &file, changed))
}

fn read(source: &Source) -> Result<(Document, ProtocolFile, Table)> {
    let document = Document::new(source.clone());
    let file: ProtocolFile = document.read_file()?;
    let table = table(&document, &file)?;
    Ok((document, file, table))
}

fn table(document: &Document, file: &ProtocolFile) -> Result<Table> {
    if file.name.trim().is_empty() {
        let complaint = document.complain_about("name", "the protocol has no name");
        return fail(complaint.expected("the name that machines use for it"));
    }
    let reader = Reader::new(document, file)?;
    let rows = reader.rows(file)?;
    let merge = reader.merges(&file.merge)?;
    let table = Table {
        name: file.name.clone(),
        title: file.title.clone().unwrap_or_else(|| file.name.clone()),
        source: file.source.clone().unwrap_or_default(),
        rows: rows.into(),
        read: reader.rules(&file.directory.read)?,
        read_nc: reader.rules(&file.directory.read_nc)?,
        write: reader.rules(&file.directory.write)?,
        answer_merge: file.merge_answer.as_ref().map_or(Ok(merge.clone()), |merges| reader.merges(merges))?,
        merge,
        uncached: file.uncached.as_ref().map(|file| reader.uncached(file)).transpose()?,
    };
    reader.requests(file, &table)?;
    Ok(table)
}

/// A rule of a directory that stands outside of a protocol file.
///
/// # Errors
/// If it grants a state that the table does not have.
pub(super) fn rule(document: &Document, file: &RuleFile, table: &Table) -> Result<DirectoryRule> {
    let states = table.rows.iter().map(|row| row.state).collect();
    Reader { document, states }.rule(file)
}

struct Reader<'a> {
    document: &'a Document,
    /// In the order of the file.
    states: Vec<State>,
}

impl<'a> Reader<'a> {
    /// The states are the rows of `[cache]`, then those that only `[inner]` has.
    fn new(document: &'a Document, file: &ProtocolFile) -> Result<Self> {
        let mut states = Vec::new();
        for (name, _) in file.cache.0.iter().chain(&file.inner.0) {
            match State::parse(&name.value) {
                Some(state) if !states.contains(&state) => states.push(state),
                Some(_) => {}
                None => {
                    let complaint =
                        document.complain(Some(&name.span), format!("`{}` is no state", name.value));
                    return fail(complaint.expected("one upper-case letter"));
                }
            }
        }
        if !states.contains(&State::I) {
            let complaint = document.complain(None, "the state I is missing in [cache]");
            return fail(complaint.expected("a row I: every block begins as not present"));
        }
        let reader = Self { document, states };
        for (name, _) in &file.state.0 {
            reader.state(name).map_err(|mut error| {
                // Mostly it is the row that was forgotten.
                if let Some(state) = State::parse(&name.value) {
                    error.message = format!("the state {state} has no row in [cache]");
                    error.expected = Some(format!(
                        "a row {state} = {{ ... }} there, or one of {}",
                        letters(&reader.states)
                    ));
                }
                error
            })?;
        }
        Ok(reader)
    }

    /// A state that the table has a row for.
    fn state(&self, name: &At<String>) -> Result<State> {
        State::parse(&name.value).filter(|state| self.states.contains(state)).ok_or_else(|| {
            let span = self.inside(name, &(0..name.value.len()));
            if name.value.chars().count() > 1 {
                let complaint = self.document.complain(Some(&span), format!("`{}` is no state", name.value));
                return Box::new(complaint.expected("one upper-case letter"));
            }
            let complaint = self.document.complain(Some(&span), format!("unknown state `{}`", name.value));
            let words = self.states.iter().map(|state| state.word());
            Box::new(complaint.expected(letters(&self.states)).nearest(&name.value, words))
        })
    }

    fn rows(&self, file: &ProtocolFile) -> Result<Vec<Row>> {
        let mut rows = Vec::new();
        for &state in &self.states {
            let given = file.state.0.iter().find(|(name, _)| State::parse(&name.value) == Some(state));
            let mut row = self.properties(state, given.map(|(_, words)| words))?;
            row.leaf = self.cells(&file.cache, state, &row.leaf)?;
            row.inner = self.cells(&file.inner, state, &row.leaf)?;
            rows.push(row);
        }
        Ok(rows)
    }

    fn properties(&self, state: State, given: Option<&At<String>>) -> Result<Row> {
        let none: Cells = [None; Action::ALL.len()];
        let mut row = Row {
            state,
            exclusive: false,
            owner: false,
            noncoherent: false,
            presence: Presence::Whole,
            leaf: none,
            inner: none,
        };
        let Some(given) = given else { return Ok(row) };
        let (mut at, mut before) = (0, Vec::new());
        for word in given.value.split(' ') {
            if let Some(complaint) = contradiction(state, word, &before) {
                let span = self.inside(given, &(at..at + word.len()));
                return fail(self.document.complain(Some(&span), complaint.0).expected(complaint.1));
            }
            match word {
                "" => {}
                "exclusive" => row.exclusive = true,
                "owner" => row.owner = true,
                "noncoherent" => row.noncoherent = true,
                "partial" => row.presence = Presence::Partial,
                "conflict" => row.presence = Presence::Conflict,
                other => {
                    let span = self.inside(given, &(at..at + word.len()));
                    let complaint =
                        self.document.complain(Some(&span), format!("a state cannot be `{other}`"));
                    return fail(complaint.expected(PROPERTIES.join(", ")).nearest(other, PROPERTIES));
                }
            }
            at += word.len() + 1;
            before.extend(Some(word).filter(|word| !word.is_empty()));
        }
        Ok(row)
    }

    /// The cells of `state` in one section of the file, over those in `below`.
    fn cells(&self, section: &ByName<RowFile>, state: State, below: &Cells) -> Result<Cells> {
        let mut cells = *below;
        let Some((_, row)) = named(section, state) else { return Ok(cells) };
        for (action, given) in columns(&row.value) {
            let (Some(given), Some(cell)) = (given, cells.get_mut(action.index())) else { continue };
            *cell = cell::parse(&given.value, action, &self.states).map_err(|error| {
                let span = self.inside(given, &error.span);
                error.told(|message| self.document.complain(Some(&span), message))
            })?;
        }
        Ok(cells)
    }

    fn uncached(&self, file: &UncachedFile) -> Result<Uncached> {
        Ok(Uncached { leaf: self.uncached_row(&file.cache)?, inner: self.uncached_row(&file.inner)? })
    }

    /// What is not kept can be fetched for those that wait, or handed on.
    fn uncached_row(&self, row: &UncachedRow) -> Result<Cells> {
        let mut cells: Cells = [None; Action::ALL.len()];
        let fetch = Cell { step: Step::Fetch, next: Next::To(State::I) };
        let forward = Cell { step: Step::Forward, next: Next::Same };
        for (action, given, possible) in [
            (Action::Load, &row.load, &[("fetch > I", fetch), ("forward", forward)][..]),
            (Action::Store, &row.store, &[("forward", forward)][..]),
            (Action::NStore, &row.n_store, &[("forward", forward)][..]),
        ] {
            let words = possible.iter().map(|(word, _)| *word);
            let parsed = cell::parse(&given.value, action, &self.states).ok().flatten();
            let known = possible.iter().find(|(_, cell)| Some(*cell) == parsed);
            let Some((_, cell)) = known else {
                let complaint = self.document.complain(
                    Some(&given.span),
                    format!("`{}` is nothing that becomes of a block that is not kept", given.value),
                );
                let expected = words.clone().collect::<Vec<_>>().join(" or ");
                return fail(complaint.expected(expected).nearest(&given.value, words));
            };
            cells[action.index()] = Some(*cell);
        }
        Ok(cells)
    }

    fn rules(&self, files: &[RuleFile]) -> Result<Vec<DirectoryRule>> {
        files.iter().map(|file| self.rule(file)).collect()
    }

    fn rule(&self, file: &RuleFile) -> Result<DirectoryRule> {
        let grant = self.state(&file.grant)?;
        if grant == State::I {
            let complaint = self.document.complain(Some(&file.grant.span), "I cannot be granted");
            return fail(complaint.expected("a state that lets the requester use the block"));
        }
        let when = match file.when {
            None => When::Always,
            Some(WhenWord::OwnedByAnother) => When::OwnedByAnother,
            Some(WhenWord::NoSharers) => When::NoOtherSharers,
        };
        let probe = match file.probe {
            None => Probe::Nobody,
            Some(ProbeWord::ReadOwner) => Probe::ReadOwner,
            Some(ProbeWord::WriteOthers) => Probe::WriteOthers,
        };
        Ok(DirectoryRule { when, probe, grant })
    }

    fn merges(&self, file: &ByName<ByName<String>>) -> Result<Vec<Merge>> {
        let mut merges = Vec::new();
        for (child, row) in &file.0 {
            let child = self.state(child)?;
            for (before, after) in &row.value.0 {
                let (before, after) = (self.state(before)?, (self.state(after)?, after));
                if after.0 == State::I {
                    let message = "a node that takes dirty bytes cannot go to I: they would be lost";
                    let complaint = self.document.complain(Some(&after.1.span), message);
                    return fail(complaint.expected("a state with a copy"));
                }
                merges.push((child, before, after.0));
            }
        }
        Ok(merges)
    }

    /// That the directory has an answer to every request that a cell sends, and that a write makes exclusive.
    fn requests(&self, file: &ProtocolFile, table: &Table) -> Result<()> {
        for (_, row) in file.cache.0.iter().chain(&file.inner.0) {
            for (action, given) in columns(&row.value) {
                let Some(given) = given else { continue };
                let Ok(Some(cell)) = cell::parse(&given.value, action, &self.states) else { continue };
                self.request(file, given, cell, table)?;
            }
        }
        Ok(())
    }

    fn request(&self, file: &ProtocolFile, given: &At<String>, cell: Cell, table: &Table) -> Result<()> {
        let Step::Ask(request) = cell.step else { return Ok(()) };
        let place = self.inside(given, &(0..given.value.len()));
        let name = request.name();
        let rules = table.directory(request);
        if !rules.iter().any(|rule| rule.when == When::Always) {
            let last = file.directory.rules(request).last().map(|rule| rule.grant.span.clone());
            let message = if last.is_some() {
                format!("the rules for {name} in [directory] leave out a case: none applies without a `when`")
            } else {
                format!("no rule in [directory] answers the request {name}")
            };
            let complaint = self.document.complain(Some(&last.unwrap_or(place)), message);
            let rule = any_case(request, cell.next, table);
            return fail(complaint.expected(format!("{name} = [..., {rule}]")));
        }
        let exclusive = match cell.next {
            Next::To(state) => table.is_exclusive(state),
            Next::Granted | Next::Same => rules.iter().all(|rule| table.is_exclusive(rule.grant)),
        };
        if request == MessageKind::Write && !exclusive {
            let message = "a write request leads to a state that is not exclusive".to_owned();
            let complaint = self.document.complain(Some(&place), message);
            return fail(complaint.expected("a state that [state] calls exclusive"));
        }
        if request == MessageKind::Write {
            self.written_by_owner(given, cell.next, file, table)?;
        }
        Ok(())
    }

    /// That whoever was granted a write is an owner: the directory below asks it for the data from then on.
    fn written_by_owner(
        &self,
        given: &At<String>,
        next: Next,
        file: &ProtocolFile,
        table: &Table,
    ) -> Result<()> {
        let mut granted = table.write.iter().map(|rule| rule.grant);
        let after = match next {
            Next::To(state) => Some(state).filter(|state| !table.is_owner(*state)),
            Next::Granted | Next::Same => granted.find(|state| !table.is_owner(*state)),
        };
        let Some(state) = after else { return Ok(()) };
        let words = file.state.0.iter().find(|(name, _)| State::parse(&name.value) == Some(state));
        let place = words.map_or(&given.span, |(_, words)| &words.span);
        let message = format!("a write leads to {state}, which is no owner");
        let complaint = self.document.complain(Some(place), message);
        fail(
            complaint
                .expected("\"exclusive owner\": the directory below asks whoever has written for the data"),
        )
    }

    /// The place of `part` of a string value, if the string is written without escapes; else that of all of it.
    fn inside(&self, given: &At<String>, part: &Range<usize>) -> Range<usize> {
        let raw = self.document.text(&given.span);
        let start = match raw.find(given.value.as_str()) {
            Some(quote) if quote <= 1 => given.span.start + quote,
            _ => return given.span.clone(),
        };
        start + part.start..start + part.end
    }
}

/// What is wrong with one more word about a state, and what is expected instead.
fn contradiction(state: State, word: &str, before: &[&str]) -> Option<(String, &'static str)> {
    if !PROPERTIES.contains(&word) {
        return None;
    }
    let alone = ["partial", "conflict"];
    if state == State::I {
        Some((format!("I cannot be `{word}`: nothing of the block is here"), "I = \"\""))
    } else if before.contains(&word) {
        Some((format!("{state} is called `{word}` twice"), "each word once"))
    } else if !before.is_empty() && (alone.contains(&word) || before.iter().any(|word| alone.contains(word)))
    {
        let message = format!("{state} cannot be `{word}` and `{}` at once", before.join(" "));
        Some((message, "partial and conflict without other words"))
    } else {
        None
    }
}

/// A rule that answers a request in any case.
fn any_case(request: MessageKind, next: Next, table: &Table) -> String {
    let wants_exclusive = request == MessageKind::Write;
    let fits = |row: &&Row| row.state != State::I && row.exclusive == wants_exclusive;
    let asked = |row: &&Row| matches!(next, Next::To(state) if state == row.state);
    let rows = || table.rows.iter().filter(fits);
    let state = rows().find(asked).or_else(|| rows().max_by_key(|row| row.owner == wants_exclusive));
    let grant = state.map_or(if wants_exclusive { 'M' } else { 'S' }, |row| row.state.letter());
    let probe = if wants_exclusive { "probe = \"write others\", " } else { "" };
    format!("{{ {probe}grant = \"{grant}\" }}")
}

/// What a section says of a state, with the name that stands there.
fn named<T>(section: &ByName<T>, state: State) -> Option<&(At<String>, At<T>)> {
    section.0.iter().find(|(name, _)| State::parse(&name.value) == Some(state))
}

fn columns(row: &RowFile) -> [(Action, Option<&At<String>>); Action::ALL.len()] {
    [
        (Action::Load, row.load.as_ref()),
        (Action::Store, row.store.as_ref()),
        (Action::NStore, row.n_store.as_ref()),
        (Action::Evict, row.evict.as_ref()),
        (Action::Read, row.read.as_ref()),
        (Action::Write, row.write.as_ref()),
        (Action::Acquire, row.acquire.as_ref()),
    ]
}

#[cfg(test)]
mod tests;
