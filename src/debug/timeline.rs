//! The whole run as one line: a cursor on it, and checkpoints from which any position is reached by going forward.
//!
//! Going back is "the nearest checkpoint, then forward". Checkpoints are forks of the machine. When they are too
//! many or too big, the one that is missed least is dropped: the one whose gap, once it is gone, is smallest for
//! its distance from the cursor. So their spacing grows in proportion to the distance: dense where the user is,
//! logarithmic far away, whatever the budget.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::lesson::Lesson;
use super::profile::Profile;
use super::subject::Subject;
use crate::machine::{Planned, StepOutcome};
use crate::model::record::{Record, Records};
use crate::model::time::EventNumber;

/// What checkpoints may cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    /// Checkpoints kept, that of the start included; at least 4.
    pub count: usize,
    /// Bytes that they may hold for themselves.
    pub bytes: usize,
}

impl Default for Budget {
    fn default() -> Self {
        Self { count: 96, bytes: 256 << 20 }
    }
}

/// Events between checkpoints while going forward: within these limits, so that taking them costs a small part
/// of the run.
const INTERVAL: std::ops::RangeInclusive<u64> = 1 << 10..=1 << 20;

/// A checkpoint is worth this many times its own cost in stepping: more makes runs faster and steps back slower.
const WORTH: u32 = 50;

#[derive(Debug)]
struct Checkpoint {
    machine: Box<dyn Subject>,
    bytes: usize,
}

/// The current machine and the way to every other position.
#[derive(Debug)]
pub struct Timeline {
    current: Box<dyn Subject>,
    checkpoints: BTreeMap<EventNumber, Checkpoint>,
    bytes: usize,
    budget: Budget,
    interval: u64,
    /// No checkpoint is due before this event.
    due: EventNumber,
    /// When the last checkpoint was taken going forward.
    taken: Instant,
    furthest: EventNumber,
    end: Option<(EventNumber, StepOutcome)>,
    lesson: Option<Lesson>,
    profile: Profile,
}

impl Timeline {
    /// A timeline that starts where `machine` is.
    #[must_use]
    pub fn new(machine: Box<dyn Subject>, budget: Budget) -> Self {
        let furthest = machine.event();
        let mut timeline = Self {
            current: machine.fork(),
            checkpoints: BTreeMap::new(),
            bytes: 0,
            budget: Budget { count: budget.count.max(4), ..budget },
            interval: *INTERVAL.start(),
            due: 0,
            taken: Instant::now(),
            furthest,
            end: None,
            lesson: None,
            profile: Profile::new(&*machine),
        };
        timeline.insert(machine);
        timeline
    }

    /// The same, with a lesson that looks at every event when it happens for the first time.
    #[must_use]
    pub fn with_lesson(self, lesson: Option<Lesson>) -> Self {
        Self { lesson, ..self }
    }

    #[must_use]
    pub fn lesson(&self) -> Option<&Lesson> {
        self.lesson.as_ref()
    }

    pub fn lesson_mut(&mut self) -> Option<&mut Lesson> {
        self.lesson.as_mut()
    }

    /// The lesson; a silent one where the scenario has none.
    pub fn lesson_or_silent(&mut self) -> &mut Lesson {
        self.lesson.get_or_insert_with(Lesson::silent)
    }

    /// What the run has been like as far as it is known.
    #[must_use]
    pub fn profile(&self) -> &Profile {
        &self.profile
    }

    /// The machine at the cursor.
    #[must_use]
    pub fn machine(&self) -> &dyn Subject {
        &*self.current
    }

    #[must_use]
    pub fn event(&self) -> EventNumber {
        self.current.event()
    }

    /// The first position.
    #[must_use]
    pub fn start(&self) -> EventNumber {
        self.checkpoints.keys().next().copied().unwrap_or(0)
    }

    /// The furthest position reached so far.
    #[must_use]
    pub fn furthest(&self) -> EventNumber {
        self.furthest
    }

