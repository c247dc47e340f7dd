//! Which states a cache of a protocol can be in, and what it may hold there.

use crate::model::message::MessageKind;
use crate::model::state::{Action, State};
use crate::protocol::table::{Cell, Next, Step, Table};

/// What a processor, or a child, asks of a block.
pub(super) const REQUESTS: [Action; 3] = [Action::Load, Action::Store, Action::NStore];

/// The states of the caches without children, or of those with children.
#[derive(Clone, Debug, Default)]
pub(super) struct Level {
    pub has_children: bool,
    /// Those that a block can get into.
    pub reachable: Vec<State>,
    /// Those that a parent's directory knows of, and probes: entered by asking, unlike a copy that was fetched.
    pub tracked: Vec<State>,
    /// Those in which a block may have bytes that its parent has not.
    pub dirty: Vec<State>,
}

impl Level {
    /// The caches without children.
    pub fn leaf(table: &Table) -> Self {
        let level = Self { has_children: false, ..Self::default() };
        let stores = REQUESTS.into_iter().skip(1).collect::<Vec<_>>();
        level.explored(table, &stores, &|_| Vec::new(), &[])
    }

    /// The caches above which there are `leaves`, or caches of the same kind.
    pub fn inner(table: &Table, leaves: &Self) -> Self {
        let level = Self { has_children: true, ..Self::default() };
        // A child's request brings no bytes; a store that it forwards does.
        let stores: Vec<Action> = [Action::Store, Action::NStore]
            .into_iter()
            .filter(|action| leaves.uses(table, |step, column| step == Step::Forward && column == *action))
            .collect();
        let merges = |state: State| {
            let all = table.merge.iter().chain(&table.answer_merge);
            all.filter(|(_, before, _)| *before == state).map(|(_, _, after)| *after).collect()
        };
        // Without a directory nobody tracks a child: what it writes back is a store of its own.
        let dirty = if table.has_directory() { leaves.dirty.as_slice() } else { &[] };
        level.explored(table, &stores, &merges, dirty)
    }

    fn explored(
        mut self,
        table: &Table,
        stores: &[Action],
        merges: &dyn Fn(State) -> Vec<State>,
        dirty_children: &[State],
    ) -> Self {
        let every = |level: &Self, state| {
            let cells = Action::ALL.into_iter().flat_map(|action| level.after(table, state, action));
            cells.chain(merges(state)).collect::<Vec<_>>()
        };
        // A block that is not here is in I, or in what says that another stands in its place.
        self.reachable = closure(vec![State::I, table.conflict()], |state| every(&self, state));
        let asked = self.reachable.iter().flat_map(|state| self.granted(table, *state)).collect();
        self.tracked = closure(asked, |state| every(&self, state));
        self.tracked.retain(|state| *state != State::I);
        self.dirty = self.dirty_states(table, stores, dirty_children);
        self
    }

    /// The cell of this level.
    pub fn cell(&self, table: &Table, state: State, action: Action) -> Option<Cell> {
        table.cell(state, action, self.has_children)
    }

    /// Whether a state that can be reached has a cell of this kind.
    pub fn uses(&self, table: &Table, wanted: impl Fn(Step, Action) -> bool) -> bool {
        self.reachable.iter().any(|state| {
            REQUESTS
                .into_iter()
                .any(|action| self.cell(table, *state, action).is_some_and(|cell| wanted(cell.step, action)))
        })
    }

    /// The states that may follow.
    pub fn after(&self, table: &Table, state: State, action: Action) -> Vec<State> {
        let Some(cell) = self.cell(table, state, action) else { return Vec::new() };
        match (cell.next, cell.step) {
            (Next::Same, _) => vec![state],
            (Next::To(next), _) => vec![next],
            (Next::Granted, Step::Ask(request)) => {
                table.directory(request).iter().map(|rule| rule.grant).collect()
            }
            (Next::Granted, _) => Vec::new(),
        }
    }

    /// Whether others may hold a block that is in this state here, and a directory keeps account of it.
    pub fn shared(&self, table: &Table, state: State) -> bool {
        self.tracked.contains(&state) && !table.is_exclusive(state)
    }

    /// The states that a block gets into by asking the parent.
    fn granted(&self, table: &Table, state: State) -> Vec<State> {
        let asks = REQUESTS.into_iter().filter(|action| self.asks(table, state, *action).is_some());
        asks.flat_map(|action| self.after(table, state, action)).collect()
    }

