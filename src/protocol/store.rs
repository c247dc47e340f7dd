//! Where a node keeps its blocks: tags by set and way, or all of memory.

#[cfg(test)]
mod tests;

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::interleave::{Interleave, divide};

use crate::model::address::{Address, Range};
use crate::model::bits::Bits;
use crate::model::cow::CowVec;
use crate::model::patch::Patch;
use crate::model::state::State;

/// The bit of a child in a directory, which lists 64 at most: a node with more keeps none.
#[must_use]
pub fn bit(child: u16) -> u64 {
    1u64.checked_shl(u32::from(child)).unwrap_or(0)
}

/// The directory entry of one unit: children by their position in the node's list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Unit {
    pub owner: Option<u16>,
    /// A bit per child that may hold a copy; the owner's bit is set too.
    pub sharers: u64,
}

impl Unit {
    /// Holders other than `child`.
    #[must_use]
    pub fn others(self, child: u16) -> u64 {
        self.sharers & !bit(child)
    }
}

/// A block that a node holds, or keeps a place for.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Entry {
    pub block: Address,
    pub state: State,
    /// Its home is another socket.
    pub remote: bool,
    /// The node's count of uses when it was last used, for LRU.
    pub used: u64,
    /// Bytes, and the mask of those that are dirty.
    pub data: Patch,
    pub units: SmallVec<[Unit; 1]>,
    /// Before memory: bytes merged from others since the present owner was granted.
    pub newer: Option<Box<Bits>>,
    /// The bytes that are here, where only some are (`partial` states, lines kept by sector): a bit as in the mask. None for all.
    pub here: Option<Box<Bits>>,
}

impl Entry {
    /// Whether every byte of a range is here.
    #[must_use]
    pub fn has(&self, range: Range) -> bool {
        let Some(here) = self.here.as_deref() else { return true };
        let (from, to) = self.data.bits_of(range);
        (from..to).all(|bit| here.get(bit))
    }

    /// The bytes of a range are here now. One of which all are is as if it had come whole.
    pub fn note_here(&mut self, range: Range) {
        let (from, to) = self.data.bits_of(range);
        let Some(here) = self.here.as_deref_mut() else { return };
        here.set_range(from, to, true);
        if here.is_full() {
            self.here = None;
        }
    }

    /// None of its bytes is here, though it has its place.
    pub fn forget(&mut self) {
        self.here = Some(Box::new(Bits::new(self.data.mask.len())));
    }

    /// Children that hold any unit.
    #[must_use]
    pub fn holders(&self) -> u64 {
        self.units.iter().fold(0, |all, unit| all | unit.sharers)
    }

    /// Children that own any unit.
    #[must_use]
    pub fn owners(&self) -> u64 {
        self.units.iter().filter_map(|unit| unit.owner).fold(0, |all, owner| all | bit(owner))
    }
}

/// Asking for a block takes as long as looking at so many tags.
const ASKING: usize = 4;

/// Entries that are copied together when one of them is written after a clone.
const CHUNK: usize = 32;

/// The places of a node.
#[derive(Clone, Debug)]
pub struct Store {
    places: Places,
    slots: CowVec<Option<Entry>, CHUNK>,
    /// The block that was looked for last, and its slot: what an event does is mostly about one block.
    last: (Address, Option<usize>),
}

/// Where a block can stand.
#[derive(Clone, Debug)]
enum Places {
    /// In any way of its set.
    Tagged {
        sets: u32,
        ways: u32,
        /// The last so many ways are for remote blocks, and the others for local ones; 0 where any way is for any block.
        remote: u32,
        block: u32,
        dealing: Interleave,
        /// How addresses are dealt over the memories that they live in.
        homes: Interleave,
        /// The block in each slot, by [`tag`]: what a lookup reads.
        tags: CowVec<u64, 64>,
    },
    /// Each in its own: the first slot of each run of `CHUNK` blocks that fall to this memory, by its number.
    Memory { block: u32, dealing: Interleave, runs: FxHashMap<u64, usize> },
}

/// How a slot that holds the block at `address` is tagged; an empty one is 0. Blocks start at even addresses.
fn tag(address: Address) -> u64 {
    address.0 | 1
}

/// The run that a block of a memory is in, and its place there.
fn run_of(dealing: Interleave, block: u32, address: Address) -> (u64, u64) {
    divide(divide(dealing.local(address), u64::from(block)).0, CHUNK as u64)
}

/// The least recently used of some entries, or the first place that has none.
fn least_used<'a>(
    entries: impl Iterator<Item = Option<&'a Entry>>,
) -> Result<Option<(usize, &'a Entry)>, usize> {
    let mut oldest: Option<(usize, &Entry)> = None;
    for (place, entry) in entries.enumerate() {
        let entry = entry.ok_or(place)?;
        if oldest.is_none_or(|(_, oldest)| entry.used < oldest.used) {
            oldest = Some((place, entry));
        }
    }
    Ok(oldest)
}

