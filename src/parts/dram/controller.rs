//! A memory controller with queues, which serves first ready, first come first served (UMH, Table III: FR-FCFS).

use std::collections::BTreeMap;
use std::hash::{Hash, Hasher};

use super::channel::{DramChannel, Request};
use super::command::{Commands, Scheduling};
use super::{Array, DramCounters, DramTiming, Piece, share};
use crate::model::inspect::MemoryView;
use crate::model::resource::BankView;
use crate::model::time::{ByteRate, Tick};
use crate::protocol::outbox::About;

/// A read that was asked for, or a write whose end is to be told; it is done once the controller says so.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Read(pub u64);

/// What is left of a read.
#[derive(Clone, Copy, Debug, Hash)]
struct Job {
    /// Rows whose data have not moved.
    rows: u32,
    /// When the last of the data so far are there.
    end: Tick,
}

/// A controller with its DRAM.
#[derive(Clone, Debug)]
pub struct Controller {
    timing: DramTiming,
    scheduling: Scheduling,
    channels: Vec<DramChannel>,
    jobs: BTreeMap<u64, Job>,
    /// Jobs of which all rows have moved, and when the last of their data are there. Follows from the jobs.
    moved: Vec<(u64, Tick)>,
    made: u64,
    /// When it looks again.
    planned: Option<Tick>,
    pub counters: DramCounters,
}

impl Controller {
    /// `rate` is that of all channels together.
    #[must_use]
    pub fn new(timing: DramTiming, scheduling: Scheduling, rate: ByteRate) -> Self {
        let channel = DramChannel::new(timing.banks, share(rate, timing.channels));
        Self {
            timing,
            scheduling,
            channels: vec![channel; timing.channels.max(1) as usize],
            jobs: BTreeMap::new(),
            moved: Vec::new(),
            made: 0,
            planned: None,
            counters: DramCounters { queue_high_water: Some(0), ..DramCounters::default() },
        }
    }

    #[must_use]
    pub fn timing(&self) -> &DramTiming {
        &self.timing
    }

    /// Has the timing, rate and scheduling of `other` from here on.
    pub fn adopt(&mut self, other: &Self) {
        (self.timing, self.scheduling) = (other.timing, other.scheduling);
        for (own, new) in self.channels.iter_mut().zip(&other.channels) {
            own.adopt(new);
        }
    }

    /// Queues a read of `bytes` at a local address.
    pub fn read(&mut self, local: u64, bytes: u32, about: About) -> Read {
        let rows = self.begin(Array::Data, local, bytes, false, about);
        self.await_rows(rows)
    }

    /// Queues a read of a tag and of `bytes` of its data: both must be there. Without bytes, of the tag only.
    pub fn read_tagged(&mut self, local: u64, bytes: u32, about: About) -> Read {
        let mut rows = self.begin(Array::Tags, local, 0, false, about);
        if bytes > 0 {
            self.counters.reads += 1;
            rows += self.queue(Array::Data, local, bytes, false, about);
        }
        self.await_rows(rows)
    }

    /// Queues an access that nobody waits for.
    pub fn touch(&mut self, array: Array, local: u64, bytes: u32, writes: bool, about: About) {
        self.begin(array, local, bytes, writes, about);
    }

    fn await_rows(&mut self, rows: u32) -> Read {
        if rows == 0 {
            self.moved.push((self.made, 0));
        }
        self.jobs.insert(self.made, Job { rows, end: 0 });
        Read(self.made)
    }

    /// Queues a write whose end is told as that of a read is.
    pub fn write_told(&mut self, local: u64, bytes: u32, about: About) -> Read {
        let rows = self.begin(Array::Data, local, bytes, true, about);
        self.await_rows(rows)
    }

    fn begin(&mut self, array: Array, local: u64, bytes: u32, writes: bool, about: About) -> u32 {
        self.made += 1;
        let count = if writes { &mut self.counters.writes } else { &mut self.counters.reads };
        *count += 1;
        self.queue(array, local, bytes, writes, about)
    }

    fn queue(&mut self, array: Array, local: u64, bytes: u32, writes: bool, about: About) -> u32 {
        let mut rows = 0;
        let data = (array == Array::Data).then(|| self.timing.rows(local, bytes));
        let tag = if array == Array::Tags { self.timing.tag(local) } else { None };
        for Piece { channel, bank, row, bytes } in data.into_iter().flatten().chain(tag) {
            let job = self.made;
            if let Some(channel) = self.channels.get_mut(channel) {
                channel.put(Request { job, bank, row, bytes, writes, about, opened: None, passed: 0 });
                rows += 1;
            }
        }
        let waiting: usize = self.channels.iter().map(DramChannel::waiting).sum();
        self.counters.queue_high_water = self.counters.queue_high_water.max(Some(waiting as u32));
        rows
    }

