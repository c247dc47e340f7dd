//! Where the cells and rules of a table stand in its file.

use super::{columns, named, read};
use crate::config::document::{At, Document};
use crate::config::protocol_file::ProtocolFile;
use crate::diagnostic::{Result, Source};
use crate::model::message::MessageKind;
use crate::model::state::{Action, State};
use crate::protocol::table::Table;

/// A protocol file, to look up what stands where.
#[derive(Debug)]
pub struct Places {
    document: Document,
    file: ProtocolFile,
    table: Table,
}

/// A cell or rule as it is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// Counted from 1.
    pub line: usize,
    pub text: String,
}

impl Places {
    /// # Errors
    /// As [`super::from_toml`].
    pub fn of(source: &Source) -> Result<Self> {
        let (document, file, table) = read(source)?;
        Ok(Self { document, file, table })
    }

    /// The table as the file has it.
    #[must_use]
    pub fn table(&self) -> &Table {
        &self.table
    }

    /// The path of the file.
    #[must_use]
    pub fn path(&self) -> &str {
        &self.document.source().name
    }

    /// The cell for an action in a state: the one that is in force in a node with children, or in one without; the row where there is
    /// none.
    #[must_use]
    pub fn cell(&self, state: State, action: Action, inner: bool) -> Option<Place> {
        let own = [(&self.file.inner, "inner")].into_iter().filter(|_| inner);
        let sections = || own.clone().chain([(&self.file.cache, "cache")]);
        let given = sections().find_map(|(section, name)| {
            let row = columns(&named(section, state)?.1.value);
            let given = row.into_iter().find(|(column, _)| *column == action)?.1?;
            Some(self.place(&given.span, &format!("[{name}] {state}: {} =", action.name())))
        });
        given.or_else(|| {
            let (row, name) =
                sections().find_map(|(section, name)| Some((&named(section, state)?.0, name)))?;
            let line = self.line(&row.span);
            Some(Place { line, text: format!("[{name}] {state}: no {}", action.name()) })
        })
    }

    /// The rule for a request, counted from 0.
    #[must_use]
    pub fn rule(&self, request: MessageKind, index: usize) -> Option<Place> {
        let rule = self.file.directory.rules(request).get(index)?;
        Some(
            self.place(
                &rule.grant.span,
                &format!("[directory] {} {}: ... grant =", request.name(), index + 1),
            ),
        )
    }

    /// What a node becomes when dirty bytes come from a child: all that goes from one state to another.
    #[must_use]
    pub fn merges(&self, before: State, after: State) -> Vec<Place> {
        let sections = [("merge", Some(&self.file.merge)), ("merge-answer", self.file.merge_answer.as_ref())];
        let rows = sections.into_iter().filter_map(|(name, section)| Some((name, section?)));
        let cells = rows.flat_map(|(name, section)| {
            section
                .0
                .iter()
                .flat_map(move |(child, row)| row.value.0.iter().map(move |cell| (name, child, cell)))
        });
        let is = |at: &At<String>, state| State::parse(&at.value) == Some(state);
        let meant = cells.filter(|(_, _, (from, to))| is(from, before) && is(to, after));
        meant
            .map(|(name, child, (_, to))| {
                self.place(&to.span, &format!("[{name}] {}: {before} =", child.value))
            })
            .collect()
    }

    fn place(&self, span: &std::ops::Range<usize>, before: &str) -> Place {
        let (source, own) = self.document.locate(span.clone());
        let text = format!("{before} {}", source.text.get(own).unwrap_or_default());
        Place { line: self.line(span), text }
    }

    fn line(&self, span: &std::ops::Range<usize>) -> usize {
        let (source, span) = self.document.locate(span.clone());
        source.text.get(..span.start).unwrap_or_default().matches('\n').count() + 1
    }
}