/// Whether a block can have a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Room {
    /// This slot is free.
    Free(usize),
    /// This block must be evicted first, from this slot.
    Victim(usize, Address),
    /// Every way of the set is busy.
    None,
}

/// A block for which a way is looked for where ways are dealt over kinds.
#[derive(Clone, Copy, Debug)]
pub struct Kind {
    pub is_remote: bool,
    /// Whether a block of the other kind waits for a way of the same set.
    pub other_waits: bool,
}

/// A block that may have to leave, and when compared with others.
#[derive(Clone, Copy, Debug)]
struct Candidate {
    order: (bool, u64),
    slot: usize,
    block: Address,
}

/// An address that no block starts at.
const NOWHERE: Address = Address(u64::MAX);

impl Store {
    #[must_use]
    pub fn tagged(sets: u32, ways: u32, block: u32, dealing: Interleave) -> Self {
        let count = sets as usize * ways as usize;
        let homes = Interleave::NONE;
        let places =
            Places::Tagged { sets, ways, remote: 0, block, dealing, homes, tags: CowVec::new(count) };
        Self { places, slots: CowVec::new(count), last: (NOWHERE, None) }
    }

    /// The same places for what lives in several memories: a block has its set by where it is in its own, so that the blocks of
    /// each use all sets. Pieces smaller than what goes once round the slices would leave some of these without any.
    #[must_use]
    pub fn of_homes(mut self, dealt: Interleave) -> Self {
        if let Places::Tagged { dealing, homes, .. } = &mut self.places
            && dealt.size >= dealing.size * dealing.count
        {
            *homes = dealt;
        }
        self
    }

    /// Room for every block of `block` bytes that `dealing` gives it.
    #[must_use]
    pub fn memory(block: u32, dealing: Interleave) -> Self {
        // Of pieces smaller than a block, several memories have parts of it.
        let dealing = if dealing.size < u64::from(block) { Interleave::NONE } else { dealing };
        let places = Places::Memory { block, dealing, runs: FxHashMap::default() };
        Self { places, slots: CowVec::new(0), last: (NOWHERE, None) }
    }

    /// The same places with nothing in them.
    #[must_use]
    pub fn emptied(&self) -> Self {
        match &self.places {
            Places::Tagged { sets, ways, remote, block, dealing, homes, .. } => {
                let mut store = Self::tagged(*sets, *ways, *block, *dealing).of_homes(*homes);
                store.partition(*remote);
                store
            }
            Places::Memory { block, dealing, .. } => Self::memory(*block, *dealing),
        }
    }

    /// Set of a block.
    #[must_use]
    pub fn set_of(&self, address: Address) -> u32 {
        match &self.places {
            Places::Tagged { sets, block, dealing, homes, .. } => {
                let local = dealing.local(Address(homes.local(address)));
                let number = divide(local, u64::from(*block)).0;
                divide(number, u64::from(*sets)).1 as u32
            }
            Places::Memory { .. } => 0,
        }
    }

    fn look_up(&self, address: Address) -> Option<usize> {
        match &self.places {
            Places::Tagged { ways, tags, .. } => {
                let ways = *ways as usize;
                let (first, wanted) = (self.set_of(address) as usize * ways, tag(address));
                let way = match tags.slice(first, ways) {
                    Some(set) => set.iter().position(|&tag| tag == wanted),
                    None => (0..ways).position(|way| tags.get(first + way) == Some(&wanted)),
                };
                way.map(|way| first + way)
            }
            Places::Memory { block, dealing, runs } => {
                let (run, place) = run_of(*dealing, *block, address);
                let slot = runs.get(&run)? + place as usize;
                // What falls to a neighbour would stand in the same place.
                (self.slots.get(slot)?.as_ref()?.block == address).then_some(slot)
            }
        }
    }

    fn slot_of(&self, address: Address) -> Option<usize> {
        if self.last.0 == address { self.last.1 } else { self.look_up(address) }
    }

    /// Looks for a block once for all that follows about it.
    pub fn focus(&mut self, address: Address) {
        if self.last.0 != address {
            self.last = (address, self.look_up(address));
        }
    }

    /// The same, where it is known that it stands in a slot.
    pub fn focus_on(&mut self, slot: usize, address: Address) {
        self.last = (address, Some(slot));
    }

    /// The entry of the block that starts at `address`.
    #[must_use]
    pub fn get(&self, address: Address) -> Option<&Entry> {
        self.slots.get(self.slot_of(address)?)?.as_ref()
    }

    pub fn get_mut(&mut self, address: Address) -> Option<&mut Entry> {
        let slot = self.slot_of(address)?;
        self.slots.get_mut(slot)?.as_mut()
    }

