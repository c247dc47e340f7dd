//! The frame of a session: what the debugger knows, handed to the frame builder with the machine.

use std::sync::Arc;

use super::breakpoint::Breakpoint;
use super::command;
use super::diagnosis::{Sentence, diagnose};
use super::frame::focus;
use super::frame::log::{Log, LogLine};
use super::frame::selection::Selection;
use super::frame::session::{Activity, BreakpointRow, CommandInfo, Info, Mark, MarkKind, RunState};
use super::frame::wish::{Pane, Wish};
use super::frame::{Facts, Frame, Knot, KnotEdge, build};
use super::session::Session;
use crate::machine::{Machine, StepOutcome};
use crate::model::inspect::TransactionView;
use crate::model::message::TxnNumber;
use crate::model::record::{Record, Records, What};

/// Events of a transaction's journey that are looked at, at most.
const JOURNEY: u64 = 1 << 14;

/// Events that are run again, at most, for a transaction that is only followed.
const FAR: u64 = 1 << 16;

/// Events in which the beginning of a transaction is looked for, at most.
const SEARCHED: u64 = 1 << 12;

/// Events in which the last block is looked for: first near the cursor, then as far as need be.
const NEAR: [u64; 2] = [64, SEARCHED];

/// Marks of one kind on the timeline, at most.
const MARKS: usize = 500;

/// Most records of log in one frame.
const MOST_ROWS: usize = 1 << 14;

impl Session {
    /// What does not change while the scenario is open.
    #[must_use]
    pub fn info(&self) -> Info {
        let table = || self.table().map_or_else(String::new, |table| table.name.clone());
        let protocol = self.machine().machine().map_or_else(table, |machine| machine.spec().protocol.clone());
        Info {
            scenario: self.name.clone(),
            title: self.title.clone(),
            source: self.source.clone(),
            about: self.maker.as_ref().and_then(|maker| maker.scenario.about()).unwrap_or_default(),
            machine: self.about.clone(),
            protocol,
            components: Arc::new(self.machine().components().clone()),
            commands: command::ALL.iter().map(command_info).collect(),
        }
    }

    /// What the session is doing.
    #[must_use]
    pub fn run_state(&self) -> RunState {
        match &self.travel {
            Some(travel) if travel.is_forward() => {
                RunState::Running { events_per_second: self.settings.speed }
            }
            Some(travel) if travel.leads_on(self.timeline.event()) => {
                RunState::Busy { what: "going on".to_owned(), done: None }
            }
            Some(_) => RunState::Busy { what: "going back".to_owned(), done: None },
            None if self.job.is_some() => RunState::Busy { what: "at work".to_owned(), done: None },
            None => match self.timeline.at_end() {
                Some(StepOutcome::Finished) => RunState::Finished,
                Some(StepOutcome::Stuck) => RunState::Stuck,
                // However one came there.
                None if self.machine().machine().is_some_and(Machine::is_stuck) => RunState::Stuck,
                _ => RunState::Paused,
            },
        }
    }

    /// The frame that `wish` asks for. While the cursor moves, only records that are at hand are shown.
    pub fn frame(&mut self, info: &Arc<Info>, wish: &Wish) -> Frame {
        let last = self.last_for_frame();
        self.follow(&last);
        let knot = self.knot();
        self.follow_knot(knot.as_ref());
        let selection = self.shown_selection();
        let shown = selection.txn.and_then(|txn| self.machine().transaction(txn));
        let has_journey = wish.panes.has(Pane::Transaction);
        if wish.panes.has(Pane::Timeline) && !self.is_moving() {
            self.recall.look_on(&self.timeline, self.timeline.event());
        }
        let journey = if has_journey { self.journey(selection, shown.as_ref()) } else { Vec::new() };
        let log = if wish.panes.has(Pane::Log) { self.log_window(wish) } else { Log::default() };
        let facts = Facts {
            info: info.clone(),
            tables: self.tables(),
            run: self.run_state(),
            stop: if self.is_moving() { None } else { self.stop.as_ref().and_then(super::stop::Stop::view) },
            selection,
            known: self.timeline.furthest(),
            ended: self.timeline.end().is_some(),
            shown,
            last: &last,
            journey: &journey,
            begins: self.began.filter(|(txn, _)| selection.txn == Some(*txn)).map(|(_, event)| event),
            log,
            lesson: self.lesson_view(),
            branch: self.branches.view(),
            marks: if wish.panes.has(Pane::Timeline) { self.marks() } else { Vec::new() },
            activity: if wish.panes.has(Pane::Timeline) {
                self.timeline.profile().activity()
            } else {
                Activity::default()
            },
            breakpoints: self.rows(),
            deadlock: knot,
            collecting: self.queue.collecting(),
        };
        build(self.machine(), facts, wish)
    }

