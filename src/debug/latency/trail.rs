//! Out of records as they come follows the latency of each access as it ends. Only what an access under way may need is kept.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::{Awaited, Latency, Leg, Part, Turn};
use crate::model::address::{Address, Range};
use crate::model::component::{ComponentId, Components};
use crate::model::message::{Message, MessageKind, Stages, TxnNumber};
use crate::model::paging::FaultStage;
use crate::model::record::{MshrChange, Record, What};
use crate::model::tags::TagOutcome;
use crate::model::time::{EventNumber, Tick, TimeBase};
use crate::model::warp::NO_WARP;
use crate::model::warp::WarpState;

/// What has happened, as far as accesses under way may have waited for it.
#[derive(Debug)]
pub struct Trail {
    time: TimeBase,
    /// The only access that is wanted, if one is.
    only: Option<TxnNumber>,
    /// Whether it is told how many others were served before it.
    counts_others: bool,
    /// Accesses that have ended, while some may have joined their misses; kept where misses that were joined are taken apart.
    ended: Option<Ended>,
    /// Accesses under way. They are numbered in the order of their issues.
    under_way: BTreeMap<TxnNumber, Own>,
    /// Since the issue of the first of these, ascending.
    events: VecDeque<Event>,
    before: Before,
}

/// What accesses that have ended waited for.
#[derive(Debug, Default)]
struct Ended {
    legs: FxHashMap<TxnNumber, Vec<Leg>>,
    /// In which event each did, ascending.
    order: VecDeque<(EventNumber, TxnNumber)>,
}

/// What an event did.
#[derive(Debug)]
struct Event {
    number: EventNumber,
    tick: Tick,
    delivered: SmallVec<[(Option<TxnNumber>, Arc<Message>); 1]>,
    /// Answers that nodes sent to their children.
    answered: SmallVec<[(ComponentId, Option<TxnNumber>, Range); 1]>,
}

/// What belongs to one access under way.
#[derive(Debug)]
struct Own {
    issue: Record,
    /// What its warp had waited for before, the last first.
    before: Vec<Leg>,
    /// Messages on its behalf, where they came to, and misses that it joined there, in order.
    sent: Vec<Sent>,
    came: Vec<Came>,
    joined: Vec<(EventNumber, ComponentId)>,
    /// Where there was no free MSHR for it.
    full: Vec<(EventNumber, ComponentId)>,
}

#[derive(Debug)]
struct Sent {
    tick: Tick,
    /// The event that sent it: before its data were read, if they had to be.
    cause: EventNumber,
    message: Arc<Message>,
}

#[derive(Clone, Copy, Debug)]
struct Came {
    event: EventNumber,
    tick: Tick,
    node: ComponentId,
    range: Option<Range>,
}

/// What warps wait for before they issue.
#[derive(Debug, Default)]
struct Before {
    /// States of each warp since it last did something else than to wait until it can issue.
    warps: FxHashMap<(ComponentId, u32), Vec<Been>>,
    /// What has become of the last far-fault of each page.
    faults: FxHashMap<Address, Vec<(Tick, FaultStage)>>,
}

/// A warp is in a state from a time on.
#[derive(Clone, Copy, Debug)]
struct Been {
    since: Tick,
    state: WarpState,
    /// The page that it waits for.
    page: Option<Range>,
}

/// Where the walk from the end to the issue has come to.
#[derive(Clone, Copy)]
struct Place {
    event: EventNumber,
    tick: Tick,
    node: ComponentId,
}

impl Trail {
    /// Of all accesses that are issued from now on.
    #[must_use]
    pub fn new(time: TimeBase) -> Self {
        Self {
            time,
            only: None,
            counts_others: false,
            ended: None,
            under_way: BTreeMap::new(),
            events: VecDeque::new(),
            before: Before::default(),
        }
    }

    /// The same where it is told, too, how many others were served before an access. That takes a look at all that happened
    /// while it stood somewhere.
    #[must_use]
    pub fn counting_others(self) -> Self {
        Self { counts_others: true, ..self }
    }

    /// The same where the time in a miss that was joined is what that miss waited for meanwhile, if it ended before.
    #[must_use]
    pub fn taking_apart(self) -> Self {
        Self { ended: Some(Ended::default()), ..self }
    }

    /// The same of one access alone, if one is wanted.
    #[must_use]
    pub fn only(self, only: Option<TxnNumber>) -> Self {
        Self { only, ..self }
    }

