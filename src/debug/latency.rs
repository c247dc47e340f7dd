//! Where the cycles of one access went: from its end back to its issue, what it waited for last at each moment.

use std::sync::Arc;

use crate::model::component::{ComponentId, Components};
use crate::model::message::{Message, TxnNumber};
use crate::model::record::{Record, What};
use crate::model::time::EventNumber;

/// An access from its issue to its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Latency {
    /// The records of its issue and its end.
    pub issue: Record,
    pub complete: Record,
    /// Without a gap from the one to the other.
    pub legs: Vec<Leg>,
}

/// A time in which an access waited for one thing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Leg {
    /// The cycle at which that began, and for how many it lasted.
    pub since: u64,
    pub cycles: u64,
    pub at: ComponentId,
    pub what: Awaited,
}

/// What an access waits for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Awaited {
    /// A message on its way, until its receiver has looked its tag up. In memories that serve in order, that includes their data.
    Message(Arc<Message>),
    /// The memory behind the sender of a message reads what that carries.
    Memory,
    /// Its turn at a node, which came with the end of something else: of this transaction, if of one.
    Turn(Option<TxnNumber>),
}

/// Where the walk from the end to the issue has come to.
#[derive(Clone, Copy)]
struct Place {
    event: EventNumber,
    cycle: u64,
    node: ComponentId,
}

impl Latency {
    /// The latency of a transaction that has ended, out of all records from its issue to its end. None if its issue or its end
    /// is not among them.
    #[must_use]
    pub fn of(txn: TxnNumber, records: &[Record], components: &Components) -> Option<Self> {
        let own = |record: &&Record| record.txn == Some(txn);
        let issue = records.iter().filter(own).find(|record| matches!(record.what, What::Issue { .. }))?;
        let complete =
            records.iter().filter(own).find(|record| matches!(record.what, What::Complete { .. }))?;
        let end = components.get(complete.at)?;
        let node = if end.kind.is_node() { complete.at } else { end.parents.first().copied()? };
        let walk = Walk { txn, records };
        let mut place = Place { event: complete.id.event, cycle: complete.cycle, node };
        let mut legs = Vec::new();
        while place.event > issue.id.event {
            place = walk.back(place, &mut legs)?;
        }
        legs.retain(|leg| leg.cycles > 0);
        legs.reverse();
        Some(Self { issue: issue.clone(), complete: complete.clone(), legs })
    }

    /// Cycles from its issue to its end.
    #[must_use]
    pub fn cycles(&self) -> u64 {
        self.complete.cycle - self.issue.cycle
    }
}

/// The records of a run while an access was under way.
struct Walk<'a> {
    txn: TxnNumber,
    records: &'a [Record],
}

