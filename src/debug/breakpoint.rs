//! Breakpoints and watchpoints: what they wait for, when they count, what happens then.

use smallvec::SmallVec;

use super::subject::Subject;
use super::watch::Watched;
use crate::model::record::{Record, RecordId};
use crate::query::{Context, Filter, Predicate, Stop, Text};

/// What a breakpoint waits for.
#[derive(Clone, Debug)]
pub enum Trigger {
    /// A record.
    Record(Filter),
    /// A state: it trips when the predicate becomes true.
    Becomes { predicate: Predicate, was: bool },
    /// A value, state or predicate that changes.
    Change(Watched),
}

impl Trigger {
    /// What a stop waits for, as text too, and its condition; `None` if it waits for nothing.
    #[must_use]
    pub fn of(stop: Stop, context: &Context) -> Option<(Self, String, Option<Predicate>)> {
        let becomes = |predicate| Self::Becomes { predicate, was: false };
        match (stop.on, stop.when) {
            (Some(filter), condition) => {
                let text = filter.to_string();
                let moment = filter.moment().map(|moment| Text::new("breakpoint", &moment));
                let moment = moment.and_then(|moment| Predicate::compile(&moment, context).ok());
                Some((moment.map_or(Self::Record(filter), becomes), text, condition))
            }
            (None, Some(predicate)) => {
                let text = format!("if {predicate}");
                Some((becomes(predicate), text, None))
            }
            (None, None) => None,
        }
    }
}

/// One breakpoint or watchpoint.
#[derive(Clone, Debug)]
pub struct Breakpoint {
    /// Its number, from 1.
    pub id: u32,
    pub trigger: Trigger,
    /// As typed, without the condition.
    pub text: String,
    /// It counts only where this holds.
    pub condition: Option<Predicate>,
    pub enabled: bool,
    /// Deleted when it stops.
    pub temporary: bool,
    /// Times it shall not stop yet.
    pub ignore: u64,
    /// Times it tripped, in either direction.
    pub hits: u64,
    /// Commands to carry out when it stops.
    pub commands: Vec<String>,
}

impl Breakpoint {
    /// One that stops always.
    #[must_use]
    pub fn new(id: u32, trigger: Trigger, text: String, condition: Option<Predicate>) -> Self {
        let (enabled, temporary, ignore, hits, commands) = (true, false, 0, 0, Vec::new());
        Self { id, trigger, text, condition, enabled, temporary, ignore, hits, commands }
    }

    /// The command that sets it.
    #[must_use]
    pub fn verb(&self) -> &'static str {
        match (&self.trigger, self.temporary) {
            (Trigger::Change(_), _) => "watch",
            (_, true) => "tbreak",
            (_, false) => "break",
        }
    }

    /// The whole line that sets it.
    #[must_use]
    pub fn line(&self) -> String {
        format!("{} {}", self.verb(), self.what())
    }

    /// What it waits for, with its condition.
    #[must_use]
    pub fn what(&self) -> String {
        let condition =
            self.condition.as_ref().map_or_else(String::new, |condition| format!(" if {condition}"));
        format!("{}{condition}", self.text)
    }

    /// What a watchpoint's value is now.
    #[must_use]
    pub fn value(&self, machine: &dyn Subject) -> Option<String> {
        match &self.trigger {
            Trigger::Change(watched) => Some(watched.show(machine)),
            _ => None,
        }
    }

    /// Whether it waits for a predicate to become true that holds already.
    #[must_use]
    pub fn holds(&self, machine: &dyn Subject) -> bool {
        matches!(&self.trigger, Trigger::Becomes { predicate, .. } if predicate.holds(machine))
    }

    /// Takes `machine` as the state before the next event to be looked at.
    pub fn arm(&mut self, machine: &dyn Subject) {
        match &mut self.trigger {
            Trigger::Record(_) => {}
            Trigger::Becomes { predicate, was } => *was = predicate.holds(machine),
            Trigger::Change(watched) => watched.arm(machine),
        }
    }

    /// Whether it trips at the event that led to `machine`, its ignore count aside.
    pub fn trips(&mut self, machine: &dyn Subject, records: &[Record]) -> Option<Trip> {
        let mut trip = Trip::plain(Tripped::Breakpoint(self.id));
        match &mut self.trigger {
            Trigger::Record(filter) => {
                let components = machine.components();
                let met = records.iter().filter(|record| filter.matches(record, components));
                trip.records = met.map(|record| record.id).collect();
                if trip.records.is_empty() {
                    return None;
                }
            }
            Trigger::Becomes { predicate, was } => {
                let before = std::mem::replace(was, predicate.holds(machine));
                if before || !*was {
                    return None;
                }
            }
            Trigger::Change(watched) => trip.change = Some(watched.look(machine)?),
        }
        let counts = self.condition.as_ref().is_none_or(|predicate| predicate.holds(machine));
        (self.enabled && counts).then_some(trip)
    }
}

/// What tripped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tripped {
    Breakpoint(u32),
    /// A check of the protocol failed.
    Violation,
    /// The lesson says this.
    Narration(usize),
    /// This failure of an expectation came about.
    Expectation(usize),
    /// The next event is what the quiz asks about.
    Quiz,
}

/// A trip, and what tripped it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trip {
    pub of: Tripped,
    /// What it was met by.
    pub records: Vec<RecordId>,
    /// Of a watchpoint: before and after.
    pub change: Option<(String, String)>,
}