    /// Takes the next record. Returns the latency of an access that ends with it, if its issue has been seen.
    pub fn note(&mut self, record: &Record, components: &Components) -> Option<Latency> {
        self.before.note(record);
        if let (What::Issue { warp, .. }, Some(txn)) = (&record.what, record.txn)
            && self.only.is_none_or(|only| only == txn)
        {
            let before = self.before.issue(self.time, record, *warp);
            self.under_way.insert(txn, Own::begin(record, before));
        }
        if self.under_way.is_empty() {
            return None;
        }
        self.note_event(record);
        let own = self.under_way.get_mut(&record.txn?)?;
        own.note(record);
        matches!(record.what, What::Complete { .. }).then(|| self.end(record, components))?
    }

    fn note_event(&mut self, record: &Record) {
        let number = record.id.event;
        if self.events.back().is_none_or(|last| last.number != number) {
            let (delivered, answered) = Default::default();
            self.events.push_back(Event { number, tick: record.tick, delivered, answered });
        }
        let Some(event) = self.events.back_mut() else { return };
        match &record.what {
            What::Delivery(message) => event.delivered.push((record.txn, message.clone())),
            What::Message(message)
                if self.counts_others && matches!(message.kind, MessageKind::Grant | MessageKind::Reply) =>
            {
                event.answered.push((message.from, record.txn, message.range));
            }
            _ => {}
        }
    }

    fn end(&mut self, complete: &Record, components: &Components) -> Option<Latency> {
        let txn = complete.txn?;
        let own = self.under_way.remove(&txn)?;
        let mut latency = self.latency(txn, own, complete, components);
        if let (Some(latency), Some(ended)) = (&mut latency, &mut self.ended) {
            latency.legs = latency.legs.drain(..).flat_map(|leg| ended.taken_apart(leg)).collect();
            ended.legs.insert(txn, latency.legs.clone());
            ended.order.push_back((complete.id.event, txn));
        }
        // Nobody is left who may need what was before.
        let first = self.under_way.values().next().map_or(EventNumber::MAX, |own| own.issue.id.event);
        while self.events.front().is_some_and(|event| event.number < first) {
            self.events.pop_front();
        }
        if let Some(ended) = &mut self.ended {
            ended.forget(first);
        }
        latency
    }

    fn latency(
        &self,
        txn: TxnNumber,
        own: Own,
        complete: &Record,
        components: &Components,
    ) -> Option<Latency> {
        let end = components.get(complete.at)?;
        let node = if end.kind.is_node() { complete.at } else { end.parents.first().copied()? };
        let mut walk = Walk { txn, own: &own, trail: self, legs: Vec::new() };
        let mut place = Place { event: complete.id.event, tick: complete.tick, node };
        while place.event > own.issue.id.event {
            place = walk.back(place)?;
        }
        let mut legs = walk.legs;
        legs.extend(own.before);
        legs.retain(|leg| leg.cycles > 0);
        legs.reverse();
        // A hit for which nothing was waited is told by itself.
        let is_plain = legs.is_empty() && own.issue.id.event == complete.id.event;
        legs.extend(last_look_up(&own.issue, complete, node).filter(|_| !is_plain));
        Some(Latency { issue: own.issue, complete: complete.clone(), legs })
    }

    /// The events from one on and before another.
    fn between(&self, from: EventNumber, to: EventNumber) -> impl Iterator<Item = &Event> {
        let from = self.events.partition_point(|event| event.number < from);
        let to = self.events.partition_point(|event| event.number < to);
        self.events.range(from..to.max(from))
    }

    fn event(&self, number: EventNumber) -> Option<&Event> {
        let place = self.events.binary_search_by_key(&number, |event| event.number).ok()?;
        self.events.get(place)
    }
}

impl Own {
    fn begin(issue: &Record, before: Vec<Leg>) -> Self {
        let (sent, came, joined, full) = Default::default();
        Self { issue: issue.clone(), before, sent, came, joined, full }
    }

    fn note(&mut self, record: &Record) {
        let (event, tick, node, range) = (record.id.event, record.tick, record.at, record.range);
        match &record.what {
            What::Message(message) => {
                // One that had to be read from memory was caused by the event before that.
                let cause = record.because.unwrap_or(event);
                self.sent.push(Sent { tick, cause, message: message.clone() });
            }
            What::Delivery(_) => self.came.push(Came { event, tick, node, range }),
            What::Mshr { change: MshrChange::Merge, .. } => self.joined.push((event, node)),
            // The scoreboard counts it with those that wait for the same tag.
            What::Tag(tag) if tag.outcome == TagOutcome::Merge => self.joined.push((event, node)),
            What::Mshr { change: MshrChange::Full, .. } => self.full.push((event, node)),
            _ => {}
        }
    }
}

/// The time of an L1 for a hit, and what is left of it for an access that has joined a miss, and ended sooner than a hit would have.
fn last_look_up(issue: &Record, complete: &Record, at: ComponentId) -> Option<Leg> {
    let What::Complete { latency, .. } = complete.what else { return None };
    let cycles = issue.cycle.saturating_add(latency).saturating_sub(complete.cycle);
    (cycles > 0).then_some(Leg { since: complete.cycle, cycles, at, what: Awaited::LookUp })
}

