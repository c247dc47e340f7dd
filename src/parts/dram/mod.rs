//! The DRAM behind a directory: channels with banks, row buffers and a data bus each, and the controller that
//! decides what they do next.

mod booked;
mod channel;
mod command;
mod controller;
mod gaps;
mod in_order;
mod tags;
#[cfg(test)]
mod tests;

use std::hash::Hasher;

use smallvec::SmallVec;

use crate::model::address::{Address, Range};
use crate::model::inspect::MemoryView;
use crate::model::record::RowAccess;
use crate::model::time::{ByteRate, Tick};
use crate::protocol::interleave::fold;

pub use command::Scheduling;
pub use controller::{Controller, Read};
pub use gaps::Gaps;
pub use in_order::InOrder;
pub use tags::TagBanks;

/// Timing and shape of one DRAM.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DramTiming {
    /// Channels; each has banks and a data bus of its own.
    pub channels: u32,
    /// Banks of a channel.
    pub banks: u32,
    /// Bytes of a row buffer.
    pub row: u32,
    /// Neighbouring bytes in one bank, before the next one has its turn: at most a row, of which it is a divisor.
    pub interleave: u32,
    /// From a column command to the first byte.
    pub cas: Tick,
    /// Opening a row.
    pub activate: Tick,
    /// Closing a row.
    pub precharge: Tick,
    /// What has to pass between commands.
    pub gaps: Gaps,
    /// Pieces are dealt over channels and banks by all bits of their numbers, so that strides of a power of two do not all fall to the
    /// same bank. Channels times banks is a power of two, and none has tags.
    pub hashed: bool,
    /// Every access closes the open row and opens its own (an SMD request: UMH, section 5.4).
    pub always_reopen: bool,
    /// Bytes that an access moves at least, a power of two.
    pub access: u32,
    /// Banks with the tags of what the others hold.
    pub tags: Option<TagBanks>,
}

/// What of a memory is accessed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Array {
    Data,
    /// The tag of the data at the address.
    Tags,
}

/// A part of an access that falls to one row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Piece {
    channel: usize,
    bank: usize,
    /// Within its bank.
    row: u64,
    bytes: u32,
}

impl DramTiming {
    /// Where a piece of data lies, by its number. Pieces are dealt over channels first, then over banks, so that neighbours can be
    /// opened at once.
    fn place(&self, piece: u64, bytes: u32) -> Piece {
        let tags = self.tags.map_or(0, |tags| tags.banks);
        let (channels, banks) = (u64::from(self.channels.max(1)), u64::from((self.banks - tags).max(1)));
        let of_a_row = u64::from((self.row / self.interleave.max(1)).max(1));
        let all = channels * banks;
        let place = if self.hashed { fold(piece, all) } else { piece % all };
        let (channel, bank) = ((place % channels) as usize, (place / channels) as usize);
        Piece { channel, bank, row: piece / all / of_a_row, bytes }
    }

    /// The rows that `bytes` at a local address touch, with how many of them fall to each.
    fn rows(&self, local: u64, bytes: u32) -> SmallVec<[Piece; 2]> {
        let unit = u64::from(self.access.max(1));
        let local = self.tags.map_or(local, |tags| tags.wrapped(local));
        let end = local.saturating_add(u64::from(bytes.max(1))).next_multiple_of(unit);
        let local = local - local % unit;
        let size = self.interleave.max(1);
        let mut rows = SmallVec::<[Piece; 2]>::new();
        for start in Range::new(Address(local), (end - local) as u32).blocks(size) {
            let (from, to) = (start.0.max(local), start.0.saturating_add(u64::from(size)).min(end));
            let piece = self.place(start.0 / u64::from(size), to.saturating_sub(from) as u32);
            let same =
                |row: &&mut Piece| (row.channel, row.bank, row.row) == (piece.channel, piece.bank, piece.row);
            match rows.iter_mut().find(same) {
                Some(row) => row.bytes += piece.bytes,
                None => rows.push(piece),
            }
        }
        rows
    }

    /// How long a row takes to be opened in a bank, and what that is called.
    fn opening(&self, open: Option<u64>, row: u64) -> (Tick, RowAccess) {
        match open {
            Some(_) if self.always_reopen => (self.precharge + self.activate, RowAccess::Reopen),
            None if self.always_reopen => (self.activate, RowAccess::Reopen),
            Some(open) if open == row => (0, RowAccess::Hit),
            Some(_) => (self.precharge + self.activate, RowAccess::Conflict),
            None => (self.activate, RowAccess::Miss),
        }
    }
}

