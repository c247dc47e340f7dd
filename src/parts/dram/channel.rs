//! One channel of a DRAM: banks, a data bus, and the requests that wait for them.
//!
//! First ready, first come first served: of the requests whose row is open the oldest moves its data; a bank that no
//! open row keeps busy opens the row of the oldest that waits for it. Younger row hits pass an older request of
//! their bank only so often. Reads go before writes, which gather until there are enough to drain. Where the memory is a
//! cache, what has come is written before it is read: a read does not pass an older write of its row.

use std::collections::VecDeque;
use std::hash::{Hash, Hasher};

use smallvec::SmallVec;

use super::DramTiming;
use super::booked::Booked;
use super::command::{Burst, Commands, Issued, Scheduling};
use super::gaps::Bounds;
use crate::model::bits::Bits;
use crate::model::record::RowAccess;
use crate::model::time::{ByteRate, Tick};
use crate::protocol::outbox::About;

/// A bank and its row buffer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Bank {
    pub open: Option<u64>,
    /// Its row was opened for a request that still waits. Follows from the queues.
    is_held: bool,
    /// From when a column of the open row can be asked for.
    column_at: Tick,
    /// Until when the row is being opened, or its data move.
    taken_until: Tick,
    /// From when the row can be closed and another opened.
    closes_at: Tick,
    /// Ticks for which it was ever taken.
    taken: Tick,
}

impl Hash for Bank {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        (self.open, self.column_at, self.taken_until, self.closes_at).hash(hasher);
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
    fn issue(&self, access: RowAccess, bank_busy: Tick, moves: Option<Burst>) -> Issued {
        let Self { job, about, row, bytes, writes, .. } = *self;
        Issued { job, about, bank: self.bank as u32, row, bytes, access, writes, bank_busy, moves }
    }
}

/// A channel.
#[derive(Clone, Debug)]
pub(super) struct DramChannel {
    rate: ByteRate,
    pub banks: Vec<Bank>,
    bus_free_at: Tick,
    /// When the bus moves bytes ahead.
    bus: Booked,
    bounds: Bounds,
    /// Oldest first.
    pub reads: VecDeque<Request>,
    pub writes: VecDeque<Request>,
    draining: bool,
    /// The last drain has kept reads waiting: they go before the next one.
    reads_due: bool,
    /// Before then nothing is possible but for what comes meanwhile. Follows from the rest.
    due: Tick,
}