    /// What can never go on, where the run has come to rest too early or something is overdue.
    fn knot(&self) -> Option<Knot> {
        let machine = self.machine().machine()?;
        if self.is_moving() || (self.run_state() != RunState::Stuck && !machine.has_overdue()) {
            return None;
        }
        let found = diagnose(machine)?;
        let edge = |sentence: &Sentence| KnotEdge {
            at: sentence.from.component(),
            text: sentence.text(),
            block: sentence.block,
            txn: sentence.txn,
        };
        Some(Knot {
            verdict: found.verdict.title(),
            headline: found.headline(),
            edges: found.sentences.iter().map(edge).collect(),
            is_circle: found.is_circle,
        })
    }

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
    fn follow_knot(&mut self, knot: Option<&Knot>) {
        let edges = || knot.into_iter().flat_map(|knot| &knot.edges);
        let told =
            edges().find(|edge| edge.txn.is_some()).or_else(|| edges().find(|edge| edge.block.is_some()));
        if let Some(edge) = told {
            let block = edge.block.or(self.followed.block);
            self.followed = Selection { block, txn: edge.txn, ..Selection::default() };
        }
    }

    /// Follows what happened last: the block and transaction of the last event that speaks of one.
    fn follow(&mut self, last: &[Record]) {
        let ahead = self.spoken_of_next();
        let record = ahead.or_else(|| self.speaking(last).cloned()).or_else(|| self.spoke_last());
        let Some(record) = record else {
            if !self.is_moving() {
                // Nothing has been spoken of up to here, whatever was further on.
                self.followed = Selection::default();
            }
            return;
        };
        let before = self.followed;
        let line = |range| focus::line_in(self.machine(), range, record.txn, before.block);
        let block = record.range.map(line).or(before.block);
        let txn = match record.txn {
            None if !self.is_of_fault(&record) => self.last_txn(),
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
        );
        may_be && record.range.is_some_and(|page| self.machine().fault(page.start, None).is_some())
    }

