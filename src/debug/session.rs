//! A debugging session: a machine on its timeline, and everything that the user has set, selected and asked.
//!
//! Commands are queued and carried out in slices ([`Session::work`]), so that a console, a screen's engine thread and
//! a test drive the same code, and every command can be interrupted.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::breakpoint::Breakpoints;
use super::frame::selection::Selection;
use super::origin::Origin;
use super::queue::Queue;
use super::recall::Recall;
use super::settings::Settings;
use super::stop::Stop;
use super::subject::Subject;
use super::timeline::{Budget, Timeline};
use super::travel::Travel;
use super::watch::Watched;
use super::work::Leash;
use crate::diagnostic::{Diagnostic, Result};
use crate::model::message::TxnNumber;
use crate::model::record::Record;
use crate::model::time::EventNumber;
use crate::protocol::table::Table;
use crate::query::{Context, Filter};

/// Reads the scenario's files again.
pub type Reload = Box<dyn FnMut() -> Result<Origin> + Send>;

/// A value shown at every stop.
#[derive(Clone, Debug)]
pub struct Display {
    pub id: u32,
    pub text: String,
    pub what: Watched,
}

impl Display {
    /// `1: state of gpu0.l2.0 block 0x1000 = S`
    #[must_use]
    pub fn line(&self, machine: &dyn Subject) -> String {
        format!("{}: {} = {}", self.id, self.text, self.what.show(machine))
    }
}

pub struct Session {
    pub(super) name: String,
    pub(super) title: String,
    pub(super) source: String,
    pub(super) about: String,
    pub(super) reload: Option<Reload>,
    pub(super) context: Arc<Context>,
    pub(super) timeline: Timeline,
    pub(super) recall: Recall,
    pub(super) breakpoints: Breakpoints,
    pub(super) displays: Vec<Display>,
    pub(super) next_display: u32,
    pub(super) bookmarks: BTreeMap<String, EventNumber>,
    pub(super) selection: Selection,
    /// What frames show where nothing is selected: the block and transaction of what happened last.
    pub(super) followed: Selection,
    /// Where the selected transaction began, once that is known.
    pub(super) began: Option<(TxnNumber, EventNumber)>,
    /// Where breakpoints stopped.
    pub(super) hits: BTreeSet<EventNumber>,
    /// What the log shows, and as typed.
    pub(super) filter: Option<(Filter, String)>,
    pub(super) settings: Settings,
    pub(super) queue: Queue,
    /// How deep in files the command is that is being carried out.
    pub(super) depth: u32,
    /// How far the commands of breakpoints have run since one was typed.
    pub(super) leash: Leash,
    /// How many pieces of narration have been told in passing.
    pub(super) told: usize,
    pub(super) travel: Option<Travel>,
    /// Why it stands where it stands.
    pub(super) stop: Option<Stop>,
    /// Commands typed, oldest first.
    pub(super) history: Vec<String>,
}

impl std::fmt::Debug for Session {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Session")
            .field("name", &self.name)
            .field("event", &self.event())
            .finish_non_exhaustive()
    }
}

impl Session {
    /// Opens a session at the first position. `reload` reads it again after a file changed.
    #[must_use]
    pub fn open(origin: Origin, reload: Option<Reload>) -> Self {
        let context = origin.context.unwrap_or_else(|| context_of(&*origin.machine));
        let mut session = Self {
            name: origin.name,
            title: origin.title,
            source: origin.source,
            about: origin.about,
            reload,
            context: Arc::new(context),
            timeline: Timeline::new(origin.machine, Budget::default()).with_lesson(origin.lesson),
            recall: Recall::default(),
            breakpoints: Breakpoints::new(true),
            displays: Vec::new(),
            next_display: 1,
            bookmarks: BTreeMap::new(),
            selection: Selection::default(),
            followed: Selection::default(),
            began: None,
            hits: BTreeSet::new(),
            filter: None,
            settings: Settings::default(),
            queue: Queue::default(),
            depth: 0,
            leash: Leash::default(),
            told: 0,
            travel: None,
            stop: None,
            history: Vec::new(),
        };
        for given in origin.breaks {
            session.add_given(given);
        }
        session
    }

    /// The machine at the cursor.
    #[must_use]
    pub fn machine(&self) -> &dyn Subject {
        self.timeline.machine()
    }

    #[must_use]
    pub fn event(&self) -> EventNumber {
        self.timeline.event()
    }

    #[must_use]
    pub fn cycle(&self) -> u64 {
        self.machine().cycle()
    }

