//! What children give and what they keep: merging dirty bytes, and correcting the directory.

use super::pending::Who;
use super::{Node, Role};
use crate::model::address::{Address, Range};
use crate::model::bits::Bits;
use crate::model::fault::Fault;
use crate::model::message::{Message, MessageKind};
use crate::model::patch::Patch;
use crate::model::record::What;
use crate::model::state::Action;
use crate::protocol::outbox::{About, Breach, Outbox};
use crate::protocol::store::{Entry, bit};

/// What a DRAM writes at a time, at least.
const LINE: u32 = 64;

/// Of the bytes that the owner answers with after it has handed its block to a peer, those that nobody has written back
/// since. The peer's writeback may come before the answer, and what it stored is newer than what it was handed.
fn older_than(entry: &Entry, message: &Message, granule: u32) -> Option<Patch> {
    let newer = entry.newer.as_deref().filter(|newer| newer.any())?;
    let patch = message.patch.as_deref()?;
    if message.kind != MessageKind::Answer || message.peer.is_none() {
        return None;
    }
    let mut rest = patch.clone();
    for place in newer.iter() {
        rest.unmark(Range::new(entry.block.plus(u64::from(place) * u64::from(granule)), granule));
    }
    Some(rest)
}

/// Notes which bytes of an entry are newer than what its owner gave, since another child gave them.
fn note_newer(entry: &mut Entry, patch: &Patch, granule: u32) {
    let size = entry.data.len / granule;
    let newer = entry.newer.get_or_insert_with(|| Box::new(Bits::new(size)));
    for place in patch.mask.iter() {
        let piece = patch.piece(place);
        let from = (piece.start.0.saturating_sub(entry.block.0) as u32) / granule;
        newer.set_range(from, from + piece.len.div_ceil(granule), true);
    }
}

impl Node {
    /// Merges what a child gave, under its mask (rules 12 to 14).
    pub(super) fn take_bytes(&mut self, block: Address, child: u16, message: &Message, out: &mut Outbox) {
        let Some(patch) = message.patch.as_deref() else { return };
        let whole = self.config.has_fault(Fault::MergeWholeBlocks);
        let role = self.config.role;
        let notes_newer = self.config.notes_newer();
        let granule = self.config.mask_bytes;
        let Some(entry) = self.store.get_mut(block) else {
            self.report_homeless(message, out);
            return;
        };
        let owner = entry.units.first().and_then(|unit| unit.owner);
        let rest = older_than(entry, message, granule);
        let patch = rest.as_ref().unwrap_or(patch);
        if notes_newer && owner != Some(child) {
            note_newer(entry, patch, granule);
        }
        let data = &mut entry.data;
        if whole {
            data.copy_in(patch.start, patch.bytes());
            data.mark(patch.range());
        } else {
            data.merge(patch);
        }
        if role == Role::Root {
            data.mask.clear();
        }
        let marked = patch.marked_bytes();
        // What the mask would have kept out is told, too.
        let whole = whole && marked < patch.len;
        let bytes = if whole { patch.len } else { marked };
        self.counters.merged_bytes += u64::from(bytes);
        if self.config.has_memory {
            patch.marked_lines(LINE).for_each(|run| self.note_write(run, out));
        }
        let about = About::new(patch.range(), message.number).because(message.cause);
        let from = message.from;
        out.record(self.config.id, about, || What::Merge { from, bytes, whole });
        let before = self.state(block);
        let table = &self.config.table;
        let gave = message.granted.filter(|_| !self.config.has_fault(Fault::MergeKeepsState));
        let after = gave.map_or(before, |gave| {
            if message.kind == MessageKind::Answer {
                table.merged_answer(gave, before)
            } else {
                table.merged(gave, before)
            }
        });
        self.note_unseen(block, !(bit(child) | self.served_with(block, child, message.kind)));
        if after != before && role != Role::Root {
            if let Some(entry) = self.store.get_mut(block) {
                entry.state = after;
            }
            let action = Action::Merge;
            out.record(self.config.id, about, || What::Transition { from: before, to: after, action });
        }
    }

    /// Children that are served with bytes that just come from another: what they get has them.
    fn served_with(&self, block: Address, from: u16, kind: MessageKind) -> u64 {
        if !self.config.remembers {
            return 0;
        }
        let services = self.pending.get(block).into_iter().flat_map(|pending| &pending.serving);
        let get = services.filter(|service| {
            !service.granted || kind == MessageKind::Answer && service.awaiting & bit(from) != 0
        });
        get.fold(0, |served, service| match service.want.who {
            Who::Child(child) => served | bit(child),
            Who::Local(_) => served,
        })
    }

    fn report_homeless(&self, message: &Message, out: &mut Outbox) {
        let about = About::message(message).because(message.cause);
        let text = format!("dirty bytes arrived for block {}, which is not here", message.range.start);
        out.breaches.push(Breach { at: self.config.id, about, rule: "inclusion", text });
    }

    /// Corrects the directory by what a child says it still holds. A child leaves it only when told
    /// (rule 9).
    pub(super) fn take_held(&mut self, block: Address, child: u16, message: &Message, out: &mut Outbox) {
        let Some(held) = message.held.as_deref() else { return };
        let (unit_bytes, end) = (self.config.unit, message.range.end());
        let first = self.unit_of(block, message.range.start);
        let mut changed = Vec::new();
        let Some(entry) = self.store.get_mut(block) else { return };
        for unit in first..entry.units.len() as u32 {
            let start = block.0 + u64::from(unit) * u64::from(unit_bytes);
            if start >= end {
                break;
            }
            // What is said of a part of a unit is not true of all of it: the child stays listed.
            let Some(offset) = start.checked_sub(message.range.start.0) else { continue };
            if start + u64::from(unit_bytes) > end {
                break;
            }
            let offset = offset as u32;
            let (from, to) = (offset / held.block, (offset + unit_bytes).div_ceil(held.block));
            let Some(slot) = entry.units.get_mut(unit as usize) else { break };
            let before = *slot;
            if !held.copies.any_in(from, to) {
                slot.sharers &= !(bit(child));
            }
            if slot.owner == Some(child) && !held.owned.any_in(from, to) {
                slot.owner = None;
            }
            if slot.owner != before.owner {
                entry.newer = None;
            }
            if *slot != before {
                changed.push(unit);
            }
        }
        for unit in changed {
            self.record_directory((block, unit), message.number, None, out);
        }
        self.forget_unseen(block, child);
    }

    /// Removes a child that has evicted a block. Where a unit is coarser than the child's block the child may
    /// hold more of it, and stays listed.
    pub(super) fn leave(&mut self, block: Address, child: u16, message: &Message, out: &mut Outbox) {
        if message.held.is_some() {
            self.take_held(block, child, message, out);
            return;
        }
        if message.range.len < self.config.unit {
            return;
        }
        let unit = self.unit_of(block, message.range.start);
        if let Some(entry) = self.store.get_mut(block)
            && let Some(slot) = entry.units.get_mut(unit as usize)
        {
            slot.sharers &= !(bit(child));
            if slot.owner == Some(child) {
                slot.owner = None;
                entry.newer = None;
            }
        }
        self.record_directory((block, unit), message.number, None, out);
        self.forget_unseen(block, child);
    }
}
