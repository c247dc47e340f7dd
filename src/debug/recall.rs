//! The records around the cursor, made again by replay when they are asked for and kept while they are near.

use std::collections::BTreeSet;

use super::goal::is_change;
use super::timeline::Timeline;
use crate::model::message::TxnNumber;
use crate::model::record::Record;
use crate::model::time::EventNumber;

/// Most records kept; a window that is asked for is never cut.
const MOST: usize = 1 << 16;

/// The records of the events after one position up to another.
#[derive(Debug, Default)]
pub struct Recall {
    after: EventNumber,
    until: EventNumber,
    list: Vec<Record>,
    /// Those of the checks at the end of the run, after the last event, are among them.
    closed: bool,
    journey: Journey,
    /// Of the first events, those that changed a stable state, as far as their records were here at any time.
    changes: BTreeSet<EventNumber>,
    /// All up to here were looked through for those.
    looked: EventNumber,
}

/// The records of one transaction, in the events after one position up to another.
#[derive(Debug, Default)]
struct Journey {
    of: Option<TxnNumber>,
    after: EventNumber,
    until: EventNumber,
    list: Vec<Record>,
}

/// Changes are remembered of so many events, the first ones: where there are many more, nearly every column of a timeline has some, and they
/// tell nothing.
const MARKED: EventNumber = 1 << 13;

/// Adds the events of `records` that changed a stable state.
fn mark(changes: &mut BTreeSet<EventNumber>, records: &[Record]) {
    let early = records.iter().take_while(|record| record.id.event <= MARKED);
    changes.extend(early.filter(|record| is_change(record)).map(|record| record.id.event));
}

impl Recall {
    /// Takes the records of the event `event`, if they follow what is here; otherwise forgets what is here.
    pub fn note(&mut self, event: EventNumber, records: &mut Vec<Record>) {
        if event <= self.until && event > self.after {
            records.clear();
            return;
        }
        if event != self.until + 1 || self.list.len() > MOST {
            self.list.clear();
            self.closed = false;
            self.after = event.saturating_sub(1);
        }
        mark(&mut self.changes, records);
        self.list.append(records);
        self.until = event;
        if self.looked + 1 == event {
            self.looked = event;
        }
    }

    /// Looks for changes in those of the first events up to a position of which no records were asked for.
    pub fn look_on(&mut self, timeline: &Timeline, until: EventNumber) {
        let (from, to) = (self.looked.max(timeline.start()), until.min(MARKED));
        if from < to {
            mark(&mut self.changes, &timeline.records(from, to));
            self.looked = to;
        }
    }

    pub fn clear(&mut self) {
        *self = Self::default();
    }

