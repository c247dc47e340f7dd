//! Of very many things the first few by a key: the others are looked at once, and not kept.

/// The things with the lowest keys so far, one a key.
#[derive(Clone, Debug)]
pub struct Lowest<K, T> {
    most: usize,
    /// Those that were wanted when they came, in order once there are so many that the others have to go.
    list: Vec<(K, T)>,
    /// A key at which, or below, there are as many as are wanted; none while there may be room.
    last: Option<K>,
}

/// Things for which there is room at least before they are put in order.
const ROOM: usize = 32;

impl<K: Ord + Copy, T> Lowest<K, T> {
    /// None yet, and so many at most.
    #[must_use]
    pub fn new(most: usize) -> Self {
        Self { most, list: Vec::new(), last: None }
    }

    /// Those with the lowest keys of all, so many at most.
    pub fn of(all: impl Iterator<Item = (K, T)>, most: usize) -> Self {
        let mut lowest = Self::new(most);
        all.for_each(|(key, one)| lowest.add(key, one));
        lowest
    }

    /// A key beyond which nothing is wanted any more.
    #[must_use]
    pub fn last(&self) -> Option<K> {
        self.last
    }

    #[must_use]
    pub fn wants(&self, key: K) -> bool {
        self.most > 0 && self.last.is_none_or(|last| key < last)
    }

    /// Takes a thing, if it is among the lowest; which one it keeps of those with one key means nothing.
    pub fn add(&mut self, key: K, one: T) {
        if self.wants(key) {
            self.list.push((key, one));
            if self.list.len() >= self.most.saturating_mul(2).saturating_add(ROOM) {
                self.put_in_order();
            }
        }
    }

    fn put_in_order(&mut self) {
        self.list.sort_unstable_by_key(|(key, _)| *key);
        self.list.dedup_by_key(|(key, _)| *key);
        self.list.truncate(self.most);
        if self.list.len() == self.most {
            self.last = self.list.last().map(|(key, _)| *key);
        }
    }

    /// The keys, ascending.
    pub fn into_keys(mut self) -> impl Iterator<Item = K> {
        self.put_in_order();
        self.list.into_iter().map(|(key, _)| key)
    }

    /// The things, by their keys.
    pub fn into_values(mut self) -> impl Iterator<Item = T> {
        self.put_in_order();
        self.list.into_iter().map(|(_, one)| one)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn of_any_number_all_are_kept() {
        let lowest = Lowest::of((0..100u8).rev().map(|key| (key, ())), usize::MAX);
        assert!(lowest.into_keys().eq(0..100));
    }

    proptest! {
        #[test]
        fn they_are_the_first_of_all_in_order(keys in prop::collection::vec(0u8..80, 0..400), most in 0usize..12) {
            let mut sorted = keys.clone();
            sorted.sort_unstable();
            sorted.dedup();
            sorted.truncate(most);
            let lowest = Lowest::of(keys.iter().map(|key| (*key, *key)), most);
            prop_assert!(most == 0 || lowest.last().is_none_or(|last| Some(&last) >= sorted.get(most - 1)));
            prop_assert_eq!(lowest.clone().into_values().collect::<Vec<_>>(), sorted.clone());
            prop_assert_eq!(lowest.into_keys().collect::<Vec<_>>(), sorted);
        }
    }
}
