//! What software coherence promises, checked: release consistency. A load may return any store that was not replaced, for
//! sure, by one that it must see: one of its own L1, or one that was released before its L1 acquired.

mod pieces;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use self::pieces::{Piece, Pieces, Reach, Replacer, Seen, Stored};
use super::runs::Run;
use crate::model::access::{Access, AccessKind};
use crate::model::address::{Address, Range};
use crate::model::component::ComponentId;
use crate::model::message::TxnNumber;
use crate::model::time::EventNumber;

/// What the checks of a machine with software coherence remember.
#[derive(Clone, Debug)]
pub struct Consistency {
    pieces: Pieces,
    /// By L1, when it acquired.
    acquired: BTreeMap<ComponentId, Vec<EventNumber>>,
    /// What is performed is where every acquire looks: nothing is written back later.
    is_immediate: bool,
}

/// How the L1 of an access is kept coherent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kept {
    /// By fences and kernel boundaries.
    BySoftware,
    /// By hardware: it never reads anything older than what was performed before.
    ByHardware,
    /// By hardware, and the access has stored non-coherently: nobody else sees that before it leaves.
    Privately,
}

/// An access that was performed.
#[derive(Clone, Copy, Debug)]
pub struct Performed<'a> {
    pub at: ComponentId,
    pub number: Option<TxnNumber>,
    pub access: &'a Access,
    /// What it read.
    pub read: &'a [u8],
    pub coherent: bool,
    pub kept: Kept,
    /// What it stores coherently, and its atomics, are performed where everybody looks.
    pub is_home: bool,
    pub issued: EventNumber,
    pub event: EventNumber,
}

/// A byte that an access cannot have read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stale {
    pub address: Address,
    pub value: u8,
    /// What the access had to see, or something later.
    pub expected: Option<Expected>,
}

/// A store that an access had to see.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Expected {
    pub value: u8,
    pub number: TxnNumber,
    /// The L1 above which it was stored, if that is known.
    pub writer: Option<ComponentId>,
}

impl Performed<'_> {
    fn is_strict(&self) -> bool {
        self.kept == Kept::ByHardware
    }
}

impl Consistency {
    #[must_use]
    pub fn new(is_immediate: bool) -> Self {
        Self { pieces: Pieces::default(), acquired: BTreeMap::new(), is_immediate }
    }

    /// Bytes that a clone takes, roughly.
    #[must_use]
    pub fn footprint(&self) -> usize {
        let acquired: usize = self.acquired.values().map(|all| all.len() * size_of::<EventNumber>()).sum();
        acquired + self.pieces.footprint(|piece| piece.stores.len() * size_of::<Stored>())
    }

    /// Memory before the first event.
    pub fn set_initial(&mut self, address: Address, bytes: &[u8]) {
        for (start, piece) in self.pieces.within(Range::new(address, bytes.len() as u32)) {
            if let Some(bytes) = part(bytes, start - address.0, piece) {
                *piece = Piece::initial(bytes);
            }
        }
    }

    /// A store or atomic begins: from now on somebody may see it.
    pub fn begin(&mut self, at: ComponentId, number: TxnNumber, access: &Access, event: EventNumber) {
        if !access.kind.writes() {
            return;
        }
        for run in access.runs() {
            for (start, piece) in self.pieces.within(run) {
                if let AccessKind::Atomic(_) = access.kind {
                    piece.atomics += 1;
                } else if let Some(values) = part(access.bytes_of(run), start - run.start.0, piece) {
                    piece.stores.push(Stored::begun(number, values, Some(at), event));
                }
            }
        }
    }

    /// A store or atomic was performed for somebody above; `access` has what is there now.
    pub fn take(&mut self, number: TxnNumber, access: &Access, event: EventNumber) {
        let is_atomic = matches!(access.kind, AccessKind::Atomic(_));
        for run in access.runs() {
            for (start, piece) in self.pieces.known(run) {
                let values = part(access.bytes_of(run), start - run.start.0, piece);
                match (piece.store(number), values) {
                    // Those between who only hand on the answer say so, too.
                    (Some(store), _) => _ = store.taken.get_or_insert(event),
                    (None, Some(values)) if is_atomic => {
                        let taken = Some(event);
                        piece.stores.push(Stored { taken, ..Stored::begun(number, values, None, event) });
                    }
                    (None, _) => {}
                }
            }
        }
    }

    /// An L1 and what is below it forget what they had.
    pub fn acquire(&mut self, at: ComponentId, event: EventNumber) {
        self.acquired.entry(at).or_default().push(event);
    }

    /// What was performed above an L1 until `begun` has come to its home.
    pub fn release(&mut self, at: ComponentId, begun: EventNumber, event: EventNumber) {
        for store in self.pieces.all_mut().flat_map(|piece| &mut piece.stores) {
            if store.writer == Some(at)
                && !store.is_private
                && store.completed.is_some_and(|completed| completed <= begun)
            {
                store.released.get_or_insert(event);
            }
        }
    }

