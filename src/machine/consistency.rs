//! What software coherence promises, checked: release consistency. A load may return any store that was not replaced, for
//! sure, by one that it must see: one of its own L1, or one that was released before its L1 acquired.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use smallvec::SmallVec;

use crate::model::access::{Access, AccessKind};
use crate::model::address::{Address, Range};
use crate::model::component::ComponentId;
use crate::model::message::TxnNumber;
use crate::model::time::EventNumber;

/// A byte that was stored.
#[derive(Clone, Debug)]
struct Stored {
    number: Option<TxnNumber>,
    value: u8,
    /// The L1 above which it was stored; none for what was there at first.
    writer: Option<ComponentId>,
    /// When it began.
    begun: EventNumber,
    /// When it was performed, and when it had come to where every acquire looks.
    completed: Option<EventNumber>,
    released: Option<EventNumber>,
    /// When the one who has the byte alone, cache or home, took it: the order of such stores is that of these events.
    taken: Option<EventNumber>,
    /// Performed at the home, so that atomics there see it at once.
    is_atomic: bool,
    /// The stores that were made by somebody who had to see this one, by their numbers.
    replaced_by: SmallVec<[TxnNumber; 2]>,
}

/// A byte: what was stored there, and how many atomics are not answered yet.
#[derive(Clone, Debug, Default)]
struct Byte {
    stores: Vec<Stored>,
    atomics: u32,
}

impl Byte {
    /// Whether a value was stored by somebody, and was not replaced for sure when a load began, at `issued`, or by a store
    /// that its home had taken when the load was performed.
    fn has_latest(&self, value: u8, issued: EventNumber, event: EventNumber) -> bool {
        let is_replaced = |store: &Stored| {
            self.stores.iter().any(|other| other.has_ended(issued, event) && store.precedes(other))
        };
        self.stores.iter().any(|store| store.value == value && !is_replaced(store))
    }
}

impl Stored {
    fn has_ended(&self, issued: EventNumber, event: EventNumber) -> bool {
        self.taken.is_some_and(|taken| taken < event) || self.completed.is_some_and(|end| end < issued)
    }

    /// Whether another one came later, for sure.
    fn precedes(&self, other: &Self) -> bool {
        match (self.taken, other.taken) {
            (Some(own), Some(other)) => own < other,
            _ => self.completed.is_some_and(|end| end < other.begun),
        }
    }
}

/// What the checks of a machine with software coherence remember.
#[derive(Clone, Debug)]
pub struct Consistency {
    bytes: BTreeMap<u64, Byte>,
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

fn initial(value: u8) -> Stored {
    Stored {
        number: None,
        value,
        writer: None,
        begun: 0,
        completed: Some(0),
        released: Some(0),
        taken: Some(0),
        is_atomic: false,
        replaced_by: SmallVec::new(),
    }
}

/// A byte of a store that has begun.
fn stored(number: TxnNumber, value: u8, writer: Option<ComponentId>, begun: EventNumber) -> Stored {
    Stored {
        number: Some(number),
        writer,
        begun,
        completed: None,
        released: None,
        taken: None,
        ..initial(value)
    }
}

impl Consistency {
    #[must_use]
    pub fn new(is_immediate: bool) -> Self {
        Self { bytes: BTreeMap::new(), acquired: BTreeMap::new(), is_immediate }
    }

    /// Memory before the first event.
    pub fn set_initial(&mut self, address: Address, value: u8) {
        self.byte(address).stores = vec![initial(value)];
    }

    fn byte(&mut self, address: Address) -> &mut Byte {
        self.bytes.entry(address.0).or_insert_with(|| Byte { stores: vec![initial(0)], atomics: 0 })
    }

    /// A store or atomic begins: from now on somebody may see it.
    pub fn begin(&mut self, at: ComponentId, number: TxnNumber, access: &Access, event: EventNumber) {
        for run in access.runs() {
            for (offset, address) in (0..u64::from(run.len)).map(|offset| (offset, run.start.plus(offset))) {
                let byte = self.byte(address);
                match access.kind {
                    AccessKind::Load => {}
                    AccessKind::Atomic(_) => byte.atomics += 1,
                    AccessKind::Store | AccessKind::NStore => {
                        let Some(&value) = access.bytes_of(run).get(offset as usize) else { continue };
                        byte.stores.push(stored(number, value, Some(at), event));
                    }
                }
            }
        }
    }

