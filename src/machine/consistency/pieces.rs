//! Bytes with one history: what was stored to them, and which of it an access must have seen.

use rustc_hash::FxHashSet;
use smallvec::SmallVec;

use super::{Expected, Performed};
use crate::machine::runs::{Run, Runs};
use crate::model::access::AccessKind;
use crate::model::component::ComponentId;
use crate::model::message::TxnNumber;
use crate::model::time::EventNumber;

/// What a store wrote there.
#[derive(Clone, Debug)]
pub struct Stored {
    pub number: Option<TxnNumber>,
    /// As many as its piece has bytes.
    pub values: SmallVec<[u8; 16]>,
    /// The L1 above which it was stored; none for what was there at first.
    pub writer: Option<ComponentId>,
    /// When it began.
    pub begun: EventNumber,
    /// When it was performed, and when it had come to where every acquire looks.
    pub completed: Option<EventNumber>,
    pub released: Option<EventNumber>,
    /// When the one who has the bytes alone, cache or home, took it: the order of such stores is that of these events.
    pub taken: Option<EventNumber>,
    /// It is where others do not see it, and no release brings it to where they do.
    pub is_private: bool,
    /// Performed at the home, so that atomics there see it at once.
    pub is_atomic: bool,
    /// The stores that were made by somebody who had to see this one: of each L1 the first, and the first that goes farther.
    pub replaced_by: SmallVec<[Replacer; 2]>,
}

/// How far a store goes by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reach {
    /// Nowhere where others see it.
    Private,
    /// With the next release.
    Released,
    /// To where every acquire looks.
    Home,
}

/// A store that came for sure after another one.
#[derive(Clone, Copy, Debug)]
pub struct Replacer {
    pub number: TxnNumber,
    pub writer: ComponentId,
    pub reach: Reach,
}

impl Stored {
    fn initial(values: &[u8]) -> Self {
        Self {
            number: None,
            values: SmallVec::from_slice(values),
            writer: None,
            begun: 0,
            completed: Some(0),
            released: Some(0),
            taken: Some(0),
            is_private: false,
            is_atomic: false,
            replaced_by: SmallVec::new(),
        }
    }

    /// One that has begun.
    pub fn begun(number: TxnNumber, values: &[u8], writer: Option<ComponentId>, begun: EventNumber) -> Self {
        Self {
            number: Some(number),
            writer,
            begun,
            completed: None,
            released: None,
            taken: None,
            ..Self::initial(values)
        }
    }

    /// Whether it had ended when a load began, at `issued`, or its home had taken it when the load was performed.
    fn has_ended(&self, performed: &Performed<'_>) -> bool {
        self.taken.is_some_and(|taken| taken < performed.event)
            || self.completed.is_some_and(|end| end < performed.issued)
    }

    /// One came after it. Who has to see a store of an L1 has to see those that it has made before, unless they reach less far: of
    /// these the first tells as much as all.
    pub fn note_replaced(&mut self, by: Replacer) {
        let mut known = self.replaced_by.iter();
        if !known.any(|known| known.writer == by.writer && known.reach >= by.reach) {
            self.replaced_by.push(by);
        }
    }

    /// Whether another one came later, for sure.
    fn precedes(&self, other: &Self) -> bool {
        match (self.taken, other.taken) {
            (Some(own), Some(other)) => own < other,
            _ => self.completed.is_some_and(|end| end < other.begun),
        }
    }
}

/// What an access that was performed must have seen.
#[derive(Clone, Copy, Debug)]
pub struct Seen<'a> {
    pub performed: &'a Performed<'a>,
    /// When its L1 had acquired before it began.
    pub acquired: Option<EventNumber>,
}

impl Seen<'_> {
    /// Whether the access cannot but see a store, or a later one.
    pub fn must_be(&self, store: &Stored) -> bool {
        let is_before =
            |event: Option<EventNumber>, other: EventNumber| event.is_some_and(|event| event < other);
        let performed = self.performed;
        let own = store.writer == Some(performed.at) && is_before(store.completed, performed.issued);
        let at_home = performed.is_home
            && matches!(performed.access.kind, AccessKind::Atomic(_))
            && is_before(store.released, performed.issued);
        let is_acquired = self.acquired.is_some_and(|acquired| is_before(store.released, acquired));
        store.number.is_none() || own || at_home || is_acquired
    }
}

