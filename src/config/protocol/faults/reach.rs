//! Which states a cache of a protocol can be in, and what it may hold there.

use crate::model::message::MessageKind;
use crate::model::state::{Action, State};
use crate::protocol::table::{Cell, DirectoryRule, Next, Probe, Step, Table, When};

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
    /// Those of them in which some may have been stored coherently, so that every reader shall see them.
    pub stored: Vec<State>,
    /// What a child hands on, to be performed here.
    handed: Vec<Action>,
}

impl Level {
    /// The caches without children.
    pub fn leaf(table: &Table) -> Self {
        Self::default().explored(table, &|_| Vec::new(), &Self::default())
    }

    /// The caches above which there are `leaves`, or caches of the same kind.
    pub fn inner(table: &Table, leaves: &Self) -> Self {
        let merges = |state: State| {
            let all = table.merge.iter().chain(&table.answer_merge);
            all.filter(|(_, before, _)| *before == state).map(|(_, _, after)| *after).collect()
        };
        // Without a directory nobody tracks a child: what it writes back is a store of its own.
        let none = Self::default();
        let children = if table.has_directory() { leaves } else { &none };
        let above = |handed: Vec<Action>| {
            Self { has_children: true, handed, ..Self::default() }.explored(table, &merges, children)
        };
        let first = above(leaves.hands_on(table, &REQUESTS));
        // A cache with children hands on what comes from them.
        let sent: Vec<Action> = REQUESTS
            .into_iter()
            .filter(|action| leaves.asks_for(table, *action) || first.handed.contains(action))
            .collect();
        let more = first.hands_on(table, &sent).into_iter().filter(|action| !first.handed.contains(action));
        let handed = first.handed.iter().copied().chain(more).collect();
        above(handed)
    }

    /// Which columns a cache of this level has its parent perform, of what comes to it in these.
    fn hands_on(&self, table: &Table, sent: &[Action]) -> Vec<Action> {
        let is_handed = |wanted: &Action| {
            self.uses(table, |step, action| {
                let column = match step {
                    Step::Fetch => Some(Action::Load),
                    Step::Forward => Some(action),
                    _ => None,
                };
                sent.contains(&action) && column == Some(*wanted)
            })
        };
        REQUESTS.into_iter().filter(is_handed).collect()
    }

    /// Whether a cache of this level sends the request that its parent serves by this column.
    pub fn asks_for(&self, table: &Table, column: Action) -> bool {
        self.uses(table, |step, _| step == Step::Ask(request_of(column)))
    }

    /// Whether a child hands on what this column is for.
    pub fn is_handed(&self, column: Action) -> bool {
        self.handed.contains(&column)
    }

    fn explored(mut self, table: &Table, merges: &dyn Fn(State) -> Vec<State>, children: &Self) -> Self {
        let happens = |action: &Action| *action != Action::Read || asks_owners(table);
        let every = |level: &Self, state| {
            let actions = Action::ALL.into_iter().filter(happens);
            let cells = actions.flat_map(|action| level.cells(table, state, action));
            cells.flat_map(|cell| after(table, state, cell)).chain(merges(state)).collect::<Vec<_>>()
        };
        // A block that is not here is in I, or in what says that another stands in its place.
        self.reachable = closure(vec![State::I, table.conflict()], |state| every(&self, state));
        let asked = self.reachable.iter().flat_map(|state| self.granted(table, *state)).collect();
        self.tracked = closure(asked, |state| every(&self, state));
        self.tracked.retain(|state| *state != State::I);
        self.dirty = self.dirty_states(table, &[Action::Store, Action::NStore], &children.dirty);
        // Where no state is non-coherent, all stores are coherent.
        let coherent: &[Action] =
            if table.is_noncoherent() { &[Action::Store] } else { &[Action::Store, Action::NStore] };
        self.stored = self.dirty_states(table, coherent, &children.stored);
        // What else a child sends takes them along.
        let along = |state: State| merged(table, &children.dirty, state);
        let taken =
            closure(self.stored.clone(), |state| [along(state), self.still_dirty(table, state)].concat());
        self.stored = taken.into_iter().filter(|state| *state != State::I).collect();
        self
    }

    /// The cell of this level.
    pub fn cell(&self, table: &Table, state: State, action: Action) -> Option<Cell> {
        table.cell(state, action, self.has_children)
    }

    /// The cells that an action may use: that of this level, and the one by which what a child hands on is performed.
    fn cells(&self, table: &Table, state: State, action: Action) -> impl Iterator<Item = Cell> + use<> {
        let own = self.cell(table, state, action);
        let performing =
            if self.handed.contains(&action) { table.performing_cell(state, action) } else { None };
        own.into_iter().chain(performing.filter(|cell| Some(*cell) != own))
    }

