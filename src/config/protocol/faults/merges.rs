//! Faults of [merge] and [merge-answer]: what a node becomes when a child's dirty bytes arrive.

use std::ops::Range;

use super::reach::asks_owners;
use super::{Study, named};
use crate::config::document::At;
use crate::config::protocol_file::ByName;
use crate::model::state::{Action, State};

impl Study<'_> {
    /// A node becomes what it is allowed to be by asking, and not by what a child sends.
    pub(super) fn merges(&mut self) {
        let answers = self.table.answer_merge.iter().map(|merge| (self.file.merge_answer.as_ref(), *merge));
        let all = self.table.merge.iter().map(|merge| (Some(&self.file.merge), *merge)).chain(answers);
        let all: Vec<_> = all.collect();
        for (section, (child, own, after)) in all {
            let section = section.unwrap_or(&self.file.merge);
            if child == State::I || own == State::I {
                let who = if child == State::I { "a child in I" } else { "a node in I" };
                let place = merge_place(section, child, own).unwrap_or_else(|| self.row(own));
                self.warn(
                    &place,
                    &format!("this never happens: {who} has nothing of the block"),
                    "no such line",
                );
                continue;
            }
            // Nobody has an exclusive copy above one that others may have, too.
            let is_possible = self.table.is_exclusive(own) || !self.table.is_exclusive(child);
            let is_dirty = [&self.leaf, &self.inner].iter().any(|level| level.dirty.contains(&child));
            if !is_possible || !is_dirty || !self.inner.reachable.contains(&own) {
                continue;
            }
            self.left_behind(child, own, after);
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
            let place = merge_place(section, child, own);
            let place = place.unwrap_or_else(|| self.row(own));
            self.error(&place, message, &format!("a state that is as alone as {own}, and is written back"));
        }
    }
}

impl Study<'_> {
    /// What a child answers to a read probe makes the node one that leaves, though its children were not asked to.
    fn left_behind(&mut self, child: State, own: State, after: State) {
        let leaves = |state| {
            self.inner.after(self.table, state, Action::Read).into_iter().any(|next| next == State::I)
        };
        let is_tracked = self.inner.tracked.contains(&own) && asks_owners(self.table);
        let stays = self.levels().iter().any(|level| {
            let next = level.after(self.table, child, Action::Read);
            level.dirty.contains(&child) && next.iter().any(|next| *next != State::I)
        });
        if is_tracked && stays && self.table.is_owner(child) && leaves(after) && !leaves(own) {
            let message = format!(
                "{after} leaves when another node reads, {own} does not ask its children to, and one in {child} makes it {after}"
            );
            let place = self.place(&self.inner.clone(), after, Action::Read);
            self.error(&place, message, &format!("a state that stays, or `> I` in {own}, too"));
        }
    }
}

/// Where it is written what a node in `own` becomes.
fn merge_place(section: &ByName<ByName<String>>, child: State, own: State) -> Option<Range<usize>> {
    let (_, row) = named(section, child)?;
    let (_, after): &(At<String>, At<String>) = named(&row.value, own)?;
    Some(after.span.clone())
}