    /// The last acquire of an L1 before `event`.
    fn last_acquire(&self, at: ComponentId, event: EventNumber) -> Option<EventNumber> {
        let all = self.acquired.get(&at)?;
        all.get(all.partition_point(|acquired| *acquired <= event).checked_sub(1)?).copied()
    }

    /// What was performed: stores are finished, and the first byte that cannot have been read is told.
    pub fn end(&mut self, performed: &Performed<'_>) -> Option<Stale> {
        let seen = Seen { performed, acquired: self.last_acquire(performed.at, performed.issued) };
        let wrong = match performed.access.kind {
            AccessKind::Load | AccessKind::Atomic(_) => self.wrong(&seen),
            _ => None,
        };
        if performed.access.kind.writes() {
            performed.access.runs().into_iter().for_each(|run| self.finish(&seen, run));
        }
        wrong
    }

    fn wrong(&self, seen: &Seen<'_>) -> Option<Stale> {
        let Performed { access, read, .. } = *seen.performed;
        let start = access.range.start;
        let within = Range::new(start, read.len() as u32);
        let mut unknown = start.0;
        for (from, piece) in self.pieces.overlapping(within) {
            // What nobody stored to is as it was at first.
            let wrong = first_set(read, start, unknown..from).or_else(|| {
                let readable = piece.readable(seen, self.is_immediate);
                let own = from.max(start.0)..piece.end(from).min(within.end());
                own.map(Address).find_map(|address| {
                    let value = *read.get((address.0 - start.0) as usize)?;
                    let place = (address.0 - from) as usize;
                    let is_readable = readable
                        .as_ref()
                        .is_none_or(|all| all.iter().any(|store| store.values.get(place) == Some(&value)));
                    (!is_readable).then(|| Stale { address, value, expected: piece.expected(place, seen) })
                })
            });
            if wrong.is_some() {
                return wrong;
            }
            unknown = piece.end(from);
        }
        first_set(read, start, unknown..within.end())
    }

    /// A run of a store or atomic was performed.
    fn finish(&mut self, seen: &Seen<'_>, run: Range) {
        let performed = seen.performed;
        let Some(number) = performed.number else { return };
        let is_atomic = matches!(performed.access.kind, AccessKind::Atomic(_));
        let at_home = performed.coherent || self.is_immediate && performed.kept != Kept::Privately;
        let reach = match performed.kept {
            _ if at_home => Reach::Home,
            Kept::Privately => Reach::Private,
            Kept::BySoftware | Kept::ByHardware => Reach::Released,
        };
        let by = Replacer { number, writer: performed.at, reach };
        for (start, piece) in self.pieces.known(run) {
            for store in piece.stores.iter_mut().filter(|store| store.number != Some(number)) {
                if seen.must_be(store) {
                    store.note_replaced(by);
                }
            }
            piece.atomics = piece.atomics.saturating_sub(u32::from(is_atomic));
            if is_atomic && piece.store(number).is_none() {
                let values = part(performed.access.bytes_of(run), start - run.start.0, piece);
                let Some(values) = values else { continue };
                piece.stores.push(Stored::begun(number, values, None, performed.issued));
            }
            if let Some(store) = piece.store(number) {
                (store.writer, store.is_atomic) = (Some(performed.at), is_atomic);
                store.completed = Some(performed.event);
                store.released = at_home.then_some(performed.event);
                store.is_private = performed.kept == Kept::Privately;
                if performed.is_strict() && performed.coherent {
                    store.taken = Some(performed.event);
                }
            }
        }
    }

    /// Everybody has released and acquired, and nothing is under way: what was replaced is gone for ever.
    pub fn settle(&mut self) {
        for piece in self.pieces.all_mut().filter(|piece| piece.stores.len() > 1) {
            piece.stores.retain(|store| store.replaced_by.is_empty());
        }
        for acquired in self.acquired.values_mut() {
            acquired.drain(..acquired.len().saturating_sub(1));
        }
    }

    /// Bytes of which the values that may be left, in `left`, are all gone.
    pub fn lost<'a>(
        &'a self,
        left: impl Fn(Address, &[u8]) -> bool + 'a,
    ) -> impl Iterator<Item = Address> + 'a {
        let bytes = self.pieces.all().flat_map(|(start, piece)| {
            (start..piece.end(start))
                .map(move |address| (Address(address), piece.left((address - start) as usize)))
        });
        bytes.filter(move |(address, values)| !left(*address, values)).map(|(address, _)| address)
    }
}

/// The values of a piece, which begins so far into a run with these.
fn part<'a>(bytes: &'a [u8], offset: u64, piece: &Piece) -> Option<&'a [u8]> {
    let from = offset as usize;
    bytes.get(from..from + piece.len as usize)
}

/// The first of the bytes that were read, from `start` on, that is not zero within some addresses.
fn first_set(read: &[u8], start: Address, within: std::ops::Range<u64>) -> Option<Stale> {
    within.map(Address).find_map(|address| {
        let value = *read.get((address.0 - start.0) as usize)?;
        (value != 0).then_some(Stale { address, value, expected: None })
    })
}

/// One byte.
#[must_use]
pub fn byte_at(address: Address) -> Range {
    Range::new(address, 1)
}
