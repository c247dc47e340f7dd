//! The remote directory of a GPU: which lines of its memory a CPU may have in its caches, approximately and conservatively
//! ("Selective GPU Caches", section 3.1).
//!
//! A cuckoo filter (Fan and others, 2014): a fingerprint of a line lies in one of two buckets, and moves to the other when
//! its place is needed. It never denies a line that was inserted; it may claim one that was not. Lines are never taken out one
//! by one: when it is full, the CPU gives up all of them, and it starts empty.

use std::hash::{Hash, Hasher};

use crate::model::address::Address;
use crate::model::cow::CowVec;
use crate::model::page::{Page, PageSet};
use crate::model::random::Random;
use crate::model::selective::RemoteLookView;

/// Fingerprints that are copied together when one of them changes after a clone.
const CHUNK: usize = 256;

/// Fingerprints that one insertion may move before it gives up.
const MOVES: u32 = 500;

/// What does not change while a remote directory lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RemoteDirectoryConfig {
    /// Bytes of a line, a power of two.
    pub block: u32,
    /// Fingerprints that it has room for: a power of two, and at least `ways`.
    pub entries: u32,
    /// Fingerprints in a bucket, a power of two.
    pub ways: u32,
    /// Bits of a fingerprint, 2 to 16.
    pub bits: u32,
    /// Fingerprints from which on it counts as full.
    pub high_water: u32,
}

impl RemoteDirectoryConfig {
    /// For 8 MiB in lines of 128 B, in 64 KiB (section 3.1).
    pub const PAPER: Self = Self { block: 128, entries: 1 << 16, ways: 4, bits: 8, high_water: 1 << 16 };

    /// Bytes that the fingerprints take.
    #[must_use]
    pub fn storage(self) -> u64 {
        (u64::from(self.entries) * u64::from(self.bits)).div_ceil(8)
    }
}

/// What came of an insertion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Inserted {
    New,
    /// It was there, or was claimed to be.
    Present,
    /// It was not inserted; all others still are. The directory has to be cleared.
    Full,
}

/// What a look found. The directory itself cannot tell the last two apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Look {
    Absent,
    /// It was inserted since the directory was empty.
    Known,
    FalsePositive,
}

/// What it did so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    pub inserted: u64,
    /// Insertions of what was there already.
    pub present: u64,
    /// Fingerprints moved to make room.
    pub moved: u64,
    pub looks: u64,
    pub known: u64,
    pub false_positives: u64,
    /// How often it was cleared.
    pub cleared: u64,
    /// Most fingerprints at a time.
    pub peak: u32,
}

/// A remote directory.
#[derive(Clone, Debug)]
pub struct RemoteDirectory {
    config: RemoteDirectoryConfig,
    /// Bucket by bucket; 0 is an empty place.
    places: CowVec<u16, CHUNK>,
    len: u32,
    /// The lines inserted, which no hardware knows: it tells false positives from others, for who watches.
    exact: PageSet,
    pub counters: Counters,
}

/// The first number that `SplitMix64` draws from this seed.
fn mix(number: u64) -> u64 {
    Random::new(number).draw()
}

impl RemoteDirectory {
    #[must_use]
    pub fn new(config: RemoteDirectoryConfig) -> Self {
        let places = CowVec::new(config.entries as usize);
        Self { config, places, len: 0, exact: PageSet::default(), counters: Counters::default() }
    }

    /// The fingerprint of a line, and the first of its buckets.
    fn hash(&self, address: Address) -> (u16, u32) {
        let hash = mix(self.line(address).0);
        // None is 0, which means an empty place.
        let values = (1u64 << self.config.bits.clamp(2, 16)) - 1;
        let fingerprint = ((hash >> 32) % values + 1) as u16;
        (fingerprint, hash as u32 & (self.buckets() - 1))
    }

    fn line(&self, address: Address) -> Page {
        Page::of(address, self.config.block)
    }

    fn buckets(&self) -> u32 {
        (self.config.entries / self.config.ways.max(1)).max(1)
    }

    /// The other bucket of a fingerprint.
    fn other(&self, fingerprint: u16, bucket: u32) -> u32 {
        bucket ^ (mix(u64::from(fingerprint)) as u32 & (self.buckets() - 1))
    }

    fn place(&self, bucket: u32, way: u32) -> usize {
        (bucket * self.config.ways + way) as usize
    }

