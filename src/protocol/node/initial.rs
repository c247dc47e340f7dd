//! What a node has before the first event.

use super::Node;
use crate::model::address::Address;
use crate::model::component::ComponentId;
use crate::model::state::State;
use crate::protocol::homes::Homes;
use crate::protocol::store::{Entry, Kind, Room, bit};

impl Node {
    /// Puts a block here before the first event.
    pub fn place_block(&mut self, address: Address, state: Option<State>, homes: &Homes) -> bool {
        let block = self.block_of(address);
        if self.store.get(block).is_none() {
            // What nobody has touched yet is at home nowhere.
            let is_remote = !homes.is_undecided(block) && self.is_remote(block, homes);
            let kind = Kind { is_remote, other_waits: false };
            let Room::Free(slot) = self.store.room_by_kind(block, kind, |_| true) else {
                return false;
            };
            let entry = Entry { remote: is_remote, ..self.new_entry(block) };
            self.store.place(slot, entry);
        }
        self.touch(block);
        if let (Some(state), Some(entry)) = (state, self.store.get_mut(block)) {
            entry.state = state;
        }
        true
    }

    /// Enters a child into the directory before the first event.
    pub fn place_holder(&mut self, address: Address, child: ComponentId, owner: bool) -> bool {
        let Some(position) = self.config.child(child) else { return false };
        let block = self.block_of(address);
        let index = self.unit_of(block, address) as usize;
        let Some(unit) = self.store.get_mut(block).and_then(|entry| entry.units.get_mut(index)) else {
            return false;
        };
        unit.sharers |= bit(position);
        if owner {
            unit.owner = Some(position);
        }
        true
    }

    /// Puts bytes into a block before the first event, dirty or clean.
    pub fn place_bytes(&mut self, address: Address, bytes: &[u8], dirty: bool) {
        let block = self.block_of(address);
        if let Some(entry) = self.store.get_mut(block) {
            let data = &mut entry.data;
            if dirty {
                data.write(address, bytes);
            } else {
                data.copy_in(address, bytes);
            }
        }
    }
}
