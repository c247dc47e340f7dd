//! What a table gets wrong that can be seen without running it: a fault loses or hides a store, or ends in a cell that
//! is not there. A table with faults still loads, so that a scenario can show what comes of them.

mod cells;
mod directory;
mod merges;
mod reach;
mod remedies;

use std::ops::Range;

use self::reach::Level;
use super::super::document::Document;
use super::super::protocol_file::{ByName, ProtocolFile, RowFile};
use super::{columns, named};
use crate::diagnostic::{Diagnostic, Source};
use crate::model::message::MessageKind;
use crate::model::state::{Action, State};
use crate::protocol::table::Table;

/// What was found in a table.
#[derive(Clone, Debug, Default)]
pub struct Faults {
    /// What cannot work.
    pub errors: Vec<Diagnostic>,
    /// What works, but is hardly meant.
    pub warnings: Vec<Diagnostic>,
}

impl Faults {
    /// The first error that is not among those of the table before it was changed.
    #[must_use]
    pub fn first_beyond(&self, before: &Self) -> Option<&Diagnostic> {
        self.errors.iter().find(|error| !before.errors.iter().any(|other| is_same(other, error)))
    }

    /// The first error in a line, with its place in the table, and how many there are.
    #[must_use]
    pub fn error_told(&self, table: &Source) -> Option<String> {
        let more = match self.errors.len() {
            0 | 1 => String::new(),
            count => format!(" (the first of {count} faults)"),
        };
        let first = self.errors.first()?;
        Some(format!("{}{more}; `umscope check` tells more", in_a_line(table, first)))
    }

    /// Each warning in a line, with its place in the table.
    #[must_use]
    pub fn warnings_told(&self, table: &Source) -> Vec<String> {
        self.warnings.iter().map(|warning| in_a_line(table, warning)).collect()
    }
}

fn in_a_line(table: &Source, fault: &Diagnostic) -> String {
    let place = fault.position().map_or_else(String::new, |(line, column)| format!(":{line}:{column}"));
    format!("warning: {}{place}: {}", table.name, fault.message.trim_start_matches("warning: "))
}

/// A table under study, with its levels.
struct Study<'a> {
    document: &'a Document,
    file: &'a ProtocolFile,
    table: &'a Table,
    leaf: Level,
    inner: Level,
    found: Faults,
}

/// Looks for faults in a table.
pub(super) fn look(document: &Document, file: &ProtocolFile, table: &Table) -> Faults {
    let leaf = Level::leaf(table);
    let inner = Level::inner(table, &leaf);
    let mut study = Study { document, file, table, leaf, inner, found: Faults::default() };
    study.states();
    study.cells();
    study.directory();
    study.merges();
    let mut found = study.found;
    for diagnostics in [&mut found.errors, &mut found.warnings] {
        diagnostics.sort_by_key(|diagnostic| diagnostic.span.as_ref().map(|span| span.start));
    }
    found
}

impl Study<'_> {
    /// An error, told once where both levels have it.
    fn error(&mut self, span: &Range<usize>, message: String, expected: &str) {
        let diagnostic = self.document.complain(Some(span), message).expected(expected);
        if !self.found.errors.iter().any(|other| is_same(other, &diagnostic)) {
            self.found.errors.push(diagnostic);
        }
    }

    fn warn(&mut self, span: &Range<usize>, message: &str, expected: &str) {
        let message = format!("warning: {message}");
        let diagnostic = self.document.complain(Some(span), message).expected(expected);
        if !self.found.warnings.iter().any(|other| is_same(other, &diagnostic)) {
            self.found.warnings.push(diagnostic);
        }
    }

    fn levels(&self) -> [Level; 2] {
        [self.leaf.clone(), self.inner.clone()]
    }

    /// Where a level's cell is written: an inner node's may be that of a leaf.
    fn place(&self, level: &Level, state: State, action: Action) -> Range<usize> {
        let cell = |section: &ByName<RowFile>| {
            let (_, row) = named(section, state)?;
            let (_, given) = columns(&row.value).into_iter().find(|(column, _)| *column == action)?;
            given.map(|given| given.span.clone())
        };
        let own = level.has_children.then(|| cell(&self.file.inner)).flatten();
        own.or_else(|| cell(&self.file.cache)).unwrap_or_else(|| self.row(state))
    }

    /// The line in which [state] names a state.
    fn line_of_state(&self, state: State) -> Option<usize> {
        let (name, _) = named(&self.file.state, state)?;
        self.document.complain(Some(&name.span), "").position().map(|(line, _)| line)
    }

    /// Where a state's row begins.
    fn row(&self, state: State) -> Range<usize> {
        let row = named(&self.file.cache, state).or_else(|| named(&self.file.inner, state));
        row.map_or(0..0, |(name, _)| name.span.clone())
    }

    fn states(&mut self) {
        for row in self.table.rows.iter() {
            let state = row.state;
            if !self.leaf.reachable.contains(&state) && !self.inner.reachable.contains(&state) {
                let requests = [MessageKind::Read, MessageKind::ReadNc, MessageKind::Write];
                let mut granting = requests
                    .into_iter()
                    .filter(|request| self.table.directory(*request).iter().any(|rule| rule.grant == state));
                let asked = granting.clone().find(|request| self.is_requested(*request));
                let (message, expected) = if let Some(request) = asked.or_else(|| granting.next()) {
                    let why = if asked.is_some() {
                        "no cell takes what is granted".to_owned()
                    } else {
                        format!("no cell asks {}", request.name())
                    };
                    (
                        format!("nothing leads to {state}: [directory] grants it, and {why}"),
                        format!(
                            "`{} > granted` in the cell that asks, or no rule that grants it",
                            request.name()
                        ),
                    )
                } else {
                    let expected =
                        format!("a cell with `> {state}`, a rule that grants it, or no row for it");
                    (format!("nothing leads to {state}"), expected)
                };
                self.warn(&self.row(state), &message, &expected);
            }
        }
        let declared =
            |state| self.file.state.0.iter().any(|(name, _)| State::parse(&name.value) == Some(state));
        let rows = self.table.rows.iter().map(|row| row.state);
        let left_out: Vec<State> = rows.filter(|state| *state != State::I && !declared(*state)).collect();
        for state in left_out {
            let message = format!("{state} is not in [state]: it is neither exclusive nor an owner");
            self.warn(&self.row(state), &message, &format!("{state} = \"\" in [state], or what it is"));
        }
        for state in self.leaf.reachable.clone() {
            if named(&self.file.cache, state).is_none() {
                let message =
                    format!("a cache without children can get into {state}, which [cache] has no row for");
                self.error(&self.row(state), message, &format!("a row {state} in [cache]"));
            }
        }
    }
}

/// Whether two complaints say the same of the same place.
fn is_same(one: &Diagnostic, other: &Diagnostic) -> bool {
    (&one.span, &one.message) == (&other.span, &other.message)
}

#[cfg(test)]
mod tests;
