//! A protocol as a value: the paper's table, what the directory does for each request, and how data merge.

use std::fmt;
use std::ops::{Deref, DerefMut};

use crate::model::message::MessageKind;
use crate::model::state::{Action, State};

/// What a node does first when an action meets a block in some state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Step {
    /// Perform it here.
    Hit,
    /// Ask the parent for permission: `Read`, `ReadNc` or `Write`.
    Ask(MessageKind),
    /// Ask the parent for the bytes only; the directory does not track the copy.
    Fetch,
    /// Have the parent perform it (write-through), updating a copy that is here. Dirty bytes of the block go first.
    Forward,
    /// Take a place without asking anybody, and perform it there: only what is stored counts.
    Allocate,
    /// Send the dirty bytes to the parent but stay, then perform it here. Of a node without children.
    Flush,
    /// Have the parent perform it, and answer at once: nothing stays here.
    Relay,
    /// Perform it here, and have the parent perform it too.
    Both,
    /// Of a probe: answer with data.
    Data,
    /// Of a probe: answer without data; or nothing to do.
    Ack,
    /// Of an eviction or an acquire: send the dirty bytes to the parent.
    Writeback,
    /// Of an eviction: tell the parent.
    Notify,
    /// Of an eviction or an acquire: tell nobody.
    Silent,
}

impl Step {
    /// The word for it in a protocol file.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Hit => "hit",
            Self::Ask(request) => request.name(),
            Self::Fetch => "fetch",
            Self::Forward => "forward",
            Self::Allocate => "allocate",
            Self::Flush => "flush",
            Self::Relay => "relay",
            Self::Both => "both",
            Self::Data => "data",
            Self::Ack => "ack",
            Self::Writeback => "writeback",
            Self::Notify => "notify",
            Self::Silent => "silent",
        }
    }
}

/// The state afterwards.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Next {
    Same,
    To(State),
    /// Whatever the parent grants.
    Granted,
}

/// One cell of the table. An absent cell cannot happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Cell {
    pub step: Step,
    pub next: Next,
}

/// As a protocol file writes it.
impl fmt::Display for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.step.name())?;
        match self.next {
            Next::Same => Ok(()),
            Next::To(state) => write!(f, " > {state}"),
            Next::Granted => f.write_str(" > granted"),
        }
    }
}

/// How much of a block a state means to be here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Presence {
    /// All of it, or nothing.
    Whole,
    /// Some of its bytes.
    Partial,
    /// Nothing: another block stands in its only place.
    Conflict,
}

/// A row: a stable state and what it means to the engine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    pub state: State,
    /// May be written without asking, and children may be given exclusive copies.
    pub exclusive: bool,
    /// The directory of the parent names this child as the one that supplies the data.
    pub owner: bool,
    /// May hold bytes that others do not see (non-coherent).
    pub noncoherent: bool,
    pub presence: Presence,
    /// Cells by [`Action::index`], for a node without children (an L1).
    pub leaf: [Option<Cell>; Action::ALL.len()],
    /// The same for a node with children: `load`, `store` and `n-store` are a child's read, write and read-nc.
    pub inner: [Option<Cell>; Action::ALL.len()],
}

/// The rows of a table, each found by its state without a look at the others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rows {
    list: Vec<Row>,
    /// The position of the row of each letter.
    places: [u8; LETTERS],
}

/// States that there can be.
const LETTERS: usize = 26;

impl Rows {
    /// The position of the row of a state.
    #[must_use]
    pub fn position(&self, state: State) -> Option<usize> {
        let place = *self.places.get(usize::from(state.0.wrapping_sub(b'A')))?;
        Some(usize::from(place)).filter(|place| *place < self.list.len())
    }
}

impl From<Vec<Row>> for Rows {
    /// In the same order.
    fn from(list: Vec<Row>) -> Self {
        let mut places = [u8::MAX; LETTERS];
        for (position, row) in list.iter().enumerate().rev() {
            if let Some(place) = places.get_mut(usize::from(row.state.0.wrapping_sub(b'A'))) {
                *place = position as u8;
            }
        }
        Self { list, places }
    }
}

impl Deref for Rows {
    type Target = [Row];

    fn deref(&self) -> &[Row] {
        &self.list
    }
}

impl DerefMut for Rows {
    /// What a state means and does can be changed; which state a row is for cannot.
    fn deref_mut(&mut self) -> &mut [Row] {
        &mut self.list
    }
}

/// When a directory rule applies. The first rule of a request whose condition holds is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum When {
    Always,
    /// Another child than the requester is the owner.
    OwnedByAnother,
    /// No other child than the requester has a copy.
    NoOtherSharers,
}

/// Whom a directory rule probes, before it grants.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Probe {
    Nobody,
    /// A read probe to the owner.
    ReadOwner,
    /// A write probe to every other holder.
    WriteOthers,
}