/// What a DRAM counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DramCounters {
    /// By [`RowAccess`].
    pub rows: [u64; RowAccess::ALL.len()],
    pub reads: u64,
    pub writes: u64,
    pub bytes: u64,
    /// Ticks in which a data bus moved bytes, summed over the channels.
    pub busy: Tick,
    /// Ticks in which a bank was taken, from when it began to open a row or was asked for a column until the data had moved; summed
    /// over the banks.
    pub banks_busy: Tick,
    /// Ticks that accesses to rows waited for their bank, and then for the bus. A controller, which puts them off for better ones,
    /// does not count them.
    pub waited: (Tick, Tick),
    /// Most pieces of requests that ever waited at once for a controller; `None` without one, where each is served at its time.
    pub queue_high_water: Option<u32>,
}

impl DramCounters {
    /// Counts of several memories together.
    pub fn add(&mut self, other: &Self) {
        self.rows.iter_mut().zip(other.rows).for_each(|(sum, count)| *sum += count);
        self.reads += other.reads;
        self.writes += other.writes;
        self.bytes += other.bytes;
        self.busy += other.busy;
        self.banks_busy += other.banks_busy;
        self.waited = (self.waited.0 + other.waited.0, self.waited.1 + other.waited.1);
        self.queue_high_water = self.queue_high_water.max(other.queue_high_water);
    }

    fn count(&mut self, access: RowAccess, bytes: u32, busy: Tick) {
        if let Some(count) = self.rows.get_mut(access as usize) {
            *count += 1;
        }
        self.bytes += u64::from(bytes);
        self.busy += busy;
    }
}

/// One DRAM with its controller.
#[derive(Clone, Debug)]
pub enum Dram {
    /// Requests are served in the order in which they come.
    InOrder(InOrder),
    /// First ready, first come first served.
    FrFcfs(Controller),
}

impl Dram {
    /// Ticks until now in which its buses moved bytes, and in which its banks were taken, each summed.
    #[must_use]
    pub fn busy_until(&self, now: Tick) -> (Tick, Tick) {
        let counters = self.counters();
        let (bus, banks) = match self {
            Self::InOrder(dram) => dram.ahead(now),
            Self::FrFcfs(controller) => controller.ahead(now),
        };
        (counters.busy.saturating_sub(bus), counters.banks_busy.saturating_sub(banks))
    }

    /// Accesses to rows whose waiting is known.
    #[must_use]
    pub fn waiters(&self) -> u64 {
        match self {
            Self::InOrder(dram) => dram.counters.rows.iter().sum(),
            Self::FrFcfs(_) => 0,
        }
    }

    /// Ticks until now in which the bank was taken that was taken for longest.
    #[must_use]
    pub fn busiest_bank(&self, now: Tick) -> Tick {
        match self {
            Self::InOrder(dram) => dram.busiest_bank(now),
            Self::FrFcfs(controller) => controller.busiest_bank(now),
        }
    }

    #[must_use]
    pub fn timing(&self) -> &DramTiming {
        match self {
            Self::InOrder(dram) => dram.timing(),
            Self::FrFcfs(controller) => controller.timing(),
        }
    }

    #[must_use]
    pub fn counters(&self) -> DramCounters {
        match self {
            Self::InOrder(dram) => dram.counters,
            Self::FrFcfs(controller) => controller.counters,
        }
    }

    /// Whether `other` has the same channels, banks and rows, and a scheduler of the same kind.
    #[must_use]
    pub fn is_like(&self, other: &Self) -> bool {
        let shape = |timing: &DramTiming| {
            (timing.channels, timing.banks, timing.row, timing.interleave, timing.hashed)
        };
        match (self, other) {
            (Self::InOrder(own), Self::InOrder(new)) => shape(own.timing()) == shape(new.timing()),
            (Self::FrFcfs(own), Self::FrFcfs(new)) => shape(own.timing()) == shape(new.timing()),
            _ => false,
        }
    }

    /// Has the timing, rate and scheduling of `other`, which is like it, from here on.
    pub fn adopt(&mut self, other: &Self) {
        match (self, other) {
            (Self::InOrder(own), Self::InOrder(new)) => own.adopt(new),
            (Self::FrFcfs(own), Self::FrFcfs(new)) => own.adopt(new),
            _ => {}
        }
    }

    /// Whether nothing is under way that has an event of its own.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        match self {
            Self::InOrder(_) => true,
            Self::FrFcfs(controller) => controller.is_idle(),
        }
    }

    /// Banks, open rows and what waits; `None` for one that keeps no queue.
    #[must_use]
    pub fn view(&self) -> Option<MemoryView> {
        match self {
            Self::InOrder(_) => None,
            Self::FrFcfs(controller) => Some(controller.view()),
        }
    }

    pub fn digest(&self, hasher: &mut impl Hasher) {
        match self {
            Self::InOrder(dram) => dram.digest(hasher),
            Self::FrFcfs(controller) => controller.digest(hasher),
        }
    }
}

/// The share of a byte rate that one of several channels has.
fn share(rate: ByteRate, channels: u32) -> ByteRate {
    ByteRate::new(rate.bytes, rate.ticks.saturating_mul(u64::from(channels.max(1))))
}
