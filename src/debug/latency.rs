//! Where the cycles of one access went: from its end back to its issue, and to when its warp began to wait for a translation,
//! what it waited for last at each moment.

use std::sync::Arc;

use crate::model::address::Range;
use crate::model::component::{ComponentId, Components};
use crate::model::inspect::WarpState;
use crate::model::message::{Message, MessageKind, Stages, TxnNumber};
use crate::model::paging::FaultStage;
use crate::model::record::{MshrChange, NO_WARP, Record, What};
use crate::model::time::{EventNumber, Tick, TimeBase};

/// An access from when its warp began to wait for its translation, or its issue, to its end.
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
    /// A message on its way: to the switch, or else until its receiver has looked its tag up; perhaps only from the switch on.
    Message { message: Arc<Message>, part: Part },
    /// A message before its link, or the second one behind a switch: it is busy, or has no room at its other end.
    Link { message: Arc<Message>, second: bool },
    /// The memory behind the sender of a message reads what that carries.
    Memory,
    /// Its turn at a node, which came with the end of something else: of this transaction, if of one. It may have joined the
    /// miss of that; else so many others were served before it.
    Turn { other: Option<TxnNumber>, joined: bool, passed: u64 },
    /// Its warp, before the issue: for a translation, or for its turn to issue.
    Warp(WarpState),
    /// The page of its address, before the issue: for the driver to take the far-fault up, or, then, for its arrival.
    Page { page: Range, is_moving: bool },
}

/// A part of the way of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    Whole,
    ToSwitch,
    FromSwitch,
}

/// Where the walk from the end to the issue has come to.
#[derive(Clone, Copy)]
struct Place {
    event: EventNumber,
    tick: Tick,
    node: ComponentId,
}

impl Latency {
    /// The latency of a transaction that has ended, out of all records from its issue to its end. None if its issue or its end
    /// is not among them.
    #[must_use]
    pub fn of(txn: TxnNumber, records: &[Record], components: &Components, time: TimeBase) -> Option<Self> {
        let own = |record: &&Record| record.txn == Some(txn);
        let issue = records.iter().filter(own).find(|record| matches!(record.what, What::Issue { .. }))?;
        let complete =
            records.iter().filter(own).find(|record| matches!(record.what, What::Complete { .. }))?;
        let end = components.get(complete.at)?;
        let node = if end.kind.is_node() { complete.at } else { end.parents.first().copied()? };
        let mut walk = Walk { txn, records, time, legs: Vec::new() };
        let mut place = Place { event: complete.id.event, tick: complete.tick, node };
        while place.event > issue.id.event {
            place = walk.back(place)?;
        }
        walk.before_issue(issue);
        let mut legs = walk.legs;
        legs.retain(|leg| leg.cycles > 0);
        legs.reverse();
        Some(Self { issue: issue.clone(), complete: complete.clone(), legs })
    }

    /// The cycle at which its warp began to wait for it.
    #[must_use]
    pub fn began(&self) -> u64 {
        self.legs.first().map_or(self.issue.cycle, |leg| leg.since.min(self.issue.cycle))
    }
}

/// The records of a run while an access was under way, and what it was found to wait for, the last first.
struct Walk<'a> {
    txn: TxnNumber,
    records: &'a [Record],
    time: TimeBase,
    legs: Vec<Leg>,
}

