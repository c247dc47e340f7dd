//! What panes show where nothing was selected: the block and transaction of what happened last, or of what can never go on.

use super::frame::Knot;
use super::frame::focus;
use super::frame::selection::Selection;
use super::frame::sequence::is_of_journey;
use super::session::Session;
use super::view::SEARCHED;
use crate::model::address::{Address, Range};
use crate::model::message::TxnNumber;
use crate::model::record::{Record, Records, What};

/// Events in which the last block is looked for: first near the cursor, then as far as need be.
const NEAR: [u64; 2] = [64, SEARCHED];

impl Session {
    /// Selects what was picked on the screen. With another transaction comes its line: that of the block picked with it,
    /// which may be a larger one, or of its access.
    pub(super) fn pick(&mut self, selection: Selection) {
        let shown = self.shown_selection();
        let machine = self.machine();
        let line = selection.txn.filter(|_| selection.txn != shown.txn).and_then(|txn| {
            let bare = selection.block == shown.block && selection.record.is_none();
            match selection.block.filter(|_| !bare) {
                Some(block) => Some(focus::line_of(machine, block, txn)),
                None => machine.transaction_range(txn).map(|range| focus::line(machine, range.start).start),
            }
        });
        self.select(Selection { block: line.or(selection.block), ..selection });
    }

    /// What is selected; where nothing is, what happened last.
    pub(in crate::debug) fn shown_selection(&self) -> Selection {
        self.selection.or(self.followed)
    }

    /// The same, where no picture has been made since: what the last event was about.
    pub(in crate::debug) fn spoken_selection(&mut self) -> Selection {
        let last = self.last_records().to_vec();
        self.follow(&last);
        let knot = self.knot();
        self.follow_knot(knot.as_ref());
        self.shown_selection()
    }

    /// Where something can never go on, that is what is followed, and not what happened last.
    pub(super) fn follow_knot(&mut self, knot: Option<&Knot>) {
        let edges = || knot.into_iter().flat_map(|knot| &knot.edges);
        let told =
            edges().find(|edge| edge.txn.is_some()).or_else(|| edges().find(|edge| edge.block.is_some()));
        if let Some(edge) = told {
            let block = edge.block.or(self.followed.block);
            self.followed = Selection { block, txn: edge.txn, ..Selection::default() };
        }
    }

    /// Follows what happened last: the block and transaction of the last event that speaks of one.
    pub(super) fn follow(&mut self, last: &[Record]) {
        let ahead = self.spoken_of_next();
        let here = ahead.or_else(|| self.spoken_of_here(last).cloned());
        let record = here.or_else(|| self.speaking(last).cloned()).or_else(|| self.spoke_last());
        let Some(record) = record else {
            if !self.is_moving() {
                // Nothing has been spoken of up to here, whatever was further on.
                self.followed = Selection::default();
            }
            return;
        };
        let before = if self.is_moving() {
            self.followed.block
        } else {
            // Where its transaction is of this block, that tells which line.
            let told = record.txn.and_then(|txn| self.machine().transaction_range(txn));
            record.range.filter(|_| told.is_none()).and_then(|range| self.spoke_within(range))
        };
        let line = |range| focus::line_in(self.machine(), range, record.txn, before);
        let block = record.range.map(line).or(self.followed.block);
        let txn = match record.txn {
            // A block that is flushed is on its way for none.
            None if !self.is_of_fault(&record) && !is_of_journey(&record) => self.last_txn(),
            // It may only begin with what is spoken of.
            Some(txn)
                if record.id.event > self.event() && self.machine().transaction_range(txn).is_none() =>
            {
                None
            }
            own => own,
        };
        self.followed = Selection { block, txn, ..Selection::default() };
    }

    /// The record of the next event that the lesson speaks of here, if it does: panes show the block that it is about.
    fn spoken_of_next(&self) -> Option<Record> {
        if self.is_moving() {
            return None;
        }
        let lesson = self.timeline.lesson().filter(|lesson| lesson.speaks_of_next(self.event()))?;
        let (mut next, mut records) = (self.timeline.machine().fork(), Records::listening());
        next.step(&mut records);
        let found = lesson.spoken_of(self.event(), &records.list, next.components());
        found.filter(|record| record.range.is_some()).cloned()
    }

