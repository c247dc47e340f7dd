//! Faults of single cells.

use super::reach::{Level, REQUESTS, unmerged};
use super::{Study, columns};
use crate::model::message::MessageKind;
use crate::model::state::{Action, State};
use crate::protocol::table::{Next, Probe, Step};

impl Study<'_> {
    pub(super) fn cells(&mut self) {
        for level in self.levels() {
            for state in level.reachable.clone() {
                self.requests(&level, state);
                if state == State::I {
                    self.absent(&level);
                }
                if [State::I, self.table.conflict()].contains(&state) {
                    continue;
                }
                self.probes(&level, state);
                self.dirty(&level, state);
            }
        }
        self.missing();
    }

    /// Loads and stores that are performed where they must not be.
    fn requests(&mut self, level: &Level, state: State) {
        let shared = level.shared(self.table, state);
        for action in REQUESTS {
            let Some(cell) = level.cell(self.table, state, action) else { continue };
            let (place, name) = (self.place(level, state, action), said(action));
            let after = level.after(self.table, state, action);
            let here = matches!(cell.step, Step::Hit | Step::Flush);
            if here && state == State::I {
                let message = format!("{name} is performed in I, where there is no copy");
                self.error(&place, message, "a request to the parent, such as `read > granted`");
            } else if here && after.contains(&State::I) {
                let message = format!(
                    "{name} is performed in {state} and leads to I: the copy is gone, and nobody is told"
                );
                self.error(&place, message, "a state with a copy; `evict` is how a block leaves");
            } else if here && shared {
                if action == Action::Store {
                    let message =
                        format!("a store is performed in {state}, though others may hold the block");
                    self.error(&place, message, "`write >` and an exclusive state");
                } else if let Some(next) = after.iter().find(|next| self.table.is_exclusive(**next)) {
                    let message = format!("{name} makes {state} the exclusive {next} without asking");
                    self.error(&place, message, "a state that is not exclusive, or `write` as the step");
                } else if let Some(next) = after.iter().find(|next| self.becomes_owner(state, **next)) {
                    let message = format!("{name} makes {state} the owner {next}, and nobody is told");
                    self.error(&place, message, "a state that is no owner");
                }
            }
            if let Some(next) = self.takes_more(level, state, action) {
                let message = format!("{name} makes a block {next}, though others may hold what is granted");
                self.error(&place, message, "`> granted`, or `write` as the step");
            }
            if cell.step == Step::Forward && self.is_asked_for(level, action) {
                let message =
                    format!("what a child asks for is handed on in {state}, so that nobody ever grants it");
                self.error(&place, message, "a cell of [inner] that grants, such as `write > M`");
            }
            if cell.step == Step::Allocate && self.table.has_directory() {
                let message = format!("{name} takes a place for a block of which no directory is told");
                self.error(&place, message, "a request to the parent, such as `write > M`");
            }
            let request = level.asks(self.table, state, action);
            let again =
                |next: &&State| request.is_some() && level.asks(self.table, **next, action) == request;
            if let Some(next) = after.iter().find(again) {
                let message = format!("{name} asks for {next}, and asks again there: it never ends");
                self.error(&place, message, &format!("a state in whose row {} is `hit`", action.name()));
            }
        }
    }

    /// Whether a child of this level sends a request of this column that has to be granted, and not one that is performed.
    fn is_asked_for(&self, level: &Level, action: Action) -> bool {
        let asks = |step: Step, column: Action| {
            let request = match action {
                Action::Store => MessageKind::Write,
                Action::NStore => MessageKind::ReadNc,
                _ => MessageKind::Read,
            };
            column == action && step == Step::Ask(request)
        };
        level.has_children
            && self.table.has_directory()
            && self.levels().iter().any(|child| child.uses(self.table, asks))
    }

    fn becomes_owner(&self, state: State, next: State) -> bool {
        self.table.is_owner(next) && !self.table.is_owner(state)
    }

    /// The exclusive state that a request to read leads to, whatever is granted.
    fn takes_more(&self, level: &Level, state: State, action: Action) -> Option<State> {
        // What grants a writer less is told where it is granted.
        let request =
            level.asks(self.table, state, action).filter(|request| *request != MessageKind::Write)?;
        let grants_less =
            self.table.directory(request).iter().any(|rule| !self.table.is_exclusive(rule.grant));
        let after = level.after(self.table, state, action);
        let is_taken = level.cell(self.table, state, action)?.next != Next::Granted;
        let exclusive = after.into_iter().find(|next| self.table.is_exclusive(*next));
        exclusive.filter(|_| is_taken && grants_less)
    }

    /// What a probe, or an acquire, makes of a block that is not there.
    fn absent(&mut self, level: &Level) {
        for action in [Action::Read, Action::Write, Action::Acquire] {
            let after = level.after(self.table, State::I, action);
            if let Some(next) = after.iter().find(|next| **next != State::I) {
                let message = format!("{} in I leads to {next}, though no bytes come with it", said(action));
                self.error(&self.place(level, State::I, action), message, "`ack`, which stays in I");
            }
        }
    }

    /// What a probe finds and leaves.
    fn probes(&mut self, level: &Level, state: State) {
        if !level.tracked.contains(&state) {
            return;
        }
        let read = level.after(self.table, state, Action::Read);
        if let Some(next) = read.iter().find(|next| self.table.is_exclusive(**next)) {
            let message = format!("{next} is exclusive, yet {state} leads there when another node reads");
            self.error(
                &self.place(level, state, Action::Read),
                message,
                "`>` and a state that others may share",
            );
        }
        let write = level.after(self.table, state, Action::Write);
        if write.iter().any(|next| *next != State::I) {
            let message = format!("a copy in {state} stays when another node writes");
            self.error(&self.place(level, state, Action::Write), message, "`> I`");
        }
    }

    /// Dirty bytes that nobody takes.
    fn dirty(&mut self, level: &Level, state: State) {
        if !level.dirty.contains(&state) {
            return;
        }
        let coherent = self.table.row(state).is_some_and(|row| !row.noncoherent);
        let is_handed_on = |action: &Action| {
            level.cell(self.table, state, *action).is_some_and(|cell| cell.step == Step::Forward)
        };
        if let Some(action) = REQUESTS.into_iter().find(is_handed_on).filter(|_| self.table.has_directory()) {
            let name = said(action);
            let message = format!(
                "{name} is handed on in {state}, whose dirty bytes the parent does not have: it goes past what was stored before"
            );
            self.error(
                &self.place(level, state, action),
                message,
                "`hit`, or `flush` before a state without dirty bytes",
            );
        }
        let evicted = level.cell(self.table, state, Action::Evict).map(|cell| cell.step);
        if let Some(Step::Notify | Step::Silent) = evicted {
            // Whoever has dirty bytes writes them back, whatever the table says.
            let message = format!("{state} may hold dirty bytes, which are written back when it is evicted");
            let children = unmerged(self.table, &self.leaf.dirty, state);
            let children: Vec<String> = children.iter().map(ToString::to_string).collect();
            let expected = match children.as_slice() {
                _ if !level.has_children => "`writeback > I`".to_owned(),
                [] => "`writeback > I`, or a line in [merge] that leads to a state that is written back"
                    .to_owned(),
                children => format!(
                    "`writeback > I`, or a line in [merge] for dirty bytes of a child in {} that leads to a state that is written back",
                    children.join(" or ")
                ),
            };
            self.warn(&self.place(level, state, Action::Evict), &message, &expected);
        }
        for action in [Action::Read, Action::Write, Action::Acquire] {
            let step = level.cell(self.table, state, action).map(|cell| cell.step);
            let (what, expected) = match (action, step) {
                (Action::Read, Some(Step::Ack)) if coherent => ("a reader elsewhere does not get", "`data`"),
                (Action::Read, Some(Step::Ack))
                    if level.after(self.table, state, action).contains(&State::I) =>
                {
                    ("a read probe drops", "`ack`, which keeps them, or `data`")
                }
                (Action::Write, Some(Step::Ack)) => ("a writer elsewhere does not get", "`data > I`"),
                (Action::Acquire, Some(Step::Silent)) => {
                    ("an acquire drops", "stores that write through (`forward`), so that no byte is dirty")
                }
                _ => continue,
            };
            let message = format!("{what} the dirty bytes that {state} may hold");
            let expected = format!("{expected}{}", self.or_not_there(level, state));
            self.error(&self.place(level, state, action), message, &expected);
        }
    }

    /// What takes dirty bytes to a state where no store leaves them may be what is wrong, rather than what becomes of them there.
    fn or_not_there(&self, level: &Level, state: State) -> String {
        let Some((from, action)) = level.dirty_from(self.table, state).first().copied() else {
            return self.or_not_merged(level, state);
        };
        let place = self.document.complain(Some(&self.place(level, from, action)), "").position();
        let line = place.map_or_else(String::new, |(line, _)| format!(" in line {line}"));
        format!(", or no way for them from {from} to {state} by {}{line}", said(action))
    }

    /// The same of what a child's dirty bytes make of a node.
    fn or_not_merged(&self, level: &Level, state: State) -> String {
        let all = self.table.merge.iter().chain(&self.table.answer_merge);
        let mut leading = all.filter(|(child, own, after)| {
            *after == state && own != after && self.leaf.dirty.contains(child) && level.has_children
        });
        let merged = leading.next();
        merged.map_or_else(String::new, |(child, own, _)| {
            format!(", or no way for them from {own} to {state} by [merge] of {child}")
        })
    }

    /// Cells that are not there, though what they are for can happen.
    fn missing(&mut self) {
        let has_nstore = self.file.cache.0.iter().any(|(_, row)| {
            columns(&row.value).iter().any(|(action, given)| *action == Action::NStore && given.is_some())
        });
        if !has_nstore {
            let message = "no row has an n-store: a plain store of a GPU cannot happen";
            self.warn(
                &self.row(State::I),
                message,
                "n-store = ..., the same as store if there is no such state",
            );
        }
        for level in self.levels() {
            for state in level.reachable.clone() {
                let asked = REQUESTS.into_iter().filter(|action| self.asked(&level, *action));
                let asked: Vec<Action> =
                    asked.filter(|action| has_nstore || *action != Action::NStore).collect();
                let met = [Action::Evict, Action::Read, Action::Write, Action::Acquire];
                let met = met.into_iter().filter(|action| self.met(&level, state, *action));
                let possible: Vec<Action> = asked.into_iter().chain(met).collect();
                for action in possible {
                    if level.cell(self.table, state, action).is_none() {
                        let message =
                            format!("a block in {state} can meet {}, and has no cell for it", said(action));
                        self.error(&self.place(&level, state, action), message, &wanted(state, action));
                    }
                }
            }
        }
    }

    /// Whether a request of this column can come: from the processor, or as what some child sends.
    fn asked(&self, level: &Level, action: Action) -> bool {
        let sent = |step: Step, column: Action| match (step, action) {
            (Step::Ask(MessageKind::Read) | Step::Fetch, Action::Load)
            | (Step::Ask(MessageKind::Write), Action::Store)
            | (Step::Ask(MessageKind::ReadNc), Action::NStore) => true,
            (Step::Forward, _) => column == action,
            _ => false,
        };
        !level.has_children || self.levels().iter().any(|child| child.uses(self.table, sent))
    }

    /// Whether an eviction or probe can meet a block in this state.
    fn met(&self, level: &Level, state: State, action: Action) -> bool {
        let rules = [&self.table.read, &self.table.read_nc, &self.table.write];
        let reads = rules.into_iter().flatten().any(|rule| rule.probe == Probe::ReadOwner);
        // A block that has just left may still be asked for.
        let tracked = level.tracked.contains(&state) || state == State::I && !level.tracked.is_empty();
        match action {
            Action::Read => tracked && reads && self.table.is_owner(state),
            Action::Write => {
                tracked && rules.into_iter().flatten().any(|rule| rule.probe == Probe::WriteOthers)
            }
            // Of copies that are tracked, everybody is told that they are old; nobody keeps account of the others in an L1.
            Action::Acquire => {
                let is_known = tracked || state == State::I || state == self.table.conflict();
                !level.has_children && !is_known
            }
            _ => ![State::I, self.table.conflict()].contains(&state),
        }
    }
}

fn said(action: Action) -> String {
    match action {
        Action::Evict => "an eviction".to_owned(),
        Action::NStore => "an n-store".to_owned(),
        Action::Acquire => "an acquire".to_owned(),
        Action::Read | Action::Write => format!("a {} probe", action.name()),
        _ => format!("a {}", action.name()),
    }
}

fn wanted(state: State, action: Action) -> String {
    let cell = match action {
        Action::Read | Action::Write if state == State::I => "\"ack\"",
        Action::Load => "\"hit\"",
        Action::Store | Action::NStore => "\"write > M\"",
        Action::Read => "\"data > S\"",
        Action::Write => "\"data > I\"",
        Action::Acquire => "\"silent > I\"",
        _ => "\"writeback > I\"",
    };
    format!("{} = ..., such as {cell}", action.name())
}
