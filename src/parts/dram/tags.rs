//! Tags of a memory that is a cache: in banks of their own, so that a tag and its data are read at once ("`ScaleGPU`",
//! section 3.1).

use super::{DramTiming, Piece};

/// Bytes of a tag with its state.
const TAG: u64 = 4;

/// Bytes that a tag access moves: "we model a tag access as a 64B DRAM access" (section 4.1).
const ACCESS: u32 = 64;

/// The banks that hold tags.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TagBanks {
    /// The last so many of a channel.
    pub banks: u32,
    /// Bytes of data that a tag stands for.
    pub data: u32,
    /// Bytes of data that the memory holds.
    pub capacity: u64,
}

impl TagBanks {
    /// Where the data at a local address stand: the memory is direct-mapped.
    pub(super) fn wrapped(&self, local: u64) -> u64 {
        local % self.capacity.max(1)
    }
}

impl DramTiming {
    /// Whether a bank of a channel holds tags.
    #[must_use]
    pub fn holds_tags(&self, bank: u32) -> bool {
        self.tags.is_some_and(|tags| bank >= self.banks.saturating_sub(tags.banks))
    }

    /// Where the tag of the data at a local address stands; nothing without tags.
    pub(super) fn tag(&self, local: u64) -> Option<Piece> {
        let tags = self.tags?;
        let row = tags.wrapped(local) / u64::from(tags.data.max(1)) * TAG / u64::from(self.row.max(1));
        let (channels, banks) = (u64::from(self.channels.max(1)), u64::from(tags.banks.max(1)));
        let bank = u64::from(self.banks - tags.banks) + row / channels % banks;
        Some(Piece {
            channel: (row % channels) as usize,
            bank: bank as usize,
            row: row / channels / banks,
            bytes: ACCESS,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Array, Controller, Gaps, Scheduling};
    use super::*;
    use crate::model::time::ByteRate;
    use crate::protocol::outbox::About;

    const TIMING: DramTiming = DramTiming {
        channels: 1,
        banks: 4,
        row: 1024,
        interleave: 1024,
        cas: 10,
        activate: 20,
        precharge: 30,
        gaps: Gaps::NONE,
        hashed: false,
        always_reopen: false,
        access: 64,
        tags: Some(TagBanks { banks: 1, data: 512, capacity: 8192 }),
    };

    #[test]
    fn tags_stand_in_banks_of_their_own() {
        let banks: Vec<usize> = TIMING.rows(0, 4096).into_iter().map(|piece| piece.bank).collect();
        assert_eq!(banks, [0, 1, 2, 0]);
        assert_eq!(TIMING.tag(0), Some(Piece { channel: 0, bank: 3, row: 0, bytes: 64 }));
        assert_eq!(TIMING.tag(8192 + 512), TIMING.tag(512), "direct-mapped");
        let small: Vec<u32> = TIMING.rows(60, 8).into_iter().map(|piece| piece.bytes).collect();
        assert_eq!(small, [128], "whole units of 64 bytes");
    }

    #[test]
    fn what_has_come_is_written_before_it_is_read() {
        let scheduling = Scheduling { window: 8, writes: 4, row_hit_cap: 2 };
        let order = |writes: bool| {
            let mut dram = Controller::new(TIMING, scheduling, ByteRate::new(16, 1));
            if writes {
                dram.touch(Array::Data, 0, 512, true, About::default());
            }
            dram.read(0, 64, About::default());
            dram.read(1024, 64, About::default());
            let issued = (0..400).flat_map(|now| dram.advance(now)).filter(|one| one.moves.is_some());
            issued.map(|one| (one.bank, one.writes)).collect::<Vec<_>>()
        };
        assert_eq!(order(true), [(0, true), (0, false), (1, false)]);
        assert_eq!(order(false), [(0, false), (1, false)]);
    }

    #[test]
    fn a_tag_and_its_data_are_read_at_once() {
        let scheduling = Scheduling { window: 8, writes: 4, row_hit_cap: 2 };
        let mut dram = Controller::new(TIMING, scheduling, ByteRate::new(16, 1));
        let read = dram.read_tagged(0, 64, About::default());
        dram.advance(0);
        dram.advance(20);
        dram.advance(24);
        // 20 to open both rows, 10 for the column, and twice 4 on the bus.
        assert_eq!(dram.take_finished(37), None);
        assert_eq!(dram.take_finished(38), Some(read));
    }
}
