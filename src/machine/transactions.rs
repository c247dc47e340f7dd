//! The transactions in flight: found by their keys at once, and by their numbers without a look at each.

use slotmap::{Key, SlotMap};

use crate::model::access::{Access, AccessKind, Bytes};
use crate::model::address::Range;
use crate::model::level::Level;
use crate::model::lowest::Lowest;
use crate::model::message::{TxnKey, TxnNumber};
use crate::model::time::{EventNumber, Tick};

/// A transaction in flight.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Transaction {
    pub number: TxnNumber,
    pub agent: usize,
    pub warp: u32,
    pub kind: AccessKind,
    pub range: Range,
    pub bytes: Bytes,
    pub issued: Tick,
    pub issued_at: EventNumber,
    /// The farthest place that it has come to.
    pub reached: Level,
    /// It waits, or waited, there for a miss under way.
    pub merged: bool,
    /// Other caches were asked for its sake.
    pub probed: bool,
}

impl Transaction {
    /// That of an access which a warp of an agent issues at `issued`, by event `issued_at`.
    pub fn begin(
        number: TxnNumber,
        (agent, warp): (usize, u32),
        access: &Access,
        (issued, issued_at): (Tick, EventNumber),
    ) -> Self {
        Self {
            number,
            agent,
            warp,
            kind: access.kind,
            range: access.range,
            bytes: Bytes::from_slice(&access.bytes),
            issued,
            issued_at,
            reached: Level::Joined,
            merged: false,
            probed: false,
        }
    }
}

/// All of them.
#[derive(Clone, Debug, Default)]
pub struct Transactions {
    list: SlotMap<TxnKey, Transaction>,
    /// Of each slot, the number of its transaction, and its key: what a search reads. 0 where it is free.
    numbers: Vec<u64>,
    keys: Vec<TxnKey>,
}

fn slot(key: TxnKey) -> usize {
    key.data().as_ffi() as u32 as usize
}

impl Transactions {
    pub fn insert(&mut self, transaction: Transaction) -> TxnKey {
        let number = transaction.number.0;
        let key = self.list.insert(transaction);
        let slot = slot(key);
        if slot >= self.numbers.len() {
            self.numbers.resize(slot + 1, 0);
            self.keys.resize(slot + 1, TxnKey::null());
        }
        if let (Some(known), Some(own)) = (self.numbers.get_mut(slot), self.keys.get_mut(slot)) {
            (*known, *own) = (number, key);
        }
        key
    }

    pub fn remove(&mut self, key: TxnKey) -> Option<Transaction> {
        let transaction = self.list.remove(key)?;
        if let Some(number) = self.numbers.get_mut(slot(key)) {
            *number = 0;
        }
        Some(transaction)
    }

    #[must_use]
    pub fn get(&self, key: TxnKey) -> Option<&Transaction> {
        self.list.get(key)
    }

    pub fn get_mut(&mut self, key: TxnKey) -> Option<&mut Transaction> {
        self.list.get_mut(key)
    }

    /// All of them, in no order that means anything.
    pub fn values(&self) -> impl Iterator<Item = &Transaction> {
        self.list.values()
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// The transaction of a number, if it is in flight.
    #[must_use]
    pub fn find(&self, number: TxnNumber) -> Option<&Transaction> {
        let slot = self.numbers.iter().position(|known| *known == number.0)?;
        self.list.get(*self.keys.get(slot)?)
    }

    /// Those that began first, so many at most, by their numbers.
    #[must_use]
    pub fn oldest(&self, most: usize) -> Vec<&Transaction> {
        let held = self.numbers.iter().zip(&self.keys).filter(|(number, _)| **number != 0);
        let keys = Lowest::of(held.map(|(number, key)| (*number, *key)), most).into_values();
        keys.filter_map(|key| self.list.get(key)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::address::Address;

    fn transaction(number: u64) -> Transaction {
        let access = Access {
            kind: AccessKind::Load,
            range: Range::new(Address(number * 64), 4),
            bytes: Bytes::new(),
            mask: None,
        };
        Transaction::begin(TxnNumber(number), (0, 0), &access, (0, 0))
    }

    #[test]
    fn a_number_is_found_as_long_as_it_is_in_flight() {
        let mut all = Transactions::default();
        let keys: Vec<TxnKey> = (1..=5).map(|number| all.insert(transaction(number))).collect();
        assert_eq!(all.remove(keys[1]).map(|txn| txn.number), Some(TxnNumber(2)));
        assert!(all.remove(keys[1]).is_none() && all.find(TxnNumber(2)).is_none());
        // It takes the slot that is free.
        all.insert(transaction(6));
        let found = |number| all.find(TxnNumber(number)).map(|txn| txn.range.start);
        assert_eq!([3, 6, 7].map(found), [Some(Address(3 * 64)), Some(Address(6 * 64)), None]);
        assert!(all.find(TxnNumber(0)).is_none(), "what is free has no number");
        let oldest: Vec<u64> = all.oldest(3).iter().map(|txn| txn.number.0).collect();
        assert_eq!(oldest, [1, 3, 4]);
    }
}
