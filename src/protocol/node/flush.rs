//! Flushes: what was stored here and above goes down.
//!
//! The final flush empties a GPU of what its host shall see ("UMH", section 4.2). Between kernels, what was stored
//! non-coherently has to come to where all compute units look: copies that were stored to are written back, level by level, and
//! at the place where the units meet the others lose the copies that lack it.

use std::collections::BTreeSet;

use super::pending::Eviction;
use super::{Node, Role};
use crate::model::address::Address;
use crate::model::message::Message;
use crate::model::state::Action;
use crate::protocol::outbox::Outbox;
use crate::protocol::store::{Entry, bit};
use crate::protocol::table::Step;

/// What a flush takes from a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// What is dirty here or may be dirty above.
    All,
    /// What has been stored to here (`N`, `M` and `O`): what leaves with a writeback.
    Stored,
    /// Nothing of what is here, but the copies of children that lack what others have stored.
    Unseen,
}

/// A flush under way.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Flushing {
    is_under_way: bool,
    /// Blocks of the node itself leave, too.
    takes: bool,
    /// Blocks that have not left.
    left: BTreeSet<Address>,
    /// Those of them of which something has ended.
    free: Vec<Address>,
}

impl Flushing {
    /// Nothing is under way for a block any more.
    pub fn note_free(&mut self, block: Address) {
        if self.is_under_way && self.left.contains(&block) {
            self.free.push(block);
        }
    }

    /// Ends it; whether there was one.
    pub fn end(&mut self) -> bool {
        self.takes = false;
        std::mem::take(&mut self.is_under_way)
    }
}

impl Node {
    /// Starts to write back, or to take from children, what is here now; [`Outbox::flushed`] tells the end.
    pub fn flush(&mut self, scope: Scope, out: &mut Outbox) {
        if self.is_tagged() {
            out.flushed = self.clean_tags(out);
            self.flushing.is_under_way = !out.flushed;
            return;
        }
        let stored =
            self.store.entries().map(|(_, entry)| entry).filter(|entry| self.is_within(scope, entry));
        let unseen = self.unseen.keys().filter(|_| scope == Scope::Unseen);
        let on_their_way = self.pending.values().filter(|pending| pending.writeback);
        let mut blocks: Vec<Address> = stored.map(|entry| entry.block).collect();
        blocks.extend(unseen);
        blocks.extend(on_their_way.map(|pending| pending.block));
        self.flushing.is_under_way = true;
        self.flushing.takes |= scope != Scope::Unseen;
        self.flushing.left.extend(&blocks);
        self.flushing.free.extend(blocks);
        self.flush_more(out);
    }

    fn is_within(&self, scope: Scope, entry: &Entry) -> bool {
        let cell = || self.config.table.cell(entry.state, Action::Evict, self.config.role != Role::Leaf);
        match scope {
            Scope::All => entry.data.mask.any() || entry.holders() != 0,
            Scope::Stored => cell().is_some_and(|cell| cell.step == Step::Writeback),
            Scope::Unseen => false,
        }
    }

    pub(super) fn has_to_flush(&self) -> bool {
        self.flushing.is_under_way && !self.is_tagged()
    }

    /// Goes on with blocks for which nothing else is under way.
    pub(super) fn flush_more(&mut self, out: &mut Outbox) {
        if !self.has_to_flush() {
            return;
        }
        while let Some(block) = self.flushing.free.pop() {
            if self.pending.contains(block) {
                // It comes again.
                continue;
            }
            if let Some(children) = self.unseen.remove(&block) {
                self.recall_from(block, children, out);
            } else if self.has_stored(block) {
                self.evict(block, (None, None), out);
            }
            if !self.pending.contains(block) {
                self.flushing.left.remove(&block);
            }
        }
        if self.flushing.left.is_empty() && self.flushing.end() {
            out.flushed = true;
        }
    }

    fn has_stored(&self, block: Address) -> bool {
        let is_meant =
            |entry: &Entry| [Scope::All, Scope::Stored].iter().any(|scope| self.is_within(*scope, entry));
        self.flushing.takes && self.store.get(block).is_some_and(is_meant)
    }

    /// Takes a block from those of `children` that still have it; it stays here.
    fn recall_from(&mut self, block: Address, children: u64, out: &mut Outbox) {
        let holders = self.store.get(block).map_or(0, Entry::holders) & children;
        if holders == 0 {
            return;
        }
        self.start(block, out, |node, pending, out| {
            let eviction =
                Eviction { awaiting: holders, since: out.tick, number: None, txn: None, stays: true };
            node.recall(pending, eviction, out);
        });
    }

    /// A child has written back what it had stored to: other copies of the block lack that. They may, until kernels end.
    pub(super) fn note_unseen(&mut self, block: Address, child: u16, message: &Message) {
        if !self.config.remembers || !message.has_data {
            return;
        }
        let holders = self.store.get(block).map_or(0, Entry::holders);
        let others = holders & !bit(child) & !self.config.snooped;
        if others != 0 {
            *self.unseen.entry(block).or_default() |= others;
        }
    }
}