fn leg(time: TimeBase, (since, until): (Tick, Tick), at: ComponentId, what: Awaited) -> Leg {
    let (since, until) = (time.cycle(since), time.cycle(until));
    Leg { since, cycles: until.saturating_sub(since), at, what }
}

impl Ended {
    /// Nobody has joined what ended before an event.
    fn forget(&mut self, before: EventNumber) {
        while let Some((_, txn)) = self.order.front().copied().filter(|(event, _)| *event < before) {
            self.order.pop_front();
            self.legs.remove(&txn);
        }
    }

    /// A time in a miss that was joined, as what that waited for meanwhile; other times as they are.
    fn taken_apart(&self, leg: Leg) -> Vec<Leg> {
        let Awaited::Turn { other: Some(other), why: Turn::Joined, .. } = leg.what else { return vec![leg] };
        let Some(legs) = self.legs.get(&other) else { return vec![leg] };
        let (mut at, end) = (leg.since, leg.since + leg.cycles);
        let mut parts = Vec::new();
        for part in legs {
            let (since, until) = (part.since.max(at), (part.since + part.cycles).min(end));
            if since >= until {
                continue;
            }
            // The miss may have been another's for a time.
            if since > at {
                parts.push(Leg { since: at, cycles: since - at, ..leg.clone() });
            }
            parts.push(Leg { since, cycles: until - since, ..part.clone() });
            at = until;
        }
        if at < end {
            parts.push(Leg { since: at, cycles: end - at, ..leg });
        }
        parts
    }
}

/// What an access was found to wait for, the last first.
struct Walk<'a> {
    txn: TxnNumber,
    own: &'a Own,
    trail: &'a Trail,
    legs: Vec<Leg>,
}

impl Walk<'_> {
    fn leg(&mut self, time: (Tick, Tick), at: ComponentId, what: Awaited) {
        self.legs.push(leg(self.trail.time, time, at, what));
    }

    /// Steps back over what brought the access to a place.
    fn back(&mut self, place: Place) -> Option<Place> {
        let event = self.trail.event(place.event);
        let delivered =
            event.and_then(|event| event.delivered.iter().find(|(_, message)| message.to == place.node));
        match delivered {
            Some((Some(txn), message)) if *txn == self.txn => self.over(place, message),
            other => Some(self.before(place, other)),
        }
    }

    /// Steps back over a message that came to a place.
    fn over(&mut self, place: Place, message: &Arc<Message>) -> Option<Place> {
        let of = |message: &Message| (message.cause, message.kind, message.from, message.to, message.range);
        let sent = self.own.sent.iter().find(|sent| of(&sent.message) == of(message))?;
        let (sent, cause) = (sent.tick, sent.cause);
        let made = self.trail.event(cause)?.tick;
        let stages = message.trip.stages().copied().unwrap_or_default();
        let Stages { ready, left, at_switch, crossed, came, looked_up } = stages;
        // What is not known of a message that left before anybody listened counts as on its way.
        let known = |tick: Tick| if tick == 0 { place.tick } else { tick };
        let ready = ready.max(sent).min(place.tick);
        let left = left.max(ready).min(place.tick);
        let came = known(came).clamp(left, place.tick);
        let looked_up = known(looked_up).clamp(came, place.tick);
        let (at, from) = (message.to, message.from);
        let waits = |second| Awaited::Link { message: message.clone(), second };
        let goes = |part| Awaited::Message { message: message.clone(), part };
        self.leg((looked_up, place.tick), at, Awaited::Queued { message: message.clone() });
        // No cache takes less than a cycle: that much is a part of its way.
        let is_short = self.trail.time.cycle(looked_up) <= self.trail.time.cycle(came) + 1;
        let came = if is_short { looked_up } else { came };
        self.leg((came, looked_up), at, Awaited::LookUp);
        if crossed > at_switch {
            self.leg((crossed, came), at, goes(Part::FromSwitch));
            self.leg((at_switch, crossed), at, waits(true));
            self.leg((left, at_switch), at, goes(Part::ToSwitch));
        } else {
            self.leg((left, came), at, goes(Part::Whole));
        }
        self.leg((ready, left), at, waits(false));
        self.leg((made, ready), from, Awaited::Memory);
        Some(Place { event: cause, tick: made, node: from })
    }

    /// Steps back over the time for which the access stood at a place, to what brought it there.
    fn before(&mut self, place: Place, other: Option<&(Option<TxnNumber>, Arc<Message>)>) -> Place {
        let issue = &self.own.issue;
        let issued = Came { event: issue.id.event, tick: issue.tick, node: issue.at, range: issue.range };
        let there = |came: &&Came| came.node == place.node && came.event < place.event;
        let came = self.own.came.iter().rev().find(there).copied().unwrap_or(issued);
        let turn = self.turn(came, place, other);
        self.leg((came.tick, place.tick), place.node, turn);
        Place { event: came.event, tick: came.tick, node: place.node }
    }

    /// What it stood at a place for since it came there, until something of another came.
    fn turn(&self, came: Came, place: Place, other: Option<&(Option<TxnNumber>, Arc<Message>)>) -> Awaited {
        let meanwhile = came.event..place.event;
        let was_there = |list: &[(EventNumber, ComponentId)]| {
            list.iter().any(|(event, node)| meanwhile.contains(event) && *node == place.node)
        };
        let overlaps = |range: Range| came.range.is_some_and(|own| range.overlaps(own));
        // What is about another block makes room.
        let is_of_other = other.is_some_and(|(_, message)| !overlaps(message.range));
        let is_purged = other.is_some_and(|(_, message)| message.kind == MessageKind::Flushed);
        let why = match is_of_other {
            _ if is_purged => Turn::Purge,
            _ if was_there(&self.own.joined) => Turn::Joined,
            true if was_there(&self.own.full) => Turn::Mshr,
            true => Turn::Way,
            false => Turn::Block,
        };
        let passes = |(from, txn, range): &&(ComponentId, Option<TxnNumber>, Range)| {
            *from == place.node && *txn != Some(self.txn) && overlaps(*range)
        };
        let passed = if self.trail.counts_others {
            let answers = self.trail.between(came.event, place.event).flat_map(|event| &event.answered);
            answers.filter(passes).count() as u64
        } else {
            0
        };
        Awaited::Turn { other: other.and_then(|(txn, _)| *txn), why, passed }
    }
}