    /// The request that this cell sends.
    pub fn asks(&self, table: &Table, state: State, action: Action) -> Option<MessageKind> {
        match self.cell(table, state, action)?.step {
            Step::Ask(request) => Some(request),
            _ => None,
        }
    }

    fn dirty_states(&self, table: &Table, stores: &[Action], dirty_children: &[State]) -> Vec<State> {
        let writes = |step| matches!(step, Step::Hit | Step::Flush | Step::Allocate | Step::Ask(_));
        let mut dirty = Vec::new();
        for state in &self.reachable {
            for action in stores {
                // A fault of its own; what follows from it would only hide it.
                if *action == Action::Store
                    && self.shared(table, *state)
                    && self.asks(table, *state, *action).is_none()
                {
                    continue;
                }
                if let Some(cell) = self.cell(table, *state, *action).filter(|cell| writes(cell.step)) {
                    // Where it has asked, and has to ask again, nothing is stored yet.
                    let is_stored = |next: &State| {
                        !matches!(cell.step, Step::Ask(_)) || self.asks(table, *next, *action).is_none()
                    };
                    dirty.extend(self.after(table, *state, *action).into_iter().filter(is_stored));
                }
            }
            dirty.extend(merged(table, dirty_children, *state));
        }
        let mut dirty = closure(dirty, |state| self.still_dirty(table, state));
        // Without a directory nobody's parent is of its own kind.
        if self.has_children && table.has_directory() {
            // What is dirty here makes a parent of the same kind dirty.
            let above = self.reachable.iter().flat_map(|state| merged(table, &dirty, *state)).collect();
            dirty = closure([dirty, above].concat(), |state| self.still_dirty(table, state));
        }
        dirty.retain(|state| *state != State::I);
        dirty
    }

    /// Where dirty bytes are taken along to.
    fn still_dirty(&self, table: &Table, state: State) -> Vec<State> {
        // They are gone, and what comes next is another copy.
        if state == State::I {
            return Vec::new();
        }
        self.keeping(table, state).flat_map(|action| self.after(table, state, action)).collect()
    }

    /// The columns of a state whose cells keep the bytes of the copy.
    fn keeping<'a>(&'a self, table: &'a Table, state: State) -> impl Iterator<Item = Action> + 'a {
        let keeps = move |action: &Action| match self.cell(table, state, *action).map(|cell| cell.step) {
            Some(Step::Hit | Step::Ask(_) | Step::Fetch) => true,
            Some(Step::Ack) => *action == Action::Read,
            _ => false,
        };
        REQUESTS.into_iter().chain([Action::Read]).filter(keeps)
    }

    /// The cells that take dirty bytes along to a state from another one in which they may be.
    pub fn dirty_from(&self, table: &Table, state: State) -> Vec<(State, Action)> {
        let others = self.dirty.iter().copied().filter(|from| *from != state);
        let leads = |from: State| {
            let actions = self
                .keeping(table, from)
                .filter(move |action| self.after(table, from, *action).contains(&state));
            actions.map(move |action| (from, action))
        };
        others.flat_map(leads).collect()
    }
}

/// The states that a parent in `own` may be in after bytes came from one of `children`.
fn merged(table: &Table, children: &[State], own: State) -> Vec<State> {
    let above = children.iter().filter(|child| may_hold(table, own, **child));
    above.map(|child| table.merged(*child, own)).collect()
}

/// The states of children whose dirty bytes leave a node in `own` as it was.
pub fn unmerged(table: &Table, children: &[State], own: State) -> Vec<State> {
    let above = children.iter().copied().filter(|child| may_hold(table, own, *child));
    above.filter(|child| table.merged(*child, own) == own).collect()
}

/// Whether a node in `own` may have a child in `child`.
fn may_hold(table: &Table, own: State, child: State) -> bool {
    let exclusive = table.is_exclusive(own);
    own != State::I
        && (exclusive || !table.is_exclusive(child))
        && (exclusive || table.is_owner(own) || !table.is_owner(child))
}

/// `start` and everything that `after` leads to from there.
fn closure(start: Vec<State>, after: impl Fn(State) -> Vec<State>) -> Vec<State> {
    let mut all = Vec::new();
    let mut left = start;
    while let Some(state) = left.pop() {
        if !all.contains(&state) {
            all.push(state);
            left.extend(after(state));
        }
    }
    all.sort_unstable();
    all
}