/// Bytes with one history, and how many atomics are not answered yet.
#[derive(Clone, Debug)]
pub struct Piece {
    pub len: u32,
    pub stores: Vec<Stored>,
    pub atomics: u32,
}

impl Run for Piece {
    fn unwritten(len: u32) -> Self {
        Self::initial(&vec![0; len as usize])
    }

    fn len(&self) -> u32 {
        self.len
    }

    fn cut(&mut self, len: u32) -> Self {
        let mut rest = self.clone();
        for (own, other) in self.stores.iter_mut().zip(&mut rest.stores) {
            own.values.truncate(len as usize);
            other.values.drain(..len as usize);
        }
        rest.len -= len;
        self.len = len;
        rest
    }
}

impl Piece {
    pub fn initial(values: &[u8]) -> Self {
        Self { len: values.len() as u32, stores: vec![Stored::initial(values)], atomics: 0 }
    }

    pub fn store(&mut self, number: TxnNumber) -> Option<&mut Stored> {
        self.stores.iter_mut().find(|store| store.number == Some(number))
    }

    /// The stores whose bytes an access may have read; `None` for any byte, since nobody knows.
    pub fn readable(&self, seen: &Seen<'_>, is_immediate: bool) -> Option<SmallVec<[&Stored; 4]>> {
        let performed = seen.performed;
        let is_atomic = matches!(performed.access.kind, AccessKind::Atomic(_));
        // The order of atomics at their home is not that of their answers.
        let since = |store: &Stored| {
            let is_known = performed.is_strict() && store.taken.is_some();
            store.is_atomic
                && !is_known
                && store.completed.is_some_and(|completed| completed >= performed.issued)
        };
        let is_taken = |store: &&Stored| store.writer.is_none() && store.completed.is_none();
        let known =
            if performed.is_strict() { self.stores.iter().filter(is_taken).count() as u32 } else { 0 };
        if self.atomics > u32::from(is_atomic) + known || is_atomic && self.stores.iter().any(since) {
            return None;
        }
        if performed.is_strict() && is_immediate {
            return Some(self.latest(performed));
        }
        let must_be = self.stores.iter().filter(|store| seen.must_be(store));
        let must_be: FxHashSet<TxnNumber> = must_be.filter_map(|store| store.number).collect();
        let is_seen = |by: &Replacer| must_be.contains(&by.number);
        Some(self.stores.iter().filter(|store| !store.replaced_by.iter().any(is_seen)).collect())
    }

    /// What was not replaced for sure when a load began, or by a store that its home had taken when the load was performed.
    fn latest(&self, performed: &Performed<'_>) -> SmallVec<[&Stored; 4]> {
        let is_replaced = |store: &Stored| {
            self.stores.iter().any(|other| other.has_ended(performed) && store.precedes(other))
        };
        self.stores.iter().filter(|store| !is_replaced(store)).collect()
    }

    /// The last store that an access had to see, and what it wrote at a place of this piece.
    pub fn expected(&self, place: usize, seen: &Seen<'_>) -> Option<Expected> {
        let is_seen = |store: &&Stored| {
            let has_ended = seen.performed.is_strict() && store.has_ended(seen.performed);
            store.number.is_some() && (has_ended || seen.must_be(store))
        };
        let last = self.stores.iter().filter(is_seen).max_by_key(|store| store.taken.max(store.completed))?;
        Some(Expected { value: *last.values.get(place)?, number: last.number?, writer: last.writer })
    }

    /// The values of which one must be left at a place.
    pub fn left(&self, place: usize) -> SmallVec<[u8; 4]> {
        let last = self.stores.iter().filter(|store| store.replaced_by.is_empty());
        last.filter_map(|store| store.values.get(place).copied()).collect()
    }
}

/// All pieces that somebody has stored to.
pub type Pieces = Runs<Piece>;