    /// So many ways are for remote blocks. What stands in a way that goes to the others stays until one of them needs it:
    /// "all ways are consulted on look up, allowing lazy eviction" ("Beyond the Socket: NUMA-Aware GPUs", section 5.1).
    pub fn partition(&mut self, to_remote: u32) {
        if let Places::Tagged { ways, remote, .. } = &mut self.places {
            *remote = to_remote.min(ways.saturating_sub(1));
        }
    }

    /// Ways for remote blocks; 0 where any way is for any block.
    #[must_use]
    pub fn remote_ways(&self) -> u32 {
        match &self.places {
            Places::Tagged { remote, .. } => *remote,
            Places::Memory { .. } => 0,
        }
    }

    /// Looks for a place for `address`, which has none, where any way is for any block: an empty one, or that of the least recently
    /// used block that is not `busy`.
    #[must_use]
    pub fn room(&self, address: Address, busy: impl Fn(Address) -> bool) -> Room {
        let Places::Tagged { ways, .. } = &self.places else { return Room::Free(0) };
        let first = self.set_of(address) as usize * *ways as usize;
        let slots = first..first + *ways as usize;
        let found = match self.slots.slice(slots.start, slots.len()) {
            Some(set) => least_used(set.iter().map(Option::as_ref)),
            None => least_used(slots.clone().map(|slot| self.slots.get(slot)?.as_ref())),
        };
        // Few are busy: mostly one has to be asked.
        match found {
            Err(place) => Room::Free(slots.start + place),
            Ok(Some((_, oldest))) if busy(oldest.block) => {
                let all = slots.filter_map(|slot| Some((slot, self.slots.get(slot)?.as_ref()?)));
                let rest = all.filter(|(_, entry)| !busy(entry.block)).min_by_key(|(_, entry)| entry.used);
                rest.map_or(Room::None, |(slot, entry)| Room::Victim(slot, entry.block))
            }
            Ok(Some((place, oldest))) => Room::Victim(slots.start + place, oldest.block),
            Ok(None) => Room::None,
        }
    }

    /// The same where ways are dealt over local and remote blocks: as many as there are for a kind are its share of a set. An
    /// empty way is lent, as where quotas deal a cache (Qureshi and Patt, whom section 7 names), so that who is alone has all of
    /// it. A kind that has less than its share takes a way back from the other one, first one of its own; any other
    /// pushes out its own least recently used block. While the other kind waits for a way, none has more than its share.
    #[must_use]
    pub fn room_by_kind(&self, address: Address, kind: Kind, busy: impl Fn(Address) -> bool) -> Room {
        let Places::Tagged { ways, remote, .. } = &self.places else { return Room::Free(0) };
        let (ways, remote) = (*ways as usize, *remote as usize);
        let first = self.set_of(address) as usize * ways;
        let local = ways.saturating_sub(remote);
        let share = if kind.is_remote { remote } else { local };
        let (mut held, mut free) = (0, None);
        // The least recently used of its own kind, and of the other one: first those in the ways of its own.
        let (mut own, mut other): (Option<Candidate>, Option<Candidate>) = (None, None);
        for way in 0..ways {
            let (slot, is_foreign) = (first + way, (way >= local) != kind.is_remote);
            let Some(entry) = self.slots.get(slot).and_then(Option::as_ref) else {
                free = Some(free.map_or((is_foreign, slot), |free| (is_foreign, slot).min(free)));
                continue;
            };
            let is_own = entry.remote == kind.is_remote;
            held += usize::from(is_own);
            let (best, order) = if is_own { (&mut own, false) } else { (&mut other, is_foreign) };
            let found = Candidate { order: (order, entry.used), slot, block: entry.block };
            if best.as_ref().is_none_or(|best| found.order < best.order) && !busy(entry.block) {
                *best = Some(found);
            }
        }
        let victim = |of: Option<Candidate>| of.map_or(Room::None, |one| Room::Victim(one.slot, one.block));
        match free {
            Some((_, slot)) if held < share || !kind.other_waits => Room::Free(slot),
            _ if held < share => victim(other.or(own)),
            _ if held > share && kind.other_waits => Room::None,
            _ => victim(own),
        }
    }

    /// Puts an entry into the slot that [`Store::room`] or [`Store::room_by_kind`] found.
    pub fn place(&mut self, slot: usize, entry: Entry) {
        let address = entry.block;
        let slot = match &mut self.places {
            Places::Tagged { tags, .. } => {
                if let Some(known) = tags.get_mut(slot) {
                    *known = tag(address);
                }
                slot
            }
            Places::Memory { block, dealing, runs } => {
                let (run, place) = run_of(*dealing, *block, address);
                *runs.entry(run).or_insert_with(|| self.slots.grow()) + place as usize
            }
        };
        if let Some(place) = self.slots.get_mut(slot) {
            debug_assert!(place.as_ref().is_none_or(|old| old.block == address), "two blocks in one place");
            *place = Some(entry);
        }
        self.last = (address, Some(slot));
    }