impl Walk<'_> {
    fn of_event(&self, event: EventNumber) -> &[Record] {
        let from = self.records.partition_point(|record| record.id.event < event);
        let to = self.records.partition_point(|record| record.id.event <= event);
        self.records.get(from..to).unwrap_or_default()
    }

    /// Steps back over what brought the access to a place.
    fn back(&self, place: Place, legs: &mut Vec<Leg>) -> Option<Place> {
        let delivered = self.of_event(place.event).iter().find_map(|record| match &record.what {
            What::Delivery(message) if record.at == place.node => Some((record.txn, message)),
            _ => None,
        });
        match delivered {
            Some((Some(txn), message)) if txn == self.txn => self.over(place, message, legs),
            other => self.before(place, other.and_then(|(txn, _)| txn), legs),
        }
    }

    /// Steps back over a message that came to a place.
    fn over(&self, place: Place, message: &Arc<Message>, legs: &mut Vec<Leg>) -> Option<Place> {
        let is_it = |record: &&Record| match &record.what {
            What::Message(sent) => {
                (sent.cause, sent.kind, sent.from, sent.to, sent.range)
                    == (message.cause, message.kind, message.from, message.to, message.range)
            }
            _ => false,
        };
        let sent = self.records.iter().find(is_it)?;
        let mut leg = |since: u64, until: u64, at, what| {
            legs.push(Leg { since, cycles: until.saturating_sub(since), at, what });
        };
        leg(sent.cycle, place.cycle, message.to, Awaited::Message(message.clone()));
        let made = self.of_event(message.cause).first()?.cycle;
        if sent.id.event != message.cause {
            leg(made, sent.cycle, message.from, Awaited::Memory);
        }
        Some(Place { event: message.cause, cycle: made, node: message.from })
    }

    /// Steps back over the time for which the access stood at a place, to what brought it there.
    fn before(&self, place: Place, other: Option<TxnNumber>, legs: &mut Vec<Leg>) -> Option<Place> {
        let came = |record: &&Record| {
            let is_there = matches!(record.what, What::Delivery(_)) && record.at == place.node;
            record.txn == Some(self.txn)
                && record.id.event < place.event
                && (is_there || matches!(record.what, What::Issue { .. }))
        };
        let came = self.records.iter().rev().find(came)?;
        let cycles = place.cycle.saturating_sub(came.cycle);
        legs.push(Leg { since: came.cycle, cycles, at: place.node, what: Awaited::Turn(other) });
        Some(Place { event: came.id.event, cycle: came.cycle, node: place.node })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::StepOutcome;
    use crate::machine::sample::{performing, program};
    use crate::model::access::AccessKind::{Load, Store};
    use crate::model::inspect::Inspect;
    use crate::model::record::Records;

    fn latencies(machine: &str, work: Vec<crate::workload::Task>) -> Vec<(Latency, Components)> {
        let mut machine = performing(machine, &[], work);
        let (mut records, mut all) = (Records::listening(), Vec::new());
        while machine.step(&mut records) == StepOutcome::Ran {
            all.append(&mut records.list);
        }
        let ended = all.iter().filter(|record| matches!(record.what, What::Complete { .. }));
        ended
            .map(|record| {
                let found = Latency::of(record.txn.unwrap(), &all, machine.components());
                (found.unwrap(), machine.components().clone())
            })
            .collect()
    }

    #[test]
    fn the_legs_are_all_of_the_time() {
        let units = ["gpu0.cu0", "gpu0.cu1", "gpu1.cu0", "host.cpu0"];
        let mut turns = 0;
        for machine in ["tiny/umh-2gpu", "tiny/umh-2gpu-nvlink", "tiny/paged-1gpu", "tiny/scalegpu"] {
            let addresses = [0x1000, 0x1040, 0x2000, 0x3000, 0x4000, 0x1000];
            let here = units.iter().filter(|unit| !unit.starts_with("gpu1") || machine.contains("2gpu"));
            let work = here.flat_map(|unit| [Store, Load].map(|kind| program(unit, kind, &addresses)));
            let found = latencies(machine, work.collect());
            assert!(found.len() > 30, "{machine}");
            for (latency, _) in &found {
                let mut cycle = latency.issue.cycle;
                for leg in &latency.legs {
                    assert_eq!(leg.since, cycle, "{machine}: {latency:?}");
                    cycle += leg.cycles;
                }
                assert_eq!(cycle, latency.complete.cycle, "{machine}");
            }
            let legs = found.iter().flat_map(|(latency, _)| &latency.legs);
            turns += legs.filter(|leg| matches!(leg.what, Awaited::Turn(Some(_)))).count();
        }
        assert!(turns > 10, "some wait for others: {turns}");
    }

    #[test]
    fn what_is_last_is_what_is_waited_for() {
        let first = program("gpu0.cu0", Store, &[0x1000]);
        let second = crate::workload::Task { after: vec![0], ..program("gpu1.cu0", Load, &[0x1000]) };
        let found = latencies("tiny/umh-2gpu", vec![first, second]);
        let (latency, components) = found.last().unwrap();
        let way = latency.legs.iter().map(|leg| match &leg.what {
            Awaited::Message(message) => format!("{} {}", message.kind.name(), components.path(leg.at)),
            other => format!("{other:?}"),
        });
        let way: Vec<_> = way.collect();
        // Down to the HMD, up to the owner and back, and the grants.
        let expected = ["read gpu1.l2.0", "read gpu1.smd0", "read host.hmd0", "probe-read gpu0.smd0"];
        assert_eq!(way.get(..4), Some(&expected.map(str::to_owned)[..]), "{way:?}");
        assert_eq!(way.last().map(String::as_str), Some("grant gpu1.cu0.l1"), "{way:?}");
    }
}
