//! Where a node keeps its blocks: tags by set and way, or all of memory.

use std::collections::BTreeMap;
use std::sync::Arc;

use smallvec::SmallVec;

use crate::model::address::Address;
use crate::model::bits::Bits;
use crate::model::cow::CowVec;
use crate::model::patch::Patch;
use crate::model::state::State;

/// The directory entry of one unit: children by their position in the node's list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Unit {
    pub owner: Option<u8>,
    /// A bit per child that may hold a copy; the owner's bit is set too.
    pub sharers: u64,
}

impl Unit {
    /// Holders other than `child`.
    #[must_use]
    pub fn others(self, child: u8) -> u64 {
        self.sharers & !(1 << child)
    }
}

/// A block that a node holds, or keeps a place for.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Entry {
    pub block: Address,
    pub state: State,
    /// The node's count of uses when it was last used, for LRU.
    pub used: u64,
    /// Bytes, and the mask of those that are dirty.
    pub data: Arc<Patch>,
    pub units: SmallVec<[Unit; 1]>,
    /// Of a root with peer transfer: bytes merged from others since the present owner was granted
    /// (`PROTOCOL.md`, peer transfer).
    pub newer: Option<Bits>,
}

impl Entry {
    /// Children that hold any unit.
    #[must_use]
    pub fn holders(&self) -> u64 {
        self.units.iter().fold(0, |all, unit| all | unit.sharers)
    }

    /// Children that own any unit.
    #[must_use]
    pub fn owners(&self) -> u64 {
        self.units.iter().filter_map(|unit| unit.owner).fold(0, |all, owner| all | 1 << owner)
    }
}

/// How addresses are dealt over equal neighbours (slices, partitions, HMDs).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Interleave {
    /// Bytes in one piece.
    pub size: u64,
    pub count: u64,
}

impl Interleave {
    pub const NONE: Self = Self { size: 1, count: 1 };

    /// Which of the neighbours serves `address`.
    #[must_use]
    pub fn index(self, address: Address) -> usize {
        (address.0 / self.size.max(1) % self.count.max(1)) as usize
    }

    /// The address with the dealing squeezed out, so that a slice uses all its sets.
    #[must_use]
    pub fn local(self, address: Address) -> u64 {
        let (size, count) = (self.size.max(1), self.count.max(1));
        address.0 / (size * count) * size + address.0 % size
    }
}

/// The places of a node.
#[derive(Clone, Debug)]
pub enum Store {
    Tagged {
        sets: u32,
        ways: u32,
        block: u32,
        dealing: Interleave,
        /// The block in each slot, by [`tag`]: what a lookup reads.
        tags: CowVec<u64>,
        slots: CowVec<Option<Arc<Entry>>>,
    },
    Memory(BTreeMap<Address, Arc<Entry>>),
}

/// How a slot that holds the block at `address` is tagged; an empty one is 0. Blocks start at even addresses.
fn tag(address: Address) -> u64 {
    address.0 | 1
}

/// Whether a block can have a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Room {
    /// This slot is free.
    Free(usize),
    /// This block must be evicted first.
    Victim(Address),
    /// Every way of the set is busy.
    None,
}

impl Store {
    #[must_use]
    pub fn tagged(sets: u32, ways: u32, block: u32, dealing: Interleave) -> Self {
        let slots = CowVec::new(sets as usize * ways as usize);
        let tags = CowVec::new(sets as usize * ways as usize);
        Self::Tagged { sets, ways, block, dealing, tags, slots }
    }

    /// Set of a block.
    #[must_use]
    pub fn set_of(&self, address: Address) -> u32 {
        match self {
            Self::Tagged { sets, block, dealing, .. } => {
                (dealing.local(address) / u64::from(*block) % u64::from(*sets)) as u32
            }
            Self::Memory(_) => 0,
        }
    }

    fn slot_of(&self, address: Address) -> Option<usize> {
        let Self::Tagged { ways, tags, .. } = self else { return None };
        let ways = *ways as usize;
        let (first, wanted) = (self.set_of(address) as usize * ways, tag(address));
        let way = match tags.slice(first, ways) {
            Some(set) => set.iter().position(|&tag| tag == wanted),
            None => (0..ways).position(|way| tags.get(first + way) == Some(&wanted)),
        };
        way.map(|way| first + way)
    }