    /// The record that told last which block it is about, where the last event tells none.
    fn spoke_last(&mut self) -> Option<Record> {
        if self.is_moving() {
            return None;
        }
        let event = self.event();
        let start = self.timeline.start();
        NEAR.into_iter().find_map(|events| {
            let records = self.records(event.saturating_sub(events).max(start), event);
            let last = records.iter().rev().find(|record| record.range.is_some())?.id.event;
            let first = records.partition_point(|record| record.id.event < last);
            let records = records[first..].to_vec();
            self.speaking(&records).cloned()
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

    fn last_for_frame(&mut self) -> Vec<Record> {
        let event = self.event();
        if !self.is_moving() {
            return self.last_records().to_vec();
        }
        let records = self.recall.at_hand(event).iter().rev();
        let mut last: Vec<_> = records.take_while(|record| record.id.event == event).cloned().collect();
        last.reverse();
        last
    }

    /// The records of the selected transaction up to the cursor; `shown` is how it stands, if it is in flight.
    fn journey(&mut self, selection: Selection, shown: Option<&TransactionView>) -> Vec<Record> {
        let Some(txn) = selection.txn else { return Vec::new() };
        let event = self.event();
        if let Some(view) = shown {
            self.began = Some((txn, view.issued_at));
        }
        let of_txn = |record: &&Record| record.txn == Some(txn);
        if self.is_moving() || self.is_far(txn) {
            return self.recall.at_hand(event).iter().filter(of_txn).cloned().collect();
        }
        let (after, until) = match self.began {
            Some((known, begin)) if known == txn => (begin.saturating_sub(1), begin.saturating_add(JOURNEY)),
            _ => (event.saturating_sub(SEARCHED), event),
        };
        let (after, until) = (after.max(self.timeline.start()), until.min(event));
        if after >= until {
            return Vec::new();
        }
        let records: Vec<_> = self.recall.journey(&self.timeline, txn, (after, until)).to_vec();
        let begin = records.iter().find(|record| matches!(record.what, What::Issue { .. }));
        if let Some(begin) = begin {
            self.began = Some((txn, begin.id.event));
        }
        records
    }

    /// Whether too much would have to be run again for the beginning of a transaction that nobody has selected.
    fn is_far(&self, txn: TxnNumber) -> bool {
        let Some((_, begin)) =
            self.began.filter(|(known, _)| *known == txn && self.selection.txn != Some(txn))
        else {
            return false;
        };
        let start = self.timeline.checkpoints().take_while(|event| *event < begin).last();
        self.event().saturating_sub(start.unwrap_or(0)) > FAR
    }

    fn log_window(&mut self, wish: &Wish) -> Log {
        let count = wish.log_rows.saturating_add(wish.log_up).min(MOST_ROWS);
        let records = if self.is_moving() { self.log_at_hand(count) } else { self.log(count) };
        let after = wish.log_up.min(records.len().saturating_sub(wish.log_rows));
        let end = records.len() - after;
        let before = end.saturating_sub(wish.log_rows);
        let names = self.machine().components();
        let shown = records.get(before..end).unwrap_or_default();
        Log {
            filter: self.filter.as_ref().map_or_else(String::new, |(_, text)| text.clone()),
            lines: shown.iter().map(|record| LogLine::new(record, names)).collect(),
            before,
            after,
        }
    }

    fn log_at_hand(&self, count: usize) -> Vec<Record> {
        let components = self.machine().components();
        let records = self.recall.at_hand(self.event()).iter().rev();
        let passes = |record: &&Record| {
            self.filter.as_ref().is_none_or(|(filter, _)| filter.matches(record, components))
        };
        let mut found: Vec<_> = records.filter(passes).take(count).cloned().collect();
        found.reverse();
        found
    }

    fn marks(&self) -> Vec<Mark> {
        let mark = |event, kind| Mark { event, kind, name: None };
        let mut marks: Vec<Mark> = Vec::new();
        for record in self.recall.at_hand(self.event()).iter().rev() {
            let kind = match record.what {
                What::Violation { .. } => MarkKind::Violation,
                What::Fault { .. } => MarkKind::Fault,
                What::Kernel { ended: false, .. } => MarkKind::Kernel,
                _ => continue,
            };
            marks.push(mark(record.id.event, kind));
            if marks.len() >= MARKS {
                break;
            }
        }
        marks.extend(self.recall.changes().map(|event| mark(event, MarkKind::Transition)));
        marks.extend(self.timeline.profile().marks().map(|(event, kind)| mark(event, kind)));
        marks.extend(self.inputs().iter().map(|(event, _)| mark(event + 1, MarkKind::Input)));
        let said = self.timeline.lesson().into_iter().flat_map(super::lesson::Lesson::said);
        marks.extend(said.map(|event| mark(event, MarkKind::Narration)));
        marks.extend(self.hits.iter().map(|event| mark(*event, MarkKind::Breakpoint)));
        let here = self.bookmarks.iter().filter(|(_, bookmark)| bookmark.is_here(&self.branches));
        marks.extend(here.map(|(name, bookmark)| Mark {
            event: bookmark.event,
            kind: MarkKind::Bookmark,
            name: Some(name.clone()),
        }));
        marks.sort_by_key(|mark| (mark.event, mark.kind));
        marks.dedup_by(|a, b| (a.event, a.kind, &a.name) == (b.event, b.kind, &b.name));
        marks
    }

    fn rows(&self) -> Vec<BreakpointRow> {
        let machine = self.machine();
        let points = self.breakpoints.list().iter().map(|point: &Breakpoint| BreakpointRow {
            number: point.id,
            kind: point.verb().to_owned(),
            text: point.what(),
            enabled: point.enabled,
            hits: point.hits,
            value: point.value(machine),
        });
        let displays = self.displays.iter().map(|display| BreakpointRow {
            number: display.id,
            kind: "display".to_owned(),
            text: display.text.clone(),
            enabled: true,
            hits: 0,
            value: Some(display.what.show(machine)),
        });
        points.chain(displays).collect()
    }
}

fn command_info(command: &command::Command) -> CommandInfo {
    CommandInfo {
        name: command.name.to_owned(),
        aliases: command.aliases.iter().map(|alias| (*alias).to_owned()).collect(),
        usage: command.usage.to_owned(),
        about: command.about.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::interrupt::Interrupt;
    use super::super::session::tests::session;
    use super::*;
    use crate::debug::origin::Origin;
    use crate::model::address::Address;
    use crate::model::message::TxnNumber;
    use crate::scenario::{Options, Scenario};

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

    fn bundled(name: &str) -> Session {
        let scenario = Scenario::load(name).unwrap();
        let options = Options::default();
        let prepared = scenario.prepare(&options).unwrap();
        Session::open(Origin::scenario(name, &scenario, &options, prepared), None)
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
    fn a_frame_shows_the_log_up_to_the_cursor_and_the_journey_of_the_selected() {
        let mut session = session(1_000);
        for line in ["goto 600", "goto 300", "log transition"] {
            session.execute(line, &Interrupt::default()).unwrap();
        }
        session.select(Selection { txn: Some(TxnNumber(37)), ..Selection::default() });
        let info = Arc::new(session.info());
        let wish = Wish { log_rows: 10, log_up: 5, ..Wish::default() };
        let frame = session.frame(&info, &wish);
        let events: Vec<_> = frame.log.lines.iter().map(|line| line.id.event).collect();
        assert_eq!(events, (286..=295).collect::<Vec<_>>());
        assert_eq!((frame.log.after, frame.position.known), (5, 600));
        assert_eq!(frame.sequence.unwrap().steps[0].id.event, 289);
    }
}
