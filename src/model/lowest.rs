//! Of very many things the first few by a key: the others are looked at once, and not kept.

use std::collections::BTreeMap;

/// The things with the lowest keys so far, one a key.
#[derive(Clone, Debug)]
pub struct Lowest<K, T> {
    most: usize,
    list: BTreeMap<K, T>,
    /// The highest of as many as are wanted; none while there is room.
    last: Option<K>,
}

impl<K: Ord + Copy, T> Lowest<K, T> {
    /// None yet, and so many at most.
    #[must_use]
    pub fn new(most: usize) -> Self {
        Self { most, list: BTreeMap::new(), last: None }
    }

    /// Those with the lowest keys of all, so many at most.
    pub fn of(all: impl Iterator<Item = (K, T)>, most: usize) -> Self {
        let mut lowest = Self::new(most);
        all.for_each(|(key, one)| lowest.add(key, one));
        lowest
    }

    /// The key beyond which nothing is wanted any more.
    #[must_use]
    pub fn last(&self) -> Option<K> {
        self.last
    }

    #[must_use]
    pub fn wants(&self, key: K) -> bool {
        self.most > 0 && self.last.is_none_or(|last| key < last)
    }

    /// Takes a thing, if it is among the lowest and there is none with its key.
    pub fn add(&mut self, key: K, one: T) {
        if !self.wants(key) || self.list.insert(key, one).is_some() || self.list.len() < self.most {
            return;
        }
        if self.list.len() > self.most {
            self.list.pop_last();
        }
        self.last = self.list.last_key_value().map(|(key, _)| *key);
    }

    /// The keys, ascending.
    pub fn into_keys(self) -> impl Iterator<Item = K> {
        self.list.into_keys()
    }

    /// The things, by their keys.
    pub fn into_values(self) -> impl Iterator<Item = T> {
        self.list.into_values()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn they_are_the_first_of_all_in_order(keys in prop::collection::vec(0u8..40, 0..60), most in 0usize..12) {
            let mut sorted = keys.clone();
            sorted.sort_unstable();
            sorted.dedup();
            sorted.truncate(most);
            let lowest = Lowest::of(keys.iter().map(|key| (*key, *key)), most);
            prop_assert!(most == 0 || lowest.last() == sorted.get(most - 1).copied());
            prop_assert_eq!(lowest.into_keys().collect::<Vec<_>>(), sorted);
        }
    }
}