    fn at(&self, place: usize) -> u16 {
        self.places.get(place).copied().unwrap_or(0)
    }

    /// Puts a fingerprint into a place; what was there before.
    fn replace(&mut self, place: usize, fingerprint: u16) -> u16 {
        self.places.get_mut(place).map_or(0, |place| std::mem::replace(place, fingerprint))
    }

    /// The place of a fingerprint (0 for an empty one) in a bucket.
    fn find(&self, bucket: u32, fingerprint: u16) -> Option<usize> {
        let mut places = (0..self.config.ways).map(|way| self.place(bucket, way));
        places.find(|place| self.at(*place) == fingerprint)
    }

    /// Whether a CPU may have the line of an address.
    #[must_use]
    pub fn contains(&self, address: Address) -> bool {
        let (fingerprint, bucket) = self.hash(address);
        let other = self.other(fingerprint, bucket);
        self.find(bucket, fingerprint).or_else(|| self.find(other, fingerprint)).is_some()
    }

    /// Where the line of an address is looked for, and what is there.
    #[must_use]
    pub fn looked_for(&self, address: Address) -> RemoteLookView {
        let (fingerprint, bucket) = self.hash(address);
        let other = self.other(fingerprint, bucket);
        let places = |bucket| (0..self.config.ways).map(|way| self.at(self.place(bucket, way))).collect();
        let own = self.line(address);
        let line = |page: Page| page.range(self.config.block).start;
        let is_alike = |page: &Page| {
            let (its, first) = self.hash(line(*page));
            *page != own && its == fingerprint && (first == bucket || first == other)
        };
        RemoteLookView {
            fingerprint,
            buckets: [bucket, other].map(|bucket| (bucket, places(bucket))),
            was_inserted: self.exact.contains(own),
            alike: self.exact.iter().filter(is_alike).map(line).collect(),
        }
    }

    /// The same as [`Self::contains`], counted, and whether it is true.
    pub fn look(&mut self, address: Address) -> Look {
        self.counters.looks += 1;
        if !self.contains(address) {
            Look::Absent
        } else if self.exact.contains(self.line(address)) {
            self.counters.known += 1;
            Look::Known
        } else {
            self.counters.false_positives += 1;
            Look::FalsePositive
        }
    }

    /// A CPU asks for the line of an address.
    pub fn insert(&mut self, address: Address) -> Inserted {
        if self.contains(address) {
            self.exact.insert(self.line(address));
            self.counters.present += 1;
            return Inserted::Present;
        }
        if self.len >= self.config.high_water || !self.settle(address) {
            return Inserted::Full;
        }
        self.exact.insert(self.line(address));
        self.len += 1;
        self.counters.inserted += 1;
        self.counters.peak = self.counters.peak.max(self.len);
        Inserted::New
    }

    /// Finds a place for the fingerprint of a line, and moves others for it; if that leads nowhere, they move back.
    fn settle(&mut self, address: Address) -> bool {
        let (first, bucket) = self.hash(address);
        let other = self.other(first, bucket);
        if let Some(place) = self.find(bucket, 0).or_else(|| self.find(other, 0)) {
            self.replace(place, first);
            return true;
        }
        let (mut fingerprint, mut bucket) = (first, other);
        let mut path = Vec::new();
        for step in 0..MOVES {
            // Any would do: this one depends on nothing but what is here.
            let way = mix(u64::from(fingerprint) << 32 | u64::from(step)) as u32 & (self.config.ways - 1);
            let place = self.place(bucket, way);
            path.push(place);
            fingerprint = self.replace(place, fingerprint);
            bucket = self.other(fingerprint, bucket);
            if let Some(place) = self.find(bucket, 0) {
                self.replace(place, fingerprint);
                self.counters.moved += path.len() as u64;
                return true;
            }
        }
        for place in path.into_iter().rev() {
            fingerprint = self.replace(place, fingerprint);
        }
        false
    }

    /// The CPU has given up all lines.
    pub fn clear(&mut self) {
        self.places = CowVec::new(self.config.entries as usize);
        self.exact = PageSet::default();
        self.len = 0;
        self.counters.cleared += 1;
    }

