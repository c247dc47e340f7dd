//! The states that have been seen: of each its hash of 128 bits, and from which other it was first reached.

/// Parts of the table: a thread changes whole parts, so that none waits for another.
pub const SHARDS: usize = 32;

/// The number of the state before the first event, and no state's number.
pub const ROOT: u32 = u32::MAX;

/// One part: open addressing with linear probing.
#[derive(Debug)]
pub struct Shard {
    number: u32,
    /// A piece of the hash, and the place among `hashes` plus one; 0 is empty.
    slots: Vec<u64>,
    hashes: Vec<u128>,
    parents: Vec<u32>,
}

/// All parts.
#[derive(Debug)]
pub struct Visited {
    pub shards: Vec<Shard>,
}

/// The part that a hash belongs to.
#[must_use]
pub fn shard_of(hash: u128) -> usize {
    (hash >> 96) as usize % SHARDS
}

impl Shard {
    fn new(number: u32) -> Self {
        Self { number, slots: vec![0; 1 << 8], hashes: Vec::new(), parents: Vec::new() }
    }

    /// The slot of a hash: full, or the empty one where it would go.
    fn find(&self, hash: u128) -> (usize, Option<u32>) {
        let mask = self.slots.len() - 1;
        let tag = (hash >> 64) as u32;
        let mut slot = hash as usize & mask;
        loop {
            let entry = self.slots[slot];
            let place = entry as u32;
            if place == 0 {
                return (slot, None);
            }
            if (entry >> 32) as u32 == tag && self.hashes[place as usize - 1] == hash {
                return (slot, Some(place - 1));
            }
            slot = (slot + 1) & mask;
        }
    }

    fn number(&self, place: u32) -> u32 {
        place * SHARDS as u32 + self.number
    }

    /// Puts a hash in; returns its number, and whether it is new.
    pub fn insert(&mut self, hash: u128, parent: u32) -> (u32, bool) {
        let (slot, found) = self.find(hash);
        if let Some(place) = found {
            return (self.number(place), false);
        }
        let place = self.hashes.len() as u32;
        self.slots[slot] = (u64::from((hash >> 64) as u32) << 32) | u64::from(place + 1);
        self.hashes.push(hash);
        self.parents.push(parent);
        if self.hashes.len() * 3 > self.slots.len() * 2 {
            self.grow();
        }
        (self.number(place), true)
    }

    fn grow(&mut self) {
        let size = self.slots.len() * 2;
        let mut slots = vec![0u64; size];
        for (place, hash) in (1u64..).zip(&self.hashes) {
            let mut slot = *hash as usize & (size - 1);
            while slots[slot] != 0 {
                slot = (slot + 1) & (size - 1);
            }
            slots[slot] = u64::from((hash >> 64) as u32) << 32 | place;
        }
        self.slots = slots;
    }
}

impl Default for Visited {
    fn default() -> Self {
        Self { shards: (0..SHARDS as u32).map(Shard::new).collect() }
    }
}

impl Visited {
    /// The number of a state that has been seen.
    #[must_use]
    pub fn get(&self, hash: u128) -> Option<u32> {
        let shard = &self.shards[shard_of(hash)];
        shard.find(hash).1.map(|place| shard.number(place))
    }

    /// One more than the largest number.
    #[must_use]
    pub fn numbers(&self) -> usize {
        self.shards.iter().map(|shard| shard.hashes.len()).max().unwrap_or(0) * SHARDS
    }

    /// Hash and predecessor of a state.
    #[must_use]
    pub fn state(&self, number: u32) -> Option<(u128, u32)> {
        let shard = self.shards.get(number as usize % SHARDS)?;
        let place = number as usize / SHARDS;
        Some((*shard.hashes.get(place)?, *shard.parents.get(place)?))
    }

    /// Hashes of the states on the way from the first one to this.
    #[must_use]
    pub fn way(&self, number: u32) -> Vec<u128> {
        let mut way = Vec::new();
        let mut at = number;
        while let Some((hash, parent)) = self.state(at) {
            way.push(hash);
            at = parent;
        }
        way.reverse();
        way
    }

    /// Bytes that it takes.
    #[must_use]
    pub fn footprint(&self) -> usize {
        let of = |shard: &Shard| {
            shard.slots.len() * 8 + shard.hashes.capacity() * 16 + shard.parents.capacity() * 4
        };
        self.shards.iter().map(of).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::super::hash::wide;
    use super::*;

    #[test]
    fn what_was_put_in_is_found_and_leads_back() {
        let mut visited = Visited::default();
        let mut before = ROOT;
        let mut numbers = Vec::new();
        for step in 0..5000u32 {
            let hash = wide(&step);
            let (number, is_new) = visited.shards[shard_of(hash)].insert(hash, before);
            assert!(is_new);
            numbers.push(number);
            before = number;
        }
        assert_eq!(visited.shards.iter().map(|shard| shard.hashes.len()).sum::<usize>(), 5000);
        for (step, number) in numbers.iter().enumerate() {
            assert_eq!(visited.get(wide(&(step as u32))), Some(*number));
        }
        assert_eq!(visited.get(wide(&9999u32)), None);
        assert_eq!(visited.way(numbers[2]), [wide(&0u32), wide(&1u32), wide(&2u32)]);
        let hash = wide(&7u32);
        assert_eq!(visited.shards[shard_of(hash)].insert(hash, ROOT), (numbers[7], false));
    }
}
