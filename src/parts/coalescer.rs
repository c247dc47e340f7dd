//! The lane coalescer: the accesses of a warp's lanes become one access a cache line.

use std::collections::VecDeque;
use std::sync::Arc;

use smallvec::SmallVec;

use crate::model::access::{Access, AccessKind, Bytes};
use crate::model::address::{Address, Range};
use crate::model::bits::Bits;
use crate::model::operation::{Lanes, WarpAccess};
use crate::model::sectors::Sectors;

/// Adds the accesses that an instruction makes, in the order in which its lanes first touch their lines. Lanes that
/// cross a line are split; atomics are not merged.
pub fn coalesce(access: &WarpAccess, line: u32, values: bool, into: &mut VecDeque<Access>) {
    let kind = access.kind;
    if let Some(range) = alone(access, line) {
        let keeps = values && kind.writes();
        let bytes = if keeps { access.value.bytes(range.start, access.width) } else { Bytes::new() };
        into.push_back(Access { kind, range, bytes, mask: None });
        return;
    }
    if let Some(region) = dense(access, values) {
        let piece = |range| Access { kind, range, bytes: Bytes::new(), mask: None };
        into.extend(region.by_block(line).map(piece));
        return;
    }
    let merges = !matches!(kind, AccessKind::Atomic(_)) && access.width > 0;
    let keeps = values && kind.writes();
    if merges && !keeps {
        merge(access, line, into);
        return;
    }
    let mut pieces: SmallVec<[Piece; 4]> = SmallVec::new();
    for (_, address) in access.lanes.iter() {
        let bytes = if keeps { access.value.bytes(address, access.width) } else { Bytes::new() };
        let lane = Range::new(address, u32::from(access.width));
        let block = address.block(line);
        if merges && lane.end() <= block.plus(u64::from(line)).0 {
            piece_of(&mut pieces, block, line, keeps).add(lane, &bytes);
            continue;
        }
        for part in lane.by_block(line) {
            let offset = (part.start.0 - lane.start.0) as usize;
            let data = bytes.get(offset..offset + part.len as usize).unwrap_or(&[]);
            if merges {
                piece_of(&mut pieces, part.start.block(line), line, keeps).add(part, data);
            } else {
                into.push_back(Access { kind, range: part, bytes: SmallVec::from_slice(data), mask: None });
            }
        }
    }
    into.extend(pieces.into_iter().map(|piece| piece.access(kind)));
}

/// Lanes that merge where nobody keeps bytes: those that go on where the ones before have come to are taken together.
fn merge(access: &WarpAccess, line: u32, into: &mut VecDeque<Access>) {
    let (kind, width) = (access.kind, u32::from(access.width));
    let mut pieces: SmallVec<[Piece; 4]> = SmallVec::new();
    let mut add = |run: Range| {
        for part in run.by_block(line) {
            piece_of(&mut pieces, part.start.block(line), line, false).add(part, &[]);
        }
    };
    let mut last: Option<Range> = None;
    for (_, address) in access.lanes.iter() {
        let lane = Range::new(address, width);
        match &mut last {
            Some(run) if run.start <= address && address.0 <= run.end() => {
                run.len = (run.end().max(lane.end()) - run.start.0) as u32;
            }
            _ => last.replace(lane).into_iter().for_each(&mut add),
        }
    }
    last.into_iter().for_each(&mut add);
    into.extend(pieces.into_iter().map(|piece| piece.access(kind)));
}

/// What an instruction of one lane touches, if that lies in one line: nothing to merge.
pub(super) fn alone(access: &WarpAccess, line: u32) -> Option<Range> {
    let address = access.lanes.single()?;
    let range = Range::new(address, u32::from(access.width));
    let last = Address(range.end().saturating_sub(1).max(address.0));
    (address.block(line) == last.block(line)).then_some(range)
}

