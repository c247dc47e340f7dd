//! The frame of a session: what the debugger knows, handed to the frame builder with the machine.

use std::sync::Arc;

use super::breakpoint::Breakpoint;
use super::command;
use super::diagnosis::{Sentence, diagnose};
use super::frame::focus;
use super::frame::log::{Log, LogLine};
use super::frame::selection::Selection;
use super::frame::sequence::is_of_journey;
use super::frame::session::{Activity, BreakpointRow, CommandInfo, Info, Mark, MarkKind, RunState};
use super::frame::wish::{Pane, Wish};
use super::frame::{Facts, Frame, Knot, KnotEdge, build};
use super::session::Session;
use super::stop::Reason;
use crate::machine::{Machine, StepOutcome};
use crate::model::address::Address;
use crate::model::inspect::TransactionView;
use crate::model::message::TxnNumber;
use crate::model::record::{Record, What};
use crate::scenario::curriculum;

/// Events of a transaction's journey that are looked at, at most.
const JOURNEY: u64 = 1 << 14;

/// Events that are run again, at most, for a transaction that is only followed.
const FAR: u64 = 1 << 16;

/// Events in which the beginning of a transaction is looked for, at most.
pub(super) const SEARCHED: u64 = 1 << 12;

/// Marks of one kind on the timeline, at most.
const MARKS: usize = 500;

/// Most records of log in one frame.
const MOST_ROWS: usize = 1 << 14;

impl Session {
    /// What does not change while the scenario is open.
    #[must_use]
    pub fn info(&self) -> Info {
        let table = || self.table().map_or_else(String::new, |table| table.name.clone());
        let protocol = self.machine().machine().map_or_else(table, |machine| machine.spec().protocol_names());
        let components = self.machine().components();
        Info {
            scenario: self.name.clone(),
            title: self.title.clone(),
            source: self.source.clone(),
            about: self.maker.as_ref().and_then(|maker| maker.scenario.about()).unwrap_or_default(),
            has_story: self.maker.as_ref().is_some_and(|maker| !maker.scenario.file().says.is_empty()),
            set_by_hand: self.set_by_hand(),
            machine: self.about.clone(),
            protocol,
            has_tlbs: components.iter().any(|(id, _)| self.machine().tlb(id).is_some()),
            components: Arc::new(components.clone()),
            commands: command::ALL.iter().map(command_info).collect(),
            next: curriculum::next(&self.name),
        }
    }