/// One line of the directory's part of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct DirectoryRule {
    pub when: When,
    pub probe: Probe,
    /// The state granted. A state marked exclusive is granted to a read only if this node is itself exclusive
    /// (or the root); otherwise the rules that follow are tried.
    pub grant: State,
}

/// What a node does with a block that it may not keep: whose home is another memory, or that somebody beyond the network
/// may have. Such a block is `I` here, whatever happens. Cells by [`Action::index`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Uncached {
    pub leaf: [Option<Cell>; Action::ALL.len()],
    pub inner: [Option<Cell>; Action::ALL.len()],
}

/// A protocol.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Table {
    pub name: String,
    pub title: String,
    pub source: String,
    /// In the order of the file; `I` is one of them.
    pub rows: Rows,
    pub read: Vec<DirectoryRule>,
    pub read_nc: Vec<DirectoryRule>,
    pub write: Vec<DirectoryRule>,
    /// When dirty bytes arrive from a child in state `.0`: this node goes from `.1` to `.2`.
    pub merge: Vec<(State, State, State)>,
    /// The same for dirty bytes in the answer to a probe. Differs from `merge` only where a protocol says so
    /// (Multi2Sim: a parent keeps `E` when a probed child gives its data, and becomes `M` when the child evicts them).
    pub answer_merge: Vec<(State, State, State)>,
    /// For caches that keep some blocks only.
    pub uncached: Option<Uncached>,
}

impl Table {
    #[must_use]
    pub fn row(&self, state: State) -> Option<&Row> {
        self.rows.get(self.rows.position(state)?)
    }

    /// The cell for `action` on a block in `state`.
    #[must_use]
    pub fn cell(&self, state: State, action: Action, has_children: bool) -> Option<Cell> {
        let row = self.row(state)?;
        let cells = if has_children { &row.inner } else { &row.leaf };
        cells.get(action.index()).copied().flatten()
    }

    /// The cell by which a node with children performs what a child hands on: that of a leaf, unless a leaf only hands it on itself.
    #[must_use]
    pub fn performing_cell(&self, state: State, action: Action) -> Option<Cell> {
        let leaf = self.cell(state, action, false);
        let own = leaf.filter(|cell| !matches!(cell.step, Step::Fetch | Step::Forward));
        own.or_else(|| self.cell(state, action, true))
    }

    /// The position of the row of a state, and the cell for `action` in a node without children.
    #[must_use]
    pub fn leaf_cell(&self, state: State, action: Action) -> Option<(usize, Cell)> {
        let position = self.rows.position(state)?;
        let cell = self.rows.get(position)?.leaf.get(action.index()).copied().flatten()?;
        Some((position, cell))
    }

    /// The cell for `action` on a block that may not be kept.
    #[must_use]
    pub fn uncached_cell(&self, action: Action, has_children: bool) -> Option<Cell> {
        let rows = self.uncached.as_ref()?;
        let cells = if has_children { &rows.inner } else { &rows.leaf };
        cells.get(action.index()).copied().flatten()
    }

    /// The state of a block after what was dirty of it was written back, if it stays: as alone as before.
    #[must_use]
    pub fn cleaned(&self, state: State) -> Option<State> {
        let row = self.row(state)?;
        let is_clean = |other: &&Row| {
            let evicted = other.leaf.get(Action::Evict.index()).copied().flatten();
            let leaves_clean = evicted.is_some_and(|cell| cell.step != Step::Writeback);
            other.exclusive == row.exclusive && other.state != State::I && !other.noncoherent && leaves_clean
        };
        self.rows.iter().find(is_clean).map(|other| other.state)
    }

    /// Whether it has a state in which a copy may hold bytes that others do not see.
    #[must_use]
    pub fn is_noncoherent(&self) -> bool {
        self.rows.iter().any(|row| row.noncoherent)
    }

    /// Whether a cache, with children or without, keeps what was stored there from others, and no fence makes it write that back.
    #[must_use]
    pub fn keeps_stores(&self, has_children: bool) -> bool {
        let cells = |row: &Row| if has_children { row.inner } else { row.leaf };
        let is_had = |row: &Row| cells(row).iter().any(Option::is_some);
        let is_released = |row: &Row| cells(row).get(Action::Acquire.index()).is_some_and(Option::is_some);
        self.rows.iter().any(|row| row.noncoherent && is_had(row) && !is_released(row))
    }

    /// Whether what is stored coherently, in a cache with children or without, may stay where others do not see it before a fence.
    #[must_use]
    pub fn hides_stores(&self, has_children: bool) -> bool {
        let cells = |row: &Row| if has_children { row.inner } else { row.leaf };
        let cell = |row: &Row, action: Action| cells(row).get(action.index()).copied().flatten();
        let hides = |row: &Row| row.noncoherent && cell(row, Action::Acquire).is_some();
        let after = |cell: Cell| if let Next::To(state) = cell.next { self.row(state) } else { None };
        let mut stores = self.rows.iter().filter_map(|row| cell(row, Action::Store));
        stores.any(|store| after(store).is_some_and(hides))
    }

