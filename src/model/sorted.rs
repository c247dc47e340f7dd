//! A map for the few things that are under way at one place: a sorted vector of pointers, so that finding is a short
//! binary search, and putting in and taking out move pointers only. A clone shares the values until they are written.

use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// A map from a small key to something big.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SortedMap<K, V> {
    /// Without the value while that is out to be changed.
    list: Vec<(K, Option<Arc<V>>)>,
}

impl<K, V> Default for SortedMap<K, V> {
    fn default() -> Self {
        Self { list: Vec::new() }
    }
}

impl<K: Ord + Copy, V: Clone> SortedMap<K, V> {
    fn find(&self, key: K) -> Result<usize, usize> {
        self.list.binary_search_by(|(known, _)| known.cmp(&key))
    }

    #[must_use]
    pub fn get(&self, key: K) -> Option<&V> {
        self.list.get(self.find(key).ok()?)?.1.as_deref()
    }

    pub fn get_mut(&mut self, key: K) -> Option<&mut V> {
        let index = self.find(key).ok()?;
        self.list.get_mut(index)?.1.as_mut().map(Arc::make_mut)
    }

    #[must_use]
    pub fn contains(&self, key: K) -> bool {
        self.find(key).is_ok_and(|index| self.list.get(index).is_some_and(|(_, value)| value.is_some()))
    }

    /// Puts a value in place of the one that is there, if any.
    pub fn insert(&mut self, key: K, value: Arc<V>) {
        match self.find(key) {
            Ok(index) => self.list[index].1 = Some(value),
            Err(index) => self.list.insert(index, (key, Some(value))),
        }
    }

    pub fn remove(&mut self, key: K) -> Option<Arc<V>> {
        self.find(key).ok().and_then(|index| self.list.remove(index).1)
    }

    /// Takes a value out for a moment. Its place stays, until it is put in again or [`SortedMap::vacate`] gives it up.
    pub fn take(&mut self, key: K) -> Option<Arc<V>> {
        let index = self.find(key).ok()?;
        self.list.get_mut(index)?.1.take()
    }

    /// Gives up the place of what was taken out.
    pub fn vacate(&mut self, key: K) {
        if let Ok(index) = self.find(key)
            && self.list.get(index).is_some_and(|(_, value)| value.is_none())
        {
            self.list.remove(index);
        }
    }

    /// Changes every value, ascending by key. Those that a clone shares are copied.
    pub fn each_mut(&mut self, mut change: impl FnMut(&mut V)) {
        for value in self.list.iter_mut().filter_map(|(_, value)| value.as_mut()) {
            change(Arc::make_mut(value));
        }
    }

    /// Keys, ascending.
    pub fn keys(&self) -> impl Iterator<Item = K> + '_ {
        self.iter().map(|(key, _)| key)
    }

    /// Values, ascending by key.
    pub fn values(&self) -> impl Iterator<Item = &V> {
        self.list.iter().filter_map(|(_, value)| value.as_deref())
    }

    /// Keys and values, ascending.
    pub fn iter(&self) -> impl Iterator<Item = (K, &V)> {
        self.list.iter().filter_map(|(key, value)| Some((*key, value.as_deref()?)))
    }

    #[must_use]
    pub fn len(&self) -> usize {
        self.values().count()
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.values().next().is_none()
    }
}

impl<K: Hash, V: Hash> Hash for SortedMap<K, V> {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        let all = || self.list.iter().filter_map(|(key, value)| Some((key, value.as_ref()?)));
        hasher.write_usize(all().count());
        all().for_each(|entry| entry.hash(hasher));
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn it_is_a_map(steps in prop::collection::vec((0u8..5, 0u64..12, any::<u32>()), 0..200)) {
            let (mut ours, mut theirs) = (SortedMap::default(), BTreeMap::new());
            for (what, key, value) in steps {
                match what {
                    4 => {
                        // Out and in again, or not.
                        if let Some(taken) = ours.take(key) {
                            prop_assert!(!ours.contains(key) && ours.get(key).is_none());
                            prop_assert_eq!(ours.len() + 1, theirs.len());
                            if value % 2 == 0 {
                                ours.insert(key, taken);
                            } else {
                                theirs.remove(&key);
                            }
                        }
                        ours.vacate(key);
                    }
                    0 => {
                        ours.insert(key, Arc::new(value));
                        theirs.insert(key, value);
                    }
                    1 => prop_assert_eq!(ours.remove(key).map(|value| *value), theirs.remove(&key)),
                    2 => {
                        let before = ours.clone();
                        if let (Some(ours), Some(theirs)) = (ours.get_mut(key), theirs.get_mut(&key)) {
                            prop_assert_eq!(before.get(key), Some(&*theirs));
                            (*ours, *theirs) = (value, value);
                            prop_assert_ne!(before.get(key).map(std::ptr::from_ref), Some(std::ptr::from_ref(ours)));
                        }
                    }
                    _ => prop_assert_eq!(ours.get(key), theirs.get(&key)),
                }
                prop_assert!(ours.iter().map(|(key, value)| (key, *value)).eq(theirs.clone()));
                prop_assert_eq!((ours.len(), ours.is_empty()), (theirs.len(), theirs.is_empty()));
            }
        }
    }
}