    /// What is set otherwise than in the scenario's file. A fault is injected to see something fail.
    fn set_by_hand(&self) -> Vec<String> {
        let maker = self.maker.as_ref();
        let all = maker.map(|maker| maker.scenario.set_by_hand(&maker.options)).unwrap_or_default();
        let set = all.into_iter().filter(|(key, _)| !key.starts_with("fault"));
        set.map(|(key, value)| format!("{key} = {value}")).collect()
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
        let (journey, journey_is_whole) = match selection {
            _ if !has_journey => (Vec::new(), false),
            Selection { txn: None, block: Some(block), .. } => self.journey_of_line(block),
            _ => (self.journey(selection, shown.as_ref()), false),
        };
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
            is_found: matches!(self.recorded_here(), Some(Reason::Found { is_violation: true, .. })),
            journey: &journey,
            journey_is_whole,
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
    pub(super) fn knot(&self) -> Option<Knot> {
        let machine = self.machine().machine()?;
        if self.is_moving() || (self.run_state() != RunState::Stuck && !machine.is_stalled()) {
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

    /// The records of a line up to the cursor that are of no transaction, since the last access of it began or ended; and whether
    /// these are all.
    fn journey_of_line(&mut self, block: Address) -> (Vec<Record>, bool) {
        let (line, event) = (focus::line(self.machine(), block), self.event());
        let (first, is_moving) = (self.timeline.start(), self.is_moving());
        let after = event.saturating_sub(SEARCHED);
        let records =
            if is_moving { self.recall.at_hand(event) } else { self.records(after.max(first), event) };
        let is_of_line = |record: &&Record| record.range.is_some_and(|range| range.overlaps(line));
        let is_access = |record: &&Record| matches!(record.what, What::Issue { .. } | What::Complete { .. });
        let has_all = !is_moving && after <= first;
        let is_whole = has_all || records.iter().filter(is_of_line).any(|record| is_access(&record));
        let since = records.iter().rev().filter(is_of_line).take_while(|record| !is_access(record));
        let own = since.filter(|record| record.txn.is_none() && is_of_journey(record));
        let mut own: Vec<Record> = own.cloned().collect();
        own.reverse();
        (own, is_whole)
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
        let lesson = || self.timeline.lesson().into_iter();
        let said = lesson().flat_map(super::lesson::Lesson::said);
        marks.extend(said.map(|event| mark(event, MarkKind::Narration)));
        let failed = lesson().flat_map(super::lesson::Lesson::failures);
        marks.extend(failed.map(|failed| mark(failed.event, MarkKind::Violation)));
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
    use super::super::sample::bundled;
    use super::super::session::tests::session;
    use super::*;
    use crate::model::message::TxnNumber;

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

    #[test]
    fn where_an_injected_fault_struck_is_marked_however_long_ago() {
        let mut session = bundled("kernels/vector-add-2gpu");
        session.execute("fork fault lose-message message=grant nth=1", &Interrupt::default()).unwrap();
        session.execute("end", &Interrupt::default()).unwrap();
        session.recall = super::super::recall::Recall::default();
        let faults = |session: &Session| {
            let marks = session.marks().into_iter().filter(|mark| mark.kind == MarkKind::Fault);
            marks.map(|mark| mark.event).collect::<Vec<_>>()
        };
        let struck = session.machine().struck().to_vec();
        assert_eq!((faults(&session), struck.len()), (struck, 1));
        session.execute("start", &Interrupt::default()).unwrap();
        assert!(session.machine().struck().is_empty());
    }

    #[test]
    fn who_interrupts_a_way_back_is_told_where_it_began() {
        let mut session = session(100_000);
        session.execute("goto 90000", &Interrupt::default()).unwrap();
        session.submit("goto 89999");
        while session.event() == 90_000 {
            session.work(1);
        }
        let stop = session.interrupt().unwrap().stop.unwrap();
        let told = stop.lines(session.machine()).join("\n");
        assert!(told.contains("interrupted on the way back from event 90000"), "{told}");
        session.submit("goto 95000");
        session.work(64);
        session.work(64);
        let told = session.interrupt().unwrap().lines.join("\n");
        assert!(told.contains("interrupted") && !told.contains("back"), "{told}");
    }

    /// Between two launches blocks are written back for nobody's access: what is drawn is their way, and not that of the last access.
    #[test]
    fn a_block_that_is_flushed_is_drawn_on_its_way_for_no_access() {
        let mut session = bundled("umh/next-kernel");
        let info = Arc::new(session.info());
        let mut drawn = |event: u64| {
            session.execute(&format!("goto event {event}"), &Interrupt::default()).unwrap();
            let sequence = session.frame(&info, &Wish::default()).sequence.unwrap();
            let events: Vec<_> = sequence.steps.iter().map(|step| step.id.event).collect();
            assert!(sequence.has_beginning);
            (sequence.txn, sequence.title, events.first().copied(), events.last().copied())
        };
        let (last, ..) = drawn(34);
        assert!(last.is_some(), "an access ends here");
        let (txn, title, first, now) = drawn(51);
        assert_eq!((txn, title.as_str()), (None, "0x100000, for no access"));
        // A late acknowledgement of an access that has ended cuts nothing off.
        assert_eq!((first, now), (Some(37), Some(51)));
        assert_eq!(drawn(34).0, last);
    }
}
