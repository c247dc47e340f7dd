//! Where the cells and rules of a table stand in its file.

use super::{columns, read, row_of};
use crate::config::document::Document;
use crate::config::protocol_file::ProtocolFile;
use crate::diagnostic::{Result, Source};
use crate::model::message::MessageKind;
use crate::model::state::{Action, State};

/// A protocol file, to look up what stands where.
#[derive(Debug)]
pub struct Places {
    document: Document,
    file: ProtocolFile,
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
        let (document, file, _) = read(source)?;
        Ok(Self { document, file })
    }

    /// The name that machines use for the protocol.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.file.name
    }

    /// The path of the file.
    #[must_use]
    pub fn path(&self) -> &str {
        &self.document.source().name
    }

    /// The cell for an action in a state: the one that is in force in a node with children, or in one without.
    #[must_use]
    pub fn cell(&self, state: State, action: Action, inner: bool) -> Option<Place> {
        let own = [(&self.file.inner, "inner")].into_iter().filter(|_| inner);
        own.chain([(&self.file.cache, "cache")]).find_map(|(section, name)| {
            let row = columns(row_of(section, state)?);
            let given = row.into_iter().find(|(column, _)| *column == action)?.1?;
            Some(self.place(&given.span, &format!("[{name}] {state}: {} =", action.name())))
        })
    }

    /// The rules for a request that grant a state.
    #[must_use]
    pub fn rules(&self, request: MessageKind, grant: State) -> Vec<Place> {
        let rules = self.file.directory.rules(request).iter();
        let granting = rules.filter(|rule| State::parse(&rule.grant.value) == Some(grant));
        granting
            .map(|rule| self.place(&rule.grant.span, &format!("[directory] {}: ... grant =", request.name())))
            .collect()
    }

    /// What a node becomes when dirty bytes come from a child: all that goes from one state to another.
    #[must_use]
    pub fn merges(&self, before: State, after: State) -> Vec<Place> {
        let mut found = Vec::new();
        for (child, row) in &self.file.merge.0 {
            for (from, to) in &row.value.0 {
                let is_it =
                    State::parse(&from.value) == Some(before) && State::parse(&to.value) == Some(after);
                if is_it {
                    found.push(self.place(&to.span, &format!("[merge] {}: {before} =", child.value)));
                }
            }
        }
        found
    }

    fn place(&self, span: &std::ops::Range<usize>, before: &str) -> Place {
        let (source, span) = self.document.locate(span.clone());
        let head = source.text.get(..span.start).unwrap_or_default();
        let line = head.matches('\n').count() + 1;
        Place { line, text: format!("{before} {}", source.text.get(span).unwrap_or_default()) }
    }
}