    /// Of the records of the last event, the one of which the lesson says something.
    fn spoken_of_here<'a>(&self, last: &'a [Record]) -> Option<&'a Record> {
        let lesson = self.timeline.lesson().filter(|_| !self.is_moving())?;
        let mut remarked = lesson.remarked(self.event());
        remarked.find_map(|id| last.iter().find(|record| record.id == id && record.range.is_some()))
    }

    /// The transaction of the last event that was about one, however one has come here.
    fn last_txn(&mut self) -> Option<TxnNumber> {
        if self.is_moving() {
            return self.followed.txn;
        }
        let (event, start) = (self.event(), self.timeline.start());
        NEAR.into_iter().find_map(|events| {
            let records = self.records(event.saturating_sub(events).max(start), event);
            let is_told = |record: &&Record| record.txn.is_some() && record.range.is_some();
            let last = records.iter().rfind(is_told)?.id.event;
            let of_last = |record: &&Record| record.id.event == last && record.txn.is_some();
            let records: Vec<Record> = records.iter().filter(of_last).cloned().collect();
            self.speaking(&records)?.txn
        })
    }

    /// Whether a record is about the fault of a page, whose life is not that of the transaction before it.
    fn is_of_fault(&self, record: &Record) -> bool {
        let may_be = matches!(
            record.what,
            What::Walk(_)
                | What::FarFault { .. }
                | What::ProtectionFault { .. }
                | What::Page { .. }
                | What::Permission { .. }
                | What::Warp { .. }
        );
        may_be && record.range.is_some_and(|page| self.machine().fault(page.start, None).is_some())
    }

    /// The record that told last which block it is about, where the last event tells none: of a transaction, so that all panes are
    /// about the same, or of a block on its way for none; or else of any.
    fn spoke_last(&mut self) -> Option<Record> {
        if self.is_moving() {
            return None;
        }
        let event = self.event();
        let start = self.timeline.start();
        NEAR.into_iter().find_map(|events| {
            let records = self.records(event.saturating_sub(events).max(start), event);
            let mut told = records.iter().rev().filter(|record| record.range.is_some());
            let leads = |record: &&Record| record.txn.is_some() || is_of_journey(record);
            let last = told.clone().find(leads).or_else(|| told.next())?.id.event;
            let of_last = |record: &&Record| record.id.event == last;
            let records: Vec<Record> = records.iter().filter(of_last).cloned().collect();
            self.speaking(&records).cloned()
        })
    }

    /// Where the part of `range` begins that the records were about last, however the cursor has come here.
    fn spoke_within(&mut self, range: Range) -> Option<Address> {
        if range.len <= self.machine().smallest_block() {
            return None;
        }
        let (event, start) = (self.event(), self.timeline.start());
        NEAR.into_iter().find_map(|events| {
            let records = self.records(event.saturating_sub(events).max(start), event);
            let mut told = records.iter().rev().filter_map(|record| record.range);
            told.find(|part| part.len < range.len && range.contains(part.start)).map(|part| part.start)
        })
    }

    /// Of the records of one event, the one that tells which block and transaction it is about: what went wrong, or else a
    /// transaction that goes on or ends there, rather than one that was over before and is only acknowledged.
    fn speaking<'a>(&self, records: &'a [Record]) -> Option<&'a Record> {
        let ends = |txn| {
            let is_end = |record: &Record| matches!(record.what, What::Complete { .. });
            records.iter().any(|record| record.txn == Some(txn) && is_end(record))
        };
        let is_live = |txn: TxnNumber| self.machine().transaction_range(txn).is_some() || ends(txn);
        let rank = |record: &&Record| match record.txn {
            Some(_) if matches!(record.what, What::Violation { .. }) => 0,
            Some(txn) if is_live(txn) => 1,
            Some(_) => 2,
            None => 3,
        };
        records.iter().filter(|record| record.range.is_some()).min_by_key(rank)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::super::interrupt::Interrupt;
    use super::*;
    use crate::debug::frame::wish::Wish;
    use crate::debug::origin::Origin;
    use crate::debug::sample::bundled;
    use crate::model::address::Address;

    /// Two lines of one secondary block, then a fence, which is about no block.
    const LINES: &str = r#"