/// All that the lanes touch, where they merge, stand side by side or at one place, and nobody keeps bytes.
fn dense(access: &WarpAccess, values: bool) -> Option<Range> {
    let Lanes::Strided { mask, base, stride } = access.lanes else { return None };
    let low = mask.trailing_zeros();
    let is_run = mask != 0 && (mask >> low) & (mask >> low).wrapping_add(1) == 0;
    let width = i64::from(access.width);
    let is_dense = is_run && width > 0 && (stride == width || stride == 0);
    if !is_dense || matches!(access.kind, AccessKind::Atomic(_)) || values && access.kind.writes() {
        return None;
    }
    let start = base.0.checked_add(stride as u64 * u64::from(low))?;
    let lanes = if stride == 0 { 1 } else { mask.count_ones() };
    let len = lanes * u32::from(access.width);
    start.checked_add(u64::from(len))?;
    Some(Range::new(Address(start), len))
}

/// What the lanes touch of one line.
struct Piece {
    block: Address,
    /// First byte touched, and one past the last.
    from: u32,
    to: u32,
    /// Bytes touched.
    mask: Bits,
    /// The whole line, or none where values are not kept.
    bytes: Bytes,
}

/// The piece of a line, most likely the last one.
fn piece_of(pieces: &mut SmallVec<[Piece; 4]>, block: Address, line: u32, keeps: bool) -> &mut Piece {
    let index = pieces.iter().rposition(|piece| piece.block == block).unwrap_or_else(|| {
        let bytes = if keeps { SmallVec::from_elem(0, line as usize) } else { Bytes::new() };
        pieces.push(Piece { block, from: line, to: 0, mask: Bits::new(line), bytes });
        pieces.len() - 1
    });
    &mut pieces[index]
}

impl Piece {
    fn add(&mut self, part: Range, data: &[u8]) {
        let from = (part.start.0 - self.block.0) as u32;
        let to = from + part.len;
        (self.from, self.to) = (self.from.min(from), self.to.max(to));
        self.mask.set_range(from, to, true);
        if let Some(place) = self.bytes.get_mut(from as usize..from as usize + data.len()) {
            place.copy_from_slice(data);
        }
    }

    /// Whether no lane touches some sector between the first and the last that one does.
    fn skips_a_sector(&self) -> bool {
        let sectors = self.from / Sectors::SIZE..self.to.div_ceil(Sectors::SIZE);
        let mut bits = sectors.map(|sector| sector * Sectors::SIZE..(sector + 1) * Sectors::SIZE);
        bits.any(|mut bits| bits.all(|bit| !self.mask.get(bit)))
    }

