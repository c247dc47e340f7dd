//! Inspection of a node: what each block is, and what it waits for.

use std::sync::Arc;

use super::busy::Busy;
use super::pending::{Pending, Want};
use super::{Node, Role};
use crate::model::address::{Address, Range};
use crate::model::component::{ComponentId, Components};
use crate::model::inspect::{BlockView, CacheLine, CacheView, CellCount, MshrEntryView, MshrView, UnitView};
use crate::model::message::MessageKind;
use crate::model::sectors::Sectors;
use crate::model::selective::{RemoteDirectoryView, RemoteLookView, UncachedView};
use crate::model::state::{Action, State};
use crate::model::time::Tick;
use crate::protocol::store::{Entry, Unit, bit};
use crate::protocol::table::{Next, Table};

/// How often each cell of a table was used, at some of the nodes that have it.
#[derive(Clone, Debug)]
pub struct CellSums {
    table: Arc<Table>,
    /// By row and column; the last row is that of blocks that may not be kept.
    cells: Vec<u64>,
}

impl CellSums {
    /// All cells, row by row.
    pub fn counts(&self) -> impl Iterator<Item = CellCount> + '_ {
        let states = self.table.rows.iter().map(|row| Some(row.state)).chain([None]);
        let cells = states.flat_map(|state| Action::ALL.map(|action| (state, action)));
        cells.zip(&self.cells).map(|((state, action), &count)| CellCount { state, action, count })
    }
}

impl Node {
    /// Sets, ways, and the partitions over which addresses are dealt before they come here; none for memory.
    #[must_use]
    pub fn geometry(&self) -> Option<(u32, u32, u64)> {
        let (sets, ways) = self.store.shape()?;
        Some((sets, ways, self.store.neighbours()))
    }

    fn target(&self, pending: Option<&Pending>) -> Option<State> {
        let asked = pending?.asked.as_ref()?;
        match asked.next {
            Next::To(state) => Some(state),
            Next::Granted if asked.kind == MessageKind::Write => self.first_exclusive(),
            // What a read will be granted is not known yet; a plain copy is what it asks for.
            Next::Granted => self.config.table.weakest_grant(asked.kind),
            Next::Same => None,
        }
    }

    pub(super) fn first_exclusive(&self) -> Option<State> {
        self.config.table.rows.iter().find(|row| row.exclusive).map(|row| row.state)
    }

    fn unit_views(&self, entry: &Entry, pending: Option<&Pending>) -> Vec<UnitView> {
        let busy = |unit: u32| {
            pending.is_some_and(|pending| pending.serving.iter().any(|service| service.unit == unit))
        };
        entry
            .units
            .iter()
            .zip(0u32..)
            .filter(|(unit, index)| **unit != Unit::default() || busy(*index))
            .map(|(unit, index)| UnitView {
                range: self.unit_range(entry.block, index),
                owner: unit.owner.and_then(|owner| self.config.children.get(owner as usize).copied()),
                sharers: self.children_of(unit.sharers),
                busy: busy(index),
            })
            .collect()
    }

    /// The block that holds `address`, if it is here, awaited, or memory.
    #[must_use]
    pub fn block_view(&self, address: Address, names: &Components) -> Option<BlockView> {
        let block = self.block_of(address);
        let entry = self.store.get(block);
        let pending = self.pending.get(block);
        let busy = self.busy(address);
        let is_unknown = entry.is_none() && pending.is_none() && busy.is_empty();
        let displaced = is_unknown && self.has_another(block);
        if is_unknown && !displaced {
            return None;
        }
        let is_root = self.config.role == Role::Root;
        Some(BlockView {
            node: self.config.id,
            range: self.range_of(block),
            state: (!is_root)
                .then(|| if self.is_tagged() { self.tag_state(block) } else { self.state(block) }),
            target: self.target(pending).or_else(|| self.tag_target(block)),
            doing: busy.first().map(|busy| busy.describe(names)),
            since: busy.first().map(|busy| busy.since),
            units: entry.map(|entry| self.unit_views(entry, pending)).unwrap_or_default(),
            dirty: entry.filter(|_| !is_root).map(|entry| entry.data.mask.clone()),
            here: entry.and_then(|entry| entry.here.as_deref().cloned()),
            granule: self.config.mask_bytes,
            bytes: entry.filter(|entry| entry.data.has_values()).map(|entry| Arc::from(entry.data.bytes())),
            remote_claim: self.remote().map(|remote| remote.directory.contains(block)),
            place: self.store.place_of(block),
            displaced,
        })
    }