    /// Ticks that the buses and the banks are taken for ahead.
    pub fn ahead(&self, now: Tick) -> (Tick, Tick) {
        let each = self.channels.iter().map(|channel| channel.ahead(now));
        each.fold((0, 0), |all, one| (all.0 + one.0, all.1 + one.1))
    }

    /// Ticks until `now` for which the bank was taken that was taken for longest.
    pub fn busiest_bank(&self, now: Tick) -> Tick {
        self.channels.iter().map(|channel| channel.busiest_bank(now)).max().unwrap_or(0)
    }

    /// Issues all commands that can be issued at `now`.
    pub fn advance(&mut self, now: Tick) -> Commands {
        let mut issued = Commands::new();
        for channel in &mut self.channels {
            let before = issued.len();
            channel.advance(&self.timing, &self.scheduling, now, &mut issued);
            channel.note_taken(issued.get(before..).unwrap_or_default());
        }
        for one in &issued {
            self.counters.banks_busy += one.bank_busy;
            let Some(burst) = one.moves else { continue };
            self.counters.count(one.access, one.bytes, burst.length);
            if let Some(job) = self.jobs.get_mut(&one.job) {
                job.rows = job.rows.saturating_sub(1);
                job.end = job.end.max(burst.end);
                if job.rows == 0 {
                    self.moved.push((one.job, job.end));
                }
            }
        }
        issued
    }

    /// The next read whose data are all there at `now`, oldest first.
    pub fn take_finished(&mut self, now: Tick) -> Option<Read> {
        let done = self.moved.iter().enumerate().filter(|(_, (_, end))| *end <= now);
        let (at, &(job, _)) = done.min_by_key(|(_, (job, _))| *job)?;
        self.moved.swap_remove(at);
        self.jobs.remove(&job);
        Some(Read(job))
    }

    /// When it should look again, if that is not planned yet: then it is from now on.
    pub fn plan(&mut self) -> Option<Tick> {
        let finished = self.moved.iter().map(|(_, end)| *end).min();
        let possible = self.channels.iter().filter_map(DramChannel::due).min();
        let at = [finished, possible].into_iter().flatten().min()?;
        if self.planned.is_some_and(|planned| planned <= at) {
            return None;
        }
        self.planned = Some(at);
        Some(at)
    }

    /// Whether a look planned for `now` is still wanted; it is no longer planned then.
    pub fn is_due(&mut self, now: Tick) -> bool {
        let due = self.planned == Some(now);
        if due {
            self.planned = None;
        }
        due
    }

    /// Whether a look is planned for then.
    #[must_use]
    pub fn is_planned(&self, tick: Tick) -> bool {
        self.planned == Some(tick)
    }

    /// The look that is planned comes later.
    pub fn postpone(&mut self, later: Tick) {
        self.planned = Some(later);
    }

    #[must_use]
    pub fn is_idle(&self) -> bool {
        self.jobs.is_empty() && self.channels.iter().all(|channel| channel.waiting() == 0)
    }

    #[must_use]
    pub fn view(&self) -> MemoryView {
        let waiting = |bank: usize, channel: &DramChannel| {
            channel.reads.iter().chain(&channel.writes).filter(|request| request.bank == bank).count() as u32
        };
        let banks = |channel: &DramChannel, number: u32| -> Vec<BankView> {
            let banks = channel.banks.iter().enumerate();
            banks
                .map(|(bank, state)| BankView {
                    channel: number,
                    bank: bank as u32,
                    open: state.open,
                    waiting: waiting(bank, channel),
                })
                .collect()
        };
        MemoryView {
            reads: self.channels.iter().map(|channel| channel.reads.len() as u32).sum(),
            writes: self.channels.iter().map(|channel| channel.writes.len() as u32).sum(),
            high_water: self.counters.queue_high_water.unwrap_or(0),
            draining: self.channels.iter().any(DramChannel::is_draining),
            banks: (0u32..)
                .zip(&self.channels)
                .flat_map(|(number, channel)| banks(channel, number))
                .collect(),
        }
    }

    pub fn digest(&self, hasher: &mut impl Hasher) {
        (self.made, self.planned, &self.jobs).hash(hasher);
        for channel in &self.channels {
            (channel.hashed(), &channel.banks).hash(hasher);
            for request in channel.reads.iter().chain(&channel.writes) {
                let place = (request.bank, request.row, request.bytes, request.writes);
                (request.job, place, request.opened, request.passed).hash(hasher);
            }
        }
    }
}
