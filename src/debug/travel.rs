//! A movement of the cursor under way: it can be carried out in slices, interrupted between them, and watches for
//! breakpoints in both directions.
//!
//! Backwards it replays the stretch from the nearest earlier checkpoint up to the cursor and remembers the last hits;
//! without any it goes on with the stretch before that one.

use std::collections::VecDeque;

use super::breakpoint::{Breakpoints, Trip, Tripped, Trips};
use super::goal::Goal;
use super::quiz;
use super::recall::Recall;
use super::subject::Subject;
use super::timeline::Timeline;
use crate::machine::StepOutcome;
use crate::model::record::{Record, Records};
use crate::model::time::EventNumber;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    Forward,
    Backward,
}

/// Why a movement ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cause {
    /// It is where it was meant to go.
    Arrived,
    Tripped(Vec<Trip>),
    /// There is no next event: all is done, or nothing can move.
    End(StepOutcome),
    /// There is no earlier position.
    Start,
    /// No later event was caused by the one at which it began, or not so many.
    NoEffect,
}

/// Most hits remembered of one stretch; if they do not suffice, the stretch is replayed up to the first of them.
const REMEMBERED: usize = 1 << 14;

/// The last so many of counted steps make records, because they will be shown.
const FEW: u64 = 64;

/// How often a search looks whether to leave a checkpoint behind.
const SPACING: u64 = 1 << 10;

/// What a movement works on.
#[derive(Debug)]
pub struct Course<'a> {
    pub timeline: &'a mut Timeline,
    pub stops: &'a mut Breakpoints,
    /// Records seen on the way forward are kept here.
    pub recall: &'a mut Recall,
    /// Whether to make records on the way forward, though nothing needs them to decide.
    pub listen: bool,
}

#[derive(Debug)]
pub struct Travel {
    goal: Goal,
    /// How many such positions are still to come; where only stops end it, how many of those.
    left: u64,
    /// Whether breakpoints count.
    stops: bool,
    phase: Phase,
    /// Where it is to go, if that is known.
    position: Option<Position>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Position {
    Event(EventNumber),
    Cycle(u64),
}

#[derive(Debug)]
enum Phase {
    Forward {
        armed: bool,
    },
    /// The next stretch ends at this position, which is the last candidate.
    Before(EventNumber),
    Stretch(Stretch),
    /// To a known position.
    Moving {
        to: EventNumber,
        cause: Cause,
    },
    /// To a known position, and forward from there.
    Through(EventNumber),
}

/// A part of the run that is replayed while looking backwards.
#[derive(Debug)]
struct Stretch {
    machine: Box<dyn Subject>,
    from: EventNumber,
    last: EventNumber,
    hits: VecDeque<Hit>,
    forgotten: bool,
}

#[derive(Debug)]
struct Hit {
    event: EventNumber,
    goal: bool,
    trips: Trips,
}

impl Travel {
    /// To the `count`-th next position (or the `count`-th before) that has `goal`, or to a breakpoint.
    #[must_use]
    pub fn new(direction: Direction, goal: Goal, count: u64, from: EventNumber) -> Self {
        let phase = match direction {
            Direction::Forward => Phase::Forward { armed: false },
            Direction::Backward => Phase::Before(from.saturating_sub(1)),
        };
        Self { goal, left: count.max(1), stops: true, phase, position: None }
    }

    /// To a position, whatever is on the way.
    #[must_use]
    pub fn to(event: EventNumber) -> Self {
        let phase = Phase::Moving { to: event, cause: Cause::Arrived };
        let position = Some(Position::Event(event));
        Self { goal: Goal::Event, left: 1, stops: false, phase, position }
    }

    /// To the first position in or after `cycle`, whatever is on the way.
    #[must_use]
    pub fn to_cycle(cycle: u64, timeline: &Timeline) -> Self {
        let phase = match timeline.before_cycle(cycle) {
            None => Phase::Moving { to: timeline.start(), cause: Cause::Arrived },
            Some(_) if timeline.machine().cycle() < cycle => Phase::Forward { armed: true },
            Some(event) => Phase::Through(event),
        };
        let position = Some(Position::Cycle(cycle));
        Self { goal: Goal::Cycle(cycle), left: 1, stops: false, phase, position }
    }