    /// Fingerprints that it holds.
    #[must_use]
    pub fn len(&self) -> u32 {
        self.len
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Its fingerprints with their places: all that decides what it will say.
    #[must_use]
    pub fn held(&self) -> Vec<(u32, u16)> {
        let taken = self.places.iter().filter(|(_, fingerprint)| **fingerprint != 0);
        taken.map(|(place, fingerprint)| (place as u32, *fingerprint)).collect()
    }

    /// The same directory with other fingerprints.
    #[must_use]
    pub fn holding(&self, held: &[(u32, u16)]) -> Self {
        let mut other = Self::new(self.config);
        for (place, fingerprint) in held {
            other.replace(*place as usize, *fingerprint);
        }
        other.len = held.len() as u32;
        other
    }

    #[must_use]
    pub fn config(&self) -> RemoteDirectoryConfig {
        self.config
    }

    pub fn digest(&self, hasher: &mut impl Hasher) {
        self.len.hash(hasher);
        self.places.iter().filter(|(_, fingerprint)| **fingerprint != 0).for_each(|place| place.hash(hasher));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::random::Random;
    use proptest::prelude::*;

    fn small(entries: u32, bits: u32) -> RemoteDirectory {
        let config = RemoteDirectoryConfig { block: 64, entries, ways: 4, bits, high_water: entries };
        RemoteDirectory::new(config)
    }

    fn state(directory: &RemoteDirectory) -> Vec<u16> {
        (0..directory.config.entries as usize).map(|place| directory.at(place)).collect()
    }

    proptest! {
        #[test]
        fn it_never_denies_what_was_inserted(
            lines in prop::collection::vec(0u64..1 << 40, 1..200),
            bits in 2u32..=16,
            logarithm in 2u32..9,
        ) {
            let mut directory = small(1 << logarithm, bits);
            let mut held = Vec::new();
            for line in lines {
                let address = Address(line * 64);
                let before = state(&directory);
                match directory.insert(address) {
                    Inserted::New | Inserted::Present => held.push(address),
                    Inserted::Full => {
                        prop_assert_eq!(before, state(&directory));
                        prop_assert!(!directory.contains(address));
                    }
                }
                prop_assert!(held.iter().all(|address| directory.contains(*address)));
                prop_assert!(held.iter().all(|address| directory.look(*address) == Look::Known));
                let taken = state(&directory).iter().filter(|place| **place != 0).count();
                prop_assert_eq!(taken, directory.len() as usize);
            }
            directory.clear();
            prop_assert!(directory.is_empty() && !held.iter().any(|address| directory.contains(*address)));
        }
    }

    #[test]
    fn a_full_one_of_the_papers_size_claims_three_percent_of_others() {
        let mut directory = RemoteDirectory::new(RemoteDirectoryConfig::PAPER);
        assert_eq!(directory.config.storage(), 64 << 10);
        let mut random = Random::new(1);
        while directory.insert(Address(random.below(1 << 38) * 128)) != Inserted::Full {}
        let share = f64::from(directory.len()) / f64::from(directory.config.entries);
        assert!(share > 0.95, "{share}");
        // None of these was inserted.
        let others = 1 << 16;
        let claimed =
            (0..others).filter(|line| directory.look(Address((1 << 45) + line * 128)) != Look::Absent);
        let rate = claimed.count() as f64 / others as f64;
        assert!((0.028..0.033).contains(&rate), "{rate}");
        assert_eq!(directory.counters.known, 0);
    }

    #[test]
    fn it_counts_as_full_from_the_high_water_mark_on() {
        let config = RemoteDirectoryConfig { high_water: 2, ..small(16, 8).config };
        let mut directory = RemoteDirectory::new(config);
        let inserted: Vec<_> = (0..3).map(|line| directory.insert(Address(line * 64))).collect();
        assert_eq!(inserted, [Inserted::New, Inserted::New, Inserted::Full]);
        assert_eq!(directory.insert(Address(32)), Inserted::Present, "the same line");
        assert_eq!(directory.counters.peak, 2);
    }

    #[test]
    fn short_fingerprints_make_one_line_pass_for_another() {
        let mut directory = small(4, 2);
        directory.insert(Address(0));
        let claimed =
            (1..100).map(|line| Address(line * 64)).find(|address| directory.contains(*address)).unwrap();
        assert_eq!(directory.look(claimed), Look::FalsePositive);
        assert_eq!(directory.insert(claimed), Inserted::Present);
        assert_eq!(directory.look(claimed), Look::Known);
    }
}