    #[must_use]
    pub fn timeline(&self) -> &Timeline {
        &self.timeline
    }

    #[must_use]
    pub fn breakpoints(&self) -> &Breakpoints {
        &self.breakpoints
    }

    #[must_use]
    pub fn bookmarks(&self) -> &BTreeMap<String, EventNumber> {
        &self.bookmarks
    }

    #[must_use]
    pub fn selection(&self) -> Selection {
        self.selection
    }

    pub fn select(&mut self, selection: Selection) {
        self.selection = selection;
    }

    /// Whether `continue` stops where the lesson says something: on for a screen, off for a console.
    pub fn stop_at_narration(&mut self, stop: bool) {
        self.settings.stop_at_narration = stop;
        self.breakpoints.narration = stop;
    }

    /// Events a second that a run under a screen shall make; `None` for as many as it can.
    #[must_use]
    pub fn speed(&self) -> Option<f64> {
        self.settings.speed
    }

    /// Sets the speed of runs, the one under way included.
    pub fn set_speed(&mut self, speed: Option<f64>) {
        self.settings.speed = speed.filter(|speed| speed.is_finite() && *speed > 0.0);
    }

    /// Why it stands where it stands; nothing before the first movement.
    #[must_use]
    pub fn last_stop(&self) -> Option<&Stop> {
        self.stop.as_ref()
    }

    /// Commands typed so far, oldest first.
    #[must_use]
    pub fn history(&self) -> &[String] {
        &self.history
    }

    /// The names that queries may use here.
    #[must_use]
    pub fn context(&self) -> &Context {
        &self.context
    }

    /// The table of the selected node, or of the first node that has one.
    #[must_use]
    pub fn table(&self) -> Option<Arc<Table>> {
        let machine = self.machine();
        let selected = self.selection.component.and_then(|node| machine.table(node));
        selected.or_else(|| machine.components().iter().find_map(|(id, _)| machine.table(id))).cloned()
    }

    /// Records of the events after `after` up to `until`, made again where they are not at hand.
    pub fn records(&mut self, after: EventNumber, until: EventNumber) -> &[Record] {
        self.recall.window(&self.timeline, after, until)
    }

    /// Records of the event that led to the cursor.
    pub fn last_records(&mut self) -> &[Record] {
        let event = self.event();
        if event <= self.timeline.start() {
            return &[];
        }
        self.records(event - 1, event)
    }

    /// A complaint that is about no text.
    pub(super) fn complaint(message: impl Into<String>) -> Box<Diagnostic> {
        Box::new(Diagnostic::new(message))
    }
}

/// Blocks offered by completion, at most.
const MOST_BLOCKS: usize = 256;

/// The names that queries about `machine` may use.
pub(super) fn context_of(machine: &dyn Subject) -> Context {
    let mut tables: Vec<Arc<Table>> = Vec::new();
    for (id, _) in machine.components().iter() {
        if let Some(table) = machine.table(id)
            && !tables.iter().any(|known| known.name == table.name)
        {
            tables.push(table.clone());
        }
    }
    Context {
        components: Some(machine.components().clone()),
        tables,
        blocks: machine.blocks(MOST_BLOCKS),
        statistics: machine.statistics().into_iter().map(|(key, _)| key).collect(),
        ids: machine.tasks().iter().map(|task| task.id.to_string()).collect(),
    }
}

#[cfg(test)]
pub(super) mod tests {
    use proptest::prelude::*;

    use super::super::interrupt::Interrupt;
    use super::super::stop::Reason;
    use super::super::toy::Toy;
    use super::*;

    /// A session on a toy of `last` events.
    pub fn session(last: EventNumber) -> Session {
        session_of(Toy::boxed(last))
    }

    fn session_of(machine: Box<dyn Subject>) -> Session {
        let origin = Origin {
            name: "toy".into(),
            title: "A toy".into(),
            source: String::new(),
            about: String::new(),
            machine,
            context: None,
            breaks: Vec::new(),
            lesson: None,
        };
        Session::open(origin, None)
    }

    fn execute(session: &mut Session, text: &str) -> super::super::work::Outcome {
        session.execute(text, &Interrupt::default()).unwrap_or_else(|error| panic!("{text}: {error}"))
    }

    fn position(session: &mut Session) -> String {
        execute(session, "info position").lines.remove(0)
    }

    fn reason(session: &mut Session, text: &str) -> Reason {
        execute(session, text).stop.unwrap().reasons.remove(0)
    }