    /// To the end of the run, whatever is on the way.
    #[must_use]
    pub fn to_end() -> Self {
        Self {
            goal: Goal::Nowhere,
            left: 1,
            stops: false,
            phase: Phase::Forward { armed: true },
            position: None,
        }
    }

    /// The same, which says so if that event does not come.
    #[must_use]
    pub fn until_event(self, event: EventNumber) -> Self {
        Self { position: Some(Position::Event(event)), ..self }
    }

    /// The same, which says so if that cycle does not come.
    #[must_use]
    pub fn until_cycle(self, cycle: u64) -> Self {
        Self { position: Some(Position::Cycle(cycle)), ..self }
    }

    /// The position that it was to go to, as it is typed, if the cursor is before that; what it looked for, if that did not come.
    #[must_use]
    pub fn missed(&self, timeline: &Timeline) -> Option<String> {
        let Some(position) = self.position else {
            return matches!(self.goal, Goal::Record(_)).then(|| "such a record".to_owned());
        };
        match position {
            Position::Event(event) => (event > timeline.event()).then(|| format!("event {event}")),
            Position::Cycle(cycle) => (cycle > timeline.machine().cycle()).then(|| format!("cycle {cycle}")),
        }
    }

    /// Whether the cursor shows the way (forwards), rather than jumping about (backwards).
    #[must_use]
    pub fn is_forward(&self) -> bool {
        matches!(self.phase, Phase::Forward { .. })
    }

    /// Whether it leads to a position behind the cursor.
    #[must_use]
    pub fn leads_on(&self, cursor: EventNumber) -> bool {
        matches!(self.phase, Phase::Moving { to, .. } if to > cursor)
    }

    /// Whether it is a run that the screen shows at the speed that is set.
    #[must_use]
    pub fn is_run(&self) -> bool {
        self.stops && self.is_forward() && matches!(self.goal, Goal::Nowhere)
    }

    /// Goes on for about `fuel` events. Returns why it ended, if it did.
    pub fn advance(&mut self, course: &mut Course, fuel: u64) -> Option<Cause> {
        let Course { timeline, stops, .. } = course;
        match std::mem::replace(&mut self.phase, Phase::Forward { armed: false }) {
            Phase::Forward { armed } => {
                if !armed {
                    stops.arm(timeline.machine());
                }
                self.phase = Phase::Forward { armed: true };
                self.forward(course, fuel)
            }
            Phase::Before(last) => self.open(timeline, stops, last),
            Phase::Stretch(stretch) => self.search(timeline, stops, stretch, fuel),
            Phase::Moving { to, cause } => {
                if timeline.approach(to, fuel) {
                    return Some(match timeline.at_end() {
                        Some(outcome) if timeline.event() < to => Cause::End(outcome),
                        _ => cause,
                    });
                }
                self.phase = Phase::Moving { to, cause };
                None
            }
            Phase::Through(to) => {
                let there = timeline.approach(to, fuel);
                self.phase = if there { Phase::Forward { armed: true } } else { Phase::Through(to) };
                None
            }
        }
    }