    /// The entry of the block that starts at `address`.
    #[must_use]
    pub fn get(&self, address: Address) -> Option<&Entry> {
        match self {
            Self::Tagged { slots, .. } => slots.get(self.slot_of(address)?)?.as_deref(),
            Self::Memory(map) => map.get(&address).map(Arc::as_ref),
        }
    }

    pub fn get_mut(&mut self, address: Address) -> Option<&mut Entry> {
        let slot = self.slot_of(address);
        match self {
            Self::Tagged { slots, .. } => slots.get_mut(slot?)?.as_mut().map(Arc::make_mut),
            Self::Memory(map) => map.get_mut(&address).map(Arc::make_mut),
        }
    }

    /// Looks for a place for `address`, which has none. The least recently used block of the set that is not
    /// `busy` is the victim.
    #[must_use]
    pub fn room(&self, address: Address, busy: impl Fn(Address) -> bool) -> Room {
        let Self::Tagged { ways, slots, .. } = self else { return Room::Free(0) };
        let first = self.set_of(address) as usize * *ways as usize;
        let mut victim: Option<&Entry> = None;
        for slot in first..first + *ways as usize {
            match slots.get(slot) {
                None | Some(None) => return Room::Free(slot),
                Some(Some(entry)) if busy(entry.block) => {}
                Some(Some(entry)) => {
                    if victim.is_none_or(|oldest| entry.used < oldest.used) {
                        victim = Some(entry);
                    }
                }
            }
        }
        victim.map_or(Room::None, |entry| Room::Victim(entry.block))
    }

    /// Puts an entry into the slot that [`Store::room`] found.
    pub fn place(&mut self, slot: usize, entry: Entry) {
        match self {
            Self::Tagged { slots, tags, .. } => {
                if let (Some(place), Some(known)) = (slots.get_mut(slot), tags.get_mut(slot)) {
                    *known = tag(entry.block);
                    *place = Some(Arc::new(entry));
                }
            }
            Self::Memory(map) => {
                map.insert(entry.block, Arc::new(entry));
            }
        }
    }

    pub fn remove(&mut self, address: Address) {
        let slot = self.slot_of(address);
        match self {
            Self::Tagged { slots, tags, .. } => {
                if let Some(slot) = slot
                    && let (Some(place), Some(known)) = (slots.get_mut(slot), tags.get_mut(slot))
                {
                    *known = 0;
                    *place = None;
                }
            }
            Self::Memory(map) => {
                map.remove(&address);
            }
        }
    }

    /// All entries in a fixed order (by slot, or by address), with their slots.
    pub fn entries(&self) -> Box<dyn Iterator<Item = (usize, &Entry)> + '_> {
        match self {
            Self::Tagged { slots, .. } => {
                Box::new(slots.iter().filter_map(|(slot, entry)| Some((slot, entry.as_deref()?))))
            }
            Self::Memory(map) => Box::new(map.values().map(|entry| (0, entry.as_ref()))),
        }
    }

    /// Sets and ways; none for memory.
    #[must_use]
    pub fn shape(&self) -> Option<(u32, u32)> {
        match self {
            Self::Tagged { sets, ways, .. } => Some((*sets, *ways)),
            Self::Memory(_) => None,
        }
    }

    /// Places that were ever written, roughly.
    #[must_use]
    pub fn written(&self) -> usize {
        match self {
            Self::Tagged { slots, .. } => slots.chunks_written() * 64,
            Self::Memory(map) => map.len(),
        }
    }

    /// Set and way of a block that is there.
    #[must_use]
    pub fn place_of(&self, address: Address) -> Option<(u32, u32)> {
        let (_, ways) = self.shape()?;
        let slot = self.slot_of(address)? as u32;
        Some((slot / ways.max(1), slot % ways.max(1)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dealing_is_squeezed_out_of_the_set_index() {
        let dealing = Interleave { size: 4096, count: 4 };
        let store = Store::tagged(128, 1, 64, dealing);
        assert_eq!(dealing.index(Address(0x3000)), 3);
        assert_eq!(store.set_of(Address(0x0)), 0);
        assert_eq!(store.set_of(Address(0x4000)), 64);
        assert_eq!(store.set_of(Address(0x8000)), 0);
    }
}
