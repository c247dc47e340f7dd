//! A memory without a queue: requests are served in the order in which they come, each as early as its bank and the
//! bus allow, so that when one ends is known as soon as it arrives.

use std::hash::{Hash, Hasher};

use super::booked::Booked;
use super::gaps::Bounds;
use super::{DramCounters, DramTiming, Piece, share};
use crate::model::record::RowAccess;
use crate::model::time::{ByteRate, Tick};

/// The data bus of one channel.
#[derive(Clone, Debug)]
struct Bus {
    rate: ByteRate,
    free_at: Tick,
    /// When it moves bytes ahead.
    booked: Booked,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
struct Bank {
    open: Option<u64>,
    /// From when another column of the open row can be asked for.
    column_at: Tick,
    /// Until when the row is being opened, or its data move.
    taken_until: Tick,
    /// From when the row can be closed and another opened.
    closes_at: Tick,
}

/// One DRAM that serves in order.
#[derive(Clone, Debug)]
pub struct InOrder {
    timing: DramTiming,
    banks: Vec<Bank>,
    /// Of each channel.
    buses: Vec<Bus>,
    bounds: Vec<Bounds>,
    /// For when each bank is taken ahead.
    booked: Vec<Booked>,
    /// Ticks for which each bank was ever taken.
    taken: Vec<Tick>,
    pub counters: DramCounters,
}

impl InOrder {
    #[must_use]
    pub fn new(timing: DramTiming, rate: ByteRate) -> Self {
        let channels = timing.channels.max(1) as usize;
        let banks = channels * timing.banks.max(1) as usize;
        let (taken, booked, banks) =
            (vec![0; banks], vec![Booked::default(); banks], vec![Bank::default(); banks]);
        let bus = Bus { rate: share(rate, timing.channels), free_at: 0, booked: Booked::default() };
        let (buses, bounds) = (vec![bus; channels], vec![Bounds::default(); channels]);
        Self { timing, banks, buses, bounds, booked, taken, counters: DramCounters::default() }
    }

    #[must_use]
    pub fn timing(&self) -> &DramTiming {
        &self.timing
    }

    /// Has the timing and rate of `other` from here on.
    pub fn adopt(&mut self, other: &Self) {
        self.timing = other.timing;
        for (own, new) in self.buses.iter_mut().zip(&other.buses) {
            own.rate.adopt(new.rate);
        }
    }

    /// Moves `bytes` at a local address, not before `now`, and returns when the last byte is there.
    /// The access is spread over the rows that it touches.
    pub fn access(&mut self, local: u64, bytes: u32, writes: bool, now: Tick) -> Tick {
        let count = if writes { &mut self.counters.writes } else { &mut self.counters.reads };
        *count += 1;
        let mut end = now;
        for piece in self.timing.rows(local, bytes) {
            end = end.max(self.access_row(piece, writes, now));
        }
        end
    }

    /// Ticks that the buses and the banks are taken for ahead.
    pub fn ahead(&self, now: Tick) -> (Tick, Tick) {
        let buses = self.buses.iter().map(|bus| bus.booked.ahead(now));
        (buses.sum(), self.booked.iter().map(|bank| bank.ahead(now)).sum())
    }

    /// Ticks until `now` for which the bank was taken that was taken for longest.
    pub fn busiest_bank(&self, now: Tick) -> Tick {
        let each = self.taken.iter().zip(&self.booked);
        each.map(|(taken, bank)| taken.saturating_sub(bank.ahead(now))).max().unwrap_or(0)
    }

    /// [`Self::access`] for the tag of what stands at a local address.
    pub fn access_tag(&mut self, local: u64, writes: bool, now: Tick) -> Tick {
        self.timing.tag(local).map_or(now, |piece| self.access_row(piece, writes, now))
    }

    fn access_row(&mut self, piece: Piece, writes: bool, now: Tick) -> Tick {
        let Piece { channel, bank, row, bytes } = piece;
        let place = channel * self.timing.banks.max(1) as usize + bank;
        let (Some(bank), Some(bounds), Some(bus)) =
            (self.banks.get_mut(place), self.bounds.get_mut(channel), self.buses.get_mut(channel))
        else {
            return now;
        };
        let (opening, access) = self.timing.opening(bank.open, row);
        bank.open = Some(row);
        let mut start = now.max(bank.column_at);
        if access != RowAccess::Hit {
            start = start.max(bank.closes_at).max(bounds.opens_at(&self.timing, opening));
            bounds.open(&self.timing, start + opening);
            bank.closes_at = self.timing.closes_after_opening(start + opening);
        }
        let cas = self.timing.cas;
        let asked = start + opening + cas;
        let data_at = asked.max(bounds.column_at(writes) + cas).max(bus.free_at);
        let burst = bus.rate.occupy(u64::from(bytes));
        let end = data_at + burst;
        // The next column of the row is asked for while this one moves.
        bank.column_at = data_at - cas;
        bank.closes_at = bank.closes_at.max(self.timing.closes_after_data(end, writes));
        bus.free_at = end;
        bus.booked.book(data_at, end, now);
        if writes {
            bounds.write(&self.timing, end);
        }
        self.counters.count(access, bytes, burst);
        let from = start.max(bank.taken_until);
        bank.taken_until = end;
        self.counters.banks_busy += end - from;
        let (for_bank, for_bus) = &mut self.counters.waited;
        (*for_bank, *for_bus) = (*for_bank + (start - now), *for_bus + (data_at - asked));
        if let (Some(taken), Some(booked)) = (self.taken.get_mut(place), self.booked.get_mut(place)) {
            *taken += end - from;
            booked.book(from, end, now);
        }
        end
    }

    pub fn digest(&self, hasher: &mut impl Hasher) {
        (&self.banks, &self.bounds).hash(hasher);
        self.buses.iter().for_each(|bus| (bus.free_at, bus.rate).hash(hasher));
    }
}

#[cfg(test)]
mod tests {
    use super::super::Gaps;
    use super::*;

    fn dram(always_reopen: bool) -> InOrder {
        let timing = DramTiming {
            channels: 1,
            banks: 2,
            row: 1024,
            interleave: 1024,
            cas: 10,
            activate: 20,
            precharge: 30,
            gaps: Gaps::default(),
            hashed: false,
            always_reopen,
            access: 1,
            tags: None,
        };
        InOrder::new(timing, ByteRate::new(64, 1))
    }

    #[test]
    fn an_open_row_is_faster() {
        let mut dram = dram(false);
        assert_eq!(dram.access(0, 64, false, 0), 31);
        assert_eq!(dram.access(64, 64, false, 100), 111);
        assert_eq!(dram.access(2048, 64, true, 200), 261);
        assert_eq!(dram.counters.rows, [1, 1, 1, 0]);
        assert_eq!((dram.counters.reads, dram.counters.writes), (2, 1));
    }

    #[test]
    fn columns_of_an_open_row_follow_one_another_on_the_bus() {
        let mut dram = dram(false);
        let ends = [0, 64, 128].map(|local| dram.access(local, 64, false, 0));
        assert_eq!(ends, [31, 32, 33]);
        assert_eq!((dram.counters.waited, dram.counters.banks_busy), ((20 + 21, 2), 33));
        assert_eq!(dram.access(2048, 64, false, 0), 33 + 30 + 20 + 10 + 1, "another row after the data");
    }

    #[test]
    fn a_directory_request_always_reopens_its_row() {
        let mut dram = dram(true);
        dram.access(0, 64, false, 0);
        assert_eq!(dram.access(64, 64, false, 100), 161);
    }
}
