//! From a protocol file to a table: letters, cells, rules and merges checked, with places inside the cells.

mod faults;
mod places;

use std::cell::RefCell;
use std::ops::Range;

pub use faults::Faults;
pub use places::{Place, Places};

use super::cell::{self, letters};
use super::document::{At, Document};
use super::fail;
use super::protocol_file::{
    ByName, ProbeWord, ProtocolFile, RowFile, RuleFile, UncachedFile, UncachedRow, WhenWord,
};
use crate::diagnostic::{Diagnostic, Result, Source};
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
    let reader = Reader::new(document, file);
    // What else is wrong with a state would only be about its name.
    reader.told()?;
    let merge = reader.merges(&file.merge);
    let table = Table {
        name: file.name.clone(),
        title: file.title.clone().unwrap_or_else(|| file.name.clone()),
        source: file.source.clone().unwrap_or_default(),
        rows: reader.rows(file).into(),
        read: reader.rules(&file.directory.read),
        read_nc: reader.rules(&file.directory.read_nc),
        write: reader.rules(&file.directory.write),
        answer_merge: file.merge_answer.as_ref().map_or_else(|| merge.clone(), |file| reader.merges(file)),
        merge,
        uncached: file.uncached.as_ref().map(|file| reader.uncached(file)),
    };
    reader.told()?;
    reader.requests(file, &table);
    reader.told()?;
    Ok(table)
}

/// A rule of a directory that stands outside of a protocol file.
///
/// # Errors
/// If it grants a state that the table does not have.
pub(super) fn rule(document: &Document, file: &RuleFile, table: &Table) -> Result<DirectoryRule> {
    let states = table.rows.iter().map(|row| row.state).collect();
    Reader { document, states, complaints: RefCell::default() }.rule(file)
}

struct Reader<'a> {
    document: &'a Document,
    /// In the order of the file.
    states: Vec<State>,
    /// What was found so far: all of it is told at once.
    complaints: RefCell<Vec<Diagnostic>>,
}

impl<'a> Reader<'a> {
    /// The states are the rows of `[cache]`, then those that only `[inner]` has.
    fn new(document: &'a Document, file: &ProtocolFile) -> Self {
        let mut reader = Self { document, states: Vec::new(), complaints: RefCell::default() };
        for (name, _) in file.cache.0.iter().chain(&file.inner.0) {
            match State::parse(&name.value) {
                Some(state) if !reader.states.contains(&state) => reader.states.push(state),
                Some(_) => {}
                None => {
                    let complaint =
                        document.complain(Some(&name.span), format!("`{}` is no state", name.value));
                    reader.note(complaint.expected("one upper-case letter"));
                }
            }
        }
        if !reader.states.contains(&State::I) {
            let complaint = document.complain(None, "the state I is missing in [cache]");
            reader.note(complaint.expected("a row I: every block begins as not present"));
        }
        // A row of another name may be the one that is missing.
        let has_names = reader.complaints.borrow().is_empty();
        for (name, _) in file.state.0.iter().filter(|_| has_names) {
            reader.hear(reader.state(name).map_err(|mut error| {
                // Mostly it is the row that was forgotten.
                if let Some(state) = State::parse(&name.value) {
                    error.message = format!("the state {state} has no row in [cache]");
                    error.expected = Some(format!(
                        "a row {state} = {{ ... }} there, or one of {}",
                        letters(&reader.states)
                    ));
                }
                error
            }));
        }
        reader
    }

    fn note(&self, complaint: Diagnostic) {
        let mut complaints = self.complaints.borrow_mut();
        if !complaints.contains(&complaint) {
            complaints.push(complaint);
        }
    }

    /// What was read, or nothing, and the complaint is noted.
    fn hear<T>(&self, read: Result<T>) -> Option<T> {
        read.map_err(|complaint| self.note(*complaint)).ok()
    }

    /// Fails if anything is wrong so far: with the first, and behind it the others.
    fn told(&self) -> Result<()> {
        let mut complaints = self.complaints.take();
        complaints.sort_by_key(|complaint| complaint.span.as_ref().map(|span| span.start));
        let mut complaints = complaints.into_iter();
        complaints.next().map_or(Ok(()), |first| fail(first.and(complaints)))
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

    fn rows(&self, file: &ProtocolFile) -> Vec<Row> {
        let read = |&state: &State| {
            let given = file.state.0.iter().find(|(name, _)| State::parse(&name.value) == Some(state));
            let named = given.and_then(|(_, words)| self.hear(self.properties(state, words)));
            let row = named.unwrap_or_else(|| plain(state));
            let leaf = self.cells(&file.cache, state, &row.leaf);
            Row { leaf, inner: self.cells(&file.inner, state, &leaf), ..row }
        };
        self.states.iter().map(read).collect()
    }

    fn properties(&self, state: State, given: &At<String>) -> Result<Row> {
        let mut row = plain(state);
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
    fn cells(&self, section: &ByName<RowFile>, state: State, below: &Cells) -> Cells {
        let mut cells = *below;
        let Some((_, row)) = named(section, state) else { return cells };
        for (action, given) in columns(&row.value) {
            let (Some(given), Some(cell)) = (given, cells.get_mut(action.index())) else { continue };
            let read = cell::parse(&given.value, action, &self.states).map_err(|error| {
                let span = self.inside(given, &error.span);
                error.told(|message| self.document.complain(Some(&span), message))
            });
            *cell = self.hear(read).flatten();
        }
        cells
    }

    fn uncached(&self, file: &UncachedFile) -> Uncached {
        Uncached { leaf: self.uncached_row(&file.cache), inner: self.uncached_row(&file.inner) }
    }

    /// What is not kept can be fetched for those that wait, or handed on.
    fn uncached_row(&self, row: &UncachedRow) -> Cells {
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
                self.note(complaint.expected(expected).nearest(&given.value, words));
                continue;
            };
            cells[action.index()] = Some(*cell);
        }
        cells
    }