impl Walk<'_> {
    fn of_event(&self, event: EventNumber) -> &[Record] {
        let from = self.records.partition_point(|record| record.id.event < event);
        let to = self.records.partition_point(|record| record.id.event <= event);
        self.records.get(from..to).unwrap_or_default()
    }

    fn leg(&mut self, (since, until): (Tick, Tick), at: ComponentId, what: Awaited) {
        let (since, until) = (self.time.cycle(since), self.time.cycle(until));
        self.legs.push(Leg { since, cycles: until.saturating_sub(since), at, what });
    }

    /// Steps back over what brought the access to a place.
    fn back(&mut self, place: Place) -> Option<Place> {
        let delivered = self.of_event(place.event).iter().find_map(|record| match &record.what {
            What::Delivery(message) if record.at == place.node => Some((record.txn, message.clone())),
            _ => None,
        });
        match delivered {
            Some((Some(txn), message)) if txn == self.txn => self.over(place, &message),
            other => self.before(place, other.and_then(|(txn, _)| txn)),
        }
    }

    /// Steps back over a message that came to a place.
    fn over(&mut self, place: Place, message: &Arc<Message>) -> Option<Place> {
        let is_it = |record: &&Record| match &record.what {
            What::Message(sent) => {
                (sent.cause, sent.kind, sent.from, sent.to, sent.range)
                    == (message.cause, message.kind, message.from, message.to, message.range)
            }
            _ => false,
        };
        // One that had to be read from memory was caused by the event before that.
        let sent = self.records.iter().find(is_it)?;
        let (sent, cause) = (sent.tick, sent.because.unwrap_or(sent.id.event));
        let made = self.of_event(cause).first()?.tick;
        let Stages { ready, left, at_switch, crossed } = message.trip.stages().copied().unwrap_or_default();
        // What is not known of a message that left before anybody listened counts as on its way.
        let ready = ready.clamp(sent, place.tick);
        let left = left.clamp(ready, place.tick);
        let (at, from) = (message.to, message.from);
        let waits = |second| Awaited::Link { message: message.clone(), second };
        let goes = |part| Awaited::Message { message: message.clone(), part };
        if crossed > at_switch {
            self.leg((crossed, place.tick), at, goes(Part::FromSwitch));
            self.leg((at_switch, crossed), at, waits(true));
            self.leg((left, at_switch), at, goes(Part::ToSwitch));
        } else {
            self.leg((left, place.tick), at, goes(Part::Whole));
        }
        self.leg((ready, left), at, waits(false));
        self.leg((made, ready), from, Awaited::Memory);
        Some(Place { event: cause, tick: made, node: from })
    }

    /// Steps back over the time for which the access stood at a place, to what brought it there.
    fn before(&mut self, place: Place, other: Option<TxnNumber>) -> Option<Place> {
        let came = |record: &&Record| {
            let is_there = matches!(record.what, What::Delivery(_)) && record.at == place.node;
            record.txn == Some(self.txn)
                && record.id.event < place.event
                && (is_there || matches!(record.what, What::Issue { .. }))
        };
        let came = self.records.iter().rev().find(came)?;
        let (event, tick) = (came.id.event, came.tick);
        let turn = self.turn(came, place, other);
        self.leg((tick, place.tick), place.node, turn);
        Some(Place { event, tick, node: place.node })
    }

    /// What it stood at a place for since it came there.
    fn turn(&self, came: &Record, place: Place, other: Option<TxnNumber>) -> Awaited {
        let from = self.records.partition_point(|record| record.id.event < came.id.event);
        let to = self.records.partition_point(|record| record.id.event < place.event);
        let meanwhile = self.records.get(from..to).unwrap_or_default();
        let joined = meanwhile.iter().any(|record| {
            let joins = matches!(record.what, What::Mshr { change: MshrChange::Merge, .. });
            joins && record.at == place.node && record.txn == Some(self.txn)
        });
        let passes = |record: &&Record| match &record.what {
            What::Message(message) => {
                message.from == place.node
                    && matches!(message.kind, MessageKind::Grant | MessageKind::Reply)
                    && record.txn != Some(self.txn)
                    && came.range.is_some_and(|range| message.range.overlaps(range))
            }
            _ => false,
        };
        Awaited::Turn { other, joined, passed: meanwhile.iter().filter(passes).count() as u64 }
    }

    /// Steps back from the issue over what the warp waited for to issue it: a translation, and pages.
    fn before_issue(&mut self, issue: &Record) {
        let What::Issue { warp, .. } = issue.what else { return };
        let is_own = |record: &&Record| {
            record.at == issue.at
                && record.id < issue.id
                && matches!(record.what, What::Warp { warp: own, .. } if own == warp)
        };
        let changes: Vec<&Record> = self.records.iter().filter(is_own).collect();
        let (mut until, issued) = (issue.tick, self.legs.len());
        let mut translated = issued;
        for change in changes.into_iter().rev().take_while(|_| warp != NO_WARP) {
            let What::Warp { to: state, .. } = change.what else { break };
            let waits_so =
                matches!(state, WarpState::Translation | WarpState::FarFault | WarpState::ProtectionFault);
            if !waits_so && state != WarpState::Ready {
                break;
            }
            self.warp_was((change.tick, until), issue, state);
            until = change.tick;
            translated = if waits_so { self.legs.len() } else { translated };
        }
        // What it was ready for before that was something else.
        self.legs.truncate(translated);
    }

    /// The warp of an access was in a state for a time before its issue. For a far-fault that ends in parts.
    fn warp_was(&mut self, (since, until): (Tick, Tick), issue: &Record, state: WarpState) {
        let stage_of = |record: &Record| match record.what {
            What::FarFault { stage, .. } => Some(stage),
            _ => None,
        };
        let address = issue.range;
        let pages = self.records.iter().filter(|record| {
            let own = record.range.is_some_and(|page| address.is_some_and(|own| page.overlaps(own)));
            own && stage_of(record).is_some() && record.tick <= until
        });
        let pages: Vec<(Tick, Range, FaultStage)> =
            pages.filter_map(|record| Some((record.tick, record.range?, stage_of(record)?))).collect();
        let Some((_, page, _)) = pages.last().copied().filter(|_| state == WarpState::FarFault) else {
            return self.leg((since, until), issue.at, Awaited::Warp(state));
        };
        let serviced = pages.iter().filter(|(tick, ..)| *tick >= since);
        let serviced =
            serviced.filter(|(.., stage)| *stage == FaultStage::Serviced).map(|(tick, ..)| *tick).next_back();
        let is_moving_already =
            !pages.iter().any(|(tick, _, stage)| *tick >= since && *stage == FaultStage::Queued)
                && pages.iter().any(|(tick, _, stage)| *tick < since && *stage == FaultStage::Serviced);
        match serviced {
            Some(tick) => {
                self.leg((tick, until), issue.at, Awaited::Page { page, is_moving: true });
                self.leg((since, tick), issue.at, Awaited::Page { page, is_moving: false });
            }
            None => self.leg((since, until), issue.at, Awaited::Page { page, is_moving: is_moving_already }),
        }
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
                let found = Latency::of(record.txn.unwrap(), &all, machine.components(), machine.time_base());
                (found.unwrap(), machine.components().clone())
            })
            .collect()
    }

    #[test]
    fn the_legs_are_all_of_the_time() {
        let units = ["gpu0.cu0", "gpu0.cu1", "gpu1.cu0", "host.cpu0"];
        let (mut turns, mut links, mut memories, mut pages) = (0, 0, 0, 0);
        for machine in ["tiny/umh-2gpu", "tiny/umh-2gpu-nvlink", "tiny/paged-1gpu", "tiny/scalegpu"] {
            let addresses = [0x1000, 0x1040, 0x2000, 0x3000, 0x4000, 0x1000];
            let here = units.iter().filter(|unit| !unit.starts_with("gpu1") || machine.contains("2gpu"));
            let work = here.flat_map(|unit| [Store, Load].map(|kind| program(unit, kind, &addresses)));
            let found = latencies(machine, work.collect());
            assert!(found.len() > 30, "{machine}");
            for (latency, _) in &found {
                let mut cycle = latency.began();
                for leg in &latency.legs {
                    assert_eq!(leg.since, cycle, "{machine}: {latency:?}");
                    cycle += leg.cycles;
                }
                assert_eq!(cycle, latency.complete.cycle, "{machine}");
            }
            for leg in found.iter().flat_map(|(latency, _)| &latency.legs) {
                match leg.what {
                    Awaited::Turn { other: Some(_), .. } => turns += 1,
                    Awaited::Link { .. } => links += 1,
                    Awaited::Memory => memories += 1,
                    Awaited::Page { .. } => pages += 1,
                    _ => {}
                }
            }
            assert!(memories > 0, "{machine}");
        }
        assert!(turns > 10 && links > 10 && pages > 2, "{turns} {links} {pages}");
    }

    #[test]
    fn what_is_last_is_what_is_waited_for() {
        let first = program("gpu0.cu0", Store, &[0x1000]);
        let second = crate::workload::Task { after: vec![0], ..program("gpu1.cu0", Load, &[0x1000]) };
        let found = latencies("tiny/umh-2gpu", vec![first, second]);
        let (latency, components) = found.last().unwrap();
        let way = latency.legs.iter().map(|leg| match &leg.what {
            Awaited::Message { message, .. } => {
                format!("{} {}", message.kind.name(), components.path(leg.at))
            }
            Awaited::Memory => format!("memory {}", components.path(leg.at)),
            other => format!("{other:?}"),
        });
        let way: Vec<_> = way.collect();
        // Down to the HMD, up to the owner and back, and the grants.
        let expected = ["read gpu1.l2.0", "read gpu1.smd0", "read host.hmd0", "probe-read gpu0.smd0"];
        assert_eq!(way.get(..4), Some(&expected.map(str::to_owned)[..]), "{way:?}");
        assert_eq!(way.last().map(String::as_str), Some("grant gpu1.cu0.l1"), "{way:?}");
    }
}
