//! Bulk state that is sparse, chunked and copy-on-write: a clone costs a reference per chunk that was ever
//! written, and a write copies one chunk.

use std::sync::Arc;

/// A vector whose elements start as `T::default()`, copied `CHUNK` at a time (a power of two).
#[derive(Clone, Debug)]
pub struct CowVec<T, const CHUNK: usize> {
    len: usize,
    /// As far as any was ever written: a clone of a big one that is hardly used costs little.
    chunks: Vec<Option<Arc<[T; CHUNK]>>>,
}

impl<T: Clone + Default, const CHUNK: usize> CowVec<T, CHUNK> {
    #[must_use]
    pub fn new(len: usize) -> Self {
        Self { len, chunks: Vec::new() }
    }

    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Adds a chunk of defaults and returns the index of its first element.
    pub fn grow(&mut self) -> usize {
        let first = self.len.next_multiple_of(CHUNK);
        self.len = first + CHUNK;
        first
    }

    /// The element at `index`, unless its chunk was never written.
    #[must_use]
    pub fn get(&self, index: usize) -> Option<&T> {
        self.chunks.get(index / CHUNK)?.as_ref()?.get(index % CHUNK)
    }

    /// The elements of `[from, from + count)`, unless their chunk was never written or they lie in two.
    #[must_use]
    pub fn slice(&self, from: usize, count: usize) -> Option<&[T]> {
        let start = from % CHUNK;
        self.chunks.get(from / CHUNK)?.as_ref()?.get(start..start + count)
    }

    /// The element at `index` for writing; `None` past the end.
    pub fn get_mut(&mut self, index: usize) -> Option<&mut T> {
        if index >= self.len {
            return None;
        }
        let number = index / CHUNK;
        let is_own = |chunk: &Arc<[T; CHUNK]>| Arc::strong_count(chunk) == 1;
        if !self.chunks.get(number).and_then(Option::as_ref).is_some_and(is_own) {
            self.make_own(number);
        }
        Arc::get_mut(self.chunks.get_mut(number)?.as_mut()?)?.get_mut(index % CHUNK)
    }

    /// Makes a chunk that was never written, or a copy of one that others have too.
    #[cold]
    fn make_own(&mut self, number: usize) {
        if number >= self.chunks.len() {
            self.chunks.resize(number + 1, None);
        }
        if let Some(chunk) = self.chunks.get_mut(number) {
            let new = || Arc::new(std::array::from_fn(|_| T::default()));
            Arc::make_mut(chunk.get_or_insert_with(new));
        }
    }

    /// The elements of every chunk that was ever written, with their indices, ascending.
    pub fn iter(&self) -> impl Iterator<Item = (usize, &T)> {
        self.chunks.iter().enumerate().flat_map(|(number, chunk)| {
            chunk
                .iter()
                .flat_map(|chunk| chunk.iter())
                .enumerate()
                .map(move |(index, item)| (number * CHUNK + index, item))
        })
    }

    /// The chunks that were ever written, each with the index of its first element, ascending.
    pub fn pieces(&self) -> impl Iterator<Item = (usize, &[T])> {
        self.chunks.iter().enumerate().filter_map(|(number, chunk)| {
            let first = number * CHUNK;
            Some((first, chunk.as_ref()?.get(..CHUNK.min(self.len.saturating_sub(first)))?))
        })
    }

    /// Elements of chunks that were ever written.
    #[must_use]
    pub fn written(&self) -> usize {
        self.chunks.iter().flatten().count() * CHUNK
    }
}

/// What is shared, for writing: a copy, if others have it too. None only if somebody holds on to it weakly.
///
/// Like [`Arc::make_mut`], but who need not copy does not pay for how large a copy is.
pub fn own<T: Clone>(shared: &mut Arc<T>) -> Option<&mut T> {
    if Arc::strong_count(shared) > 1 {
        copy(shared);
    }
    Arc::get_mut(shared)
}

#[cold]
fn copy<T: Clone>(shared: &mut Arc<T>) {
    *shared = Arc::new(T::clone(shared));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clone_keeps_what_it_had() {
        let mut now: CowVec<u32, 64> = CowVec::new(1000);
        if let Some(slot) = now.get_mut(700) {
            *slot = 7;
        }
        let before = now.clone();
        if let Some(slot) = now.get_mut(700) {
            *slot = 8;
        }
        assert_eq!((before.get(700), now.get(700)), (Some(&7), Some(&8)));
        assert_eq!(now.written(), 64);
        assert!(now.get_mut(1000).is_none());
    }
}
