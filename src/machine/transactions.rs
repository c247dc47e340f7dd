//! The transactions in flight: found by their keys at once, and by their numbers without a look at each.

use std::collections::VecDeque;

use slotmap::SlotMap;

use crate::model::access::{Access, AccessKind, Bytes};
use crate::model::address::Range;
use crate::model::level::Level;
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
    /// What its access is called: a coherent store of no bytes is exclusive.
    #[must_use]
    pub fn name(&self) -> &'static str {
        self.kind.name_of(self.range.len)
    }

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

/// Ended transactions that may stand among the others before they are cleared away, beside as many as are in flight.
const SLACK: usize = 64;

/// All of them.
#[derive(Clone, Debug, Default)]
pub struct Transactions {
    list: SlotMap<TxnKey, Transaction>,
    /// In the order of their numbers, which only grow; some of them have ended.
    order: VecDeque<(TxnNumber, TxnKey)>,
}

impl Transactions {
    /// Takes one in, whose number is higher than those of all before it.
    pub fn insert(&mut self, transaction: Transaction) -> TxnKey {
        let number = transaction.number;
        let key = self.list.insert(transaction);
        if self.order.len() > 2 * self.list.len() + SLACK {
            let list = &self.list;
            self.order.retain(|(_, key)| list.contains_key(*key));
        }
        debug_assert!(self.order.back().is_none_or(|(last, _)| *last < number), "numbers only grow");
        self.order.push_back((number, key));
        key
    }

    pub fn remove(&mut self, key: TxnKey) -> Option<Transaction> {
        self.list.remove(key)
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
        let place = self.order.binary_search_by_key(&number, |(known, _)| *known).ok()?;
        self.list.get(self.order.get(place)?.1)
    }

    /// In the order in which they began.
    pub fn oldest_first(&self) -> impl Iterator<Item = &Transaction> {
        self.order.iter().filter_map(|(_, key)| self.list.get(*key))
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

    fn in_order(all: &Transactions) -> Vec<u64> {
        all.oldest_first().map(|txn| txn.number.0).collect()
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
        assert_eq!(in_order(&all), [1, 3, 4, 5, 6]);
    }

    #[test]
    fn the_order_is_kept_and_what_has_ended_is_cleared_away() {
        let mut all = Transactions::default();
        let keys: Vec<TxnKey> = (1..=1000).map(|number| all.insert(transaction(number))).collect();
        // The first and every hundredth stay.
        for (at, key) in keys.iter().enumerate().filter(|(at, _)| at % 100 != 0) {
            assert_eq!(all.remove(*key).map(|txn| txn.number.0), Some(at as u64 + 1));
        }
        all.insert(transaction(1001));
        assert_eq!(in_order(&all), [1, 101, 201, 301, 401, 501, 601, 701, 801, 901, 1001]);
        assert!(all.order.len() <= 2 * 11 + SLACK);
        assert!(all.find(TxnNumber(401)).is_some() && all.find(TxnNumber(402)).is_none());
    }
}
