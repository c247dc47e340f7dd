//! The lane coalescer: the accesses of a warp's lanes become one access a cache line.

use std::collections::VecDeque;
use std::sync::Arc;

use smallvec::SmallVec;

use crate::model::access::{Access, AccessKind, Bytes};
use crate::model::address::{Address, Range};
use crate::model::bits::Bits;
use crate::model::operation::WarpAccess;

/// Adds the accesses that an instruction makes, in the order in which its lanes first touch their lines. Lanes that
/// cross a line are split; atomics are not merged.
pub fn coalesce(access: &WarpAccess, line: u32, values: bool, into: &mut VecDeque<Access>) {
    if let Some(one) = alone(access, line, values) {
        into.push_back(one);
    } else {
        into.extend(pieces(access, line, values));
    }
}

fn pieces(access: &WarpAccess, line: u32, values: bool) -> Vec<Access> {
    let mut pieces: Vec<Access> = Vec::new();
    for (_, address) in access.lanes.iter() {
        let bytes = access.value.bytes(address, access.width);
        let lane = Range::new(address, u32::from(access.width));
        for block in lane.blocks(line) {
            add(&mut pieces, access.kind, cut(lane, Range::new(block, line)), lane, &bytes, line);
        }
    }
    for piece in &mut pieces {
        tidy(piece, values);
    }
    pieces
}

/// The access of an instruction of one lane, if that lies in one line: nothing to merge.
fn alone(access: &WarpAccess, line: u32, values: bool) -> Option<Access> {
    let address = access.lanes.single()?;
    let range = Range::new(address, u32::from(access.width));
    if address.block(line) != Address(range.end().saturating_sub(1).max(address.0)).block(line) {
        return None;
    }
    let bytes =
        if values && access.kind.writes() { access.value.bytes(address, access.width) } else { Bytes::new() };
    Some(Access { kind: access.kind, range, bytes, mask: None })
}

fn cut(lane: Range, block: Range) -> Range {
    let start = lane.start.max(block.start);
    Range::new(start, (lane.end().min(block.end()).saturating_sub(start.0)) as u32)
}

/// Adds one lane's part of a line to the access for that line.
fn add(pieces: &mut Vec<Access>, kind: AccessKind, part: Range, lane: Range, bytes: &Bytes, line: u32) {
    let offset = (part.start.0 - lane.start.0) as usize;
    let data = bytes.get(offset..offset + part.len as usize).unwrap_or(&[]);
    let merges = !matches!(kind, AccessKind::Atomic(_)) && part.len > 0;
    let block = part.start.block(line);
    let found =
        pieces.iter_mut().find(|piece| merges && piece.range.len == line && piece.range.start == block);
    if let Some(piece) = found {
        write(piece, part, data);
        return;
    }
    if !merges {
        let bytes = if kind.writes() { data.iter().copied().collect() } else { Bytes::new() };
        pieces.push(Access { kind, range: part, bytes, mask: None });
        return;
    }
    let bytes = SmallVec::from_elem(0, line as usize);
    let mask = Some(Arc::new(Bits::new(line)));
    let mut piece = Access { kind, range: Range::new(block, line), bytes, mask };
    write(&mut piece, part, data);
    pieces.push(piece);
}

fn write(piece: &mut Access, part: Range, data: &[u8]) {
    let from = (part.start.0 - piece.range.start.0) as usize;
    if let Some(place) = piece.bytes.get_mut(from..from + data.len()) {
        place.copy_from_slice(data);
    }
    if let Some(mask) = piece.mask.as_mut() {
        Arc::make_mut(mask).set_range(from as u32, from as u32 + part.len, true);
    }
}

/// Shrinks an access to the bytes that its lanes touch; loads need no mask and no bytes.
fn tidy(piece: &mut Access, values: bool) {
    if let Some(mask) = piece.mask.take() {
        let first = mask.iter().next().unwrap_or(0);
        let last = mask.iter().last().unwrap_or(0);
        let count = last - first + 1;
        let gaps = mask.count() != count;
        piece.range = Range::new(Address(piece.range.start.0 + u64::from(first)), count);
        piece.bytes =
            piece.bytes.get(first as usize..=last as usize).map(SmallVec::from_slice).unwrap_or_default();
        if gaps && piece.kind.writes() {
            let mut shifted = Bits::new(count);
            mask.iter().for_each(|bit| shifted.set(bit - first, true));
            piece.mask = Some(Arc::new(shifted));
        }
    }
    if !values || !piece.kind.writes() {
        piece.bytes = Bytes::new();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::operation::{Lanes, StoreValue};

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
