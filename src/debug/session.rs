//! A debugging session: a machine on its timeline, and everything that the user has set, selected and asked.
//!
//! Commands are queued and carried out in slices ([`Session::work`]), so that a console, a screen's engine thread and
//! a test drive the same code, and every command can be interrupted.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::Arc;

use super::bookmark::Bookmark;
use super::branch::Branches;
use super::breakpoint::{Breakpoint, Breakpoints, Trigger};
use super::frame::protocol::Ruled;
use super::frame::selection::Selection;
use super::hunt::Hunt;
use super::job::Job;
use super::leash::Leash;
use super::origin::{Maker, Origin, Recorded};
use super::queue::Queue;
use super::recall::Recall;
use super::settings::Settings;
use super::stop::Stop;
use super::subject::Subject;
use super::timeline::{Budget, Timeline};
use super::travel::Travel;
use super::watch::Watched;
use crate::diagnostic::{Diagnostic, Result};
use crate::model::message::TxnNumber;
use crate::model::record::Record;
use crate::model::time::EventNumber;
use crate::protocol::node::Role;
use crate::protocol::table::Table;
use crate::query::{Context, Filter, PageSize, Possible, like_an_address};
use crate::recording::Input;

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
    pub(super) maker: Option<Maker>,
    pub(super) branches: Branches,
    pub(super) timeline: Timeline,
    pub(super) recall: Recall,
    pub(super) breakpoints: Breakpoints,
    /// Those that the scenario has brought, as it sets them.
    pub(super) given: Vec<Breakpoint>,
    pub(super) displays: Vec<Display>,
    pub(super) next_display: u32,
    pub(super) bookmarks: BTreeMap<String, Bookmark>,
    pub(super) selection: Selection,
    /// What frames show where nothing is selected: the block and transaction of what happened last.
    pub(super) followed: Selection,
    /// Where the selected transaction began, once that is known.
    pub(super) began: Option<(TxnNumber, EventNumber)>,
    /// From where on what was diagnosed last could not be avoided, up to where that was asked.
    pub(super) doomed: Option<Range<EventNumber>>,
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
    /// How often it has begun again with what files say now.
    pub(super) restarts: u32,
    pub(super) recorded: Option<Recorded>,
    /// The bug that is to be found here.
    pub(super) hunt: Option<Hunt>,
    pub(super) travel: Option<Travel>,
    /// Where the movement under way began, if it was a position of this run.
    pub(super) set_out: Option<EventNumber>,
    /// What a command is doing that takes its time.
    pub(super) job: Option<Box<dyn Job>>,
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
            branches: Branches::new(planned(origin.maker.as_ref())),
            maker: origin.maker,
            recorded: origin.recorded,
            timeline: Timeline::new(origin.machine, Budget::default()).with_lesson(origin.lesson),
            recall: Recall::default(),
            breakpoints: Breakpoints::new(true),
            given: Vec::new(),
            displays: Vec::new(),
            next_display: 1,
            bookmarks: BTreeMap::new(),
            selection: Selection::default(),
            followed: Selection::default(),
            began: None,
            doomed: None,
            hits: BTreeSet::new(),
            filter: None,
            settings: Settings::default(),
            queue: Queue::default(),
            depth: 0,
            leash: Leash::default(),
            told: 0,
            restarts: 0,
            hunt: origin.bug.map(Hunt::new),
            travel: None,
            set_out: None,
            job: None,
            stop: None,
            history: Vec::new(),
        };
        session.bring(origin.breaks);
        session.timeline.foresee();
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
    pub fn bookmarks(&self) -> &BTreeMap<String, Bookmark> {
        &self.bookmarks
    }

    #[must_use]
    pub fn selection(&self) -> Selection {
        self.selection
    }

    pub fn select(&mut self, selection: Selection) {
        self.selection = selection;
    }

    /// Whether a bug is to be found, and has not been found yet.
    #[must_use]
    pub fn is_hunting(&self) -> bool {
        self.hunt.as_ref().is_some_and(|hunt| !hunt.found)
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

    /// The tables of the machine, each with the nodes of one rank that work by it. Where memory is behind a node there is
    /// no state, and nothing to show.
    #[must_use]
    pub fn tables(&self) -> Vec<Ruled> {
        let machine = self.machine();
        let mut tables: Vec<Ruled> = Vec::new();
        for (id, _) in machine.components().iter() {
            let (Some(table), Some(role)) = (machine.table(id), machine.role(id)) else { continue };
            if role == Role::Root {
                continue;
            }
            let inner = role == Role::Inner;
            let same = |ruled: &&mut Ruled| ruled.inner == inner && ruled.table.name == table.name;
            match tables.iter_mut().find(same) {
                Some(ruled) => ruled.nodes.push(id),
                None => tables.push(Ruled { table: table.clone(), inner, nodes: vec![id] }),
            }
        }
        tables
    }

    /// What speaks against a breakpoint: why it cannot stop here, or that it may mean something else; nothing if nothing does.
    #[must_use]
    pub fn in_vain(&self, id: u32) -> String {
        let (Some(breakpoint), Some(machine)) = (self.breakpoints.get(id), self.machine().machine()) else {
            return String::new();
        };
        let possible = Possible::on(machine);
        let filter = if let Trigger::Record(filter) = &breakpoint.trigger { Some(filter) } else { None };
        let state =
            if let Trigger::Becomes { predicate, .. } = &breakpoint.trigger { Some(predicate) } else { None };
        let mut states = state.into_iter().chain(&breakpoint.condition);
        let lacks = filter.and_then(|filter| possible.lacks(filter));
        let lacks = lacks.or_else(|| states.find_map(|state| possible.lacks_for(state)));
        let lacks = lacks.map(|why| format!(" (it cannot stop here: {why})"));
        let doubt = || Some(format!(" ({})", possible.doubt(filter?)?));
        lacks.or_else(doubt).unwrap_or_default()
    }

    /// What is said of a page whose number looks like an address.
    #[must_use]
    pub fn doubt_page(&self, page: u64) -> String {
        let doubt = like_an_address(page, u64::from(self.context().page.0));
        doubt.map_or_else(String::new, |why| format!(" ({why})"))
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

/// What is done to the machine from the beginning.
pub(super) fn planned(maker: Option<&Maker>) -> Vec<(EventNumber, Input)> {
    maker.and_then(|maker| maker.scenario.inputs(&maker.options).ok()).unwrap_or_default()
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
        page: PageSize::of(machine),
        blocks: machine.blocks(MOST_BLOCKS),
        statistics: machine.statistics().into_iter().map(|(key, _)| key).collect(),
        ids: machine.tasks().iter().map(|task| task.id.to_string()).collect(),
        silent: Vec::new(),
    }
}

#[cfg(test)]
pub(super) mod tests;
