//! A map of what is under way at one place: usually a few entries, hundreds at a cache that many warps share. Finding one takes the
//! same time however many there are; going through them is in the order of the keys. A clone shares the values until they are written.

use std::collections::hash_map::Entry;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// So many are put in order without room from the heap.
const INLINE: usize = 8;

/// A map from a small key to something big.
#[derive(Clone, Debug)]
pub struct SortedMap<K, V> {
    /// Without the value while that is out to be changed.
    places: FxHashMap<K, Option<Arc<V>>>,
    /// Places whose value is out.
    taken: usize,
}

impl<K, V> Default for SortedMap<K, V> {
    fn default() -> Self {
        Self { places: FxHashMap::default(), taken: 0 }
    }
}

impl<K: Ord + Hash + Copy, V: Clone> SortedMap<K, V> {
    #[must_use]
    pub fn get(&self, key: K) -> Option<&V> {
        self.places.get(&key)?.as_deref()
    }

    pub fn get_mut(&mut self, key: K) -> Option<&mut V> {
        self.places.get_mut(&key)?.as_mut().map(Arc::make_mut)
    }

    #[must_use]
    pub fn contains(&self, key: K) -> bool {
        self.places.get(&key).is_some_and(Option::is_some)
    }

    /// Puts a value in place of the one that is there, if any.
    pub fn insert(&mut self, key: K, value: Arc<V>) {
        let was_taken = matches!(self.places.insert(key, Some(value)), Some(None));
        self.taken -= usize::from(was_taken);
    }

    pub fn remove(&mut self, key: K) -> Option<Arc<V>> {
        let place = self.places.remove(&key)?;
        self.taken -= usize::from(place.is_none());
        place
    }

    /// Takes a value out for a moment. Its place stays, until it is put in again or [`SortedMap::vacate`] gives it up.
    pub fn take(&mut self, key: K) -> Option<Arc<V>> {
        let value = self.places.get_mut(&key)?.take()?;
        self.taken += 1;
        Some(value)
    }

    /// Gives up the place of what was taken out.
    pub fn vacate(&mut self, key: K) {
        if let Entry::Occupied(place) = self.places.entry(key)
            && place.get().is_none()
        {
            place.remove();
            self.taken -= 1;
        }
    }

    /// Changes every value, ascending by key. Those that a clone shares are copied.
    pub fn each_mut(&mut self, mut change: impl FnMut(&mut V)) {
        let values = self.places.iter_mut().filter_map(|(key, value)| Some((*key, value.as_mut()?)));
        let mut sorted: SmallVec<[(K, &mut Arc<V>); INLINE]> = values.collect();
        sorted.sort_unstable_by_key(|(key, _)| *key);
        for (_, value) in sorted {
            change(Arc::make_mut(value));
        }
    }

    /// Values, ascending by key.
    pub fn values(&self) -> impl Iterator<Item = &V> {
        self.iter().map(|(_, value)| value)
    }

    /// Keys and values, ascending.
    pub fn iter(&self) -> impl Iterator<Item = (K, &V)> {
        sorted(self.in_any_order())
    }

    /// Those of the values that are wanted, ascending by key: cheaper than going through all where they are few.
    pub fn values_that(&self, is_wanted: impl Fn(&V) -> bool) -> impl Iterator<Item = &V> {
        sorted(self.in_any_order().filter(move |(_, value)| is_wanted(value))).map(|(_, value)| value)
    }

    /// Keys and values in no particular order, which may differ between a map and its clone.
    pub fn in_any_order(&self) -> impl Iterator<Item = (K, &V)> {
        self.places.iter().filter_map(|(key, value)| Some((*key, value.as_deref()?)))
    }

    #[must_use]
    pub fn len(&self) -> usize {
        self.places.len() - self.taken
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

fn sorted<'a, K: Ord + Copy, V: 'a>(
    entries: impl Iterator<Item = (K, &'a V)>,
) -> impl Iterator<Item = (K, &'a V)> {
    let mut sorted: SmallVec<[(K, &V); INLINE]> = entries.collect();
    sorted.sort_unstable_by_key(|(key, _)| *key);
    sorted.into_iter()
}

impl<K: Ord + Hash + Copy, V: Clone + PartialEq> PartialEq for SortedMap<K, V> {
    fn eq(&self, other: &Self) -> bool {
        self.places == other.places
    }
}

impl<K: Ord + Hash + Copy, V: Clone + Eq> Eq for SortedMap<K, V> {}

impl<K: Ord + Hash + Copy, V: Clone + Hash> Hash for SortedMap<K, V> {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        hasher.write_usize(self.len());
        self.iter().for_each(|entry| entry.hash(hasher));
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
                let is_even = |value: &u32| value.is_multiple_of(2);
                prop_assert!(ours.values_that(is_even).eq(theirs.values().filter(|value| is_even(value))));
                prop_assert_eq!((ours.len(), ours.is_empty()), (theirs.len(), theirs.is_empty()));
            }
        }
    }
}