impl DramChannel {
    pub fn new(banks: u32, rate: ByteRate) -> Self {
        Self {
            rate,
            banks: vec![Bank::default(); banks.max(1) as usize],
            bus_free_at: 0,
            bus: Booked::default(),
            bounds: Bounds::default(),
            reads: VecDeque::new(),
            writes: VecDeque::new(),
            draining: false,
            reads_due: false,
            due: Tick::MAX,
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

    pub fn hashed(&self) -> (ByteRate, Tick, Bounds, [bool; 2]) {
        (self.rate, self.bus_free_at, self.bounds, [self.draining, self.reads_due])
    }

    fn queue(&self, writes: bool) -> &VecDeque<Request> {
        if writes { &self.writes } else { &self.reads }
    }

    fn queue_mut(&mut self, writes: bool) -> &mut VecDeque<Request> {
        if writes { &mut self.writes } else { &mut self.reads }
    }

    pub fn put(&mut self, request: Request) {
        self.due = 0;
        self.queue_mut(request.writes).push_back(request);
    }

    /// Ticks that the bus and the banks are taken for ahead.
    pub fn ahead(&self, now: Tick) -> (Tick, Tick) {
        let banks = self.banks.iter().map(|bank| bank.taken_until.saturating_sub(now));
        (self.bus.ahead(now), banks.sum())
    }

    /// Ticks until `now` for which the bank was taken that was taken for longest.
    pub fn busiest_bank(&self, now: Tick) -> Tick {
        let each =
            self.banks.iter().map(|bank| bank.taken.saturating_sub(bank.taken_until.saturating_sub(now)));
        each.max().unwrap_or(0)
    }

    /// Counts for what its banks are taken by commands of this channel.
    pub fn note_taken(&mut self, issued: &[Issued]) {
        for one in issued {
            if let Some(bank) = self.banks.get_mut(one.bank as usize) {
                bank.taken += one.bank_busy;
            }
        }
    }

    /// Issues all commands that can be issued at `now`.
    pub fn advance(
        &mut self,
        timing: &DramTiming,
        scheduling: &Scheduling,
        now: Tick,
        issued: &mut Commands,
    ) {
        if self.due > now {
            return;
        }
        while self.advance_once(timing, scheduling, now, issued) {}
        self.due = self.next(timing, scheduling, now);
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
        self.choose_class(timing, scheduling);
        let turn = self.turn();
        self.open_rows(timing, scheduling, now, issued);
        let Some(moved) = self.move_data(timing, scheduling, now) else { return false };
        self.reads_due &= moved.writes;
        issued.push(moved);
        self.choose_class(timing, scheduling);
        let is_free = now + timing.cas >= self.bus_free_at;
        is_free || self.turn() != turn || self.queue(turn).len() >= scheduling.window
    }

    /// Writes are drained once enough have gathered, down to half, and whenever no read waits. Between two drains a read goes that
    /// waited: it may ask for its column only some time after a write (tCDLR), in which enough may gather again.
    fn choose_class(&mut self, timing: &DramTiming, scheduling: &Scheduling) {
        let writes = self.writes.len() as u32;
        let enough = if self.draining { scheduling.writes / 2 } else { scheduling.writes.saturating_sub(1) };
        let owed = timing.tags.is_some() && self.has_read_behind_its_write();
        let drained = std::mem::replace(&mut self.draining, owed || writes > enough && !self.reads_due);
        if drained && !self.draining {
            self.reads_due = timing.gaps.write_to_read > 0;
        }
        self.reads_due &= !self.reads.is_empty();
    }

    /// Whether a read wants what an older write has not written yet.
    fn has_read_behind_its_write(&self) -> bool {
        let is_behind = |read: &Request, write: &Request| {
            (write.bank, write.row) == (read.bank, read.row) && write.job < read.job
        };
        self.reads.iter().any(|read| self.writes.iter().any(|write| is_behind(read, write)))
    }

    /// Whether it is the turn of the writes.
    fn turn(&self) -> bool {
        self.draining || self.reads.is_empty()
    }

    /// Opens the row of the oldest request of every bank that no open row keeps busy.
    fn open_rows(&mut self, timing: &DramTiming, scheduling: &Scheduling, now: Tick, issued: &mut Commands) {
        let writes = self.turn();
        let mut looked = Bits::new(self.banks.len() as u32);
        for index in 0..self.queue(writes).len().min(scheduling.window) {
            let Some(request) = self.queue(writes).get(index) else { break };
            let (bank, row) = (request.bank, request.row);
            let Some(state) = self.banks.get(bank).copied() else { continue };
            if state.is_held || state.closes_at > now || looked.get(bank as u32) {
                continue;
            }
            looked.set(bank as u32, true);
            let may_wait = !timing.always_reopen && request.passed < scheduling.row_hit_cap;
            let (wait, access) = timing.opening(state.open, row);
            if access == RowAccess::Hit || (may_wait && self.has_hit(bank, scheduling)) {
                continue;
            }
            if self.bounds.opens_at(timing, wait) > now {
                // Younger ones would put it off again and again.
                break;
            }
            let opened = now + wait;
            self.bounds.open(timing, opened);
            if let Some(state) = self.banks.get_mut(bank) {
                let closes_at = timing.closes_after_opening(opened);
                let held = Bank { open: Some(row), is_held: true, ..*state };
                *state = Bank { column_at: opened, taken_until: opened, closes_at, ..held };
            }
            if let Some(request) = self.queue_mut(writes).get_mut(index) {
                request.opened = Some(access);
                issued.push(request.issue(access, wait, None));
            }
        }
    }

    /// Whether a request whose turn it is hits the open row of the bank.
    fn has_hit(&self, bank: usize, scheduling: &Scheduling) -> bool {
        let open = self.banks.get(bank).and_then(|bank| bank.open);
        let mut seen = self.queue(self.turn()).iter().take(scheduling.window);
        seen.any(|request| request.bank == bank && open == Some(request.row))
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
        self.bus.book(end - length, end, now);
        if writes {
            self.bounds.write(timing, end);
        }
        let mut busy = 0;
        if let Some(bank) = self.banks.get_mut(request.bank) {
            // From when its row was open, or else from when it is asked; never twice.
            let asked = if request.opened.is_some() { bank.column_at } else { now };
            busy = end.saturating_sub(asked.max(bank.taken_until));
            (bank.column_at, bank.taken_until) = (now + length, end);
            bank.closes_at = bank.closes_at.max(timing.closes_after_data(end, writes));
            bank.is_held &= request.opened.is_none();
        }
        Some(request.issue(request.opened.unwrap_or(RowAccess::Hit), busy, Some(Burst { length, end })))
    }

    /// Class and index of the oldest request whose row is open, of the class whose turn it is; or one of the other
    /// class that had its row opened before the turn changed.
    fn ready(&self, timing: &DramTiming, scheduling: &Scheduling, now: Tick) -> Option<(bool, usize)> {
        let is_open = |request: &Request| {
            let bank = self.banks.get(request.bank);
            bank.is_some_and(|bank| bank.column_at <= now && bank.open == Some(request.row))
                && self.bounds.column_at(request.writes) <= now
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
        let at = |request: &Request| {
            let bank = self.banks.get(request.bank)?;
            let hits = bank.open == Some(request.row) && !timing.always_reopen;
            let at = if hits || request.opened.is_some() {
                bank.column_at.max(bus).max(self.bounds.column_at(request.writes))
            } else {
                bank.closes_at.max(self.bounds.opens_at(timing, timing.opening(bank.open, request.row).0))
            };
            (at > now).then_some(at)
        };
        let first = |queue: &VecDeque<Request>| queue.iter().take(scheduling.window).filter_map(at).min();
        let (reads, writes) = (first(&self.reads), first(&self.writes));
        reads.unwrap_or(Tick::MAX).min(writes.unwrap_or(Tick::MAX))
    }
}