    fn forward(&mut self, course: &mut Course, fuel: u64) -> Option<Cause> {
        let Course { timeline, stops, recall, listen } = course;
        let is_count = matches!(self.goal, Goal::Event);
        let listen = *listen || self.goal.wants_records() || (self.stops && stops.want_records());
        let mut records = Records { on: listen, list: Vec::new() };
        let mut trips = Trips::new();
        for _ in 0..fuel {
            let before = self.goal.cycle_before(timeline.machine());
            records.list.clear();
            records.on = listen || is_count && self.left <= FEW;
            let end_is_new = timeline.at_end().is_none();
            let is_new = timeline.lesson().is_some_and(|lesson| lesson.wants(timeline.event()));
            let outcome = timeline.step(&mut records);
            let is_asked =
                self.stops && stops.quiz && outcome == StepOutcome::Ran && ask(timeline, &records.list);
            let mut early = Trips::new();
            early.extend(is_asked.then(|| Trip::plain(Tripped::Quiz)));
            if self.stops && is_new {
                self.tell_early(timeline, stops, &mut early);
            }
            if !early.is_empty() && !self.passes() {
                return self.go(timeline.event() - 1, Cause::Tripped(early.into_iter().collect()));
            }
            let mut stopped = Vec::new();
            if self.stops {
                trips.clear();
                stops.look(timeline.machine(), &records.list, &mut trips);
                self.tell(timeline, stops, timeline.event(), &mut trips);
                stopped = stops.charge(&trips);
            }
            if outcome != StepOutcome::Ran {
                let is_sought = matches!(self.goal, Goal::Record(_));
                let found = is_sought && self.goal.holds(before, timeline.machine(), &records.list);
                self.left -= u64::from(found);
                return self.end(outcome, end_is_new, stopped);
            }
            let goal = self.goal.holds(before, timeline.machine(), &records.list);
            if records.on {
                recall.note(timeline.event(), &mut records.list);
            }
            if !stopped.is_empty() && !self.passes() {
                return Some(Cause::Tripped(stopped));
            }
            if goal {
                self.left -= 1;
                if self.left == 0 {
                    return Some(Cause::Arrived);
                }
            }
        }
        None
    }

    /// Goes to an event next, for a reason that is told there.
    fn go(&mut self, to: u64, cause: Cause) -> Option<Cause> {
        self.phase = Phase::Moving { to, cause };
        None
    }

    /// Why a run stops where nothing happens any more. Some checks are made at the end only, once.
    fn end(&mut self, outcome: StepOutcome, is_new: bool, stopped: Vec<Trip>) -> Option<Cause> {
        let counts = |trip: &Trip| match trip.of {
            Tripped::Violation | Tripped::Expectation(_) => is_new,
            Tripped::Breakpoint(_) => true,
            Tripped::Narration(_) | Tripped::Quiz => false,
        };
        match self.goal {
            _ if stopped.iter().any(counts) => Some(Cause::Tripped(stopped)),
            _ if self.left == 0 => Some(Cause::Arrived),
            // Whoever asks what came of an event wants to stay there if nothing did.
            Goal::Effect(event) => self.go(event, Cause::NoEffect),
            _ => Some(Cause::End(outcome)),
        }
    }

    /// Whether a stop is one of those that a counted run passes.
    fn passes(&mut self) -> bool {
        let passes = matches!(self.goal, Goal::Nowhere) && self.left > 1;
        self.left -= u64::from(passes);
        passes
    }

    /// Adds what the lesson says before the event that has just happened, where that has come to light only now.
    fn tell_early(&self, timeline: &Timeline, stops: &Breakpoints, trips: &mut Trips) {
        let Some(lesson) = timeline.lesson().filter(|_| matches!(self.goal, Goal::Nowhere)) else { return };
        let stopping = lesson.early().iter().copied().filter(|say| stops.heed(lesson.asks_with(*say)));
        trips.extend(stopping.map(|say| Trip::plain(Tripped::Narration(say))));
    }

    /// Adds what the lesson says and finds wrong at `event`, where that stops this movement.
    fn tell(&self, timeline: &Timeline, stops: &Breakpoints, event: EventNumber, trips: &mut Trips) {
        let Some(lesson) = timeline.lesson().filter(|_| matches!(self.goal, Goal::Nowhere)) else { return };
        if stops.violations {
            let failed = lesson.failed_at(event).map(|(index, _)| Trip::plain(Tripped::Expectation(index)));
            trips.extend(failed);
        }
        let stopping = lesson.said_at(event).filter(|say| stops.heed(lesson.asks_with(*say)));
        trips.extend(stopping.map(|say| Trip::plain(Tripped::Narration(say))));
        // What the quiz has asked before it does not ask again, but it is a place to stop as before.
        let quizzed = stops.quiz && lesson.asked_at(event).any(|asked| asked.say.is_none());
        trips.extend(quizzed.then(|| Trip::plain(Tripped::Quiz)));
    }

