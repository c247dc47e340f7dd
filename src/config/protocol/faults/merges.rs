//! Faults of [merge] and [merge-answer]: what a node becomes when a child's dirty bytes arrive.

use std::ops::Range;

use super::{Study, named};
use crate::config::document::At;
use crate::config::protocol_file::ByName;
use crate::model::state::State;

impl Study<'_> {
    /// A node becomes what it is allowed to be by asking, and not by what a child sends.
    pub(super) fn merges(&mut self) {
        let answers = self.table.answer_merge.iter().map(|merge| (self.file.merge_answer.as_ref(), *merge));
        let all = self.table.merge.iter().map(|merge| (Some(&self.file.merge), *merge)).chain(answers);
        let all: Vec<_> = all.collect();
        for (section, (child, own, after)) in all {
            // Nobody has an exclusive copy above one that others may have, too.
            let is_possible = self.table.is_exclusive(own) || !self.table.is_exclusive(child);
            let is_dirty = [&self.leaf, &self.inner].iter().any(|level| level.dirty.contains(&child));
            if !is_possible || !is_dirty || own == State::I || !self.inner.reachable.contains(&own) {
                continue;
            }
            let what = if self.table.is_exclusive(after) && !self.table.is_exclusive(own) {
                "exclusive"
            } else if self.table.is_owner(after) && !self.table.is_owner(own) {
                "owner"
            } else {
                continue;
            };
            let message = format!(
                "dirty bytes of a child in {child} make a node in {own} the {what} {after}, and its parent does not know"
            );
            let place = merge_place(section.unwrap_or(&self.file.merge), child, own);
            let place = place.unwrap_or_else(|| self.row(own));
            self.error(&place, message, &format!("a state that is as alone as {own}, and is written back"));
        }
    }
}

/// Where it is written what a node in `own` becomes.
fn merge_place(section: &ByName<ByName<String>>, child: State, own: State) -> Option<Range<usize>> {
    let (_, row) = named(section, child)?;
    let (_, after): &(At<String>, At<String>) = named(&row.value, own)?;
    Some(after.span.clone())
}
