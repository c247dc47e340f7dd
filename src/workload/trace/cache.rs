//! Decoded pieces of traces, the most recently used ones. Invisible but for speed.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use rustc_hash::FxHashMap;

use crate::model::operation::{Lanes, Operation};

/// Bytes of decoded operations that are kept, about.
const BUDGET: usize = 64 << 20;

/// A piece: number of the segment in its trace.
pub type Key = usize;

/// Pieces in the order of their last use.
#[derive(Debug, Default)]
pub struct Cache {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    pieces: FxHashMap<Key, (u64, Arc<[Operation]>)>,
    /// When each piece was used last; the first is the next to go.
    uses: BTreeMap<u64, Key>,
    clock: u64,
    bytes: usize,
}

impl Cache {
    /// The piece, or what `load` makes of it.
    pub fn get<E>(
        &self,
        key: Key,
        load: impl FnOnce() -> Result<Vec<Operation>, E>,
    ) -> Result<Arc<[Operation]>, E> {
        // A panic elsewhere leaves the state whole: each change of it ends before anything can fail.
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(piece) = state.touch(key) {
            return Ok(piece);
        }
        let piece: Arc<[Operation]> = load()?.into();
        state.keep(key, &piece);
        Ok(piece)
    }
}

impl State {
    fn touch(&mut self, key: Key) -> Option<Arc<[Operation]>> {
        let (used, piece) = self.pieces.get_mut(&key)?;
        self.uses.remove(used);
        self.clock += 1;
        *used = self.clock;
        self.uses.insert(self.clock, key);
        Some(piece.clone())
    }

    fn keep(&mut self, key: Key, piece: &Arc<[Operation]>) {
        self.clock += 1;
        self.pieces.insert(key, (self.clock, piece.clone()));
        self.uses.insert(self.clock, key);
        self.bytes += weight(piece);
        while self.bytes > BUDGET {
            let Some((_, oldest)) = self.uses.pop_first() else { break };
            if let Some((_, piece)) = self.pieces.remove(&oldest) {
                self.bytes = self.bytes.saturating_sub(weight(&piece));
            }
        }
    }
}

fn weight(piece: &[Operation]) -> usize {
    let listed = |operation: &Operation| match operation {
        Operation::Access(access) => match &access.lanes {
            Lanes::Listed { addresses, .. } => addresses.len() * 8,
            Lanes::Strided { .. } => 0,
        },
        _ => 0,
    };
    64 + size_of_val(piece) + piece.iter().map(listed).sum::<usize>()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_recently_used_piece_goes_first() {
        let cache = Cache::default();
        // Three pieces fit, four do not.
        let count = BUDGET / 7 * 2 / size_of::<Operation>();
        let load = |nth: usize| cache.get(nth, || Ok::<_, ()>(vec![Operation::Barrier; count]));
        for nth in [0, 1, 2, 0, 3] {
            load(nth).unwrap();
        }
        let kept = |nth: usize| cache.get(nth, || Err(())).is_ok();
        assert!(!kept(1) && kept(0) && kept(3));
    }
}
