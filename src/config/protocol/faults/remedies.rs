//! What would be right in the place of a fault.

use super::Study;
use super::reach::Level;
use crate::model::state::{Action, State};
use crate::protocol::table::{Probe, Row, Step, When};

impl Study<'_> {
    /// What may stand in a cell that is not there.
    pub(super) fn wanted(&self, state: State, action: Action) -> String {
        let shared = |row: &&Row| !row.exclusive && !row.owner && !row.noncoherent && row.state != State::I;
        let shared = self.table.rows.iter().find(shared).map_or(State::I, |row| row.state);
        let cell = match action {
            Action::Read | Action::Write if state == State::I => "ack".to_owned(),
            Action::Load => "hit".to_owned(),
            Action::Store | Action::NStore => format!("write > {}", self.alone()),
            Action::Read => format!("data > {shared}"),
            Action::Write => "data > I".to_owned(),
            Action::Acquire => "silent > I".to_owned(),
            _ => "writeback > I".to_owned(),
        };
        format!("{} = ..., such as \"{cell}\"", action.name())
    }

    /// A state in which a store hits, as an example.
    pub(super) fn alone(&self) -> State {
        let hits = |row: &&Row| {
            let step = self.leaf.cell(self.table, row.state, Action::Store).map(|cell| cell.step);
            row.exclusive && step == Some(Step::Hit)
        };
        let stays = |row: &Row| self.leaf.after(self.table, row.state, Action::Store) == [row.state];
        let found = self.table.rows.iter().filter(hits).max_by_key(|row| stays(row));
        found.map_or_else(|| State::parse("M").unwrap_or(State::I), |row| row.state)
    }

    /// What may make it right that a state is stored to: where only who is alone gets into it, the list of states may be what is wrong.
    pub(super) fn or_exclusive(&self, state: State) -> String {
        let rules = self.table.read.iter().chain(&self.table.read_nc).chain(&self.table.write);
        let mut granting = rules.into_iter().filter(|rule| rule.grant == state).peekable();
        let is_granted = granting.peek().is_some();
        let is_alone =
            granting.all(|rule| rule.when == When::NoOtherSharers || rule.probe == Probe::WriteOthers);
        let line = self.line_of_state(state).filter(|_| is_granted && is_alone);
        let or = line.map_or_else(String::new, |line| {
            format!(", or {state} = \"exclusive owner\" in line {line}, since only who is alone is granted {state}")
        });
        format!("`write >` and an exclusive state{or}")
    }

    /// What takes dirty bytes to a state where no store leaves them may be what is wrong, rather than what becomes of them there.
    pub(super) fn or_not_there(&self, level: &Level, state: State) -> String {
        if let Some((from, action)) = level.dirty_from(self.table, state).first().copied() {
            let line = self.in_line(level, from, action);
            return format!(", or no way for them from {from} to {state} by {}{line}", action.said());
        }
        if let Some((from, action)) = level.stored_from(self.table, state) {
            let line = self.in_line(level, from, action);
            return format!(", or another state than {state} after {} in {from}{line}", action.said());
        }
        self.or_not_merged(level, state)
    }

    /// The line of a cell, as words.
    pub(super) fn in_line(&self, level: &Level, state: State, action: Action) -> String {
        let place = self.document.complain(Some(&self.place(level, state, action)), "").position();
        place.map_or_else(String::new, |(line, _)| format!(" in line {line}"))
    }

    /// The same of what a child's dirty bytes make of a node.
    fn or_not_merged(&self, level: &Level, state: State) -> String {
        let answers = self.table.answer_merge.iter().map(|merge| ("merge-answer", merge));
        let all = self.table.merge.iter().map(|merge| ("merge", merge)).chain(answers);
        let mut leading = all.filter(|(_, (child, own, after))| {
            *after == state && own != after && self.leaf.dirty.contains(child) && level.has_children
        });
        let merged = leading.next();
        merged.map_or_else(String::new, |(section, (child, own, _))| {
            format!(", or no way for them from {own} to {state} by [{section}] of {child}")
        })
    }
}
