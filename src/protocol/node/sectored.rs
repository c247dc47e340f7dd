//! Lines of another memory that are kept by sector: a coherent cache behind a link with variable-size transfers has the sectors
//! that were asked for, and the state is that of the whole line ("Selective GPU Caches", section 5.3, of the hardware-coherent GPU).
//!
//! What misses a sector of a line whose state allows the access fetches it: the parent performs the fetch like a load and
//! grants nothing. A line that is invalidated has none.

use super::pending::{Pending, Want};
use super::{Decision, Node, Role};
use crate::model::address::Address;
use crate::model::message::MessageKind;
use crate::model::patch::Patch;
use crate::model::sectors::Sectors;
use crate::protocol::store::Entry;
use crate::protocol::table::{Cell, Next, Step};

impl Entry {
    /// Those of some sectors that are not here.
    fn missing(&self, sectors: Sectors) -> Sectors {
        if self.here.is_none() {
            return Sectors::NONE;
        }
        let lacking = sectors.runs(self.data.range()).filter(|run| !self.has(*run));
        lacking.fold(Sectors::NONE, |all, run| all.with(Sectors::of(run, self.block)))
    }

    /// Those that have dirty bytes.
    fn dirty_sectors(&self) -> Sectors {
        let all = Sectors::all(self.data.len).runs(self.data.range());
        let dirty = all.filter(|run| {
            let (from, to) = self.data.bits_of(*run);
            self.data.mask.any_in(from, to)
        });
        dirty.fold(Sectors::NONE, |all, run| all.with(Sectors::of(run, self.block)))
    }
}

impl Node {
    /// Whether only those sectors of a block are here that were asked for.
    pub(super) fn is_sectored(&self, block: Address) -> bool {
        self.config.sectored && self.store.get(block).is_some_and(|entry| entry.remote)
    }

    /// Those of some sectors that are not here, of a block that is kept by sector.
    pub(super) fn missing(&self, block: Address, sectors: Sectors) -> Sectors {
        match self.store.get(block) {
            Some(entry) if self.config.sectored => entry.missing(sectors),
            _ => Sectors::NONE,
        }
    }

    /// What becomes of an action that the state allows: it fetches the sectors that it touches and that are not here.
    pub(super) fn unless_missing(&self, block: Address, sectors: Sectors, cell: Cell) -> Decision {
        if self.missing(block, sectors).is_empty() {
            Decision::Here(cell)
        } else {
            Decision::Parent(Cell { step: Step::Fetch, next: Next::Same })
        }
    }

    /// The sectors of a request: the whole line, or what those that wait for a line kept by sector touch and is not here.
    pub(super) fn sectors_to_ask(&self, pending: &Pending) -> Sectors {
        if !self.is_sectored(pending.block) {
            return Sectors::all(self.config.block);
        }
        let wanted = pending.queue.iter().fold(Sectors::NONE, |all, want| all.with(want.sectors));
        self.missing(pending.block, wanted)
    }

    /// Whether a want needs sectors of a line that is being fetched, and that are not on their way.
    pub(super) fn misses_more(&self, pending: &Pending, want: &Want) -> bool {
        let block = pending.block;
        self.config.sectored
            && pending.asked.as_ref().is_some_and(|asked| {
                asked.kind == MessageKind::Fetch
                    && asked.spoiled.is_none()
                    && !self.missing(block, want.sectors).without(asked.coming).is_empty()
            })
    }

    /// What goes over a link with dirty bytes of a block: the sectors that have any of them, or all of it where blocks go whole; with
    /// their bytes. Of a block that was stored to and never fetched there is nothing else.
    pub(super) fn sectors_to_send(&self, entry: &Entry) -> (Sectors, u32) {
        let is_sectored = self.config.sectored && entry.remote;
        if !is_sectored && !self.config.table.is_unfetched(entry.state, self.config.role != Role::Leaf) {
            return (Sectors::NONE, entry.data.len);
        }
        let sectors = entry.dirty_sectors();
        (if is_sectored { sectors } else { Sectors::NONE }, sectors.bytes(entry.data.len))
    }

    /// Bytes of some sectors have come: they go in where nothing is dirty.
    pub(super) fn fill_sectors(&mut self, block: Address, fresh: Option<&Patch>, sectors: Sectors) {
        let Some(entry) = self.store.get_mut(block) else { return };
        for run in sectors.runs(entry.data.range()) {
            if let Some(fresh) = fresh {
                entry.data.fill(&fresh.clean_copy(run));
            }
            entry.note_here(run);
        }
    }

    /// A line that has been invalidated, and keeps its place for what is under way, has no sectors.
    pub(super) fn forget_sectors(&mut self, block: Address) {
        if self.is_sectored(block)
            && let Some(entry) = self.store.get_mut(block)
        {
            entry.forget();
        }
    }
}
