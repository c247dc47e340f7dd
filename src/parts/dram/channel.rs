//! One channel of a DRAM: banks, a data bus, and the requests that wait for them.
//!
//! First ready, first come first served: of the requests whose row is open the oldest moves its data; a bank that no
//! open row keeps busy opens the row of the oldest that waits for it. Younger row hits pass an older request of
//! their bank only so often. Reads go before writes, which gather until there are enough to drain.

use std::collections::VecDeque;
use std::hash::{Hash, Hasher};

use smallvec::SmallVec;

use super::DramTiming;
use super::controller::{Burst, Commands, Issued, Scheduling};
use crate::model::record::RowAccess;
use crate::model::time::{ByteRate, Tick};
use crate::protocol::outbox::About;

/// A bank and its row buffer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Bank {
    pub open: Option<u64>,
    /// Its row was opened for a request that still waits. Follows from the queues.
    is_held: bool,
    /// A row could be opened, while one is looked for.
    is_free: bool,
    /// From when a column of the open row can be asked for.
    column_at: Tick,
    /// From when the row can be closed and another opened.
    row_at: Tick,
}

impl Hash for Bank {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        (self.open, self.column_at, self.row_at).hash(hasher);
    }
}

/// What one access wants of one row.
#[derive(Clone, Debug)]
pub(super) struct Request {
    pub job: u64,
    pub bank: usize,
    pub row: u64,
    pub bytes: u32,
    pub writes: bool,
    pub about: About,
    /// The row was opened for it, and how.
    pub opened: Option<RowAccess>,
    /// Younger row hits of its bank that went before it.
    pub passed: u32,
}

impl Request {
    fn issue(&self, access: RowAccess, moves: Option<Burst>) -> Issued {
        let Self { job, about, row, bytes, writes, .. } = *self;
        Issued { job, about, bank: self.bank as u32, row, bytes, access, writes, moves }
    }
}

/// A channel.
#[derive(Clone, Debug)]
pub(super) struct DramChannel {
    rate: ByteRate,
    pub banks: Vec<Bank>,
    bus_free_at: Tick,
    /// Oldest first.
    pub reads: VecDeque<Request>,
    pub writes: VecDeque<Request>,
    draining: bool,
    /// Before then nothing is possible for those that have been looked at. Follows from the rest.
    due: Tick,
    /// Requests, the last ones of each queue, that have not been looked at, and whose turn it was at the last look.
    fresh: [usize; 2],
    turned: bool,
}

impl DramChannel {
    pub fn new(banks: u32, rate: ByteRate) -> Self {
        Self {
            rate,
            banks: vec![Bank::default(); banks.max(1) as usize],
            bus_free_at: 0,
            reads: VecDeque::new(),
            writes: VecDeque::new(),
            draining: false,
            due: Tick::MAX,
            fresh: [0; 2],
            turned: true,
        }
    }

    /// Has the rate of `other` from here on.
    pub fn adopt(&mut self, other: &Self) {
        self.rate.adopt(other.rate);
        self.due = 0;
    }

    pub fn waiting(&self) -> usize {
        self.reads.len() + self.writes.len()
    }

    pub fn is_draining(&self) -> bool {
        self.draining
    }

    pub fn hashed(&self) -> (ByteRate, Tick, bool) {
        (self.rate, self.bus_free_at, self.draining)
    }

    fn queue(&self, writes: bool) -> &VecDeque<Request> {
        if writes { &self.writes } else { &self.reads }
    }

    fn queue_mut(&mut self, writes: bool) -> &mut VecDeque<Request> {
        if writes { &mut self.writes } else { &mut self.reads }
    }

    pub fn put(&mut self, request: Request) {
        self.fresh[usize::from(request.writes)] += 1;
        self.queue_mut(request.writes).push_back(request);
    }

    /// Issues all commands that can be issued at `now`.
    pub fn advance(
        &mut self,
        timing: &DramTiming,
        scheduling: &Scheduling,
        now: Tick,
        issued: &mut Commands,
    ) {
        self.choose_class(scheduling);
        if self.due > now && self.turn() == self.turned {
            self.due = self.due.min(self.look_at_fresh(timing, scheduling, now));
        } else {
            self.due = now;
        }
        if self.due <= now {
            while self.advance_once(timing, scheduling, now, issued) {}
            self.due = self.next(timing, scheduling, now);
        }
        (self.fresh, self.turned) = ([0; 2], self.turn());
    }

    /// When something may become possible for the requests that have come, at `now` or later.
    fn look_at_fresh(&self, timing: &DramTiming, scheduling: &Scheduling, now: Tick) -> Tick {
        let first = |writes: bool| {
            let queue = self.queue(writes);
            let old = queue.len() - self.fresh[usize::from(writes)].min(queue.len());
            let fresh = queue.iter().take(scheduling.window).skip(old);
            fresh.map(|request| self.possible_at(request, timing).max(now)).min()
        };
        let (reads, writes) = (first(false), first(true));
        reads.unwrap_or(Tick::MAX).min(writes.unwrap_or(Tick::MAX))
    }

    /// Opens rows and moves data once. Whether more may be possible now: another turn, what has come into the window, or a bus that is
    /// free at once.
    fn advance_once(
        &mut self,
        timing: &DramTiming,
        scheduling: &Scheduling,
        now: Tick,
        issued: &mut Commands,
    ) -> bool {
        self.choose_class(scheduling);
        let turn = self.turn();
        self.open_rows(timing, scheduling, now, issued);
        let Some(moved) = self.move_data(timing, scheduling, now) else { return false };
        issued.push(moved);
        self.choose_class(scheduling);
        let is_free = now + timing.cas >= self.bus_free_at;
        is_free || self.turn() != turn || self.queue(turn).len() >= scheduling.window
    }