    /// Starts to look at the stretch whose last candidate is `last`.
    fn open(&mut self, timeline: &Timeline, stops: &mut Breakpoints, last: EventNumber) -> Option<Cause> {
        let start = timeline.start();
        if timeline.event() <= start {
            return Some(Cause::Start);
        }
        let failed = stops.violations && !timeline.machine().violations().is_empty();
        let is_watched = self.stops && (failed || !stops.are_idle());
        let is_plain_count = matches!(self.goal, Goal::Event) && !is_watched;
        if is_plain_count && last.saturating_sub(start) >= self.left - 1 {
            self.phase = Phase::Moving { to: last - (self.left - 1), cause: Cause::Arrived };
        } else if last <= start || is_plain_count {
            self.phase = Phase::Moving { to: start, cause: self.cause_at_start(timeline, is_plain_count) };
        } else {
            let machine = timeline.fork_before(last - 1);
            stops.arm(&*machine);
            let from = machine.event();
            self.phase =
                Phase::Stretch(Stretch { machine, from, last, hits: VecDeque::new(), forgotten: false });
        }
        None
    }

    /// Why a movement that finds nothing more ends at the first position.
    fn cause_at_start(&self, timeline: &Timeline, past: bool) -> Cause {
        let first = timeline.fork_before(timeline.start());
        if self.left == 1 && !past && self.goal.holds_at_start(&*first) {
            Cause::Arrived
        } else {
            Cause::Start
        }
    }

    fn search(
        &mut self,
        timeline: &mut Timeline,
        stops: &mut Breakpoints,
        mut stretch: Stretch,
        fuel: u64,
    ) -> Option<Cause> {
        let listen = self.goal.wants_records() || (self.stops && stops.want_records());
        let mut records = Records { on: listen, list: Vec::new() };
        for _ in 0..fuel {
            if stretch.machine.event() >= stretch.last {
                self.settle(stops, stretch);
                return None;
            }
            let before = stretch.machine.cycle();
            records.list.clear();
            if stretch.machine.step(&mut records) != StepOutcome::Ran {
                self.settle(stops, stretch);
                return None;
            }
            if stretch.machine.event().is_multiple_of(SPACING) {
                timeline.keep(&*stretch.machine, timeline.interval(), stretch.last);
            }
            let mut trips = Trips::new();
            if self.stops {
                stops.look(&*stretch.machine, &records.list, &mut trips);
                self.tell(timeline, stops, stretch.machine.event(), &mut trips);
            }
            let goal = self.goal.holds(before, &*stretch.machine, &records.list);
            if goal || !trips.is_empty() {
                stretch.remember(Hit { event: stretch.machine.event(), goal, trips });
            }
        }
        self.phase = Phase::Stretch(stretch);
        None
    }

    /// Goes through the hits of a whole stretch from the last to the first, and decides where to go.
    fn settle(&mut self, stops: &mut Breakpoints, stretch: Stretch) {
        let first = stretch.hits.front().map_or(stretch.last, |hit| hit.event);
        for hit in stretch.hits.into_iter().rev() {
            let stopped = stops.charge(&hit.trips);
            let cause = if stopped.is_empty() {
                if !hit.goal {
                    continue;
                }
                self.left -= 1;
                if self.left > 0 {
                    continue;
                }
                Cause::Arrived
            } else if self.passes() {
                continue;
            } else {
                Cause::Tripped(stopped)
            };
            self.phase = Phase::Moving { to: hit.event, cause };
            return;
        }
        self.phase = Phase::Before(if stretch.forgotten { first.saturating_sub(1) } else { stretch.from });
    }
}

/// Has the quiz ask about the event that led to the cursor. Returns whether it does, for the first time.
fn ask(timeline: &mut Timeline, records: &[Record]) -> bool {
    let before = timeline.event() - 1;
    let asked = timeline.lesson().is_some_and(|lesson| lesson.asked_at(before).next().is_some());
    let question = if asked { None } else { quiz::question(timeline, records) };
    question.is_some_and(|question| {
        timeline.lesson_or_silent().ask(question);
        true
    })
}

impl Stretch {
    fn remember(&mut self, hit: Hit) {
        if self.hits.len() >= REMEMBERED {
            self.hits.pop_front();
            self.forgotten = true;
        }
        self.hits.push_back(hit);
    }
}