    /// The cell by which bytes are stored at this level. A child's request brings none; a store that it hands on does.
    fn storing_cell(&self, table: &Table, state: State, action: Action) -> Option<Cell> {
        if !self.has_children {
            return self.cell(table, state, action);
        }
        table.performing_cell(state, action).filter(|_| self.handed.contains(&action))
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
        self.cell(table, state, action).map_or_else(Vec::new, |cell| after(table, state, cell))
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

    /// The cell that stores in another state and leads to this one.
    pub fn stored_from(&self, table: &Table, state: State) -> Option<(State, Action)> {
        let others = self.reachable.iter().copied().filter(|from| *from != state);
        let stores = others.flat_map(|from| [(from, Action::Store), (from, Action::NStore)]);
        stores.into_iter().find(|&(from, action)| {
            let cell = self.storing_cell(table, from, action).filter(|cell| stores_here(*cell));
            cell.is_some_and(|cell| after(table, from, cell).contains(&state))
        })
    }

    /// The states in which there may be bytes that `stores` have left here, or above in one of those states of children.
    fn dirty_states(&self, table: &Table, stores: &[Action], dirty_children: &[State]) -> Vec<State> {
        let mut dirty = Vec::new();
        for state in &self.reachable {
            for &action in stores {
                // A fault of its own; what follows from it would only hide it.
                if action == Action::Store
                    && self.shared(table, *state)
                    && self.asks(table, *state, action).is_none()
                {
                    continue;
                }
                let cell = self.storing_cell(table, *state, action).filter(|cell| stores_here(*cell));
                dirty.extend(cell.into_iter().flat_map(|cell| after(table, *state, cell)));
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

    /// `start`, and the states into which a block gets from there with no word to the parent.
    pub fn silently_from(&self, table: &Table, start: Vec<State>) -> Vec<State> {
        let is_silent = |cell: &Cell| matches!(cell.step, Step::Hit | Step::Flush);
        closure(start, |state| {
            let cells = REQUESTS.into_iter().flat_map(|action| self.cells(table, state, action));
            cells.filter(is_silent).flat_map(|cell| after(table, state, cell)).collect()
        })
    }

    /// Where dirty bytes are taken along to.
    fn still_dirty(&self, table: &Table, state: State) -> Vec<State> {
        // They are gone, and what comes next is another copy.
        if state == State::I {
            return Vec::new();
        }
        self.keeping(table, state).flat_map(|(_, cell)| after(table, state, cell)).collect()
    }

    /// The cells of a state that keep the bytes of the copy, with their columns.
    fn keeping<'a>(&'a self, table: &'a Table, state: State) -> impl Iterator<Item = (Action, Cell)> + 'a {
        let keeps = |(action, cell): &(Action, Cell)| match cell.step {
            Step::Hit | Step::Ask(_) | Step::Fetch => true,
            Step::Ack => *action == Action::Read,
            _ => false,
        };
        let actions = REQUESTS.into_iter().chain([Action::Read]);
        let cells =
            actions.flat_map(move |action| self.cells(table, state, action).map(move |cell| (action, cell)));
        cells.filter(keeps)
    }

    /// The cells that take dirty bytes along to a state from another one in which they may be.
    pub fn dirty_from(&self, table: &Table, state: State) -> Vec<(State, Action)> {
        let others = self.dirty.iter().copied().filter(|from| *from != state);
        let leads = |from: State| {
            let cells =
                self.keeping(table, from).filter(move |(_, cell)| after(table, from, *cell).contains(&state));
            cells.map(move |(action, _)| (from, action))
        };
        others.flat_map(leads).collect()
    }
}

/// Whether a cell stores in the state that it is of. What has asked, or fetched, is stored as the state says that follows.
fn stores_here(cell: Cell) -> bool {
    matches!(cell.step, Step::Hit | Step::Flush | Step::Allocate)
}

/// The states that a parent in `own` may be in after bytes came from one of `children`.
fn merged(table: &Table, children: &[State], own: State) -> Vec<State> {
    let above = children.iter().filter(|child| may_hold(table, own, **child));
    above.flat_map(|child| [table.merged(*child, own), table.merged_answer(*child, own)]).collect()
}

/// The states that may follow where a cell is used.
fn after(table: &Table, state: State, cell: Cell) -> Vec<State> {
    match (cell.next, cell.step) {
        (Next::Same, _) => vec![state],
        (Next::To(next), _) => vec![next],
        (Next::Granted, Step::Ask(request)) => granted(table, state, request),
        (Next::Granted, _) => Vec::new(),
    }
}

/// What may be granted to who asks in a state. While it is exclusive nobody else has a copy, and its parent is exclusive, too.
pub fn granted(table: &Table, state: State, request: MessageKind) -> Vec<State> {
    let is_alone = table.is_exclusive(state);
    let rules = table.directory(request);
    // Behind one that always applies none does.
    let applies = |rule: &DirectoryRule| {
        rule.when == When::Always && (request == MessageKind::Write || !table.is_exclusive(rule.grant))
    };
    let last = rules.iter().position(applies).map_or(rules.len(), |last| last + 1);
    let possible = rules.iter().take(last).filter(|rule| !(is_alone && rule.when == When::OwnedByAnother));
    possible.map(|rule| rule.grant).take(if is_alone { 1 } else { usize::MAX }).collect()
}

/// The request that a node with children serves by a column.
pub fn request_of(column: Action) -> MessageKind {
    match column {
        Action::Store => MessageKind::Write,
        Action::NStore => MessageKind::ReadNc,
        _ => MessageKind::Read,
    }
}

/// Whether a rule has an owner asked for its data.
pub fn asks_owners(table: &Table) -> bool {
    let rules = table.read.iter().chain(&table.read_nc).chain(&table.write);
    rules.into_iter().any(|rule| rule.probe == Probe::ReadOwner)
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