    /// Writes are drained once enough have gathered, down to half, and whenever no read waits.
    fn choose_class(&mut self, scheduling: &Scheduling) {
        let writes = self.writes.len() as u32;
        let enough = if self.draining { scheduling.writes / 2 } else { scheduling.writes.saturating_sub(1) };
        self.draining = writes > enough;
    }

    /// Whether it is the turn of the writes.
    fn turn(&self) -> bool {
        self.draining || self.reads.is_empty()
    }

    /// Opens the row of the oldest request of every bank that no open row keeps busy.
    fn open_rows(&mut self, timing: &DramTiming, scheduling: &Scheduling, now: Tick, issued: &mut Commands) {
        let writes = self.turn();
        let queue = if writes { &self.writes } else { &self.reads };
        let mut free = 0;
        for bank in &mut self.banks {
            bank.is_free = !bank.is_held && bank.row_at <= now;
            free += u32::from(bank.is_free);
        }
        let mut opened: SmallVec<[(usize, RowAccess); 4]> = SmallVec::new();
        for (index, request) in queue.iter().take(scheduling.window).enumerate() {
            if free == 0 {
                break;
            }
            let Some(bank) = self.banks.get_mut(request.bank).filter(|bank| bank.is_free) else { continue };
            bank.is_free = false;
            free -= 1;
            let may_wait = !timing.always_reopen && request.passed < scheduling.row_hit_cap;
            let (wait, access) = timing.opening(bank.open, request.row);
            let hits = |other: &Request| other.bank == request.bank && bank.open == Some(other.row);
            if access == RowAccess::Hit || (may_wait && queue.iter().take(scheduling.window).any(hits)) {
                continue;
            }
            let at = now + wait;
            *bank =
                Bank { open: Some(request.row), is_held: true, is_free: false, column_at: at, row_at: at };
            opened.push((index, access));
        }
        let queue = self.queue_mut(writes);
        for (index, access) in opened {
            if let Some(request) = queue.get_mut(index) {
                request.opened = Some(access);
                issued.push(request.issue(access, None));
            }
        }
    }

    /// The next request to move its data moves them.
    fn move_data(&mut self, timing: &DramTiming, scheduling: &Scheduling, now: Tick) -> Option<Issued> {
        // The choice is put off until the bus is about to be free: a better request may come.
        if now + timing.cas < self.bus_free_at {
            return None;
        }
        let (writes, index) = self.ready(timing, scheduling, now)?;
        let queue = self.queue_mut(writes);
        let request = queue.remove(index)?;
        for older in queue.iter_mut().take(index).filter(|older| older.bank == request.bank) {
            older.passed = older.passed.saturating_add(1);
        }
        let length = self.rate.occupy(u64::from(request.bytes));
        let end = now + timing.cas + length;
        self.bus_free_at = end;
        if let Some(bank) = self.banks.get_mut(request.bank) {
            (bank.column_at, bank.row_at) = (now + length, end);
            bank.is_held &= request.opened.is_none();
        }
        Some(request.issue(request.opened.unwrap_or(RowAccess::Hit), Some(Burst { length, end })))
    }

    /// Class and index of the oldest request whose row is open, of the class whose turn it is; or one of the other
    /// class that had its row opened before the turn changed.
    fn ready(&self, timing: &DramTiming, scheduling: &Scheduling, now: Tick) -> Option<(bool, usize)> {
        let is_open = |request: &Request| {
            let bank = self.banks.get(request.bank);
            bank.is_some_and(|bank| bank.column_at <= now && bank.open == Some(request.row))
        };
        let turn = self.turn();
        // Banks whose oldest has been passed often enough.
        let mut due: SmallVec<[usize; 16]> = SmallVec::new();
        for (index, request) in self.queue(turn).iter().take(scheduling.window).enumerate() {
            let may_hit = !timing.always_reopen && !due.contains(&request.bank);
            if is_open(request) && (request.opened.is_some() || may_hit) {
                return Some((turn, index));
            }
            if request.passed >= scheduling.row_hit_cap {
                due.push(request.bank);
            }
        }
        let mut other = self.queue(!turn).iter().take(scheduling.window);
        let index = other.position(|request| request.opened.is_some() && is_open(request))?;
        Some((!turn, index))
    }

    /// When something may become possible, if nothing comes before.
    #[must_use]
    pub fn due(&self) -> Option<Tick> {
        (self.due < Tick::MAX).then_some(self.due)
    }

    /// When something may become possible after `now`, or never.
    fn next(&self, timing: &DramTiming, scheduling: &Scheduling, now: Tick) -> Tick {
        let bus = self.bus_free_at.saturating_sub(timing.cas);
        let all = self.banks.iter().flat_map(|bank| [bank.row_at, bank.column_at.max(bus)]);
        // No request can come before the first bank.
        let Some(least) = all.filter(|at| *at > now).min() else { return Tick::MAX };
        let mut first = Tick::MAX;
        for queue in [&self.reads, &self.writes] {
            for request in queue.iter().take(scheduling.window) {
                let at = self.possible_at(request, timing);
                if at == least {
                    return least;
                }
                if at > now {
                    first = first.min(at);
                }
            }
        }
        first
    }

    /// When something may become possible for a request.
    fn possible_at(&self, request: &Request, timing: &DramTiming) -> Tick {
        let Some(bank) = self.banks.get(request.bank) else { return Tick::MAX };
        let hits = bank.open == Some(request.row) && !timing.always_reopen;
        if hits || request.opened.is_some() {
            bank.column_at.max(self.bus_free_at.saturating_sub(timing.cas))
        } else {
            bank.row_at
        }
    }
}