    /// Bytes of a range inside one block; none if not all of them are here.
    #[must_use]
    pub fn value(&self, range: Range) -> Option<Vec<u8>> {
        let block = self.block_of(range.start);
        match self.store.get(block) {
            // A place that is kept for a block under way holds nothing yet.
            Some(entry) if entry.state == State::I && self.config.role != Role::Root => None,
            Some(entry) if !entry.has(range) => None,
            Some(entry) => entry.data.read(range).map(<[u8]>::to_vec),
            None if self.config.role == Role::Root && self.config.values => Some(vec![0; range.len as usize]),
            None => None,
        }
    }

    /// Whether a store to a byte has been handed on from here, and is not known to have been performed. Behind an atomic loads wait.
    #[must_use]
    pub fn has_handed_on(&self, at: Address) -> bool {
        let is_store = |want: &Want| !want.is_atomic();
        self.pending.get(self.block_of(at)).is_some_and(|pending| pending.stores_passed(at).any(is_store))
    }

    /// Whether the block that holds `address` has dirty bytes here in `range`.
    #[must_use]
    pub fn is_dirty(&self, range: Range) -> bool {
        self.store.get(self.block_of(range.start)).is_some_and(|entry| entry.data.marked(range))
    }

    /// The blocks up to one (or all) that are in a cache or awaited, or that a directory lists; some may come twice.
    pub fn known_blocks(&self, last: Option<Address>) -> impl Iterator<Item = Address> + '_ {
        let is_wanted = move |block: &Address| last.is_none_or(|last| *block <= last);
        let is_cache = self.config.role != Role::Root || self.is_tagged();
        let cached = is_cache.then(|| self.store.addresses(last)).into_iter().flatten();
        let listed = (!is_cache && self.config.is_directory()).then(|| self.store.entries());
        let listed = listed.into_iter().flatten().filter(|(_, entry)| entry.holders() != 0);
        let scores = self.tags.iter().flat_map(|tags| tags.scores.iter().map(|score| score.block));
        let listed = listed.map(|(_, entry)| entry.block).filter(is_wanted);
        let awaited = self.pending.in_any_order().map(|(block, _)| block).filter(is_wanted);
        cached.chain(listed).chain(awaited).chain(scores.filter(is_wanted))
    }

    /// The units of a block that children hold, as ranges.
    #[must_use]
    pub fn active_units(&self, block: Address) -> Vec<Range> {
        let Some(entry) = self.store.get(block) else { return Vec::new() };
        let units = entry.units.iter().zip(0u32..).filter(|(unit, _)| unit.sharers != 0);
        units.map(|(_, index)| self.unit_range(block, index)).collect()
    }

    /// State and directory of the block at `address`, for the checks.
    #[must_use]
    pub fn entry(&self, address: Address) -> Option<&Entry> {
        self.store.get(self.block_of(address))
    }

    /// All blocks here, for the checks.
    pub fn entries(&self) -> impl Iterator<Item = &Entry> {
        self.store.entries().map(|(_, entry)| entry)
    }

    /// The range of a unit of a block here, for the checks.
    #[must_use]
    pub fn unit_of_entry(&self, entry: &Entry, unit: u32) -> Range {
        self.unit_range(entry.block, unit)
    }

    /// The blocks here that overlap a range, for the checks.
    pub fn held(&self, range: Range) -> impl Iterator<Item = &Entry> {
        self.store.within(range).filter(|entry| entry.state != State::I)
    }

    /// Whether a block of a range is here or under way; of memory, under way.
    #[must_use]
    pub fn is_busy_with(&self, range: Range) -> bool {
        let (is_root, is_idle) = (self.config.role == Role::Root, self.pending.is_empty());
        let is_pending = |block| !is_idle && self.pending.contains(block);
        range
            .blocks(self.config.block.max(1))
            .any(|block| is_pending(block) || !is_root && self.store.get(block).is_some())
    }

    /// The directory's view of `child` for the unit at `address`: whether it is listed, and as owner.
    #[must_use]
    pub fn listed(&self, address: Address, child: ComponentId) -> Option<(bool, bool)> {
        let position = self.config.child(child)?;
        let block = self.block_of(address);
        let entry = self.store.get(block)?;
        let unit = entry.units.get(self.unit_of(block, address) as usize)?;
        Some((unit.sharers & bit(position) != 0, unit.owner == Some(position)))
    }

    /// What is under way, the oldest so many at most; by block if that is all.
    fn oldest_pending(&self, most: usize) -> Vec<&Pending> {
        if most == 0 {
            return Vec::new();
        }
        let mut all: Vec<&Pending> = self.pending.in_any_order().map(|(_, pending)| pending).collect();
        if all.len() > most {
            all.select_nth_unstable_by_key(most, |pending| (pending.since, pending.block));
            all.truncate(most);
            all.sort_unstable_by_key(|pending| (pending.since, pending.block));
        } else {
            all.sort_unstable_by_key(|pending| pending.block);
        }
        all
    }

    #[must_use]
    pub fn mshr_view(&self, names: &Components, entries: usize) -> MshrView {
        if let Some(tags) = self.tags.as_deref() {
            return self.score_view(tags, names, entries);
        }
        let entries = self
            .oldest_pending(entries)
            .into_iter()
            .map(|pending| {
                let busy = self.busy(pending.block);
                MshrEntryView {
                    range: self.range_of(pending.block),
                    txn: busy.iter().find_map(|busy| busy.number),
                    since: busy.first().map_or(pending.since, |busy| busy.since),
                    waits_for: self.waits_text(pending, busy.first(), names),
                    merged: (pending.queue.len() + pending.passed.len() + pending.serving.len()) as u32,
                    has_mshr: pending.mshr,
                }
            })
            .collect();
        MshrView {
            node: self.config.id,
            used: self.mshrs_used,
            capacity: (self.config.mshrs > 0).then_some(self.config.mshrs),
            high_water: self.high_water,
            under_way: self.pending.len(),
            entries,
        }
    }

    /// What a block waits for; of one that is not kept, with its sectors: those that are wanted, and those on their way.
    fn waits_text(&self, pending: &Pending, busy: Option<&Busy>, names: &Components) -> String {
        let text = busy.map(|busy| busy.describe(names)).unwrap_or_default();
        let is_sectored = self.is_sectored(pending.block);
        let Some(asked) = pending.asked.as_ref().filter(|_| pending.uncached || is_sectored) else {
            return text;
        };
        let wants = pending.queue.iter().filter(|want| is_sectored || want.is_load());
        let wanted = wants.fold(Sectors::NONE, |all, want| all.with(want.sectors.without(want.got)));
        let picture = |sectors: Sectors| sectors.picture(self.config.block);
        format!("{text}, wants {}, on the way {}", picture(wanted), picture(asked.coming))
    }

    /// The cache with the lines of its first `most` sets.
    #[must_use]
    pub fn cache_view(&self, most: u32) -> Option<CacheView> {
        let (sets, ways) = self.store.shape()?;
        let mut told: Vec<u32> = if sets <= most { (0..sets).collect() } else { Vec::new() };
        let (mut lines, mut holds_more) = (vec![None; told.len() * ways as usize], false);
        // Entries come by slot: those beyond the sets asked for need not be looked at.
        for (slot, entry) in self.store.entries() {
            let (set, way) = (slot as u32 / ways.max(1), slot % ways.max(1) as usize);
            if sets > most && told.last() != Some(&set) {
                holds_more = told.len() == most as usize;
                if holds_more {
                    break;
                }
                told.push(set);
                lines.resize(told.len() * ways as usize, None);
            }
            let nth = if sets > most { told.len() - 1 } else { set as usize };
            if let Some(line) = lines.get_mut(nth * ways as usize + way) {
                *line = Some(CacheLine { block: entry.block, state: entry.state, remote: entry.remote });
            }
        }
        Some(CacheView {
            node: self.config.id,
            sets,
            ways,
            block: self.config.block,
            told,
            holds_more,
            lines,
            hits: self.counters.hits,
            misses: self.counters.misses,
            evictions: self.counters.evictions,
            writebacks: self.counters.writebacks,
            port_utilisation: 0.0,
            port_wait: 0.0,
            remote_hits: self.counters.remote_hits,
            remote_misses: self.counters.remote_misses,
            partition: None,
            uncached: self.uncached_view(),
            remote_directory: None,
        })
    }

    fn uncached_view(&self) -> Option<UncachedView> {
        let counters = &self.counters;
        self.config.table.uncached.map(|_| UncachedView {
            loads: counters.uncached_loads,
            requests: counters.uncached_requests,
            brought: counters.sectors_brought,
            dropped: counters.sectors_dropped,
        })
    }

    /// What a memory knows about the caches beyond the network.
    #[must_use]
    pub fn remote_view(&self) -> Option<RemoteDirectoryView> {
        let remote = self.remote()?;
        let counters = remote.directory.counters;
        Some(RemoteDirectoryView {
            lines: remote.directory.len(),
            capacity: remote.directory.config().high_water,
            peak: counters.peak,
            looks: counters.looks,
            found: counters.known + counters.false_positives,
            nacks: self.counters.nacks,
            false_positives: self.counters.false_positives,
            flushes: self.counters.forced_flushes,
            inserted: counters.inserted,
            moved: counters.moved,
            is_flushing: remote.purge != super::remote::Purge::No,
        })
    }

    /// Where the remote directory of a memory looks for the line of an address.
    #[must_use]
    pub fn remote_look(&self, address: Address) -> Option<RemoteLookView> {
        Some(self.remote()?.directory.looked_for(address))
    }

    /// Table cells used here.
    #[must_use]
    pub fn cell_sums(&self) -> CellSums {
        CellSums { table: Arc::clone(&self.config.table), cells: self.cells.clone() }
    }

    /// Adds the table cells used here to those of other nodes. `false`, and nothing is done, if those have another table.
    #[must_use]
    pub fn add_cells(&self, sums: &mut CellSums) -> bool {
        let is_same = Arc::ptr_eq(&sums.table, &self.config.table);
        if is_same {
            sums.cells.iter_mut().zip(&self.cells).for_each(|(sum, count)| *sum += count);
        }
        is_same
    }

    /// Ticks that MSHRs were in use until `now`, summed over them.
    #[must_use]
    pub fn mshr_ticks(&self, now: Tick) -> Tick {
        self.counters.mshr_ticks.wrapping_add(u64::from(self.mshrs_used).wrapping_mul(now))
    }

    /// Ticks until `now` that there were MSHRs, summed over them; 0 if they are without limit.
    #[must_use]
    pub fn mshrs_offered(&self, now: Tick) -> Tick {
        let (since, before) = self.mshrs_before;
        // The scoreboard of a memory with tags stands for them.
        let own = self.config.tags.map_or(self.config.mshrs, |tags| tags.scoreboard);
        before + now.saturating_sub(since).saturating_mul(u64::from(own))
    }

    /// It is configured as `other` from now on.
    pub fn adopt(&mut self, other: &Self, now: Tick) {
        self.mshrs_before = (now, self.mshrs_offered(now));
        let remembers = self.config.remembers;
        self.config = other.config.clone();
        // That follows from the work, not from the machine.
        if self.config.remembers != remembers {
            Arc::make_mut(&mut self.config).remembers = remembers;
        }
    }

    /// Most MSHRs ever in use.
    #[must_use]
    pub fn high_water(&self) -> u32 {
        self.high_water
    }

    /// Bytes that a clone holds for itself, roughly.
    #[must_use]
    pub fn footprint(&self) -> usize {
        let entry = size_of::<Entry>() + if self.config.values { self.config.block as usize } else { 0 };
        self.store.written() * entry / 4 + self.pending.len() * size_of::<Pending>() * 2
    }
}