    /// The last position and why there is no next, once it is known.
    #[must_use]
    pub fn end(&self) -> Option<(EventNumber, StepOutcome)> {
        self.end
    }

    /// Whether the cursor is at the known end.
    #[must_use]
    pub fn at_end(&self) -> Option<StepOutcome> {
        self.end.filter(|(event, _)| *event == self.event()).map(|(_, outcome)| outcome)
    }

    /// Positions of the checkpoints, ascending.
    pub fn checkpoints(&self) -> impl Iterator<Item = EventNumber> + '_ {
        self.checkpoints.keys().copied()
    }

    /// Bytes that the checkpoints hold, roughly.
    #[must_use]
    pub fn checkpoint_bytes(&self) -> usize {
        self.bytes
    }

    pub fn set_budget(&mut self, budget: Budget) {
        self.budget = Budget { count: budget.count.max(4), ..budget };
        self.prune(self.event());
    }

    /// Executes one event at the cursor.
    pub fn step(&mut self, records: &mut Records) -> StepOutcome {
        let outcome = self.step_under_eyes(records);
        let event = self.current.event();
        if outcome == StepOutcome::Ran {
            self.follow(event);
            self.close(records);
        } else {
            self.end = Some((event, outcome));
            self.profile.find(&*self.current);
        }
        outcome
    }

    /// Notes that the cursor has come to an event, and takes a checkpoint there if one is due.
    fn follow(&mut self, event: EventNumber) {
        self.furthest = self.furthest.max(event);
        if event == self.profile.due() {
            self.profile.sample(&*self.current);
        }
        if event >= self.due {
            if self.is_sparse(event, self.interval) {
                self.take();
            }
            let last = self.checkpoints.range(..=event).next_back().map_or(0, |(at, _)| *at);
            self.due = last + self.interval;
        }
    }

    /// At the last event, once it is known, does what comes after it and is no event: the checks that are made when all has come to
    /// rest. So the end is the same however one comes there.
    fn close(&mut self, records: &mut Records) {
        if self.at_end().is_none() {
            return;
        }
        // Their names follow on those of the last event.
        let mut closing = Records { on: records.on, list: records.list.clone() };
        self.current.step(&mut closing);
        records.list.append(&mut closing.list);
    }

    /// The machine at the cursor before what comes after the last event has been done.
    fn unclosed(&self) -> Box<dyn Subject> {
        let event = self.event();
        if self.at_end().is_none() {
            return self.current.fork();
        }
        let (mut machine, mut silent) = (self.fork_before(event), Records::silent());
        while machine.event() < event && machine.step(&mut silent) == StepOutcome::Ran {}
        machine
    }

    /// Finds out that the run ends at the cursor, if it does and that is not known yet.
    pub fn find_end(&mut self) {
        let is_open = self.end.is_none() && self.event() == self.furthest;
        if is_open && self.current.machine().is_some_and(|machine| machine.is_over() || machine.is_limited())
        {
            self.step(&mut Records::silent());
        }
    }

    /// Steps the machine, and lets the lesson look if it has not seen this event.
    fn step_under_eyes(&mut self, records: &mut Records) -> StepOutcome {
        let before = self.current.event();
        let Some(lesson) = self.lesson.as_mut().filter(|lesson| lesson.wants(before)) else {
            return self.current.step(records);
        };
        let wanted = records.on;
        records.on |= lesson.listens();
        let outcome = self.current.step(records);
        lesson.observe(&*self.current, &records.list, outcome);
        records.on = wanted;
        if !wanted {
            records.list.clear();
        }
        outcome
    }

    /// Has the lesson say what belongs before the next event, where the cursor comes to rest before that has happened. Returns what it
    /// says.
    pub fn foresee(&mut self) -> Vec<usize> {
        let at = self.event();
        let ahead = |lesson: &&mut Lesson| lesson.wants(at) && lesson.looks_ahead();
        let Some(lesson) = self.lesson.as_mut().filter(ahead) else { return Vec::new() };
        let (mut next, mut records) = (self.current.fork(), Records::listening());
        match next.step(&mut records) {
            StepOutcome::Ran => lesson.foresee(&*next, &records.list),
            _ => Vec::new(),
        }
    }

    /// Takes a checkpoint at the cursor and adapts the interval to what it cost.
    fn take(&mut self) {
        let before = Instant::now();
        let ran = before.duration_since(self.taken);
        self.insert(self.current.fork());
        self.prune(self.event());
        self.taken = Instant::now();
        let cost = self.taken.duration_since(before).max(Duration::from_nanos(1));
        if cost * WORTH > ran {
            self.interval = (self.interval * 2).min(*INTERVAL.end());
        } else if cost * (WORTH * 5 / 2) < ran {
            self.interval = (self.interval / 2).max(*INTERVAL.start());
        }
    }

    fn insert(&mut self, machine: Box<dyn Subject>) {
        let bytes = machine.footprint();
        self.bytes = self.bytes.saturating_add(bytes);
        if let Some(old) = self.checkpoints.insert(machine.event(), Checkpoint { machine, bytes }) {
            self.bytes = self.bytes.saturating_sub(old.bytes);
        }
    }

    /// Drops checkpoints until the budget holds; never the first.
    fn prune(&mut self, focus: EventNumber) {
        while self.checkpoints.len() > self.budget.count
            || (self.bytes > self.budget.bytes && self.checkpoints.len() > 2)
        {
            let Some(event) = self.least_missed(focus) else { return };
            if let Some(gone) = self.checkpoints.remove(&event) {
                self.bytes = self.bytes.saturating_sub(gone.bytes);
            }
        }
    }

    fn least_missed(&self, focus: EventNumber) -> Option<EventNumber> {
        let events: Vec<_> = self.checkpoints().collect();
        let last = self.furthest.saturating_add(1);
        (1..events.len())
            .filter_map(|index| {
                let (before, here) = (*events.get(index - 1)?, *events.get(index)?);
                let after = events.get(index + 1).copied().unwrap_or(last);
                let gap = after.saturating_sub(before) as f64;
                Some((gap / (here.abs_diff(focus) + 16) as f64, here))
            })
            .min_by(|a, b| a.0.total_cmp(&b.0))
            .map(|(_, here)| here)
    }

    /// A fork of the machine at the nearest checkpoint at or before `event`.
    #[must_use]
    pub fn fork_before(&self, event: EventNumber) -> Box<dyn Subject> {
        let nearest = self.checkpoints.range(..=event).next_back().or_else(|| self.checkpoints.iter().next());
        nearest.map_or_else(|| self.current.fork(), |(_, checkpoint)| checkpoint.machine.fork())
    }

    /// Keeps a fork of `machine`, which is on this line, if none is within `spacing` events before it.
    pub fn keep(&mut self, machine: &dyn Subject, spacing: u64, focus: EventNumber) {
        if self.is_sparse(machine.event(), spacing) {
            self.insert(machine.fork());
            self.prune(focus);
        }
    }

    fn is_sparse(&self, event: EventNumber, spacing: u64) -> bool {
        let near = self.checkpoints.range(..=event).next_back().map(|(at, _)| *at);
        near.is_none_or(|at| event - at >= spacing.max(1))
    }

    /// The last checkpoint before `cycle`; `None` if the first position is already in or after it.
    #[must_use]
    pub fn before_cycle(&self, cycle: u64) -> Option<EventNumber> {
        self.checkpoints
            .iter()
            .rev()
            .find(|(_, checkpoint)| checkpoint.machine.cycle() < cycle)
            .map(|(at, _)| *at)
    }

    /// Events between checkpoints that a replay should leave behind it.
    #[must_use]
    pub fn interval(&self) -> u64 {
        self.interval
    }

    /// Moves the cursor towards `target` by at most `fuel` events. Returns whether it has arrived: at the target,
    /// at the first position, or at the end of the run.
    pub fn approach(&mut self, target: EventNumber, fuel: u64) -> bool {
        let target = target.max(self.start());
        let from = self.checkpoints.range(..=target).next_back().map_or(0, |(at, _)| *at);
        if self.event() > target || from > self.event() {
            self.current = self.fork_before(target);
            self.due = 0;
            self.close(&mut Records::silent());
        }
        let mut silent = Records::silent();
        for _ in 0..fuel {
            let left = target.saturating_sub(self.event());
            if left == 0 {
                return true;
            }
            // Leave checkpoints at 16, 64, 256 ... events before the target: whoever goes back one step will
            // probably go back another.
            if left >= 16
                && left.is_power_of_two()
                && left.trailing_zeros().is_multiple_of(2)
                && self.is_sparse(self.event(), left)
            {
                self.insert(self.current.fork());
                self.prune(target);
            }
            if self.step(&mut silent) != StepOutcome::Ran {
                return true;
            }
        }
        self.event() >= target
    }

    /// Moves the cursor to `target`, however long that takes, or to the end of the run.
    pub fn goto(&mut self, target: EventNumber) {
        while !self.approach(target, u64::MAX) {}
    }

    /// The same run up to the cursor, and from there another one with `plan`.
    #[must_use]
    pub fn branch(&self, plan: &Arc<[Planned]>) -> Self {
        let event = self.event();
        let mut branch = self.copy(&*self.unclosed(), event);
        branch.current.plan(plan.clone());
        for checkpoint in branch.checkpoints.values_mut() {
            checkpoint.machine.plan(plan.clone());
        }
        branch.lesson = self.lesson.as_ref().map(|lesson| lesson.until(event));
        branch
    }

    /// The same run, its cursor at the last checkpoint that is not beyond `event`.
    #[must_use]
    pub fn copy_before(&self, event: EventNumber) -> Self {
        let machine = self.fork_before(event);
        let at = machine.event();
        self.copy(&*machine, at)
    }

    /// What is known of the run up to `event`, where `machine` is.
    fn copy(&self, machine: &dyn Subject, event: EventNumber) -> Self {
        let checkpoints: BTreeMap<_, _> = self
            .checkpoints
            .range(..=event)
            .map(|(at, kept)| (*at, Checkpoint { machine: kept.machine.fork(), bytes: kept.bytes }))
            .collect();
        Self {
            current: machine.fork(),
            bytes: checkpoints.values().map(|checkpoint| checkpoint.bytes).sum(),
            checkpoints,
            budget: self.budget,
            interval: self.interval,
            due: event,
            taken: Instant::now(),
            furthest: event,
            end: None,
            lesson: None,
            profile: self.profile.until(machine),
        }
    }

    /// The records of the checks that are made when all has come to rest, if `event` is where it did.
    #[must_use]
    pub fn closing_records(&self, event: EventNumber) -> Vec<Record> {
        let is_end = self.end == Some((event, StepOutcome::Finished));
        let is_failed = |machine: &dyn Subject| machine.violations().iter().any(|at| at.event == event);
        if !is_end || self.event() == event && !is_failed(self.machine()) {
            return Vec::new();
        }
        // Their names follow on those of the last event.
        let (mut machine, mut records) = (self.fork_before(event.saturating_sub(1)), Records::silent());
        while machine.event() < event {
            records.on = machine.event() + 1 == event;
            if machine.step(&mut records) != StepOutcome::Ran {
                break;
            }
        }
        records.on = true;
        machine.step(&mut records);
        records.list
    }

    /// The records of the events after position `after` up to position `until`, made again by replay.
    #[must_use]
    pub fn records(&self, after: EventNumber, until: EventNumber) -> Vec<Record> {
        let mut machine = self.fork_before(after);
        let mut records = Records::silent();
        let mut list = Vec::new();
        while machine.event() < until {
            records.on = machine.event() >= after;
            if machine.step(&mut records) != StepOutcome::Ran {
                break;
            }
            list.append(&mut records.list);
        }
        list
    }
}