impl Trip {
    /// Over no record and no change.
    #[must_use]
    pub fn plain(of: Tripped) -> Self {
        Self { of, records: Vec::new(), change: None }
    }
}

pub type Trips = SmallVec<[Trip; 1]>;

/// Most breakpoints at a time.
const MOST: usize = 1000;

/// All breakpoints of a session, and what else stops a run.
#[derive(Debug)]
pub struct Breakpoints {
    list: Vec<Breakpoint>,
    next: u32,
    /// The one that was set last, or was found to do already what was to be set.
    newest: Option<u32>,
    /// Whether a failed check stops a run.
    pub violations: bool,
    /// Whether narration stops a run.
    pub narration: bool,
    /// Whether a run stops before a state changes, and asks for the next.
    pub quiz: bool,
    /// Checks that had failed when they were last looked at.
    failed: usize,
}

impl Breakpoints {
    /// None yet; `violations`: whether a failed check stops a run.
    #[must_use]
    pub fn new(violations: bool) -> Self {
        let (list, newest) = (Vec::new(), None);
        Self { list, next: 1, newest, violations, narration: false, quiz: false, failed: 0 }
    }

    /// The one that was set last, or was found to do already what was to be set, if it is still there.
    #[must_use]
    pub fn newest(&self) -> Option<u32> {
        self.newest.filter(|id| self.get(*id).is_some())
    }

    /// Whether a piece of narration stops a run, with which something is asked or not.
    #[must_use]
    pub fn heed(&self, asks: bool) -> bool {
        self.narration || self.quiz && asks
    }

    #[must_use]
    pub fn list(&self) -> &[Breakpoint] {
        &self.list
    }

    #[must_use]
    pub fn get(&self, id: u32) -> Option<&Breakpoint> {
        self.list.iter().find(|breakpoint| breakpoint.id == id)
    }

    pub fn get_mut(&mut self, id: u32) -> Option<&mut Breakpoint> {
        self.list.iter_mut().find(|breakpoint| breakpoint.id == id)
    }

    /// Adds a breakpoint and returns its number; `None` if there are too many.
    pub fn add(&mut self, trigger: Trigger, text: String, condition: Option<Predicate>) -> Option<u32> {
        if self.list.len() >= MOST {
            return None;
        }
        let id = self.next;
        self.next += 1;
        self.list.push(Breakpoint::new(id, trigger, text, condition));
        self.newest = Some(id);
        Some(id)
    }

    /// Takes the newest back if an earlier one does the same, and returns that.
    pub fn take_back(&mut self, newest: u32) -> Option<u32> {
        let new = self.get(newest)?;
        let is_same = |known: &&Breakpoint| {
            known.id != newest && known.enabled && known.ignore == 0 && known.line() == new.line()
        };
        let twin = self.list.iter().find(is_same)?.id;
        self.remove(newest);
        (self.next, self.newest) = (newest, Some(twin));
        Some(twin)
    }

    /// Removes a breakpoint. Returns whether it was there.
    pub fn remove(&mut self, id: u32) -> bool {
        let before = self.list.len();
        self.list.retain(|breakpoint| breakpoint.id != id);
        self.list.len() < before
    }

    /// Puts others in place of all.
    pub(super) fn replace(&mut self, list: Vec<Breakpoint>) {
        self.list = list;
    }

    pub fn clear(&mut self) {
        self.list.clear();
    }

    /// Whether no breakpoint can trip.
    #[must_use]
    pub fn are_idle(&self) -> bool {
        self.list.iter().all(|breakpoint| !breakpoint.enabled)
    }

    /// Whether anything must see the records.
    #[must_use]
    pub fn want_records(&self) -> bool {
        let wants =
            |breakpoint: &Breakpoint| breakpoint.enabled && matches!(breakpoint.trigger, Trigger::Record(_));
        self.quiz || self.list.iter().any(wants)
    }

    /// Takes `machine` as the state before the next event to be looked at.
    pub fn arm(&mut self, machine: &dyn Subject) {
        self.failed = machine.violations().len();
        self.list
            .iter_mut()
            .filter(|breakpoint| breakpoint.enabled)
            .for_each(|breakpoint| breakpoint.arm(machine));
    }

    /// Adds to `trips` what trips at the event that led to `machine`.
    pub fn look(&mut self, machine: &dyn Subject, records: &[Record], trips: &mut Trips) {
        for breakpoint in self.list.iter_mut().filter(|breakpoint| breakpoint.enabled) {
            trips.extend(breakpoint.trips(machine, records));
        }
        let failed = machine.violations().len();
        if failed > self.failed && self.violations {
            trips.push(Trip::plain(Tripped::Violation));
        }
        self.failed = failed;
    }

    /// Counts these trips, and returns those that stop the run.
    pub fn charge(&mut self, trips: &[Trip]) -> Vec<Trip> {
        let mut stopping = Vec::new();
        for trip in trips {
            if let Tripped::Breakpoint(id) = trip.of
                && let Some(breakpoint) = self.get_mut(id)
            {
                breakpoint.hits += 1;
                if breakpoint.ignore > 0 {
                    breakpoint.ignore -= 1;
                    continue;
                }
            }
            stopping.push(trip.clone());
        }
        stopping
    }
}