    /// The bytes from the first to the last that the lanes touch, with a mask if stores leave gaps, or loads whole sectors.
    fn access(self, kind: AccessKind) -> Access {
        let count = self.to - self.from;
        let gaps = self.mask.count() != count && (kind.writes() || self.skips_a_sector());
        let mask = gaps.then(|| {
            let mut shifted = Bits::new(count);
            self.mask.iter().for_each(|bit| shifted.set(bit - self.from, true));
            Arc::new(shifted)
        });
        let bytes = self.bytes.get(self.from as usize..self.to as usize);
        Access {
            kind,
            range: Range::new(self.block.plus(u64::from(self.from)), count),
            bytes: bytes.map(SmallVec::from_slice).unwrap_or_default(),
            mask,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::model::operation::StoreValue;

    fn warp(kind: AccessKind, base: u64, stride: i64, mask: u64) -> WarpAccess {
        WarpAccess {
            kind,
            width: 4,
            lanes: Lanes::Strided { mask, base: Address(base), stride },
            value: StoreValue::Bytes(SmallVec::from_slice(&[1, 2, 3, 4])),
            label: None,
        }
    }

    fn all(access: &WarpAccess, line: u32, values: bool) -> Vec<Access> {
        let mut list = VecDeque::new();
        coalesce(access, line, values, &mut list);
        list.into()
    }

    #[test]
    fn a_unit_stride_load_is_one_access_a_line() {
        let accesses = all(&warp(AccessKind::Load, 0x100, 4, 0xffff_ffff), 64, true);
        let ranges: Vec<_> = accesses.iter().map(|access| (access.range.start.0, access.range.len)).collect();
        assert_eq!(ranges, [(0x100, 64), (0x140, 64)]);
    }

    /// What nobody wants of a line is not asked for ("which 32B sub-blocks of the 128B cache line should be transferred", Selective GPU
    /// Caches, section 3.2.3).
    #[test]
    fn a_load_that_skips_a_sector_says_so() {
        let mask = |stride: i64, lanes: u64| {
            all(&warp(AccessKind::Load, 0x100, stride, lanes), 128, true)[0].mask.clone()
        };
        assert!(mask(96, 0b11).is_some_and(|mask| mask.count() == 8), "sectors 0 and 3");
        assert_eq!(mask(32, 0b1111), None, "all four");
        assert_eq!(mask(8, 0b1111), None);
    }

    proptest! {
        /// The same as lane by lane.
        #[test]
        fn lanes_side_by_side_are_taken_together(
            (low, count) in (0u32..64).prop_flat_map(|low| (Just(low), 1..=64 - low)),
            base in 0u64..1000,
            stride in prop::sample::select(vec![0i64, 4, 8, -4]),
            (kind, values) in (prop::sample::select(vec![AccessKind::Load, AccessKind::NStore]), any::<bool>()),
        ) {
            let mask = (u64::MAX >> (64 - count)) << low;
            let strided = warp(kind, 4096 + base, stride, mask);
            let addresses = strided.lanes.iter().map(|(_, address)| address).collect();
            let listed = WarpAccess { lanes: Lanes::Listed { mask, addresses }, ..strided.clone() };
            prop_assert_eq!(all(&strided, 64, values), all(&listed, 64, values));
        }
    }

    proptest! {
        /// The same whether bytes are kept, which is lane by lane, or not.
        #[test]
        fn bytes_make_no_difference_to_what_is_touched(
            offsets in prop::collection::vec(prop_oneof![0u64..24, 0u64..400], 1..64),
            (kind, width) in (prop::sample::select(vec![AccessKind::Store, AccessKind::NStore]), 1u8..17),
        ) {
            let addresses = offsets.iter().map(|offset| Address(4096 + offset * 4)).collect();
            let lanes = Lanes::Listed { mask: u64::MAX >> (64 - offsets.len()), addresses };
            let access = WarpAccess { width, lanes, ..warp(kind, 0, 0, 0) };
            let touched = |values| {
                let all = all(&access, 64, values).into_iter();
                all.map(|access| (access.range, access.mask)).collect::<Vec<_>>()
            };
            prop_assert_eq!(touched(true), touched(false));
        }
    }

    #[test]
    fn a_strided_store_keeps_its_gaps() {
        let accesses = all(&warp(AccessKind::NStore, 0, 16, 0b111), 64, true);
        assert_eq!(accesses.len(), 1);
        let runs: Vec<_> = accesses[0].runs().iter().map(|run| (run.start.0, run.len)).collect();
        assert_eq!(runs, [(0, 4), (16, 4), (32, 4)]);
        assert_eq!(accesses[0].bytes_of(accesses[0].runs()[1]), [1, 2, 3, 4]);
    }

    #[test]
    fn a_lane_that_crosses_a_line_is_split() {
        let accesses = all(&warp(AccessKind::Store, 62, 0, 1), 64, true);
        let parts: Vec<_> =
            accesses.iter().map(|a| (a.range.start.0, a.range.len, a.bytes.to_vec())).collect();
        assert_eq!(parts, [(62, 2, vec![1, 2]), (64, 2, vec![3, 4])]);
    }

    #[test]
    fn a_zero_byte_store_is_kept() {
        let mut access = warp(AccessKind::Store, 0x40, 0, 1);
        access.width = 0;
        let accesses = all(&access, 64, true);
        assert_eq!(accesses.len(), 1);
        assert_eq!(accesses[0].range, Range::new(Address(0x40), 0));
    }
}
