//! Flushes: what was stored here and above goes down.
//!
//! The final flush empties a GPU of what its host shall see ("UMH", section 4.2). Between kernels, what was stored
//! non-coherently has to come to where all compute units look: level by level, copies that were stored to are written back and
//! stay, clean, and the others of the same block, which lack what was stored, are taken back.

use std::collections::BTreeSet;

use super::Node;
use super::evict::Cause;
use super::pending::{Eviction, Reason};
use crate::model::address::Address;
use crate::protocol::outbox::Outbox;
use crate::protocol::store::{Entry, bit};
use crate::protocol::table::Next;

/// What a flush does to a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scope {
    /// Children lose copies that lack what others have stored.
    Unseen,
    /// And what is dirty here is written back, and stays.
    Stored,
    /// What is dirty here or may be dirty above leaves.
    All,
}

/// A flush under way.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Flushing {
    scope: Option<Scope>,
    /// Blocks that it has not begun with.
    left: BTreeSet<Address>,
    /// Blocks that it writes back.
    begun: BTreeSet<Address>,
    /// Those of them for which nothing is under way any more.
    free: Vec<Address>,
}

impl Flushing {
    /// Nothing is under way for a block any more.
    pub fn note_free(&mut self, block: Address) {
        if self.scope.is_some() && (self.left.contains(&block) || self.begun.contains(&block)) {
            self.free.push(block);
        }
    }

    /// Ends it; whether there was one.
    pub fn end(&mut self) -> bool {
        self.scope.take().is_some()
    }
}

/// Whether a block of a node is flushed.
fn is_within(scope: Scope, entry: &Entry) -> bool {
    match scope {
        Scope::Unseen => false,
        Scope::Stored => entry.data.mask.any(),
        Scope::All => entry.data.mask.any() || entry.holders() != 0,
    }
}

impl Node {
    /// Starts to flush what is here now; [`Outbox::flushed`] tells the end.
    pub fn flush(&mut self, scope: Scope, out: &mut Outbox) {
        self.flushing.scope = self.flushing.scope.max(Some(scope));
        if self.is_tagged() {
            // Whoever comes here finds all that was stored.
            let is_seen = scope == Scope::Unseen;
            out.flushed = (is_seen || self.clean_tags(out)) && self.flushing.end();
            return;
        }
        let meant = self.store.entries().map(|(_, entry)| entry).filter(|entry| is_within(scope, entry));
        let mut blocks: Vec<Address> = meant.map(|entry| entry.block).collect();
        blocks.extend(self.unseen.keys());
        // Bytes of these may be on their way, from here or from children.
        blocks.extend(self.pending.values().map(|pending| pending.block));
        self.flushing.left.extend(&blocks);
        self.flushing.free.extend(blocks);
        self.flush_more(out);
    }

    pub(super) fn has_to_flush(&self) -> bool {
        self.flushing.scope.is_some() && !self.is_tagged()
    }

    /// Goes on with blocks for which nothing else is under way.
    pub(super) fn flush_more(&mut self, out: &mut Outbox) {
        let Some(scope) = self.flushing.scope.filter(|_| !self.is_tagged()) else { return };
        while let Some(block) = self.flushing.free.pop() {
            // What somebody else is busy with comes again.
            if self.pending.contains(block) {
                continue;
            }
            self.flushing.begun.remove(&block);
            // Another flush may have wanted it meanwhile.
            if !self.flushing.left.contains(&block) {
                continue;
            }
            if self.flush_block(scope, block, out) {
                self.flushing.left.remove(&block);
                if self.pending.contains(block) {
                    self.flushing.begun.insert(block);
                }
            }
        }
        if self.flushing.left.is_empty() && self.flushing.begun.is_empty() && self.flushing.end() {
            out.flushed = true;
        }
    }

    /// Whether the last that is to be done for a block has been begun.
    fn flush_block(&mut self, scope: Scope, block: Address, out: &mut Outbox) -> bool {
        let is_meant = self.store.get(block).is_some_and(|entry| is_within(scope, entry));
        if scope == Scope::All && is_meant {
            self.evict(block, Reason::Flush, (None, None), out);
            return true;
        }
        if let Some(children) = self.unseen.remove(&block) {
            self.recall_from(block, children, out);
            if self.pending.contains(block) {
                return false;
            }
        }
        if is_meant {
            self.write_back(block, out);
        }
        true
    }

    /// Writes back what is dirty of a block, which stays: alone if it was so.
    fn write_back(&mut self, block: Address, out: &mut Outbox) {
        let Some(to) = self.config.table.cleaned(self.state(block)) else {
            return self.evict(block, Reason::Launch, (None, None), out);
        };
        self.store.focus(block);
        self.start(block, out, |node, pending, out| {
            let cause = Cause::launch(node.range_of(block));
            node.flush_down(pending, &cause, Next::To(to), out);
        });
    }

    /// Takes a block from those of `children` that still have it; it stays here.
    fn recall_from(&mut self, block: Address, children: u64, out: &mut Outbox) {
        let holders = self.store.get(block).map_or(0, Entry::holders) & children;
        if holders == 0 {
            return;
        }
        self.start(block, out, |node, pending, out| {
            let (since, reason) = (out.tick, Reason::Recall);
            let eviction = Eviction { awaiting: holders, since, number: None, txn: None, reason };
            node.recall(pending, eviction, out);
        });
    }

    /// A block has bytes now that `children` have not seen, as far as they have copies. They may keep them until kernels end.
    pub(super) fn note_unseen(&mut self, block: Address, children: u64) {
        if !self.config.remembers {
            return;
        }
        let holders = self.store.get(block).map_or(0, Entry::holders);
        let others = holders & children & !self.config.snooped;
        if others != 0 {
            *self.unseen.entry(block).or_default() |= others;
        }
    }

    /// A child may have left a block: it has no old copy then.
    pub(super) fn forget_unseen(&mut self, block: Address, child: u16) {
        if self.unseen.is_empty()
            || self.store.get(block).is_some_and(|entry| entry.holders() & bit(child) != 0)
        {
            return;
        }
        if let Some(children) = self.unseen.get_mut(&block) {
            *children &= !bit(child);
            if *children == 0 {
                self.unseen.remove(&block);
            }
        }
    }
}