    /// The events that are known to have changed a stable state, ascending.
    pub fn changes(&self) -> impl Iterator<Item = EventNumber> + '_ {
        self.changes.iter().copied()
    }

    /// The records up to `until` that are here, without making any.
    #[must_use]
    pub fn at_hand(&self, until: EventNumber) -> &[Record] {
        if until != self.until && !(self.after..self.until).contains(&until) {
            return &[];
        }
        let to = self.list.partition_point(|record| record.id.event <= until);
        self.list.get(..to).unwrap_or_default()
    }

    /// The records of one transaction in the events after `after` up to `until`. They are kept beside the others, which
    /// may be far from them.
    pub fn journey(
        &mut self,
        timeline: &Timeline,
        txn: TxnNumber,
        (after, until): (EventNumber, EventNumber),
    ) -> &[Record] {
        if self.journey.of != Some(txn) || after < self.journey.after {
            self.journey = Journey { of: Some(txn), after, until: after, list: Vec::new() };
        }
        let known = self.journey.until;
        if until > known {
            let is_own = |record: &&Record| record.txn == Some(txn);
            if known >= self.after && until <= self.until {
                let own = self.list.iter().filter(|record| (known + 1..=until).contains(&record.id.event));
                self.journey.list.extend(own.filter(is_own).cloned());
            } else {
                let made = timeline.records(known, until);
                self.journey.list.extend(made.iter().filter(is_own).cloned());
            }
            self.journey.until = until;
        }
        let from = self.journey.list.partition_point(|record| record.id.event <= after);
        let to = self.journey.list.partition_point(|record| record.id.event <= until);
        self.journey.list.get(from..to).unwrap_or_default()
    }

    /// The records of the events after `after` up to `until`.
    pub fn window(&mut self, timeline: &Timeline, after: EventNumber, until: EventNumber) -> &[Record] {
        let until = until.max(after);
        if after > self.until || until < self.after || self.list.len() > MOST {
            self.list = timeline.records(after, until);
            mark(&mut self.changes, &self.list);
            (self.after, self.until, self.closed) = (after, until, false);
        }
        if after < self.after {
            let mut earlier = timeline.records(after, self.after);
            mark(&mut self.changes, &earlier);
            earlier.append(&mut self.list);
            (self.after, self.list) = (after, earlier);
        }
        if until > self.until {
            let later = timeline.records(self.until, until);
            mark(&mut self.changes, &later);
            self.list.extend(later);
            self.until = until;
        }
        if !self.closed && timeline.end().is_some_and(|(end, _)| end == self.until) {
            self.list.extend(timeline.closing_records(self.until));
            self.closed = true;
        }
        let from = self.list.partition_point(|record| record.id.event <= after);
        let to = self.list.partition_point(|record| record.id.event <= until);
        self.list.get(from..to).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::super::timeline::Budget;
    use super::super::toy::Toy;
    use super::*;
    use crate::model::component::ComponentId;
    use crate::model::record::{RecordId, What};
    use crate::model::state::{Action, State};

    #[test]
    fn changes_are_remembered_when_the_cursor_has_gone_back() {
        let mut recall = Recall::default();
        let (from, to) = (State::I, State(b'S'));
        let change = What::Transition { from, to, action: Action::Load };
        for event in 1..4 {
            let what = if event == 2 { change.clone() } else { What::Overtaken };
            let id = RecordId { event, ordinal: 0 };
            let at = ComponentId(0);
            let record = Record { id, tick: 0, cycle: 0, at, because: None, txn: None, range: None, what };
            recall.note(event, &mut vec![record]);
        }
        recall.note(50, &mut Vec::new());
        assert!(recall.at_hand(2).is_empty(), "the records are gone");
        assert_eq!(recall.changes().collect::<Vec<_>>(), [2]);
        recall.clear();
        assert_eq!(recall.changes().count(), 0);
    }

    #[test]
    fn the_last_of_many_counted_steps_are_at_hand() {
        let mut session = crate::debug::session::tests::session(5_000);
        session.execute("step 900", &crate::debug::interrupt::Interrupt::default()).unwrap();
        let event = session.event();
        let first = session.recall.at_hand(event).first().map(|record| record.id.event);
        assert_eq!(first, Some(event - 63));
    }

    #[test]
    fn what_is_found_when_all_is_quiet_has_a_record_too() {
        let text = "machine = 'tiny/m2s-a'\nends = 'violation'\n\
            [[state]]\naddress = 0\nnode = 'gpu0.l2.0'\nstate = 'E'\nowner = 'gpu0.cu0'\nsharers = ['gpu0.cu0']\n\
            [[state]]\naddress = 0\nnode = 'host.hmd0'\nowner = 'gpu0.l2.0'\nsharers = ['gpu0.l2.0']\n\
            [[do]]\nby = 'gpu0.cu0'\nload = { address = 0x400, len = 1 }\n";
        let origin = crate::debug::origin::Origin::of_text("t", text).unwrap();
        let mut session = crate::debug::session::Session::open(origin, None);
        for line in ["set stop-at-violations off", "end", "step 1", "reverse-step 1", "end"] {
            session.execute(line, &crate::debug::interrupt::Interrupt::default()).unwrap();
            let records = session.log(1000);
            let is_found = |record: &&Record| matches!(record.what, What::Violation { .. });
            let is_over = session.timeline.at_end().is_some();
            assert_eq!(records.iter().filter(is_found).count(), usize::from(is_over), "{line}");
        }
    }

    #[test]
    fn any_order_of_windows_gives_what_a_replay_gives() {
        let mut timeline = Timeline::new(Toy::boxed(5_000), Budget::default());
        timeline.goto(4_000);
        let mut recall = Recall::default();
        for (after, until) in [(100, 120), (110, 150), (50, 105), (3_000, 3_001), (0, 4), (0, 4_000), (7, 7)]
        {
            assert_eq!(recall.window(&timeline, after, until), timeline.records(after, until));
        }
    }

    #[test]
    fn a_journey_grows_and_is_cut_as_the_cursor_goes() {
        let mut timeline = Timeline::new(Toy::boxed(5_000), Budget::default());
        timeline.goto(4_000);
        let mut recall = Recall::default();
        let all = timeline.records(0, 4_000);
        let txn = all.iter().find_map(|record| record.txn).unwrap();
        for (after, until) in [(0, 100), (0, 3_000), (0, 50), (10, 60), (0, 4_000)] {
            let own =
                |record: &&Record| record.txn == Some(txn) && (after + 1..=until).contains(&record.id.event);
            let wanted: Vec<_> = all.iter().filter(own).cloned().collect();
            assert_eq!(recall.journey(&timeline, txn, (after, until)), wanted, "{after} {until}");
        }
    }

    #[test]
    fn noted_records_are_not_made_again_nor_doubled() {
        let mut timeline = Timeline::new(Toy::boxed(50), Budget::default());
        let mut recall = Recall::default();
        let mut records = crate::model::record::Records::listening();
        for _ in 0..20 {
            timeline.step(&mut records);
            recall.note(timeline.event(), &mut records.list);
        }
        records.list = timeline.records(6, 7);
        recall.note(7, &mut records.list);
        assert_eq!(recall.window(&timeline, 5, 20), timeline.records(5, 20));
    }
}
