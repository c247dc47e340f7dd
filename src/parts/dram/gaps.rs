//! What has to pass between commands beyond what the banks and the bus themselves take. Table 1 of "`ScaleGPU`" names all of them,
//! Table 4 of "Selective GPU Caches" and Table 1 of the paged memory tRC and tWR.

use super::DramTiming;
use crate::model::time::Tick;

/// Times between commands; none of them is there that is 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Gaps {
    /// Between openings of two rows of a bank (tRC).
    pub row_cycle: Tick,
    /// Between openings of rows in two banks of a channel (tRRD).
    pub row_to_row: Tick,
    /// From the last byte of a write until its row can be closed (tWR).
    pub write_recovery: Tick,
    /// From the last byte of a write until a column can be asked for that is read (tCDLR).
    pub write_to_read: Tick,
}

impl Gaps {
    #[cfg(test)]
    pub const NONE: Self = Self { row_cycle: 0, row_to_row: 0, write_recovery: 0, write_to_read: 0 };
}

impl DramTiming {
    /// From when a row can be closed that is open at `opened`, whatever moves.
    pub(super) fn closes_after_opening(&self, opened: Tick) -> Tick {
        let began = opened.saturating_sub(self.activate);
        opened.max((began + self.gaps.row_cycle).saturating_sub(self.precharge))
    }

    /// From when a row can be closed whose data have moved at `end`.
    pub(super) fn closes_after_data(&self, end: Tick, writes: bool) -> Tick {
        if writes { end + self.gaps.write_recovery } else { end }
    }
}

/// From when the banks of a channel may do what others of them have done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Bounds {
    opens_at: Tick,
    reads_at: Tick,
}

impl Bounds {
    /// From when a bank may begin with what makes its row open after `wait`: it may close another one before.
    pub fn opens_at(&self, timing: &DramTiming, wait: Tick) -> Tick {
        self.opens_at.saturating_sub(wait.saturating_sub(timing.activate))
    }

    /// From when a column may be asked for.
    pub fn column_at(&self, writes: bool) -> Tick {
        if writes { 0 } else { self.reads_at }
    }

    /// A row is open then.
    pub fn open(&mut self, timing: &DramTiming, opened: Tick) {
        if timing.gaps.row_to_row > 0 {
            self.opens_at = opened.saturating_sub(timing.activate) + timing.gaps.row_to_row;
        }
    }

    /// The data of a write have moved then.
    pub fn write(&mut self, timing: &DramTiming, end: Tick) {
        if timing.gaps.write_to_read > 0 {
            self.reads_at = end + timing.gaps.write_to_read;
        }
    }
}