impl Before {
    fn note(&mut self, record: &Record) {
        match (&record.what, record.range) {
            (What::Warp { warp, to, .. }, _) => {
                let states = self.warps.entry((record.at, *warp)).or_default();
                // What has its page may find no MSHR, or no room on the way to one.
                let is_to_issue = matches!(to, WarpState::Ready | WarpState::MshrFull | WarpState::LinkFull);
                if to.is_for_page() || is_to_issue {
                    states.push(Been { since: record.tick, state: *to, page: record.range });
                } else {
                    states.clear();
                }
            }
            (What::FarFault { stage, .. }, Some(page)) => {
                let stages = self.faults.entry(page.start).or_default();
                // It has come and gone since.
                if *stage == FaultStage::Raised && stages.iter().any(|(_, had)| *had == FaultStage::Arrived) {
                    stages.clear();
                }
                stages.push((record.tick, *stage));
            }
            _ => {}
        }
    }

    /// What the warp of an access that is issued now has waited for before, the last first.
    fn issue(&self, time: TimeBase, issue: &Record, warp: u32) -> Vec<Leg> {
        let states = self.warps.get(&(issue.at, warp)).filter(|_| warp != NO_WARP);
        let (mut legs, mut until, mut waited) = (Vec::new(), issue.tick, 0);
        for been in states.into_iter().flatten().rev() {
            self.warp_was(time, *been, until, issue.at, &mut legs);
            until = been.since;
            waited = if been.state.is_for_page() { legs.len() } else { waited };
        }
        // What it was ready for before that was something else.
        legs.truncate(waited);
        legs
    }

    /// The warp of an access was in a state for a time before its issue. For a far-fault that ends in parts.
    fn warp_was(&self, time: TimeBase, been: Been, until: Tick, at: ComponentId, legs: &mut Vec<Leg>) {
        let Been { since, state, page } = been;
        let mut add = |part, what| legs.push(leg(time, part, at, what));
        let stages = page.and_then(|page| Some((page, self.faults.get(&page.start)?)));
        let Some((page, stages)) = stages.filter(|_| state == WarpState::FarFault) else {
            return add((since, until), Awaited::Warp(state));
        };
        let is_moving = |is_moving| Awaited::Page { page, is_moving };
        let at = |wanted| stages.iter().filter(move |(_, stage)| *stage == wanted).map(|(tick, _)| *tick);
        let serviced = at(FaultStage::Serviced).rfind(|tick| (since..=until).contains(tick));
        if let Some(tick) = serviced {
            add((tick, until), is_moving(true));
            add((since, tick), is_moving(false));
        } else {
            let is_queued = at(FaultStage::Queued).any(|tick| (since..=until).contains(&tick));
            // A far-fault that the driver is not told of met a page that was on its way.
            let met = |stage| at(stage).any(|tick| tick <= until);
            let was_coming = met(FaultStage::Serviced) || met(FaultStage::Raised);
            add((since, until), is_moving(!is_queued && was_coming));
        }
    }
}