    /// Takes out the entry of the block that starts at `address`.
    pub fn remove(&mut self, address: Address) -> Option<Entry> {
        let slot = self.slot_of(address)?;
        if let Places::Tagged { tags, .. } = &mut self.places
            && let Some(known) = tags.get_mut(slot)
        {
            *known = 0;
        }
        self.last = (address, None);
        self.slots.get_mut(slot)?.take()
    }

    /// The blocks that overlap a range, by address.
    pub fn within(&self, range: Range) -> impl Iterator<Item = &Entry> {
        let slots: SmallVec<[usize; 8]> = match &self.places {
            // A small cache is sooner gone through than asked for each of many blocks.
            Places::Tagged { tags, block, .. } if (range.len / *block) as usize * ASKING >= tags.len() => {
                let first = range.start.block(*block).0;
                let len = range.end().saturating_sub(first);
                let is_within = |tag: u64| tag != 0 && (tag & !1).wrapping_sub(first) < len;
                let mut slots = SmallVec::new();
                for (first, piece) in tags.pieces() {
                    let held = piece.iter().enumerate().filter(|(_, tag)| is_within(**tag));
                    held.for_each(|(place, _)| slots.push(first + place));
                }
                slots.sort_unstable_by_key(|&slot| tags.get(slot));
                slots
            }
            Places::Tagged { block, .. } | Places::Memory { block, .. } => {
                range.blocks(*block).filter_map(|block| self.slot_of(block)).collect()
            }
        };
        slots.into_iter().filter_map(|slot| self.slots.get(slot)?.as_ref())
    }

    /// The blocks up to one (or all) that stand in a cache, by slot, without a look at their entries.
    pub fn addresses(&self, last: Option<Address>) -> impl Iterator<Item = Address> {
        let tags = match &self.places {
            Places::Tagged { tags, .. } => Some(tags),
            Places::Memory { .. } => None,
        };
        // Half an address is below half an end if the difference has its highest bit set. An empty slot is beyond all ends.
        let end = last.map_or(u64::MAX / 2, |last| (last.0 / 2 + 1).min(u64::MAX / 2));
        let below = move |tag: u64| (tag.wrapping_sub(1) / 2).wrapping_sub(end);
        let is_wanted = move |bits: u64| bits.leading_zeros() == 0;
        let pieces = tags.into_iter().flat_map(CowVec::pieces).map(|(_, piece)| piece);
        // Most pieces have none: each is looked at as a whole first, without a branch for every tag.
        let has_any = move |piece: &&[u64]| is_wanted(piece.iter().fold(0, |all, tag| all | below(*tag)));
        let tags = pieces.filter(has_any).flatten().copied();
        tags.filter(move |tag| is_wanted(below(*tag))).map(|tag| Address(tag & !1))
    }

    /// All entries in a fixed order (by slot, or by address), with their slots.
    pub fn entries(&self) -> Box<dyn Iterator<Item = (usize, &Entry)> + '_> {
        match &self.places {
            Places::Tagged { .. } => {
                Box::new(self.slots.iter().filter_map(|(slot, entry)| Some((slot, entry.as_ref()?))))
            }
            Places::Memory { runs, .. } => {
                let mut runs: Vec<(u64, usize)> = runs.iter().map(|(&run, &first)| (run, first)).collect();
                runs.sort_unstable();
                let slots = runs.into_iter().flat_map(|(_, first)| first..first + CHUNK);
                Box::new(slots.filter_map(|slot| Some((0, self.slots.get(slot)?.as_ref()?))))
            }
        }
    }

    /// Sets and ways; none for memory.
    #[must_use]
    pub fn shape(&self) -> Option<(u32, u32)> {
        match &self.places {
            Places::Tagged { sets, ways, .. } => Some((*sets, *ways)),
            Places::Memory { .. } => None,
        }
    }

    /// Over how many equal neighbours addresses are dealt, this one included.
    #[must_use]
    pub fn neighbours(&self) -> u64 {
        match &self.places {
            Places::Tagged { dealing, .. } => dealing.count.max(1),
            Places::Memory { .. } => 1,
        }
    }

    /// Places that were ever written, roughly.
    #[must_use]
    pub fn written(&self) -> usize {
        self.slots.written()
    }

    /// Set and way of a block that is there.
    #[must_use]
    pub fn place_of(&self, address: Address) -> Option<(u32, u32)> {
        let (_, ways) = self.shape()?;
        let slot = self.slot_of(address)? as u32;
        Some((slot / ways.max(1), slot % ways.max(1)))
    }
}
