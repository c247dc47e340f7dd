//! Faults of single cells.

use super::reach::{Level, REQUESTS, asks_owners, granted, request_of, unmerged};
use super::{Study, columns};
use crate::model::message::MessageKind;
use crate::model::state::{Action, State};
use crate::protocol::table::{Cell, Next, Probe, Step};

/// What is wrong, and what would be right.
type Fault = (String, String);

impl Study<'_> {
    pub(super) fn cells(&mut self) {
        for level in self.levels() {
            self.fetching(&level);
            for state in level.reachable.clone() {
                self.requests(&level, state);
                if state == State::I {
                    self.absent(&level);
                }
                if [State::I, self.table.conflict()].contains(&state) {
                    continue;
                }
                self.probes(&level, state);
                self.acquired(&level, state);
                self.dirty(&level, state);
            }
        }
        self.missing();
    }

    /// Cells that fetch beside others that ask. What a node has is tracked or not, whether or not it ever fetches.
    fn fetching(&mut self, level: &Level) {
        if !level.uses(self.table, |step, _| matches!(step, Step::Ask(_))) {
            return;
        }
        let rows = self.table.rows.clone();
        let cells = rows.iter().flat_map(|row| REQUESTS.into_iter().map(|action| (row.state, action)));
        for (state, action) in cells {
            if level.cell(self.table, state, action).is_some_and(|cell| cell.step == Step::Fetch) {
                let message = "no directory is told of a copy that is fetched, and other copies here are asked for: none of them would be probed";
                let expected =
                    "a request to the parent, such as `read > granted`, or `fetch` in all cells that ask";
                self.error(&self.place(level, state, action), message.to_owned(), expected);
            }
        }
    }

    /// Loads and stores that are performed where they must not be, or never.
    fn requests(&mut self, level: &Level, state: State) {
        for action in REQUESTS {
            let Some(cell) = level.cell(self.table, state, action) else { continue };
            if !self.is_used(level, (state, action), cell) {
                continue;
            }
            let place = self.place(level, state, action);
            let faults = [
                self.performed(level, (state, action), cell),
                self.sent(level, (state, action), cell),
                self.placed(level, (state, action), cell),
                self.repeated(level, (state, action), cell),
            ];
            for (message, expected) in faults.into_iter().flatten() {
                self.error(&place, message, &expected);
            }
            let stays = level.after(self.table, state, action) == [state];
            if cell.step == Step::Forward && state == State::I && !stays {
                self.warn(
                    &place,
                    &format!("{} is handed on in I, and stays there", action.said()),
                    "`forward`",
                );
            }
        }
    }

    /// Whether a cell is used: in a node with children, of what one of them asks, or hands on and no cell of a leaf performs.
    fn is_used(&self, level: &Level, (state, action): (State, Action), cell: Cell) -> bool {
        let performs = || self.table.performing_cell(state, action) == Some(cell);
        !level.has_children || self.is_asked_in(action) || level.is_handed(action) && performs()
    }

    /// Whether a child sends a request that has to be granted, and that is served by this column.
    fn is_asked_in(&self, action: Action) -> bool {
        self.levels().iter().any(|child| child.asks_for(self.table, action))
    }

    /// What is wrong with performing it here.
    fn performed(&self, level: &Level, (state, action): (State, Action), cell: Cell) -> Option<Fault> {
        if !matches!(cell.step, Step::Hit | Step::Flush) {
            return None;
        }
        let name = action.said();
        let after = level.after(self.table, state, action);
        let (message, expected) = if level.has_children && cell.step == Step::Flush {
            (
                format!("a node with children flushes in {state}, which only a cache without children can"),
                "a cell of [inner], such as `hit`".to_owned(),
            )
        } else if state == State::I {
            (
                format!("{name} is performed in I, where there is no copy"),
                "a request to the parent, such as `read > granted`".to_owned(),
            )
        } else if after.contains(&State::I)
            && (level.tracked.contains(&state) || level.dirty.contains(&state))
        {
            (
                format!(
                    "{name} is performed in {state} and leads to I: the copy is gone, and nobody is told"
                ),
                "a state with a copy; `evict` is how a block leaves".to_owned(),
            )
        } else if let Some((next, grant)) = self.gives_more(level, (state, action), &after) {
            return Some((
                format!(
                    "{name} takes {state} to {next}, which others may share, above a child that is granted {grant}"
                ),
                format!("`hit`, or a state that is as alone as {grant}"),
            ));
        } else if !level.shared(self.table, state) {
            return None;
        } else if action == Action::Store {
            (
                format!("a store is performed in {state}, though others may hold the block"),
                self.or_exclusive(state),
            )
        } else if let Some(next) = after.iter().find(|next| self.table.is_exclusive(**next)) {
            (
                format!("{name} makes {state} the exclusive {next} without asking"),
                "a state that is not exclusive, or `write` as the step".to_owned(),
            )
        } else {
            let next = after.iter().find(|next| self.becomes_owner(state, **next))?;
            let message = format!("{name} makes {state} the owner {next}, and nobody is told");
            (message, "a state that is no owner".to_owned())
        };
        Some((message, expected))
    }

    /// The state in which a node is not alone any more though a child is granted an exclusive one, and that.
    fn gives_more(
        &self,
        level: &Level,
        (state, action): (State, Action),
        after: &[State],
    ) -> Option<(State, State)> {
        let is_asked = level.has_children && self.is_asked_in(action) && self.table.is_exclusive(state);
        let next = after.iter().copied().find(|next| !self.table.is_exclusive(*next)).filter(|_| is_asked)?;
        let grants = self.table.directory(request_of(action)).iter().map(|rule| rule.grant);
        Some((next, grants.into_iter().find(|grant| self.table.is_exclusive(*grant))?))
    }

    /// What is wrong with having the parent do something about it.
    fn sent(&self, level: &Level, (state, action): (State, Action), cell: Cell) -> Option<Fault> {
        let (name, alone) = (action.said(), self.alone());
        let (message, expected) = if let Some(next) = self.takes_more(level, state, action) {
            (
                format!("{name} makes a block {next}, though others may hold what is granted"),
                "`> granted`, or `write` as the step".to_owned(),
            )
        } else if cell.step == Step::Forward && self.is_asked_for(level, action) {
            (
                format!("what a child asks for is handed on in {state}, so that nobody ever grants it"),
                format!("a cell of [inner] that grants, such as `write > {alone}`"),
            )
        } else if self.goes_past(level, (state, action), cell) {
            (
                format!("{name} is handed on in {state}, past what children may have stored"),
                "a cell of [inner] that performs it, such as `hit`".to_owned(),
            )
        } else if cell.step == Step::Forward
            && level.tracked.contains(&state)
            && level.after(self.table, state, action) != [state]
        {
            (
                format!("{name} is handed on in {state}, and its directory is not told where that leads"),
                "`forward`, which stays, and a cell of [inner] that performs it".to_owned(),
            )
        } else if matches!(cell.step, Step::Relay | Step::Both) && self.table.has_directory() {
            (
                format!("only the memory of a GPU that no directory tracks can do `{}`", cell.step.name()),
                format!("a request to the parent, such as `write > {alone}`"),
            )
        } else if let Some((next, grant)) = self.owns_more(level, state, action) {
            (
                format!(
                    "{name} makes a block {next}, an owner, and its directory, which grants {grant}, does not know of one"
                ),
                "`> granted`, or a state that is no owner".to_owned(),
            )
        } else {
            return None;
        };
        Some((message, expected))
    }

    /// What is wrong with taking a place without a request.
    fn placed(&self, level: &Level, (state, action): (State, Action), cell: Cell) -> Option<Fault> {
        if cell.step != Step::Allocate {
            return None;
        }
        let name = action.said();
        if self.table.has_directory() {
            let message = format!("{name} takes a place for a block of which no directory is told");
            return Some((message, format!("a request to the parent, such as `write > {}`", self.alone())));
        }
        let is_whole = state != State::I && !self.table.is_unfetched(state, level.has_children);
        let mut after = level.after(self.table, state, action).into_iter().filter(|_| !is_whole);
        let next = after.find(|next| !self.table.is_unfetched(*next, level.has_children))?;
        let message = format!("{name} makes a block {next} of which only the stored bytes are here");
        Some((message, "a state in whose row load is `fetch`, which brings the others".to_owned()))
    }

    /// What asks, or fetches, and has to do it again when the answer is there.
    fn repeated(&self, level: &Level, (state, action): (State, Action), cell: Cell) -> Option<Fault> {
        if !matches!(cell.step, Step::Ask(_) | Step::Fetch) {
            return None;
        }
        let step = |state: State| level.cell(self.table, state, action).map(|cell| cell.step);
        let next =
            self.comes_back(level, (state, action), &mut vec![state], &|next| step(next) == Some(cell.step))?;
        let name = action.said();
        let message = if cell.step == Step::Fetch {
            format!("{name} fetches the block into {next}, and fetches again there: it never ends")
        } else {
            format!("{name} asks for {next}, and asks again there: it never ends")
        };
        Some((message, format!("a state in whose row {} is `hit`", action.name())))
    }

    /// The first step from a state by cells of one column that do the same, on a way that comes back to where it has been.
    fn comes_back(
        &self,
        level: &Level,
        (state, action): (State, Action),
        way: &mut Vec<State>,
        is_same: &dyn Fn(State) -> bool,
    ) -> Option<State> {
        let after = level.after(self.table, state, action);
        after.into_iter().filter(|next| is_same(*next)).find(|next| {
            if way.contains(next) {
                return true;
            }
            way.push(*next);
            let is_back = self.comes_back(level, (*next, action), way, is_same).is_some();
            way.pop();
            is_back
        })
    }

    /// Whether what a node hands on goes past dirty bytes of its children: only its own go first.
    fn goes_past(&self, level: &Level, (state, action): (State, Action), cell: Cell) -> bool {
        let is_store = cell.step == Step::Forward && action != Action::Load;
        level.has_children && is_store && self.table.has_directory() && level.dirty.contains(&state)
    }

    /// Whether a child of this level sends a request of this column that has to be granted, and not one that is performed.
    fn is_asked_for(&self, level: &Level, action: Action) -> bool {
        let asks = |step: Step, column: Action| column == action && step == Step::Ask(request_of(action));
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

    /// The owner state that a request to read leads to, and a grant with which the directory notes none.
    fn owns_more(&self, level: &Level, state: State, action: Action) -> Option<(State, State)> {
        let request =
            level.asks(self.table, state, action).filter(|request| *request != MessageKind::Write)?;
        if level.cell(self.table, state, action)?.next == Next::Granted {
            return None;
        }
        let next =
            level.after(self.table, state, action).into_iter().find(|next| self.table.is_owner(*next))?;
        let is_unknown = |grant: &State| request == MessageKind::ReadNc || !self.table.is_owner(*grant);
        Some((next, granted(self.table, state, request).into_iter().find(is_unknown)?))
    }

    /// What a probe, or an acquire, makes of a block that is not there.
    fn absent(&mut self, level: &Level) {
        for action in [Action::Read, Action::Write, Action::Acquire] {
            let after = level.after(self.table, State::I, action);
            if let Some(next) = after.iter().find(|next| **next != State::I) {
                let message = format!("{} in I leads to {next}, though no bytes come with it", action.said());
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

    /// A copy that stays old, or leaves without a word. Of one that is tracked it is told, and a cache with children may be one that
    /// only its own side uses.
    fn acquired(&mut self, level: &Level, state: State) {
        let after = level.after(self.table, state, Action::Acquire);
        if level.tracked.contains(&state) {
            let step = |action: Action| level.cell(self.table, state, action).map(|cell| cell.step);
            let leaves = step(Action::Acquire) == Some(Step::Silent) && after.contains(&State::I);
            if leaves && step(Action::Evict).is_some_and(|step| step != Step::Silent) {
                let message = format!(
                    "a copy in {state} leaves at an acquire, and its directory is told of evictions only"
                );
                let expected = "`silent`, which keeps it: others' stores take it back";
                self.error(&self.place(level, state, Action::Acquire), message, expected);
            }
            return;
        }
        if after.iter().all(|next| *next == State::I) {
            return;
        }
        let message =
            format!("a copy in {state} stays at an acquire, and what others have stored is not seen");
        let place = self.place(level, state, Action::Acquire);
        if level.has_children {
            self.warn(&place, &message, "`> I`");
        } else {
            self.error(&place, message, "`> I`");
        }
    }

    /// Dirty bytes that nobody takes.
    fn dirty(&mut self, level: &Level, state: State) {
        if !level.dirty.contains(&state) {
            return;
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
                (Action::Read, Some(Step::Ack)) if level.stored.contains(&state) => {
                    ("a reader elsewhere does not get", "`data`")
                }
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
                    if self.lacks(&level, state, action) {
                        let message =
                            format!("a block in {state} can meet {}, and has no cell for it", action.said());
                        self.error(&self.place(&level, state, action), message, &self.wanted(state, action));
                    }
                }
            }
        }
    }

    /// Whether there is no cell for what a state can meet; for what a child hands on the one that performs it.
    fn lacks(&self, level: &Level, state: State, action: Action) -> bool {
        let is_only_handed = level.is_handed(action) && !self.is_asked_in(action);
        let performing = || self.table.performing_cell(state, action).filter(|_| is_only_handed);
        level.cell(self.table, state, action).or_else(performing).is_none()
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
        let mut writers = self.table.read.iter().chain(&self.table.read_nc).chain(&self.table.write);
        // A block that has just left may still be asked for.
        let tracked = level.tracked.contains(&state) || state == State::I && !level.tracked.is_empty();
        match action {
            Action::Read => tracked && asks_owners(self.table) && self.may_be_owner(level, state),
            Action::Write => tracked && writers.any(|rule| rule.probe == Probe::WriteOthers),
            // Of copies that are tracked, everybody is told that they are old; nobody keeps account of the others in an L1.
            Action::Acquire => {
                let is_known = tracked || state == State::I || state == self.table.conflict();
                !level.has_children && !is_known
            }
            _ => ![State::I, self.table.conflict()].contains(&state),
        }
    }

    /// Whether a directory may name who has a block in this state as its owner: nobody tells it of what happens to the block here.
    fn may_be_owner(&self, level: &Level, state: State) -> bool {
        let owners = || level.tracked.iter().copied().filter(|state| self.table.is_owner(*state));
        if state == State::I {
            return owners().next().is_some();
        }
        level.silently_from(self.table, owners().collect()).contains(&state)
    }
}