    /// A store or atomic was performed for somebody above; `access` has what is there now.
    pub fn take(&mut self, number: TxnNumber, access: &Access, event: EventNumber) {
        let is_atomic = matches!(access.kind, AccessKind::Atomic(_));
        for run in access.runs() {
            for (offset, address) in (0..u64::from(run.len)).map(|offset| (offset, run.start.plus(offset))) {
                let value = access.bytes_of(run).get(offset as usize).copied();
                let Some(byte) = self.bytes.get_mut(&address.0) else { continue };
                let own = byte.stores.iter_mut().find(|store| store.number == Some(number));
                match (own, value) {
                    // Those between who only hand on the answer say so, too.
                    (Some(store), _) => _ = store.taken.get_or_insert(event),
                    (None, Some(value)) if is_atomic => {
                        byte.stores.push(Stored { taken: Some(event), ..stored(number, value, None, event) });
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
        for store in self.bytes.values_mut().flat_map(|byte| &mut byte.stores) {
            if store.writer == Some(at) && store.completed.is_some_and(|completed| completed <= begun) {
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
        let wrong = match performed.access.kind {
            AccessKind::Load | AccessKind::Atomic(_) => self.wrong(performed),
            _ => None,
        };
        if performed.access.kind.writes() {
            for run in performed.access.runs() {
                for offset in 0..u64::from(run.len) {
                    let value = performed.access.bytes_of(run).get(offset as usize).copied();
                    self.finish(performed, run.start.plus(offset), value);
                }
            }
        }
        wrong
    }

    fn wrong(&self, performed: &Performed<'_>) -> Option<Stale> {
        let start = performed.access.range.start;
        performed.read.iter().enumerate().find_map(|(offset, &value)| {
            let address = start.plus(offset as u64);
            let expected = || self.expected(performed, address);
            (!self.may_read(performed, address, value)).then(|| Stale {
                address,
                value,
                expected: expected(),
            })
        })
    }

    /// The last store to a byte that an access had to see.
    fn expected(&self, performed: &Performed<'_>, address: Address) -> Option<Expected> {
        let byte = self.bytes.get(&address.0)?;
        let is_seen = |store: &&Stored| {
            let has_ended = performed.is_strict() && store.has_ended(performed.issued, performed.event);
            store.number.is_some() && (has_ended || self.must_see(store, performed))
        };
        let last = byte.stores.iter().filter(is_seen).max_by_key(|store| store.taken.max(store.completed))?;
        last.number.map(|number| Expected { value: last.value, number, writer: last.writer })
    }

    fn may_read(&self, performed: &Performed<'_>, address: Address, value: u8) -> bool {
        let Some(byte) = self.bytes.get(&address.0) else { return value == 0 };
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
            if performed.is_strict() { byte.stores.iter().filter(is_taken).count() as u32 } else { 0 };
        if byte.atomics > u32::from(is_atomic) + known || is_atomic && byte.stores.iter().any(since) {
            return true;
        }
        if performed.is_strict() && self.is_immediate {
            return byte.has_latest(value, performed.issued, performed.event);
        }
        let seen = |number: &TxnNumber| {
            byte.stores
                .iter()
                .find(|store| store.number == Some(*number))
                .is_some_and(|store| self.must_see(store, performed))
        };
        byte.stores.iter().any(|store| store.value == value && !store.replaced_by.iter().any(seen))
    }

    /// Whether an access cannot but see a store, or a later one.
    fn must_see(&self, store: &Stored, performed: &Performed<'_>) -> bool {
        let is_before =
            |event: Option<EventNumber>, other: EventNumber| event.is_some_and(|event| event < other);
        let own = store.writer == Some(performed.at) && is_before(store.completed, performed.issued);
        let at_home = performed.is_home
            && matches!(performed.access.kind, AccessKind::Atomic(_))
            && is_before(store.released, performed.issued);
        store.number.is_none()
            || own
            || at_home
            || self
                .last_acquire(performed.at, performed.issued)
                .is_some_and(|acquired| is_before(store.released, acquired))
    }

    /// A byte of a store or atomic was performed.
    fn finish(&mut self, performed: &Performed<'_>, address: Address, value: Option<u8>) {
        let Some(number) = performed.number else { return };
        let Some(byte) = self.bytes.get(&address.0) else { return };
        let replaced: Vec<usize> = byte
            .stores
            .iter()
            .enumerate()
            .filter(|(_, store)| store.number != Some(number) && self.must_see(store, performed))
            .map(|(place, _)| place)
            .collect();
        let is_atomic = matches!(performed.access.kind, AccessKind::Atomic(_));
        let at_home = performed.coherent || self.is_immediate && performed.kept != Kept::Privately;
        let byte = self.byte(address);
        for place in replaced {
            if let Some(store) = byte.stores.get_mut(place) {
                store.replaced_by.push(number);
            }
        }
        byte.atomics = byte.atomics.saturating_sub(u32::from(is_atomic));
        if is_atomic && byte.stores.iter().all(|store| store.number != Some(number)) {
            let Some(value) = value else { return };
            byte.stores.push(stored(number, value, None, performed.issued));
        }
        if let Some(store) = byte.stores.iter_mut().find(|store| store.number == Some(number)) {
            (store.writer, store.is_atomic) = (Some(performed.at), is_atomic);
            store.completed = Some(performed.event);
            store.released = at_home.then_some(performed.event);
            if performed.is_strict() && performed.coherent {
                store.taken = Some(performed.event);
            }
        }
    }

    /// Everybody has released and acquired, and nothing is under way: what was replaced is gone for ever.
    pub fn settle(&mut self) {
        for byte in self.bytes.values_mut().filter(|byte| byte.stores.len() > 1) {
            byte.stores.retain(|store| store.replaced_by.is_empty());
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
        self.bytes.iter().filter_map(move |(address, byte)| {
            let last = |store: &&Stored| store.replaced_by.is_empty();
            let values: Vec<u8> = byte.stores.iter().filter(last).map(|store| store.value).collect();
            (!left(Address(*address), &values)).then_some(Address(*address))
        })
    }
}

/// One byte.
#[must_use]
pub fn byte_at(address: Address) -> Range {
    Range::new(address, 1)
}