    /// Whether a cache without children fetches copies that nobody tracks.
    #[must_use]
    pub fn fetches(&self) -> bool {
        self.fetches_with(false)
    }

    /// The same of a cache with children, or without.
    #[must_use]
    pub fn fetches_with(&self, has_children: bool) -> bool {
        let cells = |row: &Row| if has_children { row.inner } else { row.leaf };
        self.rows.iter().any(|row| cells(row).iter().flatten().any(|cell| cell.step == Step::Fetch))
    }

    /// What a cache, with children or without, may ask its parent for.
    pub fn requests(&self, has_children: bool) -> impl Iterator<Item = MessageKind> {
        let cells = self.rows.iter().flat_map(move |row| if has_children { row.inner } else { row.leaf });
        cells.flatten().filter_map(|cell| if let Step::Ask(kind) = cell.step { Some(kind) } else { None })
    }

    /// What a cache, with children or without, has its parent perform.
    pub fn passes_up(&self, has_children: bool) -> impl Iterator<Item = Action> {
        let cells = self.rows.iter().flat_map(move |row| {
            Action::ALL.into_iter().zip(if has_children { row.inner } else { row.leaf })
        });
        let is_passed = |cell: &Cell| matches!(cell.step, Step::Fetch | Step::Forward);
        cells.filter(move |(_, cell)| cell.as_ref().is_some_and(is_passed)).map(|(action, _)| action)
    }

    /// What a cache may ask its parent for, to perform what a child has passed up.
    pub fn requests_to_perform(&self, action: Action) -> impl Iterator<Item = MessageKind> {
        let cells = self.rows.iter().filter_map(move |row| row.leaf.get(action.index()).copied().flatten());
        cells.filter_map(|cell| if let Step::Ask(kind) = cell.step { Some(kind) } else { None })
    }

    #[must_use]
    pub fn is_exclusive(&self, state: State) -> bool {
        self.row(state).is_some_and(|row| row.exclusive)
    }

    /// Whether a cache, with children or without, has of a block in this state only what was stored there: a load fetches the rest.
    #[must_use]
    pub fn is_unfetched(&self, state: State, has_children: bool) -> bool {
        let load = self.cell(state, Action::Load, has_children);
        state != State::I && load.is_some_and(|cell| cell.step == Step::Fetch)
    }

    /// Whether only some bytes of a block in this state are here.
    #[must_use]
    pub fn is_partial(&self, state: State) -> bool {
        self.row(state).is_some_and(|row| row.presence == Presence::Partial)
    }

    /// The state of a block in whose only place another one stands.
    #[must_use]
    pub fn conflict(&self) -> State {
        self.rows.iter().find(|row| row.presence == Presence::Conflict).map_or(State::I, |row| row.state)
    }

    #[must_use]
    pub fn is_owner(&self, state: State) -> bool {
        self.row(state).is_some_and(|row| row.owner)
    }

    /// The state of a node in `own` after dirty bytes of a child that was in `child` were merged.
    #[must_use]
    pub fn merged(&self, child: State, own: State) -> State {
        after(&self.merge, child, own)
    }

    /// The same after the answer to a probe.
    #[must_use]
    pub fn merged_answer(&self, child: State, own: State) -> State {
        after(&self.answer_merge, child, own)
    }

    /// Whether anybody keeps account of who has copies.
    #[must_use]
    pub fn has_directory(&self) -> bool {
        [&self.read, &self.read_nc, &self.write].into_iter().any(|rules| !rules.is_empty())
    }

    /// Of the states that a request may be granted, the one that lets its holder do least; where no directory grants any, of all
    /// that there are.
    #[must_use]
    pub fn weakest_grant(&self, request: MessageKind) -> Option<State> {
        let rules = self.directory(request);
        let is_granted = |state: State| rules.is_empty() || rules.iter().any(|rule| rule.grant == state);
        let granted = self.rows.iter().filter(|row| row.state != State::I && is_granted(row.state));
        let least = |row: &&Row| (row.exclusive, row.owner, row.noncoherent, row.presence != Presence::Whole);
        granted.min_by_key(least).map(|row| row.state)
    }

    /// What the directory does for a request of this kind.
    #[must_use]
    pub fn directory(&self, request: MessageKind) -> &[DirectoryRule] {
        match request {
            MessageKind::Read => &self.read,
            MessageKind::ReadNc => &self.read_nc,
            MessageKind::Write => &self.write,
            _ => &[],
        }
    }
}

/// The state after dirty bytes of a child were merged, where a list of the child's, its own before and its own after has them.
fn after(merges: &[(State, State, State)], child: State, own: State) -> State {
    let found = merges.iter().find(|(from, before, _)| *from == child && *before == own);
    found.map_or(own, |(_, _, after)| *after)
}