title = "Two lines"
machine = "tiny/umh-2gpu"
[[do]]
id = "a"
by = "gpu0.cu0"
load = { address = 0x1000, len = 4 }
[[do]]
id = "b"
after = "a"
by = "gpu1.cu0"
load = { address = 0x1048, len = 4 }
[[do]]
after = "b"
delay = 5000
by = "gpu1.cu0"
fence = "full"
"#;

    /// The panes would contradict what is said of a block that nothing has happened to yet.
    #[test]
    fn what_a_lesson_speaks_of_before_it_happens_is_followed() {
        let text = "machine = 'tiny/umh-2gpu'\n[[do]]\nid = 'a'\nby = 'gpu0.cu0'\nload = { address = 0x1000, len = 4 }\n\
                    [[do]]\nafter = 'a'\nby = 'gpu1.cu0'\nload = { address = 0x9040, len = 4 }\n\
                    [[say]]\nbefore = 'issue at gpu1.cu0'\ntext = 'The other one loads.'\n";
        let mut session = Session::open(Origin::of_text("ahead", text).unwrap(), None);
        let info = Arc::new(session.info());
        let mut block = |line: &str| {
            session.execute(line, &Interrupt::default()).unwrap();
            session.frame(&info, &Wish::default()).selection.block
        };
        assert_eq!(block("until issue at gpu1.cu0"), Some(Address(0x9040)));
        assert_eq!(block("reverse-step"), Some(Address(0x9040)), "it is spoken of here");
        assert_eq!(block("reverse-step"), Some(Address(0x1000)), "nothing is said here");
        assert_eq!(block("step"), Some(Address(0x9040)), "however one comes there");
    }

    #[test]
    fn what_is_followed_is_the_line_of_the_access_and_stays_when_an_event_is_about_none() {
        let open = || Session::open(Origin::of_text("lines", LINES).unwrap(), None);
        let mut session = open();
        let info = Arc::new(session.info());
        session.execute("end", &Interrupt::default()).unwrap();
        let told = session.last_records().iter().any(|record| record.range.is_some());
        let frame = session.frame(&info, &Wish::default());
        assert!(!told && frame.selection.block.is_some(), "{told} {:?}", frame.selection);
        let mut session = open();
        let mut blocks = |line: &str| {
            session.execute(line, &Interrupt::default()).unwrap();
            let frame = session.frame(&info, &Wish::default());
            (frame.selection.block, frame.directory.line.map(|line| line.start))
        };
        let of = |line| (Some(Address(line)), Some(Address(line)));
        assert_eq!(blocks("until delivery at host.hmd0 txn 2"), of(0x1040));
        assert_eq!(blocks("until message at gpu1.l2.0 block 0x1040"), of(0x1040));
        assert_eq!(blocks("end"), of(0x1040));
        session.execute("until message at gpu0.smd0", &Interrupt::default()).unwrap();
        session.execute("goto event 4", &Interrupt::default()).unwrap();
        let txn = session.machine().transactions(1, 0)[0].number;
        let elsewhere = Selection { block: Some(Address(0x3000)), ..Selection::default() };
        session.select(elsewhere);
        session.pick(Selection { txn: Some(txn), ..elsewhere });
        assert_eq!(session.selection().block, Some(Address(0x1000)), "a warp is picked with its transaction");
    }

    /// Of the many pages that are copied at once it is one that is spoken of.
    #[test]
    fn what_a_lesson_speaks_of_is_followed_among_all_that_happens() {
        let mut session = bundled("baselines/redundant-copies");
        let info = Arc::new(session.info());
        session.execute("until page-move change redundant page 0x10", &Interrupt::default()).unwrap();
        assert!(session.last_records().len() > 1);
        let shown = session.frame(&info, &Wish::default()).selection.block;
        assert_eq!(shown, Some(Address(0x1_0000)));
    }

    #[test]
    fn the_life_of_a_fault_is_not_that_of_the_transaction_before_it() {
        let mut session = bundled("selective/read-only-write");
        let info = Arc::new(session.info());
        session.execute("until complete", &Interrupt::default()).unwrap();
        assert!(session.frame(&info, &Wish::default()).selection.txn.is_some());
        session.execute("until protection-fault stage nacked", &Interrupt::default()).unwrap();
        assert_eq!(session.frame(&info, &Wish::default()).selection.txn, None);
    }

    #[test]
    fn what_is_followed_is_what_goes_on_rather_than_what_is_over() {
        let mut session = bundled("debugging/two-wait");
        session.execute("until message type probe-write from host.hmd0", &Interrupt::default()).unwrap();
        let first = session.last_records()[0].txn.unwrap();
        let info = Arc::new(session.info());
        let shown = session.frame(&info, &Wish::default()).selection.txn.unwrap();
        assert!(
            session.machine().transaction(first).is_none(),
            "the acknowledgement is of one that has ended"
        );
        assert!(session.machine().transaction(shown).is_some(), "{shown:?}");
    }

    #[test]
    fn one_event_shows_one_block_however_one_comes_there() {
        let info = Arc::new(bundled("selective/read-only-write").info());
        let shown = |commands: &[&str]| {
            let mut session = bundled("selective/read-only-write");
            for command in commands {
                session.execute(command, &Interrupt::default()).unwrap();
                session.frame(&info, &Wish::default());
            }
            session.frame(&info, &Wish::default()).selection
        };
        let straight = shown(&["goto event 13"]);
        assert_eq!(straight.block.map(|block| block.0), Some(0x1000));
        assert_eq!(shown(&["end", "goto event 13"]), straight);
        assert_eq!(shown(&["goto event 20", "reverse-step 7"]), straight);
    }
}
