//! A DRAM behind a directory: banks with row buffers and a data bus. Requests are scheduled in the order in
//! which they come, each as early as its bank and the bus allow.

use std::hash::{Hash, Hasher};

use crate::model::address::Range;
use crate::model::time::{ByteRate, Tick};

/// Timing and shape of one DRAM.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DramTiming {
    pub banks: u32,
    /// Bytes of a row buffer.
    pub row: u32,
    pub cas: Tick,
    pub activate: Tick,
    pub precharge: Tick,
    /// Every access closes the open row and opens its own (an SMD request: UMH, section 5.4).
    pub always_reopen: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
struct Bank {
    open: Option<u64>,
    free_at: Tick,
}

/// One DRAM.
#[derive(Clone, Debug)]
pub struct Dram {
    timing: DramTiming,
    rate: ByteRate,
    banks: Vec<Bank>,
    bus_free_at: Tick,
    pub row_hits: u64,
    pub row_misses: u64,
    pub bytes: u64,
    pub busy: Tick,
}

impl Dram {
    #[must_use]
    pub fn new(timing: DramTiming, rate: ByteRate) -> Self {
        let banks = vec![Bank::default(); timing.banks.max(1) as usize];
        Self { timing, rate, banks, bus_free_at: 0, row_hits: 0, row_misses: 0, bytes: 0, busy: 0 }
    }

    /// Moves `bytes` at the local address of `range`, not before `now`, and returns when the last byte is there.
    /// The access is spread over the rows that it touches.
    pub fn access(&mut self, local: u64, bytes: u32, now: Tick) -> Tick {
        let range = Range::new(crate::model::address::Address(local), bytes);
        let rows: Vec<u64> =
            range.blocks(self.timing.row).map(|row| row.0 / u64::from(self.timing.row)).collect();
        let share = bytes.div_ceil(rows.len().max(1) as u32);
        rows.into_iter().map(|row| self.access_row(row, share, now)).max().unwrap_or(now)
    }

    fn access_row(&mut self, row: u64, bytes: u32, now: Tick) -> Tick {
        let count = self.banks.len() as u64;
        let Some(bank) = self.banks.get_mut((row % count) as usize) else { return now };
        let start = now.max(bank.free_at);
        let hit = bank.open == Some(row) && !self.timing.always_reopen;
        let opening = match (hit, bank.open) {
            (true, _) => 0,
            (false, None) => self.timing.activate,
            (false, Some(_)) => self.timing.precharge + self.timing.activate,
        };
        bank.open = Some(row);
        let data_at = (start + opening + self.timing.cas).max(self.bus_free_at);
        let burst = self.rate.occupy(u64::from(bytes));
        let end = data_at + burst;
        bank.free_at = end;
        self.bus_free_at = end;
        self.busy += burst;
        self.bytes += u64::from(bytes);
        if hit {
            self.row_hits += 1;
        } else {
            self.row_misses += 1;
        }
        end
    }

    pub fn digest(&self, hasher: &mut impl Hasher) {
        (&self.banks, self.bus_free_at, self.rate).hash(hasher);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dram(always_reopen: bool) -> Dram {
        let timing = DramTiming { banks: 2, row: 1024, cas: 10, activate: 20, precharge: 30, always_reopen };
        Dram::new(timing, ByteRate::new(64, 1))
    }

    #[test]
    fn an_open_row_is_faster() {
        let mut dram = dram(false);
        assert_eq!(dram.access(0, 64, 0), 31);
        assert_eq!(dram.access(64, 64, 100), 111);
        assert_eq!(dram.access(2048, 64, 200), 261);
        assert_eq!((dram.row_hits, dram.row_misses), (1, 2));
    }

    #[test]
    fn a_directory_request_always_reopens_its_row() {
        let mut dram = dram(true);
        dram.access(0, 64, 0);
        assert_eq!(dram.access(64, 64, 100), 161);
    }
}