    /// The position after a straight run to `event`.
    fn straight(last: EventNumber, event: EventNumber) -> String {
        let mut session = session(last);
        execute(&mut session, &format!("goto {event}"));
        position(&mut session)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]

        #[test]
        fn any_walk_ends_where_a_straight_run_ends(
            verbs in prop::collection::vec((0usize..14, 1u64..60), 1..25),
            breaks in any::<bool>(),
        ) {
            let mut walker = session(9_000);
            if breaks {
                execute(&mut walker, "break transition to M at gpu1");
                execute(&mut walker, "watch state of gpu0.cu0.l1 block 0x1000 is O");
            }
            for (verb, count) in verbs {
                let line = match verb {
                    0 => format!("step {}", count * 50),
                    1 => format!("reverse-step {}", count * 20),
                    2 => format!("cycle {count}"),
                    3 => format!("reverse-cycle {count}"),
                    4 => format!("transition {count}"),
                    5 => format!("reverse-transition {count}"),
                    6 => "finish 2".into(),
                    7 => "reverse-finish".into(),
                    8 => "continue".into(),
                    9 => "reverse-continue".into(),
                    10 => format!("goto {}", count * 150),
                    11 => format!("goto cycle {}", count * 60),
                    12 => "effect".into(),
                    _ => "run".into(),
                };
                execute(&mut walker, &line);
            }
            prop_assert_eq!(position(&mut walker), straight(9_000, walker.event()));
        }
    }

    #[test]
    fn a_verb_and_its_reverse_undo_each_other() {
        for (forward, backward) in [
            ("step", "reverse-step"),
            ("cycle", "reverse-cycle"),
            ("transition", "reverse-transition"),
            ("finish", "reverse-finish"),
            ("continue", "reverse-continue"),
        ] {
            let mut session = session(3_000);
            if forward == "continue" {
                execute(&mut session, "break transition from O to E");
            }
            execute(&mut session, "goto 700");
            if forward == "finish" {
                execute(&mut session, "reverse-finish");
            } else {
                execute(&mut session, forward);
            }
            let here = position(&mut session);
            for _ in 0..3 {
                execute(&mut session, forward);
            }
            assert_ne!(position(&mut session), here, "{forward}");
            for _ in 0..3 {
                execute(&mut session, backward);
            }
            if forward == "finish" {
                continue;
            }
            assert_eq!(position(&mut session), here, "{backward}");
        }
    }

    #[test]
    fn going_back_stops_where_going_forward_stopped() {
        let mut session = session(2_000);
        execute(&mut session, "break transition from O to E if state of gpu0.cu0.l1 block 0x1000 is E");
        execute(&mut session, "watch state of gpu1.cu0.l1 block 0x1000 is N");
        let mut stops = Vec::new();
        while !matches!(reason(&mut session, "continue"), Reason::Finished) {
            stops.push(session.event());
        }
        assert!(stops.len() > 20, "{stops:?}");
        let mut back = Vec::new();
        while reason(&mut session, "reverse-continue") != Reason::Start {
            back.push(session.event());
        }
        back.reverse();
        assert_eq!(stops, back);
    }

    #[test]
    fn ignored_hits_are_passed_in_both_directions() {
        let mut session = session(2_000);
        execute(&mut session, "break transition to M");
        let stops: Vec<_> = (0..8)
            .map(|_| {
                execute(&mut session, "continue");
                session.event()
            })
            .collect();
        execute(&mut session, "ignore 1 2");
        execute(&mut session, "reverse-continue");
        assert_eq!(session.event(), stops[4]);
        execute(&mut session, "continue 3");
        assert_eq!(session.event(), stops[7]);
        assert_eq!(session.breakpoints().get(1).unwrap().hits, 14);
    }

    #[test]
    fn the_ends_are_told() {
        let mut session = session(100);
        assert_eq!(reason(&mut session, "reverse-step"), Reason::Start);
        assert_eq!(reason(&mut session, "step 1000"), Reason::Finished);
        assert_eq!((session.event(), reason(&mut session, "step")), (100, Reason::Finished));
        assert_eq!(reason(&mut session, "reverse-step 100"), Reason::Arrived);
        assert_eq!(session.event(), 0);
        assert_eq!(reason(&mut session, "goto 5000"), Reason::Finished);
        assert_eq!(reason(&mut session, "reverse-step 101"), Reason::Start);
    }

    #[test]
    fn a_failed_check_stops_a_run_in_both_directions() {
        let mut session = session_of(Toy::flawed(30_000, 20_000));
        let failed = Reason::Violation { rule: "toy".into(), text: "it broke".into() };
        assert_eq!((reason(&mut session, "continue"), session.event()), (failed.clone(), 20_000));
        assert_eq!(reason(&mut session, "continue"), Reason::Finished);
        assert_eq!((reason(&mut session, "reverse-step 20000"), session.event()), (failed, 20_000));
        execute(&mut session, "set stop-at-violations off");
        assert_eq!(reason(&mut session, "run"), Reason::Finished);
    }

    #[test]
    fn a_cause_and_its_effect_are_one_jump_apart() {
        let mut session = session(100);
        execute(&mut session, "goto 50");
        execute(&mut session, "cause");
        assert_eq!(session.event(), 47);
        execute(&mut session, "effect");
        assert_eq!(session.event(), 50);
    }

    #[test]
    fn goto_cycle_is_the_first_position_in_it_from_either_side() {
        let mut session = session(5_000);
        execute(&mut session, "goto cycle 900");
        let first = session.event();
        assert!(session.cycle() >= 900);
        execute(&mut session, "goto 4000");
        execute(&mut session, "goto cycle 900");
        assert_eq!(session.event(), first);
        execute(&mut session, "reverse-step");
        assert!(session.cycle() < 900);
        execute(&mut session, "until cycle 900");
        assert_eq!(session.event(), first);
        execute(&mut session, "goto 3000");
        execute(&mut session, "reverse-until cycle 900");
        assert_eq!(session.event(), first);
    }

    #[test]
    fn a_million_events_later_a_reverse_step_is_quick() {
        let mut session = session(2_000_000);
        execute(&mut session, "goto 1000000");
        let before = std::time::Instant::now();
        for _ in 0..20 {
            execute(&mut session, "reverse-step");
        }
        assert_eq!(session.event(), 999_980);
        assert!(before.elapsed().as_millis() < 20 * 50, "{:?}", before.elapsed());
        assert!(session.timeline().checkpoints().count() <= Budget::default().count);
    }

    #[test]
    fn commands_that_send_each_other_back_come_to_an_end() {
        let mut session = session(2_000);
        execute(&mut session, "break transition to M");
        execute(&mut session, "commands 1 reverse-continue; continue");
        let lines = execute(&mut session, "continue").lines;
        assert!(lines.iter().any(|line| line.contains("turned round 1000 times")), "{:?}", lines.last());
        execute(&mut session, "delete 1");
        execute(&mut session, "start");
        execute(&mut session, "break transition to M");
        execute(&mut session, "commands 2 continue");
        assert_eq!(reason(&mut session, "continue"), Reason::Finished);
    }

    #[test]
    fn saved_breakpoints_come_back() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("points");
        let mut first = session(100);
        execute(&mut first, "break transition at gpu0 if state of gpu1.cu0.l1 block 0x1000 is M");
        execute(&mut first, "ignore 1 3");
        execute(&mut first, "commands 1 print state of gpu0.cu0.l1 block 0x1000; step");
        execute(&mut first, "watch state of gpu0.cu0.l1 block 0x1000");
        execute(&mut first, "disable 2");
        execute(&mut first, &format!("save breakpoints {}", file.display()));
        let mut second = session(100);
        execute(&mut second, &format!("source {}", file.display()));
        let list = execute(&mut first, "info breakpoints").lines;
        assert_eq!(list.len(), 4);
        assert_eq!(list, execute(&mut second, "info breakpoints").lines);
        let again = format!("save breakpoints {}", file.display());
        assert!(first.execute(&again, &Interrupt::default()).is_err(), "a file must not be overwritten");
    }

    #[test]
    fn a_file_that_calls_itself_ends() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("loop");
        std::fs::write(&file, format!("source {}\nstep\n", file.display())).unwrap();
        let mut session = session(100);
        assert!(session.execute(&format!("source {}", file.display()), &Interrupt::default()).is_err());
    }

    #[test]
    fn every_command_bears_any_arguments() {
        for command in super::super::command::ALL {
            for tail in [
                "",
                "1",
                "x y z",
                "\u{fc}\u{2028} \"",
                "0x",
                "999999999999999999999999",
                "if",
                "if if",
                "warp",
                "block",
            ] {
                let mut session = session(50);
                let _ = session.execute(&format!("{} {tail}", command.name), &Interrupt::default());
                let _ = session.execute("step", &Interrupt::default());
            }
        }
    }
}