    fn rules(&self, files: &[RuleFile]) -> Vec<DirectoryRule> {
        files.iter().filter_map(|file| self.hear(self.rule(file))).collect()
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

    fn merges(&self, file: &ByName<ByName<String>>) -> Vec<Merge> {
        let rows = file.0.iter().flat_map(|(child, row)| row.value.0.iter().map(move |one| (child, one)));
        rows.filter_map(|(child, (before, after))| self.hear(self.merge(child, before, after))).collect()
    }

    fn merge(&self, child: &At<String>, before: &At<String>, after: &At<String>) -> Result<Merge> {
        let merge = (self.state(child)?, self.state(before)?, self.state(after)?);
        if merge.2 == State::I {
            let message = "a node that takes dirty bytes cannot go to I: they would be lost";
            let complaint = self.document.complain(Some(&after.span), message);
            return fail(complaint.expected("a state with a copy"));
        }
        Ok(merge)
    }

    /// That the directory has an answer to every request that a cell sends, and that a write makes exclusive.
    fn requests(&self, file: &ProtocolFile, table: &Table) {
        let rows = file.cache.0.iter().chain(&file.inner.0);
        let cells = rows.flat_map(|(_, row)| columns(&row.value));
        let asking = cells.filter_map(|(action, given)| {
            let cell = cell::parse(&given?.value, action, &self.states).ok()??;
            let Step::Ask(request) = cell.step else { return None };
            Some((request, given?, cell.next))
        });
        let asking: Vec<(MessageKind, &At<String>, Next)> = asking.collect();
        for request in [MessageKind::Read, MessageKind::ReadNc, MessageKind::Write] {
            let mut own = asking.iter().filter(|(kind, _, _)| *kind == request).copied().peekable();
            // Once for all cells that ask it.
            let first = own.peek().copied();
            let answered = first.and_then(|first| self.hear(self.answered(first, file, table)));
            if answered.is_some() && request == MessageKind::Write {
                own.for_each(|(_, given, next)| {
                    self.hear(self.written(given, next, file, table));
                });
            }
        }
    }

    /// That some rule answers a request in any case.
    fn answered(
        &self,
        (request, given, next): (MessageKind, &At<String>, Next),
        file: &ProtocolFile,
        table: &Table,
    ) -> Result<()> {
        if table.directory(request).iter().any(|rule| rule.when == When::Always) {
            return Ok(());
        }
        let name = request.name();
        let last = file.directory.rules(request).last().map(|rule| rule.grant.span.clone());
        let message = if last.is_some() {
            format!("the rules for {name} in [directory] leave out a case: none applies without a `when`")
        } else {
            format!("no rule in [directory] answers the request {name}")
        };
        let place = last.unwrap_or_else(|| self.inside(given, &(0..given.value.len())));
        let complaint = self.document.complain(Some(&place), message);
        fail(complaint.expected(format!("{name} = [..., {}]", any_case(request, next, table))))
    }

    /// That what asks to write becomes exclusive, and an owner.
    fn written(&self, given: &At<String>, next: Next, file: &ProtocolFile, table: &Table) -> Result<()> {
        let exclusive = match next {
            Next::To(state) => table.is_exclusive(state),
            Next::Granted | Next::Same => table.write.iter().all(|rule| table.is_exclusive(rule.grant)),
        };
        if exclusive {
            return self.written_by_owner(given, next, file, table);
        }
        let place = self.inside(given, &(0..given.value.len()));
        let message = "a write request leads to a state that is not exclusive";
        let complaint = self.document.complain(Some(&place), message);
        fail(complaint.expected("a state that [state] calls exclusive"))
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

/// A state of which nothing is said.
fn plain(state: State) -> Row {
    let none: Cells = [None; Action::ALL.len()];
    Row {
        state,
        exclusive: false,
        owner: false,
        noncoherent: false,
        presence: Presence::Whole,
        leaf: none,
        inner: none,
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
